"""The masking step `microaggregate`: what it keeps, what it promises, what it refuses."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reticent.base.errors import DataError, NotProtectedError, ParameterError, PlanError
from reticent.base.progress import silent
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.plan import plan_from_table, plan_to_toml
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.microdata.grouping.aggregate import (
    group_means,
    group_medians,
    group_modes,
    mixed_medoids,
    nearest_to_mean,
)
from reticent.microdata.mask import METHODS
from reticent.microdata.mask.microaggregation import AGGREGATIONS, Microaggregate
from reticent.microdata.mask.microaggregation_checks import dominated_groups
from samples import examples

NUMERIC = (
    "first-component",
    "z-scores",
    "mdav",
    "v-mdav",
    "cbfs",
    "ward",
    "best",
    "individual-ranking",
    "exact",
    "genetic",
)


def people(n: int, seed: int = 0) -> Microdata:
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "region": rng.choice(["n", "s"], n),
            "income": rng.lognormal(10, 1, n),
            "tax": rng.lognormal(8, 1, n),
            "age": rng.integers(18, 90, n),
            "job": rng.choice(["a", "b", "c"], n),
            "health": rng.choice(["bad", "fair", "good"], n),
        }
    )
    schema = Schema(
        (
            Variable("region", role=Role.KEY),
            Variable("income", kind=Kind.NUMERIC),
            Variable("tax", kind=Kind.NUMERIC),
            Variable("age", kind=Kind.NUMERIC),
            Variable("job"),
            Variable("health", kind=Kind.ORDINAL, codes=("bad", "fair", "good")),
        )
    )
    return Microdata.of(frame, schema)


def quick(partition: str) -> dict[str, int]:
    """A short search where there is one."""
    return {"proposals": 3000} if partition == "best" else {}


def run(method: Microaggregate, data: Microdata, secret: int = 1) -> Microdata:
    applied = method.apply(data, secret=as_secret(secret), progress=silent)
    for promise in method.promises():
        assert promise.broken(data, applied.data) == 0, promise.text
    return applied.data


@pytest.mark.parametrize("partition", NUMERIC)
@pytest.mark.parametrize("aggregation", ["mean", "median", "medoid"])
def test_promises_hold(partition: str, aggregation: str) -> None:
    data = people(80)
    method = Microaggregate(
        ("income", "tax"), k=4, partition=partition, aggregation=aggregation, strata=("region",), **quick(partition)
    )
    masked = run(method, data)
    assert masked.numbers(("age",)).tobytes() == data.numbers(("age",)).tobytes()
    if aggregation == "mean":
        assert masked.numbers(("income", "tax")).mean(axis=0) == pytest.approx(
            data.numbers(("income", "tax")).mean(axis=0)
        )


@pytest.mark.slow
@examples(10)
@given(st.integers(8, 40), st.integers(2, 4), st.sampled_from(AGGREGATIONS), st.integers(0, 1000))
def test_mixed_records_become_k_anonymous(n: int, k: int, aggregation: str, seed: int) -> None:
    data = people(n, seed)
    names = ("income", "job", "health") if aggregation != "middle" else ("income", "age")
    masked = run(Microaggregate(names, k=k, aggregation=aggregation), data)
    if aggregation != "middle":
        assert masked.patterns(names).counts.min() >= k


def test_one_of_k_changes_nothing() -> None:
    data = people(20)
    for partition in NUMERIC:
        assert run(Microaggregate(("income", "tax"), k=1, partition=partition), data) == data


def test_order_and_threads_do_not_matter() -> None:
    data = people(60)
    order = np.random.default_rng(3).permutation(60)
    for partition in NUMERIC:
        method = Microaggregate(("income", "tax"), k=3, partition=partition, strata=("region",), **quick(partition))
        one = run(method, data).numbers(("income", "tax"))
        other = run(method, data.rows(order)).numbers(("income", "tax"))
        assert one[order] == pytest.approx(other, rel=1e-12)
    best = [
        run(Microaggregate(("income", "tax"), partition="best", proposals=5000, threads=threads), data)
        .numbers(("income", "tax")).tobytes()
        for threads in (1, 2)
    ]  # fmt: skip
    assert best[0] == best[1]


def test_middle_changes_one_member_a_group() -> None:
    data = people(30)
    applied = Microaggregate(("income",), k=5, aggregation="middle", partition="exact").apply(
        data, secret=as_secret(1), progress=silent
    )
    assert applied.changed["income"] == applied.facts["groups"]


def test_another_variable_can_decide_who_is_similar() -> None:
    data = people(30)
    masked = run(Microaggregate(("income",), k=5, using=("age", "tax")), data)
    assert masked.patterns(("income",)).counts.min() >= 5
    assert (
        run(Microaggregate(("income",), k=5), data).numbers(("income",)).tobytes()
        != masked.numbers(("income",)).tobytes()
    )


def test_missing_values_are_refused_or_filled() -> None:
    schema = Schema((Variable("x", kind=Kind.NUMERIC), Variable("y", kind=Kind.NUMERIC)))
    frame = pl.DataFrame({"x": [1.0, 2.0, None, 9.0, 10.0, 11.0], "y": [1.0, 1.5, 1.2, 7.0, 7.5, 7.1]})
    data = Microdata.of(frame, schema)
    with pytest.raises(DataError, match="x has 1 missing values.*missing = 'fill'"):
        run(Microaggregate(("x", "y")), data)
    masked = run(Microaggregate(("x", "y"), missing="fill"), data)
    assert not np.isnan(masked.numbers(("x",))).any()
    assert masked.patterns(("x", "y")).counts.tolist() == [3, 3]


def test_groups_hold_respondents_not_rows() -> None:
    schema = Schema((Variable("firm", role=Role.ENTITY), Variable("x", kind=Kind.NUMERIC)))
    firms = ["a", "a", "a", "b", "c", "d", "e", "f", "g"]
    data = Microdata.of(pl.DataFrame({"firm": firms, "x": [1.0, 1.1, 1.2, 5, 6, 7, 20, 21, 22]}), schema)
    masked = run(Microaggregate(("x",), k=3), data)
    for value in np.unique(masked.numbers(("x",))):
        inside = {firm for firm, x in zip(firms, masked.numbers(("x",))[:, 0]) if x == value}
        assert len(inside) >= 3


def test_refusals() -> None:
    data = people(30)
    few = data.rows(np.arange(30) < 4)
    with pytest.raises(DataError, match="fewer than k = 5"):
        run(Microaggregate(("income", "tax"), k=5), few)
    with pytest.raises(DataError, match="a stratum has"):
        run(Microaggregate(("income", "tax"), k=20, strata=("region",)), data)
    flat = data.with_numbers("tax", np.full(30, 2.0))
    with pytest.raises(DataError, match="'tax' is constant"):
        run(Microaggregate(("income", "tax")), flat)
    with pytest.raises(DataError, match="job is nominal; codes are grouped with partition = 'mdav'"):
        run(Microaggregate(("income", "job"), partition="best"), data)
    with pytest.raises(ParameterError, match="needs sort_by"):
        Microaggregate(("income",), partition="variable")
    with pytest.raises(ParameterError, match="Did you mean 'median'"):
        Microaggregate(("income",), aggregation="medain")
    with pytest.raises(NotProtectedError, match="holds more than 0.34"):
        run(Microaggregate(("income",), largest_share=0.34), data)
    with pytest.raises(DataError, match="region is a stratum"):
        run(Microaggregate(("region", "job"), strata=("region",)), data)


def test_facts_tell_loss_and_bound() -> None:
    data = people(60)
    best = Microaggregate(("income", "tax"), partition="best", proposals=20_000, strata=("region",))
    facts = best.apply(data, secret=as_secret(1), progress=silent).facts
    assert 0 < facts["loss bound"] < facts["loss"] < 1
    assert sum(int(size) * count for size, count in facts["sizes"].items()) == 60
    plain = Microaggregate(("income", "tax")).apply(data, secret=as_secret(1), progress=silent).facts
    assert plain["loss bound"] is None
    mixed = Microaggregate(("income", "job")).apply(data, secret=as_secret(1), progress=silent).facts
    assert mixed["loss"] is None


def test_blocks_keep_the_promises() -> None:
    data = people(300)
    for partition in ("mdav", "best"):
        masked = run(
            Microaggregate(("income", "tax"), k=3, partition=partition, block_size=50, **quick(partition)), data
        )
        assert masked.patterns(("income", "tax")).counts.min() >= 3


@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        ({"proposals": 5}, "proposals goes with partition = best"),
        ({"gain": 1.0}, "gain goes with partition = v-mdav or best"),
        ({"start": "cbfs", "partition": "ward"}, "start goes with"),
        ({"block_size": 100, "partition": "cbfs"}, "block_size goes with partition = best or mdav"),
        ({"sort_by": "tax"}, "sort_by goes with partition = 'variable' only"),
        ({"random_sizes": True}, "random_sizes needs a partition along one axis"),
        ({"block_size": 11}, "block_size must be a whole number of at least 12"),
    ],
)
def test_no_option_is_ignored(options: dict[str, object], wrong: str) -> None:
    with pytest.raises(ParameterError, match=wrong):
        Microaggregate(("income", "tax"), **options)  # type: ignore[arg-type]


def test_plan_round_trip() -> None:
    table = {"data": {"path": "x.csv"}, "step": [{"method": "microaggregate", "variables": ["income"], "k": 5}]}
    plan = plan_from_table(table, METHODS, owner="plan", folder=Path("."))
    assert plan.steps == (Microaggregate(("income",), k=5),)
    assert "microaggregate" in plan_to_toml(plan)
    table["step"][0]["k"] = 0  # type: ignore[index]
    with pytest.raises(PlanError, match="k must be"):
        plan_from_table(table, METHODS, owner="plan", folder=Path("."))


@given(st.lists(st.tuples(st.integers(0, 3), st.one_of(st.none(), st.integers(-5, 5))), min_size=1, max_size=30))
def test_aggregates_equal_plain_python(pairs: list[tuple[int, int | None]]) -> None:
    labels = np.unique([g for g, _ in pairs], return_inverse=True)[1].astype(np.int64)
    values = np.array([np.nan if v is None else v for _, v in pairs], dtype=float)
    for group in range(labels.max() + 1):
        inside = sorted(v for v in values[labels == group] if not np.isnan(v))
        if not inside:
            assert np.isnan([group_means(values, labels)[group], group_modes(values, labels)[group]]).all()
            assert np.isnan(group_medians(values, labels)[group])
            continue
        assert group_means(values, labels)[group] == pytest.approx(np.mean(inside))
        assert group_medians(values, labels)[group] == np.median(inside)
        assert group_medians(values, labels, lower=True)[group] == inside[(len(inside) - 1) // 2]
        assert group_modes(values, labels)[group] == max(sorted(set(inside)), key=inside.count)


def test_medoids_are_members_with_the_least_sum() -> None:
    x = np.random.default_rng(1).normal(size=(12, 2))
    labels = np.repeat(np.arange(3), 4)
    for group, medoid in enumerate(nearest_to_mean(x, labels)):
        sums = [((x[labels == group] - x[i]) ** 2).sum() for i in np.flatnonzero(labels == group)]
        assert medoid == np.flatnonzero(labels == group)[int(np.argmin(sums))]
    columns = np.array([[0.0, 1], [0.1, 1], [np.nan, 1], [1.0, 0], [0.9, 0], [0.8, 0]])
    medoids = mixed_medoids(columns, np.array([False, True]), np.array([0, 0, 0, 1, 1, 1]), square=False)
    assert medoids.tolist() == [0, 4] or medoids.tolist() == [1, 4]


def test_dominated_means_are_counted_by_respondent() -> None:
    """Group 0: only 1 + 2 hide 100 from the second; group 1 is even; group 2 belongs to two firms."""
    values = np.array([100.0, 1.0, 2.0, 3.0, 10.0, 10.0, 10.0, 5.0, 5.0, 5.0])
    labels = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, 2])
    assert dominated_groups(values, labels, None) == 1
    assert dominated_groups(values, labels, np.array([0, 1, 2, 3, 4, 5, 6, 7, 7, 8])) == 2
