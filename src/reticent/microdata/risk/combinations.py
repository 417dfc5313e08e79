# SPDX-License-Identifier: Apache-2.0
"""Key combinations: which crossings of keys have cells that are too small, and how many records are in them.

A cell of a combination is unsafe when 0 < f ≤ threshold (as in the ARGUS programs; EUSTAT 690–700, 819–842): f is the
number of records, or the sum of their weights for a threshold that is meant for the population. A record whose value
of a variable is missing has no cell in combinations with that variable (`no-cell`), or "missing" is one more code
(`own-category`), or it counts in every cell it is compatible with (`match-anything`, as mu-ARGUS adds missing codes).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations as choose
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.base.checks import check_choice, check_unique
from reticent.base.errors import DataError, ParameterError
from reticent.data.microdata import Microdata
from reticent.data.parameters import Parameters
from reticent.data.schema import Schema
from reticent.kernels.subsets import assess, refine
from reticent.kernels.wildcards import compatible_sums

MISSING = ("no-cell", "own-category", "match-anything")
UNITS = ("records", "population")


@dataclass(frozen=True)
class Combination(Parameters):
    """Some keys crossed, and the count at or below which a cell is unsafe."""

    variables: tuple[str, ...]
    threshold: float = field(default=1, metadata={"above": 0})

    def __post_init__(self) -> None:
        if not self.variables:
            raise ParameterError("variables must name at least one key, got none.", option="variables")
        check_unique(self.variables, name="variables", owner="Combination")


@dataclass(frozen=True)
class KeyCombinations(Parameters):
    """Which combinations are meant: all up to a dimension, by identification level, or given ones; each with a threshold.

    `thresholds` (one for each size, from single variables on) goes before `threshold`. With `levels`, the combinations
    are most × more × identifying; levels are nested, so a most identifying variable also counts as more identifying
    and as identifying. `except_for` leaves out combinations that another risk model covers.
    """

    dimension: int | None = field(default=None, metadata={"min": 1, "help": "all combinations of up to this many keys"})
    threshold: float = field(default=1, metadata={"above": 0, "help": "a cell is unsafe at or below this count"})
    thresholds: tuple[float, ...] = field(default=(), metadata={"above": 0, "help": "a threshold for each size"})
    levels: bool = field(default=False, metadata={"help": "most × more × identifying, by identification level"})
    given: tuple[Combination, ...] = field(default=(), metadata={"help": "combinations with their own thresholds"})
    keys: tuple[str, ...] = field(
        default=(), metadata={"names": "variables", "help": "keys to combine (default: the keys of the schema)"}
    )
    except_for: tuple[tuple[str, ...], ...] = field(default=(), metadata={"help": "combinations to leave out"})

    def __post_init__(self) -> None:
        if self.thresholds and self.dimension is not None and len(self.thresholds) != self.dimension:
            raise ParameterError(
                f"thresholds must have one entry for each size up to {self.dimension}, got {len(self.thresholds)}.",
                option="thresholds",
            )
        if self.levels and self.dimension is not None:
            raise ParameterError("give dimension or levels, not both.")

    def resolve(self, schema: Schema) -> tuple[Combination, ...]:
        """The combinations for a schema; a given one replaces a made one of the same variables."""
        schema.require(self.keys, owner="KeyCombinations")
        made: dict[frozenset[str], Combination] = {}
        for names in self._made(schema):
            threshold = self.thresholds[len(names) - 1] if len(self.thresholds) >= len(names) else self.threshold
            made[frozenset(names)] = Combination(names, threshold)
        for one in self.given:
            schema.require(one.variables, owner="KeyCombinations")
            made[frozenset(one.variables)] = one
        for names in self.except_for:
            schema.require(names, owner="KeyCombinations")
            made.pop(frozenset(names), None)
        if not made:
            raise ParameterError(
                "KeyCombinations: there is no combination; give dimension, levels or given combinations, and keys."
            )
        return tuple(made.values())

    def _made(self, schema: Schema) -> Iterator[tuple[str, ...]]:
        keys = self.keys or schema.keys
        check_unique(keys, name="keys", owner="KeyCombinations")
        if self.levels:
            yield from _by_level(schema, keys)
        if self.dimension is not None:
            if not keys:
                raise DataError("KeyCombinations: there are no keys; name some or give variables the role key.")
            for size in range(1, min(self.dimension, len(keys)) + 1):
                yield from choose(keys, size)


def _by_level(schema: Schema, keys: Sequence[str]) -> Iterator[tuple[str, ...]]:
    leveled = [name for name in schema.names if 1 <= schema[name].level <= 3 and (not keys or name in keys)]
    if not any(schema[name].level == 1 for name in leveled):
        raise DataError("KeyCombinations: no key has identification level 1 (most); give levels or a dimension.")
    nested = [[name for name in leveled if schema[name].level <= level] for level in (1, 2, 3)]
    seen: set[frozenset[str]] = set()
    for names in product(*nested):
        chosen = frozenset(names)
        if len(chosen) == 3 and chosen not in seen:
            seen.add(chosen)
            yield tuple(name for name in leveled if name in chosen)


@dataclass(frozen=True)
class CombinationCount:
    """One row of the table of unsafe combinations."""

    variables: tuple[str, ...]
    threshold: float
    cells: int
    unsafe_cells: int
    unsafe_records: int


@dataclass(frozen=True)
class CombinationTable:
    """Unsafe cells and records of every combination, the worst first (EUSTAT 819–842)."""

    rows: tuple[CombinationCount, ...]
    n_records: int
    unit: str
    missing: str
    unsafe_combinations: NDArray[np.int64] = field(repr=False, compare=False)
    """For each row, in how many combinations its cell is unsafe."""
    copies: NDArray[np.int64] | None = field(default=None, repr=False, compare=False)
    """How many records each row stands for (none: one)."""

    @property
    def unsafe_cells(self) -> int:
        """Unsafe cells of all combinations together."""
        return sum(row.unsafe_cells for row in self.rows)

    @property
    def unsafe_records(self) -> int:
        """Records with at least one unsafe cell."""
        unsafe = self.unsafe_combinations > 0
        return int(unsafe.sum() if self.copies is None else self.copies[unsafe].sum())

    def by_variable(self) -> dict[str, int]:
        """Unsafe cells of the combinations that contain each variable: which keys drive the risk."""
        found: dict[str, int] = {}
        for row in self.rows:
            for name in row.variables:
                found[name] = found.get(name, 0) + row.unsafe_cells
        return dict(sorted(found.items(), key=lambda item: -item[1]))

    def summary(self, *, limit: int = 20) -> str:
        """The table as text, the first `limit` combinations."""
        lines = [
            f"{len(self.rows)} combinations: {self.unsafe_cells} unsafe cells, "
            f"{self.unsafe_records} of {self.n_records} records in at least one",
            "unsafe cells  records  combination",
        ]
        lines += [f"{r.unsafe_cells:>12}  {r.unsafe_records:>7}  {' × '.join(r.variables)}" for r in self.rows[:limit]]
        return "\n".join(lines)


def count_combinations(
    codes: NDArray[np.int32],
    records: NDArray[np.int64],
    values: NDArray[np.float64],
    chosen: Sequence[tuple[tuple[int, ...], float]],
) -> tuple[list[tuple[int, int, int]], NDArray[np.int64]]:
    """(cells, unsafe cells, records in them) for each (variables, threshold), by refining partitions of patterns.

    `codes` are patterns (−1: in no cell), `records` how many records each has, `values` what is compared with the
    threshold. Second: the number of unsafe combinations of each pattern. All combinations that share a prefix share its
    partition, so the cost is one split of the patterns for each node of the prefix tree.
    """
    n, q = codes.shape
    columns = [_small(codes[:, v]) for v in range(q)]
    cards = [int(c.max(initial=0)) + 1 for c in columns]
    tally = np.zeros(n, np.int64)
    found: list[tuple[int, int, int]] = [(0, 0, 0)] * len(chosen)
    stack: list[_Node] = [((), np.arange(n, dtype=np.int32), np.array([0, n], np.int64))]
    for index in sorted(range(len(chosen)), key=lambda i: sorted(chosen[i][0])):
        wanted, threshold = tuple(sorted(chosen[index][0])), chosen[index][1]
        while stack[-1][0] != wanted[: len(stack[-1][0])]:
            stack.pop()
        for v in wanted[len(stack[-1][0]) :]:
            prefix, order, starts = stack[-1]
            stack.append(((*prefix, v), *refine(order, starts, columns[v], cards[v])))
        _, order, starts = stack[-1]
        unsafe_cells, unsafe_records = assess(order, starts, values, records, threshold, tally)
        found[index] = (len(starts) - 1, int(unsafe_cells), int(unsafe_records))
    return found, tally


_Node = tuple[tuple[int, ...], NDArray[np.int32], NDArray[np.int64]]


def _small(column: NDArray[np.int32]) -> NDArray[np.signedinteger[Any]]:
    """The column in the smallest type that holds it: refinement is bound by memory."""
    top = int(column.max(initial=0))
    return column.astype(np.int8 if top < 1 << 7 else np.int16 if top < 1 << 15 else np.int32)


def unsafe_combinations(
    data: Microdata,
    combinations: KeyCombinations | Iterable[Combination],
    *,
    unit: str = "records",
    missing: str = "no-cell",
    sampling_fraction: float | None = None,
) -> CombinationTable:
    """Count the unsafe cells of every combination and sort them, the worst first.

    With unit `population` a cell's size is the sum of its weights, or its records divided by `sampling_fraction`.
    """
    check_choice(unit, UNITS, name="unit", owner="unsafe_combinations")
    check_choice(missing, MISSING, name="missing", owner="unsafe_combinations")
    listed = combinations.resolve(data.schema) if isinstance(combinations, KeyCombinations) else tuple(combinations)
    names = tuple(dict.fromkeys(name for one in listed for name in one.variables))
    data.schema.require(names, owner="unsafe_combinations")
    if _several_records_each(data.entity()):
        return _by_respondent(data, listed, unit=unit, missing=missing)
    patterns = data.patterns(names)
    values = _values(patterns.counts, patterns.weights, unit, sampling_fraction)
    chosen = [(tuple(names.index(name) for name in one.variables), one.threshold) for one in listed]
    if missing == "match-anything":
        found, tally = _match_anything(patterns.codes, patterns.counts, values, chosen)
    else:
        codes = patterns.codes + np.int32(1) if missing == "own-category" else patterns.codes
        found, tally = count_combinations(codes, patterns.counts, values, chosen)
    rows = [
        CombinationCount(one.variables, one.threshold, *numbers) for one, numbers in zip(listed, found, strict=True)
    ]
    rows.sort(key=lambda row: -row.unsafe_cells)
    return CombinationTable(tuple(rows), data.n_records, unit, missing, tally[patterns.group], data.copies)


def _several_records_each(entity: NDArray[np.int64] | None) -> bool:
    """Whether some respondent has more than one record."""
    return entity is not None and len(np.unique(entity)) < len(entity)


def _by_respondent(data: Microdata, listed: Sequence[Combination], *, unit: str, missing: str) -> CombinationTable:
    """Cells are as small as the number of different respondents in them: the protected unit is not the record."""
    entity = data.entity()
    assert entity is not None
    if unit != "records" or missing == "match-anything":
        raise DataError(
            "unsafe_combinations: where respondents have several records, cells are counted in respondents, and missing "
            "values have no cell or are a code of their own.",
            variables=(str(data.schema.entity),),
        )
    tally = np.zeros(data.n_records, np.int64)
    rows = []
    for one in listed:
        patterns = data.patterns(one.variables)
        pairs = np.unique(np.column_stack((patterns.group, entity)), axis=0)
        respondents = np.bincount(pairs[:, 0], minlength=len(patterns))
        cell = (patterns.codes >= 0).all(axis=1) if missing == "no-cell" else np.ones(len(patterns), np.bool_)
        unsafe = cell & (respondents <= one.threshold)
        tally += unsafe[patterns.group]
        rows.append(
            CombinationCount(
                one.variables, one.threshold, int(cell.sum()), int(unsafe.sum()), int(patterns.counts[unsafe].sum())
            )
        )
    rows.sort(key=lambda row: -row.unsafe_cells)
    return CombinationTable(tuple(rows), data.n_records, "respondents", missing, tally)


def _values(
    counts: NDArray[np.int64], weights: NDArray[np.float64] | None, unit: str, fraction: float | None
) -> NDArray[np.float64]:
    if unit == "records":
        if fraction is not None:
            raise ParameterError("unsafe_combinations: sampling_fraction is for unit 'population' only.")
        return counts.astype(np.float64)
    if fraction is not None:
        if not 0 < fraction <= 1:
            raise ParameterError(
                f"unsafe_combinations: sampling_fraction must be above 0 and at most 1, got {fraction!r}."
            )
        return counts / fraction
    if weights is None:
        raise DataError("unsafe_combinations: population counts need a weight variable or a sampling fraction.")
    return weights


def _match_anything(
    codes: NDArray[np.int32],
    records: NDArray[np.int64],
    values: NDArray[np.float64],
    chosen: Sequence[tuple[tuple[int, ...], float]],
) -> tuple[list[tuple[int, int, int]], NDArray[np.int64]]:
    """Cells are the complete ones; each also counts the records with missing values that are compatible with it."""
    tally = np.zeros(len(codes), np.int64)
    found = []
    for variables, threshold in chosen:
        part = codes[:, list(variables)]
        sizes = compatible_sums(part, part, values, asking_wild=True, answering_wild=True)
        unsafe = (sizes <= threshold) & (part >= 0).all(axis=1)
        tally += unsafe
        complete = part[(part >= 0).all(axis=1)]
        found.append(
            (len(np.unique(complete, axis=0)), len(np.unique(part[unsafe], axis=0)), int(records[unsafe].sum()))
        )
    return found, tally
