# SPDX-License-Identifier: Apache-2.0
"""Microdata: a confidential file, its schema, and the few views of it that methods may use.

Methods see arrays: dictionary codes, numbers, weights, ids. They never see a dataframe. A `Microdata` is not changed:
each change gives a new one. Nothing here can be written or published; see `data.published`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.base.checks import did_you_mean
from reticent.base.errors import DataError
from reticent.data.schema import Kind, Role, Schema, with_digit_trees
from reticent.frames.columns import repeat_text, series, unique_ids
from reticent.frames.frame import MISSING, Encoded, Frame, as_text
from reticent.kernels.grouping import frequencies_of_columns, group_columns


@dataclass(frozen=True)
class Patterns:
    """The distinct combinations of some keys: a code row each, how often it occurs, its weight, and each record's group."""

    keys: tuple[str, ...]
    codes: NDArray[np.int32]
    counts: NDArray[np.int64]
    weights: NDArray[np.float64] | None
    group: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def sample_counts(self) -> NDArray[np.int64]:
        """How many records share each record's combination."""
        return self.counts[self.group]


@dataclass(frozen=True)
class Microdata:
    """Confidential records and their schema.

    >>> import polars as pl
    >>> from reticent.data.schema import Kind, Role, Schema, Variable
    >>> schema = Schema((Variable("sex", role=Role.KEY), Variable("age", role=Role.KEY, kind=Kind.NUMERIC)))
    >>> data = Microdata.of(pl.DataFrame({"sex": ["f", "m", "f"], "age": [30, 41, 30]}), schema)
    >>> data
    <Microdata 3 records × 2 variables>
    >>> data.patterns(("sex", "age")).sample_counts.tolist()
    [2, 1, 2]
    """

    frame: Frame = field(repr=False)
    schema: Schema
    ids: NDArray[np.uint64] = field(repr=False, compare=False)
    _encoded: dict[str, Encoded] = field(default_factory=dict, repr=False, compare=False)
    copies: NDArray[np.int64] | None = field(default=None, repr=False, compare=False)
    """How many records each row stands for (none: one). A weight is then the sum of their weights."""
    _bonds: Mapping[Role, NDArray[np.int64]] = field(default_factory=dict, repr=False, compare=False)
    """Who belongs together by an id that a step has taken out of the file, or that no longer says it by itself."""

    @classmethod
    def of(cls, native: Any, schema: Schema) -> "Microdata":
        """Bind a dataframe to its schema; everything that M1 asks for is checked here."""
        frame = Frame.of(native)
        _check_columns(frame, schema)
        frame = frame.select(schema.names)
        data = _with_digit_trees(cls(frame, schema, _record_ids(frame, schema)))
        _check_weights(data)
        _check_households(data)
        return data

    def __repr__(self) -> str:
        return f"<Microdata {self.n_records} records × {len(self.schema.variables)} variables>"

    @property
    def n_records(self) -> int:
        """Number of records."""
        return self.frame.n_records if self.copies is None else int(self.copies.sum())

    @property
    def n_rows(self) -> int:
        """Number of rows: that of the records, unless a row stands for several."""
        return self.frame.n_records

    @property
    def multiplicity(self) -> NDArray[np.int64]:
        """How many records each row stands for."""
        return np.ones(self.n_rows, dtype=np.int64) if self.copies is None else self.copies

    def encoded(self, name: str) -> Encoded:
        """The dictionary-encoded column, made once and kept (small dtype)."""
        if name not in self._encoded:
            variable = self.schema[name]
            order = variable.codes or (variable.hierarchy.leaves if variable.hierarchy else ())
            self._encoded[name] = self.frame.encode(name, missing=variable.missing, order=order, length=self.n_records)
        return self._encoded[name]

    def codes(self, names: Sequence[str]) -> NDArray[np.int32]:
        """Dictionary codes, shape (n_records, len(names)); −1 is missing."""
        out = np.empty((self.n_rows, len(names)), dtype=np.int32)
        for position, name in enumerate(names):
            out[:, position] = self.encoded(name).codes
        return out

    def categories(self, name: str) -> tuple[str, ...]:
        """The text of each code of a variable (some may not occur)."""
        return self.encoded(name).categories

    def cardinalities(self, names: Sequence[str]) -> NDArray[np.int64]:
        """Number of categories of each variable."""
        return np.array([len(self.categories(name)) for name in names], dtype=np.int64)

    def numbers(self, names: Sequence[str]) -> NDArray[np.float64]:
        """Values as numbers, shape (n_records, len(names)); NaN is missing."""
        if len(names) == 1:
            return self.frame.numbers(names[0], missing=self.schema[names[0]].missing)[:, None]
        out = np.empty((self.n_rows, len(names)), dtype=np.float64)
        for position, name in enumerate(names):
            out[:, position] = self.frame.numbers(name, missing=self.schema[name].missing)
        return out

    def missing(self, name: str) -> NDArray[np.bool_]:
        """Which values of a variable are missing."""
        return self.frame.is_missing(name, self.schema[name].missing)

    def require_values(self, names: Sequence[str], *, owner: str) -> None:
        """Refuse variables that have no value in any record: there is nothing to count by."""
        empty = [name for name in names if self.missing(name).all()]
        if empty:
            raise DataError(
                f"{owner}: the key {empty[0]!r} is missing in every record; leave it out of the keys, or drop it.",
                variables=tuple(empty),
            )

    def texts(self, name: str) -> list[str | None]:
        """Values as text (for string distances); missing ones are None."""
        absent = self.missing(name)
        return [None if gone else text for text, gone in zip(as_text(self.frame.table[name]).to_list(), absent)]

    def weights(self) -> NDArray[np.float64] | None:
        """Sampling weights, if the schema has them."""
        return None if self.schema.weight is None else self.numbers((self.schema.weight,))[:, 0]

    def entity(self) -> NDArray[np.int64] | None:
        """A number per record that says which respondent it belongs to, also after a step has removed the id.

        None if each record is its own.
        """
        return self._belonging(Role.ENTITY, self.schema.entity)

    def household(self) -> NDArray[np.int64] | None:
        """A number per record that says which household it belongs to (−1: missing); None without household id."""
        return None if self.schema.household_id is None else self.home()

    def home(self) -> NDArray[np.int64] | None:
        """As `household`, also after a step has removed the id: steps mask what members share once for all of them."""
        return self._belonging(Role.HOUSEHOLD_ID, self.schema.household_id)

    def _belonging(self, role: Role, name: str | None) -> NDArray[np.int64] | None:
        if role in self._bonds:
            return self._bonds[role]
        return None if name is None else self.encoded(name).codes.astype(np.int64)

    def bound(self, names: Sequence[str]) -> "Microdata":
        """The same data, which keep who belongs together whatever becomes of the ids named."""
        ids = (
            (Role.HOUSEHOLD_ID, self.schema.household_id, self.home()),
            (Role.ENTITY, self.schema.entity, self.entity()),
        )
        bonds = {role: numbers for role, name, numbers in ids if name in names and numbers is not None}
        return replace(self, _bonds={**self._bonds, **bonds}) if bonds else self

    def bonds(self) -> tuple[tuple[str, NDArray[np.uint64]], ...]:
        """Who belongs together without a column that says it: the smallest record id of each one's household or respondent."""
        found = []
        for role, numbers in sorted(self._bonds.items()):
            _, group = np.unique(numbers, return_inverse=True)
            smallest = np.full(int(group.max(initial=-1)) + 1, np.iinfo(np.uint64).max, dtype=np.uint64)
            np.minimum.at(smallest, group.ravel(), self.ids)
            found.append((str(role), smallest[group.ravel()]))
        return tuple(found)

    @property
    def has_ids(self) -> bool:
        """Whether records are known by an identifier without missing or repeated values, not by their place."""
        return _identifier_ids(self.frame, self.schema) is not None

    def record_ids(self) -> NDArray[np.uint64]:
        """What random draws are keyed by: the identifier where it is unique, else the position at load."""
        return self.ids

    def patterns(self, keys: Sequence[str]) -> Patterns:
        """The distinct combinations of the keys; a missing value is a category of its own here."""
        keys = tuple(keys)
        columns = [self.encoded(name).codes for name in keys]
        cards = [len(self.categories(name)) for name in keys]
        if columns:
            group, n_groups = group_columns(columns, cards)
        else:
            group, n_groups = np.zeros(self.n_rows, dtype=np.int64), min(self.n_rows, 1)
        first = np.empty(n_groups, dtype=np.int64)
        first[group[::-1]] = np.arange(self.n_rows - 1, -1, -1)  # of equal positions the last assignment stays
        codes = np.empty((n_groups, len(keys)), dtype=np.int32)
        for position, column in enumerate(columns):
            codes[:, position] = column[first]
        weights = self.weights()
        sums = None if weights is None else np.bincount(group, weights, n_groups).astype(np.float64)
        return Patterns(keys, codes, self._records_in(group, n_groups), sums, group)

    def _records_in(self, group: NDArray[np.int64], n_groups: int) -> NDArray[np.int64]:
        """How many records each group has."""
        if self.copies is None:
            return np.bincount(group, minlength=n_groups)
        total = np.zeros(n_groups, dtype=np.int64)
        np.add.at(total, group, self.copies)
        return total

    def sample_counts(self, keys: Sequence[str]) -> NDArray[np.int64]:
        """How many records share each record's combination of keys (faster than `patterns` when only this is wanted)."""
        if self.copies is not None:
            return self.patterns(keys).sample_counts
        return frequencies_of_columns(
            [self.encoded(name).codes for name in keys], [len(self.categories(n)) for n in keys]
        )

    def with_codes(
        self, name: str, codes: NDArray[np.int32], categories: Sequence[str], *, blanks: bool = False
    ) -> "Microdata":
        """Exchange a categorical variable. Where the code is −1, what was missing before keeps its missing code.

        Not so where other values become missing, here or (`blanks`) in other parts of the file: all of them are written in
        one way then, or a second missing code would say that nothing was blanked there.
        """
        variable = self.schema[name]
        texts = as_text(self.frame.table[name])
        before, blank = self.missing(name), variable.missing[0] if variable.missing else None
        absent = repeat_text(blank, len(texts))
        if not blanks and not bool(((np.asarray(codes) < 0) & ~before).any()):
            absent = texts.zip_with(series(before), absent)
        frame = self.frame.with_codes(name, codes, categories, absent=absent)
        listed = variable.codes
        if listed and set(categories) - set(listed):
            variable = replace(variable, codes=(), labels=(), hierarchy=None, digits=())
        changed = self._changed(frame, self.schema.replace(variable), name)
        changed._encoded[name] = Encoded(codes, tuple(categories))
        return changed

    def with_numbers(self, name: str, values: NDArray[np.float64], *, blanks: bool = False) -> "Microdata":
        """Exchange a numeric variable; NaN is missing (written as its missing code, or null; see `with_codes`)."""
        variable = self.schema[name]
        frame = self.frame.with_numbers(name, values)
        if variable.missing and bool(np.isnan(values).any()):
            texts, before = as_text(frame.table[name]), self.missing(name)
            absent = repeat_text(variable.missing[0], len(texts))
            if not blanks and not bool((np.isnan(values) & ~before).any()):
                absent = as_text(self.frame.table[name]).zip_with(series(before), absent)
            texts = texts.zip_with(series(~np.isnan(values)), absent)
            numbers = texts.cast(frame.table[name].dtype, strict=False)
            if numbers.null_count() == texts.null_count():
                frame = replace(frame, table=frame.table.with_columns(numbers.alias(name)))
        return self._changed(frame, self.schema, name)

    def with_schema(self, schema: Schema) -> "Microdata":
        """The same records under another schema (the same variables in the same order)."""
        return replace(self, schema=schema, _encoded={})

    def without(self, names: Sequence[str]) -> "Microdata":
        """The data without some variables."""
        kept = {name: encoded for name, encoded in self._encoded.items() if name not in names}
        return replace(self, frame=self.frame.without(names), schema=self.schema.without(names), _encoded=kept)

    def rows(self, which: NDArray[Any]) -> "Microdata":
        """Some records, by truth value or by position (in that order)."""
        positions = np.flatnonzero(which) if which.dtype == np.bool_ else np.asarray(which, dtype=np.int64)
        kept = {name: Encoded(e.codes[positions], e.categories) for name, e in self._encoded.items()}
        copies = None if self.copies is None else self.copies[positions]
        bonds = {role: numbers[positions] for role, numbers in self._bonds.items()}
        frame, ids = self.frame.take(positions), self.ids[positions]
        return replace(self, frame=frame, ids=ids, _encoded=kept, copies=copies, _bonds=bonds)

    def _changed(self, frame: Frame, schema: Schema, name: str) -> "Microdata":
        kept = {other: encoded for other, encoded in self._encoded.items() if other != name}
        return replace(self, frame=frame, schema=schema, _encoded=kept)


def _with_digit_trees(data: Microdata) -> Microdata:
    """Build the hierarchies that follow from the digits of the codes, now that the codes are known."""
    schema = with_digit_trees(data.schema, data.categories)
    return data if schema is data.schema else data.with_schema(schema)


def _check_columns(frame: Frame, schema: Schema) -> None:
    absent = [name for name in schema.names if name not in frame.names]
    if absent:
        raise DataError(
            f"the data have no column {absent[0]!r} that the schema describes."
            + (did_you_mean(absent[0], frame.names) or f" Columns: {', '.join(frame.names)}."),
            variables=tuple(absent),
        ).at("Microdata")
    extra = [name for name in frame.names if name not in schema.names]
    if extra:
        raise DataError(
            f"the schema does not describe the column {extra[0]!r}"
            f"{f' and {len(extra) - 1} more' if len(extra) > 1 else ''}; add it to the schema or drop it from the data.",
            variables=tuple(extra),
        ).at("Microdata")
    if frame.n_records == 0:
        raise DataError("the data have no records.").at("Microdata")


def _check_weights(data: Microdata) -> None:
    weights = data.weights()
    if weights is not None:
        bad = np.flatnonzero(~((weights > 0) & np.isfinite(weights)))
        if len(bad):
            raise DataError(
                f"Weight {data.schema.weight!r}: {len(bad)} records have a missing or non-positive weight "
                f"(the first is record {bad[0] + 1}); every weight must be above 0 and finite.",
                variables=(str(data.schema.weight),),
            )


def _check_households(data: Microdata) -> None:
    names = [variable.name for variable in data.schema.variables if variable.is_household]
    household = data.household()
    if names and household is None:
        raise DataError(
            f"Household variable {names[0]!r} needs a variable with the role household-id; declare one.",
            variables=tuple(names),
        )
    if household is None:
        return
    if bool((household < 0).any()):
        raise DataError(
            f"Household id {data.schema.household_id!r} is missing in {int((household < 0).sum())} records "
            f"(the first is record {int(np.argmax(household < 0)) + 1}); every record needs one.",
            variables=(str(data.schema.household_id),),
        )
    _, first = np.unique(household, return_index=True)
    start = np.zeros(int(household.max()) + 1, dtype=np.int64)
    start[household[first]] = first
    for name in names:
        codes = data.encoded(name).codes
        differs = np.flatnonzero(codes != codes[start[household]])
        if len(differs):
            raise DataError(
                f"Household variable {name!r} differs within {len(np.unique(household[differs]))} households "
                f"(first at record {differs[0] + 1}); it must be the same for all members.",
                variables=(name,),
            )


def _record_ids(frame: Frame, schema: Schema) -> NDArray[np.uint64]:
    ids = _identifier_ids(frame, schema)
    return np.arange(frame.n_records, dtype=np.uint64) if ids is None else ids


def _identifier_ids(frame: Frame, schema: Schema) -> NDArray[np.uint64] | None:
    """The records' ids from the first identifier that tells all of them apart."""
    found = (unique_ids(frame.table[name]) for name in schema.identifiers)
    return next((ids for ids in found if ids is not None), None)


def is_numeric(schema: Schema, name: str) -> bool:
    """Whether a variable is declared numeric."""
    return schema[name].kind is Kind.NUMERIC


__all__ = ["MISSING", "Microdata", "Patterns", "is_numeric"]
