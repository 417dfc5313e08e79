"""The starter project runs as it is."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from reticent.base.errors import ParameterError
from reticent.base.randomness import as_secret
from reticent.cli.main import app
from reticent.io.read import read_microdata
from reticent.jobs.starter import new_project, new_secret


@pytest.mark.slow
def test_starter_project_runs(tmp_path: Path) -> None:
    run = CliRunner().invoke(app, ["new", str(tmp_path / "start")])
    assert run.exit_code == 0, run.output
    folder = tmp_path / "start"
    people = read_microdata("people.csv", "people.schema.toml", folder=folder)
    firms = read_microdata("firms.csv", "firms.schema.toml", folder=folder)
    assert people.n_records > 300
    assert firms.n_records == 140
    run = CliRunner().invoke(app, ["protect", str(folder / "protect.toml")])
    assert run.exit_code == 0, run.output
    safe = read_microdata("people.safe.csv", "people.safe.schema.toml", folder=folder)
    assert safe.n_records == people.n_records
    assert "person" not in safe.schema
    assert "35-64" in safe.categories("age")
    assert "household" not in safe.schema
    summary = json.loads((folder / "people.confidential.json").read_text())
    assert summary["risk"]["before"]["unsafe combinations"] > 1000
    assert summary["risk"]["after"]["unsafe combinations"] == 0
    assert summary["verdict"]["state"] == "held"
    assert summary["verdict"]["accepted risk"] is None
    run = CliRunner().invoke(app, ["table", str(folder / "table.toml")])
    assert run.exit_code == 0, run.output
    assert (folder / "firms.table.csv").read_text().startswith("industry,region,value,status\n")


def test_data_are_the_same_every_time_and_secrets_differ(tmp_path: Path) -> None:
    new_project(tmp_path / "a")
    new_project(tmp_path / "b")
    for name in ("people.csv", "firms.csv", "protect.toml"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert (tmp_path / "a/secret.key").read_text() != (tmp_path / "b/secret.key").read_text()


def test_a_secret_is_private_and_never_replaced(tmp_path: Path) -> None:
    new_secret(tmp_path / "k")
    assert (tmp_path / "k").stat().st_mode & 0o077 == 0
    as_secret(tmp_path / "k")
    with pytest.raises(ParameterError, match="never replaced"):
        new_secret(tmp_path / "k")
