# SPDX-License-Identifier: Apache-2.0
"""The name of a query's cell by its condition as it is written: nothing of the data decides it.

Where equal record sets must not show (the mode `private`), what was released is found again by this name. Order, repeated
parts, nesting of the same connective, double NOT and the spelling of numbers do not matter; other ways of writing the same
condition have other names.
"""

import hashlib
import json
from typing import Any

from reticent.queries.language import And, Compare, Condition, Constant, In, IsMissing, Not, Or, Query
from reticent.queries.levels import constant_text


def written_name(query: Query, group: tuple[str | None, ...], version: str) -> str:
    """The name of one cell of a query about a version of the data."""
    chosen = [Compare(name, "=", code) for name, code in zip(query.by, group) if code is not None]
    plain = json.dumps(_plain(And((query.where, *chosen))))
    return f"{version}:written:{hashlib.blake2b(plain.encode(), digest_size=16).hexdigest()}"


def _plain(condition: Condition) -> list[Any]:
    """A condition as lists, one way of writing for many."""
    if isinstance(condition, Constant):
        return ["constant", condition.value]
    if isinstance(condition, IsMissing):
        return ["missing", condition.variable]
    if isinstance(condition, In):
        return ["in", condition.variable, sorted({constant_text(value) for value in condition.values})]
    if isinstance(condition, Compare):
        if condition.operator == "=":
            return _plain(In(condition.variable, (condition.value,)))
        return ["compare", condition.variable, condition.operator, constant_text(condition.value)]
    if isinstance(condition, Not):
        inner = _plain(condition.part)
        return list(inner[1]) if inner[0] == "not" else ["not", inner]
    return _joined("and" if isinstance(condition, And) else "or", condition)


def _joined(name: str, condition: And | Or) -> list[Any]:
    """The parts of AND or OR, each once, in a fixed order, without those that change nothing."""
    neutral = ["constant", name == "and"]
    parts: dict[str, list[Any]] = {}
    for part in map(_plain, condition.parts):
        for own in part[1] if part[0] == name else [part]:
            if own != neutral:
                parts[json.dumps(own)] = own
    if not parts:
        return neutral
    if len(parts) == 1:
        return next(iter(parts.values()))
    return [name, [parts[key] for key in sorted(parts)]]
