"""The commands link and models, end to end on files."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from reticent.base.errors import DataError
from reticent.cli.main import app

SCHEMA = """
[[variable]]
name = "region"
role = "key"
[[variable]]
name = "sex"
role = "key"
[[variable]]
name = "income"
role = "sensitive"
kind = "numeric"
[[variable]]
name = "w"
role = "weight"
kind = "numeric"
"""


RECORDS = 300


@pytest.fixture
def files(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    n = RECORDS
    frame = pl.DataFrame(
        {
            "region": [f"r{i}" for i in rng.geometric(0.1, n)],
            "sex": rng.choice(["f", "m"], n),
            "income": np.round(np.exp(rng.normal(10, 1, n)), 2),
            "w": rng.uniform(5, 40, n).round(2),
        }
    )
    frame.write_csv(tmp_path / "a.csv")
    frame.with_columns((pl.col("income") * (1 + 0.02 * pl.Series(rng.standard_normal(n)))).round(2)).write_csv(
        tmp_path / "b.csv"
    )
    frame.head(100).write_csv(tmp_path / "short.csv")
    (tmp_path / "s.toml").write_text(SCHEMA)
    return tmp_path


def run(folder: Path, *arguments: str):  # type: ignore[no-untyped-def]
    full = [str(folder / a) if a.endswith((".csv", ".toml", ".json")) else a for a in arguments]
    return CliRunner().invoke(app, full, catch_exceptions=True)


def test_link(files: Path) -> None:
    result = run(files, "link", "a.csv", "b.csv", "-s", "s.toml", "--json", "out.json")
    assert result.exit_code == 0, result.output
    assert "linked by distance" in result.output
    facts = json.loads((files / "out.json").read_text())
    assert facts["linked by distance, all variables known"] > 0.3
    assert [row["known"] for row in facts["growth"]] == [1, 2, 3]
    assert facts["true values within 5 % of the ranks"] > 0.9
    assert facts["blind guess"] == 1 / RECORDS


def test_link_needs_the_same_records(files: Path) -> None:
    result = run(files, "link", "a.csv", "short.csv", "-s", "s.toml")
    assert isinstance(result.exception, DataError)
    assert f"{RECORDS} and 100 records" in str(result.exception)


def test_models(files: Path) -> None:
    result = run(files, "models", "a.csv", "-s", "s.toml")
    assert result.exit_code == 0, result.output
    for word in ("negative binomial", "pitman", "log-linear", "main effects only", "estimate / truth"):
        assert word in result.output


PLAN = """
[data]
path = "a.csv"
schema = "s.toml"
secret = 7
test_secret = true
[risk]
most = 1.0
[[step]]
method = "recode"
variable = "income"
bands = [10000, 30000]
[output]
path = "safe.csv"
report = "r.html"
"""


def test_files_are_linked_by_the_schema_beside_them(files: Path) -> None:
    """The masked file has no schema: its variables have the roles of the original, and bands are not numbers."""
    (files / "a.schema.toml").write_text(SCHEMA)
    result = run(files, "link", "a.csv", "b.csv")
    assert result.exit_code == 0, result.output
    assert "link its plan instead" in result.output
    banded = pl.read_csv(files / "b.csv").with_columns(pl.lit("low").alias("income"))
    banded.write_csv(files / "banded.csv")
    result = run(files, "link", "a.csv", "banded.csv")
    assert result.exit_code == 0, result.output
    assert "a number in one file and a code in the other: income" in result.output


def test_a_plan_is_linked_record_by_record(files: Path) -> None:
    (files / "p.toml").write_text(PLAN)
    result = run(files, "link", "p.toml", "--json", "out.json")
    assert result.exit_code == 0, result.output
    assert json.loads((files / "out.json").read_text())["left out"] == ["income"]
    assert not (files / "safe.csv").exists()
    refused = run(files, "link", "a.csv")
    assert isinstance(refused.exception, Exception)
    assert "give the original file and the masked file, or a plan" in str(refused.exception)
