"""The attacker with the whole register, and inferred blanks, against trying everything."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from reference.local_suppression import blanked, is_safe
from reticent.microdata.risk.individual import record_risk
from reticent.microdata.risk.register import attack_with_register
from reticent.microdata.risk.semantics import Semantics
from reticent.microdata.suppress.engine import Task, solve
from reticent.microdata.suppress.inference import Judge, inferred_blanks
from reticent.microdata.suppress.requirement import Prices, Requirement

SMALL = st.tuples(st.integers(2, 6), st.integers(1, 3)).flatmap(
    lambda shape: hnp.arrays(np.int32, shape, elements=st.integers(-1, 2))
)


def _fits(true: np.ndarray, shown: np.ndarray) -> bool:
    return bool(((shown == true) | (shown < 0)).all())


def _in_some_matching(truth: np.ndarray, published: np.ndarray) -> list[int]:
    """For each true record, the published records it has in some perfect matching, over all permutations."""
    n = len(truth)
    pairs = set()
    for order in permutations(range(n)):
        if all(_fits(truth[i], published[order[i]]) for i in range(n)):
            pairs |= set(enumerate(order))
    return [sum(one == i for one, _ in pairs) for i in range(n)]


@given(truth=SMALL, data=st.data())
def test_register_attack_is_all_perfect_matchings(truth: np.ndarray, data: st.DataObject) -> None:
    masks = data.draw(st.lists(st.integers(0, 7), min_size=len(truth), max_size=len(truth)))
    published = blanked(truth, masks)
    found = attack_with_register(truth, published)
    assert found is not None
    assert found.candidates.tolist() == _in_some_matching(truth, published)


def test_a_file_beyond_the_limit_is_not_judged() -> None:
    codes = np.arange(20, dtype=np.int32).reshape(10, 2)
    assert attack_with_register(codes, codes, limit=9) is None


def _solved(codes: np.ndarray, k: int, semantics: Semantics, seed: int, slack: float = 0.02) -> np.ndarray:
    q = codes.shape[1]
    requirement, prices = Requirement(q, (((1 << q) - 1, k),)), Prices((1.0,) * q)
    chance = np.random.default_rng(seed).random((len(codes), 2))
    task = Task(codes, requirement, prices, semantics, None, 0, None, None, record_risk, seed, chance, slack)
    found = solve(task)
    assert not found.stuck.any()
    return found.published


def _possible_values(published: np.ndarray, k: int, semantics: str, cards: list[int]) -> dict[tuple[int, int], set]:
    """Of each blank the values in all truths for which the file is safe, by all pairs."""
    places = [tuple(place) for place in np.argwhere(published < 0).tolist()]
    seen: dict[tuple[int, int], set] = {place: set() for place in places}
    everything = (((1 << published.shape[1]) - 1, k),)
    for values in product(*(range(cards[v]) for _, v in places)):
        truth = published.copy()
        for (i, v), value in zip(places, values, strict=True):
            truth[i, v] = value
        if is_safe(published, truth, everything, semantics):
            for place, value in zip(places, values, strict=True):
                seen[place].add(value)
    return seen


@given(
    codes=st.tuples(st.integers(3, 6), st.integers(2, 3)).flatmap(
        lambda shape: hnp.arrays(np.int32, shape, elements=st.integers(0, 1))
    ),
    semantics=st.sampled_from([Semantics.KK, Semantics.K1]),
    seed=st.integers(0, 1000),
)
def test_no_blank_of_a_small_file_is_inferred(codes: np.ndarray, semantics: Semantics, seed: int) -> None:
    """The published file is safe, and every blank has two values or more among the truths it is safe for."""
    published = _solved(codes, 2, semantics, seed)
    q = codes.shape[1]
    assert is_safe(published, codes, (((1 << q) - 1, 2),), semantics.value)
    cards = [int(c) + 1 for c in codes.max(axis=0)]
    if (published < 0).sum() > 10:
        return
    for (i, v), values in _possible_values(published, 2, semantics.value, cards).items():
        assert codes[i, v] in values
        assert len(values) > 1 or cards[v] == 1


@given(codes=hnp.arrays(np.int32, (9, 3), elements=st.integers(0, 1)), data=st.data())
def test_what_the_lower_bound_calls_inferred_is(codes: np.ndarray, data: st.DataObject) -> None:
    """Nine records are judged by the two arguments; what they call certain is certain by enumeration."""
    masks = data.draw(st.lists(st.sampled_from([0, 0, 0, 1, 2, 4]), min_size=9, max_size=9))
    published = blanked(codes, masks)
    if not is_safe(published, codes, ((7, 2),), "(k,k)") or (published < 0).sum() > 9:
        return
    judge = Judge([2, 2, 2], Requirement(3, ((7, 2),)), Semantics.KK, Prices((1.0, 1.0, 1.0)))
    found = inferred_blanks(published, published < 0, judge)
    values = _possible_values(published, 2, "(k,k)", [2, 2, 2])
    assert found.exact == (not (published < 0).any())
    assert found.inferred <= sum(len(v) == 1 for v in values.values())


@pytest.mark.parametrize("secrets", [1_000, pytest.param(5_000, marks=pytest.mark.deep)])
def test_every_safe_file_may_come_out(secrets: int) -> None:
    """A truth of three records and all files that are safe for it: each of them is published for some secret."""
    codes = np.array([[0, 0], [0, 0], [0, 1]], np.int32)
    every = {
        blanked(codes, list(masks)).tobytes()
        for masks in product(range(4), repeat=3)
        if is_safe(blanked(codes, list(masks)), codes, ((3, 2),), "(k,1)")
    }
    inferable = {
        bytes_ for bytes_ in every
        if any(len(v) == 1 for (_, c), v in _possible_values(
            np.frombuffer(bytes_, np.int32).reshape(3, 2).copy(), 2, "(k,1)", [1, 2]).items() if c == 1)
    }  # fmt: skip
    seen = {_solved(codes, 2, Semantics.K1, seed, slack=0.99).tobytes() for seed in range(secrets)}
    assert seen <= every - inferable
    assert len(seen) >= 0.5 * len(every - inferable)
