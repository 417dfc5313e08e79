# SPDX-License-Identifier: Apache-2.0
"""What the steps of a plan made of codes, as a mapping that may leave with the file."""

from collections.abc import Mapping, Sequence
from typing import Any

from reticent.data.mapping import CODE, Mapped, declared_codes
from reticent.data.method import MaskingMethod, Method
from reticent.data.schema import Kind, Schema, Variable


def recodings(
    schema: Schema, steps: Sequence[MaskingMethod], facts: Sequence[Mapping[str, Any]], published: Schema
) -> tuple[Mapped, ...]:
    """The mapping of each published variable that steps recoded; `facts` are what each step chose.

    Several recodings of a variable give one mapping, from the first codes to the last.
    """
    found: dict[str, tuple[Mapped, ...]] = {}
    for step, chosen in zip(steps, facts, strict=True):
        for variable in schema.variables:
            if isinstance(step, Method) and variable.name in published:
                shown = tuple(published[variable.name].codes)
                found[variable.name] = _after(step, chosen, variable, found.get(variable.name, ()), shown)
        schema = step.schema_after(schema)
    return tuple(row for rows in found.values() for row in rows if _is_shown(row, published[row.variable]))


def _after(
    step: Method, facts: Mapping[str, Any], variable: Variable, rows: tuple[Mapped, ...], shown: tuple[str, ...]
) -> tuple[Mapped, ...]:
    """The mapping of a variable after one more step."""
    if rows:
        pairs = step.new_codes(variable, tuple(row.new for row in rows), facts)
        return rows if pairs is None else tuple(row._replace(new=pairs[row.new]) for row in rows if row.new in pairs)
    old = declared_codes(variable)
    pairs = step.new_codes(variable, old, facts) if old else None
    if pairs is None:
        return step.declared(variable, shown)
    return tuple(Mapped(variable.name, CODE, code, new) for code, new in pairs.items())


def _is_shown(row: Mapped, variable: Variable) -> bool:
    """Whether the published file has the new code; of numbers nothing is listed."""
    return variable.kind is Kind.NUMERIC or row.new in variable.codes
