# SPDX-License-Identifier: Apache-2.0
"""What a batch run knows so far: open files, tables and what was said about them, the log, and what was written."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reticent.base.errors import PlanError
from reticent.base.randomness import Secret
from reticent.data.microdata import Microdata
from reticent.data.table import Table
from reticent.io.argus_batch import Command
from reticent.io.argus_text import Notes, find_file
from reticent.io.atomic import write_text
from reticent.jobs.argus.release import judged_jobs
from reticent.jobs.argus.tables import TableJob
from reticent.tables.result import ProtectedTable


@dataclass(frozen=True)
class BatchResult:
    """What a batch run did: its log, the files it wrote, and the protected tables by number."""

    log: tuple[str, ...]
    files: tuple[Path, ...]
    tables: dict[int, ProtectedTable]

    def __repr__(self) -> str:
        return f"<BatchResult: {len(self.tables)} tables protected, {len(self.files)} files written>"

    def summary(self) -> dict[str, object]:
        """Everything as plain data (confidential)."""
        tables = {str(number): result.summary() for number, result in self.tables.items()}
        return {"log": list(self.log), "files": [path.name for path in self.files], "tables": tables}


@dataclass
class Places:
    """Folders of a run: of the data, of what is written, and of the batch file."""

    data: Path
    output: Path
    beside: Path


@dataclass
class Batch:
    """The state of a batch run."""

    places: Places
    accept_exposed: bool = False
    secret: Secret | None = field(default=None, repr=False)
    notes: Notes = field(default_factory=Notes)
    log: list[str] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    logbook: str | None = None
    microdata_file: str | None = None
    table_files: list[str] = field(default_factory=list)
    metadata: list[str] = field(default_factory=list)
    jobs: list[TableJob] = field(default_factory=list)
    records: Microdata | None = field(default=None, repr=False)

    def clear(self) -> None:
        """Forget data, metadata and tables; the log and what was written stay."""
        self.microdata_file, self.table_files, self.metadata, self.jobs = None, [], [], []

    def find(self, name: str, near: Path | None = None) -> Path:
        """A file that the batch or its metadata name: near the file that names it, of the data, the batch or written."""
        at = self.places
        return find_file(at.data if near is None else near, name, self.notes, also=(at.data, at.beside, at.output))

    def say(self, line: str) -> None:
        """Add a line to the log."""
        self.log.append(line)

    def target(self, command: Command) -> Path:
        """Where a command writes its file."""
        return self.places.output / Path(file_of(command)).name

    def job(self, number: int) -> TableJob:
        """A table by its number."""
        if not 1 <= number <= len(self.jobs):
            raise PlanError(f"there is no table {number}; {len(self.jobs)} are specified.")
        return self.jobs[number - 1]

    def describe(self) -> None:
        """Say what the tables that were not protected look like."""
        for number, job in enumerate(self.jobs, start=1):
            if job.result is None and job.is_read:
                table, unsafe = judged(job)
                self.say(f"Table {number}: Table {table.title}, {unsafe} unsafe.")

    def finish(self) -> BatchResult:
        """Write the log and give everything back."""
        for line in self.notes:
            self.say(f"note: {line}")
        if self.logbook:
            target = self.places.output / Path(self.logbook).name
            write_text(target, "\n".join(self.log) + "\n")
            self.files.append(target)
        done = {number: job.result for number, job in enumerate(self.jobs, start=1) if job.result is not None}
        return BatchResult(tuple(self.log), tuple(self.files), done)


def judged(job: TableJob) -> tuple[Table, int]:
    """The table of a job with its number of unsafe cells; what was said about it wrongly is an error."""
    (found,) = judged_jobs([job]).responses.values()
    return found.system.parts[0], int(found.knowledge.verdict.primary.sum())


def file_of(command: Command) -> str:
    """The file that a command names."""
    return command.files[0].replace("\\", "/")


def forget(jobs: Sequence[TableJob], job: TableJob) -> None:
    """What was done with a table no longer holds, also for those linked with it."""
    result = job.result
    for other in jobs:
        if other is job or (result is not None and other.result is result):
            other.result, other.protected = None, False
