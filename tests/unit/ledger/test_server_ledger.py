"""A ledger on PostgreSQL, on a server that the test starts itself where its programs are installed."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from jobs.children import start, wait_for_all
from jobs.test_crash_and_race import run_race
from postgres_server import running_server
from reticent.base.randomness import as_secret
from reticent.ledger.chain import LedgerError
from reticent.ledger.ledger import Ledger, open_ledger

pytestmark = pytest.mark.postgres
SECRET = as_secret(7)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_server(tmp_path_factory) as address:
        yield address


def begin(server: str, folder: Path, name: str) -> Ledger:
    return open_ledger(server, secret=SECRET, dataset=name, anchor=folder / "anchor")


def execute(server: str, *statements: str) -> None:
    import sqlalchemy

    engine = sqlalchemy.create_engine(server)
    with engine.begin() as connection:
        for statement in statements:
            connection.execute(sqlalchemy.text(statement))
    engine.dispose()


def test_entries_survive_and_data_sets_are_apart(server: str, tmp_path: Path) -> None:
    ledger = begin(server, tmp_path, "one")
    with ledger.turn() as turn:
        turn.append("answer", {"value": 0.1})
    ledger.close()
    other = tmp_path / "other"
    other.mkdir()
    begin(server, other, "two").close()
    again = begin(server, tmp_path, "one")
    assert [entry.kind for entry in again.entries()] == ["ledger", "answer"]
    again.close()


def test_rows_cannot_be_changed_and_tampering_is_noticed(server: str, tmp_path: Path) -> None:
    import sqlalchemy

    ledger = begin(server, tmp_path, "tampered")
    for i in range(3):
        with ledger.turn() as turn:
            turn.append("answer", {"i": i})
    ledger.close()
    for statement in (
        "DELETE FROM reticent_entries",
        "UPDATE reticent_entries SET number = 9",
        "TRUNCATE reticent_entries",
    ):
        with pytest.raises(sqlalchemy.exc.DBAPIError, match="append-only"):
            execute(server, statement)
    off, on = "ALTER TABLE reticent_entries DISABLE TRIGGER ALL", "ALTER TABLE reticent_entries ENABLE TRIGGER ALL"
    change = "UPDATE reticent_entries SET body = decode('7b7d', 'hex') WHERE dataset = 'tampered' AND number = 2"
    execute(server, off, change, on)
    with pytest.raises(LedgerError, match="entry 2 does not fit"):
        begin(server, tmp_path, "tampered")
    execute(server, off, "DELETE FROM reticent_entries WHERE dataset = 'tampered' AND number > 1", on)
    with pytest.raises(LedgerError, match="last entries are missing"):
        begin(server, tmp_path, "tampered")


def test_two_connections_take_turns(server: str, tmp_path: Path) -> None:
    first = begin(server, tmp_path, "shared")
    second = begin(server, tmp_path, "shared")
    with first.turn() as turn:
        turn.append("answer", {"from": "first"})
    with second.turn() as turn:
        assert [entry.payload for entry in turn.unseen] == [{"from": "first"}]
        turn.append("answer", {"from": "second"})
    with first.turn() as turn:
        assert [entry.payload for entry in turn.unseen] == [{"from": "second"}]
    first.close()
    second.close()


@pytest.mark.slow
def test_two_processes_never_answer_both_halves_on_a_server(server: str, tmp_path: Path) -> None:
    run_race(tmp_path, 15, server)


def test_processes_that_never_end_are_killed() -> None:
    asleep = [start(signal.pause) for _ in range(2)]
    wait_for_all(asleep, longest=0)
    assert [process.exitcode for process in asleep] == [-signal.SIGKILL] * 2


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="cannot be reached"):
        begin("postgresql+psycopg://nobody@127.0.0.1:1/none", tmp_path, "x")
    with pytest.raises(LedgerError, match="needs `anchor`"):
        open_ledger("postgresql+psycopg://nobody@127.0.0.1:1/none", secret=SECRET, dataset="x")
