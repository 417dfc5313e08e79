"""SAFE from a plan file and from Python: the file, its verdict, its reports, and bad plans."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from reticent.base.errors import ReticentError
from reticent.data.microdata import Microdata
from reticent.data.schema import Role, Schema, Variable
from reticent.jobs.protect_file import protect_file, run_file_plan
from reticent.microdata.mask.safe import Safe
from reticent.microdata.result import ProtectedFile

NAMES = ("region", "sex", "job", "age")
SCHEMA = "".join(f'[[variable]]\nname = "{name}"\nrole = "key"\n' for name in NAMES) + (
    '[[variable]]\nname = "person"\nrole = "identifier"\n'
)
PLAN = """
[data]
path = "people.csv"
schema = "people.schema.toml"
secret = 1
test_secret = true

[risk]
accept_risk = "tables of counts are asked for; who is in the file is not secret"
most = 0.34

[[step]]
method = "safe"
tables = [["region"], ["sex"], ["job"], ["age"], ["region", "sex"], ["region", "age", "sex"]]
steps = 80
EXTRA
[output]
path = "safe.csv"
report = "confidential.html"
public_report = "public.html"
summary = "summary.json"
"""


def frame(n: int = 600) -> pl.DataFrame:
    rng = np.random.default_rng(8)
    return pl.DataFrame(
        {
            "region": rng.integers(0, 9, n).astype(str),
            "sex": rng.integers(0, 2, n).astype(str),
            "job": np.array(list("abcdef"))[np.minimum(rng.geometric(0.5, n) - 1, 5)],
            "age": rng.integers(3, 12, n).astype(str),
            "person": [f"person-{i}" for i in range(n)],
        }
    )


def write(folder: Path, extra: str = "") -> Path:
    frame().write_csv(folder / "people.csv")
    (folder / "people.schema.toml").write_text(SCHEMA)
    plan = folder / "plan.toml"
    text = (
        PLAN if not extra.startswith("tables") else "\n".join(x for x in PLAN.split("\n") if not x.startswith("tables"))
    )
    plan.write_text(text.replace("EXTRA", extra))
    return plan


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ProtectedFile]:
    """The folder and the run of the plan, for all that look at it."""
    folder = tmp_path_factory.mktemp("made")
    return folder, run_file_plan(write(folder))


def test_a_plan_writes_a_file_without_small_counts_and_says_what_holds(made: tuple[Path, ProtectedFile]) -> None:
    folder, run = made
    published = pl.read_csv(folder / "safe.csv", infer_schema=False)
    assert tuple(published.columns) == NAMES
    assert published.height == 600
    assert published.group_by(NAMES).len()["len"].min() >= 3
    assert run.verdict["recount"].value == 1.0  # a true unique is shown; its three copies are one person
    assert run.verdict["recount"].state == "not held"
    facts = json.loads((folder / "summary.json").read_text())["steps"][0]["facts"]
    assert facts["certificate"]["counts of 1 or 2"] == 0
    assert facts["search"]["steps"] == 80
    report = (folder / "confidential.html").read_text()
    assert "Tables of the file without small counts" in report
    assert "region × age × sex" in report or "region × sex × age" in report
    assert "not covered" in report.lower()
    public = (folder / "public.html").read_text()
    assert "deviation" not in public  # how far counts are moved stays with the protector


def test_the_same_plan_writes_the_same_bytes(made: tuple[Path, ProtectedFile], tmp_path: Path) -> None:
    run_file_plan(write(tmp_path))
    assert (tmp_path / "safe.csv").read_bytes() == (made[0] / "safe.csv").read_bytes()


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ("single_bound = 3\ncrossed_bound = 1", "exchange them"),
        ("single_bound = 0\ncrossed_bound = 0", "raise single_bound or crossed_bound"),
        ('variables = ["region", "sex"]', "is not among variables"),
        ("tables = []", r"step 1 \(safe\): nothing is controlled"),
        ("tables = [[]]", r"step 1 \(safe\): a controlled table names no variable"),
        ('tables = [["regoin"]]', "Did you mean 'region'"),
        ('tables = [["person"]]', "person is an identifier"),
        ('[[step]]\nmethod = "pram"\nvariables = ["sex"]', "pram follows it"),
        ("most = 3", "unknown option"),
    ],
)
def test_bad_plans_end_with_one_sentence_and_write_nothing(tmp_path: Path, extra: str, words: str) -> None:
    with pytest.raises(ReticentError, match=words) as caught:
        run_file_plan(write(tmp_path, extra))
    assert "\n" not in str(caught.value)
    assert "person-" not in str(caught.value)
    assert not (tmp_path / "safe.csv").exists()


def test_python_gives_the_file_that_the_plan_gives(made: tuple[Path, ProtectedFile]) -> None:
    schema = Schema((*(Variable(name, role=Role.KEY) for name in NAMES), Variable("person", role=Role.IDENTIFIER)))
    tables = (("region",), ("sex",), ("job",), ("age",), ("region", "sex"), ("region", "age", "sex"))
    result = protect_file(
        Microdata.of(frame(), schema), [Safe(tables=tables, steps=80)], most=1.0, secret=1, test_secret=True
    )
    planned = pl.read_csv(made[0] / "safe.csv", infer_schema=False)
    assert result.file.frame.table.sort(NAMES).equals(planned.sort(NAMES))
