# SPDX-License-Identifier: Apache-2.0
"""Finished tables by two variables whose codes coincide: those of one are nodes in the hierarchy of the other.

Finished tables do not say who is in a cell. What they can say is that the regions of one table are written as the codes above the
districts of another, and have the same values.
"""

from collections.abc import Sequence
from itertools import combinations, product

import numpy as np

from reticent.data.table import Dimension, Table
from reticent.tabulation.codings import Link, Side, link_sets

NOT_JUDGED = (
    "Not judged: whether codes of different variables add up to the same (districts to regions). Finished tables show it "
    "only where codes of one variable stand in the hierarchy of the other."
)


def coinciding(tables: Sequence[Table]) -> tuple[tuple[Side, ...], tuple[str, ...]]:
    """How codes of finished tables add up to the same, as far as codes and values show it; and what is not judged."""
    found: list[Side] = []
    unknown = False
    for first, second in combinations(range(len(tables)), 2):
        links = _links(tables[first], tables[second])
        found += [Side(first, second, chosen) for chosen in link_sets(links) if not all(link.same for link in chosen)]
        linked = {(link.left[0], link.right[0]) for link in links}
        left = [at for at, name in enumerate(tables[first].names) if name not in tables[second].names]
        right = [at for at, name in enumerate(tables[second].names) if name not in tables[first].names]
        unknown |= any(pair not in linked for pair in product(left, right))
    return tuple(found), (NOT_JUDGED,) if unknown else ()


def _links(left: Table, right: Table) -> list[Link]:
    found = []
    for at, to in product(range(len(left.names)), range(len(right.names))):
        one, other = left.dimensions[at], right.dimensions[to]
        if one.name == other.name and one.codes == other.codes:
            same: dict[tuple[str, ...], int] = {(code,): node for node, code in enumerate(one.codes) if node}
            found.append(Link((at,), (to,), (same, same), same=True))
            continue
        link = _link(left, at, right, to)
        if link is None and (turned := _link(right, to, left, at)) is not None:
            link = Link((at,), (to,), turned.classes[::-1])
        found += [] if link is None else [link]
    return found


def _link(fine: Table, at: int, coarse: Table, to: int) -> Link | None:
    """The finest codes of one dimension by the code of the other above them, where values agree."""
    below, above = fine.dimensions[at], coarse.dimensions[to]
    wanted = {above.codes[node]: node for node in _leaves(above)}
    if len(wanted) < 2 or not all(code in below.index and below.index[code] for code in wanted):
        return None
    start, over = below.ancestors
    classes: dict[tuple[str, ...], int] = {}
    for node in _leaves(below):
        codes = {below.codes[one] for one in over[start[node] : start[node + 1]].tolist()} | {below.codes[node]}
        own = codes & set(wanted)
        if len(own) != 1:
            return None
        classes[(below.codes[node],)] = wanted[own.pop()]
    if not _agree(fine, at, coarse, to, wanted):
        return None
    return Link((at,), (to,), (classes, {(code,): node for code, node in wanted.items()}))


def _leaves(dimension: Dimension) -> list[int]:
    return [node for node in np.flatnonzero(dimension.is_leaf).tolist() if node]


def _agree(fine: Table, at: int, coarse: Table, to: int, wanted: dict[str, int]) -> bool:
    """Whether both tables have the same values for the same codes, all other dimensions at their totals."""
    mine, its = _values(fine, at), _values(coarse, to)
    return all(
        abs(mine.get(code, 0.0) - its.get(code, 0.0)) <= 1e-9 * (1.0 + abs(its.get(code, 0.0))) for code in wanted
    )


def _values(table: Table, at: int) -> dict[str, float]:
    others = [other for other in range(len(table.names)) if other != at]
    cells = np.flatnonzero((table.codes[:, others] == 0).all(axis=1))
    codes = table.dimensions[at].codes
    return {codes[int(table.codes[cell, at])]: float(table.values[cell]) for cell in cells.tolist()}
