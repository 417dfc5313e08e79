# SPDX-License-Identifier: Apache-2.0
"""What a missing value may stand for: counts under every named reading, and all of them side by side.

Let x be the true codes of n records and y the published ones, some of them missing.

| name | the count of record i |
|---|---|
| `own-category` | j with y_j = y_i; "missing" is a code like any other (classical k-anonymity) |
| `match-anything` | j with y_j compatible with y_i, a missing value on either side matching anything (sdcMicro, alpha = 1) |
| `never-match` | j with y_j = y_i and nothing missing; a record with a missing key matches only itself |
| `(k,1)` | true x_j compatible with the published y_i: who could this published record be? |
| `(1,k)` | published y_j compatible with the true x_i: which published records could be this person? |
| `(k,k)` | the smaller of the last two |

The last three are Gionis, Mazza and Tassa, "k-Anonymization revisited" (ICDE 2008). A value that is missing in the truth
is not known to fit any code: it is compatible only with a published missing value, which keeps the counts conservative.
`match-anything` has a degenerate optimum (k − 1 wholly blank records make any file k-anonymous), so protection uses
`(k,k)` by default.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.base.checks import check_integer, did_you_mean
from reticent.base.errors import DataError, ParameterError
from reticent.data.microdata import Microdata
from reticent.kernels.grouping import distinct_rows
from reticent.kernels.wildcards import compatible_sums


class Semantics(StrEnum):
    """How a missing value is read when records are compared."""

    OWN_CATEGORY = "own-category"
    MATCH_ANYTHING = "match-anything"
    NEVER_MATCH = "never-match"
    K1 = "(k,1)"
    ONE_K = "(1,k)"
    KK = "(k,k)"

    @classmethod
    def of(cls, word: "str | Semantics", *, owner: str) -> "Semantics":
        """The semantics of that name; the attacker's may be written without brackets and commas."""
        plain = {"k1": cls.K1, "1k": cls.ONE_K, "kk": cls.KK}
        if word in plain:
            return plain[word]
        try:
            return cls(word)
        except ValueError:
            names = [member.value for member in cls]
            raise ParameterError(
                f"{owner}: semantics must be one of {', '.join(names)}, got {word!r}.{did_you_mean(str(word), names)}"
            ) from None


@dataclass(frozen=True)
class Counts:
    """How many records each record may be confused with, and their weight, under one semantics."""

    semantics: Semantics
    keys: tuple[str, ...]
    sample_counts: NDArray[np.int64]
    population_counts: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class SemanticsRow:
    """One semantics at a glance."""

    semantics: Semantics
    smallest: int
    violating_records: int
    unique_records: int


@dataclass(frozen=True)
class SemanticsTable:
    """The same file under every semantics; `k` is what `violating_records` fall short of."""

    keys: tuple[str, ...]
    k: int
    n_records: int
    rows: tuple[SemanticsRow, ...]

    def summary(self) -> str:
        """One line per semantics."""
        head = f"{self.n_records} records, {len(self.keys)} keys, k = {self.k}"
        lines = [
            f"  {row.semantics:<15} smallest count {row.smallest}, records below k: {row.violating_records}, "
            f"unique: {row.unique_records}"
            for row in self.rows
        ]
        return "\n".join([head, *lines])


def count_codes(
    published: NDArray[np.int32],
    truth: NDArray[np.int32],
    values: NDArray[Any],
    semantics: Semantics,
) -> NDArray[Any]:
    """Sum of `values` (ones, or weights) over the records each record matches; see the table above."""
    if semantics is Semantics.KK:
        first = count_codes(published, truth, values, Semantics.K1)
        second = count_codes(published, truth, values, Semantics.ONE_K)
        return np.asarray(np.minimum(first, second))
    asking = truth if semantics is Semantics.ONE_K else published
    answering = truth if semantics is Semantics.K1 else published
    ask_rows, ask_group = distinct_rows(asking)
    if asking is answering:
        answer_rows, answer_group = ask_rows, ask_group
    else:
        answer_rows, answer_group = distinct_rows(answering)
    sums = np.bincount(answer_group, weights=values, minlength=len(answer_rows)).astype(values.dtype)
    if semantics is Semantics.NEVER_MATCH:
        return np.where((published < 0).any(axis=1), values, sums[ask_group]).astype(values.dtype)
    if semantics is Semantics.OWN_CATEGORY:
        return np.asarray(sums[ask_group])
    wild_asking = semantics in (Semantics.MATCH_ANYTHING, Semantics.K1)
    wild_answering = semantics in (Semantics.MATCH_ANYTHING, Semantics.ONE_K)
    found = compatible_sums(ask_rows, answer_rows, sums, asking_wild=wild_asking, answering_wild=wild_answering)
    return np.asarray(found[ask_group])


def keys_of(data: Microdata, keys: Sequence[str], *, owner: str) -> tuple[str, ...]:
    """The keys asked for, or those of the schema; an error if there are none or one is unknown."""
    chosen = tuple(keys) or data.schema.keys
    if not chosen:
        raise DataError(f"{owner}: there are no keys; name some or give variables the role key.")
    data.schema.require(chosen, owner=owner)
    return chosen


def counts(
    data: Microdata,
    keys: Sequence[str] = (),
    *,
    semantics: Semantics | str = Semantics.OWN_CATEGORY,
    truth: Microdata | None = None,
) -> Counts:
    """Count every record's companions under one semantics; `truth` is the file before protection (default: the data).

    The truth must have the same records in the same order. Codes are compared by their text.
    """
    chosen = Semantics.of(semantics, owner="counts")
    keys = keys_of(data, keys, owner="counts")
    published = data.codes(keys)
    true = published if truth is None else aligned_codes(truth, data, keys)
    sample = count_codes(published, true, data.multiplicity, chosen).astype(np.int64)
    weights = data.weights()
    population = None if weights is None else count_codes(published, true, weights, chosen).astype(np.float64)
    return Counts(chosen, keys, sample, population)


def aligned_codes(truth: Microdata, data: Microdata, keys: Sequence[str]) -> NDArray[np.int32]:
    """Codes of `truth` in the numbering of `data`: equal code = equal category text."""
    if truth.n_rows != data.n_rows:
        raise DataError(
            f"counts: the true file has {truth.n_records} records and the published one {data.n_records}; "
            "they must be the same records in the same order."
        )
    truth.schema.require(keys, owner="counts (true file)")
    codes = truth.codes(keys)
    for column, name in enumerate(keys):
        known = {text: code for code, text in enumerate(data.categories(name))}
        extra = len(known)
        renumber = np.empty(len(truth.categories(name)) + 1, np.int32)
        for code, text in enumerate(truth.categories(name)):
            if text not in known:
                known[text] = extra
                extra += 1
            renumber[code] = known[text]
        renumber[-1] = -1
        codes[:, column] = renumber[codes[:, column]]
    return codes


def compare_semantics(
    data: Microdata, keys: Sequence[str] = (), *, k: int = 3, truth: Microdata | None = None
) -> SemanticsTable:
    """The file under every semantics, side by side."""
    check_integer(k, minimum=1, name="k", owner="compare_semantics")
    keys = keys_of(data, keys, owner="compare_semantics")
    shown, group = distinct_rows(data.codes(keys))
    copies = _totals(group, data.multiplicity, len(shown))
    if truth is None:
        del group
        return SemanticsTable(keys, k, data.n_records, _rows_as_it_is(shown, copies, k))
    true, own = distinct_rows(aligned_codes(truth, data, keys))
    found = _by_semantics(shown, true, copies, _totals(own, data.multiplicity, len(true)))
    both = np.minimum(found[Semantics.K1][group], found[Semantics.ONE_K][own])
    each = {one: counts[own if one is Semantics.ONE_K else group] for one, counts in found.items()}
    each[Semantics.KK] = both
    rows = [_row(one, each[one], data.multiplicity, k) for one in Semantics]
    return SemanticsTable(keys, k, data.n_records, tuple(rows))


def _totals(group: NDArray[np.int64], copies: NDArray[np.int64], n_groups: int) -> NDArray[np.int64]:
    return np.bincount(group, weights=copies, minlength=n_groups).astype(np.int64)


def _rows_as_it_is(shown: NDArray[np.int32], copies: NDArray[np.int64], k: int) -> tuple[SemanticsRow, ...]:
    """All readings of a file that is its own truth; counts are let go once they are read, since rows may be many."""
    blank = np.asarray((shown < 0).any(axis=1))
    if not blank.any():
        return tuple(_row(one, copies, copies, k) for one in Semantics)
    found = {}
    first = compatible_sums(shown, shown, copies, asking_wild=True, answering_wild=False)
    found[Semantics.K1] = _row(Semantics.K1, first, copies, k)
    second = compatible_sums(shown, shown, copies, asking_wild=False, answering_wild=True)
    found[Semantics.ONE_K] = _row(Semantics.ONE_K, second, copies, k)
    found[Semantics.KK] = _row(Semantics.KK, np.minimum(first, second), copies, k)
    del first, second
    loose = compatible_sums(shown, shown, copies, asking_wild=True, answering_wild=True)
    found[Semantics.MATCH_ANYTHING] = _row(Semantics.MATCH_ANYTHING, loose, copies, k)
    found[Semantics.OWN_CATEGORY] = _row(Semantics.OWN_CATEGORY, copies, copies, k)
    found[Semantics.NEVER_MATCH] = _row(Semantics.NEVER_MATCH, _never_match(blank, copies), copies, k)
    return tuple(found[one] for one in Semantics)


def _never_match(blank: NDArray[np.bool_], copies: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where a missing value matches nothing, a record that has one is alone, however many look like it."""
    return np.where(blank, 1, copies)


def _by_semantics(
    shown: NDArray[np.int32], true: NDArray[np.int32], copies: NDArray[np.int64], truly: NDArray[np.int64]
) -> dict[Semantics, NDArray[np.int64]]:
    """Counts of different published rows, those of `(1,k)` of different true rows."""
    return {
        Semantics.OWN_CATEGORY: copies,
        Semantics.MATCH_ANYTHING: compatible_sums(shown, shown, copies, asking_wild=True, answering_wild=True),
        Semantics.NEVER_MATCH: _never_match(np.asarray((shown < 0).any(axis=1)), copies),
        Semantics.K1: compatible_sums(shown, true, truly, asking_wild=True, answering_wild=False),
        Semantics.ONE_K: compatible_sums(true, shown, copies, asking_wild=False, answering_wild=True),
    }


def _row(semantics: Semantics, found: NDArray[np.int64], copies: NDArray[np.int64], k: int) -> SemanticsRow:
    return SemanticsRow(semantics, int(found.min()), int(copies[found < k].sum()), int(copies[found <= 1].sum()))
