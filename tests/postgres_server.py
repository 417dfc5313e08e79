"""A PostgreSQL server that tests start themselves where its programs are installed."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


def _programs() -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found else None


@contextmanager
def running_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server; the test is skipped where there is none."""
    pytest.importorskip("sqlalchemy")
    pytest.importorskip("psycopg")
    if "RETICENT_POSTGRES" in os.environ:
        yield os.environ["RETICENT_POSTGRES"]
        return
    programs = _programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed")
    as_user = []
    folder = tmp_path_factory.mktemp("pg")
    if os.geteuid() == 0:
        if shutil.which("runuser") is None:
            pytest.skip("PostgreSQL does not run as root")
        as_user = ["runuser", "-u", "postgres", "--"]
        folder = Path("/tmp") / f"reticent-pg-{os.getpid()}-{folder.parent.name}"
        folder.mkdir()
        shutil.chown(folder, "postgres")
    data = folder / "data"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": True, "cwd": "/"}
    # Nothing is kept, so nothing waits for the disk.
    subprocess.run([*as_user, programs / "initdb", "-D", data, "-A", "trust", "-U", "postgres", "--no-sync"], **quiet)
    options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
    subprocess.run(
        [*as_user, programs / "pg_ctl", "-D", data, "-w", "-o", options, "-l", folder / "log", "start"], **quiet
    )
    try:
        yield f"postgresql+psycopg://postgres@127.0.0.1:{port}/postgres"
    finally:
        subprocess.run([*as_user, programs / "pg_ctl", "-D", data, "-m", "immediate", "stop"], **quiet)
        shutil.rmtree(folder, ignore_errors=True)
