"""Contents beside a ledger, and its lock: durable, checked by their hash, freed when a process ends."""

import os
import stat
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from reticent.ledger import lock as locks
from reticent.ledger.blobs import Blobs
from reticent.ledger.chain import LedgerError
from reticent.ledger.lock import FileLock


def test_a_content_comes_back_as_it_was(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path / "contents")
    for content in (b"", b"a" * 100_000, bytes(range(256))):
        name = blobs.put(content)
        assert blobs.get(name, entry=1) == content
        assert len(name) == 64


def test_the_same_content_is_kept_once_and_compressed(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path / "contents")
    first, second = blobs.put(b"a" * 100_000), blobs.put(b"a" * 100_000)
    assert first == second
    files = list((tmp_path / "contents").iterdir())
    assert [file.name for file in files] == [first]
    assert files[0].stat().st_size < 1000


def test_only_the_owner_can_read_contents(tmp_path: Path) -> None:
    name = Blobs(tmp_path / "contents").put(b"secret")
    assert stat.S_IMODE((tmp_path / "contents").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "contents" / name).stat().st_mode) == 0o600


@pytest.mark.parametrize("damage", ["changed", "cut", "other", "gone"])
def test_a_damaged_content_keeps_the_data_set_closed(tmp_path: Path, damage: str) -> None:
    blobs = Blobs(tmp_path)
    name = blobs.put(b"what was released")
    place = tmp_path / name
    if damage == "gone":
        place.unlink()
    elif damage == "other":
        place.write_bytes(zlib.compress(b"something else"))
    else:
        content = place.read_bytes()
        place.write_bytes(content[:-3] if damage == "cut" else content[:5] + b"\x00" + content[6:])
    with pytest.raises(LedgerError, match="what entry 7 released is missing or damaged") as found:
        blobs.get(name, entry=7)
    assert found.value.entry == 7


def test_a_place_that_cannot_be_written_releases_nothing(tmp_path: Path) -> None:
    (tmp_path / "contents").write_text("a file where the folder should be")
    with pytest.raises(LedgerError, match="cannot be written, so nothing is released"):
        Blobs(tmp_path / "contents").put(b"x")


def test_a_lock_can_be_taken_again_inside_itself(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "lock")
    with lock, lock:
        pass
    with lock:
        pass
    lock.close()


HOLD = """
import sys
from pathlib import Path
from reticent.ledger.lock import FileLock
lock = FileLock(Path(sys.argv[1]))
with lock:
    print("held", flush=True)
    sys.stdin.read()
"""


def test_another_process_waits_and_a_crash_frees_the_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "lock"
    other = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(place)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ,
    )
    try:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        lock = FileLock(place)
        monkeypatch.setattr(locks, "LOCK_WAIT", 0.0)
        with pytest.raises(LedgerError, match="another process has held it"), lock:
            pass
    finally:
        other.kill()
        other.wait()
        assert other.stdin is not None
        assert other.stdout is not None
        other.stdin.close()
        other.stdout.close()
    with lock:
        pass
    lock.close()
