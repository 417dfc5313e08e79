# SPDX-License-Identifier: Apache-2.0
"""A project of the workbench: data with a schema, plans beside them, a secret; made from a data file, or opened from a plan."""

import contextlib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import tomli_w

from reticent.base.errors import DataError, PlanError, ReticentError
from reticent.base.progress import Progress, silent
from reticent.base.randomness import STREAM_VERSION
from reticent.data.parameters import to_plain
from reticent.data.plan import PLAN_VERSION, DataSection, read_toml
from reticent.io.atomic import write_text
from reticent.io.formats import FORMATS
from reticent.io.plan import load_plan
from reticent.io.schema import load_schema
from reticent.jobs.describe import describe_file, write_description
from reticent.jobs.starter import new_secret
from reticent.microdata.mask import METHODS

__all__ = ["EXAMPLES", "DataSection", "check_steps", "copy_example", "is_data", "kind_of_plan", "make_project"]

EXAMPLES = {
    "people": "a labour survey: 3,522 people in households, with weights",
    "firms": "900 firms: industry, size class, turnover",
}
KINDS = {
    "table": "table",
    "candidates": "explore",
    "policy": "queries",
    "step": "file",
    "risk": "file",
    "output": "file",
    "ledger": "queries",
}


def is_data(path: Path) -> bool:
    """Whether a file has an ending that the library reads, and is neither a plan nor a report."""
    return any(path.suffix.lower() in (*one.endings, *one.placed) for one in FORMATS.values())


def kind_of_plan(table: Mapping[str, Any], *, owner: str) -> str:
    """Which kind of plan the sections of a TOML file make: file, table, explore or queries."""
    for section, kind in KINDS.items():
        if section in table:
            return kind
    if "variable" in table:
        raise PlanError(f"{owner}: this is a schema file; open the data file or a plan.")
    if "data" in table:
        return "file"
    raise PlanError(f"{owner}: this is not a plan; the section [data] is missing.")


def make_project(data: Path, *, progress: Progress = silent) -> Path:
    """Describe a data file, and write a schema, a secret and a plan beside it; what is there already stays. Gives the plan."""
    stem = data.with_suffix("")
    plan, schema, secret = (
        data.with_name(f"{stem.name}.{ending}") for ending in ("plan.toml", "schema.toml", "secret.key")
    )
    if plan.exists():
        read_toml(plan)
        return plan
    progress(0.0, "reading and describing")
    if not schema.exists():
        layout = data.with_suffix(".rda")
        write_description(describe_file(data, schema=layout if layout.is_file() else None), schema)
    if not secret.exists():
        new_secret(secret)
    told = f"# Protect {_printable(data.name)}. Run:  reticent protect {_printable(plan.name)}\n"
    write_text(plan, told + tomli_w.dumps(_first_plan(data, schema, secret)))
    return plan


def _first_plan(data: Path, schema: Path, secret: Path) -> dict[str, Any]:
    """A plan without steps: what is read, how it is judged, what is written."""
    stem = data.with_suffix("").name
    written = {
        "path": "safe.csv", "schema": "safe.schema.toml", "public_report": "public.html", "report": "confidential.html",
        "summary": "confidential.json",
    }  # fmt: skip
    return {
        "version": PLAN_VERSION,
        "data": {"path": data.name, "schema": schema.name, "secret": secret.name, "streams": STREAM_VERSION},
        "risk": {"dimension": 3, "threshold": 1, "most": 0.05},
        "output": {name: f"{stem}.{ending}" for name, ending in written.items()},
    }


def _printable(name: str) -> str:
    """A name that stays within its line: file names may hold anything."""
    return "".join(sign if sign.isprintable() else "?" for sign in name)


def copy_example(name: str, folder: Path) -> Path:
    """Put an example with its schema into a folder; what is there already stays. Gives the data file."""
    if name not in EXAMPLES:
        raise DataError(f"there is no example {name!r}; choose one of {', '.join(EXAMPLES)}.")
    bundled = resources.files("reticent") / "demo_data"
    for ending in ("csv", "schema.toml"):
        target = folder / f"{name}.{ending}"
        with (
            contextlib.suppress(FileExistsError),
            target.open("xb") as file,
        ):  # never through a link that leads elsewhere
            file.write((bundled / target.name).read_bytes())
    return folder / f"{name}.csv"


def check_steps(path: Path) -> list[tuple[int, str]]:
    """What is wrong with a plan, by the number of the step (0: with the plan as a whole), without reading a record."""
    try:
        plan = load_plan(path, METHODS).plan
        if plan.data.schema is None:
            return []
        schema = load_schema(plan.find(plan.data.schema)).schema
    except ReticentError as err:
        return [(0, str(err))]
    active = [n for n, step in enumerate(read_toml(path).get("step", []), 1) if step.get("active", True)]
    waiting = {one.name for one in schema.variables if one.digits and one.hierarchy is None}
    for number, step in zip(active, plan.steps, strict=True):
        try:
            step.check(schema)
            schema = step.schema_after(schema)
        except ReticentError as err:
            return [] if waiting & _named_by(step) else [(number, str(err))]
    return []


def _named_by(step: Any) -> set[str]:
    """The texts among a step's options: the variables that it may be about (trees by digits wait for the data)."""
    found: set[str] = set()
    for value in to_plain(step).values():
        found |= (
            {value}
            if isinstance(value, str)
            else {v for v in value if isinstance(v, str)}
            if isinstance(value, list)
            else set()
        )
    return found
