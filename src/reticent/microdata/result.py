# SPDX-License-Identifier: Apache-2.0
"""What became of a file: the verdict, risk before and after, loss, what each step did, and what may leave. Confidential."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from reticent.base.plain import as_plain
from reticent.base.randomness import STREAM_VERSION
from reticent.data.microdata import Microdata
from reticent.data.published import MaskedFile
from reticent.data.verdict import FileVerdict
from reticent.microdata.attacks import FileAttacks
from reticent.microdata.loss.measure import LossReport
from reticent.microdata.measure import FileRisk
from reticent.microdata.pipeline import StepRecord


@dataclass(frozen=True)
class FileResult:
    """A masked file with what the protector must know: the verdict, risk before and after, loss, what each step did.

    The publishable file itself is `file`; it is given out only if the verdict allows it.
    """

    masked: MaskedFile = field(repr=False)
    verdict: FileVerdict
    risk_before: Mapping[str, Any]
    risk_after: Mapping[str, Any]
    loss: Mapping[str, Any]
    steps: tuple[StepRecord, ...]
    notes: tuple[str, ...] = ()
    secret_hex: str = field(default="", repr=False)

    @property
    def file(self) -> MaskedFile:
        """The publishable file; an error where an attack that was asked for is not held or not judged."""
        self.verdict.require()
        return self.masked

    def __repr__(self) -> str:
        accepted = ", risk accepted" if self.verdict.accepted and not self.verdict.held else ""
        return (
            f"<FileResult {self.masked.n_records} records, {len(self.steps)} steps: {self.verdict.headline}{accepted}; "
            f"unsafe combinations {_judged(self.risk_before)} → {_judged(self.risk_after)}>"
        )

    def summary(self) -> dict[str, Any]:
        """Everything as plain data for `json.dumps`, as the plan's `summary` file has it (with the secret if it was drawn)."""
        facts = {
            **({"secret": self.secret_hex} if self.secret_hex else {}),
            "streams": STREAM_VERSION,
            "verdict": self.verdict.summary(),
            "risk": {"before": dict(self.risk_before), "after": dict(self.risk_after)},
            "loss": dict(self.loss),
            "steps": [step.summary() for step in self.steps],
            "notes": list(self.notes),
        }
        return {name: as_plain(value) for name, value in facts.items()}


@dataclass(frozen=True)
class ProtectedFile:
    """Everything a run found, with the confidential data before and after masking (records in the order of the source)."""

    result: FileResult
    before: Microdata
    after: Microdata
    risk_before: FileRisk
    risk_after: FileRisk
    attacks: FileAttacks
    loss: LossReport
    seconds: float | None = None

    def __repr__(self) -> str:
        return repr(self.result)

    @property
    def verdict(self) -> FileVerdict:
        """What the attacks left of the plan's promises."""
        return self.result.verdict


def _judged(risk: Mapping[str, Any]) -> Any:
    count = risk["unsafe combinations"]
    return "not judged" if count is None else count
