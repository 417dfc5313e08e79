"""What an attacker may know of a file: its keys, every number, and every variable without a role that is nearly unique."""

import numpy as np

from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role

NEVER = (Role.IDENTIFIER, Role.ENTITY, Role.HOUSEHOLD_ID)
MOSTLY_UNIQUE = 0.5
"""A code without a declared role that this share of the records has alone works like an identifier."""


def known_variables(data: Microdata) -> tuple[str, ...]:
    """Keys first, then numbers (whatever their role: an income is known to an employer), then codes that single out."""
    keys = data.schema.keys
    rest = [v for v in data.schema.variables if v.name not in keys and v.role not in NEVER]
    numbers = [v.name for v in rest if v.kind is Kind.NUMERIC]
    codes = [v.name for v in rest if v.kind is not Kind.NUMERIC and v.role is Role.OTHER]
    return (*keys, *numbers, *(name for name in codes if _singles_out(data, name)))


def _singles_out(data: Microdata, name: str) -> bool:
    codes = data.encoded(name).codes
    counts = np.bincount(codes[codes >= 0], minlength=1)
    return int((counts == 1).sum()) >= max(MOSTLY_UNIQUE * data.n_records, 2)
