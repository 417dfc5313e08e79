# SPDX-License-Identifier: Apache-2.0
"""What runs in workers: read, describe, protect, write. Arguments and results are plain data; each takes `progress`."""

import functools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reticent.base.errors import PlanError
from reticent.base.plain import as_plain
from reticent.base.progress import Progress, silent
from reticent.jobs.draft_steps import draft_steps
from reticent.jobs.look import FileLook, look_at
from reticent.jobs.options import METHODS, DataSection, build
from reticent.jobs.project import make_project
from reticent.jobs.protect_file import judge_plan, preview_plan, read_file_plan, write_outputs, written_names
from reticent.jobs.release_view import read_toml

N_SAMPLES, N_ROWS = 8, 20
LOWEST = -4.0
"""Risks of 10^-4 and less are in the first bar."""
N_BARS = 24

Stamp = tuple[tuple[str, int, int], ...]


def prepare(data: str, *, progress: Progress) -> str:
    """Describe a data file and write its schema, secret and plan; gives the plan."""
    return str(make_project(Path(data), progress=progress))


def look(source: str, folder: str, stamp: Stamp, values: bool, *, progress: Progress) -> dict[str, Any]:
    """How the columns look; with `values`, frequent ones and the first records come along."""
    found = _looked(source, folder, stamp, values, progress)
    return {
        "records": found.profiles[0].n_records if found.profiles else 0,
        "notes": list(found.notes),
        "variables": {
            one.name: {
                "role": str(one.role), "kind": str(one.kind), "level": one.level, "distinct": looks.n_distinct,
                "empty": looks.n_empty + looks.n_missing_codes, "bars": list(found.bars[one.name]),
                "type": "number" if looks.is_number else "text", "samples": list(found.samples.get(one.name, ())),
            }
            for one, looks in zip(found.schema.variables, found.profiles, strict=True)
        },
        "names": list(found.schema.names),
        "rows": [list(row) for row in found.rows],
    }  # fmt: skip


def _looked(source: str, folder: str, stamp: Stamp, values: bool, progress: Progress) -> FileLook:
    section = build(DataSection, json.loads(source), owner="[data]")
    counts = {"n_samples": N_SAMPLES, "n_rows": N_ROWS} if values else {}
    return look_at(section, Path(folder), **counts, progress=progress)


@functools.lru_cache(maxsize=1)
def _run(plan: str, version: str, stamp: Stamp, report: "Reporter") -> Any:
    return judge_plan(read_file_plan(Path(plan)), progress=report)


class Reporter:
    """Progress that is no part of the question: every one equals every other, so that a run is found again."""

    def __init__(self, progress: Progress = silent) -> None:
        self._progress = progress

    def __call__(self, share: float, what: str = "") -> None:
        self._progress(share, what)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reporter)

    def __hash__(self) -> int:
        return 0


def judge(plan: str, version: str, stamp: Stamp, *, progress: Progress) -> dict[str, Any]:
    """Protect and attack the file of a plan; nothing is written. The run is kept for `write`."""
    run = _run(plan, version, stamp, Reporter(progress))
    result = run.result
    facts = {name: value for name, value in result.summary().items() if name != "secret"}
    limits = [one.limit for one in run.verdict.attacks if one.attack == "recount" and one.limit is not None]
    return {
        **facts,
        "held": run.verdict.held,
        "lets_go": run.verdict.lets_go,
        "headline": run.verdict.headline,
        "score": run.loss.score,
        "detail_lost": run.loss.detail_lost,
        "records": {"before": run.before.n_records, "after": run.after.n_records},
        "codes": _codes(run),
        "repeat": [dict(step.repeat) for step in result.steps],
        "histograms": {
            "before": _histogram(run.risk_before), "after": _histogram(run.risk_after), "limit": limits[0] if limits else None,
            "above": [_above(risk, limits) for risk in (run.risk_before, run.risk_after)],
        },
        "linked by": list(run.attacks.linkage.variables) if run.attacks.linkage is not None else [],
    }  # fmt: skip


def preview(plan: str, version: str, stamp: Stamp, *, progress: Progress) -> list[dict[str, Any]]:
    """What each step changes, in counts; nothing is judged."""
    found = preview_plan(read_file_plan(Path(plan)), progress=progress)
    return [as_plain(one) for one in found]


def draft(plan: str, version: str, stamp: Stamp, *, progress: Progress) -> dict[str, Any]:
    """Steps for the file of a plan, each with its reason: the first draft that withstands what the plan asks for."""
    found = draft_steps(Path(plan), progress=progress)
    return {
        "steps": [(as_plain(step), reason) for step, reason in found.steps], "tried": found.tried, "drafts": found.drafts,
        "held": found.verdict.held, "blanks": found.blanks, "next": found.next,
        "open": [f"{one.attack} {one.state}: {one.text}." for one in found.verdict.blocking],
    }  # fmt: skip


def _codes(run: Any) -> list[dict[str, Any]]:
    """What became of each variable, in counts."""
    suppressed, changed = run.result.loss["suppressed values"], run.result.loss["changed values"]
    rows = []
    for name in run.before.schema.names:
        kept = name in run.after.schema
        rows.append({
            "name": name, "kept": kept, "before": _distinct(run.before, name), "after": _distinct(run.after, name) if kept else 0,
            "blanks": int(suppressed.get(name, 0)), "changed": int(changed.get(name, 0)),
        })  # fmt: skip
    return rows


def _distinct(data: Any, name: str) -> int:
    return len({text for text in data.texts(name) if text is not None})


def _histogram(risk: Any) -> list[int] | None:
    """Records by risk on a log scale from 10^-4 to 1."""
    if risk.individual is None:
        return None
    logs = np.log10(np.clip(risk.individual.risk, 10.0**LOWEST, 1.0))
    counts = np.histogram(logs, bins=N_BARS, range=(LOWEST, 0.0))[0]
    return [int(count) for count in counts]


def _above(risk: Any, limits: list[float]) -> int | None:
    """Records whose risk is above the limit, counted one by one."""
    return None if risk.individual is None or not limits else int(risk.individual.records_above(limits[0]))


def is_held(entries: Sequence[Mapping[str, Any]], repeat: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the active steps of a plan say where their searches ended, so that every run of it gives the same bytes."""
    active = [entry for entry in entries if entry.get("active", True) is not False]
    pairs = zip(active, repeat, strict=False)
    return all(entry.get(name) == value for entry, options in pairs for name, value in options.items())


def unheld(plan: str, version: str, stamp: Stamp, progress: Progress) -> list[dict[str, Any]]:
    """What the steps of a plan must say before what it makes may leave; a plan without a search is not run for it."""
    entries = read_toml(Path(plan)).get("step", [])
    if not any("steps" in METHODS[one.get("method")].__dataclass_fields__ for one in entries):
        return []
    repeat = [dict(step.repeat) for step in _run(plan, version, stamp, Reporter(progress)).result.steps]
    return [] if is_held(entries, repeat) else repeat


def write(plan: str, version: str, stamp: Stamp, *, progress: Progress) -> dict[str, Any]:
    """Write what a plan names, from the run that was judged (or one made again); a file that does not hold is refused.

    Nothing is written by a plan that does not say where its searches ended: what it must say comes back.
    """
    file = read_file_plan(Path(plan))
    if file.plan.ledger is not None:
        raise PlanError("the plan has a [ledger], so only a release writes: go on with the page Release.")
    repeat = unheld(plan, version, stamp, progress)
    if repeat:
        return {"repeat": repeat, "names": []}
    run = _run(plan, version, stamp, Reporter(progress))
    run.verdict.require()
    write_outputs(file.plan, run)
    return {"repeat": [], "names": [list(as_plain(pair)) for pair in written_names(file)]}
