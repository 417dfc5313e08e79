"""Secondary suppression: which further cells to hide so that the attacker cannot undo the primaries."""

from reticent.tables.suppression.heuristic import Heuristic
from reticent.tables.suppression.method import Suppression, SuppressionMethod
from reticent.tables.suppression.optimal import Optimal

# plan name -> method; one interface, one judge
SUPPRESSION_METHODS: tuple[type[SuppressionMethod], ...] = (Heuristic, Optimal)

__all__ = ["SUPPRESSION_METHODS", "Heuristic", "Optimal", "Suppression", "SuppressionMethod"]
