"""Safety rules, the attacker, and protection methods for tables."""
