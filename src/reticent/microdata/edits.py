# SPDX-License-Identifier: Apache-2.0
"""Edit rules: what every record must satisfy, before and after each masking step.

A rule that compares with a missing value is neither kept nor broken. Rules that contradict each other are an error
before any work starts; a step whose result breaks a rule is refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reticent.base.arrays import Floats, Mask
from reticent.base.errors import DataError, NotProtectedError, PlanError
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Schema
from reticent.microdata.edit_logic import contradiction
from reticent.microdata.edit_parser import (
    Arithmetic,
    Compare,
    Condition,
    Every,
    Expression,
    Member,
    Name,
    Not,
    Number,
    Some,
    Text,
    names_in,
    parse_rule,
)

# Sums such as wages + rents == income are compared up to this share of their size: masking works in floating point.
TOLERANCE = 1e-9


@dataclass(frozen=True)
class EditRule:
    """One rule: its text, and what it says."""

    text: str
    condition: Condition

    @property
    def variables(self) -> frozenset[str]:
        """The variables it speaks of."""
        return names_in(self.condition)


def read_rules(texts: Sequence[str], schema: Schema) -> tuple[EditRule, ...]:
    """Parse rules, check their variables against the schema, and refuse rules that contradict each other."""
    rules = tuple(EditRule(text, parse_rule(text)) for text in texts)
    for rule in rules:
        schema.require(sorted(rule.variables), owner=f"edit rule {rule.text!r}")
        _check_kinds(rule, rule.condition, schema)
    together = contradiction([rule.condition for rule in rules], schema)
    if together:
        listed = " and ".join(repr(rules[index].text) for index in together)
        verb = "cannot be satisfied by any record" if len(together) == 1 else "contradict each other"
        raise PlanError(f"edit rules: {listed} {verb}. Correct them before anything is masked.")
    return rules


def violations(data: Microdata, rule: EditRule) -> Mask:
    """Which records break a rule."""
    return _truth(data, rule.condition)[1]


def check(data: Microdata, rules: Sequence[EditRule]) -> dict[str, int]:
    """How many records break each rule (rules that are kept are left out)."""
    counts = {rule.text: int(violations(data, rule).sum()) for rule in rules}
    return {text: count for text, count in counts.items() if count}


def check_input(data: Microdata, rules: Sequence[EditRule]) -> None:
    """Refuse data that break a rule before anything is masked: nothing could keep what does not hold."""
    broken = check(data, rules)
    if broken:
        text, count = next(iter(broken.items()))
        raise DataError(
            f"edit rule {text!r}: {count} records of the input break it. Correct these records or the rule first."
        )


def check_step(step: str, after: Microdata, rules: Sequence[EditRule]) -> tuple[str, ...]:
    """Refuse a step whose result breaks a rule; returns the rules that can no longer be checked.

    A rule ends with a step that removes one of its variables or turns a number into classes.
    """
    ended = tuple(rule.text for rule in rules if not _checkable(rule, after.schema))
    broken = check(after, [rule for rule in rules if rule.text not in ended])
    if broken:
        text, count = next(iter(broken.items()))
        raise NotProtectedError(
            f"{step}: the result breaks the edit rule {text!r} in {count} records; nothing was written. Use a method "
            "that keeps it (chains of multiplicative-noise, strata, rules of synthesize), or leave its variables out.",
            exposed=count,
        )
    return ended


def _checkable(rule: EditRule, schema: Schema) -> bool:
    if not all(name in schema for name in rule.variables):
        return False
    return all(schema[name].kind is Kind.NUMERIC for name in _numeric_names(rule.condition))


def _check_kinds(rule: EditRule, node: Condition, schema: Schema) -> None:
    for name in sorted(_numeric_names(node)):
        if schema[name].kind is not Kind.NUMERIC:
            raise PlanError(
                f"edit rule {rule.text!r}: {name} is {schema[name].kind} and can only be compared with codes by ==, != "
                "and in. Declare it numeric, or list its codes."
            )


def _is_code_comparison(node: Compare) -> bool:
    """A variable against a code in quotes, two codes, or two names: decided by codes, not by numbers."""
    return node.operator in ("==", "!=") and any(isinstance(side, Text) for side in (node.left, node.right))


def _numeric_names(node: Condition) -> frozenset[str]:
    """Variables that a rule uses as numbers."""
    match node:
        case Compare(operator, left, right):
            if _is_code_comparison(node):
                return frozenset()
            plain = all(isinstance(side, Name | Number) for side in (left, right))
            if plain and operator in ("==", "!="):
                return frozenset()
            return names_in(node)
        case Member():
            return frozenset()
        case Not(part):
            return _numeric_names(part)
        case Every(parts) | Some(parts):
            return frozenset().union(*(_numeric_names(part) for part in parts))


def _truth(data: Microdata, node: Condition) -> tuple[Mask, Mask]:
    """Which records surely satisfy and which surely break a condition (missing values: neither)."""
    match node:
        case Compare():
            return _compare(data, node)
        case Member(variable, codes):
            return _coded(data, variable.name, codes)
        case Not(part):
            holds, fails = _truth(data, part)
            return fails, holds
        case Every(parts):
            truths = [_truth(data, part) for part in parts]
            return np.logical_and.reduce([t[0] for t in truths]), np.logical_or.reduce([t[1] for t in truths])
        case Some(parts):
            truths = [_truth(data, part) for part in parts]
            return np.logical_or.reduce([t[0] for t in truths]), np.logical_and.reduce([t[1] for t in truths])


def _coded(data: Microdata, name: str, codes: Sequence[str]) -> tuple[Mask, Mask]:
    if data.schema[name].kind is Kind.NUMERIC:
        values = data.numbers((name,))[:, 0]
        inside = np.isin(values, [float(code) for code in codes])
        return inside, ~inside & ~np.isnan(values)
    encoded = data.encoded(name)
    wanted = np.array([*(category in codes for category in encoded.categories), False])
    inside = wanted[encoded.codes]
    return inside, ~inside & (encoded.codes >= 0)


def _compare(data: Microdata, node: Compare) -> tuple[Mask, Mask]:
    code = _code_side(data, node)
    if code is not None:
        holds, fails = _coded(data, code[0], (code[1],))
        return (holds, fails) if node.operator == "==" else (fails, holds)
    left, right = _value(data, node.left), _value(data, node.right)
    known = ~(np.isnan(left) | np.isnan(right))
    slack = TOLERANCE * np.maximum(np.abs(left), np.abs(right))
    with np.errstate(invalid="ignore"):
        difference = left - right
        outcome = {
            "<=": difference <= slack,
            ">=": difference >= -slack,
            "<": difference < 0,
            ">": difference > 0,
            "==": np.abs(difference) <= slack,
            "!=": np.abs(difference) > slack,
        }[node.operator]
    return known & outcome, known & ~outcome


def _code_side(data: Microdata, node: Compare) -> tuple[str, str] | None:
    """(variable, code) when a comparison is one of a variable with a code."""
    if node.operator not in ("==", "!="):
        return None
    for side, other in ((node.left, node.right), (node.right, node.left)):
        if isinstance(side, Name) and isinstance(other, Text):
            return side.name, other.text
        if isinstance(side, Name) and isinstance(other, Number) and data.schema[side.name].kind is not Kind.NUMERIC:
            return side.name, other.text
    return None


def _value(data: Microdata, node: Expression) -> Floats:
    match node:
        case Name(name):
            return data.numbers((name,))[:, 0]
        case Number(value, _):
            return np.full(data.n_records, value)
        case Text(text):
            raise PlanError(f"edit rule: the code {text!r} cannot be used as a number; compare it with == or !=.")
        case Arithmetic(operator, left, right):
            a, b = _value(data, left), _value(data, right)
            with np.errstate(divide="ignore", invalid="ignore"):
                result = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}[operator](a, b)
            # A quotient without a value is as good as missing.
            return np.where(np.isfinite(result), result, np.nan)
