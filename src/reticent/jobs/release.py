# SPDX-License-Identifier: Apache-2.0
"""The job that releases: judge a file or tables with everything released before, record them, then write them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from reticent.base.errors import PlanError
from reticent.base.progress import Progress, silent
from reticent.data.plan import LedgerSection, Plan, read_toml
from reticent.data.table_plan import TablePlan, read_table_plan
from reticent.history.book import Book, Judged, refusal, require
from reticent.history.made import NEEDS_MEMORY, Made, made_file, made_tables
from reticent.history.released import Released, offer_instead, remembered
from reticent.io.read import load_source
from reticent.io.write import write_contents
from reticent.jobs.protect_file import protect_plan, read_file_plan, write_outputs
from reticent.jobs.release_book import Where, open_book, where_of
from reticent.jobs.table_files import check_outputs, result_contents
from reticent.jobs.table_request import request_from_plan
from reticent.ledger.ledger import Turn
from reticent.microdata.result import ProtectedFile
from reticent.tables.result import ProtectedTable
from reticent.tables.run import run_request

__all__ = [
    "Prepared",
    "Released",
    "judge_made",
    "judge_plan",
    "judge_release",
    "prepare_release",
    "release_made",
    "release_plan",
]

NO_MEMORY = (
    "[ledger]: memory protects tables; a file is judged with everything before as its steps make it. Leave memory out."
)


Writer = Callable[[Made], Callable[[], object]]
"""Makes everything that is to be written of what was made, and gives what writes it."""


def release_plan(
    path: Path, *, ledger: str | None = None, name: str | None = None, progress: Progress = silent
) -> Released:
    """Run a plan, judge what it would publish with everything in its ledger, record it, write it.

    `ledger` and `name` take the place of what `[ledger]` says.
    """
    prepared = prepare_release(Path(path), ledger, name, progress)
    progress(0.8, "judging with earlier releases")
    return release_made(prepared.where, prepared.made, prepared.writer)[0]


def judge_plan(
    path: Path, *, ledger: str | None = None, name: str | None = None, progress: Progress = silent
) -> Released:
    """The same up to the verdict; nothing is recorded or written."""
    return judge_release(path, ledger=ledger, name=name, progress=progress)[0]


def judge_release(
    path: Path,
    *,
    ledger: str | None = None,
    name: str | None = None,
    prove: bool = False,
    progress: Progress = silent,
) -> tuple[Released, ProtectedFile | tuple[ProtectedTable, ...]]:
    """Run a plan and judge it with everything in its ledger; nothing is recorded or written.

    With `prove` a safe verdict is checked again, in whole numbers, by code that shares nothing with the search.
    """
    prepared = prepare_release(Path(path), ledger, name, progress)
    found, made = judge_made(prepared.where, prepared.made, prove=prove)
    return found, made.results if prepared.file is None else prepared.file


def release_made(where: Where, made: Made, writer: Writer = lambda made: lambda: None) -> tuple[Released, Made]:
    """Judge what was made with everything in the ledger, record it, and only then write it.

    With `memory` tables are protected once more where they are not safe with the rest; what was made then is given back.
    """
    section = where.section
    if section.memory and made.request is None:
        raise PlanError(NO_MEMORY)
    with open_book(where, made.records) as book:
        with book.turn() as turn:
            found, judged, made = remembered(book, made, section)
            if judged.verdict.safe or any(one.name == section.name for one in book.recorded()):
                number = _record(book, turn, made, judged, section, writer(made))
                return replace(found, number=number), made
        raise refusal(judged.verdict, offer_instead(book, made, section.name).sentence())


def _record(
    book: Book, turn: Turn, made: Made, judged: Judged, section: LedgerSection, write: Callable[[], object]
) -> int:
    """Record what may leave, then write it; the number of its entry."""
    if not any(one.name == section.name for one in book.recorded()):
        require(judged, accept_uncertified=section.accept_uncertified, accept_repeat=section.accept_repeat)
    number = book.record(
        turn,
        made.recipe,
        section.name,
        sentence=judged.verdict.sentence(),
        accepted=section.accept_uncertified or "",
        **({"accepted risk": made.risk} if made.risk else {}),
        **({"amended": [one.to_plain() for one in judged.inside]} if judged.inside else {}),
    )
    write()
    return number


def judge_made(where: Where, made: Made, *, prove: bool = False) -> tuple[Released, Made]:
    """The verdict on what was made, and what could be released instead; nothing is recorded.

    With `prove` a safe verdict is checked again.
    """
    with open_book(where, made.records) as book:
        found, judged, made = remembered(book, made, where.section, prove=prove)
        instead = None if judged.verdict.safe else offer_instead(book, made, where.section.name)
    return replace(found, instead=instead), made


@dataclass(frozen=True, eq=False)
class Prepared:
    """A plan that was run: what it would publish, and how that is written."""

    where: Where
    made: Made
    writer: Writer
    file: ProtectedFile | None = None


def prepare_release(path: Path, ledger: str | None, name: str | None, progress: Progress) -> Prepared:
    """Run a plan up to what it would publish, and find the ledger that it belongs to."""
    table = read_toml(path)
    if table and ledger is None and "ledger" not in table:  # an empty file has a sentence of its own
        raise PlanError(f"{path.name}: release needs a ledger; name it with --ledger, or in a section [ledger].")
    if "table" in table:
        plan = read_table_plan(path)
        return _tables(plan, where_of(plan, path, ledger, name), progress)
    file = read_file_plan(path)
    return _file(file.plan, where_of(file.plan, path, ledger, name), file.notes, progress)


def _tables(plan: TablePlan, where: Where, progress: Progress) -> Prepared:
    check_outputs(plan)
    if plan.data.engine is not None:
        raise PlanError(NEEDS_MEMORY)
    request = request_from_plan(plan)
    results = run_request(request, progress=progress)
    made = made_tables(request, results, accept_exposed=plan.protect.accept_exposed)
    for result in results:
        result.require(accept_exposed=plan.protect.accept_exposed)

    def writer(made: Made) -> Callable[[], object]:
        contents = result_contents(plan.by_response(), made.results)
        return lambda: write_contents(contents)

    return Prepared(where, made, writer)


def _file(plan: Plan, where: Where, notes: tuple[str, ...], progress: Progress) -> Prepared:
    if where.section.memory:
        raise PlanError(NO_MEMORY)
    run = protect_plan(plan, load_source(plan.data, plan.folder), notes=notes, progress=progress)
    run.verdict.require()
    return Prepared(where, made_file(run), lambda _: lambda: write_outputs(plan, run), run)
