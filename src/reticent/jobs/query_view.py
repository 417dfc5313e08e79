# SPDX-License-Identifier: Apache-2.0
"""Databases as pages show them: what each mode promises, and trial queries on a copy that no ledger remembers."""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from reticent.base.errors import ReticentError
from reticent.base.progress import Progress, silent
from reticent.data.large import LargeFile
from reticent.data.microdata import Microdata
from reticent.jobs.answer_query import current_records
from reticent.jobs.attack_database import attack_database
from reticent.jobs.database_file import DatabaseFile, read_database_file
from reticent.queries.attacks.catalogue import ATTACKS, OPEN
from reticent.queries.database import ProtectedDatabase
from reticent.queries.modes import MODES, mode_class

__all__ = ["MODES", "about_modes", "attacks_on", "promise_of", "try_query"]

ANALYST = "trial"


def promise_of(mode: str) -> dict[str, Any]:
    """What a mode promises, what that does not cover, and what it reveals, point by point."""
    found = mode_class(mode)
    said = found.guarantee
    return {
        "holds": [said.attackers, *said.holds],
        "not_covered": list(said.not_covered),
        "leakage": list(found.leakage),
    }


def about_modes() -> list[tuple[str, str]]:
    """Each mode, and how it answers, in one sentence."""
    return [(mode, str(mode_class(mode).__doc__).strip().split("\n", 1)[0]) for mode in MODES]


def try_query(path: Path, question: str, modes: Sequence[str], *, progress: Progress = silent) -> list[dict[str, Any]]:
    """What each mode would answer to a query that nobody asked before; the real ledger is neither read nor written."""
    file = read_database_file(path)
    data = current_records(file)
    try:
        return [_tried(file, data, mode, question) for mode in _each(modes, progress)]
    finally:
        if isinstance(data, LargeFile):
            data.view.connection.close()


def _each(modes: Sequence[str], progress: Progress) -> Iterator[str]:
    for at, mode in enumerate(modes):
        progress(at / len(modes), f"asking in the mode {mode}")
        yield mode


def _tried(file: DatabaseFile, data: Microdata | LargeFile, mode: str, question: str) -> dict[str, Any]:
    secret = file.data.secret if isinstance(file.data.secret, int) else file.find(file.data.secret)
    try:
        with tempfile.TemporaryDirectory() as folder:
            database = ProtectedDatabase(
                data, policy=replace(file.policy, mode=mode), secret=secret, ledger=Path(folder) / "trial.ledger",
                name=file.data.name, version=file.data.version, test_secret=file.data.test_secret,
            )  # fmt: skip
            try:
                return {"mode": mode, **database.ask(question, user=ANALYST).as_json()}
            finally:
                database.close()
    except ReticentError as err:
        return {"mode": mode, "answered": False, "code": "NOT POSSIBLE", "message": str(err)}


def attacks_on(path: Path, *, progress: Progress = silent) -> dict[str, Any]:
    """The attack catalogue against copies: per attack what it does, what it finds in the open mode and in the policy's own."""
    found = attack_database(path, progress=progress)
    mode = found.modes[-1]
    rows = []
    for attack in dict.fromkeys(one.attack for one in found.findings):
        open_one, own = found.finding(attack, OPEN), found.finding(attack, mode)
        rows.append({
            "attack": attack, "about": str(ATTACKS[attack].__doc__ or "").strip().split("\n", 1)[0], "open": open_one.verdict,
            "own": own.verdict, "covered": own.covered, "queries": own.queries, "refused": own.refused, "text": own.text,
        })  # fmt: skip
    return {"mode": mode, "rows": rows, "broken": [[one.attack, one.mode] for one in found.broken]}
