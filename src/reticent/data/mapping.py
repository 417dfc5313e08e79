# SPDX-License-Identifier: Apache-2.0
"""Mappings of recodings: which old values each new code stands for, as far as declarations and the published file say it.

A list of the codes that records have would say more than the file: that nobody has the others. So old codes come from what was
declared (the step, a code list, a hierarchy), never from records, and only new codes that the published file has are listed.
"""

from collections.abc import Iterable
from typing import NamedTuple

from reticent.data.schema import Variable

CODE, RANGE, PATTERN = "code", "range", "pattern"
"""What an old value is given by: itself, a range of numbers, or a pattern in which ? is any one character."""


class Mapped(NamedTuple):
    """One line of a mapping: `old` (a code, a range or a pattern, as `given` says) became the code `new`."""

    variable: str
    given: str
    old: str
    new: str


def declared_codes(variable: Variable) -> tuple[str, ...]:
    """The codes that a variable may have, as declared: by its code list, or by a hierarchy; none where records decide."""
    if variable.codes and "codes" not in variable.guessed:
        return tuple(code for code in variable.codes if code not in variable.missing)
    if variable.hierarchy is not None and not variable.digits and "hierarchy" not in variable.guessed:
        return variable.hierarchy.leaves
    return ()


def digit_patterns(variable: Variable, shown: Iterable[str]) -> tuple[Mapped, ...]:
    """Patterns of the codes under each new code, where the levels are the first digits of codes of one length."""
    width = sum(variable.digits)
    return tuple(
        Mapped(variable.name, PATTERN, code + "?" * (width - len(code)), code) for code in shown if len(code) < width
    )
