"""A backup that is taken while a program has the ledger open had no entry at all: with it, what was released was forgotten.

The last entries of an open ledger are in a log beside its file. Everything here is seen from outside: the commands, and what a
ledger that came back knows.
"""

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from firms import write_firms
from reticent.base.errors import NotProtectedError, ParameterError
from reticent.base.randomness import Secret
from reticent.jobs.ledger import backup, restore, revoke
from reticent.jobs.ledger import opened as use
from reticent.jobs.release import release_plan
from reticent.ledger.chain import LedgerError
from reticent.ledger.ledger import RELEASE, Ledger, open_ledger

SECRET = Secret(hashlib.sha256(b"copies").digest())


def opened(folder: Path, *, elsewhere: bool) -> Ledger:
    return open_ledger(
        folder / "r.ledger", secret=SECRET, dataset="data", anchor=folder / "far" / "r.anchor" if elsewhere else None
    )


def release(ledger: Ledger, name: str) -> None:
    with ledger.turn() as turn:
        turn.append(RELEASE, {"name": name})


def lose(folder: Path) -> None:
    """The disk is gone; copies and the other disk are there."""
    for one in folder.iterdir():
        if one.name not in ("kept", "far"):
            shutil.rmtree(one) if one.is_dir() else one.unlink()


PLAN = """[data]
path = "firms.csv"
schema = "firms.schema.toml"
secret = 12345
test_secret = true
[table]
dimensions = {dimensions}
response = "turnover"
rules = [{{ rule = "threshold", minimum = {minimum}, protection = 20 }}]
[output]
path = "{name}.csv"
[ledger]
path = "{ledger}"
anchor = "firms.anchor"
name = "{name}"
version = "{version}"
"""


def publish(folder: Path, name: str, **facts: object) -> None:
    told = {"dimensions": '["ind", "size"]', "minimum": 3, "ledger": "firms.ledger", "version": "1", **facts}
    plan = folder / f"{name}.toml"
    plan.write_text(PLAN.format(name=name, **told))
    release_plan(plan)


def revoked(folder: Path) -> None:
    with use(folder / "firms.ledger", 12345, anchor=folder / "firms.anchor", test=True) as ledger:
        revoke(ledger, "first", "a wrong footnote")


def put_back(folder: Path) -> None:
    (folder / "firms.ledger").unlink()
    restore(folder / "kept", folder / "firms.ledger")


def without_anchor(folder: Path) -> None:
    (folder / "firms.anchor").unlink()


def without_contents(folder: Path) -> None:
    shutil.rmtree(folder / "firms.ledger.blobs")


def copied(folder: Path) -> None:
    """A copy from before the first table lies beside the ledger and has its anchor."""
    for one in (folder / "kept").iterdir():
        shutil.move(one, folder / one.name.replace("firms.ledger", "copy.ledger"))


def nothing(folder: Path) -> None:
    pass


@pytest.mark.parametrize("what", [revoked, put_back, without_anchor, without_contents, copied, nothing])
@pytest.mark.parametrize("version", ["1", "2"])
def test_nothing_makes_a_ledger_forget(what: Callable[[Path], None], version: str, tmp_path: Path) -> None:
    """The second table shows what the first hides. Between them a copy comes back, something is lost, or a name changes."""
    write_firms(tmp_path)
    (tmp_path / "size.hrc").write_text("xy\n@x\n@y\nzw\n@z\n@w\n")
    publish(tmp_path, "coarse", dimensions='["ind"]')
    backup(tmp_path / "firms.ledger", tmp_path / "kept")
    publish(tmp_path, "first")
    what(tmp_path)
    with pytest.raises((NotProtectedError, LedgerError)):
        publish(
            tmp_path, "second", minimum=1, version=version, ledger=f"{'copy' if what is copied else 'firms'}.ledger"
        )
    assert not (tmp_path / "second.csv").exists()


@pytest.mark.parametrize("elsewhere", [False, True])
@pytest.mark.parametrize("n", [1, 40])
def test_a_copy_of_an_open_ledger_has_all_that_was_released(n: int, elsewhere: bool, tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    ledger = opened(tmp_path, elsewhere=elsewhere)
    for number in range(n):
        release(ledger, str(number))
    backup(tmp_path / "r.ledger", tmp_path / "kept")
    ledger.close()
    lose(tmp_path)
    restore(tmp_path / "kept", tmp_path / "r.ledger")
    back = opened(tmp_path, elsewhere=elsewhere)
    assert [one.payload["name"] for one in back.entries() if one.kind == RELEASE] == [str(x) for x in range(n)]
    back.close()


def test_a_copy_of_an_open_ledger_is_still_older_than_what_came_after(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    ledger = opened(tmp_path, elsewhere=True)
    release(ledger, "first")
    backup(tmp_path / "r.ledger", tmp_path / "kept")
    release(ledger, "second")
    ledger.close()
    lose(tmp_path)
    restore(tmp_path / "kept", tmp_path / "r.ledger")
    with pytest.raises(LedgerError, match="older copy"):
        opened(tmp_path, elsewhere=True)


def test_a_ledger_is_not_put_beside_the_log_of_another(tmp_path: Path) -> None:
    ledger = opened(tmp_path, elsewhere=False)
    release(ledger, "first")
    backup(tmp_path / "r.ledger", tmp_path / "kept")
    release(ledger, "second")
    (tmp_path / "r.ledger").unlink()  # the last entries are in the log still
    with pytest.raises(ParameterError, match="r.ledger-wal"):
        restore(tmp_path / "kept", tmp_path / "r.ledger")
    ledger.close()


def test_contents_that_are_gone_come_back_and_nothing_is_no_copy(tmp_path: Path) -> None:
    ledger = opened(tmp_path, elsewhere=False)
    blobs = tmp_path / "r.ledger.blobs"
    blobs.mkdir()
    for name in ("a", "b"):
        (blobs / name).write_text(name)
    ledger.close()
    backup(tmp_path / "r.ledger", tmp_path / "kept")
    (tmp_path / "r.ledger").unlink()
    (blobs / "a").unlink()
    restore(tmp_path / "kept", tmp_path / "r.ledger")
    assert sorted(one.name for one in blobs.iterdir()) == ["a", "b"]
    with pytest.raises(ParameterError, match="there is no 'other'"):
        backup(tmp_path / "other", tmp_path / "kept-too")
    assert not (tmp_path / "kept-too").exists()
