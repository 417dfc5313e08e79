# SPDX-License-Identifier: Apache-2.0
"""Safety rules of tables: `from reticent import rules`, then `rules.PPercent(15)`."""

from typing import TYPE_CHECKING

from reticent.tables.insider import dominance_flaw, why_dominance_misleads
from reticent.tables.rules import RULES as _RULES
from reticent.tables.rules import Rule

if TYPE_CHECKING:
    from reticent.tables.rules import *  # noqa: F403

__all__ = ["Rule", *sorted(rule.__name__ for rule in _RULES.values()), "dominance_flaw", "why_dominance_misleads"]
globals().update({rule.__name__: rule for rule in _RULES.values()})
