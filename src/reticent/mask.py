"""Masking methods of files: `from reticent import mask`, then `mask.Recode("age", bands=(16, 25, 35))`."""

from typing import TYPE_CHECKING

from reticent.microdata.mask import METHODS as _METHODS

if TYPE_CHECKING:
    from reticent.microdata.mask import *  # noqa: F403

__all__ = sorted(method.__name__ for method in _METHODS.values())
globals().update({method.__name__: method for method in _METHODS.values()})
