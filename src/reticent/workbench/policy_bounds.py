# SPDX-License-Identifier: Apache-2.0
"""What everybody knows of each response, as a small form: its least and greatest value, and whether it is whole."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reticent.web.form_texts import Shape, taken, written
from reticent.web.form_values import Sent

ENDS = ("low", "high")
NUMBER = Shape(float)


@dataclass(frozen=True)
class BoundsRow:
    """The bounds of one response, as texts; `number` sets its fields apart."""

    number: int
    response: str
    low: str
    high: str
    integer: bool


def bounds_form(policy: Mapping[str, Any], sent: Sent) -> list[BoundsRow]:
    """A row per response; what was sent and could not be taken stays."""
    rows = []
    for number, name in enumerate(policy.get("responses") or ()):
        known = dict(policy.get("bounds", {}).get(name, {}))
        low, high = (sent.get(f"bounds.{number}.{end}", _text(known.get(end))) for end in ENDS)
        rows.append(BoundsRow(number, str(name), low, high, known.get("integer") is True))
    return rows


def _text(value: Any) -> str:
    return "" if value is None else written(value, NUMBER)


def taken_bounds(policy: Mapping[str, Any], sent: Sent) -> dict[str, dict[str, Any]]:
    """The bounds as sent, by the names that the form was made with; of responses that it did not show they stay."""
    bounds: dict[str, dict[str, Any]] = {name: dict(own) for name, own in policy.get("bounds", {}).items()}
    for number, name in enumerate(sent.all("bounds.of")):
        own = {end: taken(sent.get(f"bounds.{number}.{end}"), NUMBER) for end in ENDS}
        known = {end: value for end, value in own.items() if value is not None}
        bounds[name] = {**known, **({"integer": True} if f"bounds.{number}.integer" in sent else {})}
    return {name: own for name, own in bounds.items() if own}
