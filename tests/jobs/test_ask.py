"""`reticent ask`: a database file, a query, JSON out."""

import json
import runpy
from pathlib import Path

import pytest
from typer.testing import CliRunner

from reticent.base.errors import PlanError
from reticent.cli.main import app
from reticent.jobs.answer_query import answer_query, open_database

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("staff")
    script = runpy.run_path(str(ROOT / "scripts" / "example_query_database.py"))
    script["main"](place)
    return place


def ask(folder: Path, query: str) -> dict:
    out = folder / "out.json"
    run = CliRunner().invoke(app, ["ask", str(folder / "staff.toml"), query, "--user", "ann", "--json", str(out)])
    assert run.exit_code == 0, run.output
    return json.loads(out.read_text())


def test_values_rows_and_refusals(folder: Path) -> None:
    one = ask(folder, "SELECT COUNT(*) FROM data")
    assert one == {"answered": True, "code": "OK", "message": "", "value": 600}
    table = ask(folder, "SELECT region, AVG(salary) FROM data GROUP BY region WITH TOTALS")
    assert [row["region"] for row in table["rows"]] == ["north", "south", "west", None]
    small = ask(folder, "SELECT SUM(salary) FROM data WHERE region = 'north' AND region = 'south'")
    assert small["answered"] is False
    assert small["code"] == "RISK"
    assert set(small) == {"answered", "code", "message"}
    wrong = ask(folder, "SELECT SUM(salry) FROM data")
    assert wrong["code"] == "UNKNOWN_VARIABLE"
    assert "Did you mean 'salary'?" in wrong["message"]
    located = ask(folder, "SELECT SUM(salary) FRM data")
    assert located["code"] == "SYNTAX"
    assert located["message"].splitlines()[2].strip() == "^"


def test_a_query_comes_from_standard_input_however_long_it_is(folder: Path) -> None:
    for text, code in (("SELECT COUNT(*) FROM data", "OK"), ("x" * 50_000_000, "TOO_LONG"), ("(" * 15_000, "TOO_LONG")):
        out = folder / "piped.json"
        command = ["ask", str(folder / "staff.toml"), "-", "--user", "ann", "--json", str(out)]
        run = CliRunner().invoke(app, command, input=text)
        assert run.exit_code == 0, run.output
        assert json.loads(out.read_text())["code"] == code


def test_staff_see_the_reason_and_the_decisions_it_rests_on(folder: Path, tmp_path: Path) -> None:
    for name in ("staff.csv", "staff-schema.toml", "staff.secret", "staff.toml"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    file = str(tmp_path / "staff.toml")
    for where in ("region = 'north'", "region = 'north' AND region = 'south'"):
        answer_query(file, f"SELECT SUM(salary) FROM data WHERE {where}", user="ann")
    run = CliRunner().invoke(app, ["history", file, "--json", str(tmp_path / "out.json")])
    assert run.exit_code == 0, run.output
    first, second = json.loads((tmp_path / "out.json").read_text())
    assert (first["code"], second["code"]) == ("OK", "RISK")
    assert second["staff"][0]["rule"].startswith("minimum")
    one = CliRunner().invoke(app, ["history", file, "--decision", str(second["number"])])
    assert "RISK" in one.output
    assert '"south"' in one.output
    assert CliRunner().invoke(app, ["history", file, "--decision", "99"]).exit_code != 0


def test_the_same_question_has_one_answer_over_restarts(folder: Path) -> None:
    first = answer_query(folder / "staff.toml", "SELECT AVG(salary) FROM data WHERE region = 'west'", user="ann")
    again = answer_query(folder / "staff.toml", "SELECT AVG(salary) FROM data WHERE NOT region <> 'west'", user="bob")
    assert first == again


def test_mistakes_in_the_file_are_named(folder: Path, tmp_path: Path) -> None:
    good = (folder / "staff.toml").read_text()
    for old, new, sentence in (
        ("minimum = 3", "minimun = 3", "Did you mean 'minimum'"),
        ("[ledger]", "[leger]", "unknown section"),
        ("dominance = [1, 60]", "dominance = [1]", "two numbers"),
        ('mode = "exact"', 'mode = "exakt"', "Did you mean 'exact'"),
        ("age = [25, 35, 45, 55]", "age = [35, 25]", "increasing"),
        ('responses = ["salary"]', 'responses = ["salery"]', "Did you mean 'salary'"),
    ):
        for name in ("staff.csv", "staff-schema.toml", "staff.secret"):
            (tmp_path / name).write_bytes((folder / name).read_bytes())
        (tmp_path / "staff.toml").write_text(good.replace(old, new))
        with pytest.raises(Exception, match=sentence) as caught:
            open_database(tmp_path / "staff.toml")
        assert "staff" in str(caught.value) or "policy" in str(caught.value)
    with pytest.raises(PlanError, match="no such file"):
        open_database(tmp_path / "none.toml")


def test_a_damaged_ledger_closes_the_database(folder: Path, tmp_path: Path) -> None:
    for file in folder.iterdir():
        if file.suffix != ".json":
            (tmp_path / file.name).write_bytes(file.read_bytes())
    answer_query(tmp_path / "staff.toml", "SELECT COUNT(*) FROM data", user="ann")
    (tmp_path / "staff.ledger").unlink()
    run = CliRunner().invoke(app, ["ask", str(tmp_path / "staff.toml"), "SELECT COUNT(*) FROM data", "--user", "ann"])
    assert run.exit_code != 0
    assert "is gone although its anchor is there" in str(run.exception)
