"""Guesses about a file: right on typical columns, each marked and explained, none shows a value."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from reticent.cli.main import app
from reticent.data.schema import Kind, Role
from reticent.io.read import read_microdata
from reticent.io.schema import read_schema
from reticent.jobs.describe import Description, describe_file

N = 200


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    draw = np.random.default_rng(5)
    household = np.repeat(np.arange(N // 2), 2) + 1000
    nace = [f"{a}{b}{c}" for a in "01" for b in "123" for c in "4567"]
    table = pl.DataFrame(
        {
            "person_nr": np.arange(N) + 70_000,
            "hhid": household,
            "Sex": draw.choice(["1", "2", "9"], N, p=[0.5, 0.4, 0.1]),
            "age": draw.integers(18, 90, N),
            "region": np.repeat(draw.choice(["01", "02", "11"], N // 2), 2),
            "nace": draw.choice(nace, N),
            "educ": draw.choice(["low", "mid", "NA"], N),
            "net_income": np.round(draw.lognormal(8, 1, N), 2),
            "weight": np.round(draw.uniform(1, 9, N), 3),
            "remark": [None] * N,
        }
    )
    table.write_csv(tmp_path / "survey.csv")
    return tmp_path / "survey.csv"


@pytest.fixture
def described(survey: Path) -> Description:
    return describe_file(survey)


def test_roles(described: Description) -> None:
    roles = {variable.name: variable.role for variable in described.schema.variables}
    assert roles == {
        "person_nr": Role.IDENTIFIER, "hhid": Role.HOUSEHOLD_ID, "Sex": Role.KEY, "age": Role.KEY, "region": Role.KEY,
        "nace": Role.KEY, "educ": Role.KEY, "net_income": Role.SENSITIVE, "weight": Role.WEIGHT, "remark": Role.OTHER,
    }  # fmt: skip


def test_kinds_levels_missing_hierarchy_household(described: Description) -> None:
    schema = described.schema
    assert schema["age"].kind is Kind.NUMERIC
    assert schema["Sex"].kind is Kind.NOMINAL
    assert schema["educ"].kind is Kind.ORDINAL
    assert schema["Sex"].missing == ("9",)
    assert schema["educ"].missing == ("NA",)
    assert schema["net_income"].missing == ()
    assert (schema["region"].level, schema["Sex"].level, schema["nace"].level) == (1, 2, 3)
    assert schema["nace"].digits == (1, 1, 1)
    assert schema["region"].household
    assert not schema["age"].household


def test_every_guess_is_marked_and_has_a_reason(described: Description) -> None:
    for guess in described.guesses:
        assert guess.reason
        if guess.fact != "household":
            assert guess.fact in described.schema[guess.variable].guessed
    marked = {(v.name, fact) for v in described.schema.variables for fact in v.guessed}
    assert marked <= {(guess.variable, guess.fact) for guess in described.guesses}


def test_command_writes_a_schema_that_reads_the_data(survey: Path) -> None:
    run = CliRunner().invoke(app, ["describe", str(survey)])
    assert run.exit_code == 0, run.output
    written = survey.with_name("survey.schema.toml")
    assert read_schema(written).with_role(Role.WEIGHT) == ("weight",)
    data = read_microdata(survey, written)
    assert data.n_records == N
    assert data.frame.table["region"].to_list()[0].startswith(("0", "1"))
    assert "guessed = " in written.read_text()
    assert "# role weight: the name has 'weight'" in written.read_text()


def test_values_are_shown_only_on_request(survey: Path) -> None:
    quiet = CliRunner().invoke(app, ["describe", str(survey)], env={"COLUMNS": "200"})
    assert "low" not in quiet.output
    loud = CliRunner().invoke(app, ["describe", str(survey), "--show-values", "--force"], env={"COLUMNS": "200"})
    assert "low" in loud.output


def test_two_weights_give_one(tmp_path: Path) -> None:
    (tmp_path / "w.csv").write_text("weight1,weight2,x\n1.5,2.5,a\n2.5,1.5,b\n")
    schema = describe_file(tmp_path / "w.csv").schema
    assert schema.with_role(Role.WEIGHT) == ("weight1",)
    assert "role" not in schema["weight2"].guessed


def test_argus_file(shared_data: Path, tmp_path: Path) -> None:
    folder = shared_data / "argus_mu"
    run = CliRunner().invoke(
        app,
        [
            "describe",
            str(folder / "Demodata.asc"),
            "--rda",
            str(folder / "demodata.RDA"),
            "-o",
            str(tmp_path / "s.toml"),
        ],
    )
    assert run.exit_code == 0, run.output
    schema = read_schema(tmp_path / "s.toml")
    assert schema["INCOME"].guessed == ("role",)
    assert schema["REGION"].guessed == ()
    assert read_microdata(folder / "Demodata.asc", tmp_path / "s.toml").n_records == 4000
