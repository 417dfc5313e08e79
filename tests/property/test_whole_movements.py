"""Attacks in whole numbers: whether a cell gets far enough is answered as by how far it gets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.tables import crossed, flat
from reticent.tables.attack import audit
from reticent.tables.attack.programs import MovementProgram
from reticent.tables.problem import SuppressionProblem
from reticent.tables.suppression import Heuristic, Modular
from reticent.tables.suppression import method as method_module


@given(seed=st.integers(0, 10**6), enough=st.integers(1, 6))
def test_far_enough_or_as_far_as_can_be(seed: int, enough: int) -> None:
    rng = np.random.default_rng(seed)
    values, relations = crossed([flat(3), flat(3), flat(2)], rng.integers(0, 6, (3, 3, 2)).astype(float))
    hidden = rng.random(len(values)) < 0.5
    part = relations.restrict(hidden)
    room = values[part.cells]
    program = MovementProgram(part.relations, room, np.full(len(room), 9.0), whole=np.ones(len(room), dtype=bool))
    for place in range(len(room)):
        for sign in (1.0, -1.0):
            most = program.maximise([place], np.array([sign])).objective
            found = program.maximise([place], np.array([sign]), enough=float(enough))
            assert (found.objective >= enough - 1e-6) == (most >= enough - 1e-6)
            if found.objective >= enough - 1e-6:
                moved = found.values
                assert np.abs(part.relations.matrix() @ moved).max(initial=0.0) < 1e-6
                assert np.abs(moved - np.rint(moved)).max(initial=0.0) < 1e-6
                assert (moved >= -room - 1e-6).all()
                assert (moved <= 9 + 1e-6).all()


def _two_steps(sizes: tuple[int, int, int]) -> None:
    """The last word has the attacker who knows that counts are whole."""
    rng = np.random.default_rng(3)
    values, relations = crossed([flat(size) for size in sizes], rng.poisson(2.2, sizes).astype(float))
    primary = (values > 0) & (values < 2) & (rng.random(len(values)) < 0.2)
    problem = SuppressionProblem.from_values(
        values,
        relations,
        primary=primary,
        lower_protection=primary * 1.0,
        upper_protection=primary * 1.0,
        integral=True,
    )
    assert problem.n_cells > method_module._LARGE
    for method in (Heuristic(), Modular()):
        found = method.protect(problem, time_limit=2)
        assert audit(problem, found.hidden, mode="certify").n_exposed == 0
        assert found.bound is not None
        # without time for it a method may have no bound but 0; the relaxation that the heuristic starts from gives one
        assert (0 if isinstance(method, Modular) else 1) <= found.bound <= found.cost


def test_large_counts_are_searched_in_two_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(method_module, "_LARGE", 200)
    _two_steps((6, 6, 5))


@pytest.mark.deep
def test_1210_counts_are_searched_in_two_steps() -> None:
    _two_steps((10, 10, 9))
