# SPDX-License-Identifier: Apache-2.0
"""The job that imports: what a plan published before its ledger existed, judged as known and recorded."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from reticent.base.errors import DataError, PlanError
from reticent.base.progress import Progress, silent
from reticent.data.microdata import Microdata
from reticent.data.plan import Plan, read_toml
from reticent.data.published import release_file
from reticent.data.table_plan import TablePlan, read_table_plan
from reticent.history.file_recipe import FileRecipe
from reticent.history.importing import ImportedRelease, judge_import
from reticent.history.made import Made, made_tables
from reticent.history.published_before import as_published
from reticent.history.table_recipe import TableRecipe
from reticent.io.published_before import read_published_before
from reticent.io.read import load_microdata, load_source
from reticent.jobs.protect_file import read_file_plan
from reticent.jobs.release_book import Where, open_book, where_of
from reticent.jobs.table_files import written_tables
from reticent.jobs.table_request import request_from_plan
from reticent.microdata.mask.top_code import LimitCode
from reticent.tables.methods import PrimaryOnly
from reticent.tables.request import hides
from reticent.tables.run import run_request


def import_plan(
    path: Path,
    published: Sequence[Path] = (),
    *,
    ledger: str | None = None,
    name: str | None = None,
    check: bool = False,
    progress: Progress = silent,
) -> ImportedRelease:
    """Record what was published of the data of a plan before; nothing is protected or written.

    The plan says how it was made. `published` are the files, in the order in which the plan would write them; without them
    those are read that `[output]` names. With `check` nothing is recorded.
    """
    path = Path(path)
    table = read_toml(path)
    if table and ledger is None and "ledger" not in table:  # an empty file has a sentence of its own
        raise PlanError(f"{path.name}: import needs a ledger; name it with --ledger, or in a section [ledger].")
    progress(0.0, "reading")
    if "table" in table:
        plan = read_table_plan(path)
        where, made = where_of(plan, path, ledger, name), _tables(plan, published, progress)
    else:
        file = read_file_plan(path).plan
        where, made = where_of(file, path, ledger, name), _file(file, published)
    progress(0.6, "judging with earlier releases")
    return _record(where, made, check=check)


def _record(where: Where, made: Made, *, check: bool) -> ImportedRelease:
    name = where.section.name
    with open_book(where, made.records) as book, book.turn() as turn:
        found = judge_import(book, made.recipe, name)
        if check:
            return ImportedRelease(name, None, found)
        number = book.record(
            turn,
            made.recipe,
            name,
            sentence=found.sentence(),
            imported=True,
            amended=[one.to_plain() for one in found.amendments],
            conflicts=[one.plain() for one in found.conflicts],
        )
    return ImportedRelease(name, number, found)


def _tables(plan: TablePlan, published: Sequence[Path], progress: Progress) -> Made:
    """Tables that a plan describes, as their files show them."""
    request = request_from_plan(plan)
    keeps = hides(request.method)
    # nothing is protected again: only what the rules say of the cells is asked for
    asked = replace(request, method=PrimaryOnly(), hide_empty=request.hide_empty or not keeps)
    results = run_request(asked, progress=progress)
    made = made_tables(request, results)
    recipe = made.recipe
    assert isinstance(recipe, TableRecipe)
    places = [plan.find(name) for name in written_tables(plan, results)] if not published else list(published)
    if len(places) != len(recipe.tables):
        raise PlanError(
            f"import: the plan describes {len(recipe.tables)} tables, and {len(places)} files are given; give one for each, in "
            "the order in which the plan writes them, or name them in [output] path."
        )
    ruled = any(section.rules for section in plan.tables)
    files = [
        (place.name, read_published_before(place, shown.published.dimensions, shown.published.response))
        for place, shown in zip(places, recipe.tables, strict=True)
    ]
    return replace(made, recipe=as_published(recipe, files, request, results, ruled=ruled))


def _file(plan: Plan, published: Sequence[Path]) -> Made:
    """A file that was masked by the steps of a plan, as it was published."""
    place = published[0] if published else None if plan.output.path is None else plan.find(plan.output.path)
    if place is None or len(published) > 1:
        raise PlanError("import: give the one file that was published, or name it in [output] path.")
    recorded = _recorded(plan)
    for number, step in enumerate(plan.steps, start=1):
        if isinstance(step, LimitCode) and step.value is None and not recorded:
            raise PlanError(
                f"import: step {number} ({step.name}) chose its limit from the data; give the limit as value, or name the "
                "summary of that run in [output] summary."
            )
    data = load_source(plan.data, plan.folder).data
    schema = _published_schema(plan, data, place)
    masked = release_file(load_microdata(place, schema).data)
    return Made(data, FileRecipe(masked, tuple(plan.steps), recorded, plan.output.keep_order))


def _published_schema(plan: Plan, data: Microdata, place: Path) -> Any:
    """The schema of the published file: the one that was written with it, or that of the data as far as the file goes."""
    if plan.output.schema is not None and plan.find(plan.output.schema).exists():
        return plan.find(plan.output.schema)
    shown = load_microdata(place).data.schema.names
    unknown = [name for name in shown if name not in data.schema]
    if unknown:
        raise DataError(
            f"{place.name}: the data have no variable {unknown[0]!r}; name the schema of the published file in [output] schema.",
            variables=(unknown[0],),
        )
    return type(data.schema)(tuple(data.schema[name] for name in shown))


def _recorded(plan: Plan) -> tuple[dict[str, Any], ...]:
    """What the run recorded of each step, where its summary is still there: limits that the steps chose themselves."""
    if plan.output.summary is None or not plan.find(plan.output.summary).exists():
        return ()
    try:
        steps = json.loads(plan.find(plan.output.summary).read_text(encoding="utf-8"))["steps"]
        found = tuple(dict(step["facts"]) for step in steps)
        named = [step["method"] for step in steps]
    except (ValueError, KeyError, TypeError, OSError, RecursionError) as err:
        raise DataError(f"{plan.output.summary}: it is not a summary of a run of this program.") from err
    if named != [step.name for step in plan.steps]:
        raise DataError(f"{plan.output.summary}: it is the summary of other steps than those of the plan.")
    return found
