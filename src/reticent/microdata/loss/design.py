# SPDX-License-Identifier: Apache-2.0
"""Design matrices for the models that judge a masked file: standardised numbers, indicators of codes, missing flags.

Both files share one design: the numbers are scaled by the original, a code that only one file has gets its column.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind

MOST_LEVELS = 50
"""Codes beyond the most frequent this many share one column: a model cannot use what nearly nobody has."""


def joint_codes(original: Microdata, masked: Microdata, name: str) -> tuple[NDArray[np.int32], NDArray[np.int32], int]:
    """Codes of both files over one common list of categories, and its length; −1 is missing."""
    first, second = original.categories(name), masked.categories(name)
    if first == second:
        return original.codes((name,))[:, 0], masked.codes((name,))[:, 0], len(first)
    place = {text: at for at, text in enumerate(first)}
    for text in second:
        place.setdefault(text, len(place))
    turn = np.array([place[text] for text in second] + [-1], dtype=np.int32)
    return original.codes((name,))[:, 0], turn[masked.codes((name,))[:, 0]], len(place)


def joint_design(original: Microdata, masked: Microdata, names: Sequence[str]) -> tuple[Floats, Floats]:
    """Columns for both files, without intercept; the first code of each variable is the reference."""
    left: list[Floats] = []
    right: list[Floats] = []
    for name in names:
        numeric = original.schema[name].kind is Kind.NUMERIC and masked.schema[name].kind is Kind.NUMERIC
        one, other = (_numeric if numeric else _indicators)(original, masked, name)
        left.append(one)
        right.append(other)
    if not left:
        return np.empty((original.n_records, 0)), np.empty((masked.n_records, 0))
    return np.concatenate(left, axis=1), np.concatenate(right, axis=1)


def _numeric(original: Microdata, masked: Microdata, name: str) -> tuple[Floats, Floats]:
    x, y = original.numbers((name,))[:, 0], masked.numbers((name,))[:, 0]
    gone = np.isnan(x), np.isnan(y)
    present = x[~gone[0]]
    middle = float(present.mean()) if present.size else 0.0
    spread = float(present.std()) if present.size else 0.0
    spread = spread if spread > 0 else 1.0
    columns = [[np.where(lost, 0.0, (v - middle) / spread)] for v, lost in zip((x, y), gone)]
    if gone[0].any() or gone[1].any():
        for column, lost in zip(columns, gone):
            column.append(lost.astype(float))
    return np.stack(columns[0], axis=1), np.stack(columns[1], axis=1)


def _indicators(original: Microdata, masked: Microdata, name: str) -> tuple[Floats, Floats]:
    x, y, levels = joint_codes(original, masked, name)
    both = np.concatenate((x, y))
    counts = np.bincount(np.where(both < 0, levels, both), minlength=levels + 1)
    order = np.argsort(-counts, kind="stable")
    order = order[counts[order] > 0]
    column_of = np.full(levels + 1, min(order.size, MOST_LEVELS) - 1)
    column_of[order[:MOST_LEVELS]] = np.arange(min(order.size, MOST_LEVELS))
    width = int(column_of.max())
    out = []
    for codes in (x, y):
        column = column_of[np.where(codes < 0, levels, codes)]
        out.append((column[:, None] == np.arange(1, width + 1)[None, :]).astype(float))
    return out[0], out[1]
