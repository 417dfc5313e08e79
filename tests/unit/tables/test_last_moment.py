"""A search that finds no safe pattern ends: with an error, long after its time limit."""

import numpy as np
import pytest

from reference.tables import crossed, flat
from reticent.base import clock
from reticent.base.errors import NotProtectedError
from reticent.tables.problem import SuppressionProblem
from reticent.tables.suppression import Heuristic, Network, Optimal
from reticent.tables.suppression.engine import last_moment


class LeapingClock:
    """A clock that leaps far ahead after some looks at it."""

    def __init__(self, looks: int) -> None:
        self._looks = looks

    def now(self) -> float:
        """0, then very late."""
        self._looks -= 1
        return 0.0 if self._looks > 0 else 1e6

    def nodes(self, seconds: float) -> int | None:
        """The solver is not limited."""
        return None


def problem() -> SuppressionProblem:
    values, relations = crossed([flat(3), flat(3)], np.array([[2.0, 9, 8], [7, 9, 9], [8, 7, 9]]))
    return SuppressionProblem.from_values(
        values, relations, primary=values == 2, lower_protection=1.0, upper_protection=1.0
    )


@pytest.mark.parametrize("method", [Heuristic(), Optimal(), Network()])
def test_a_search_ends_with_a_pattern_or_an_error(method: Heuristic) -> None:
    """Wherever the clock leaps, the result is a safe pattern or a refusal, never an unsafe pattern."""
    wanted = method.protect(problem(), time_limit=5).hidden
    assert wanted.sum() == 4
    ended = []
    for looks in (1, 2, 3, 5, 8, 13, 21):
        with clock.using(LeapingClock(looks)):
            try:
                found = method.protect(problem(), time_limit=5)
            except NotProtectedError as err:
                ended.append(str(err))
            else:
                assert found.audit is not None
                assert found.audit.n_exposed == 0
    assert all("tenfold" in sentence for sentence in ended)


def test_the_last_moment_is_long_after_the_limit() -> None:
    assert last_moment(5.0, 5.0) == 110.0
