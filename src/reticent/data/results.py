"""What a microdata run gives back: frozen, confidential unless said otherwise, numbers as plain data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from reticent.data.published import MaskedFile
from reticent.data.verdict import FileVerdict


@dataclass(frozen=True)
class StepRecord:
    """What one step of a plan did: its parameters, the values it changed per variable, its facts, its promises."""

    method: str
    parameters: Mapping[str, Any]
    changed: Mapping[str, int]
    facts: Mapping[str, Any]
    promises: tuple[str, ...]
    seconds: float

    def summary(self) -> dict[str, Any]:
        """The record as plain data."""
        return {
            "method": self.method,
            "parameters": dict(self.parameters),
            "changed": dict(self.changed),
            "facts": dict(self.facts),
            "promises kept": list(self.promises),
            "seconds": round(self.seconds, 3),
        }


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
        """Everything as plain data, as the plan's `summary` file has it (confidential; with the secret if it was drawn)."""
        return {
            **({"secret": self.secret_hex} if self.secret_hex else {}),
            "verdict": self.verdict.summary(),
            "risk": {"before": dict(self.risk_before), "after": dict(self.risk_after)},
            "loss": dict(self.loss),
            "steps": [step.summary() for step in self.steps],
            "notes": list(self.notes),
        }

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(
            f"<tr><th style='text-align:left'>{escape(str(name))}</th><td>{escape(str(self.risk_before[name]))}</td>"
            f"<td>{escape(str(self.risk_after.get(name, '')))}</td></tr>"
            for name, value in self.risk_before.items()
            if isinstance(value, int | float | str)
        )
        verdicts = "".join(
            f"<tr><th style='text-align:left'>{escape(one.attack)}</th><td>{escape(str(one.state))}</td>"
            f"<td>{escape(one.text)}</td></tr>"
            for one in self.verdict.attacks
        )
        head = f"<tr><th>{escape(repr(self))}</th><th>before</th><th>after</th></tr>"
        return f"<table>{head}{rows}</table><table><tr><th>attack</th><th>verdict</th><th></th></tr>{verdicts}</table>"


def _judged(risk: Mapping[str, Any]) -> Any:
    count = risk["unsafe combinations"]
    return "not judged" if count is None else count
