"""A table plan that says little still protects, and says what it leaves out.

Version 0.1.0 took `primary-only` where a plan named no method, left a declared weight out without a word, and shipped
a demo plan and a starter plan that hid the unsafe cells only.
"""

import csv
import tomllib
from importlib import resources
from pathlib import Path

import pytest

from command_line import CommandLine
from reticent.data.table_plan import read_table_plan
from reticent.jobs.protect_table import audit_plan, run_table_plans

RECORDS = {("a", "x"): 1, ("a", "y"): 6, ("b", "x"): 5, ("b", "y"): 7, ("c", "x"): 6, ("c", "y"): 4}
SCHEMA = "".join(f'[[variable]]\nname = "{name}"\nrole = "key"\n' for name in ("v", "u")) + (
    '[[variable]]\nname = "n"\nkind = "numeric"\ndecimals = 0\n[[variable]]\nname = "w"\nrole = "weight"\nkind = "numeric"\n'
)


@pytest.fixture
def reticent(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The command line."""
    return CommandLine(capsys, monkeypatch)


def written(folder: Path, table: str = "", protect: str = "") -> Path:
    """Records, schema and a plan without a method."""
    rows = [f"{v},{u},{10 + n},2" for (v, u), count in RECORDS.items() for n in range(count)]
    (folder / "d.csv").write_text("v,u,n,w\n" + "\n".join(rows) + "\n")
    (folder / "s.toml").write_text(SCHEMA)
    (folder / "plan.toml").write_text(
        '[data]\npath = "d.csv"\nschema = "s.toml"\n[table]\ndimensions = ["v", "u"]\n'
        f'rules = [{{ rule = "threshold", minimum = 3 }}]\n{table}\n{protect}\n[output]\npath = "out.csv"\n'
    )
    return folder / "plan.toml"


def hidden(path: Path) -> set[tuple[str, str]]:
    with path.open() as file:
        return {(row["v"], row["u"]) for row in csv.DictReader(file) if row["status"] == "hidden"}


@pytest.mark.parametrize("protect", ["", "[protect]\ntime_limit = 10", "[protect]\nsingletons = true"])
def test_no_method_means_heuristic(tmp_path: Path, protect: str) -> None:
    """0.1.0 hid a × x alone and refused; a row less the rest gave it."""
    (result,) = run_table_plans(read_table_plan(written(tmp_path, protect=protect)))
    assert result.method == "heuristic"
    assert ("a", "x") in hidden(tmp_path / "out.csv")
    assert len(hidden(tmp_path / "out.csv")) >= 4
    assert result.exposed == ()


def test_an_audit_attacks_the_declared_pattern(tmp_path: Path, reticent: CommandLine) -> None:
    found = audit_plan(written(tmp_path))
    assert found.method == "primary-only"
    assert len(found.exposed) == 1
    assert reticent("audit", tmp_path / "plan.toml").code == 0
    named = audit_plan(written(tmp_path, protect='[protect]\nmethod = "optimal"\ntime_limit = 10'))
    assert (named.method, named.exposed) == ("optimal", ())


@pytest.mark.parametrize("response", ["", 'response = "n"'])
def test_a_weight_is_used_or_its_absence_is_said(tmp_path: Path, reticent: CommandLine, response: str) -> None:
    """0.1.0 published unweighted numbers of a weighted file and said nothing."""
    ran = reticent("table", written(tmp_path, response))
    assert ran.code == 0, ran.err
    assert "The weight w is declared and not used" in " ".join(ran.out.split())
    ran = reticent("table", written(tmp_path, f"{response}\nweighted = true"))
    assert ran.code == 0, ran.err
    assert "not used" not in ran.out
    with (tmp_path / "out.csv").open() as file:
        total = next(row for row in csv.DictReader(file) if (row["v"], row["u"]) == ("Total", "Total"))
    true = 2 * (29 if not response else sum(10 + n for count in RECORDS.values() for n in range(count)))
    assert float(total["value"]) == true


@pytest.mark.parametrize("name", ["demo_data/firms.plan.toml", "starter_data/table.toml"])
def test_bundled_plans_protect(name: str) -> None:
    """0.1.0 shipped `primary-only`, the starter even with accept_exposed = true."""
    protect = tomllib.loads((resources.files("reticent") / name).read_text(encoding="utf-8"))["protect"]
    assert protect["method"] == "heuristic"
    assert "accept_exposed" not in protect
