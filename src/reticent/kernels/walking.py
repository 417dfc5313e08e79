# SPDX-License-Identifier: Apache-2.0
"""Draws of a random walk inside a kernel: two words of state, so that the same state gives the same walk everywhere."""

from typing import Any

import numpy as np
from numba import njit

from reticent.base.arrays import Words


@njit(cache=True, nogil=True, inline="always")
def next_word(words: Words) -> Any:
    """One step of a xorshift generator of 128 bits (Marsaglia 2003); `words` is its state, not both zero.

    Only shifts and exclusive ors: nothing overflows when kernels run without compilation.
    """
    a, b = words[0], words[1]
    a ^= a << np.uint64(23)
    words[0] = b
    words[1] = a ^ b ^ (a >> np.uint64(18)) ^ (b >> np.uint64(5))
    return words[1]


@njit(cache=True, nogil=True, inline="always")
def below(words: Words, bound: int) -> Any:
    """A whole number below `bound`, from the upper 31 bits."""
    return np.int64(((next_word(words) >> np.uint64(33)) * np.uint64(bound)) >> np.uint64(31))


@njit(cache=True, nogil=True, inline="always")
def accept(change: float, heat: float, words: Words) -> bool:
    """Metropolis' rule; the draw is made only when it can matter."""
    if change <= 0.0:
        return True
    if change > 30.0 * heat:
        return False
    share = np.float64(next_word(words) >> np.uint64(11)) * (1.0 / 9007199254740992.0)
    return bool(share < np.exp(-change / heat))
