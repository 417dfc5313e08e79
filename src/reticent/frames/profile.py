# SPDX-License-Identifier: Apache-2.0
"""What a column looks like, in counts: the facts that guesses about its meaning are made from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from reticent.frames.frame import Frame, as_text

WORDS_FOR_MISSING = ("na", "n/a", "nan", "null", ".", "?", "-", "missing", "unknown")
MANY_NINES = 2  # a 99 that stands once may be a value


@dataclass(frozen=True)
class Profile:
    """Counts and shapes of one column. `missing_codes` are values that look like codes for "not known".

    `prefixes[i]` is the number of different prefixes of length i + 1, where all codes have one length (else empty).
    """

    name: str
    n_records: int
    n_empty: int
    n_distinct: int
    is_number: bool
    is_whole: bool
    leading_zeros: bool
    positive: bool
    missing_codes: tuple[str, ...]
    n_missing_codes: int
    prefixes: tuple[int, ...]
    ranges: bool

    @property
    def n_present(self) -> int:
        """Records with a value."""
        return self.n_records - self.n_empty - self.n_missing_codes

    @property
    def unique(self) -> bool:
        """Whether no two records share a value, and none is empty."""
        return self.n_records > 1 and self.n_distinct == self.n_records


def profile(frame: Frame, name: str, *, missing: Sequence[str] = ()) -> Profile:
    """Look at one column; `missing` are codes known to mean "not known", else they are guessed."""
    counted = frame.table[name].value_counts(name="reticent_often")
    return profile_counted(Frame(counted.select(name)), name, counted["reticent_often"].to_numpy(), missing=missing)


def profile_counted(distinct: Frame, name: str, counts: NDArray[Any], *, missing: Sequence[str] = ()) -> Profile:
    """Look at one column by its different values and how many records have each.

    A file has far more records than values, so that everything is asked of the values.
    """
    column = distinct.table[name]
    text, often = _texts(column, pl.Series(counts))
    words = [*missing, *(f"{code}.0" for code in missing)] if missing else _missing_words(text)
    meant = ~text.is_in(words) if words else pl.repeat(True, len(text), eager=True)
    rest, rest_often = text.filter(meant), often.filter(meant)
    numbers = rest.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
    is_number = len(rest) > 0 and numbers.null_count() == 0
    whole = is_number and bool((numbers == numbers.round()).all())
    zeros = column.dtype == pl.String and bool(rest.str.contains(r"^0\d").any())
    sentinels = _sentinels(rest, numbers, rest_often) if whole and not missing else ()
    kept_ones = ~rest.is_in(list(sentinels)) if sentinels else pl.repeat(True, len(rest), eager=True)
    kept, values = rest.filter(kept_ones), numbers.filter(kept_ones)
    n_records, n_present = int(counts.sum()), int(often.sum())
    return Profile(
        name=name,
        n_records=n_records,
        n_empty=n_records - n_present,
        n_distinct=len(kept),
        is_number=is_number,
        is_whole=whole,
        leading_zeros=zeros,
        positive=is_number and bool((values > 0).all()),
        missing_codes=tuple(missing) or (*words, *sentinels),
        n_missing_codes=n_present - int(rest_often.filter(kept_ones).sum()),
        prefixes=_prefixes(kept),
        ranges=len(kept) > 0 and bool(kept.str.contains(r"^\s*[<>]?=?\s*\d+\s*(-|–|to|\+)\s*\d*\s*$").all()),
    )


def _texts(column: pl.Series, counts: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Each value once, as text without spaces around it, and how many records have it; empty ones are left out."""
    text = as_text(column)
    if column.dtype == pl.String:
        text = text.str.strip_chars()
        text = text.set(text == "", None)
    table = pl.DataFrame({"text": text, "often": counts.cast(pl.Int64)}).drop_nulls("text")
    if column.dtype == pl.String:  # spaces may have set values apart
        table = table.group_by("text").agg(pl.col("often").sum())
    return table["text"], table["often"]


def _missing_words(found: pl.Series) -> list[str]:
    return sorted(found.filter(found.str.to_lowercase().is_in(list(WORDS_FOR_MISSING))).to_list())


def _sentinels(text: pl.Series, numbers: pl.Series, counts: pl.Series) -> tuple[str, ...]:
    """Codes of nines above a gap, or small negative codes where all else is not negative."""
    values = np.unique(numbers.to_numpy())
    found: list[float] = []
    top = float(values[-1])
    if len(values) > 2 and top > 0 and set(str(int(top))) == {"9"}:
        gap = top - float(values[-2])
        often = int(counts.filter(numbers == top).sum()) >= MANY_NINES
        if often and gap > max(1.0, 0.1 * top):
            found.append(top)
    negative = values[values < 0]
    if (
        0 < len(negative) <= 3
        and len(values) > len(negative) + 1
        and set(negative) <= {-1, -2, -3, -7, -8, -9, -98, -99}
    ):
        found.extend(float(value) for value in negative)
    spelled = text.filter(numbers.is_in(found)).unique().sort().to_list() if found else []
    return tuple(spelled)


def _prefixes(text: pl.Series) -> tuple[int, ...]:
    if len(text) == 0:
        return ()
    lengths = text.str.len_chars().unique()
    longest = int(lengths[0])
    if len(lengths) != 1 or not 2 <= longest <= 12:
        return ()
    return tuple(text.str.slice(0, cut).n_unique() for cut in range(1, longest + 1))


def constant_within(frame: Frame, names: Sequence[str], group: str) -> tuple[str, ...]:
    """Those columns that have one value in every group (empty counts as a value)."""
    varied = frame.table.group_by(group).agg([pl.col(name).n_unique() for name in names])
    return tuple(name for name in names if bool((varied[name] <= 1).all()))


def distinct_rows(frame: Frame, names: Sequence[str]) -> list[tuple[str, ...]]:
    """Each combination of codes that occurs, once, in order; records without a first code are left out."""
    texts = pl.DataFrame({name: as_text(frame.table[name]) for name in names})
    return texts.filter(pl.col(names[0]).is_not_null()).unique().sort(names[::-1]).rows()


def group_sizes(frame: Frame, name: str) -> tuple[int, int]:
    """Number of groups of equal values, and size of the largest."""
    sizes = frame.table.group_by(name).len()["len"].to_numpy()
    return len(sizes), int(sizes.max())


def frequent_values(frame: Frame, name: str, n: int) -> tuple[str, ...]:
    """The n most frequent values, for the protector's own eyes."""
    counts = as_text(frame.table[name]).drop_nulls().value_counts(sort=True)
    return tuple(counts[name].head(n).to_list())


def distribution(frame: Frame, name: str, *, numeric: bool, most: int = 20) -> tuple[int, ...]:
    """How records spread over a column, in counts alone: equal bands of numbers, or codes in their order, taken together."""
    counted = frame.table[name].rename("value").value_counts(name="often")
    table = pl.DataFrame({"text": as_text(counted["value"]), "often": counted["often"].cast(pl.Int64)}).drop_nulls(
        "text"
    )
    if numeric:
        numbers = table["text"].str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
        good = numbers.is_finite().fill_null(False)
        values, often = numbers.filter(good), table["often"].filter(good)
        if values.n_unique() > 1:
            return tuple(
                int(count) for count in np.histogram(values.to_numpy(), bins=most, weights=often.to_numpy())[0]
            )
    counts = table.sort("text")["often"].to_list()
    return tuple(
        int(part.sum()) for part in np.array_split(np.array(counts, dtype=np.int64), min(most, len(counts)) or 1)
    )
