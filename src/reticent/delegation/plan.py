# SPDX-License-Identifier: Apache-2.0
"""A delegation as its plan file has it: where the columns are, what is computed of them, how results are verified."""

from dataclasses import dataclass, field
from pathlib import Path

from reticent.data.parameters import Parameters
from reticent.delegation.columns import Column
from reticent.delegation.owner import CHECKS, Job

SECTIONS = ("data", "columns", "expressions", "delegation", "files", "output")


@dataclass(frozen=True)
class DelegationData(Parameters):
    """Where the columns come from."""

    path: str
    schema: str | None = None


@dataclass(frozen=True)
class DelegationOptions(Parameters):
    """The largest result, and how results are verified."""

    bound: int | None = field(
        default=None, metadata={"min": 1, "help": "largest total in whole numbers of the last decimal"}
    )
    check: str = field(default="residues", metadata={"choices": CHECKS, "help": "how results are verified"})


@dataclass(frozen=True)
class DelegationFiles(Parameters):
    """Names of the files; keys and receipt stay with the owner."""

    keys: str = "owner.keys"
    receipt: str = "receipt.json"
    request: str = "request.bin"
    response: str = "response.bin"


@dataclass(frozen=True)
class DelegationOutput(Parameters):
    """Where results go (they are the owner's)."""

    report: str | None = None
    summary: str | None = None


@dataclass(frozen=True)
class DelegationPlan(Parameters):
    """A delegation as its plan file has it."""

    data: DelegationData
    columns: dict[str, Column]
    expressions: dict[str, str]
    delegation: DelegationOptions = DelegationOptions()
    files: DelegationFiles = DelegationFiles()
    output: DelegationOutput = DelegationOutput()
    folder: Path = field(default=Path(), compare=False)
    source: Path | None = field(default=None, compare=False)

    @property
    def job(self) -> Job:
        """What is delegated."""
        return Job(self.columns, self.expressions, self.delegation.bound)

    def file(self, name: str) -> Path:
        """A file of the delegation, beside the plan."""
        return self.folder / str(getattr(self.files, name))
