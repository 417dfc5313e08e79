# SPDX-License-Identifier: Apache-2.0
"""The attacker: what the published part of a table says about the hidden part, proved and re-checkable."""

from reticent.tables.attack.audit import Audit, audit

__all__ = ["Audit", "audit"]
