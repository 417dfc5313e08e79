"""Local suppression against exhaustive search on small files, and its safety by all pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from reference.local_suppression import blanked, cheapest_file, cheapest_per_record, is_safe
from reference.microdata_counts import count_all_pairs
from reticent.microdata.suppress.attacker import cheapest_hitting_set, cheapest_of, families, household_blanks
from reticent.microdata.suppress.cover import cover_blanks
from reticent.microdata.suppress.lend import lent_blanks
from reticent.microdata.suppress.merge import merged_blanks
from reticent.microdata.suppress.requirement import Prices, Requirement
from samples import examples

FILES = st.tuples(st.integers(3, 20), st.integers(1, 4)).flatmap(
    lambda shape: hnp.arrays(np.int32, shape, elements=st.integers(0, 2))
)
WITH_MISSING = st.tuples(st.integers(3, 14), st.integers(1, 4)).flatmap(
    lambda shape: hnp.arrays(np.int32, shape, elements=st.integers(-1, 2))
)


def _demand(data: st.DataObject, q: int, n: int) -> Requirement:
    masks = data.draw(st.lists(st.integers(1, (1 << q) - 1), min_size=1, max_size=4, unique=True))
    return Requirement(q, tuple((mask, data.draw(st.integers(2, min(3, n)))) for mask in masks))


@given(codes=WITH_MISSING, data=st.data())
def test_k1_is_the_optimum_of_every_record(codes: np.ndarray, data: st.DataObject) -> None:
    n, q = codes.shape
    requirement = _demand(data, q, n)
    costs = tuple(float(c) for c in data.draw(st.lists(st.integers(1, 4), min_size=q, max_size=q)))
    frozen = data.draw(st.integers(0, (1 << q) - 1))
    masks, stuck = cheapest_of(families(codes, requirement), Prices(costs, frozen))
    best = cheapest_per_record(codes, requirement.combinations, costs, frozen)
    for i in range(n):
        assert bool(stuck[i]) == (best[i] is None)
        if best[i] is not None:
            price = sum(costs[v] for v in range(q) if int(masks[i]) >> v & 1 and codes[i, v] >= 0)
            assert price == pytest.approx(best[i])
    if not stuck.any():
        published = blanked(codes, masks.tolist())
        assert is_safe(published, codes, requirement.combinations, "(k,1)")


@given(family=st.lists(st.integers(1, 63), max_size=6), data=st.data())
def test_searched_hitting_sets_equal_listed_ones(family: list[int], data: st.DataObject) -> None:
    costs = tuple(float(c) for c in data.draw(st.lists(st.integers(1, 5), min_size=6, max_size=6)))
    prices = Prices(costs, data.draw(st.integers(0, 63)) & data.draw(st.integers(0, 63)))
    listed = [m for m in prices.candidates().tolist() if all(m & s for s in family)]
    found = cheapest_hitting_set(tuple(family), prices)
    if not listed:
        assert found == -1
    else:
        assert all(found & s for s in family)
        assert not found & prices.frozen
        assert prices.of(found) == pytest.approx(prices.of(listed[0]))


@given(codes=FILES, k=st.integers(2, 3), data=st.data())
def test_households_share_and_pay_least(codes: np.ndarray, k: int, data: st.DataObject) -> None:
    """Every choice of shared blanks per household, with each member's best own ones: ours is the cheapest."""
    n, q = codes.shape
    shared = data.draw(st.integers(0, (1 << q) - 1))
    household = np.sort(data.draw(hnp.arrays(np.int64, n, elements=st.integers(0, 4))))
    prices = Prices(tuple(float(c) for c in range(1, q + 1)))
    requirement = Requirement(q, (((1 << q) - 1, k),))
    masks, stuck = household_blanks(families(codes, requirement), prices, household, shared)
    assert not stuck.any()
    assert is_safe(blanked(codes, masks.tolist()), codes, requirement.combinations, "(k,1)")
    for h in np.unique(household):
        members = np.flatnonzero(household == h)
        assert len(set((masks[members] & shared).tolist())) == 1
        best = float("inf")
        for common in (m for m in range(1 << q) if m & ~shared == 0):
            total = prices.of(common) * len(members)
            for i in members:
                own = [
                    prices.of(m) for m in range(1 << q)
                    if not m & shared and _fits(codes, i, m | common, k)
                ]  # fmt: skip
                total += min(own, default=float("inf"))
            best = min(best, total)
        paid = sum(prices.of(int(m)) for m in masks[members])
        assert paid == pytest.approx(best)


def _fits(codes: np.ndarray, i: int, mask: int, k: int) -> bool:
    known = [v for v in range(codes.shape[1]) if not mask >> v & 1]
    return int((codes[:, known] == codes[i, known]).all(axis=1).sum()) >= k


@examples(10)
@given(codes=WITH_MISSING, k=st.integers(2, 3), seed=st.integers(0, 9))
def test_cover_is_safe_and_blanks_only_violators(codes: np.ndarray, k: int, seed: int) -> None:
    q = codes.shape[1]
    requirement = Requirement(q, (((1 << q) - 1, k),))
    published, stuck = cover_blanks(codes, requirement, Prices((1.0,) * q), seed=seed)
    assert not stuck.any()
    assert is_safe(published, codes, requirement.combinations, "match-anything")
    assert ((published == codes) | (published < 0)).all()
    ones = np.ones(len(codes), np.int64)
    before = np.array(count_all_pairs(codes, codes, "match-anything", ones))
    assert (published[before >= k] == codes[before >= k]).all()


@given(codes=WITH_MISSING, data=st.data())
def test_the_cap_holds_for_every_record(codes: np.ndarray, data: st.DataObject) -> None:
    n, q = codes.shape
    requirement, cap = _demand(data, q, n), data.draw(st.integers(1, 2))
    prices = Prices((1.0,) * q, cap=cap)
    published, _ = cover_blanks(codes, requirement, prices, seed=5)
    masks, _ = cheapest_of(families(codes, requirement), prices)
    for shown in (published, blanked(codes, masks.tolist())):
        assert ((shown < 0) & (codes >= 0)).sum(axis=1).max() <= cap


@given(codes=WITH_MISSING, data=st.data())
def test_cover_of_several_combinations_is_safe_for_all_of_them(codes: np.ndarray, data: st.DataObject) -> None:
    n, q = codes.shape
    requirement = _demand(data, q, n)
    published, stuck = cover_blanks(codes, requirement, Prices((1.0,) * q), seed=3)
    assert not stuck.any()
    assert is_safe(published, codes, requirement.combinations, "match-anything")


@pytest.mark.parametrize("semantics", ["(1,k)", "(k,k)"])
@given(codes=WITH_MISSING, data=st.data())
def test_lending_is_safe_for_all_combinations(semantics: str, codes: np.ndarray, data: st.DataObject) -> None:
    n, q = codes.shape
    requirement, prices = _demand(data, q, n), Prices((1.0,) * q)
    start = codes
    if semantics == "(k,k)":
        masks, _ = cheapest_of(families(codes, requirement), prices)
        start = blanked(codes, masks.tolist())
    published, stuck = lent_blanks(codes, start, requirement, prices, keep_blanks=semantics == "(k,k)")
    assert not stuck.any()
    assert is_safe(published, codes, requirement.combinations, semantics)
    assert ((published == codes) | (published < 0)).all()


@given(codes=WITH_MISSING, k=st.integers(2, 3))
def test_merge_is_safe(codes: np.ndarray, k: int) -> None:
    q = codes.shape[1]
    published, stuck = merged_blanks(codes, k, Prices((1.0,) * q))
    assert not stuck.any()
    assert is_safe(published, codes, (((1 << q) - 1, k),), "own-category")
    assert ((published == codes) | (published < 0)).all()


@pytest.mark.parametrize("name", ["match-anything", "own-category", "(1,k)"])
def test_near_the_optimum_of_small_files(name: str) -> None:
    """The sum of blanks over twelve files of four records against exhaustive search."""
    rng = np.random.default_rng(20)
    spent, best = 0, 0
    for _ in range(12):
        codes = rng.integers(0, 3, (4, 3)).astype(np.int32)
        if name == "match-anything":
            published, _ = cover_blanks(codes, Requirement(3, ((7, 2),)), Prices((1.0,) * 3), seed=1)
        elif name == "(1,k)":
            published, _ = lent_blanks(codes, codes, Requirement(3, ((7, 2),)), Prices((1.0,) * 3), keep_blanks=False)
        else:
            published, _ = merged_blanks(codes, 2, Prices((1.0,) * 3))
        optimum = cheapest_file(codes, 2, name, cap=3, violators_only=name == "match-anything")
        assert optimum is not None
        assert int((published < 0).sum()) >= optimum
        spent, best = spent + int((published < 0).sum()), best + optimum
    assert spent <= 1.1 * best, (spent, best)
