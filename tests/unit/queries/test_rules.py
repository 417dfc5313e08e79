"""Sensitivity rules of a set of records: by respondent, in exact integers, the quick way and the general way."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reticent.queries.columns import Columns
from reticent.queries.fixed import Fixed, fixed_point
from reticent.queries.policy import Policy
from reticent.queries.rules import SetRules


def columns_of(values: list[int], entity: list[int] | None = None, start: list[int] | None = None) -> Columns:
    n = len(values)
    starts = np.array(start if start is not None else range(n + 1), dtype=np.int64)
    owners = np.arange(n) if entity is None else np.array(entity, dtype=np.int64)
    return Columns("x", (np.arange(len(starts) - 1),), starts, owners, Fixed(np.array(values, dtype=np.int64), 1))


def broken(policy: Policy, values: list[int], entity: list[int] | None = None) -> str | None:
    rules = SetRules.of(policy, by_value=True)
    columns = columns_of(values, entity)
    found = rules.broken(columns, np.ones(columns.n_columns, dtype=bool))
    return None if found is None else found.split(":")[0]


@pytest.mark.parametrize(
    "policy, values, entity, rule",
    [
        (Policy(minimum=3), [1, 1], None, "minimum"),
        (Policy(minimum=3), [1, 1, 1], None, None),
        (Policy(minimum=3), [1, 1, 1, 1], [0, 0, 1, 1], "minimum"),
        (Policy(minimum=1, dominance=(2, 85)), [85, 3, 2], None, "dominance"),
        (Policy(minimum=1, dominance=(2, 85)), [50, 35, 15], None, None),  # exactly 85 percent is safe
        (Policy(minimum=1, dominance=(2, 85)), [50, 36, 14], None, "dominance"),
        (Policy(minimum=1, dominance=(1, 50)), [30, 30, 40], [0, 0, 1], "dominance"),
        (Policy(minimum=1, dominance=(1, 85)), [-900, 30, 40], None, "dominance"),  # a negative value hides nothing
        (Policy(minimum=1, p_percent=10), [100, 50, 9], None, "p percent"),
        (Policy(minimum=1, p_percent=10), [100, 50, 10], None, None),
        (Policy(minimum=1, p_percent=10), [100, 50], None, "p percent"),
        (Policy(minimum=1, p_percent=10, coalition=2), [100, 50, 20, 9], None, "p percent"),
        (Policy(minimum=1, dominance=(1, 50)), [0, 0, 0], None, None),
    ],
)
def test_rules(policy: Policy, values: list[int], entity: list[int] | None, rule: str | None) -> None:
    assert broken(policy, values, entity) == rule


@given(st.data())
def test_the_quick_way_agrees_with_the_general_one(data: st.DataObject) -> None:
    values = data.draw(st.lists(st.integers(-50, 50), min_size=1, max_size=12))
    cuts = sorted(data.draw(st.sets(st.integers(1, len(values)), max_size=4)) - {len(values)})
    start = [0, *cuts, len(values)]
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(start) - 1, max_size=len(start) - 1)))
    policy = Policy(minimum=data.draw(st.integers(1, 4)), dominance=(2, 70), p_percent=20.0)
    rules = SetRules.of(policy, by_value=True)
    quick = columns_of(values, None, start)
    assert quick.one_each
    # one far respondent with two units outside the set forces the general way
    general = columns_of([*values, 7, 7], [*range(len(values)), 999, 999], [*start, len(values) + 2])
    assert not general.one_each
    assert rules.broken(quick, mask) == rules.broken(general, np.append(mask, False))


def test_fixed_point_keeps_decimals_and_bounds_the_rest() -> None:
    assert fixed_point(np.array([1.25, -3.5, 100.0])).integers.tolist() == [125, -350, 10000]
    rough = np.array([np.pi, -np.e, 1e5])
    held = fixed_point(rough)
    assert np.abs(held.integers / held.scale - rough).max() < 1e-9
