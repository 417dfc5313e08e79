"""Jobs with Python objects: no file is read or written, and every summary is plain data."""

import json
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from reticent.base.errors import DataError, ParameterError, ReticentError
from reticent.base.plain import as_plain
from reticent.data.microdata import Microdata
from reticent.data.plan import DataSection
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.data.table_plan import table_plan_from
from reticent.jobs.answer_query import answer_query
from reticent.jobs.argus.run import run_batch
from reticent.jobs.attack_database import attack_database
from reticent.jobs.describe import describe_file
from reticent.jobs.explore import run_explore_spec
from reticent.jobs.jj import AdjustNumbers, Attacker, RoundNumbers, audit_jj, audit_jj_inside, change_jj, suppress_jj
from reticent.jobs.link_files import link_paths
from reticent.jobs.measure import measure_file, model_file
from reticent.jobs.protect_table import protect_table, run_table_plans
from reticent.microdata.explore import Candidate, ExploreSettings
from reticent.microdata.explore_spec import ExploreSpec
from reticent.microdata.mask.noise import Noise
from reticent.queries.database import ProtectedDatabase
from reticent.queries.policy import Policy
from reticent.tables.problem import SuppressionProblem
from reticent.tables.request import table_request
from reticent.tables.rules import Threshold
from reticent.tables.suppression.modular import Modular
from reticent.tabulation.tabulate import tabulate
from table_makers import with_totals

SPEC = TableSpec((DimensionSpec("a"), DimensionSpec("b")), response="v")
RULES = (Threshold(minimum=3, protection=20),)


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, which a job on objects must leave empty."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def records() -> Microdata:
    rng = np.random.default_rng(3)
    frame = pl.DataFrame(
        {"a": rng.choice(list("xyz"), 40).tolist(), "b": rng.choice(list("klm"), 40).tolist(),
         "v": rng.integers(1, 90, 40).astype(float)}
    )  # fmt: skip
    return Microdata.of(frame, Schema((Variable("a"), Variable("b"), Variable("v", kind=Kind.NUMERIC))))


def problem() -> SuppressionProblem:
    values, relations, ids = with_totals(np.array([[20, 50, 10], [8, 19, 22], [17, 32, 12]]))
    primary = np.zeros(len(values), dtype=bool)
    primary[ids[1, 2]] = True
    return SuppressionProblem.from_values(
        values, relations, primary=primary, lower_protection=4.0, upper_protection=4.0, upper_bound=400.0
    )


def test_tables_of_records_finished_ones_and_requests(nowhere: Path) -> None:
    made = protect_table(records(), SPEC, rules=RULES)
    asked = protect_table(table_request(records(), SPEC, rules=RULES))
    finished = protect_table(tabulate(records(), SPEC), rules=RULES)
    assert made.counts() == asked.counts() == finished.counts()
    for result in (made, asked, finished):
        assert json.loads(json.dumps(result.summary()))["exposed"] == []
        assert result.published[0].counts()["hidden"] > 0
    with pytest.raises(ParameterError, match="says everything"):
        protect_table(table_request(records(), SPEC, rules=RULES), rules=RULES)
    assert os.listdir(nowhere) == []


def test_problems_without_a_file(nowhere: Path) -> None:
    found = suppress_jj(problem(), method="optimal")
    hidden = found.summary()["suppressed"]
    assert not any(row["exposed"] for row in audit_jj(problem(), hidden).values())
    alone = [cell for cell in hidden if not problem().primary[cell]][:1]
    inside = audit_jj_inside(problem(), hidden, alone, Attacker(insiders="protect"))
    assert {finding.cell for finding in inside.findings} <= set(np.flatnonzero(problem().primary).tolist())
    for how in (RoundNumbers(5), AdjustNumbers()):
        changed = change_jj(problem(), how, secret=bytes(range(9, 41)), test_secret=True)
        assert json.dumps(changed.summary())
    assert json.dumps(found.summary())
    assert os.listdir(nowhere) == []


def test_a_plan_that_is_no_file(nowhere: Path) -> None:
    """A plan made in Python names its data, and writes what it asks for and nothing else."""
    lines = ["a,v", *(f"{code},{value}" for code, value in zip("xxxyyyz", (5, 6, 7, 8, 9, 10, 70), strict=True))]
    (nowhere / "d.csv").write_text("\n".join(lines) + "\n")
    (nowhere / "s.toml").write_text('[[variable]]\nname = "a"\n[[variable]]\nname = "v"\nkind = "numeric"\n')
    described = {
        "data": {"path": "d.csv", "schema": "s.toml"},
        "table": {"dimensions": ["a"], "response": "v", "rules": [{"rule": "threshold", "minimum": 2}]},
        "output": {"path": "out.csv", "summary": "out.json"},
    }
    (result,) = run_table_plans(table_plan_from(described, owner="plan", folder=nowhere))
    assert sorted(os.listdir(nowhere)) == ["d.csv", "out.csv", "out.json", "s.toml"]
    assert json.loads((nowhere / "out.json").read_text()) == json.loads(json.dumps(result.summary()))


BATCH = (
    '<SPECIFYTABLE> "a""b"|"v"|""|',
    "<SAFETYRULE> FREQ(3,20)",
    "<READMICRODATA>",
    "<SUPPRESS> MOD(1)",
)


def test_a_batch_of_lines_with_records(nowhere: Path) -> None:
    done = run_batch(BATCH, data=records())
    same = protect_table(records(), SPEC, rules=RULES, method=Modular())
    assert done.tables[1].counts() == same.counts()
    assert json.loads(json.dumps(done.summary()))["tables"]["1"]["exposed"] == []
    assert done.files == ()
    assert os.listdir(nowhere) == []


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (("<READTABLE>",), "needs <OPENTABLEDATA>"),
        (("READMICRODATA",), "angle brackets"),
        (("<SPECIFYTABEL>",), "Did you mean 'SPECIFYTABLE'"),
        ((), "no command"),
        (('<OPENMICRODATA> "x.asc"', *BATCH), "x.asc"),
        (("<SPECIFYTABLE> \"a\"\"nobody\"|\"v\"|\"\"|", *BATCH[1:]), "no variable 'nobody'"),
    ],
)  # fmt: skip
def test_a_batch_of_lines_is_checked_like_a_file(lines: tuple[str, ...], words: str, nowhere: Path) -> None:
    with pytest.raises(ReticentError, match=words):
        run_batch(lines, data=records())
    assert os.listdir(nowhere) == []


def people() -> Microdata:
    rng = np.random.default_rng(5)
    frame = pl.DataFrame(
        {"sex": rng.choice(["f", "m"], 60).tolist(), "age": rng.integers(20, 26, 60).astype(str).tolist(),
         "pay": rng.integers(1, 90, 60).astype(float)}
    )  # fmt: skip
    variables = (Variable("sex", role=Role.KEY), Variable("age", role=Role.KEY), Variable("pay", kind=Kind.NUMERIC))
    return Microdata.of(frame, Schema(variables))


def test_risk_models_linkage_and_description_of_records(nowhere: Path) -> None:
    risk, notes = measure_file(people())
    assert notes == ()
    assert json.dumps(as_plain(risk.summary()))
    chosen, _ = measure_file(people(), keys=("sex",))
    assert chosen.summary() != risk.summary()
    models = model_file(people(), fraction=0.1)
    assert models.keys == ("sex", "age")
    masked = people().rows(np.arange(60))
    assert link_paths(people(), masked).records == 60
    described = describe_file(people(), n_samples=2)
    assert described.schema["age"].role is Role.KEY
    assert set(described.samples) == {"sex", "age", "pay"}
    assert os.listdir(nowhere) == []


def test_records_come_with_their_schema(nowhere: Path) -> None:
    for call in (measure_file, model_file):
        with pytest.raises(ParameterError, match="have their schema already"):
            call(people(), nowhere / "schema.toml")
    with pytest.raises(ParameterError, match="have their schema already"):
        describe_file(people(), schema=nowhere / "schema.toml")
    with pytest.raises(DataError, match="^risk: the schema has no keys"):
        measure_file(records())


def test_a_query_of_an_open_database(nowhere: Path) -> None:
    policy = Policy(filters=("sex",), responses=("pay",), minimum=3)
    coded = people().with_schema(people().schema.change("sex", codes=("f", "m")))
    database = ProtectedDatabase(coded, policy=policy, secret=1, test_secret=True, ledger=nowhere / "pay.ledger")
    found = answer_query(database, "SELECT COUNT(*) FROM data WHERE sex = 'f'", user="ann")
    assert found.value == (coded.frame.table["sex"] == "f").sum()
    assert len(database.history()) == 1
    database.close()


def test_an_attack_needs_records_with_a_policy_or_a_file(nowhere: Path) -> None:
    with pytest.raises(ParameterError, match="records need a policy"):
        attack_database(people())
    with pytest.raises(ParameterError, match="has its own"):
        attack_database(nowhere / "db.toml", policy=Policy(filters=("sex",), responses=("pay",)))


def test_an_exploration_of_records(nowhere: Path) -> None:
    candidates = (Candidate("as it is", ()), Candidate("no pay", (Noise(("pay",), k=0.5),)))
    settings = ExploreSettings(most_risk=1.0, draws=1)
    spec = ExploreSpec(DataSection("nowhere.csv", secret=7), settings, candidates, folder=nowhere)
    same, found = run_explore_spec(spec, data=people())
    assert same is spec
    assert {point.name for point in found.points} == {"as it is", "no pay"}
    assert os.listdir(nowhere) == []
