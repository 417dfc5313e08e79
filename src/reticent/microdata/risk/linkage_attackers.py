"""The attackers of record linkage: how one who has the true values measures the distance to published records.

Numbers are measured as they stand, by their ranks in each file (which rank swapping and noise on skewed numbers hardly
change), and by logarithms where all are positive. On each of these scales one attacker takes the usual distances of all
variables, one the numbers alone, one knows what was left alone (must agree) and how strongly the rest was disturbed, and
one also how the disturbances go together. Where true values are missing, two more go by which values are missing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from reticent.data.schema import Kind
from reticent.microdata.risk.linkage_coordinates import ABSENT_NUMBER

Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]
FAR = 1e-3
"""Disturbed numbers count this little beside variables that must agree."""


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
    lacking: Truths

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
    """One coordinate of an attacker: both files, whether codes must be equal, and what a blank costs."""

    true: Floats
    shown: Floats
    nominal: bool
    absent: float


Attacker = tuple[str, list[Part]]


def attackers(columns: Sequence[Column]) -> list[Attacker]:
    """Each attacker by name, with its coordinates."""
    if not columns:
        return []
    chosen = _on_scale(columns, "")
    for name, scale in (("ranks", _ranks), ("logarithms", _logarithms)):
        changed = [scale(column) if column.kind is Kind.NUMERIC else column for column in columns]
        if any(new is not old for new, old in zip(changed, columns, strict=True)):
            chosen += _on_scale(changed, f", by {name}")
    return chosen + _by_missing(columns)


def _on_scale(columns: Sequence[Column], scale: str) -> list[Attacker]:
    numbers = [column for column in columns if column.kind is Kind.NUMERIC]
    chosen: list[Attacker] = [(f"all variables{scale}", [_usual(column) for column in columns])]
    if numbers and len(numbers) < len(columns):
        chosen.append((f"numbers only{scale}", [_usual(column) for column in numbers]))
    chosen.append((f"knows what was left alone{scale}", [_informed(column) for column in columns]))
    moved = [column for column in numbers if column.error > 0]
    if len(moved) > 1 and not any(np.isnan(one.true).any() or np.isnan(one.shown).any() for one in moved):
        names = {id(column) for column in moved}
        rest = [_informed(column) for column in columns if id(column) not in names]
        chosen.append((f"knows how disturbances go together{scale}", [*rest, *_whitened(moved)]))
    return chosen


def _by_missing(columns: Sequence[Column]) -> list[Attacker]:
    """Which values are missing: flags of variables that true records lack, alone and beside what was left alone."""
    lacking = [column for column in columns if column.lacking.any()]
    if not lacking:
        return []
    flags = [_flag(column) for column in lacking]
    kept = [flag for flag, column in zip(flags, lacking, strict=True) if _keeps(flag, column)]
    chosen = [("which values are missing", flags)]
    return [*chosen, ("left alone and which values are missing", [*kept, *(_informed(column) for column in columns)])]


def _flag(column: Column) -> Part:
    return Part(column.lacking.astype(np.float64), np.isnan(column.shown).astype(np.float64), True, 1.0)


def _keeps(flag: Part, column: Column) -> bool:
    """Whether a value is missing in the published file exactly where it is missing in the true one."""
    here = column.own >= 0
    return bool((flag.true[column.own[here]] == flag.shown[here]).all())


def _ranks(column: Column) -> Column:
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


def _usual(column: Column) -> Part:
    """Numbers in standard deviations, ordered codes by their distance in the list, other codes 0 or 1."""
    if column.kind is Kind.NOMINAL:
        return Part(column.true, column.shown, True, 1.0)
    if column.kind is Kind.ORDINAL:
        scale = max(_largest(column.true), _largest(column.shown), 1.0)
        return Part(column.true / scale, column.shown / scale, False, 1.0)
    centre, spread = float(np.nanmean(column.true)), float(np.nanstd(column.true)) or 1.0
    return Part((column.true - centre) / spread, (column.shown - centre) / spread, False, ABSENT_NUMBER)


def _informed(column: Column) -> Part:
    """What was left alone must agree; a disturbed number counts in units of its disturbance, far less than agreement."""
    if column.kind is not Kind.NUMERIC:
        return Part(column.true, column.shown, True, 0.0)
    if column.error > 0:
        scale = column.error / FAR
        return Part(column.true / scale, column.shown / scale, False, 0.0)
    distinct, number = np.unique(np.concatenate((column.true, column.shown)), return_inverse=True)
    codes = np.where(np.isnan(distinct)[number.ravel()], np.nan, number.ravel().astype(np.float64))
    return Part(codes[: column.true.size], codes[column.true.size :], True, 0.0)


def _whitened(moved: Sequence[Column]) -> list[Part]:
    """Disturbed numbers in directions in which the disturbances do not go together, each in units of its disturbance."""
    here = moved[0].own >= 0
    errors = np.array([column.error for column in moved])
    gaps = np.column_stack([column.gap[here] for column in moved]) / errors
    values, vectors = np.linalg.eigh(gaps.T @ gaps / len(gaps))
    # A direction that is hardly disturbed says nearly everything; the floor keeps it finite.
    turn = vectors / np.sqrt(np.maximum(values, 1e-6 * values.max())) * FAR
    true = np.column_stack([column.true for column in moved]) / errors @ turn
    shown = np.column_stack([column.shown for column in moved]) / errors @ turn
    return [Part(true[:, at].copy(), shown[:, at].copy(), False, 0.0) for at in range(len(moved))]


def _largest(values: Floats) -> float:
    known: NDArray[np.float64] = values[~np.isnan(values)]
    return float(known.max()) if known.size else 0.0
