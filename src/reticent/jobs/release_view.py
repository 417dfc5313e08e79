# SPDX-License-Identifier: Apache-2.0
"""A release as pages show it before it leaves: the verdict, what proves it, what the public reports will say. Plain data."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from reticent.base.errors import PlanError
from reticent.base.progress import Progress, silent
from reticent.data.plan import read_toml
from reticent.data.table_plan import read_table_plan
from reticent.history.released import Released
from reticent.jobs.protect_file import read_file_plan
from reticent.jobs.protect_file import written_names as file_names
from reticent.jobs.release import judge_release
from reticent.jobs.table_files import planned_names
from reticent.microdata.result import ProtectedFile
from reticent.report.file_report import PUBLIC_TITLE, public_sections
from reticent.report.page import Section
from reticent.report.table_report import public_table_sections, public_table_title
from reticent.tables.attack.verify import verify
from reticent.tables.result import ProtectedTable

__all__ = ["judged_view", "names_to_write", "read_toml", "released_view"]


def judged_view(path: Path, *, progress: Progress = silent) -> dict[str, Any]:
    """Judge a plan with its ledger; the verdict, its proofs and the public reports. Nothing is recorded or written."""
    released, made = judge_release(path, prove=True, progress=progress)
    progress(0.9, "proving the verdict again")
    facts = released_view(released)
    if isinstance(made, ProtectedFile):
        return {
            **facts,
            "proofs": _attacks(made),
            "reports": [_report(PUBLIC_TITLE, public_sections(made.result.file))],
        }
    shown = [table for result in made for table in result.published]
    reports = [
        _report(f"{table.response}: {public_table_title(table)}", public_table_sections(table)) for table in shown
    ]
    return {**facts, "proofs": [line for one in made for line in _proofs(one, len(made) > 1)], "reports": reports}


def released_view(released: Released) -> dict[str, Any]:
    """What became of a plan; an exposure says from which releases it follows."""
    verdict = released.verdict
    return {
        **released.summary(),
        "exposures": [
            {"sentence": one.sentence(), "releases": list(dict.fromkeys((*one.releases, one.hidden_by)))}
            for one in verdict.exposures
        ],
        "uncertified": list(verdict.uncertified),
        "proved": released.proved,
    }


def names_to_write(path: Path) -> list[tuple[str, str]]:
    """What a release of a plan writes: whether a file may leave, and its name."""
    if "table" in read_toml(path):
        return planned_names(read_table_plan(path))
    return file_names(read_file_plan(path))


def _report(title: str, sections: Sequence[Section]) -> dict[str, Any]:
    """A public report as data; hints that only a pointer finds are left out."""
    return {"title": title, "sections": [asdict(one) for one in sections]}


def _proofs(result: ProtectedTable, several: bool) -> list[tuple[str, str]]:
    """What is proved of a table by itself, and for whom it holds."""
    of = f"{result.response}, " if several else ""
    lines = [(f"{of}for whom it holds", str(result.guarantee))]
    try:
        found = verify(json.loads(result.certificate().to_text()))
    except PlanError:  # a method that changes values has no hidden cells to prove
        return lines
    n, proved = len(found.proved) + len(found.unproved), len(found.proved)
    if found.faults:
        return [*lines, (f"{of}proof of the pattern", f"the proof has faults: {found.faults[0]}")]
    return [
        *lines,
        (
            f"{of}proof of the pattern",
            f"for {proved:,} of {n:,} unsafe cells and sums of cells two possible tables were found, far enough apart",
        ),
    ]


def _attacks(run: ProtectedFile) -> list[tuple[str, str]]:
    """What the plan asks a file to withstand."""
    return [(one.attack, f"{one.state}: {one.text}") for one in run.verdict.attacks if one.asked]
