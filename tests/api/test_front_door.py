"""The front door: frames in and the same kind out, one crossing, reports, explanations, plain summaries."""

import hashlib
import json
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import reticent as rt
from reticent import mask, methods, rules

STEPS = [
    mask.RemoveIdentifiers(("weight",)),
    mask.Recode("age", bands=(30, 60)),
    mask.RoundValues(("income",), base=2000),
    mask.LocalSuppression(k=3, keys=("age", "region", "sex", "income")),
]
SECRET = hashlib.sha256(b"a test").digest()


def as_kind(table: pl.DataFrame, kind: str) -> Any:
    return {
        "polars": lambda: table,
        "lazy": lambda: table.lazy(),
        "pandas": lambda: pd.DataFrame({name: table[name].to_list() for name in table.columns}),
        "arrow": lambda: table.to_arrow(),
        "duckdb": lambda: duckdb.from_arrow(table.to_arrow()),
    }[kind]()


KINDS = {
    "polars": pl.DataFrame, "lazy": pl.LazyFrame, "pandas": pd.DataFrame, "arrow": pa.Table, "duckdb": duckdb.DuckDBPyRelation,
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_kind_of_frame_comes_out(people: pl.DataFrame, firms: pl.DataFrame, kind: str) -> None:
    named = {"keys": ["age", "region", "sex"], "identifiers": ["id", "home"], "weight": "weight"}
    run = rt.load(as_kind(people, kind), **named).protect(STEPS, most=0.3, secret=SECRET)
    masked = run.release().to_frame()
    assert isinstance(masked, KINDS[kind])
    reference = rt.load(people, **named).protect(STEPS, most=0.3, secret=SECRET).release().to_frame()
    values = (
        masked.collect()
        if kind == "lazy"
        else masked.pl()
        if kind == "duckdb"
        else pl.DataFrame(masked)
        if kind == "arrow"
        else masked
    )
    assert [str(v) for v in values["age"] if v == v and v] == [str(v) for v in reference["age"] if v]
    table = rt.load(as_kind(firms, kind)).tabulate("industry", "size").protect(rules=[rules.Threshold(3)])
    assert isinstance(table.release().to_frame(), KINDS[kind])


def test_release_is_the_only_crossing_and_refuses(data: rt.Data, tmp_path: Path) -> None:
    run = data.protect([mask.Reorder()], most=0.01, secret=SECRET)
    assert not run.verdict.held
    with pytest.raises(rt.NotProtectedError):
        run.release()
    masked = run.release(accept_risk="a closed room")
    assert "a closed room" in " ".join(run.notes)
    assert "a closed room" in json.dumps(run.summary())
    run.confidential_report(tmp_path / "c.html")
    assert "a closed room" in (tmp_path / "c.html").read_text()
    masked.write(tmp_path / "m.csv")
    masked.public_report(tmp_path / "p.html")
    assert "a closed room" not in (tmp_path / "p.html").read_text()
    assert "id" not in masked.to_frame().columns


def test_a_table_is_explained_audited_and_written(firms: pl.DataFrame, tmp_path: Path) -> None:
    tree = [(code, code[0], "Total") for code in ("A1", "A2", "B1", "B2")]
    data = rt.load(firms, hierarchies={"industry": tree})
    run = data.tabulate("industry", "size", response="turnover").protect(
        rules=[rules.PPercent(15), rules.Threshold(12)], method=methods.Optimal(), time_limit=10
    )
    assert not run.exposed
    published = run.release()
    hidden = next(codes for codes, status in zip(published.codes, published.status) if status == "hidden")
    assert run.why(*hidden)
    assert run.what_if(*hidden)
    published.write(tmp_path / "t.csv")
    published.public_report(tmp_path / "t.html")
    for source in (published, published.to_frame()):
        found = rt.audit(source, structure={"industry": tree}, kind="magnitude")
        assert not found.exposed
        assert len(found.rows()) == published.counts()["hidden"]
        json.dumps(found.summary())
    json.dumps(run.summary())


def test_a_table_that_gives_its_hidden_cells_away_is_found() -> None:
    cells = pd.DataFrame({"town": ["Total", "a", "b", "c"], "value": [10, None, 3, 4]})
    assert rt.audit(cells).exposed == (("a",),)
    two = pd.DataFrame({"town": ["Total", "a", "b"], "value": [2, None, None]})
    assert rt.audit(two).exposed == (("a",), ("b",))  # nobody is hidden without being there
    assert rt.audit(two, kind="magnitude").exposed == ()


def test_linked_tables_and_an_exposed_one(firms: pl.DataFrame) -> None:
    data = rt.load(firms)
    both = data.tabulate("industry").linked(data.tabulate("industry", "size")).protect(rules=[rules.Threshold(6)])
    assert len(both.release_all()) == 2
    alone = data.tabulate("industry", "size").protect(rules=[rules.Threshold(6)], method=methods.PrimaryOnly())
    if alone.exposed:
        with pytest.raises(rt.NotProtectedError, match="recovers"):
            alone.release()
        alone.release(accept_risk="for the test")
        assert "for the test" in " ".join(alone.notes)


def test_explore_chooses_and_its_steps_can_be_run(data: rt.Data) -> None:
    found = data.explore(
        {"weak": [mask.Noise(("income",), k=0.1)], "strong": [mask.Microaggregate(("income",), k=10)]},
        settings=rt.ExploreSettings(draws=1, fresh=1), secret=SECRET,
    )  # fmt: skip
    assert set(found.front) <= {"weak", "strong"}
    assert found.chosen
    data.protect(found.chosen, most=1.0, secret=SECRET)
    json.dumps(found.summary())
    named = data.explore([[mask.Noise(("income",))]], settings=rt.ExploreSettings(draws=1, fresh=1), secret=SECRET)
    assert named.front == ("1: noise",)


def test_a_database_from_data_answers_and_is_attacked(firms: pl.DataFrame, tmp_path: Path) -> None:
    data = rt.load(firms, sensitive=["turnover"], missing={})
    policy = rt.Policy(filters=("industry", "size"), responses=("turnover",), minimum=3)
    database = rt.open_database(data, policy=policy, secret=SECRET, ledger=tmp_path / "firms.ledger")
    assert isinstance(database.ask("SELECT COUNT(*) FROM data", user="ann"), rt.Answer | rt.Refusal)
    database.close()


def test_summaries_and_descriptions(data: rt.Data, people: pl.DataFrame) -> None:
    risk = data.risk()
    json.dumps(risk.summary())
    assert "records" in repr(risk)
    assert risk.k_anonymity(ks=(2,)).k >= 1
    assert rt.describe(people).schema["age"].role == rt.Role.KEY
    assert "keys: age, region, sex" in repr(data)


@pytest.mark.parametrize(
    "tree",
    [
        [("A1", "A", "all"), ("A2", "A", "all"), ("B1", "B", "all"), ("B2", "B", "all")],
        {"all": ("A", "B"), "A": ("A1", "A2"), "B": ("B1", "B2")},
        pd.DataFrame([("A1", "A", "all"), ("A2", "A", "all"), ("B1", "B", "all"), ("B2", "B", "all")]),
        rt.Hierarchy.from_children({"all": ("A", "B"), "A": ("A1", "A2"), "B": ("B1", "B2")}),
    ],
    ids=["rows", "children", "frame", "hierarchy"],
)
def test_hierarchies_come_as_people_have_them(firms: pl.DataFrame, tree: Any, tmp_path: Path) -> None:
    data = rt.load(firms, hierarchies={"industry": tree})
    found = data.schema["industry"].hierarchy
    assert found is not None
    assert found.total == "all"
    assert found.ancestor_at(1)["A1"] == "A"
    file = tmp_path / "nace.csv"
    file.write_text("A1;A;all\nA2;A;all\nB1;B;all\nB2;B;all\n")
    assert rt.load(firms, hierarchies={"industry": file}).schema["industry"].hierarchy == found


def test_doors_to_blanks_regions_and_cutpoints(data: rt.Data) -> None:
    run = data.protect(STEPS, most=1.0, secret=SECRET)
    assert {row.variable for row in run.blanks(["region", "sex"]).rows} == {"region", "sex"}
    assert data.risk().regional(["region", "sex"], threshold=10).rows
    for kind in ("fixed-width", "minimum-width"):
        assert all(found.count >= 20 for found in data.cutpoints("age", least=20, kind=kind))
    with pytest.raises(rt.ParameterError, match="kind must be one of"):
        data.cutpoints("age", least=20, kind="wide")


def test_doors_to_measures_of_risk(data: rt.Data, people: pl.DataFrame) -> None:
    """Measures with a population at hand: a file in its own population is certain to be in it, and every unique is one."""
    risk, keys = data.risk(), ["age", "region", "sex"]
    population = rt.load(people, keys=keys)
    smallest = risk.k_anonymity(keys).k
    assert risk.k_map(keys, population=population).k == smallest
    assert risk.k_map(keys).k > smallest, "weights count people, not records"
    found = risk.presence(population, keys)
    assert found.smallest == found.largest == 1.0
    alone = risk.uniqueness_in(population, keys)
    assert alone.both == alone.sample_uniques == alone.population_uniques
    assert risk.attackers(keys, population=population).journalist_highest == 1 / smallest
    assert risk.key_sets(keys)[0].keys == tuple(keys), "all keys together separate most"
    assert risk.diversity(["income"], ["region"]).distinct_l == risk.attribute("income", ["region"]).distinct_l
    assert risk.intrusion(keys, fraction=0.5, trials=2000).summary()["trials"] == 2000
    with pytest.raises(rt.ParameterError, match="population must be data from load"):
        risk.presence(people)


def test_doors_to_attacks_on_a_run(data: rt.Data) -> None:
    run = data.protect([mask.Recode("age", bands=(30, 60))], most=1.0)
    assert 0.0 <= run.one_to_one(["region", "sex"]).share <= 1.0
    same = run.ranking_attack("income", percent=100)
    assert same.covered == 1.0, "income is not masked, so each value lies between its neighbours"
    with pytest.raises(rt.ParameterError, match="percent"):
        run.ranking_attack("income", percent=200)
    with pytest.raises(rt.ReticentError, match="nobody"):
        run.ranking_attack("nobody")
