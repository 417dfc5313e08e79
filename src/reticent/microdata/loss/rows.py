# SPDX-License-Identifier: Apache-2.0
"""Plain rows for pictures side by side: distributions, correlations and tables before and after. Confidential."""

from dataclasses import dataclass

import numpy as np

from reticent.data.microdata import Microdata
from reticent.microdata.loss.design import joint_codes
from reticent.microdata.loss.numbers import correlation
from reticent.microdata.loss.tables import cross_counts


@dataclass(frozen=True)
class Bar:
    """One class of a distribution: its label (or its limits), and the share of records in it before and after."""

    variable: str
    label: str
    before: float
    after: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Pair:
    """Something of two variables before and after: a correlation, or a cell of their table."""

    first: str
    second: str
    label: str
    before: float
    after: float


def distribution_rows(original: Microdata, masked: Microdata, name: str, *, bars: int = 24) -> list[Bar]:
    """A numeric variable in classes of equal width over both files, a coded one by its categories."""
    if original.schema[name].kind != "numeric":
        before, after, levels = joint_codes(original, masked, name)
        texts = _texts(original, masked, name)
        counts = [np.bincount(np.where(c < 0, levels, c), minlength=levels + 1) / len(c) for c in (before, after)]
        rows = [Bar(name, text, float(a), float(b)) for text, a, b in zip(texts, *counts)]
        if counts[0][levels] > 0 or counts[1][levels] > 0:
            rows.append(Bar(name, "missing", float(counts[0][levels]), float(counts[1][levels])))
        return rows
    x, y = original.numbers((name,))[:, 0], masked.numbers((name,))[:, 0]
    both = np.concatenate((x, y))
    edges = np.linspace(np.nanmin(both), np.nanmax(both), bars + 1)
    if edges[0] == edges[-1]:
        edges = np.array([edges[0] - 0.5, edges[0] + 0.5])
    shares = [np.histogram(v[~np.isnan(v)], edges)[0] / len(v) for v in (x, y)]
    return [
        Bar(name, f"{low:.6g} to {high:.6g}", float(a), float(b), float(low), float(high))
        for low, high, a, b in zip(edges[:-1], edges[1:], *shares)
    ]


def correlation_rows(original: Microdata, masked: Microdata, names: tuple[str, ...]) -> list[Pair]:
    """Correlations of all pairs of numeric variables."""
    before, after = correlation(original.numbers(names)), correlation(masked.numbers(names))
    return [
        Pair(names[i], names[j], "correlation", float(before[i, j]), float(after[i, j]))
        for i in range(len(names))
        for j in range(i + 1, len(names))
    ]


def table_rows(original: Microdata, masked: Microdata, first: str, second: str) -> list[Pair]:
    """Cells of the two-way table of two coded variables, counts before and after; cells empty in both are left out."""
    one, other = joint_codes(original, masked, first), joint_codes(original, masked, second)
    levels = (one[2], other[2])
    before = cross_counts(np.column_stack((one[0], other[0])), levels)
    after = cross_counts(np.column_stack((one[1], other[1])), levels)
    labels = [[*_texts(original, masked, name), "missing"] for name in (first, second)]
    return [
        Pair(first, second, f"{labels[0][i]} × {labels[1][j]}", float(before[i, j]), float(after[i, j]))
        for i, j in np.argwhere((before > 0) | (after > 0))
    ]


def _texts(original: Microdata, masked: Microdata, name: str) -> list[str]:
    known = list(original.categories(name))
    return known + [text for text in masked.categories(name) if text not in known]
