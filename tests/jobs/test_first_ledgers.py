"""A ledger of version 0.1.0 opens, is upgraded by an appended entry, and its answers are judged with today's tables.

`ledger.json` has what version 0.1.0 wrote: three answers of a database of the firms of `test_release`, the entries of its SQLite
file and its anchor, which was not signed.
"""

import hashlib
import json
import sqlite3
from pathlib import Path

import pytest

from command_line import CommandLine
from reticent.jobs.ledger import opened
from reticent.ledger.chain import LedgerError
from reticent.ledger.ledger import FORMAT
from reticent.ledger.store import SCHEMA

from . import test_release as tables
from . import test_release_and_queries as queries

reticent, folder = tables.reticent, tables.folder
STORED = Path(__file__).parents[1] / "attacks" / "fixtures" / "v010" / "ledger.json"
ADOPT = queries.DATABASE.replace('path = "firms.ledger"', 'path = "firms.ledger"\nadopt_anchor = true')


@pytest.fixture
def first(folder: Path) -> Path:
    stored = json.loads(STORED.read_text())
    place = folder / "firms.ledger"
    with sqlite3.connect(place) as connection:
        for statement in SCHEMA.values():
            connection.execute(statement)
        rows = [(number, body.encode(), bytes.fromhex(digest)) for number, body, digest in stored["entries"]]
        connection.executemany("INSERT INTO entries VALUES (?, ?, ?)", rows)
        connection.execute("INSERT INTO progress VALUES (1, ?)", (stored["count"],))
    connection.close()
    (folder / "firms.ledger.anchor").write_text(json.dumps(stored["anchor"]))
    key = folder / "secret.key"
    key.write_text(hashlib.sha256(b"a ledger of version 0.1.0").hexdigest() + "\n")
    (folder / "firms.db.toml").write_text(ADOPT)
    return folder


def kinds(folder: Path) -> list[str]:
    with opened(folder / "firms.ledger", folder / "secret.key") as ledger:
        return [entry.kind for entry in ledger.entries()]


def test_it_is_upgraded_once_and_its_entries_stay(reticent: CommandLine, first: Path) -> None:
    stored = json.loads(STORED.read_text())["entries"]
    for _ in range(2):
        assert reticent("history", first / "firms.db.toml").code == 0
    assert kinds(first) == [*(json.loads(body)["kind"] for _, body, _ in stored), "upgrade"]
    with sqlite3.connect(first / "firms.ledger") as connection:
        rows = connection.execute("SELECT number, body, hash FROM entries ORDER BY number").fetchall()
    connection.close()
    assert [[number, body.decode(), digest.hex()] for number, body, digest in rows[: len(stored)]] == stored
    assert json.loads(rows[-1][1])["from"] == 1


def test_an_unsigned_anchor_is_not_believed_unasked(reticent: CommandLine, first: Path) -> None:
    (first / "firms.db.toml").write_text(queries.DATABASE)
    ran = reticent("history", first / "firms.db.toml")
    assert ran.code == 8
    assert "adopt_anchor" in ran.sentence


def test_its_answers_refuse_a_table_that_they_open(reticent: CommandLine, first: Path) -> None:
    assert reticent("history", first / "firms.db.toml").code == 0
    (first / "firms.db.toml").write_text(queries.DATABASE)
    ran = reticent("release", queries.with_database(tables.plan(first, "first")))
    assert ran.code == 5
    assert "answer" in ran.sentence
    assert not (first / "first.csv").exists()
    harmless = tables.plan(first, "coarse", '["size"]')
    assert reticent("release", queries.with_database(harmless)).code == 0


def test_a_ledger_of_a_later_version_is_refused(
    reticent: CommandLine, first: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as later:
        later.setattr("reticent.ledger.ledger.FORMAT", FORMAT + 1)
        assert reticent("history", first / "firms.db.toml").code == 0
    with pytest.raises(LedgerError, match="another version"):
        kinds(first)
