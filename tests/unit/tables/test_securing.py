"""When the time of a search is up, a generous pattern is still safe, and what it hides has company."""

from dataclasses import replace

import numpy as np
import pytest

from reference.tables import crossed, flat, nested
from reticent.base.errors import OutOfTime
from reticent.tables.attack import audit
from reticent.tables.attack.insiders import insiders
from reticent.tables.problem import SuppressionProblem
from reticent.tables.suppression.engine import Engine
from reticent.tables.suppression.securing import closed, secure


def problem(*, counts: bool) -> SuppressionProblem:
    rng = np.random.default_rng(7)
    values, relations = crossed([nested(3, 3), flat(4), flat(3)], np.round(rng.lognormal(3.0, 1.0, (9, 4, 3))))
    small = (values > 0) & (values < 10)
    return SuppressionProblem.from_values(
        values, relations, primary=small, lower_protection=0.3 * values * small, upper_protection=0.3 * values * small,
        counts=np.where(small, rng.integers(1, 3, len(values)), 9).astype(np.int64), integral=counts,
    )  # fmt: skip


def engine_of(made: SuppressionProblem) -> Engine:
    return Engine(made, np.maximum(made.values, 1.0), deadline=1e9, rng=np.random.default_rng(1), singletons=True)


@pytest.mark.parametrize("counts", [False, True])
def test_a_generous_pattern_is_safe_and_publishes_something(counts: bool) -> None:
    made = problem(counts=counts)
    engine = engine_of(made)
    secure(engine, made.forced)
    assert engine.best is not None
    assert audit(made, engine.best).n_exposed == 0
    assert not insiders(made, engine.best)
    assert (made.candidates & ~engine.best).any()


def test_without_a_safe_pattern_there_is_none() -> None:
    made = problem(counts=False)
    impossible = replace(made, upper_bound=made.values + 0.1)  # nothing may grow by its level
    with pytest.raises(OutOfTime):
        secure(engine_of(impossible), impossible.forced)


def test_nothing_is_hidden_alone_that_could_have_company() -> None:
    made = problem(counts=False)
    pattern = closed(made, made.forced, np.maximum(made.values, 1.0))
    assert (pattern & made.forced == made.forced).all()
    for row in range(made.relations.n_rows):
        cells = made.relations.row(row)[0]
        if pattern[cells].sum() == 1:
            assert not (made.candidates & ~pattern)[cells].any()
