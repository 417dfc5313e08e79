"""The job that releases: judge a file or tables with everything released before, record them, then write them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from reticent.base.errors import PlanError
from reticent.base.progress import Progress, silent
from reticent.base.randomness import Secret, release_secret
from reticent.data.microdata import Microdata
from reticent.data.plan import DataSection, LedgerSection, Plan, read_toml
from reticent.data.table_plan import BoundsOptions, TablePlan, read_table_plan
from reticent.history.answers import Answers, Beside
from reticent.history.book import Book, blobs_of, require
from reticent.history.file_recipe import FileRecipe
from reticent.history.scene import Recipe
from reticent.history.table_recipe import TableRecipe
from reticent.io.database import is_url
from reticent.io.read import load_source
from reticent.io.write import write_contents
from reticent.jobs.answer_query import engine_of, read_database_file
from reticent.jobs.protect_file import protect_plan, read_file_plan, write_outputs
from reticent.jobs.table_files import check_outputs, result_contents
from reticent.jobs.table_request import request_from_plan
from reticent.ledger.ledger import Ledger, open_ledger
from reticent.microdata.result import ProtectedFile
from reticent.queries.recorded import DECISION
from reticent.releases.verdict import JointVerdict
from reticent.tables.result import ProtectedTable
from reticent.tables.run import run_request


@dataclass(frozen=True)
class Released:
    """What became of a plan: its entry in the ledger (None: only judged), the verdict, and what it was judged with."""

    name: str
    number: int | None
    verdict: JointVerdict
    together_with: tuple[str, ...]

    def summary(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "release": self.name,
            "entry": self.number,
            "outcome": self.verdict.outcome.value,
            "sentence": self.verdict.sentence(),
            "judged with": list(self.together_with),
        }


def release_plan(
    path: Path, *, ledger: str | None = None, name: str | None = None, progress: Progress = silent
) -> Released:
    """Run a plan, judge what it would publish with everything in its ledger, record it, write it.

    `ledger` and `name` take the place of what `[ledger]` says.
    """
    prepared = _prepare(Path(path), ledger, name, progress)
    with open_book(prepared.section, prepared.data, prepared.records, prepared.folder) as book, book.turn() as turn:
        progress(0.8, "judging with earlier releases")
        judged = book.judge(prepared.recipe, prepared.section.name)
        known = next((one for one in book.recorded() if one.name == prepared.section.name), None)
        if known is None:
            section = prepared.section
            require(judged, accept_uncertified=section.accept_uncertified, accept_repeat=section.accept_repeat)
        number = book.record(
            turn,
            prepared.recipe,
            prepared.section.name,
            sentence=judged.verdict.sentence(),
            accepted=prepared.section.accept_uncertified or "",
        )
        prepared.write()
    return Released(prepared.section.name, number, judged.verdict, judged.together_with)


def judge_release(
    path: Path, *, ledger: str | None = None, name: str | None = None, progress: Progress = silent
) -> tuple[Released, ProtectedFile | tuple[ProtectedTable, ...]]:
    """Run a plan and judge it with everything in its ledger; nothing is recorded or written."""
    prepared = _prepare(Path(path), ledger, name, progress)
    with open_book(prepared.section, prepared.data, prepared.records, prepared.folder) as book:
        judged = book.judge(prepared.recipe, prepared.section.name)
    return Released(prepared.section.name, None, judged.verdict, judged.together_with), prepared.made


@dataclass(frozen=True, eq=False)
class _Prepared:
    """A plan that was run: what it would publish, and how that is written."""

    section: LedgerSection
    data: DataSection
    records: Microdata
    folder: Path
    recipe: Recipe
    made: ProtectedFile | tuple[ProtectedTable, ...]
    write: Callable[[], object]


def _prepare(path: Path, ledger: str | None, name: str | None, progress: Progress) -> _Prepared:
    table = read_toml(path)
    if ledger is None and "ledger" not in table:
        raise PlanError(f"{path.name}: release needs a ledger; name it with --ledger, or in a section [ledger].")
    if "table" in table:
        plan = read_table_plan(path)
        return _tables(plan, _section(plan.ledger, ledger, name, path), progress)
    file = read_file_plan(path)
    return _file(file.plan, _section(file.plan.ledger, ledger, name, path), file.notes, progress)


def _section(own: LedgerSection | None, ledger: str | None, name: str | None, path: Path) -> LedgerSection:
    """What `[ledger]` says, with what the command says in its place; a release is called like its plan unless named."""
    if own is None:
        return LedgerSection(path=str(Path(ledger or "").absolute()), name=name or path.stem)
    place = own.path if ledger is None else ledger if is_url(ledger) else str(Path(ledger).absolute())
    return replace(own, path=place, name=name or own.name)


def _tables(plan: TablePlan, section: LedgerSection, progress: Progress) -> _Prepared:
    check_outputs(plan)
    _check_together(plan)
    request = request_from_plan(plan)
    records = request.tables[0].records
    if records is None:
        raise PlanError(
            "[table]: a finished table has no records to be judged with; import it with `reticent ledger import`."
        )
    results = run_request(request, progress=progress)
    for result in results:
        result.require(accept_exposed=plan.protect.accept_exposed)
    contents = result_contents(plan.by_response(), results)
    bounded = any(section.a_priori or section.bounds != BoundsOptions() for section in plan.tables)
    recipe = TableRecipe.of(
        results, request.method, relations=request.relations, insiders=plan.protect.insiders, bounded=bounded
    )
    return _Prepared(section, plan.data, records, plan.folder, recipe, results, lambda: write_contents(contents))


def _check_together(plan: TablePlan) -> None:
    """Refuse what a ledger would not know of: tables that were published without it, and what groups of respondents know."""
    if plan.attack.releases or any(section.released for section in plan.tables):
        raise PlanError(
            "[table]: released and [attack] releases name tables that the ledger does not know of, so that later releases "
            "would not be judged with them. Release them with this ledger, or leave them out."
        )
    if plan.protect.coalition > 1:
        raise PlanError(
            "[protect]: with a ledger single respondents are reckoned with, no coalition; leave coalition out."
        )


def _file(plan: Plan, section: LedgerSection, notes: tuple[str, ...], progress: Progress) -> _Prepared:
    loaded = load_source(plan.data, plan.folder)
    run = protect_plan(plan, loaded, notes=notes, progress=progress)
    run.verdict.require()
    recipe = FileRecipe.of(run, plan.steps)
    return _Prepared(section, plan.data, loaded.data, plan.folder, recipe, run, lambda: write_outputs(plan, run))


@contextmanager
def open_book(section: LedgerSection, data: DataSection, records: Microdata, folder: Path) -> Iterator[Book]:
    """Open the ledger of some records; it is verified, and made where there is none."""
    secret = _secret(data, folder)
    place = section.path if is_url(section.path) else folder / section.path
    anchor = None if section.anchor is None else folder / section.anchor
    ledger = open_ledger(
        place, secret=secret.child("ledger"), dataset=section.dataset, anchor=anchor, create=section.create
    )
    try:
        blobs = blobs_of(place, anchor)
        answers = _answers(section, ledger, Beside(blobs), secret, folder)
        yield Book(ledger, blobs, records, version=section.version, answers=answers)
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


def _secret(data: DataSection, folder: Path) -> Secret:
    if data.secret is None:
        raise PlanError(
            "[data]: a ledger needs a secret, which signs its entries; make one with `reticent new-secret`."
        )
    given = folder / data.secret if isinstance(data.secret, str) else data.secret
    return release_secret(given, test=data.test_secret, owner="[data]")
