"""Plans run by one call each: tables with explained cells, with and without a ledger, and audits with their certificates."""

import json
from pathlib import Path
from typing import Any

import pytest

from command_line import CommandLine
from jobs.test_ledger_import import folder, plan, reticent
from reticent.base.errors import ReticentError
from reticent.jobs.attack_database import attack_database
from reticent.jobs.audit import AuditQuestion, run_audit
from reticent.jobs.link_files import link_paths
from reticent.jobs.protect_table import run_tables

__all__ = ["folder", "reticent"]
LEDGER = "[ledger]"


def _without_ledger(path: Path) -> Path:
    """The same plan as one that writes by itself."""
    text = path.read_text(encoding="utf-8")
    own = path.with_name("alone.toml")
    own.write_text(text.split(LEDGER)[0], encoding="utf-8")
    return own


def test_tables_are_written_and_one_response_is_explained(folder: Path) -> None:
    run = run_tables(_without_ledger(plan(folder, "first")), explain=True)
    assert run.released is None
    assert run.explained == 0
    assert [name for _, name in run.written[0]] == ["first.csv"]
    assert (folder / "first.csv").exists()
    hidden = next(row["cell"] for row in run.results[0].intervals())
    assert run.results[0].why(*hidden)
    assert json.loads(json.dumps(run.summary())) == json.loads(json.dumps(run.results[0].summary()))


def test_with_a_ledger_it_is_judged_and_nothing_is_written(folder: Path) -> None:
    run = run_tables(plan(folder, "first"))
    assert run.released is not None
    assert run.released.number is None
    assert run.written == ((),)
    assert not (folder / "first.csv").exists()
    assert json.loads(json.dumps(run.summary()))["outcome"] == "safe"


def test_cells_of_a_plan_with_a_ledger_are_explained_too(reticent: CommandLine, folder: Path) -> None:
    """No option is ignored: --why says what a hidden cell guards, whoever writes the table."""
    path = plan(folder, "first")
    cell = next(row["cell"] for row in run_tables(path).results[0].intervals())
    ran = reticent("table", path, "--why", ";".join(cell))
    assert ran.code == 0
    assert " × ".join(cell) in ran.out
    assert "judged together with nothing" in ran.out


def test_an_audit_of_a_plan_writes_its_certificate(folder: Path) -> None:
    path, proof = _without_ledger(plan(folder, "first")), folder / "proof.json"
    found = run_audit(AuditQuestion(path, certificate=proof))
    assert len(found.tables[0].exposed) == 2, "a plan without a method hides its unsafe cells only"
    assert found.certificates == {proof: 2}
    assert proof.exists()
    assert found.rows == {}
    assert json.loads(json.dumps(found.summary()))
    assert not (folder / "first.csv").exists()


@pytest.mark.parametrize(
    "job",
    [
        lambda: attack_database(None, response="pay"),
        lambda: link_paths((Path("data.csv"), None), None),
    ],
)
def test_what_is_missing_is_one_sentence(job: Any) -> None:
    with pytest.raises(ReticentError) as caught:
        job()
    assert str(caught.value).endswith(".")
