# SPDX-License-Identifier: Apache-2.0
"""The section of the confidential report on noise: what it did to the counts, as tables of deviations."""

from typing import Any

from reticent.report.page import Block, Facts, Rows, Text
from reticent.tables.result import ProtectedTable

PLAIN = ("changed", "largest change", "mean change", "additivity", "largest change by additivity",
         "mean change by additivity", "new small counts")  # fmt: skip


def noise_blocks(result: ProtectedTable) -> tuple[Block, ...]:
    """Largest deviation by size, shares by absolute deviation, cells by deviation; nothing where there is no noise."""
    facts = result.outcome.facts
    told: dict[str, Any] | None = facts.get("utility")
    if told is None:
        return ()
    shown = tuple((name, str(_text(facts[name]))) for name in PLAIN if name in facts)
    sizes = tuple(told["largest deviation by count"].items())
    shares = tuple(tuple(_text(item) for item in row) for row in told["per cent of cells by absolute deviation"])
    cells = tuple(tuple(_text(item) for item in row) for row in told["cells by deviation"])
    return (
        Text("How far published counts are from the true ones, over the cells above 0."),
        Facts(shown),
        Rows(("true count", "largest deviation"), sizes),
        Rows(("absolute deviation", "per cent of cells", "before additivity"), shares),
        Rows(("deviation", "cells", "cells by the published measure"), cells),
    )


def _text(value: object) -> object:
    return "" if value is None else round(value, 3) if isinstance(value, float) else value
