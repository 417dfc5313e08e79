"""Databases as pages show them: what each mode promises, and trial queries on a copy that no ledger remembers."""

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from reticent.base.errors import ReticentError
from reticent.base.progress import Progress, silent
from reticent.jobs.answer_query import read_database_file, read_version
from reticent.queries.database import ProtectedDatabase
from reticent.queries.modes import MODES, mode_class

__all__ = ["MODES", "promise_of", "try_query"]

ANALYST = "trial"


def promise_of(mode: str) -> dict[str, Any]:
    """What a mode promises, and what it gives away, in words."""
    found = mode_class(mode)
    return {"guarantee": found.guarantee, "leakage": list(found.leakage)}


def try_query(path: Path, question: str, modes: Sequence[str], *, progress: Progress = silent) -> list[dict[str, Any]]:
    """What each mode would answer to a query that nobody asked before; the real ledger is neither read nor written."""
    file = read_database_file(path)
    data = read_version(file, file.data)
    secret = file.data.secret if isinstance(file.data.secret, int) else file.find(file.data.secret)
    rows: list[dict[str, Any]] = []
    for at, mode in enumerate(modes):
        progress(at / len(modes), f"asking in the mode {mode}")
        try:
            with tempfile.TemporaryDirectory() as folder:
                database = ProtectedDatabase(
                    data, policy=replace(file.policy, mode=mode), secret=secret, ledger=Path(folder) / "trial.ledger",
                    name=file.data.name, version=file.data.version, test_secret=file.data.test_secret,
                )  # fmt: skip
                try:
                    rows.append({"mode": mode, **database.ask(question, user=ANALYST).as_json()})
                finally:
                    database.close()
        except ReticentError as err:
            rows.append({"mode": mode, "answered": False, "code": "NOT POSSIBLE", "message": str(err)})
    return rows
