"""A ledger on a network share is refused; the mount table says what is one."""

from pathlib import Path

import pytest

from reticent.base.randomness import as_secret
from reticent.ledger import shares
from reticent.ledger.chain import LedgerError
from reticent.ledger.ledger import open_ledger

SECRET = as_secret(7)
LINE = "36 35 98:0 / {point} rw,noatime shared:1 - {kind} source rw\n"


def mounted(monkeypatch: pytest.MonkeyPatch, folder: Path, *mounts: tuple[str, str]) -> None:
    table = folder / "mountinfo"
    table.write_text("".join(LINE.format(point=point.replace(" ", "\\040"), kind=kind) for point, kind in mounts))
    monkeypatch.setattr(shares, "MOUNTS", table)


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "smb3", "fuse.sshfs", "ceph", "fuse.glusterfs", "fuse.rclone"])
def test_a_share_is_refused_and_nothing_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    share = tmp_path / "a share" / "deep"
    share.mkdir(parents=True)
    mounted(monkeypatch, tmp_path, ("/", "ext4"), (str(share.parent), kind))
    with pytest.raises(LedgerError, match=rf"network share \({kind}\)"):
        open_ledger(share / "x.ledger", secret=SECRET, dataset="d")
    assert list(share.iterdir()) == []


def test_a_link_to_a_share_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "share").mkdir()
    (tmp_path / "here").symlink_to(tmp_path / "share")
    mounted(monkeypatch, tmp_path, ("/", "ext4"), (str(tmp_path / "share"), "nfs"))
    with pytest.raises(LedgerError, match="network share"):
        open_ledger(tmp_path / "here" / "x.ledger", secret=SECRET, dataset="d")


@pytest.mark.parametrize(
    "kind", ["ext4", "xfs", "btrfs", "zfs", "overlay", "9p", "tmpfs", "fuse.ntfs-3g", "fuse.gcsfuse2"]
)
def test_disks_of_this_machine_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    other = tmp_path / "other"
    other.mkdir()
    mounted(monkeypatch, tmp_path, ("/", kind), (str(other), "nfs"), (str(other) + "-wise", "nfs"))
    open_ledger(tmp_path / "x.ledger", secret=SECRET, dataset="d").close()


def test_a_disk_mounted_over_a_share_is_a_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounted(monkeypatch, tmp_path, ("/", "nfs"), (str(tmp_path), "nfs"), (str(tmp_path), "ext4"))
    open_ledger(tmp_path / "x.ledger", secret=SECRET, dataset="d").close()


def test_where_nothing_says_what_a_folder_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shares, "MOUNTS", tmp_path / "none")
    assert shares.share_kind(tmp_path / "x") is None
