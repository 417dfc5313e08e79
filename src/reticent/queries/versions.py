# SPDX-License-Identifier: Apache-2.0
"""What a ledger says of the versions of the data: that each name still means the same records, and how sets are named."""

from collections.abc import Sequence

import numpy as np

from reticent.base.arrays import Words
from reticent.base.errors import DataError, PlanError
from reticent.base.randomness import Secret
from reticent.data.large import LargeFile
from reticent.data.microdata import Microdata
from reticent.data.record_marks import is_version
from reticent.ledger.chain import LedgerError
from reticent.ledger.ledger import Ledger, Turn
from reticent.queries.canonical import Universe, Version
from reticent.queries.large import LargeUniverse, LargeVersion
from reticent.queries.policy import Policy
from reticent.tabulation.following import check_found, followed, linked

VERSION = "version"
BY_BUDGET = ("open", "private")
"""Modes whose promise does not depend on which records of two versions are the same."""
Listed = Sequence[tuple[str, Microdata | LargeFile]]


def open_universe(listed: Listed, policy: Policy, secret: Secret) -> Universe:
    """The versions of the data, oldest first; one in an engine stands alone."""
    name, data = listed[-1]
    policy.check(data.schema)
    names = [own for own, _ in listed]
    if len(set(names)) != len(names):
        raise DataError("versions: two versions have the same name; each needs its own.")
    if isinstance(data, LargeFile):
        if len(listed) > 1:
            raise PlanError(
                "earlier: versions of the data are linked record by record in memory; open the database without an engine."
            )
        return LargeUniverse(name, data, policy, secret.child("universe"))
    every = [(own, known) for own, known in listed if isinstance(known, Microdata)]
    ids = _linked_ids(every, policy) if len(every) > 1 else [None]
    versions = tuple(Version(own, known, policy, marks) for (own, known), marks in zip(every, ids, strict=True))
    return Universe(versions, policy, secret.child("universe"))


def _linked_ids(listed: Sequence[tuple[str, Microdata]], policy: Policy) -> list[Words]:
    """Ids that mean the same record in all versions, by the identifier and, in the mode `exact`, by contents too.

    Other modes decide or draw by the identifiers themselves, `simulatable` without looking at a response: there identifiers
    that were replaced are refused.
    """
    names, every = [name for name, _ in listed], [data for _, data in listed]
    try:
        found = linked(every, names)
    except DataError as err:
        raise DataError(f"versions: {err}") from None
    ids = found.ids
    for name, data, own in zip(names, every, ids, strict=True):
        if not np.array_equal(data.record_ids(), own.astype(np.uint64)):
            raise DataError(
                f"versions: version {name!r} has several identifiers, and the first that is of its own in each record "
                "is not so in all versions; keep the role identifier for one that is."
            )
    if policy.mode in BY_BUDGET:
        return [own.astype(np.uint64) for own in ids]
    by = policy.filters if policy.mode == "simulatable" else None
    again = followed(every, ids, by=by, sure=policy.mode != "exact")
    try:
        check_found(every, found._replace(ids=again), names)
    except DataError as err:
        raise DataError(f"versions: {err}") from None
    if policy.mode == "exact":
        return [own.astype(np.uint64) for own in again]
    renamed = sum(int((own != given).sum()) for own, given in zip(again, ids, strict=True))
    if renamed:
        raise DataError(
            f"versions: {renamed} records of versions {', '.join(map(repr, names))} seem to have other identifiers than "
            "in an earlier version, because their contents are found again under others; give each record its old identifier."
        )
    return [own.astype(np.uint64) for own in ids]


def check_versions(ledger: Ledger, universe: Universe) -> None:
    """Refuse other data under a version name that the ledger has; sets of records get the names that it knows them by."""
    with ledger.turn():
        _fresh(ledger, universe)
    name_sets(ledger, universe)


def write_versions(turn: Turn, ledger: Ledger, universe: Universe) -> None:
    """Write down what each version name means; another process may have been faster, with other data."""
    for version in _fresh(ledger, universe):
        turn.append(VERSION, version.marks)
    name_sets(ledger, universe)


def _fresh(ledger: Ledger, universe: Universe) -> list[Version]:
    """The versions that the ledger does not have; an error where it has other data under one of the names."""
    taken = {e.payload["name"]: e.payload for e in ledger.entries() if e.kind == VERSION}
    for version in universe.versions:
        if version.name in taken and "ids" not in taken[version.name] and isinstance(version, LargeVersion):
            raise LedgerError(
                f"ledger: version {version.name!r} was begun with records in memory that are known by their places; open "
                "the database without an engine."
            )
        if version.name in taken and not is_version(taken[version.name], version.marks):
            raise LedgerError(
                f"ledger: version {version.name!r} was other data when it was first used; give changed data a "
                "new version name and list the old data as an earlier version."
            )
    missing = [name for name in taken if name not in {version.name for version in universe.versions}]
    if missing:
        raise LedgerError(
            f"ledger: version {missing[0]!r} of the data has been asked about, so it must be listed among the "
            "earlier versions."
        )
    return [version for version in universe.versions if version.name not in taken]


def name_sets(ledger: Ledger, universe: Universe) -> None:
    """Sets of records are named by ids where the ledger knows the version by them, or will as soon as it has it."""
    marks = {version.name: version.marks for version in universe.versions}
    marks |= {e.payload["name"]: e.payload for e in ledger.entries() if e.kind == VERSION}
    universe.name_by_ids([name for name, own in marks.items() if "ids" in own])
