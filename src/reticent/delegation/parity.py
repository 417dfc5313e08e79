# SPDX-License-Identifier: Apache-2.0
"""Parity checking as in the source: the parity of a result against the parity of the claimed expression on the data.

Parities turn + into XOR and · into AND (the source prints OR for +), so an expression becomes a polynomial over {0, 1}: its
algebraic normal form, in which x·x is x. A form that is 0 says that the expression is always even: it proves nothing and is
refused. The source computes the probability of detection as if the two expressions were independent; both use the same
data, so it is computed on the data instead.
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Mask
from reticent.base.errors import ParameterError
from reticent.delegation.columns import Whole
from reticent.delegation.expression import Row

NormalForm = frozenset[frozenset[str]]


def normal_form(part: Row) -> NormalForm:
    """The polynomial over {0, 1} of an expression of one row: a set of products of columns, added by XOR."""
    found: set[frozenset[str]] = set()
    for names, factor in part.terms:
        if factor % 2:
            found ^= {frozenset(names)}
    return frozenset(found)


def refuse_always_even(part: Row) -> None:
    """An expression that is even whatever the data are cannot be checked by its parity."""
    if not normal_form(part):
        raise ParameterError(
            f"parity check: {part.text()} is even whatever the data are, so its parity proves nothing; check by residues."
        )


def row_parities(form: NormalForm, data: Mapping[str, Whole]) -> Mask:
    """The parity of the expression in each row."""
    rows = len(next(iter(data.values())))
    found = np.zeros(rows, dtype=bool)
    for product in form:
        term = np.ones(rows, dtype=bool)
        for name in product:
            term &= (data[name] & 1).astype(bool)
        found ^= term
    return found


def total_parity(part: Row, data: Mapping[str, Whole]) -> int:
    """The parity of the total over all rows: XOR of the rows."""
    return int(row_parities(normal_form(part), data).sum()) & 1


def block_parities(part: Row, data: Mapping[str, Whole], blocks: int) -> NDArray[np.int64]:
    """The parity of the total of each block (rows whose number leaves the same remainder): intermediate results."""
    bits = row_parities(normal_form(part), data).astype(np.int64)
    found = np.zeros(blocks, dtype=np.int64)
    np.add.at(found, np.arange(len(bits)) % blocks, bits)
    return found & 1


@dataclass(frozen=True)
class Detection:
    """How likely parity finds that something else was computed.

    `rows`: the share of rows in which both parities differ, the probability for a result about one row.
    `independent`: what the source's formula gives. `total`: whether the parity of the total over the data finds it.
    `blocks`: the share of blocks whose parity finds it, if intermediate results are checked.
    """

    rows: Fraction
    independent: Fraction
    total: bool | None = None
    blocks: Fraction | None = None


def detection(claimed: Row, computed: Row, data: Mapping[str, Whole] | None = None, *, blocks: int = 1) -> Detection:
    """Compare a claimed expression with another one on the data, or (without data) on random parities."""
    if data is None:
        names = sorted(claimed.columns | computed.columns)
        bits = np.array(list(itertools.product((0, 1), repeat=len(names))), dtype=np.int64).reshape(-1, len(names))
        given: Mapping[str, Whole] = {name: bits[:, place] for place, name in enumerate(names)}
    else:
        given = data
    first, second = (row_parities(normal_form(part), given) for part in (claimed, computed))
    p, q = (Fraction(int(bits.sum()), len(bits)) for bits in (first, second))
    share = Fraction(int((first ^ second).sum()), len(first))
    model = p * (1 - q) + q * (1 - p)
    if data is None:
        return Detection(share, model)
    differing = block_parities(claimed, given, blocks) != block_parities(computed, given, blocks)
    found = total_parity(claimed, given) != total_parity(computed, given)
    return Detection(share, model, found, Fraction(int(differing.sum()), blocks))
