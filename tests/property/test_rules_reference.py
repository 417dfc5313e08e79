"""Rules against slow definitions in rational arithmetic, with weights, waivers, signs and ties."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reticent.tables.rules import PQ, Dominance, PPercent, RuleCells

VALUES = st.lists(st.integers(-60, 60), min_size=1, max_size=6)


def units(values: list[int], weights: list[int]) -> list[int]:
    """Whole weights: each contribution stands as often as its weight says."""
    listed = sorted(zip((abs(v) for v in values), weights, strict=True), reverse=True)
    return [value for value, weight in listed for _ in range(weight)]


@given(VALUES, st.data(), st.integers(1, 3), st.integers(1, 100))
def test_dominance_counts_whole_weights_as_repeated_contributions(
    values: list[int], data: st.DataObject, n: int, k: int
) -> None:
    weights = data.draw(st.lists(st.integers(1, 3), min_size=len(values), max_size=len(values)))
    listed = units(values, weights)
    expected = 100 * sum(listed[:n]) > k * sum(listed)
    order = np.argsort([-abs(v) for v in values], kind="stable")
    top = np.array([[abs(values[i]) for i in order] + [0] * 6], dtype=np.float64)[:, :6]
    spread = np.array([[weights[i] for i in order] + [0] * 6], dtype=np.float64)[:, :6]
    total = np.array([float(sum(listed))])
    count = np.array([len(values)])
    cells = RuleCells(total, count, count.astype(float), count, total, top, spread, top, spread)
    assert Dominance(n=n, k=k).unsafe(cells)[0] == expected


@given(VALUES, st.integers(1, 50), st.integers(0, 3), st.integers(1, 20))
def test_pq_is_the_linear_measure(values: list[int], p: int, coalition: int, scale: int) -> None:
    """S = x1 − (q/p) · (what neither the largest nor the coalition contributes), for data in decimals too."""
    q = min(100, p * 2)
    listed = sorted((Fraction(abs(v), 10) for v in values), reverse=True)
    rest = sum(listed[coalition + 1 :], Fraction(0))
    expected = listed[0] > 0 and listed[0] - Fraction(q, p) * rest > 0
    cells = RuleCells.of_contributions([[float(Fraction(v, 10)) for v in values]])
    exact_total = np.array([float(sum(listed))])
    cells = RuleCells(
        cells.values, cells.counts, cells.weighted_counts, cells.judged_counts, exact_total, cells.top, None, cells.top
    )
    assert PQ(p=p, q=q, coalition=coalition).unsafe(cells)[0] == expected


@given(VALUES, st.integers(1, 50))
def test_signs_change_no_verdict(values: list[int], p: int) -> None:
    rule = PPercent(p=p)
    plain = rule.unsafe(RuleCells.of_contributions([[abs(v) for v in values]]))[0]
    for flipped in ([-abs(v) for v in values], values):
        assert rule.unsafe(RuleCells.of_contributions([flipped]))[0] == plain


@given(VALUES, st.data(), st.integers(1, 50), st.integers(1, 2))
def test_waivers_protect_only_who_has_not_waived(values: list[int], data: st.DataObject, p: int, c: int) -> None:
    """The target is the largest without a waiver; everybody else may be in the coalition."""
    waived = data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values)))
    sizes = [abs(v) for v in values]
    judged = sorted((s for s, w in zip(sizes, waived, strict=True) if not w), reverse=True)
    everybody = RuleCells.of_contributions([sizes])
    mine = np.array([(judged + [0] * 10)[:10]], dtype=np.float64)
    count = np.array([len(judged)])
    cells = RuleCells(
        everybody.values,
        everybody.counts,
        everybody.weighted_counts,
        count,
        everybody.magnitudes,
        everybody.top,
        None,
        mine,
    )
    expected = False
    if judged and judged[0] > 0:
        others = sorted(sizes, reverse=True)
        others.remove(judged[0])
        expected = Fraction(p, 100) * judged[0] > sum(others[c:])
    assert PPercent(p=p, coalition=c).unsafe(cells)[0] == expected
