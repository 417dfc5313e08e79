# SPDX-License-Identifier: Apache-2.0
"""The simple mode of tabular adjustment: risky inner counts leave downwards and upwards in turn (SESRIC 458, table 2.11)."""

import numpy as np

from reticent.base.arrays import Ints
from reticent.base.randomness import Secret


def alternated(inner: Ints, base: int, secret: Secret) -> Ints:
    """Inner counts where those from 1 to base − 1 become 0 and the base in turn, largest first; the first way is drawn.

    >>> from reticent.base.randomness import as_secret
    >>> sorted(alternated(np.array([2, 9, 1, 2, 1]), 3, as_secret(1)).tolist())
    [0, 0, 3, 3, 9]
    """
    risky = np.flatnonzero((inner > 0) & (inner < base))
    order = risky[np.argsort(-inner[risky], kind="stable")]
    first_up = int(secret.stream("alternating").integers(2))
    out = inner.copy()
    out[order] = np.where(np.arange(len(order)) % 2 == 1 - first_up, base, 0)
    return out
