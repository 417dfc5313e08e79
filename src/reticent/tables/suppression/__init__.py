"""Secondary suppression: which further cells to hide so that the attacker cannot undo the primaries."""
