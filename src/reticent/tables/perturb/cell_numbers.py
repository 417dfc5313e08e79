# SPDX-License-Identifier: Apache-2.0
"""What a cell is known by wherever it stands: its records, its codes, or its place alone; draws belong to that number."""

import hashlib

import numpy as np

from reticent.base.arrays import Words
from reticent.data.table import Table
from reticent.tables.perturb.record_keys import BITS

APART = np.uint64(0x9E3779B97F4A7C15)
"""Odd, so that the places of a table, multiplied by it, give its cells numbers of their own."""


def places(n_cells: int) -> Words:
    """Cells known by their place only."""
    return np.arange(n_cells, dtype=np.uint64)


def cell_numbers(table: Table) -> Words:
    """A number that belongs to each cell: from its cell key where there are records, else from its codes."""
    if table.cell_keys is not None:
        return np.asarray(np.floor(table.cell_keys * 2.0**BITS), dtype=np.uint64)
    order = sorted(range(len(table.dimensions)), key=lambda at: table.dimensions[at].name)
    texts = [[_coded(d.name, code) for code in d.codes] for d in table.dimensions]
    numbers = np.empty(table.n_cells, dtype=np.uint64)
    for cell, nodes in enumerate(table.codes.tolist()):
        # a total is no restriction: the cell is the same in a table without that dimension
        text = b"".join(texts[at][nodes[at]] for at in order if nodes[at] != 0)
        numbers[cell] = int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")
    return numbers


def response_cells(table: Table) -> Words:
    """Numbers that belong to each cell and its response, for draws over the cells of several responses."""
    name = hashlib.blake2b((table.response or "count").encode(), digest_size=8).digest()
    return cell_numbers(table) ^ np.uint64(int.from_bytes(name, "little"))


def _coded(name: str, code: str) -> bytes:
    parts = (name.encode(), code.encode())
    return b"".join(len(part).to_bytes(4, "little") + part for part in parts)
