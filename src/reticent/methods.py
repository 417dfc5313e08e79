# SPDX-License-Identifier: Apache-2.0
"""Protection methods of tables: `from reticent import methods`, then `methods.Heuristic()`."""

from typing import TYPE_CHECKING

from reticent.tables.methods import TABLE_METHODS as _METHODS
from reticent.tables.perturb.ptable import ptable_text
from reticent.tables.perturb.ptable_design import Design, design_ptable

if TYPE_CHECKING:
    from reticent.tables.methods import *  # noqa: F403
    from reticent.tables.suppression import *  # noqa: F403

__all__ = [*sorted(method.__name__ for method in _METHODS.values()), "Design", "design_ptable", "ptable_text"]
globals().update({method.__name__: method for method in _METHODS.values()})
