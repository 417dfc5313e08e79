# SPDX-License-Identifier: Apache-2.0
"""The job that drafts a plan: describe the data, try drafts until one withstands its attacks, write schema, secret and plan."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from reticent.base.errors import DataError, ParameterError
from reticent.base.progress import Progress, silent
from reticent.data.plan import PLAN_VERSION
from reticent.data.verdict import DEFAULT_MOST, FileVerdict
from reticent.io.atomic import write_text
from reticent.io.places import check_places
from reticent.io.read import load_microdata
from reticent.io.table_formats import table_format
from reticent.jobs.describe import describe_file, write_description
from reticent.jobs.draft_steps import first_that_holds
from reticent.jobs.starter import new_secret
from reticent.microdata.draft import (
    LADDER,
    query_filters,
    query_responses,
    table_dimensions,
    table_response,
    what_next,
)
from reticent.microdata.draft_text import database_text, file_plan_text, table_plan_text

MOST_WITHOUT_WEIGHTS = 0.2
"""The largest risk of a draft where no weights say how many people a record stands for: five records alike."""


@dataclass(frozen=True)
class DraftedPlan:
    """What was written, and for a file what its attacks left of the draft."""

    plan: Path
    schema: Path
    secret: Path | None
    command: str
    tried: int = 0
    verdict: FileVerdict | None = None
    blanks: float = 0.0
    drafts: int = len(LADDER)

    @property
    def next(self) -> str:
        """The command that runs the plan; for a draft that is not held what to do before it."""
        first = "" if self.verdict is None else what_next(self.verdict)
        return f"{first} Then: {self.command}" if first else self.command

    def summary(self) -> dict[str, Any]:
        """The files and the verdict as plain data."""
        judged = {} if self.verdict is None else {"verdict": self.verdict.summary(), "tried": self.tried}
        return {"plan": self.plan, "schema": self.schema, "secret": self.secret, "next": self.next, **judged}


Kind = Literal["file", "table", "database"]


def draft_plan(
    kind: Kind,
    data: Path,
    *,
    schema: Path | None = None,
    output: Path | None = None,
    force: bool = False,
    ending: str = "csv",
    progress: Progress = silent,
) -> DraftedPlan:
    """Write a plan for a file, a table or a database that answers queries; `ending` is the format of a table."""
    if kind == "table":
        return draft_table_plan(data, schema=schema, output=output, force=force, ending=ending)
    if kind == "database":
        return draft_database(data, schema=schema, output=output, force=force)
    return draft_file_plan(data, schema=schema, output=output, force=force, progress=progress)


def draft_file_plan(
    data: Path,
    *,
    schema: Path | None = None,
    output: Path | None = None,
    force: bool = False,
    progress: Progress = silent,
) -> DraftedPlan:
    """Write a plan that protects a file: the first draft that withstands its attacks, with a reason at each step."""
    target = _target(data, output, force=force)
    schema = _schema(data, schema)
    secret = target.with_name(f"{data.stem}.secret.key")
    loaded = load_microdata(data, schema)
    if not secret.exists():
        new_secret(secret)  # drafts are tried with it, so that the run of the plan is the one that was attacked
    most = DEFAULT_MOST if loaded.data.weights() is not None else MOST_WITHOUT_WEIGHTS
    plan = {
        "version": PLAN_VERSION,
        "data": {"path": data.name, "secret": secret.name},
        "risk": {"most": most},
        "output": {"path": "safe.csv", "report": "report.html"},
    }
    found = first_that_holds(plan, loaded, most=most, folder=secret.parent, progress=progress)
    advice = what_next(found.run.verdict)
    write_text(target, file_plan_text(found.draft, data, _beside(schema, target), secret, most=most, advice=advice))
    command = f"reticent protect {target}"
    return DraftedPlan(target, schema, secret, command, found.tried, found.run.verdict, found.blanks)


def draft_table_plan(
    data: Path,
    *,
    schema: Path | None = None,
    output: Path | None = None,
    force: bool = False,
    ending: str = "csv",
) -> DraftedPlan:
    """Write a plan for a table: two variables with few codes, and the first number that nobody should learn, if there is one."""
    ending = ending.removeprefix(".")
    table_format(f"{data.stem}.table.{ending}")
    target = _target(data, output, force=force, kind="table")
    schema = _schema(data, schema)
    loaded = load_microdata(data, schema)
    by = table_dimensions(loaded.data)
    if not by:
        raise DataError(
            f"{data.name}: no variable has few enough codes to tabulate by; declare kinds in {schema.name}, then plan again."
        )
    response = table_response(loaded.data.schema)
    write_text(target, table_plan_text(by, response, data, _beside(schema, target), ending=ending))
    return DraftedPlan(target, schema, None, f"reticent table {target}")


def draft_database(
    data: Path, *, schema: Path | None = None, output: Path | None = None, force: bool = False
) -> DraftedPlan:
    """Write a database file that answers queries about a file, with the first query to try."""
    target = _target(data, output, force=force, kind="database")
    schema = _schema(data, schema)
    secret = target.with_name(f"{data.stem}.secret.key")
    loaded = load_microdata(data, schema)
    filters, cutpoints = query_filters(loaded.data)
    if not filters:
        raise DataError(
            f"{data.name}: no key has few enough codes to select by; declare keys in {schema.name}, then plan again."
        )
    if not secret.exists():
        new_secret(secret)
    text = database_text(filters, cutpoints, query_responses(loaded.data), data, (_beside(schema, target), secret))
    write_text(target, text)
    variables = (loaded.data.schema[name] for name in filters)  # groups need a list of codes that everybody knows
    coded = next((one.name for one in variables if one.codes or one.hierarchy is not None), None)
    by = "" if coded is None else f" GROUP BY {coded if coded.isidentifier() else _quoted(coded)}"
    return DraftedPlan(target, schema, secret, f"reticent ask {target} 'SELECT COUNT(*) FROM data{by}' --user me")


def _beside(file: Path, plan: Path) -> Path:
    """A file as a plan names it: seen from the plan's own folder."""
    return Path(os.path.relpath(file.resolve(), plan.parent.resolve()))


def _quoted(name: str) -> str:
    """A name as queries write it."""
    return '"' + name.replace('"', '""') + '"'


def _target(data: Path, output: Path | None, *, force: bool, kind: str = "plan") -> Path:
    target = output or data.with_name(f"{data.stem}.{kind}.toml")
    if target.parent.resolve() != data.parent.resolve():
        raise ParameterError(f"{target.name}: a plan names files beside it; give a place in the folder of {data.name}.")
    if target.exists() and not force:
        raise ParameterError(f"{target.name}: this plan exists; give another with -o, or say --force.")
    check_places([target], [data])
    return target


def _schema(data: Path, schema: Path | None) -> Path:
    """The schema to use: the given one, the one beside the data, or a description written there now."""
    place = schema or data.with_name(f"{data.stem}.schema.toml")
    if schema is None and not place.exists():
        write_description(describe_file(data), place)
    return place
