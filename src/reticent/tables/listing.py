# SPDX-License-Identifier: Apache-2.0
"""Which codes a table of changed values lists: a code that only records have is no news if nothing shows it."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Mask, Narrow
from reticent.data.published_table import EMPTY, PUBLISHED, PublishedTable
from reticent.data.table import Table
from reticent.tabulation.cell_atoms import atoms_of_cells
from reticent.tabulation.ground import GroundedData

MOST_LISTED = 200_000
"""Up to this many combinations of codes, those that a table leaves out are stated."""


def listed_nodes(table: Table, values: NDArray[np.float64]) -> tuple[Mask, ...]:
    """For each dimension the nodes that are listed: declared ones, and those with a published value that is not 0.

    A combination without records is published as 0 like any other 0, so that no 0 says that somebody is there. A row of
    zeros would say it if its code came from the records. What stands above a listed node is listed.
    """
    shown = np.round(values, table.decimals) != 0
    found = []
    for at, dimension in enumerate(table.dimensions):
        listed = dimension.declared.copy()
        start, above = dimension.ancestors
        for node in np.unique(table.codes[shown, at]).tolist():
            listed[above[start[node] : start[node + 1]]] = True
        found.append(listed)
    return tuple(found)


def are_listed(codes: NDArray[np.int32], listed: tuple[Mask, ...]) -> Mask:
    """Cells all of whose codes are listed."""
    shown = np.ones(len(codes), dtype=bool)
    for at, nodes in enumerate(listed):
        shown &= nodes[codes[:, at]]
    return shown


def with_unlisted(published: PublishedTable, table: Table) -> PublishedTable:
    """With the rows that a method that changes values leaves out because they are all 0, so that nobody learns their codes.

    Whoever knows the codes from another release knows that these are 0.
    """
    possible = math.prod(len(dimension) for dimension in table.dimensions)
    if published.method == "suppression" or len(published) == possible or possible > MOST_LISTED:
        return published
    listed = set(published.codes)
    left = tuple(codes for codes in itertools.product(*(d.codes for d in table.dimensions)) if codes not in listed)
    return replace(
        published,
        codes=(*published.codes, *left),
        values=np.concatenate((published.values, np.zeros(len(left)))),
        status=(*published.status, *(PUBLISHED for _ in left)),
        measure=None,
    )


def nodes_of(codes: Sequence[tuple[str, ...]], table: Table) -> Narrow:
    """The nodes of cells by dimension."""
    found = [[d.position(code) for d, code in zip(table.dimensions, own, strict=True)] for own in codes]
    return np.array(found, dtype=np.int32).reshape(len(codes), len(table.dimensions))


def with_empty(grounded: GroundedData, published: PublishedTable, table: Table) -> PublishedTable:
    """A table that hides cells with the empty ones that it leaves out; if it leaves out others too, nothing is known of them."""
    leaves = [[code for code, leaf in zip(d.codes, d.is_leaf, strict=True) if leaf] for d in table.dimensions]
    if published.method != "suppression" or math.prod(len(codes) for codes in leaves) > MOST_LISTED:
        return published
    listed = set(published.codes)
    left = tuple(codes for codes in itertools.product(*leaves) if codes not in listed)
    if not left or int(grounded.counts[atoms_of_cells(grounded, table.dimensions, nodes_of(left, table)).atoms].sum()):
        return published
    return replace(
        published,
        codes=(*published.codes, *left),
        values=np.concatenate((published.values, np.full(len(left), np.nan))),
        status=(*published.status, *(EMPTY for _ in left)),
        measure=None,
    )
