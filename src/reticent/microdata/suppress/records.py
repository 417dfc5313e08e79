# SPDX-License-Identifier: Apache-2.0
"""Records of strata, and values that are blanked in them."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from reticent.data.microdata import Microdata
from reticent.data.schema import Kind


def strata_of(data: Microdata, strata: tuple[str, ...]) -> Iterator[NDArray[np.int64]]:
    """The records of each stratum; all of them where there are no strata."""
    if not strata:
        yield np.arange(data.n_rows)
        return
    group = data.patterns(strata).group
    order = np.argsort(group, kind="stable")
    yield from np.split(order, np.flatnonzero(np.diff(group[order])) + 1)


def with_blanks(data: Microdata, name: str, where: NDArray[np.bool_]) -> Microdata:
    """The data with values of a variable blanked."""
    if data.schema[name].kind is Kind.NUMERIC:
        return data.with_numbers(name, np.where(where, np.nan, data.numbers((name,))[:, 0]))
    codes = np.where(where, np.int32(-1), data.codes((name,))[:, 0])
    return data.with_codes(name, codes, data.categories(name))
