# SPDX-License-Identifier: Apache-2.0
"""Masking methods of files: `from reticent import mask`, then `mask.Recode("age", bands=(16, 25, 35))`."""

from typing import TYPE_CHECKING

from reticent.microdata.mask import METHODS as _METHODS
from reticent.microdata.perturb.moment_relation import masked_moment, original_moments
from reticent.microdata.perturb.transition_matrix import estimate_counts

if TYPE_CHECKING:
    from reticent.microdata.mask import *  # noqa: F403

__all__ = [
    *sorted(method.__name__ for method in _METHODS.values()), "estimate_counts", "masked_moment", "original_moments",
]  # fmt: skip
globals().update({method.__name__: method for method in _METHODS.values()})
