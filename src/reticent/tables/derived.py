# SPDX-License-Identifier: Apache-2.0
"""Tables of shares and ratios from protected parts: nothing in them that the published tables do not say.

Means, shares and ratios are not additive and are never protected by themselves: each is calculated from two published values.
"""

from dataclasses import replace

import numpy as np

from reticent.base.checks import did_you_mean
from reticent.base.errors import ParameterError
from reticent.data.hierarchy import TOTAL
from reticent.data.published_table import EMPTY, HIDDEN, MAGNITUDE, PUBLISHED, PublishedTable

DECIMALS = 4


def ratio_table(numerator: PublishedTable, denominator: PublishedTable, *, name: str = "") -> PublishedTable:
    """Numerator by denominator, where both are published and the denominator is not 0."""
    if numerator.dimensions != denominator.dimensions:
        raise ParameterError(
            f"ratio: the tables must have the same dimensions, got {', '.join(numerator.dimensions)} and "
            f"{', '.join(denominator.dimensions)}."
        )
    below = dict(zip(denominator.codes, zip(denominator.status, denominator.values.tolist(), strict=True), strict=True))
    pairs = [below.get(codes, (HIDDEN, np.nan)) for codes in numerator.codes]
    label = name or f"{numerator.response} per {denominator.response}"
    return _divided(numerator, pairs, label, 1.0)


def share_table(table: PublishedTable, of: str, *, total: str = TOTAL) -> PublishedTable:
    """Each cell in per cent of the published total over the dimension `of`, its other codes alike."""
    if of not in table.dimensions:
        raise ParameterError(f"share: the table has no dimension {of!r}.{did_you_mean(of, table.dimensions)}")
    at = table.dimensions.index(of)
    known = dict(zip(table.codes, zip(table.status, table.values.tolist(), strict=True), strict=True))
    if all(codes[at] != total for codes in table.codes):
        raise ParameterError(f"share: dimension {of!r} has no code {total!r}; say which code is its total.")
    pairs = [known.get((*codes[:at], total, *codes[at + 1 :]), (HIDDEN, np.nan)) for codes in table.codes]
    return _divided(table, pairs, f"{table.response} in per cent of {of}", 100.0)


def _divided(table: PublishedTable, below: list[tuple[str, float]], response: str, factor: float) -> PublishedTable:
    values, status = [], []
    for state, value, (other, number) in zip(table.status, table.values.tolist(), below, strict=True):
        both = state == other == PUBLISHED and number != 0
        status.append(PUBLISHED if both else HIDDEN if HIDDEN in (state, other) else EMPTY)
        values.append(factor * value / number if both else np.nan)
    return replace(
        table, values=np.array(values), status=tuple(status), response=response, decimals=DECIMALS, kind=MAGNITUDE,
        measure=None,
    )  # fmt: skip
