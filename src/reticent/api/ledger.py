# SPDX-License-Identifier: Apache-2.0
"""`open_ledger`: what was released of a data set, with which each further release is judged."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypedDict, Unpack, runtime_checkable

from reticent.api.arguments import records_of
from reticent.base.checks import kind_of
from reticent.base.doors import door, doors
from reticent.base.errors import ParameterError
from reticent.base.randomness import Secret, release_secret
from reticent.data.parameters import build
from reticent.data.plan import LedgerSection
from reticent.history.made import Made
from reticent.jobs import ledger as jobs
from reticent.jobs.ledger_explain import explain_made, explain_recorded
from reticent.jobs.release import release_made
from reticent.jobs.release_book import Where
from reticent.ledger.ledger import Ledger
from reticent.queries.opening import listed_versions

UNNAMED = "unnamed"


class LedgerOptions(TypedDict, total=False):
    """What may be said of a ledger besides its place and its secret; `open_ledger` says what each means."""

    dataset: str
    version: str
    anchor: Path | str | None
    database: Path | str | None
    create: bool
    test_secret: bool
    earlier: Sequence[tuple[str, Any]]


class Recording(TypedDict, total=False):
    """What may be said of a release that is recorded in a ledger: its `name`, and what is accepted of it.

    `accept_uncertified` is the reason for releasing what may reveal more than can be judged; `accept_repeat` lets a further
    noisy release of the same variables go. With `memory` tables are protected once more where they are not safe with what
    was released before: what is given out may then hide more than the run did.
    """

    name: str
    accept_uncertified: str | None
    accept_repeat: bool
    memory: bool


@runtime_checkable
class Releasable(Protocol):
    """A run: something that can be released."""

    def made(self, risk: str = "") -> Made:
        """What it would publish, as a ledger takes it; `risk` is why it leaves although an attack was not held."""
        ...


@doors
@dataclass(frozen=True, eq=False)
class ReleaseLedger:
    """The releases of a data set. It is opened, verified and closed again for each use, so that others may use it as well."""

    made_by: ClassVar[str] = "open_ledger"
    _where: Where = field(repr=False)

    def __repr__(self) -> str:
        return f"<ReleaseLedger {Path(str(self._where.place)).name}: {len(self.releases())} releases>"

    def releases(self) -> list[dict[str, Any]]:
        """Each release: number of its entry, name, form, time, version, what was accepted, the verdict, whether revoked."""
        with self._opened() as ledger:
            return [one.row() for one in jobs.releases_in(ledger)]

    def show(self, release: str) -> dict[str, Any]:
        """Everything that the ledger says of one release, by name or number."""
        with self._opened() as ledger:
            return jobs.show_release(ledger, release)

    def explain(self, release: Any, *, name: str = "") -> dict[str, Any]:
        """Why a run would be refused, or what a recorded release was judged with (by name or number).

        For a run: the outcome, and each conflict with its releases and the relations that prove it, in codes; `name` is what
        the release would be called. Nothing is recorded.
        """
        if isinstance(release, str):
            with self._opened() as ledger:
                return explain_recorded(ledger, release).plain
        if not isinstance(release, Releasable):
            raise ParameterError(
                f"explain: give a run, or the name of a recorded release as a text, got {kind_of(release)}."
            )
        section = replace(self._where.section, name=name or "this release")
        return explain_made(replace(self._where, section=section), release.made()).summary()

    def verify(self) -> dict[str, int]:
        """Read every entry and every content again; a missing or changed one is an error."""
        with self._opened() as ledger:
            return jobs.verify_ledger(ledger, str(self._where.place), self._where.anchor)

    def revoke(self, release: str, *, reason: str) -> int:
        """Say that a release is no longer to be used; what it told stays known and counts in every later verdict."""
        with self._opened() as ledger:
            return jobs.revoke(ledger, release, reason)

    def _opened(self) -> AbstractContextManager[Ledger]:
        where = self._where
        return jobs.opened(where.place, where.secret, dataset=where.section.dataset, anchor=where.anchor)


@door
def open_ledger(place: Path | str, *, secret: Any, **options: Unpack[LedgerOptions]) -> ReleaseLedger:
    """Open the ledger of a data set, a file or a `postgresql…` address; it is made where there is none, unless `create=False`.

    `secret` is the key file that signs it (`reticent new-secret` makes one). `dataset` names the data that it is of, `version`
    their state ("1" unless given); `earlier` are (name, data) of other versions that something was released of. `anchor` is a
    file on another disk that notices a ledger put back to an earlier state; `database` is the file of a query database with the
    same ledger. `run.release(ledger=…, name=…)` judges and records.
    """
    if secret is None:
        raise ParameterError("open_ledger: secret is missing; give the key file that signs the ledger.")
    test = options.pop("test_secret", False)
    own = secret if isinstance(secret, Secret) else release_secret(secret, test=test, owner="open_ledger")
    earlier = listed_versions(records_of(options.pop("earlier", ())), owner="open_ledger")
    plain = {name: str(value) if isinstance(value, Path) else value for name, value in options.items()}
    section = build(LedgerSection, {"path": str(place), "name": UNNAMED, **plain}, owner="open_ledger")
    where = Where(section, own, Path.cwd(), given=tuple(earlier))
    with jobs.opened(
        where.place, own, dataset=section.dataset, anchor=where.anchor, create=section.create
    ):  # refuses what cannot be trusted, before any work
        pass
    return ReleaseLedger(where)


def record_release(
    ledger: ReleaseLedger | None, recording: Recording, run: Releasable, risk: str | None
) -> Made | None:
    """Judge and record what a run made, where a ledger is given; without one nothing about it may be said.

    Gives what was recorded, which with `memory` may be another protection of the same tables.
    """
    if ledger is None:
        if recording:
            raise ParameterError(f"release: {next(iter(recording))} belongs to a ledger; give ledger=… too.")
        return None
    if not isinstance(recording.get("name"), str) or not recording["name"].strip():
        raise ParameterError(
            f"release: a ledger needs a name for the release, as a text, got {kind_of(recording.get('name'))}."
        )
    where: Where = ledger._where
    section = build(LedgerSection, {**vars(where.section), **recording}, owner="release")
    return release_made(replace(where, section=section), run.made(risk or ""))[1]
