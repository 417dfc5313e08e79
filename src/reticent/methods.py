"""Protection methods of tables: `from reticent import methods`, then `methods.Heuristic()`."""

from typing import TYPE_CHECKING

from reticent.tables.methods import TABLE_METHODS as _METHODS

if TYPE_CHECKING:
    from reticent.tables.methods import *  # noqa: F403
    from reticent.tables.suppression import *  # noqa: F403

__all__ = sorted(method.__name__ for method in _METHODS.values())
globals().update({method.__name__: method for method in _METHODS.values()})
