# SPDX-License-Identifier: Apache-2.0
"""Secondary suppression: which further cells to hide so that the attacker cannot undo the primaries."""

from reticent.base.checks import check_choice
from reticent.tables.costs import NUMBER_COSTS
from reticent.tables.suppression.elimination import Elimination
from reticent.tables.suppression.heuristic import Heuristic
from reticent.tables.suppression.hypercube import Hypercube
from reticent.tables.suppression.method import Suppression, SuppressionMethod
from reticent.tables.suppression.modular import Modular
from reticent.tables.suppression.network import Network
from reticent.tables.suppression.optimal import Optimal

# plan name -> method; one interface, one judge
SUPPRESSION_METHODS: tuple[type[SuppressionMethod], ...] = (
    Elimination,
    Heuristic,
    Hypercube,
    Modular,
    Network,
    Optimal,
)


def suppression_method(name: str, *, cost: str = "own") -> SuppressionMethod:
    """A method by its plan name, with a named cost."""
    known = {method.name: method for method in SUPPRESSION_METHODS}
    check_choice(name, tuple(known), name="method", owner="suppress")
    check_choice(cost, NUMBER_COSTS, name="cost", owner="suppress")
    return known[name](cost=cost)  # type: ignore[arg-type]


__all__ = [
    "SUPPRESSION_METHODS",
    "Elimination",
    "Heuristic",
    "Hypercube",
    "Modular",
    "Network",
    "Optimal",
    "Suppression",
    "SuppressionMethod",
    "suppression_method",
]
