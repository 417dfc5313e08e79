"""Lattice search against all nodes, on generated files: safe nodes, optimum with and without suppression, both searches."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import reticent.microdata.search.lattice as lattice
from reference import lattice as reference
from reticent.base.errors import InfeasibleError
from reticent.microdata.search.evaluate import Evaluator
from reticent.microdata.search.ladders import Ladder, ladder_from_rows, level_losses
from reticent.microdata.search.lattice import NodeLoss, search
from reticent.microdata.search.models import Closeness, Diversity, KAnonymity

LADDERS = [
    ladder_from_rows("a", "012345", {c: (str(int(c) // 2), str(int(c) // 4), "*") for c in "012345"}),
    ladder_from_rows("b", "012", {"0": ("x", "*"), "1": ("x", "*"), "2": ("y", "*")}),
    ladder_from_rows("c", "01", {"0": ("*",), "1": ("*",)}),
]


@st.composite
def files(draw: st.DrawFn) -> np.ndarray:
    n = draw(st.integers(1, 40))
    columns = [draw(hnp.arrays(np.int32, n, elements=st.integers(-1, top))) for top in (5, 2, 1)]
    return np.stack(columns, axis=1)


def loss_of(codes: np.ndarray, ladders: list[Ladder], kind: str, **options: bool) -> NodeLoss:
    record = tuple(
        level_losses(ladder, np.bincount(column[column >= 0], minlength=len(ladder.labels[0])), kind)
        for ladder, column in zip(ladders, codes.T)
    )
    return NodeLoss(record, (1.0, 2.0, 0.5), **options)


@given(files(), st.integers(1, 6), st.sampled_from([0.0, 0.1, 0.4]))
def test_number_of_safe_nodes(codes: np.ndarray, k: int, limit: float) -> None:
    steps = [ladder.steps for ladder in LADDERS]
    expected = reference.safe_nodes(codes.tolist(), steps, k, limit)
    assert Evaluator.of(LADDERS, codes, KAnonymity(k)).count_all((limit,)) == (len(expected),)


@pytest.mark.parametrize("queue", [False, True])
@given(
    codes=files(),
    k=st.integers(1, 5),
    limit=st.sampled_from([0.0, 0.2, 1.0]),
    kind=st.sampled_from(["entropy", "granularity", "precision"]),
    options=st.sampled_from([{}, {"count_suppressed": False}, {"discernibility": True}]),
)
def test_optimum(queue, codes, k, limit, kind, options) -> None:  # type: ignore[no-untyped-def]
    steps = [ladder.steps for ladder in LADDERS]
    nodes = reference.safe_nodes(codes.tolist(), steps, k, limit)
    loss = loss_of(codes, LADDERS, kind, **options)
    evaluator = Evaluator.of(LADDERS, codes, KAnonymity(k))
    before = lattice.MOST_NODES
    lattice.MOST_NODES = 0 if queue else before
    try:
        if not nodes:
            with pytest.raises(InfeasibleError, match="no coding makes the file safe"):
                search(evaluator, loss, limit=limit)
            return
        result = search(evaluator, loss, limit=limit)
    finally:
        lattice.MOST_NODES = before
    by_level = loss.by_level(evaluator)
    losses = [loss.exact(evaluator, n, sum(float(v[g]) for v, g in zip(by_level, n))) for n in nodes]
    assert result.optimal
    assert result.node in nodes
    assert result.loss == pytest.approx(min(losses), abs=1e-9)


@given(files(), st.sampled_from([0.0, 0.3]))
def test_models_without_conclusions_are_searched_completely(codes: np.ndarray, limit: float) -> None:
    """Entropy diversity and closeness with suppression are not monotone: still the best of all nodes is found."""
    secret = codes[:, [2]] + 1
    for model in (Diversity(1.8, "entropy"), Closeness(0.2), Diversity(2, "recursive", 1.5)):
        evaluator = Evaluator.of(LADDERS[:2], codes[:, :2], model, sensitive=secret.astype(np.int32))
        loss = NodeLoss(loss_of(codes, LADDERS, "precision").record[:2], (1.0, 1.0))
        by_level = loss.by_level(evaluator)
        best = np.inf
        for node in np.ndindex(4, 3):
            if evaluator.unsafe_in(evaluator.rows(node)) <= int(limit * len(codes) + 1e-9):
                best = min(best, loss.exact(evaluator, node, sum(float(v[g]) for v, g in zip(by_level, node))))
        if np.isinf(best):
            with pytest.raises(InfeasibleError):
                search(evaluator, loss, limit=limit)
        else:
            assert search(evaluator, loss, limit=limit).loss == pytest.approx(best, abs=1e-9)
