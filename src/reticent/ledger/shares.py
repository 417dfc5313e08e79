# SPDX-License-Identifier: Apache-2.0
"""Ledgers lie on disks of this machine: locks and synced writes do not hold on network shares, so these are refused.

Linux says in its mount table what a folder is; on Windows names such as `\\\\server\\share` are known. What neither says (a share
inside a virtual machine, behind a user's own file system) is not noticed.
"""

import os
from pathlib import Path

from reticent.ledger.chain import LedgerError

MOUNTS = Path("/proc/self/mountinfo")
KINDS = (
    "nfs", "nfs3", "nfs4", "cifs", "smb2", "smb3", "smbfs", "ncpfs", "afs", "auristorfs", "coda", "ceph", "glusterfs", "lustre",
    "beegfs", "orangefs", "davfs", "webdav", "sshfs", "s3fs", "rclone", "curlftpfs", "gcsfuse", "goofys", "blobfuse", "blobfuse2",
    "juicefs", "moosefs",
)  # fmt: skip


def refuse_share(path: Path) -> None:
    """Refuse to keep a ledger on a network share."""
    kind = share_kind(path)
    if kind is not None:
        raise LedgerError(
            f"ledger: {path.name!r} lies on a network share ({kind}), where two machines could write at the same time and "
            "nothing is safely on disk. Keep it on a disk of this machine, or on a PostgreSQL server."
        )


def share_kind(path: Path) -> str | None:
    """The kind of network share that a file lies on; None for a disk of this machine, and where nothing says."""
    if os.name == "nt":
        return "a shared folder" if str(path.absolute()).startswith("\\\\") else None
    try:
        table = MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return None
    kind = _kind_of(path.absolute().parent.resolve(), table)
    return kind if kind.partition(".")[2] in KINDS or kind in KINDS else None


def _kind_of(folder: Path, table: str) -> str:
    """What the deepest mount above a folder is; of several at one point the last one covers the others."""
    found, depth = "", -1
    for line in table.splitlines():
        before, _, after = line.partition(" - ")
        fields = before.split(" ")
        if len(fields) < 5 or not after:
            continue
        point = Path(_unescaped(fields[4]))
        if (folder == point or point in folder.parents) and len(point.parts) >= depth:
            found, depth = after.split(" ")[0], len(point.parts)
    return found


def _unescaped(text: str) -> str:
    for escaped, plain in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(escaped, plain)
    return text
