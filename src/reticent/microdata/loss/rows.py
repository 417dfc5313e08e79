# SPDX-License-Identifier: Apache-2.0
"""Plain rows for pictures side by side: distributions, correlations and tables before and after. Confidential."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reticent.base.words import number
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


def at_published_detail(original: Microdata, masked: Microdata, names: Sequence[str]) -> Microdata:
    """The original records with the codes that recoding gave them, so that only what else was changed differs.

    A variable stays as it is where a code became several, or where records do not stand for each other.
    """
    if original.n_rows != masked.n_rows or original.copies is not None or masked.copies is not None:
        return original
    for name in names:
        before, after = original.codes((name,))[:, 0], masked.codes((name,))[:, 0]
        both = (before >= 0) & (after >= 0)
        pairs = np.unique(np.column_stack((before[both], after[both])), axis=0)
        image = np.full(len(original.categories(name)) + 1, -1, dtype=np.int32)
        image[pairs[:, 0]] = pairs[:, 1]
        if len(pairs) == len(np.unique(pairs[:, 0])) and bool((image[before[before >= 0]] >= 0).all()):
            plain = original.schema.change(
                name, kind=masked.schema[name].kind, codes=(), labels=(), hierarchy=None, digits=()
            )
            original = original.with_schema(plain).with_codes(name, image[before], masked.categories(name))
    return original


def distribution_rows(
    original: Microdata, masked: Microdata, name: str, *, bars: int = 24, tails: float = 0.0
) -> list[Bar]:
    """A numeric variable in classes of equal width over both files, a coded one by its categories.

    The first and the last class also hold this share of the smallest and the largest values (`tails`).
    """
    if original.schema[name].kind != "numeric":
        before, after, levels = joint_codes(original, masked, name)
        texts = _texts(original, masked, name)
        counts = [np.bincount(np.where(c < 0, levels, c), minlength=levels + 1) / len(c) for c in (before, after)]
        rows = [Bar(name, text, float(a), float(b)) for text, a, b in zip(texts, *counts)]
        if counts[0][levels] > 0 or counts[1][levels] > 0:
            rows.append(Bar(name, "missing", float(counts[0][levels]), float(counts[1][levels])))
        return rows
    x, y = original.numbers((name,))[:, 0], masked.numbers((name,))[:, 0]
    low, high = np.nanquantile(np.concatenate((x, y)), (tails, 1 - tails)).tolist()
    edges = np.linspace(low, high, bars + 1)
    if edges[0] == edges[-1]:
        edges = np.array([edges[0] - 0.5, edges[0] + 0.5])
    shares = [np.histogram(np.clip(v[~np.isnan(v)], edges[0], edges[-1]), edges)[0] / len(v) for v in (x, y)]
    return [
        Bar(name, f"{number(low)} to {number(high)}", float(a), float(b), low, high)
        for low, high, a, b in zip(edges[:-1].tolist(), edges[1:].tolist(), *shares)
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
