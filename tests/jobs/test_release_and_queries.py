"""One ledger for tables and answers: a table released yesterday refuses today's query, and the other way round."""

import json
from pathlib import Path
from typing import Any

import pytest

from command_line import CommandLine
from firms import schema_of
from reticent.ledger.chain import LedgerError
from reticent.queries.database import ProtectedDatabase
from reticent.queries.policy import Policy
from reticent.releases.programs import Search

from . import test_release as tables

reticent, folder = tables.reticent, tables.folder
DATABASE = """
[data]
path = "firms.csv"
schema = "firms.schema.toml"
secret = "secret.key"

[ledger]
path = "firms.ledger"

[policy]
filters = ["ind", "size"]
responses = ["turnover"]
minimum = 2
"""
DIFFERENCE = "SELECT SUM(turnover) FROM data WHERE ind = 'A' AND size IN ('x', 'z')"
FOLLOWS = "SELECT SUM(turnover) FROM data WHERE ind = 'A' AND size IN ('x', 'y')"


@pytest.fixture
def database(folder: Path) -> Path:
    path = folder / "firms.db.toml"
    path.write_text(DATABASE)
    return path


def ask(reticent: CommandLine, database: Path, query: str) -> dict[str, object]:
    ran = reticent("ask", database, query, "--user", "ann", "--json", "-")
    assert ran.code == 0, ran.err
    found: dict[str, object] = json.loads(ran.out)
    return found


def with_database(plan: Path) -> Path:
    plan.write_text(plan.read_text() + 'database = "firms.db.toml"\n')
    return plan


def test_a_table_refuses_the_query_that_opens_it(reticent: CommandLine, folder: Path, database: Path) -> None:
    """A × z is hidden; the sum of A × x and A × z less the published A × x would be its value."""
    assert reticent("release", tables.plan(folder, "first")).code == 0
    refused = ask(reticent, database, DIFFERENCE)
    assert refused["code"] == "RISK"
    assert not refused["answered"]
    history = json.loads(reticent("history", database, "--json", "-").out)
    assert "A × z (hidden by first)" in history[-1]["staff"][0]["detail"]


def test_a_query_that_follows_from_the_table_is_answered(reticent: CommandLine, folder: Path, database: Path) -> None:
    assert reticent("release", tables.plan(folder, "first")).code == 0
    assert ask(reticent, database, FOLLOWS)["answered"]


def test_an_answer_refuses_the_table_that_it_opens(reticent: CommandLine, folder: Path, database: Path) -> None:
    assert ask(reticent, database, DIFFERENCE)["answered"]
    ran = reticent("release", with_database(tables.plan(folder, "first")))
    assert ran.code == 5
    assert "answer" in ran.sentence
    assert not (folder / "first.csv").exists()


def test_what_is_refused_together_is_taken_back(reticent: CommandLine, folder: Path, database: Path) -> None:
    """A process that refused an answer decides afterwards as one that starts from the ledger does, and knows as much."""
    from reticent.jobs.answer_query import open_database

    assert reticent("release", tables.plan(folder, "first")).code == 0
    later = [
        "SELECT SUM(turnover), COUNT(*) FROM data GROUP BY ind",
        FOLLOWS,
        DIFFERENCE,
        "SELECT AVG(turnover) FROM data",
    ]
    warm = open_database(database)
    found = []
    for query in (DIFFERENCE, *later):
        found.append(warm.ask(query, user="ann").as_json())
    state = warm._engine.mode.rank()
    warm.close()
    cold = open_database(database)
    assert cold._engine.mode.rank() == state
    assert [cold.ask(query, user="ann").as_json()["answered"] for query in later] == [
        one["answered"] for one in found[1:]
    ]
    cold.close()
    assert not found[0]["answered"]
    assert any(one["answered"] for one in found)


def test_answers_need_their_database_file(reticent: CommandLine, folder: Path, database: Path) -> None:
    assert ask(reticent, database, DIFFERENCE)["answered"]
    ran = reticent("release", tables.plan(folder, "first"))
    assert ran.code == 2
    assert "database" in ran.sentence


def test_a_harmless_answer_lets_the_table_go(reticent: CommandLine, folder: Path, database: Path) -> None:
    assert ask(reticent, database, "SELECT SUM(turnover) FROM data WHERE ind = 'C'")["answered"]
    assert reticent("release", with_database(tables.plan(folder, "first"))).code == 0
    assert (folder / "first.csv").exists()


def test_a_database_without_the_joint_judge_is_refused(reticent: CommandLine, folder: Path) -> None:
    from reticent.io.read import read_microdata

    assert reticent("release", tables.plan(folder, "first")).code == 0
    data = read_microdata(folder / "firms.csv", folder / "firms.schema.toml")
    with pytest.raises(LedgerError, match="it holds tables or files"):
        ProtectedDatabase(
            data,
            policy=Policy(filters=("ind", "size"), responses=("turnover",)),
            secret=folder / "secret.key",
            ledger=folder / "firms.ledger",
        )


def test_simulatable_does_not_share_a_ledger_with_tables(reticent: CommandLine, folder: Path, database: Path) -> None:
    assert reticent("release", tables.plan(folder, "first")).code == 0
    database.write_text(DATABASE + 'mode = "simulatable"\n')
    ran = reticent("ask", database, FOLLOWS, "--user", "ann")
    assert ran.code == 8
    assert "without looking at values" in ran.sentence


def test_answers_that_add_up_to_a_hidden_cell_are_refused(reticent: CommandLine, folder: Path) -> None:
    """turnover = home + abroad in each record: both by query would give the hidden turnover of A × z."""
    rows = (folder / "firms.csv").read_text().splitlines()
    split = [
        f"{row},{int(row.split(',')[3]) // 3},{int(row.split(',')[3]) - int(row.split(',')[3]) // 3}"
        for row in rows[1:]
    ]
    (folder / "firms.csv").write_text("\n".join([rows[0] + ",home,abroad", *split]) + "\n")
    (folder / "firms.schema.toml").write_text(schema_of(["turnover", "home", "abroad"]))
    database = folder / "firms.db.toml"
    database.write_text(DATABASE.replace('["turnover"]', '["turnover", "home", "abroad"]'))
    assert reticent("release", tables.plan(folder, "first")).code == 0
    where = "FROM data WHERE ind = 'A' AND size = 'z'"
    answered = [ask(reticent, database, f"SELECT SUM({name}) {where}")["answered"] for name in ("home", "abroad")]
    assert not all(answered)


def test_a_second_noisy_table_needs_a_word(reticent: CommandLine, folder: Path) -> None:
    noisy = '[protect]\nmethod = "adjust"\n\n[output]'
    for name in ("one", "two"):
        path = tables.plan(folder, name, '["ind", "size"]' if name == "one" else '["size", "ind"]')
        accepted = 'accept_uncertified = "a test of noise"\n'
        path.write_text(path.read_text().replace("[output]", noisy) + accepted)
    assert reticent("release", folder / "one.toml").code == 0
    ran = reticent("release", folder / "two.toml")
    assert ran.code == 5
    assert "accept_repeat" in ran.sentence
    path = folder / "two.toml"
    path.write_text(path.read_text() + "accept_repeat = true\n")
    assert reticent("release", path).code == 0


def test_the_next_process_starts_from_what_was_worked_out(
    reticent: CommandLine, folder: Path, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert reticent("release", tables.plan(folder, "first")).code == 0
    assert ask(reticent, database, FOLLOWS)["answered"]
    (kept,) = folder.glob("*.joint")
    assert kept.stat().st_mode & 0o077 == 0, "nobody else reads it"

    searched = []
    reach = Search.reach

    def counted(self: Search, *given: Any, **named: Any) -> Any:
        searched.append(given)
        return reach(self, *given, **named)

    monkeypatch.setattr(Search, "reach", counted)
    other = "SELECT SUM(turnover) FROM data WHERE ind = 'B' AND size IN ('x', 'y')"
    assert ask(reticent, database, other)["answered"]
    assert not searched, "each end of each hidden cell is still shown possible by what was kept"
    kept.write_bytes(kept.read_bytes()[:-1] + b"!")
    assert ask(reticent, database, "SELECT COUNT(*) FROM data WHERE ind = 'B'")["answered"]
    assert not ask(reticent, database, DIFFERENCE)["answered"]
    assert searched, "what is damaged is not used"
