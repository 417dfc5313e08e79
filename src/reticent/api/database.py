# SPDX-License-Identifier: Apache-2.0
"""Open a protected database: confidential records behind a policy, a secret and a ledger."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reticent.api.arguments import records_of, refuse_type
from reticent.api.data import Data
from reticent.api.large import LargeData
from reticent.base.doors import door
from reticent.base.errors import ParameterError
from reticent.base.progress import Progress, silent
from reticent.jobs import answer_query
from reticent.jobs import attack_database as jobs_attack
from reticent.queries.attacks.catalogue import AttackReport
from reticent.queries.database import Opening, ProtectedDatabase
from reticent.queries.policy import Policy

OWN = ("beside", "closing")
"""What this door gives a database itself."""


@door
def open_database(
    source: Any, *, policy: Policy | None = None, earlier: Sequence[tuple[str, Data]] = (), **options: Any
) -> ProtectedDatabase:
    """Open a protected database.

    `source` is a database file (TOML), which says everything; or data from `load`, with a `policy`, a `secret` and the
    place of the `ledger`. `earlier` are (name, data) of versions asked about before, oldest first; other options are those
    of `ProtectedDatabase`. Data from `load(…, engine=…)` stay in their engine, which is not closed with the database.
    """
    if isinstance(source, str | Path):
        if policy is not None or earlier or options:
            raise ParameterError("open_database: a database file says everything; give no other options with it.")
        return answer_query.open_database(source)
    if not isinstance(source, LargeData):
        refuse_type(source, Data, "source", "open_database", "the path of a database file, or data from load()")
    if policy is None:
        raise ParameterError("open_database: data need a policy; give policy=Policy(…), secret=… and ledger=….")
    refuse_type(policy, Policy, "policy", "open_database", "a Policy")
    for name in ("secret", "ledger"):
        if options.get(name) is None:
            raise ParameterError(f"open_database: {name} is missing; give {name}=….")
    known = ("secret", "ledger", "name", "version", *(name for name in Opening.__annotations__ if name not in OWN))
    unknown = [name for name in options if name not in known]
    if unknown:
        raise ParameterError(f"open_database: unknown option {unknown[0]!r}; known are {', '.join(known)}.")
    options["beside"] = answer_query.beside(options["ledger"], options.get("anchor"))
    records = source.file if isinstance(source, LargeData) else source.microdata
    return ProtectedDatabase(records, policy=policy, earlier=records_of(earlier), **options)


@door
def attack_database(
    source: Any, *, policy: Policy | None = None, response: str | None = None, progress: Progress = silent
) -> AttackReport:
    """Attack copies of a database (a database file, or data with a policy) with the whole catalogue of attacks.

    Each attack is tried in the open mode too, to show what it can do. No ledger is read or written.
    """
    if isinstance(source, str | Path):
        if policy is not None:
            raise ParameterError("attack_database: a database file has its own policy; give no other.")
        return jobs_attack.attack_database(source, response=response, progress=progress)
    refuse_type(source, Data, "source", "attack_database", "the path of a database file, or data from load()")
    refuse_type(policy, Policy, "policy", "attack_database", "a Policy")
    return jobs_attack.attack_database(source.microdata, policy=policy, response=response, progress=progress)
