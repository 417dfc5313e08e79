# SPDX-License-Identifier: Apache-2.0
"""Which levels of the hierarchies `generalize` chose, and the three next best choices that are safe too."""

from reticent.microdata.result import ProtectedFile
from reticent.report.page import Block, Rows, Text


def level_blocks(run: ProtectedFile) -> tuple[Block, ...]:
    """The chosen levels and what else was possible; nothing where no step searched for levels."""
    blocks: list[Block] = []
    for place, step in enumerate(run.result.steps, start=1):
        levels = step.facts.get("levels")
        if step.method != "generalize" or not isinstance(levels, dict):
            continue
        blocks.append(
            Text(
                f"Step {place} chose these levels (0: as in the file) and left out {step.facts['suppressed']} records. "
                + ("No safe choice loses less." if step.facts.get("optimal") else "Another safe choice may lose less.")
            )
        )
        rows = [("chosen", *levels.values(), step.facts.get("share lost"))]
        rows += [(f"next {n}", *node, lost) for n, (node, lost) in enumerate(step.facts.get("next best", ()), start=1)]
        blocks.append(Rows(("choice", *levels, "share of the detail lost"), tuple(rows), "Levels of each key."))
    return tuple(blocks)
