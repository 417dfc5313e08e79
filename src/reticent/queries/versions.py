# SPDX-License-Identifier: Apache-2.0
"""What a ledger says of the versions of the data: that each name still means the same records, and how sets are named."""

from collections.abc import Sequence

from reticent.base.errors import DataError, PlanError
from reticent.base.randomness import Secret
from reticent.data.large import LargeFile
from reticent.data.microdata import Microdata
from reticent.data.record_marks import is_version
from reticent.ledger.chain import LedgerError
from reticent.ledger.ledger import Ledger
from reticent.queries.canonical import Universe, Version
from reticent.queries.large import LargeUniverse, LargeVersion
from reticent.queries.policy import Policy

VERSION = "version"
Listed = Sequence[tuple[str, Microdata | LargeFile]]


def open_universe(listed: Listed, policy: Policy, secret: Secret) -> Universe:
    """The versions of the data, oldest first; one in an engine stands alone."""
    name, data = listed[-1]
    policy.check(data.schema)
    names = [own for own, _ in listed]
    if len(set(names)) != len(names):
        raise DataError("ProtectedDatabase: two versions have the same name; each needs its own.")
    if isinstance(data, LargeFile):
        if len(listed) > 1:
            raise PlanError(
                "earlier: versions of the data are linked record by record in memory; open the database without an engine."
            )
        return LargeUniverse(name, data, policy, secret.child("universe"))
    versions = tuple(Version(own, known, policy) for own, known in listed if isinstance(known, Microdata))
    return Universe(versions, policy, secret.child("universe"))


def check_versions(ledger: Ledger, universe: Universe) -> None:
    """Write down what each version name means, and refuse other data under a name that is taken."""
    with ledger.turn():
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
    fresh = [version for version in universe.versions if version.name not in taken]
    for version in fresh:
        with ledger.turn() as turn:
            turn.append(VERSION, version.marks)
    name_sets(ledger, universe)


def name_sets(ledger: Ledger, universe: Universe) -> None:
    """Sets of records are named by ids where the ledger knows the version by them."""
    universe.name_by_ids(
        [e.payload["name"] for e in ledger.entries() if e.kind == VERSION and "ids" in e.payload]
    )  # fmt: skip
