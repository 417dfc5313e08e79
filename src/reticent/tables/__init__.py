# SPDX-License-Identifier: Apache-2.0
"""Safety rules, the attacker, and protection methods for tables."""
