# SPDX-License-Identifier: Apache-2.0
"""Plans on disk: as `data.plan` reads them, with the ARGUS recodings that they name (`grc = "Age.grc"`) put in place."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from reticent.base.errors import DataError, PlanError
from reticent.data.method import Registry
from reticent.data.plan import Plan, plan_from_table, read_toml
from reticent.io.argus_grc import read_grc
from reticent.io.argus_text import Notes, find_file


@dataclass(frozen=True)
class PlanFile:
    """A plan as read, and what was repaired in the files it names."""

    plan: Plan
    name: str
    notes: tuple[str, ...] = ()


def load_plan(path: Path, registry: Registry) -> PlanFile:
    """Read a masking plan; a step's `grc` becomes its `rules`."""
    notes = Notes()
    table = dict(read_toml(path))
    if isinstance(table.get("step"), list):
        steps = enumerate(table["step"], start=1)
        table["step"] = [_with_rules(step, f"{path.name}: step {n}", path.parent, notes) for n, step in steps]
    plan = plan_from_table(table, registry, owner=path.name, folder=path.parent)
    return PlanFile(replace(plan, source=path), path.name, tuple(notes))


def _with_rules(step: Mapping[str, Any], where: str, folder: Path, notes: Notes) -> Mapping[str, Any]:
    if "grc" not in step or step.get("method") != "recode":
        return step
    if not isinstance(step["grc"], str):
        raise PlanError(f"{where}: grc must be the name of a file.")
    try:
        recoding = read_grc(find_file(folder, step["grc"], notes), notes)
    except DataError as err:
        raise DataError(f"{where}: {err}") from None
    if recoding.is_tree:
        raise PlanError(f"{where}: {recoding.owner} closes codes of a tree; that belongs to a table, not to a file.")
    return {**{key: value for key, value in step.items() if key != "grc"}, "rules": list(recoding.lines())}
