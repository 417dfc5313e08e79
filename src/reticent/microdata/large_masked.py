# SPDX-License-Identifier: Apache-2.0
"""What only masked blocks show: codes and rounded numbers that chance has changed, and the order of numbers, in ranges.

A number of which nearly all values are different puts nobody together, but its ranges do: a turnover tells a size class.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role
from reticent.microdata.large_steps import Block, LargeSteps
from reticent.microdata.mask.pram import Pram
from reticent.microdata.mask.round_values import RoundValues
from reticent.microdata.risk.restored import ALONE, How

LOOKED = 2_000_000
"""Records that are looked at, about; in a larger file these are chosen by a hash of the identifier."""
RANGES, FEWEST = 512, 20
"""Ranges of a number, at most, and records of a range, about."""
CUT_BY = 100_000
"""Records by which ranges are cut, about."""


@dataclass(frozen=True, eq=False)
class MaskedSource:
    """A published variable as codes of masked blocks: its own codes, or the place of a number among some values.

    With `how = "ranges"` the values are where ranges end, else those that are published.
    """

    name: str
    size: int
    how: How
    values: Floats | None = field(default=None, repr=False)

    def codes(self, shown: Microdata) -> Ints:
        """The code of each record; −1 where there is none."""
        if self.values is None:
            return shown.encoded(self.name).codes.astype(np.int64)
        number = shown.numbers((self.name,))[:, 0]
        place = np.searchsorted(self.values, number, side="right" if self.how == "ranges" else "left")
        return np.where(np.isnan(number), -1, np.minimum(place, self.size - 1))


def masked_sources(ready: LargeSteps, keys: Sequence[str], codes: Sequence[str]) -> tuple[MaskedSource, ...]:
    """The published variables beside `codes` and keys that may reveal a key."""
    late = {name: one.step for one in ready.late for name in one.variables}
    found, ordered = list[MaskedSource](), list[str]()
    for variable in ready.file.schema.variables:
        name = variable.name
        if name in keys or name in codes or variable.role in (Role.IDENTIFIER, Role.ENTITY):
            continue
        step = late.get(name)
        if isinstance(step, Pram):
            found.append(MaskedSource(name, len(ready.file.categories(name)), "values"))
        elif variable.kind is Kind.NUMERIC:
            points = _points(ready, name, step) if isinstance(step, RoundValues) else None
            if points is None:
                ordered.append(name)
            else:
                found.append(MaskedSource(name, points.size, "values", points))
    return (*found, *_ranges(ready, ordered))


def _points(ready: LargeSteps, name: str, step: RoundValues) -> Floats | None:
    """The values that rounding at random may publish; None if these are nearly as many as the records."""
    quoted = ready.file.view.connection.quote(name)
    if ready.file.view.facts(n=f"COUNT(DISTINCT {quoted})")["n"] > LOOKED:
        return None
    number = ready.file.column(name).numbers((name,))[:, 0]
    points = np.unique(np.concatenate(step.neighbours(number[~np.isnan(number)])))
    return points if points.size <= ALONE * ready.file.n_records else None


def _ranges(ready: LargeSteps, names: Sequence[str]) -> list[MaskedSource]:
    """Numbers in ranges of about equally many records."""
    many = min(RANGES, ready.file.n_records // FEWEST)
    if not names or many < 2:
        return []
    seen = np.vstack([block.shown.numbers(names) for block in some_blocks(ready, CUT_BY)])
    found = []
    for name, column in zip(names, seen.T, strict=True):
        there = column[~np.isnan(column)]
        if there.size:
            cuts = np.unique(np.quantile(there, np.arange(1, many) / many))
            found.append(MaskedSource(name, cuts.size + 1, "ranges", cuts))
    return found


def some_blocks(ready: LargeSteps, records: int) -> Iterator[Block]:
    """Masked blocks of about this many records, chosen by a hash of the identifier; what steps counted is as it was."""
    every = -(-ready.file.n_records // records)
    quoted = ready.file.view.connection.quote(ready.identifier)
    fresh = replace(ready, late=tuple(replace(one, changed={}) for one in ready.late))
    yield from fresh.blocks(where="" if every == 1 else f"hash({quoted}) % {every} = 0")


def rows_of(
    ready: LargeSteps, keys: Sequence[str], codes: Sequence[str], sources: Sequence[MaskedSource]
) -> Iterator[tuple[NDArray[np.int64], list[Ints]]]:
    """Combinations of keys of some records, and their columns: keys as published, codes as in the file, masked sources."""
    shown_keys = [ready.combined.data.encoded(name).codes for name in keys]
    wide = replace(ready, looked_up=tuple(dict.fromkeys((*ready.looked_up, *codes))))
    for block in some_blocks(wide, LOOKED):
        own = [*(one[block.place] for one in shown_keys), *block.truth.codes(codes).T]
        yield block.place, [*own, *(one.codes(block.shown) for one in sources)]
