# SPDX-License-Identifier: Apache-2.0
"""What a confidential report says of its origin: the files that a plan reads, by name and hash, and its secret's mark."""

import hashlib
from pathlib import Path

from reticent.base.randomness import Secret, as_secret
from reticent.data.plan import Plan
from reticent.data.table_plan import TablePlan
from reticent.report.provenance import Provenance, secret_mark

CHUNK = 1 << 20


def provenance_of(plan: Plan | TablePlan, *, seconds: float | None, drawn: str = "") -> Provenance:
    """Where the results of a plan come from; `drawn` is the secret in hex where the run drew one."""
    source = plan.data
    named = [("data", source.path), ("schema", source.schema)]
    files = [(what, plan.find(name)) for what, name in named if isinstance(name, str)]
    files += [] if plan.source is None else [("plan", plan.source)]
    hashed = tuple((what, path.name, "" if source.engine else _hash(path)) for what, path in files)
    return Provenance(hashed, _mark(plan, drawn), plan.output.date or "", seconds)


def _mark(plan: Plan | TablePlan, drawn: str) -> str:
    given = plan.data.secret
    if drawn:
        return secret_mark(Secret(bytes.fromhex(drawn)))
    return "" if given is None else secret_mark(as_secret(plan.find(given) if isinstance(given, str) else given))


def _hash(path: Path) -> str:
    """SHA-256 of a file; nothing for what is not a file, such as a database."""
    if not path.is_file():
        return ""
    found = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(CHUNK):
            found.update(block)
    return found.hexdigest()
