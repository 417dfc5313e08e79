"""The auditor's verdicts equal those of an independent exact oracle: never later, never earlier."""

import numpy as np
import pytest

from reference.audit_oracle import Oracle
from reticent.queries.audit.auditor import Auditor
from reticent.queries.audit.bounds import bound_stage
from reticent.queries.audit.rowspace import LinearRow
from reticent.queries.columns import Columns, Fixed
from reticent.queries.policy import Bounds, Policy
from reticent.queries.rules import SetRules


def make_auditor(values: np.ndarray, policy: Policy) -> Auditor:
    n = len(values)
    columns = Columns("x", (np.arange(n),), np.arange(n + 1), np.arange(n), Fixed(values.astype(np.int64), 1))
    rules = SetRules.of(policy, by_value=True)
    return Auditor(
        columns,
        rules,
        np.random.default_rng(0),
        unions=policy.unions,
        bounds=bound_stage(columns, policy, ("x",), rules),
    )


def ask(auditor: Auditor, mask: np.ndarray, release: int) -> bool:
    if auditor.rules.broken(auditor.columns, mask) is not None:
        return False
    return auditor.release(LinearRow.of(mask), release).allowed


def random_query(rng: np.random.Generator, keys: np.ndarray) -> np.ndarray:
    """A random subset, or a conjunction or complement over a few key variables, as analysts ask."""
    n = keys.shape[1]
    if rng.random() < 0.4:
        return rng.random(n) < rng.choice([0.3, 0.5, 0.8])
    mask = np.ones(n, dtype=bool)
    for key in keys[rng.random(len(keys)) < 0.6]:
        mask &= key == rng.integers(0, 3)
    return ~mask if rng.random() < 0.4 else mask


def compare(seed: int) -> tuple[int, int]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 13))
    zeros = rng.random() < 0.4
    values = rng.integers(0, 5, n) if zeros else rng.integers(1, 60, n)
    bounded = rng.random() < 0.15
    high = int(values.max()) if bounded and rng.random() < 0.5 and values.max() else None
    minimum = int(rng.integers(1, 5))
    dominance = (int(rng.integers(1, 3)), int(rng.integers(50, 96))) if rng.random() < 0.6 else None
    unions = int(rng.integers(1, 3))
    insider = bool(rng.random() < 0.5)
    policy = Policy(
        minimum=minimum,
        dominance=dominance or (),
        unions=unions,
        coalition=int(insider),
        bounds={"x": Bounds(0, high)} if bounded else {},
    )
    auditor = make_auditor(values, policy)
    oracle = Oracle(values.tolist(), minimum, dominance, unions, 0 if bounded else None, high, insider)
    keys = rng.integers(0, 3, (3, n))
    answered = denied = 0
    for number in range(8):
        mask = random_query(rng, keys)
        expected = oracle.ask(tuple(mask.astype(int).tolist()))
        assert ask(auditor, mask, number) == expected, f"seed {seed}, query {number}"
        answered, denied = answered + expected, denied + (not expected)
    return answered, denied


def test_verdicts_equal_the_oracle() -> None:
    totals = np.sum([compare(seed) for seed in range(250)], axis=0)
    assert totals.min() > 200, "both verdicts occur often enough to mean something"


@pytest.mark.deep
def test_verdicts_equal_the_oracle_on_twenty_thousand_histories() -> None:
    for seed in range(1_000, 21_000):
        compare(seed)


def test_a_zero_sum_of_values_that_cannot_be_negative_is_caught() -> None:
    values = np.array([0, 0, 5, 7, 9])
    pair = np.array([True, True, False, False, False])
    assert ask(make_auditor(values, Policy(minimum=2)), pair, 1), "without bounds nothing is known"
    assert not ask(make_auditor(values, Policy(minimum=2, bounds={"x": Bounds(0)})), pair, 1)


def test_a_sum_at_its_upper_bound_is_caught_and_in_two_steps_too() -> None:
    values = np.array([1, 1, 1, 0, 1, 0, 1, 0])
    policy = Policy(minimum=2, bounds={"x": Bounds(0, 1, True)})
    assert not ask(make_auditor(values, policy), np.arange(8) < 3, 1)
    auditor = make_auditor(values, policy)
    assert ask(auditor, np.arange(8) < 5, 1)  # 4 of 5
    assert not ask(auditor, np.isin(np.arange(8), (3, 4)), 2)  # 1 of {3, 4}: so 0, 1, 2 are all 1


def test_whole_numbers_fix_what_fractions_leave_open() -> None:
    """2(a + b) + c = 3 with zeros and ones: c must be odd, so it is 1; in fractions it could be anything."""
    row = LinearRow(((2, np.array([True, True, False, False])), (1, np.array([False, False, True, False]))))
    values = np.array([1, 0, 1, 0])
    fractions = make_auditor(values, Policy(minimum=2, bounds={"x": Bounds(0, 1)}))
    assert fractions.release(row, 1).allowed
    whole = make_auditor(values, Policy(minimum=2, bounds={"x": Bounds(0, 1, True)}))
    verdict = whole.release(row, 1)
    assert not verdict.allowed
    assert verdict.reason is not None
    assert verdict.reason.rule == "interval"


@pytest.mark.parametrize("interval, answered", [(0.0, True), (1.0, True), (3.5, False), (90.0, False)])
def test_an_interval_that_is_too_narrow_is_refused(interval: float, answered: bool) -> None:
    """x0 + x1 + x2 = 102 and x1 + x2 + x3 + x4 = 4 with x ≥ 0: x0 lies in [98, 102], within 2 percent of 100."""
    values = np.array([100, 1, 1, 1, 1, 1, 1])
    auditor = make_auditor(values, Policy(minimum=2, unions=1, interval=interval, bounds={"x": Bounds(0)}))
    assert ask(auditor, np.isin(np.arange(7), (1, 2, 3, 4)), 1)
    assert ask(auditor, np.isin(np.arange(7), (0, 1, 2)), 2) == answered


def test_an_insider_with_twice_his_value_is_stopped() -> None:
    """{a} ∪ C, {a, b} ∪ D and C ∪ D give 2a + b: nothing to outsiders, b's value to a."""
    n = 14
    place = np.arange(n)
    queries = [
        np.isin(place, (0, 2, 3, 4, 5, 6)),
        np.isin(place, (0, 1, 7, 8, 9, 10, 11)),
        np.isin(place, range(2, 12)),
    ]
    for coalition, expected in ((0, [True, True, True]), (1, [True, True, False])):
        auditor = make_auditor(np.arange(5, 5 + n), Policy(minimum=3, coalition=coalition))
        assert [ask(auditor, mask, i) for i, mask in enumerate(queries)] == expected


def test_the_order_of_answers_does_not_change_what_is_implied() -> None:
    values = np.arange(1, 11)
    masks = [np.arange(10) < k for k in (4, 7, 10)]
    for order in ((0, 1, 2), (2, 1, 0), (1, 0, 2)):
        auditor = make_auditor(values, Policy(minimum=2))
        assert all(ask(auditor, masks[k], i) for i, k in enumerate(order))
        assert auditor.rank() == 3
        assert auditor.release(LinearRow.of((np.arange(10) >= 4) & (np.arange(10) < 7)), 9).implied


def test_rows_can_be_taken_back() -> None:
    rng = np.random.default_rng(3)
    auditor = make_auditor(np.arange(1, 13), Policy(minimum=1))
    masks = [rng.random(12) < 0.5 for _ in range(9)]
    for i, mask in enumerate(masks[:4]):
        ask(auditor, mask, i)
    rank = auditor.rank()
    ask(auditor, masks[4], 4)
    ask(auditor, masks[5], 5)
    auditor.back_to(rank)
    fresh = make_auditor(np.arange(1, 13), Policy(minimum=1))
    for i, mask in enumerate(masks[:4]):
        ask(fresh, mask, i)
    for i, mask in enumerate(masks[6:], start=6):
        assert ask(auditor, mask, i) == ask(fresh, mask, i)
    assert auditor.rank() == fresh.rank()
