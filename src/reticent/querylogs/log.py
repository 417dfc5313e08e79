# SPDX-License-Identifier: Apache-2.0
"""A query log as codes: one row per query that was asked, texts and users once each. Confidential."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Codes
from reticent.base.errors import DataError

MISSING = -1


@dataclass(frozen=True, eq=False)
class Labels:
    """A column of texts: a code per row (−1: missing) and each different text once, in order."""

    codes: Codes = field(repr=False)
    texts: tuple[str, ...] = field(repr=False)

    @classmethod
    def of(cls, column: Sequence[object]) -> "Labels":
        """From plain values; None and blank texts are missing."""
        plain = [None if value is None or not str(value).strip() else " ".join(str(value).split()) for value in column]
        order = sorted({text for text in plain if text is not None})
        number = {text: code for code, text in enumerate(order)}
        codes = (MISSING if text is None else number[text] for text in plain)
        return cls(np.fromiter(codes, dtype=np.int32, count=len(plain)), tuple(order))

    def kept(self, rows: NDArray[np.bool_]) -> "Labels":
        """Only some of the rows; texts keep their numbers."""
        return replace(self, codes=self.codes[rows])


@dataclass(frozen=True, eq=False)
class QueryLog:
    """Rows of (user, query[, time, category]); `texts` are the different queries, `categories` those the log gives."""

    users: Codes = field(repr=False)
    queries: Codes = field(repr=False)
    n_users: int
    texts: tuple[str, ...] = field(repr=False)
    times: Labels | None = field(default=None, repr=False)
    categories: Labels | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        return f"<QueryLog {self.n_rows} rows, {self.n_users} users, {len(self.texts)} different queries>"

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.users)

    def kept(self, rows: NDArray[np.bool_]) -> "QueryLog":
        """The log with only some of its rows; users keep their numbers."""
        times, categories = (None if own is None else own.kept(rows) for own in (self.times, self.categories))
        return replace(self, users=self.users[rows], queries=self.queries[rows], times=times, categories=categories)

    def with_texts(self, texts: Sequence[str]) -> "QueryLog":
        """The log with each query's text replaced; queries that became equal are one."""
        order = sorted(set(texts))
        number = {text: code for code, text in enumerate(order)}
        mapping = np.array([number[text] for text in texts], dtype=np.int32)
        return replace(self, queries=mapping[self.queries], texts=tuple(order))

    def pairs(self) -> tuple[Codes, Codes, NDArray[np.int64]]:
        """Each user with each different query and how often it was asked, in order of user and query."""
        key = self.users.astype(np.int64) * len(self.texts) + self.queries
        found, counts = np.unique(key, return_counts=True)
        users, queries = np.divmod(found, len(self.texts))
        return users.astype(np.int32), queries.astype(np.int32), counts

    def query_users(self) -> NDArray[np.int64]:
        """By how many users each query was made."""
        return np.bincount(self.pairs()[1], minlength=len(self.texts))


def make_log(
    users: Labels, queries: Labels, *, times: Labels | None = None, categories: Labels | None = None
) -> QueryLog:
    """A log from its columns; rows without a query are left out, rows without a user are an error."""
    columns = [users, queries, *(own for own in (times, categories) if own is not None)]
    if len({len(column.codes) for column in columns}) > 1:
        raise DataError("query log: all columns must have the same number of rows.")
    nobody = int((users.codes == MISSING).sum())
    if nobody:
        raise DataError(f"query log: {nobody} rows have no user; every query needs the user who made it.")
    asked = queries.codes != MISSING
    if not asked.any():
        raise DataError("query log: there is no row with a query.")
    present, codes = np.unique(users.codes[asked], return_inverse=True)
    kept = [None if own is None else own.kept(asked) for own in (times, categories)]
    return QueryLog(codes.astype(np.int32), queries.codes[asked], len(present), queries.texts, kept[0], kept[1])
