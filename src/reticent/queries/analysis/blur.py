# SPDX-License-Identifier: Apache-2.0
"""A factor for each respondent and response, drawn once for ever: what averaging over many universes can at best come to.

Every universe that differs within a stratum loses other records, so whoever asks about many of them can average out what
was dropped. The factors do not average out: a respondent's values are multiplied by 1 + e with |e| between half of `blur`
and `blur`, the same in every universe, for every user and in every version of the data. Sums of many hardly change.
"""

import hashlib

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats
from reticent.base.randomness import Secret
from reticent.data.microdata import Microdata
from reticent.kernels.draws import uniform_matrix


def respondent_ids(data: Microdata) -> NDArray[np.uint64]:
    """A number for each record that means the same respondent in every version: of the entity's name, or the record's id."""
    entity = data.entity()
    if entity is None:
        return data.record_ids()
    names = data.categories(str(data.schema.entity))
    hashed = [int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little") for name in names]
    return np.where(entity >= 0, np.array([*hashed, 0], dtype=np.uint64)[entity], data.record_ids())


def blur_factors(ids: NDArray[np.uint64], response: str, *, blur: float, secret: Secret) -> Floats:
    """1 + e for each record, keyed by its respondent, the response and `blur`.

    With another `blur` it is drawn again: two factors from one draw, of different sizes, would give the value.
    """
    draws = uniform_matrix(*secret.words(f"{response} {float(blur)!r}"), ids, 2)
    size = blur * (0.5 + 0.5 * draws[:, 0])
    return np.asarray(1.0 + np.where(draws[:, 1] < 0.5, -size, size), dtype=np.float64)


def blurred(values: Floats, factors: Floats) -> Floats:
    """Values with their factors. A response of zeros and ones only stays as it is: factors would not hide which is which."""
    there = values[~np.isnan(values)]
    if bool(((there == 0.0) | (there == 1.0)).all()):
        return values
    with np.errstate(
        over="ignore"
    ):  # answers beyond floating-point numbers are refused, without a word on standard error
        return np.asarray(values * factors, dtype=np.float64)
