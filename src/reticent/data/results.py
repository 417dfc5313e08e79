"""What a microdata run gives back: frozen, confidential unless said otherwise, numbers as plain data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from reticent.data.published import MaskedFile


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
    """A protected file with what the protector must know: risk before and after, loss, and what each step did."""

    file: MaskedFile
    risk_before: Mapping[str, Any]
    risk_after: Mapping[str, Any]
    loss: Mapping[str, Any]
    steps: tuple[StepRecord, ...]
    notes: tuple[str, ...] = ()
    secret_hex: str = field(default="", repr=False)

    def __repr__(self) -> str:
        before, after = self.risk_before["unsafe combinations"], self.risk_after["unsafe combinations"]
        return f"<FileResult {self.file.n_records} records, {len(self.steps)} steps: unsafe combinations {before} → {after}>"

    def summary(self) -> dict[str, Any]:
        """Everything as plain data, as the plan's `summary` file has it (confidential; without the secret)."""
        return {
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
        return f"<table><tr><th>{escape(repr(self))}</th><th>before</th><th>after</th></tr>{rows}</table>"
