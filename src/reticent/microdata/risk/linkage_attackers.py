# SPDX-License-Identifier: Apache-2.0
"""The attackers of record linkage: how one who has the true values measures the distance to published records.

Numbers are measured as they stand, by their ranks in each file (which rank swapping and noise on skewed numbers hardly
change), and by logarithms where all are positive. On each of these scales one attacker takes the usual distances of all
variables, one the numbers alone, one knows what was left alone (must agree) and how strongly the rest was disturbed, and
one also how the disturbances go together. One more knows how strongly each group of a code that was left alone was disturbed
(noise within strata). Where true values are missing, two more go by which values are missing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Mask
from reticent.data.schema import Kind
from reticent.microdata.risk.linkage_coordinates import ABSENT_NUMBER

FAR = 1e-3
"""Disturbed numbers count this little beside variables that must agree."""
SMALLEST_GROUP = 10
"""This many records show how strongly their group was disturbed; smaller groups take the strength of the file."""
LEAST_CONTRAST = 0.1
"""Groups are tried where their disturbances differ by about this share on average."""


@dataclass(frozen=True)
class Column:
    """One variable of both files: true values at the published detail, and published values; NaN is missing.

    `own` is the position of the true record of each published one (−1: none); `lacking` says which true records have no
    value (a value that is never shown is NaN in `true`, and not lacking).
    """

    true: Floats
    shown: Floats
    kind: Kind
    own: NDArray[np.int64]
    lacking: Mask

    @property
    def gap(self) -> Floats:
        """True minus published value of each published record."""
        return np.where(self.own >= 0, self.true[self.own], np.nan) - self.shown

    @property
    def error(self) -> float:
        """The disturbance of a number: root mean square, 0 if it was left alone."""
        known = self.gap[~np.isnan(self.gap)]
        return float(np.sqrt(np.mean(known**2))) if known.size else 0.0


@dataclass(frozen=True)
class Part:
    """One coordinate of an attacker: both files, what unequal codes cost (0: a number), and what a blank costs."""

    true: Floats
    shown: Floats
    nominal: float
    absent: float


Attacker = tuple[str, list[Part]]


def attackers(columns: Sequence[Column]) -> list[Attacker]:
    """Each attacker by name, with its coordinates."""
    if not columns:
        return []
    chosen = _on_scale(columns, "")
    for name, scale in (("ranks", ranked), ("logarithms", _logarithms)):
        changed = [scale(column) if column.kind is Kind.NUMERIC else column for column in columns]
        if any(new is not old for new, old in zip(changed, columns, strict=True)):
            chosen += _on_scale(changed, f", by {name}")
    return chosen + _by_weight(columns) + _by_group(columns) + _by_missing(columns)


def _on_scale(columns: Sequence[Column], scale: str) -> list[Attacker]:
    numbers = [column for column in columns if column.kind is Kind.NUMERIC]
    chosen: list[Attacker] = [(f"all variables{scale}", [usual(column) for column in columns])]
    if numbers and len(numbers) < len(columns):
        chosen.append((f"numbers only{scale}", [usual(column) for column in numbers]))
    chosen.append((f"knows what was left alone{scale}", [informed(column) for column in columns]))
    if len(moved_numbers(columns)) > 1:
        chosen.append((f"knows how disturbances go together{scale}", _together(columns)))
    return chosen


def moved_numbers(columns: Sequence[Column]) -> list[Column]:
    """The numbers that were disturbed."""
    return [column for column in columns if column.kind is Kind.NUMERIC and column.error > 0]


def _together(columns: Sequence[Column]) -> list[Part]:
    """What was left alone, disturbed numbers in directions of their own, and which of them are missing where that was kept."""
    moved = moved_numbers(columns)
    names = {id(column) for column in moved}
    rest = [informed(column) for column in columns if id(column) not in names]
    flags = [(_flag(column), column) for column in moved if column.lacking.any()]
    return [*rest, *whitened(moved, unit=FAR), *(flag for flag, column in flags if _keeps(flag, column))]


def _by_weight(columns: Sequence[Column]) -> list[Attacker]:
    """Codes by how much agreement says: much where they rarely change and rarely agree by chance (Fellegi and Sunter 1969)."""
    codes = [column for column in columns if column.kind is not Kind.NUMERIC]
    if not any(bool((np.nan_to_num(column.gap) != 0).any()) for column in codes):
        return []
    # numbers in units of their disturbance are on the same scale: half of the square is minus a log-likelihood
    numbers = [
        replace(part, true=part.true / 2**0.5, shown=part.shown / 2**0.5) for part in whitened(moved_numbers(columns))
    ]
    fixed = [column for column in columns if column.kind is Kind.NUMERIC and column.error == 0]
    parts = [Part(*as_codes(column), _agreement(column), 0.0) for column in (*codes, *fixed)]
    return [("knows how often each variable was changed", [*parts, *numbers])]


def _agreement(column: Column) -> float:
    """The logarithm of the odds of agreement between own records over those by chance; at least a little above 0."""
    own = column.gap[~np.isnan(column.gap)] == 0
    true, shown = as_codes(column)
    wide = int(np.nanmax(np.concatenate((true, shown, [0.0])))) + 1
    first, second = (np.bincount(one[~np.isnan(one)].astype(np.int64), minlength=wide) for one in (true, shown))
    chance = float(first @ second) / max(float(first.sum()) * float(second.sum()), 1.0)
    stay, by_chance = (min(max(share, 1e-6), 1.0 - 1e-6) for share in (float(own.mean()) if own.size else 0.5, chance))
    return max(float(np.log(stay / (1 - stay)) - np.log(by_chance / (1 - by_chance))), 1e-6)


def _by_group(columns: Sequence[Column]) -> list[Attacker]:
    """Disturbances in units of each group's own, for the grouping by codes left alone in which they differ most."""
    moved = moved_numbers(columns)
    kept = [column for column in columns if column.kind is not Kind.NUMERIC and _untouched(column)]
    groupings = [[column] for column in kept] + ([kept] if len(kept) > 1 else [])
    if not moved or not groupings:
        return []
    tried = [_strengths(moved, grouping) for grouping in groupings]
    contrast, scales = max(tried, key=lambda pair: pair[0])
    if contrast < LEAST_CONTRAST:
        return []
    place = {id(column): at for at, column in enumerate(moved)}
    scaled = [
        replace(one, true=one.true / scales[0][:, place[id(one)]], shown=one.shown / scales[1][:, place[id(one)]])
        if id(one) in place
        else one
        for one in columns
    ]
    return [("knows how strongly each group was disturbed", _together(scaled))]


def _untouched(column: Column) -> bool:
    """Whether every published record shows its true code."""
    return bool((column.gap[column.own >= 0] == 0).all()) and not np.isnan(column.true).any()


def _strengths(moved: Sequence[Column], grouping: Sequence[Column]) -> tuple[float, tuple[Floats, Floats]]:
    """How much the disturbances of groups differ, and the disturbance of each number by true and by published record."""
    codes = np.vstack(
        [np.column_stack([column.true for column in grouping]), np.column_stack([column.shown for column in grouping])]
    )
    _, group = np.unique(codes, axis=0, return_inverse=True)
    n_true = grouping[0].true.size
    shown = group.ravel()[n_true:]
    scales, contrasts = np.empty((codes.shape[0], len(moved))), []
    for at, column in enumerate(moved):
        known = ~np.isnan(column.gap)
        many = np.bincount(shown[known], minlength=int(group.max()) + 1)
        squares = np.bincount(shown[known], weights=column.gap[known] ** 2, minlength=many.size)
        enough = (many >= SMALLEST_GROUP) & (squares > 0)
        strength = np.where(enough, np.sqrt(squares / np.maximum(many, 1)), column.error)
        scales[:, at] = strength[group.ravel()]
        contrasts.append(float(np.abs(np.log(scales[n_true:, at] / column.error)).mean()))
    return float(np.mean(contrasts)), (scales[:n_true], scales[n_true:])


def _by_missing(columns: Sequence[Column]) -> list[Attacker]:
    """Which values are missing: flags of variables that true records lack, alone and beside what was left alone."""
    lacking = [column for column in columns if column.lacking.any()]
    if not lacking:
        return []
    flags = [_flag(column) for column in lacking]
    kept = [flag for flag, column in zip(flags, lacking, strict=True) if _keeps(flag, column)]
    chosen = [("which values are missing", flags)]
    return [*chosen, ("left alone and which values are missing", [*kept, *(informed(column) for column in columns)])]


def _flag(column: Column) -> Part:
    return Part(column.lacking.astype(np.float64), np.isnan(column.shown).astype(np.float64), 1.0, 1.0)


def _keeps(flag: Part, column: Column) -> bool:
    """Whether a value is missing in the published file exactly where it is missing in the true one."""
    here = column.own >= 0
    return bool((flag.true[column.own[here]] == flag.shown[here]).all())


def ranked(column: Column) -> Column:
    """A number by its ranks in each file."""
    return replace(column, true=_rank(column.true), shown=_rank(column.shown))


def _rank(values: Floats) -> Floats:
    """Middle ranks in (0, 1); a missing value has none."""
    result = np.full(values.size, np.nan)
    present = ~np.isnan(values)
    if present.any():
        _, place, many = np.unique(values[present], return_inverse=True, return_counts=True)
        middle = np.cumsum(many) - many / 2
        result[present] = middle[place.ravel()] / values[present].size
    return result


def _logarithms(column: Column) -> Column:
    """Logarithms where all values of both files are positive, else the column as it is."""
    lowest = min(np.nanmin(values, initial=np.inf) for values in (column.true, column.shown))
    return replace(column, true=np.log(column.true), shown=np.log(column.shown)) if lowest > 0 else column


def usual(column: Column) -> Part:
    """Numbers in standard deviations, ordered codes by their distance in the list, other codes 0 or 1."""
    if column.kind is Kind.NOMINAL:
        return Part(column.true, column.shown, 1.0, 1.0)
    if column.kind is Kind.ORDINAL:
        scale = max(_largest(column.true), _largest(column.shown), 1.0)
        return Part(column.true / scale, column.shown / scale, 0.0, 1.0)
    centre, spread = float(np.nanmean(column.true)), float(np.nanstd(column.true)) or 1.0
    return Part((column.true - centre) / spread, (column.shown - centre) / spread, 0.0, ABSENT_NUMBER)


def informed(column: Column) -> Part:
    """What was left alone must agree; a disturbed number counts in units of its disturbance, far less than agreement."""
    if column.kind is not Kind.NUMERIC:
        return Part(column.true, column.shown, 1.0, 0.0)
    if column.error > 0:
        scale = column.error / FAR
        return Part(column.true / scale, column.shown / scale, 0.0, 0.0)
    return Part(*as_codes(column), 1.0, 0.0)


def as_codes(column: Column) -> tuple[Floats, Floats]:
    """Both files of a variable in one numbering from 0; NaN is missing."""
    distinct, number = np.unique(np.concatenate((column.true, column.shown)), return_inverse=True)
    codes = np.where(np.isnan(distinct)[number.ravel()], np.nan, number.ravel().astype(np.float64))
    return codes[: column.true.size], codes[column.true.size :]


def whitened(moved: Sequence[Column], *, unit: float = 1.0) -> list[Part]:
    """Disturbed numbers in directions in which the disturbances do not go together, each in units of its disturbance.

    Numbers with few missing values come first and each direction needs only those before it, so that a record that lacks a
    value keeps the directions that do without it.
    """
    if not moved:
        return []
    ordered = sorted(moved, key=lambda column: int(np.isnan(column.true).sum() + np.isnan(column.shown).sum()))
    errors = np.array([column.error for column in ordered])
    gaps = np.column_stack([column.gap for column in ordered]) / errors
    whole = gaps[~np.isnan(gaps).any(axis=1)]
    spread = whole.T @ whole / max(len(whole), 1) if len(whole) > len(ordered) else np.eye(len(ordered))
    # A direction that is hardly disturbed says nearly everything; the floor keeps it finite.
    floor = 1e-6 * float(np.linalg.eigvalsh(spread).max()) * np.eye(len(ordered))
    factor = np.linalg.cholesky(spread + floor)
    true = turned(np.column_stack([column.true for column in ordered]) / errors, factor)
    shown = turned(np.column_stack([column.shown for column in ordered]) / errors, factor)
    absent = ABSENT_NUMBER * np.nan_to_num(np.nanvar(true, axis=0)) * unit**2
    return [
        Part(
            np.ascontiguousarray(true[:, at]) * unit, np.ascontiguousarray(shown[:, at]) * unit, 0.0, float(absent[at])
        )
        for at in range(len(ordered))
    ]


def turned(values: Floats, factor: Floats) -> Floats:
    """Solve factor · turned = value for each row, one direction after the other: a missing value spoils only later ones."""
    turned = np.empty_like(values)
    for at in range(values.shape[1]):
        needed = [j for j in range(at) if factor[at, j] != 0]
        before = sum((factor[at, j] * turned[:, j] for j in needed), np.zeros(len(values)))
        turned[:, at] = (values[:, at] - before) / factor[at, at]
    return turned


def _largest(values: Floats) -> float:
    known: NDArray[np.float64] = values[~np.isnan(values)]
    return float(known.max()) if known.size else 0.0
