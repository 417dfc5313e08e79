"""The ledger: chained, anchored, append-only; damage is noticed when it is opened."""

import multiprocessing
import shutil
import sqlite3
from pathlib import Path

import pytest

from reticent.base.randomness import as_secret
from reticent.ledger.chain import Chain, LedgerError, StoredEntry
from reticent.ledger.ledger import Ledger, open_ledger
from reticent.ledger.store import SqliteStore

SECRET = as_secret(7)


def begin(folder: Path, n: int = 5) -> Path:
    path = folder / "x.ledger"
    ledger = open_ledger(path, secret=SECRET, dataset="d")
    for i in range(n):
        with ledger.turn() as turn:
            turn.append("answer", {"i": i, "value": 0.1 + i})
    ledger.close()
    return path


def reopen(path: Path) -> Ledger:
    return open_ledger(path, secret=SECRET, dataset="d")


def test_entries_come_back_as_written(tmp_path: Path) -> None:
    ledger = reopen(begin(tmp_path))
    entries = ledger.entries()
    assert [entry.number for entry in entries] == [1, 2, 3, 4, 5, 6]
    assert [entry.payload["value"] for entry in entries[1:]] == [0.1 + i for i in range(5)]
    assert (tmp_path / "x.ledger").stat().st_mode & 0o077 == 0


def test_rows_cannot_be_changed_or_deleted(tmp_path: Path) -> None:
    connection = sqlite3.connect(begin(tmp_path))
    for statement in ("DELETE FROM entries", "UPDATE entries SET body = x'00'"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute(statement)


def tamper(path: Path, *statements: str) -> None:
    """Someone with the file but without the secret, who puts the triggers back."""
    connection = sqlite3.connect(path)
    triggers = [row[0] for row in connection.execute("SELECT sql FROM sqlite_master WHERE type = 'trigger'")]
    connection.execute("DROP TRIGGER keep_entries")
    connection.execute("DROP TRIGGER fix_entries")
    for statement in (*statements, *triggers):
        connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    "statements, sentence, entry",
    [
        (
            ("UPDATE entries SET body = CAST(replace(CAST(body AS TEXT), '1.1', '1.2') AS BLOB) WHERE number = 3",),
            "entry 3 does not fit",
            3,
        ),
        (("DELETE FROM entries WHERE number = 3",), "entry 3 is missing although later", 3),
        (("DELETE FROM entries WHERE number > 4",), "the last entries are missing: 6 were written, 4 are there", 5),
        (
            ("DELETE FROM entries WHERE number > 4", "UPDATE progress SET count = 4"),
            "this is an older copy: it ends at entry 4, but entry 6",
            5,
        ),
        (
            (
                "UPDATE entries SET number = 99 WHERE number = 3",
                "UPDATE entries SET number = 3 WHERE number = 4",
                "UPDATE entries SET number = 4 WHERE number = 99",
            ),
            "entry 3 does not fit",
            3,
        ),
        (
            ("INSERT INTO entries VALUES (7, x'7b7d', x'00')", "UPDATE progress SET count = 7"),
            "entry 7 does not fit",
            7,
        ),
    ],
    ids=["changed", "hole", "tail", "shortened", "reordered", "forged"],
)
def test_tampering_is_named(tmp_path: Path, statements: tuple[str, ...], sentence: str, entry: int) -> None:
    path = begin(tmp_path)
    tamper(path, *statements)
    with pytest.raises(LedgerError, match=sentence) as caught:
        reopen(path)
    assert caught.value.entry == entry
    assert "\n" not in str(caught.value)


def test_a_removed_trigger_is_noticed(tmp_path: Path) -> None:
    path = begin(tmp_path)
    connection = sqlite3.connect(path)
    connection.execute("DROP TRIGGER keep_entries")
    connection.commit()
    connection.close()
    with pytest.raises(LedgerError, match="structure was changed"):
        reopen(path)


def test_every_flipped_byte_of_an_entry_is_noticed(tmp_path: Path) -> None:
    path = begin(tmp_path)
    raw = path.read_bytes()
    bodies = [entry.body for entry in reopen(path)._store.read(0)]
    for body in bodies:
        place = raw.index(body)
        for offset in range(0, len(body), 7):
            path.write_bytes(raw[: place + offset] + bytes([raw[place + offset] ^ 1]) + raw[place + offset + 1 :])
            with pytest.raises(LedgerError):
                reopen(path)
    path.write_bytes(raw)
    assert len(reopen(path)) == 6


def test_an_older_copy_of_the_file_is_noticed(tmp_path: Path) -> None:
    path = begin(tmp_path)
    old = tmp_path / "backup"
    shutil.copy(path, old)
    ledger = reopen(path)
    with ledger.turn() as turn:
        turn.append("answer", {})
    ledger.close()
    shutil.copy(old, path)
    with pytest.raises(LedgerError, match="older copy"):
        reopen(path)


def test_a_missing_ledger_or_anchor_is_noticed(tmp_path: Path) -> None:
    path = begin(tmp_path)
    anchor = tmp_path / "x.ledger.anchor"
    kept = anchor.read_bytes()
    anchor.unlink()
    with pytest.raises(LedgerError, match="anchor .* is missing"):
        reopen(path)
    anchor.write_bytes(b"{")
    with pytest.raises(LedgerError, match="is damaged"):
        reopen(path)
    anchor.write_bytes(kept)
    path.unlink()
    with pytest.raises(LedgerError, match="is gone although"):
        reopen(path)


def test_a_crash_between_entry_and_anchor_is_repaired(tmp_path: Path) -> None:
    path = begin(tmp_path)
    anchor = tmp_path / "x.ledger.anchor"
    before = anchor.read_bytes()
    ledger = reopen(path)
    with ledger.turn() as turn:
        turn.append("answer", {"last": True})
    ledger.close()
    after = anchor.read_bytes()
    anchor.write_bytes(before)
    assert reopen(path).entries()[-1].payload == {"last": True}
    assert anchor.read_bytes() == after


def test_wrong_secret_wrong_data_set_and_no_ledger(tmp_path: Path) -> None:
    path = begin(tmp_path)
    with pytest.raises(LedgerError, match="the secret is another one"):
        open_ledger(path, secret=as_secret(8), dataset="d")
    with pytest.raises(LedgerError, match="belongs to another data set"):
        open_ledger(path, secret=SECRET, dataset="e")
    with pytest.raises(LedgerError, match="forbids making one; check"):
        open_ledger(tmp_path / "other", secret=SECRET, dataset="d", create=False)
    with pytest.raises(LedgerError, match="folder must be writable"):
        open_ledger(tmp_path / "no such folder" / "x", secret=SECRET, dataset="d")
    (tmp_path / "text").write_text("this is not a ledger at all" * 100)
    (tmp_path / "text.anchor").write_bytes((tmp_path / "x.ledger.anchor").read_bytes())
    with pytest.raises(LedgerError, match="damaged"):
        open_ledger(tmp_path / "text", secret=SECRET, dataset="d")


def _count_up(path: Path, times: int) -> None:
    ledger = reopen(path)
    total = sum(entry.kind == "step" for entry in ledger.entries())
    for _ in range(times):
        with ledger.turn() as turn:
            total += sum(entry.kind == "step" for entry in turn.unseen)
            turn.append("step", {"seen": total})
            total += 1


def test_two_processes_take_turns_and_see_each_other(tmp_path: Path) -> None:
    path = begin(tmp_path, 0)
    spawn = multiprocessing.get_context("spawn")
    workers = [spawn.Process(target=_count_up, args=(path, 25)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    seen = [entry.payload["seen"] for entry in reopen(path).entries() if entry.kind == "step"]
    assert seen == list(range(50))


@pytest.mark.slow
def test_opening_reads_and_hashes_each_entry_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The work grows with the entries and no faster; how long 100,000 take is a benchmark's business."""
    path = begin(tmp_path, 0)
    ledger = reopen(path)
    with ledger.turn():
        ledger._append([("answer", {"query": "x" * 300, "user": "u", "i": i}) for i in range(20_000)])
    ledger.close()
    read: list[int] = []
    hashed: list[int] = []
    original_read, original_link = SqliteStore.read, Chain.link

    def counted_read(store: SqliteStore, after: int) -> list[StoredEntry]:
        found = original_read(store, after)
        read.append(len(found))
        return found

    def counted_link(chain: Chain, before: bytes, number: int, body: bytes) -> bytes:
        hashed.append(number)
        return original_link(chain, before, number, body)

    monkeypatch.setattr(SqliteStore, "read", counted_read)
    monkeypatch.setattr(Chain, "link", counted_link)
    opened = reopen(path)
    assert (sum(read), len(hashed)) == (20_001, 20_001)
    assert len(opened.entries()) == 20_001
    assert (sum(read), len(hashed)) == (40_002, 40_002)
