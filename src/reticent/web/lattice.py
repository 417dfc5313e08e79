# SPDX-License-Identifier: Apache-2.0
"""The lattice of generalisations as SVG: all detail at the bottom, one group at the top; every node can be followed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

STEP_Y, MARGIN, LEAST_X = 50, 24, 44


@dataclass(frozen=True)
class LatticeNode:
    """A node: its levels, whether it is safe, whether it is the chosen one, where it leads, and what it says."""

    levels: tuple[int, ...]
    safe: bool
    chosen: bool
    href: str
    title: str


def lattice_figure(title: str, nodes: Sequence[LatticeNode]) -> Markup:
    """The drawing: unsafe nodes have corners, safe ones are round, the chosen one has a ring."""
    rows: dict[int, list[int]] = {}
    for at, node in enumerate(nodes):
        rows.setdefault(sum(node.levels), []).append(at)
    widest = max((len(row) for row in rows.values()), default=1)
    width, top = max(400, widest * LEAST_X + 2 * MARGIN), max(rows, default=0)
    place = {
        nodes[at].levels: (MARGIN + (width - 2 * MARGIN) * (i + 0.5) / len(row), MARGIN + STEP_Y * (top - total))
        for total, row in rows.items()
        for i, at in enumerate(row)
    }
    edges = "".join(_edges(node, place) for node in nodes)
    drawn = "".join(_node(node, *place[node.levels]) for node in nodes)
    height = 2 * MARGIN + STEP_Y * top
    return Markup(
        f'<div class="chart-wrap" tabindex="0" role="group" aria-label="{escape(title)}"><svg class="chart" '
        f'viewBox="0 0 {width} {height}" role="group" aria-label="{escape(title)}"><path class="g-edge" d="{edges}"/>'
        f'<g class="nodes">{drawn}</g></svg></div>'
    )


def _edges(node: LatticeNode, place: Mapping[tuple[int, ...], tuple[float, float]]) -> str:
    x, y = place[node.levels]
    found = ""
    for at in range(len(node.levels)):
        above = (*node.levels[:at], node.levels[at] + 1, *node.levels[at + 1 :])
        if above in place:
            found += f"M{x:.0f} {y:.0f}L{place[above][0]:.0f} {place[above][1]:.0f}"
    return found


def _node(node: LatticeNode, x: float, y: float) -> str:
    kind = "n-chosen" if node.chosen else "n-safe" if node.safe else "n-unsafe"
    words = f"{'·'.join(map(str, node.levels))}: {'safe' if node.safe else 'unsafe'}, {node.title}"
    ring = '<rect class="n-ring" x="-24" y="-14" width="48" height="28" rx="14"/>' if node.chosen else ""
    current = ' aria-current="true"' if node.chosen else ""
    return (
        f'<a href="{escape(node.href)}" transform="translate({x:.0f} {y:.0f})" aria-label="{escape(words)}"{current}>'
        f"<title>{escape(words)}</title>{ring}"
        f'<rect class="{kind}" x="-20" y="-10" width="40" height="20" rx="{10 if node.safe else 0}"/>'
        f"<text>{'·'.join(map(str, node.levels))}</text></a>"
    )
