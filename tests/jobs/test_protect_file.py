"""The whole road of a microdata file: plan in, publishable and confidential files out; mistakes stop it before work."""

import json
import shutil
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import reticent
from reticent.base.errors import DataError, PlanError
from reticent.cli.main import app
from reticent.jobs.protect_file import run_file_plan
from samples import cut_survey

BUNDLED = Path(reticent.__file__).parent / "demo_data"
PLAN = """
[data]
path = "people.csv"
schema = "people.schema.toml"
secret = 7
test_secret = true
[risk]
accept_risk = "this test looks at the road, not at the risk"
[[step]]
method = "recode"
variable = "age"
bands = [16, 25, 35, 45, 55, 65]
[[step]]
method = "top-code"
variable = "income"
quantile = 0.99
[output]
path = "safe.csv"
public_report = "public.html"
report = "confidential.html"
summary = "confidential.json"
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("people.csv", "people.schema.toml"):
        shutil.copy(BUNDLED / name, tmp_path / name)
    cut_survey(tmp_path / "people.csv")
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    return tmp_path


def test_everything_is_written_and_identifiers_are_gone(project: Path) -> None:
    run = run_file_plan(project / "plan.toml")
    safe = pl.read_csv(project / "safe.csv")
    assert "person" not in safe.columns
    assert safe.height == run.before.n_records
    assert set(safe["age"]) <= {"16-24", "25-34", "35-44", "45-54", "55-64", "65+"}
    summary = json.loads((project / "confidential.json").read_text(encoding="utf-8"))
    assert set(summary) >= {"risk", "loss", "steps"}
    assert summary["risk"]["after"]["unsafe combinations"] < summary["risk"]["before"]["unsafe combinations"]
    assert "CONFIDENTIAL" in (project / "confidential.html").read_text(encoding="utf-8")
    public = (project / "public.html").read_text(encoding="utf-8")
    assert "PUBLIC" in public
    assert "quantile" not in public


def test_recoding_after_suppression_is_judged_with_the_values_that_were_blanked(project: Path) -> None:
    """The attacker knows the blanked values, recoded like the rest: nothing is unsafe only because others were blanked."""
    steps = """[[step]]
method = "local-suppression"
combinations = { dimension = 2, threshold = 1 }
[[step]]
method = "recode"
variable = "region"
level = 1
"""
    text = PLAN.replace("[risk]", "[risk]\ndimension = 2").replace("[output]", steps + "[output]")
    (project / "plan.toml").write_text(text, encoding="utf-8")
    run = run_file_plan(project / "plan.toml")
    assert run.result.risk_after["unsafe combinations"] == 0
    assert run.result.loss["suppressed values"]


def test_same_secret_same_bytes(project: Path) -> None:
    noisy = PLAN.replace("[output]", '[[step]]\nmethod = "noise"\nvariables = ["income"]\n[output]')
    without_reports = noisy[: noisy.index("public_report")]
    (project / "plan.toml").write_text(without_reports, encoding="utf-8")
    run_file_plan(project / "plan.toml")
    first = (project / "safe.csv").read_bytes()
    run_file_plan(project / "plan.toml")
    assert (project / "safe.csv").read_bytes() == first


def test_needs_are_checked_before_work(project: Path) -> None:
    text = PLAN.replace('variable = "income"', 'variable = "incme"')
    (project / "plan.toml").write_text(text, encoding="utf-8")
    with pytest.raises((PlanError, DataError), match="Did you mean 'income'"):
        run_file_plan(project / "plan.toml")
    assert not (project / "safe.csv").exists()


def test_command_line_shows_the_result(project: Path) -> None:
    result = CliRunner().invoke(app, ["protect", str(project / "plan.toml")])
    assert result.exit_code == 0, result.output
    assert "unsafe combinations" in result.output
    assert "safe.csv" in result.output


def test_demodata_region_sex_age(shared_data: Path) -> None:
    """Threshold 2: 3,058 unsafe combinations and 3,452 records in them."""
    folder = shared_data / "argus_mu"
    arguments = [
        "risk",
        str(folder / "Demodata.asc"),
        "-s",
        str(folder / "Demodata.rda"),
        "-k",
        "REGION,SEX,AGE",
        "-t",
        "2",
    ]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    row = next(line for line in result.output.splitlines() if "REGION × SEX × AGE" in line)
    assert [part.strip() for part in row.split("│")[2:4]] == ["3\u00a0058", "3\u00a0452"]
