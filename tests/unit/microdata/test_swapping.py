"""Rank swapping, swapping and record swapping: windows, marginals, audits, distribution, refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from reference import swaps_reference as reference
from reference.perturb_files import file_of, run
from reticent.base.errors import DataError, ParameterError
from reticent.data.schema import Role
from reticent.kernels import swaps
from reticent.microdata.mask.rank_swap import RankSwap
from reticent.microdata.mask.record_swap import RecordSwap
from reticent.microdata.mask.swap import Swap
from reticent.microdata.perturb.households import _match


@given(n=st.integers(0, 60), window=st.integers(0, 70), seed=st.integers(0, 2**63))
def test_rank_partners_stay_in_the_window_and_are_mutual(n, window, seed) -> None:
    partner = swaps.rank_partners(np.uint64(seed), np.uint64(5), np.arange(n, dtype=np.uint64), window)
    assert sorted(partner) == list(range(n))
    assert all(abs(partner[i] - i) <= window for i in range(n))
    # pairs, but for one ring of three in an odd number; one alone where no pair is near enough
    once = [i for i in range(n) if partner[partner[i]] != i]
    alone = [i for i in range(n) if partner[i] == i]
    assert len(once) in (0, 3)
    assert window == 0 or len(alone) + len(once) // 3 == n % 2
    assert window == 0 or not alone or not once


def test_rank_partners_are_spread_over_the_window() -> None:
    n, window = 1001, 10
    first = [
        int(swaps.rank_partners(np.uint64(s), np.uint64(1), np.arange(n, dtype=np.uint64), window)[0])
        for s in range(2000)
    ]
    assert stats.chisquare(np.bincount(first, minlength=11)[1:]).pvalue > 1e-4


@given(seed=st.integers(0, 10_000), window=st.floats(10, 100), ties=st.booleans())
def test_rank_swap_keeps_its_promises(seed, window, ties) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 5, 80).astype(float) if ties else rng.normal(size=80)
    values[:7] = np.nan
    data = file_of(
        {"x": values, "o": rng.integers(0, 9, 80).astype(str), "s": np.repeat(["u", "v"], 40)}, ordinal=("o",)
    )
    applied = run(RankSwap(("x", "o"), window=window, strata=("s",)), data)
    after = applied.data.numbers(("x",))[:, 0]
    assert np.isnan(after[:7]).all()
    assert np.array_equal(np.sort(after[40:]), np.sort(values[40:]))


def test_rank_swap_changes_nearly_all_and_nothing_without_window() -> None:
    data = file_of({"x": np.random.default_rng(0).normal(size=1000)})
    assert run(RankSwap(("x",), window=0.0), data).changed == {"x": 0}
    applied = run(RankSwap(("x",), window=10.0), data)
    assert applied.changed["x"] >= 990
    displacement = np.abs(
        np.argsort(np.argsort(applied.data.numbers(("x",))[:, 0])) - np.argsort(np.argsort(data.numbers(("x",))[:, 0]))
    )
    assert 90 <= displacement.max() <= 100


def test_rank_swap_follows_the_record() -> None:
    rng = np.random.default_rng(0)
    values, order = rng.normal(size=300), rng.permutation(300)
    ids = np.array([f"p{i:03d}" for i in range(300)])
    straight = file_of({"id": ids, "x": values}, roles={"id": Role.IDENTIFIER})
    mixed = file_of({"id": ids[order], "x": values[order]}, roles={"id": Role.IDENTIFIER})
    first, second = (run(RankSwap(("x",)), d).data.numbers(("x",))[:, 0] for d in (straight, mixed))
    assert np.array_equal(first[order], second)


def test_rank_swap_refusals() -> None:
    data = file_of({"x": np.arange(10.0), "n": np.array(["a", "b"] * 5)})
    with pytest.raises(DataError, match="fewer than 3 ranks"):
        run(RankSwap(("x",), window=5.0), data)
    with pytest.raises(DataError, match="n is nominal"):
        run(RankSwap(("n",)), data)
    with pytest.raises(ParameterError, match="window must be"):
        RankSwap(("x",), window=150.0)


@given(seed=st.integers(0, 10_000), rate=st.floats(0, 100), within=st.booleans())
def test_swap_keeps_joint_marginals_and_its_rate(seed, rate, within) -> None:
    rng = np.random.default_rng(seed)
    data = file_of({"a": rng.integers(0, 3, 90).astype(str), "b": rng.integers(0, 4, 90).astype(str), "x": rng.normal(size=90),
                    "s": rng.integers(0, 3, 90).astype(str)})  # fmt: skip
    applied = run(Swap(("a", "x"), rate=rate, within=("s",) if within else ()), data)
    assert applied.facts["swapped"] <= round(0.9 * rate)
    assert applied.facts["swapped"] >= min(round(0.9 * rate), 80) - 1
    assert applied.changed["x"] == applied.facts["swapped"]
    assert np.array_equal(applied.data.codes(("b",)), data.codes(("b",)))


def test_swap_takes_rare_records_first_and_every_one_of_them() -> None:
    key = np.array(["common"] * 190 + [f"rare{i}" for i in range(10)])
    region = np.array(["north", "south"] * 100)
    data = file_of({"key": key, "region": region})
    applied = run(Swap(("region",), rate=0.0, keys=("key",)), data)
    assert applied.facts["rare"] == 10
    assert applied.facts["rare_without_partner"] == 0
    assert (applied.data.codes(("region",)) != data.codes(("region",)))[190:].all()


def test_swap_of_nothing_changes_nothing_and_nonsense_is_refused() -> None:
    data = file_of({"a": np.array(["x", "y"] * 20)})
    assert run(Swap(("a",), rate=0.0), data).changed == {"a": 0}
    with pytest.raises(ParameterError, match="swapped and kept within"):
        Swap(("a",), within=("a",))
    with pytest.raises(DataError, match="not in the schema"):
        run(Swap(("a",), within=("b",)), data)


@pytest.mark.slow
def test_swap_partners_are_drawn_evenly() -> None:
    data = file_of({"a": np.array([f"v{i}" for i in range(11)])})
    code = [int(run(Swap(("a",), rate=100.0), data, secret=s).data.codes(("a",))[0, 0]) for s in range(660)]
    counts = np.bincount(code, minlength=11)[data.codes(("a",))[1:, 0]]
    assert stats.chisquare(counts).pvalue > 1e-4


@given(seed=st.integers(0, 10_000), n=st.integers(1, 40))
def test_donors_are_the_best_free_ones(seed, n) -> None:
    rng = np.random.default_rng(seed)
    profile, area, priority = rng.integers(0, 3, n), rng.integers(0, 3, n), rng.random(n)
    targets = rng.permutation(n)[: rng.integers(0, n + 1)]
    used = np.zeros(n, dtype=bool)
    first, second = _match(targets, profile, area, priority, used.copy())
    expected = []
    for unit in targets:
        donor = -1 if used[unit] else reference.best_donor(unit, profile, area, priority, used)
        if donor >= 0:
            used[[unit, donor]] = True
            expected.append((unit, donor))
    assert list(zip(first, second)) == expected


def household_file(n: int = 300, seed: int = 0):
    rng = np.random.default_rng(seed)
    size = rng.integers(1, 5, n)
    household = np.repeat(np.arange(n), size)
    county = rng.integers(0, 3, n)
    town = county * 4 + rng.integers(0, 4, n)
    age = rng.integers(0, 12, household.size)
    return file_of(
        {"hh": household.astype(str), "county": county[household].astype(str), "town": town[household].astype(str),
         "size": size[household].astype(str), "age": age.astype(str), "postcode": (town * 7)[household].astype(str)},
        roles={"hh": Role.HOUSEHOLD_ID},
    )  # fmt: skip


@given(seed=st.integers(0, 10_000), rate=st.floats(0, 60))
def test_record_swap_audit_is_true_and_tables_stay(seed, rate) -> None:
    data = household_file(seed=seed)
    method = RecordSwap(("county", "town"), (("size",),), keys=("age",), k=2, rate=rate, carry_along=("postcode",))
    applied = run(method, data)
    before, after = data.codes(("county", "town", "postcode")), applied.data.codes(("county", "town", "postcode"))
    moved = set()
    for swap in applied.facts["swaps"]:
        a, b = swap["record"] - 1, swap["with"] - 1
        moved |= {a, b}
        assert np.array_equal(after[a], before[b])
        assert np.array_equal(after[b], before[a])
        assert before[a, 1] != before[b, 1]
        assert data.codes(("size",))[a] == data.codes(("size",))[b]
        if swap["level"] == "county":
            assert before[a, 0] != before[b, 0]
    assert len(moved) == applied.facts["swapped"] >= min(round(3 * rate), 250) - 1
    first = np.unique(data.household(), return_index=True)[1]
    still = [f for f in first if f not in moved]
    assert np.array_equal(after[still], before[still])
    assert np.array_equal(applied.data.codes(("age", "size")), data.codes(("age", "size")))


def test_record_swap_exchanges_those_at_risk_or_lists_them() -> None:
    data = household_file()
    applied = run(RecordSwap(("county", "town"), (("size",),), keys=("age",), k=2, rate=0.0), data)
    rare = data.sample_counts(("county", "town", "age")) < 2
    first = np.unique(data.household(), return_index=True)[1]
    at_risk = {int(first[h]) + 1 for h in np.unique(data.household()[rare])}
    swapped = {s[side] for s in applied.facts["swaps"] for side in ("record", "with")}
    assert applied.facts["at_risk"] == len(at_risk) > 2
    assert at_risk <= swapped | set(applied.facts["unmatched"])
    assert {s["reason"] for s in applied.facts["swaps"]} == {"risk"}


def test_record_swap_refusals() -> None:
    data = household_file()
    with pytest.raises(DataError, match="age differs within households"):
        run(RecordSwap(("county",), (("age",),)), data)
    with pytest.raises(ParameterError, match="cannot move with the area"):
        RecordSwap(("county",), (("county",),))
    with pytest.raises(ParameterError, match="at least one list"):
        RecordSwap(("county",), ())
