"""The count of bits: what it allows, what it looks at in large databases, and that it looks at no value."""

from itertools import chain, combinations, product

import numpy as np
import pytest

from reticent.queries.audit import digits as digits_module
from reticent.queries.audit.auditor import Auditor
from reticent.queries.audit.bits import (
    SHARE,
    Measured,
    in_doubt,
    rests_on_few,
    spread_of,
    squared_spread,
    told_of,
    total_bits,
    worst_group,
)
from reticent.queries.audit.digits import Digits, odd_ones
from reticent.queries.audit.ranges import People, Range
from reticent.queries.columns import Columns
from reticent.queries.fixed import Fixed
from reticent.queries.policy import Bounds, Policy
from reticent.queries.rules import SetRules
from reticent.releases.rows import LinearRow, Proposal
from reticent.releases.rowspace import RowSpace


def columns_of(values: np.ndarray, entity: np.ndarray | None = None) -> Columns:
    n = len(values)
    owner = np.arange(n) if entity is None else entity
    return Columns("x", (np.arange(n),), np.arange(n + 1), owner, Fixed(values.astype(np.int64), 1))


def auditor_of(values: np.ndarray, own: Range, minimum: int = 3) -> Auditor:
    columns = columns_of(values)
    digits = Digits("x", People.of(columns, frozenset()), own, minimum)
    rules = SetRules.of(Policy(minimum=minimum), by_value=False)
    return Auditor(columns, rules, np.random.default_rng(0), digits=(digits, 0))


def halves(n: int, number: int, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.random(n) < 0.5 for _ in range(number)]


def answered(auditor: Auditor, masks: list[np.ndarray]) -> list[bool]:
    return [auditor.release(LinearRow.of(mask), number).allowed for number, mask in enumerate(masks)]


def test_bits_and_spreads_are_those_of_all_values() -> None:
    for r in (2, 3, 7):
        x = np.arange(r)
        centred = (x - x.mean()) ** 2
        assert spread_of(r) == pytest.approx(x.var())
        assert squared_spread(r) == pytest.approx(centred.var())
    sums = np.array([sum(x) for x in product(range(5), repeat=6)])
    shares = np.bincount(sums) / len(sums)
    exact = -(shares[shares > 0] * np.log2(shares[shares > 0])).sum()
    assert total_bits(np.array([6.0]), np.log2(5), spread_of(5))[0] == pytest.approx(exact, abs=0.02)


@pytest.mark.parametrize("seed", range(40))
def test_those_out_of_doubt_are_in_no_set_of_which_too_much_is_told(seed: int) -> None:
    """All sets of seven unknowns: leaving out what is not in doubt loses none, and the search ends at the same one."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 2, (int(rng.integers(1, 5)), 7)) * 1.0
    shares = [rows.T @ np.linalg.inv(rows @ rows.T + rng.uniform(0.01, 0.5) * np.eye(len(rows))) @ rows]
    unknown = rng.uniform(0.5, 4.0, 7)

    def beyond(chosen: tuple[int, ...]) -> float:
        own = list(chosen)
        return told_of([shares[0][np.ix_(own, own)]]) - SHARE * float(unknown[own].sum())

    left = set(in_doubt(shares, unknown).tolist())
    every = chain.from_iterable(combinations(range(7), n) for n in range(1, 8))
    for chosen in every:
        if beyond(chosen) > 1e-9:
            kept = tuple(k for k in chosen if k in left)
            assert kept, "a set of which the rows reveal too much is left out"
            assert beyond(kept) >= beyond(chosen) - 1e-9
    found = worst_group(shares, unknown).beyond
    own = sorted(left)
    again = worst_group([shares[0][np.ix_(own, own)]], unknown[own]).beyond if own else 0.0
    assert max(found, 0.0) == pytest.approx(max(again, 0.0))


def test_a_measured_row_is_told_of_as_it_is_said() -> None:
    measured = Measured(np.ones(4), spread_of(256))
    measured.add(np.array([1, 1, 0, 0]))
    assert measured.next(np.array([2, 2, 0, 0])) is None, "it tells nothing new"
    fresh = measured.next(np.array([1, 0, 1, 0]))
    assert fresh is not None
    assert fresh[0] > 0 > fresh[1], "only what the first row did not tell"
    measured.add(np.array([1, 0, 1, 0]))
    measured.back_to(1)
    assert measured.known[2] == 0


@pytest.mark.parametrize(
    "values, bits",
    [
        (np.array([0, 1] * 8), 1.0),
        (np.array([0, 5] * 8), 1.0),
        (np.array([0] * 15 + [1]), 0.337),
        (np.arange(0, 3200, 100), 5.0),
        (np.append(np.zeros(300), np.arange(1, 101)), 0.811 + 0.25 * np.log2(101)),
    ],
)
def test_ranges_are_those_that_an_attacker_guesses(values: np.ndarray, bits: float) -> None:
    assert Range.found(columns_of(values)).bits == pytest.approx(bits, abs=0.01)


def test_without_values_bounds_decide() -> None:
    assert Range.declared(None) == Range.even(2.0)
    assert Range.declared(Bounds(0, 1, True)).squares == 0
    assert Range.declared(Bounds(0, 100)).bits == pytest.approx(np.log2(101))
    first, second = np.zeros(24), np.random.default_rng(1).integers(0, 1000, 24)
    verdicts = [answered(auditor_of(values, Range.even(2.0)), halves(24, 30)) for values in (first, second)]
    assert verdicts[0] == verdicts[1]


def test_more_possible_values_leave_more_to_tell() -> None:
    told = [sum(answered(auditor_of(np.zeros(24), Range.even(r)), halves(24, 40))) for r in (2.0, 16.0, 256.0)]
    assert 3 <= told[0] < told[1] < told[2] < 22


def test_a_row_taken_back_is_forgotten() -> None:
    masks = halves(24, 12)
    whole, again = auditor_of(np.zeros(24), Range.even(2.0)), auditor_of(np.zeros(24), Range.even(2.0))
    expected = answered(whole, masks)
    answered(again, masks[:3])
    mark = again.mark()
    again.release(LinearRow.of(masks[-1]), 3)
    again.back_to(mark)
    assert answered(again, masks) == expected
    restored = auditor_of(np.zeros(24), Range.even(2.0))
    restored.restore(whole.state())
    more = halves(24, 12, seed=5)
    assert answered(restored, more) == answered(whole, more)


def test_large_databases_are_looked_at_nearby(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums over the same few people, plainly or as differences of large sums, run out of bits there, too."""
    n, crowd = 24, 400
    few = [np.append(mask, np.zeros(crowd, dtype=bool)) for mask in halves(n, 40)]
    large = [np.append(mask, np.ones(crowd, dtype=bool)) for mask in halves(n, 40)]
    everybody = np.append(np.zeros(n, dtype=bool), np.ones(crowd, dtype=bool))
    full = sum(answered(auditor_of(np.zeros(n + crowd), Range.even(2.0)), few))
    monkeypatch.setattr(digits_module, "MOST_ENTRIES", 1)
    assert sum(answered(auditor_of(np.zeros(n + crowd), Range.even(2.0)), few)) <= full + 2
    assert sum(answered(auditor_of(np.zeros(n + crowd), Range.even(2.0)), [everybody, *large])) <= full + 4


def test_respondents_with_several_records_count_once() -> None:
    columns = columns_of(np.zeros(6), np.array([0, 0, 0, 1, 2, 3]))
    people = People.of(columns, frozenset({3}))
    assert people.respondents(np.array([0, 0, 0, 1, 1, 1]), 2).tolist() == [1, 3]
    assert people.hidden.tolist() == [True] * 5 + [False]
    assert people.at(np.array([0, 4])).respondents(np.array([0, 1]), 2).tolist() == [1, 1]


def test_remainders_by_a_prime_are_found_as_by_hand() -> None:
    rows = np.array([[1, 1, 0, 1], [1, 0, 1, 0], [0, 1, 1, 0]])  # crowded classes twice in the sum of all rows
    respondents = np.array([5, 5, 5, 1])
    assert rests_on_few(rows, respondents, 3, 2)
    assert not rests_on_few(rows, respondents, 3, 3)
    assert not rests_on_few(rows[:2], respondents, 3, 2)
    weights = np.append(1024 * np.arange(1, 60), [77_777, 88_889])
    assert any(divisor % 1024 == 0 and others.sum() == 2 for divisor, others in odd_ones(weights))


def test_rows_near_and_around_some_columns() -> None:
    space = RowSpace(8, rng=np.random.default_rng(0))
    sets = [[0, 1, 2], [2, 3], [4, 5], [0, 1, 2, 3, 4, 5, 6]]
    for one in sets:
        found = space.propose(LinearRow.of(np.isin(np.arange(8), one)))
        assert isinstance(found, Proposal)
        space.accept(found)
    here, every = np.isin(np.arange(8), [0, 1, 2, 3]), np.ones(8, dtype=bool)
    assert space.near(here, 3) == [0, 1, 3]
    assert space.around(np.isin(np.arange(8), [0]), every, (9, 4)) == [0, 1]
    assert sorted(space.around(np.isin(np.arange(8), [0]), every, (9, 8))) == [0, 1, 2, 3]


def weighted(offset: int, chosen: np.ndarray) -> LinearRow:
    """Weights that are an offset for all, and one more for some."""
    terms = ((offset, ~chosen), (offset + 1, chosen))
    return LinearRow(tuple((weight, mask) for weight, mask in terms if weight))


@pytest.mark.parametrize("nearby", [False, True], ids=["all rows", "rows nearby"])
@pytest.mark.parametrize("last", [False, True], ids=["sum first", "sum last"])
def test_an_offset_of_weights_hides_nothing(monkeypatch: pytest.MonkeyPatch, nearby: bool, last: bool) -> None:
    """The sum of all and sums with weights, before it or after it, have the same verdicts whatever all weights have in common."""
    n, crowd = 24, 100
    if nearby:
        monkeypatch.setattr(digits_module, "MOST_ENTRIES", 1)
        monkeypatch.setattr(digits_module, "NEARBY", 60)
    few = [np.append(mask, np.zeros(crowd, dtype=bool)) for mask in halves(n, 10)]
    counts = []
    for offset in (0, 1_000, 10_000):
        auditor = auditor_of(np.zeros(n + crowd), Range.even(2.0))
        everybody = LinearRow.of(np.ones(n + crowd, dtype=bool))
        rows = [weighted(offset * (k + 1), mask) for k, mask in enumerate(few)]
        for number, row in enumerate([*rows[:1], everybody, *rows[1:]] if last else [everybody, *rows]):
            auditor.release(row, number)
        counts.append(auditor.rank())
    assert counts[0] == counts[1] == counts[2] < 8
