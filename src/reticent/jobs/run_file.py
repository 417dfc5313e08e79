# SPDX-License-Identifier: Apache-2.0
"""The job that runs the plan of a file: what it asks for is written; with a ledger it is judged, and `release` writes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reticent.base.progress import Progress, silent
from reticent.history.released import Released
from reticent.jobs.protect_file import read_file_plan, run_here, written_names
from reticent.jobs.protect_large import LargeResult
from reticent.jobs.release import judge_release
from reticent.microdata.result import FileResult, ProtectedFile

__all__ = ["FileRun", "run_file"]


@dataclass(frozen=True, eq=False)
class FileRun:
    """What a plan made of its file; with a ledger the joint verdict, and nothing written."""

    result: FileResult | LargeResult
    written: tuple[tuple[str, str], ...] = ()
    """Whether a file may leave, and its name as the plan has it."""
    released: Released | None = None

    def summary(self) -> dict[str, Any]:
        """Everything as plain data."""
        return self.result.summary() if self.released is None else self.released.summary()


def run_file(path: Path, *, recodings: Path | None = None, progress: Progress = silent) -> FileRun:
    """Protect the file of a plan, attack it, write what the plan asks for."""
    planned = read_file_plan(path, recodings=recodings)
    if planned.plan.ledger is None:
        return FileRun(run_here(planned, progress=progress), tuple(written_names(planned)))
    released, run = judge_release(path, progress=progress)
    assert isinstance(run, ProtectedFile)
    return FileRun(run.result, released=released)
