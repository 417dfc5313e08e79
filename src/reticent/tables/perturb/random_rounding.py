"""The table method `random-rounding`: every cell by itself to an adjacent multiple, alike wherever the cell appears."""

import hashlib
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from reticent.base.arrays import Words
from reticent.base.errors import DataError, ParameterError
from reticent.base.progress import Progress
from reticent.base.randomness import Secret
from reticent.data.microdata import Microdata
from reticent.data.parameters import Parameters
from reticent.data.table import Table
from reticent.tables.guarantee import Guarantee, Rate
from reticent.tables.outcome import Outcome
from reticent.tables.perturb.record_keys import BITS, RecordKeys, contributing_keys
from reticent.tables.perturb.rounding import round_randomly, rounding_bounds
from reticent.tables.problem import SuppressionProblem

OWNER = "random-rounding"


@dataclass(frozen=True)
class RandomRounding(Parameters):
    """Random rounding: up with probability remainder/base, so without bias; totals need not add up.

    The draw belongs to the secret, the response and the cell. A cell of records is known by its set of records (their
    keys are drawn by record id, or stand in the variable `record_key`), one of a finished table by its codes.
    The arithmetic attacker, who knows the base, determines no count exactly, and sums keep their levels; levels of counts
    are not promised, and what the transparent attacker determines is in `guarantee`.
    """

    name: ClassVar[str] = OWNER
    guarantee: ClassVar[Guarantee] = Guarantee(
        "Against the arithmetic attacker, who knows the base, all published values and relations together: no count with "
        "somebody in it is determined exactly, and no unsafe sum is placed within its protection levels. Levels of counts are "
        "not promised.",
        Rate(23, 1071, 24),
        "cells of the same records are changed alike, so values that differ tell of somebody elsewhere",
    )
    lists_empty: ClassVar[bool] = True
    base: float = field(default=5.0, metadata={"above": 0, "help": "all published values are multiples of it"})
    record_key: str = field(default="", metadata={"help": "variable with the record keys; absent: drawn"})

    @property
    def draws(self) -> bool:
        """What is published depends on the secret."""
        return True

    def needs_top(self, response: str | None) -> int:
        """Contributions do not matter."""
        return 0

    def record_keys(self, data: Microdata, response: str | None, secret: Secret) -> RecordKeys:
        """The keys of all records; for sums, records that contribute 0 stay out, because they change no value."""
        return contributing_keys(data, self.record_key, response, secret, owner=OWNER)

    def for_table(self, table: Table) -> "RandomlyRoundedTable":
        """The method bound to a table, whose cells have an identity."""
        return RandomlyRoundedTable(self, table)

    def protect(self, problem: SuppressionProblem, *, secret: Secret, time_limit: float, progress: Progress) -> Outcome:
        """Not without the table: the same cell must be rounded alike in every table."""
        raise DataError(f"{OWNER}: cells are known by their records or codes; start from microdata, a table or a plan.")


@dataclass(frozen=True, eq=False)
class RandomlyRoundedTable:
    """Random rounding and the table that it is to round."""

    method: RandomRounding
    table: Table
    name: ClassVar[str] = OWNER

    def protect(self, problem: SuppressionProblem, *, secret: Secret, time_limit: float, progress: Progress) -> Outcome:
        """Round, and state what anybody who knows the base can conclude from each value alone."""
        progress(0.0, "rounding")
        true, base, fixed = problem.values, self.method.base, problem.frozen
        if abs(base / problem.unit - round(base / problem.unit)) > 1e-6:
            raise ParameterError(
                f"{OWNER}: base must be a multiple of the values' step {problem.unit:g}, got {base:g}."
            )
        own = secret.child(self.table.response or "count")
        rounded = round_randomly(true, base, secret=own, cells=cell_numbers(self.table))
        low, high = rounding_bounds(rounded, problem.relations, base, unit=problem.unit)
        # values that are no decimals (a third) may lie closer to the next multiple than a step
        low, high = np.minimum(low, true), np.maximum(high, true)
        values = np.where(fixed, true, rounded)
        change = np.abs(values - true)
        return Outcome(
            np.zeros(problem.n_cells, dtype=bool),
            float(change.sum()),
            status="randomly rounded",
            values=values,
            low=np.where(fixed, true, np.maximum(low, problem.lower_bound)),
            high=np.where(fixed, true, np.minimum(high, problem.upper_bound)),
            facts={
                "base": base,
                "changed": int((change > 0).sum()),
                "largest change": float(change.max(initial=0.0)),
                "mean change": float(change.mean()) if len(change) else 0.0,
            },
            additive=False,
            levels=not self.table.is_count,  # a count above 0 shows that somebody is there, as with other noise
        )


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
