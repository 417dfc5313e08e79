# SPDX-License-Identifier: Apache-2.0
"""The job that drafts steps for a file: drafts are tried, weakest first, until one withstands its attacks."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reticent.base.errors import DataError, InfeasibleError, NotProtectedError, ParameterError
from reticent.base.progress import Progress, silent
from reticent.data.plan import plan_from_table, read_toml
from reticent.data.verdict import FileVerdict
from reticent.io.read import Loaded, load_source
from reticent.jobs.protect_file import protect_plan
from reticent.microdata.draft import LADDER, Draft, blanks, drafts, merit, what_next
from reticent.microdata.mask import METHODS
from reticent.microdata.result import ProtectedFile


@dataclass(frozen=True)
class DraftedSteps:
    """Steps that nobody has taken yet, each with its reason, and what their attacks left of them."""

    steps: tuple[tuple[dict[str, Any], str], ...]
    tried: int
    verdict: FileVerdict
    blanks: float
    drafts: int = len(LADDER)

    @property
    def next(self) -> str:
        """What to do with steps that are not held, in words; empty where they are held."""
        return what_next(self.verdict)


def draft_steps(plan: Path, *, progress: Progress = silent) -> DraftedSteps:
    """Steps for the file that a plan names: the first draft that withstands what the plan asks for. Nothing is written."""
    table = dict(read_toml(plan))
    asked = plan_from_table({**table, "step": []}, METHODS, owner=plan.name, folder=plan.parent)
    loaded = load_source(asked.data, asked.folder)
    most = asked.risk.limit(weighted=loaded.data.weights() is not None)
    found = first_that_holds(table, loaded, most=most, folder=plan.parent, progress=progress)
    steps = tuple((dict(step.options), step.reason) for step in found.draft.steps)
    return DraftedSteps(steps, found.tried, found.run.verdict, found.blanks)


@dataclass(frozen=True)
class TriedDraft:
    """The draft that is taken: its place among those that were tried, and its run."""

    tried: int
    draft: Draft
    run: ProtectedFile

    @property
    def blanks(self) -> float:
        """The largest share of a variable's values that became blanks."""
        return blanks(self.run)


def first_that_holds(
    plan: Mapping[str, Any], loaded: Loaded, *, most: float, folder: Path, progress: Progress
) -> TriedDraft:
    """The first draft that withstands what a plan asks for without many blanks; else the best of all."""
    least_group = (
        2 if loaded.data.weights() is not None else math.ceil(1 / max(most, 1 / max(loaded.data.n_records, 1)))
    )
    best: TriedDraft | None = None
    for number, draft in enumerate(drafts(loaded.data, least_group=least_group), start=1):
        progress((number - 1) / len(LADDER), f"draft {number}")
        run = _tried(draft, plan, loaded, folder)
        if run is not None and (best is None or merit(run) > merit(best.run)):
            best = TriedDraft(number, draft, run)
        if best is not None and merit(best.run)[1]:
            break
    if best is None:
        name = plan["data"]["path"]
        raise DataError(f"{name}: no draft can be applied to these records; begin with reticent describe.")
    return best


def _tried(draft: Draft, plan: Mapping[str, Any], loaded: Loaded, folder: Path) -> ProtectedFile | None:
    """The draft applied and attacked; None where a step does not fit the records, or cannot be done with them."""
    table = {**plan, "step": [dict(step.options) for step in draft.steps]}
    try:
        return protect_plan(plan_from_table(table, METHODS, owner="plan", folder=folder), loaded)
    except (NotProtectedError, DataError, ParameterError, InfeasibleError):
        return None
