# SPDX-License-Identifier: Apache-2.0
"""A project of the workbench: data with a schema, plans beside them, a secret; made from a data file, or opened from a plan."""

import shutil
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from reticent.base.errors import DataError, PlanError, ReticentError
from reticent.base.progress import Progress, silent
from reticent.base.randomness import STREAM_VERSION
from reticent.data.parameters import to_plain
from reticent.data.plan import DataSection, read_toml
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

PLAN = """\
# Protect @DATA@. Run:  reticent protect @PLAN@
version = 1

[data]
path = "@DATA@"
schema = "@SCHEMA@"
secret = "@SECRET@"
streams = @STREAMS@

[risk]
dimension = 3
threshold = 1
most = 0.05

[output]
path = "@STEM@.safe.csv"
schema = "@STEM@.safe.schema.toml"
public_report = "@STEM@.public.html"
report = "@STEM@.confidential.html"
summary = "@STEM@.confidential.json"
"""


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
    raise PlanError(f"{owner}: this is no plan; the section [data] is missing.")


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
    facts = {"DATA": data.name, "PLAN": plan.name, "SCHEMA": schema.name, "SECRET": secret.name, "STEM": stem.name,
             "STREAMS": str(STREAM_VERSION)}  # fmt: skip
    text = PLAN
    for name, value in facts.items():
        text = text.replace(f"@{name}@", value.replace("\\", "\\\\").replace('"', '\\"'))
    write_text(plan, text)
    return plan


def copy_example(name: str, folder: Path) -> Path:
    """Put an example with its schema into a folder; what is there already stays. Gives the data file."""
    if name not in EXAMPLES:
        raise DataError(f"there is no example {name!r}; choose one of {', '.join(EXAMPLES)}.")
    bundled = resources.files("reticent") / "demo_data"
    for ending in ("csv", "schema.toml"):
        target = folder / f"{name}.{ending}"
        if not target.exists():
            with resources.as_file(bundled / target.name) as source:
                shutil.copyfile(source, target)
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
