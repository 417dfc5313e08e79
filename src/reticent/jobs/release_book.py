# SPDX-License-Identifier: Apache-2.0
"""The ledger that a release belongs to: where it is, what signs it, and what was answered from it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from reticent.base.errors import PlanError
from reticent.base.randomness import Secret, release_secret
from reticent.data.microdata import Microdata
from reticent.data.plan import DataSection, EarlierData, LedgerSection, Plan
from reticent.data.table_plan import TablePlan
from reticent.history.answers import Answers, Beside
from reticent.history.book import Book, blobs_of
from reticent.io.database import is_url
from reticent.io.read import read_microdata
from reticent.jobs.answer_query import engine_of
from reticent.jobs.database_file import read_database_file
from reticent.ledger.ledger import Ledger, open_ledger
from reticent.queries.recorded import DECISION


@dataclass(frozen=True, eq=False)
class Where:
    """The ledger that a release belongs to: what `[ledger]` says, the secret that signs it, where relative names start."""

    section: LedgerSection
    secret: Secret = field(repr=False)
    folder: Path
    schema: str | None = None
    """The schema of the data, which earlier versions have too unless one is named for them."""
    given: tuple[tuple[str, Microdata], ...] = field(default=(), repr=False)
    """Earlier versions that are in memory already, by name."""

    @property
    def place(self) -> str | Path:
        """The ledger: an address, or a file."""
        return self.section.path if is_url(self.section.path) else self.folder / self.section.path

    @property
    def anchor(self) -> Path | None:
        """Its anchor, where it is named."""
        return None if self.section.anchor is None else self.folder / self.section.anchor


def where_of(plan: Plan | TablePlan, path: Path, ledger: str | None, name: str | None) -> Where:
    """What `[ledger]` says, with what the command says in its place; a release is called like its plan unless named."""
    place = ledger if ledger is None or is_url(ledger) else str(Path(ledger).absolute())
    if plan.ledger is None:
        section = LedgerSection(path=place or "", name=name or path.stem)
    else:
        section = replace(plan.ledger, path=place or plan.ledger.path, name=name or plan.ledger.name)
    return Where(section, _secret(plan.data, plan.folder), plan.folder, plan.data.schema)


@contextmanager
def open_book(where: Where, records: Microdata) -> Iterator[Book]:
    """Open the ledger of some records; it is verified, and made where there is none."""
    section = where.section
    ledger = open_ledger(
        where.place, secret=where.secret.child("ledger"), dataset=section.dataset, anchor=where.anchor,
        create=section.create,
    )  # fmt: skip
    try:
        blobs = blobs_of(where.place, where.anchor)
        answers = _answers(section, ledger, Beside(blobs), where.secret, where.folder)
        earlier = (*where.given, *((one.version, _read(one, where)) for one in section.earlier))
        yield Book(ledger, blobs, records, version=section.version, answers=answers, earlier=earlier)
    finally:
        ledger.close()


def _answers(section: LedgerSection, ledger: Ledger, beside: Beside, secret: Secret, folder: Path) -> Answers | None:
    """What was answered from the ledger; the database file says what its queries mean."""
    answered = any(entry.kind == DECISION and entry.payload["answered"] for entry in ledger.entries())
    if not answered:
        return None
    if section.database is None:
        raise PlanError(
            "[ledger]: queries were answered from this ledger; name their database file in database, so that they are judged "
            "together with this release."
        )
    file = read_database_file(folder / section.database)
    return Answers(engine_of(file, ledger, secret, beside))


def _read(one: EarlierData, where: Where) -> Microdata:
    """The records of an earlier version; without a schema of its own it has that of the data."""
    return read_microdata(
        one.path if is_url(one.path) else Path(one.path),
        one.schema or where.schema,
        folder=where.folder,
        format=one.format,
        query=one.query,
    )


def _secret(data: DataSection, folder: Path) -> Secret:
    if data.secret is None:
        raise PlanError(
            "[data]: a ledger needs a secret, which signs its entries; make one with "
            "`reticent new-secret`, and name it in [data] secret."
        )
    given = folder / data.secret if isinstance(data.secret, str) else data.secret
    return release_secret(given, test=data.test_secret, owner="[data]")
