"""A search keeps its time limit: with a safe pattern, or a refusal, wherever the time is up."""

import numpy as np
import pytest

from reference.tables import crossed, flat, nested
from reticent.base import clock
from reticent.base.errors import InfeasibleError, OutOfTime, ParameterError
from reticent.data.relations import Relations
from reticent.tables.attack import audit
from reticent.tables.attack.insiders import insiders
from reticent.tables.problem import SuppressionProblem
from reticent.tables.suppression import SUPPRESSION_METHODS, Heuristic, SuppressionMethod
from reticent.tables.suppression.explain import what_if

LATEST = 0.5
"""Share of the overrun after which work is stopped (the rest is for what cannot be stopped at once)."""


class LeapingClock:
    """A clock that leaps far ahead after some looks at it, those of the solver included."""

    def __init__(self, looks: int) -> None:
        self._looks = looks

    def now(self) -> float:
        """0, then very late."""
        self._looks -= 1
        return 0.0 if self._looks > 0 else 1e6

    def peek(self) -> float:
        """The same."""
        return self.now()

    def nodes(self, seconds: float) -> int | None:
        """The solver is not limited."""
        return 10_000


class BusyClock(clock.StepClock):
    """A clock on which every look counts: whoever asks whether a deadline has passed, and each program of the solver."""

    def peek(self) -> float:
        """One tick more."""
        return self.now()

    @property
    def seconds(self) -> float:
        """What it shows, without a step."""
        return super().peek()


def table(values: np.ndarray, relations: Relations, *, counts: bool = False) -> SuppressionProblem:
    rng = np.random.default_rng(3)
    small = (values > 0) & (values < 12)
    size = rng.integers(1, 4, len(values))
    return SuppressionProblem.from_values(
        values, relations, primary=small, lower_protection=0.2 * values, upper_protection=0.2 * values,
        counts=np.where(small, size, 9).astype(np.int64), integral=counts,
    )  # fmt: skip


def two_ways() -> SuppressionProblem:
    rng = np.random.default_rng(1)
    return table(*crossed([nested(3, 3), flat(5)], np.round(rng.lognormal(3.5, 1.0, (9, 5)))))


def three_ways() -> SuppressionProblem:
    rng = np.random.default_rng(2)
    return table(*crossed([nested(2, 2), flat(3), flat(3)], np.round(rng.lognormal(3.5, 1.0, (4, 3, 3)))))


def counted() -> SuppressionProblem:
    rng = np.random.default_rng(4)
    return table(*crossed([flat(4), flat(4)], np.round(rng.lognormal(3.0, 0.9, (4, 4)))), counts=True)


@pytest.mark.parametrize("made", [two_ways, three_ways, counted])
@pytest.mark.parametrize("method", SUPPRESSION_METHODS)
@pytest.mark.parametrize("limit", [0.5, 3.0, 30.0])
def test_limits_are_kept_by_a_clock_on_which_every_step_counts(
    method: type[SuppressionMethod], made: type[SuppressionProblem], limit: float
) -> None:
    """The last audit included; and what is found in time is safe from the public and from respondents."""
    problem = made()
    with clock.using(BusyClock(tick=0.02)) as mine:
        try:
            found = method().protect(problem, time_limit=limit)
        except (OutOfTime, InfeasibleError, ParameterError):
            found = None
    assert isinstance(mine, BusyClock)
    assert mine.seconds <= limit + LATEST * clock.overrun(limit) + 0.1
    if found is not None:
        assert found.audit is not None
        assert audit(problem, found.hidden).n_exposed == 0
        assert not insiders(problem, found.hidden)


def test_a_long_limit_is_enough_for_all_of_them() -> None:
    """What the test above allows, a refusal, is not all that it sees."""
    for made in (two_ways, three_ways, counted):
        with clock.using(BusyClock(tick=0.001)):
            assert Heuristic().protect(made(), time_limit=60).status in ("optimal", "feasible")


@pytest.mark.parametrize("method", SUPPRESSION_METHODS)
def test_a_search_ends_with_a_safe_pattern_or_a_refusal(method: type[SuppressionMethod]) -> None:
    """Wherever the clock leaps, the result is a safe pattern or a refusal, never an unsafe pattern."""
    values, relations = crossed([flat(3), flat(3)], np.array([[2.0, 9, 8], [7, 9, 9], [8, 7, 9]]))
    problem = SuppressionProblem.from_values(
        values, relations, primary=values == 2, lower_protection=1.0, upper_protection=1.0
    )
    assert method().protect(problem, time_limit=5).hidden.sum() == 4
    ended = []
    for looks in (1, 2, 3, 5, 8, 13, 21, 34, 55, 89):
        with clock.using(LeapingClock(looks)):
            try:
                found = method().protect(problem, time_limit=5)
            except OutOfTime as err:
                ended.append(str(err))
            else:
                assert found.audit is not None
                assert audit(problem, found.hidden).n_exposed == 0
    assert ended
    assert all("nothing may be published" in sentence for sentence in ended)


def test_what_if_keeps_its_limit_too() -> None:
    problem = two_ways()
    found = Heuristic().protect(problem, time_limit=60)
    cell = int(np.flatnonzero(found.hidden & ~problem.primary)[0])
    with clock.using(LeapingClock(6)), pytest.raises(OutOfTime):
        what_if(problem, found.hidden, cell, time_limit=5)
