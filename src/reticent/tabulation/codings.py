# SPDX-License-Identifier: Apache-2.0
"""Variables of linked tables of which one determines the other: a region is the sum of its districts in all of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from reticent.data.microdata import Microdata
from reticent.data.relations import Relations
from reticent.tabulation.dependence import rules_of
from reticent.tabulation.linked import System


@dataclass(frozen=True)
class Coding:
    """A variable whose codes determine those of another: which codes of `fine` belong to each code of `coarse`."""

    fine: str
    coarse: str
    parts: dict[str, tuple[str, ...]] = field(repr=False)


def codings_of(data: Microdata, names: Sequence[str]) -> tuple[Coding, ...]:
    """The variables among these that determine others, by the rules that records show; missing codes are not followed."""
    encoded = [data.encoded(name) for name in names]
    columns = [one.codes.astype(np.int64) for one in encoded]
    found = []
    for rule in rules_of(columns, [len(one.categories) for one in encoded]):
        if len(rule.given) > 1:
            continue
        fine, coarse = encoded[rule.given[0]].categories, encoded[rule.then].categories
        parts: dict[str, tuple[str, ...]] = {}
        for code, above in zip(fine, rule.codes.tolist(), strict=False):
            if above >= 0:
                parts[coarse[above]] = (*parts.get(coarse[above], ()), code)
        found.append(Coding(names[rule.given[0]], names[rule.then], parts))
    return tuple(found)


def with_codings(system: System, codings: Sequence[Coding]) -> System:
    """The system with a relation for each cell of a coarse code that is the sum of cells of the fine ones.

    Cells of one fine code have the same records, which another relation says.
    """
    if not codings:
        return system
    place = {codes: cell for cell, codes in enumerate(map(tuple, system.table.codes.tolist()))}
    rows = [row for coding in codings for row in _rows(system, coding, place)]
    if not rows:
        return system
    extra = Relations.from_rows(system.table.n_cells, rows, [0.0] * len(rows))
    return replace(system, relations=system.relations.with_rows(extra))


def _rows(system: System, coding: Coding, place: dict[tuple[int, ...], int]) -> list[tuple[list[int], list[int]]]:
    """The relations of one coding, as far as tables show all parts of a cell: then their values add up to its own."""
    table = system.table
    fine, coarse = table.names.index(coding.fine), table.names.index(coding.coarse)
    index = table.dimensions[fine].index
    size = 1e-9 * float(np.abs(table.values).max(initial=1.0))
    found = []
    for codes, cell in place.items():
        own = table.dimensions[coarse].codes[codes[coarse]]
        if codes[fine] != 0 or codes[coarse] == 0 or own not in coding.parts:
            continue
        rest = list(codes)
        rest[coarse] = 0
        parts = []
        for code in coding.parts[own]:
            rest[fine] = index.get(code, -1)
            parts.append(place.get(tuple(rest), -1))
        parts = [part for part in parts if part >= 0]
        if len(parts) > 1 and abs(float(table.values[parts].sum()) - float(table.values[cell])) <= size:
            found.append(([cell, *parts], [-1, *([1] * len(parts))]))
    return found
