# SPDX-License-Identifier: Apache-2.0
"""Record keys, and the cell key that a set of records gets from them.

Every record has a key in [0, 1) for ever. The keys of a set are added up modulo 1, in whole numbers, so that the order
of the records never matters: the same set of records has the same cell key in every table and in every query.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Words
from reticent.base.errors import DataError, ParameterError
from reticent.base.randomness import Secret
from reticent.data.microdata import Microdata
from reticent.kernels.draws import uniforms

BITS = 53
MAX_DIGITS = 15
DRAWN_DIGITS = 12
_HALF = 10**8


@dataclass(frozen=True, eq=False)
class RecordKeys:
    """The keys of all records as whole numbers, in two columns so that sums over any number of records are exact.

    Keys of a column have `digits` decimals. Drawn keys (digits 0) are numbers of 53 bits, and the cell key is another
    keyed draw from their sum: the keys of two sets then say nothing about that of their union.
    """

    parts: Words = field(repr=False)
    digits: int = 0
    words: tuple[int, int] = field(default=(0, 0), repr=False)

    def __repr__(self) -> str:
        return f"<RecordKeys of {len(self.parts)} records>"

    @classmethod
    def drawn(cls, secret: Secret, ids: Words) -> "RecordKeys":
        """Keys drawn from the secret by record id."""
        drawn = (uniforms(*secret.words("record keys"), ids) * 2.0**BITS).astype(np.uint64)
        return cls(np.column_stack((drawn, np.zeros_like(drawn))), 0, secret.words("cell keys"))

    @classmethod
    def of_column(cls, values: Floats, *, name: str, digits: int | None = None) -> "RecordKeys":
        """Keys that are stored with the records: numbers from 0 up to but without 1, of at most 15 decimals."""
        if np.isnan(values).any():
            raise DataError(
                f"record keys: {name!r} is missing in some records; every record needs a key.", variables=(name,)
            )
        if bool(((values < 0) | (values >= 1)).any()):
            raise DataError(f"record keys: {name!r} must be at least 0 and below 1 in every record.", variables=(name,))
        decimals = _decimals(values) if digits is None else digits
        if not 1 <= decimals <= MAX_DIGITS:
            raise ParameterError(f"record keys: {name!r} must have 1 to {MAX_DIGITS} decimals, got {decimals}.")
        whole = np.rint(values * 10.0**decimals).astype(np.uint64) % np.uint64(10**decimals)
        return cls(np.column_stack((whole % np.uint64(_HALF), whole // np.uint64(_HALF))), decimals)

    def without(self, records: NDArray[np.bool_]) -> "RecordKeys":
        """The same where some records do not count: their key is 0."""
        return RecordKeys(np.where(records[:, None], np.uint64(0), self.parts), self.digits, self.words)

    def fraction(self, sums: Words) -> Floats:
        """The cell keys of sums of `parts` (one row per set)."""
        if self.digits == 0:
            whole = sums[:, 0] & np.uint64(2**BITS - 1)
            return uniforms(*self.words, whole)
        carried = sums[:, 0] // np.uint64(_HALF) + sums[:, 1]
        low = sums[:, 0] % np.uint64(_HALF)
        modulus = 10 ** max(self.digits - 8, 0)
        whole = (carried % np.uint64(modulus)) * np.uint64(_HALF) + low
        if self.digits < 8:
            whole = low % np.uint64(10**self.digits)
        return np.asarray(whole.astype(np.float64) / 10.0**self.digits)


def contributing_keys(
    data: Microdata, name: str, response: str | None, secret: Secret, *, owner: str, zeros: bool = False
) -> RecordKeys:
    """The keys of all records, from the variable `name` or drawn; without `zeros` those that contribute 0 stay out."""
    if name:
        data.schema.require([name], owner=owner)
        column = data.numbers((name,))[:, 0]
        keys = RecordKeys.of_column(column, name=name, digits=data.schema[name].decimals or None)
    else:
        keys = RecordKeys.drawn(secret, data.record_ids())
    if response is None or zeros:
        return keys
    amounts = data.numbers((response,))[:, 0]
    return keys.without(np.isnan(amounts) | (amounts == 0))


def _decimals(values: Floats) -> int:
    for digits in range(1, MAX_DIGITS + 1):
        scaled = values * 10.0**digits
        if bool((np.abs(scaled - np.rint(scaled)) <= 1e-15 * 10.0**digits).all()):
            return digits
    return MAX_DIGITS


def turned(keys: Floats, digits: int) -> Floats:
    """Each key with its first decimal moved behind its last one, as tau-ARGUS does for further contributions."""
    whole = np.rint(keys * 10.0**digits).astype(np.int64) % 10**digits
    first, rest = np.divmod(whole, 10 ** (digits - 1))
    return np.asarray((rest * 10 + first) / 10.0**digits)
