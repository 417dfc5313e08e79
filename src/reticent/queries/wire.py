# SPDX-License-Identifier: Apache-2.0
"""Queries and answers as plain JSON values and back: what the ledger keeps."""

from collections.abc import Mapping
from typing import Any

from reticent.base.errors import DataError
from reticent.queries.language import And, Compare, Condition, Constant, In, IsMissing, Not, Or, Query, Statistic
from reticent.queries.terms import Factor, Model, Term


def query_to_json(query: Query) -> dict[str, Any]:
    """A query as plain values."""
    return {
        "statistics": [_statistic_to_json(statistic) for statistic in query.statistics],
        "where": _condition_to_json(query.where),
        "by": list(query.by),
        "totals": query.totals,
    }


def query_from_json(plain: Mapping[str, Any]) -> Query:
    """The query that `query_to_json` wrote."""
    statistics = tuple(_statistic_from_json(listed) for listed in plain["statistics"])
    return Query(statistics, _condition_from_json(plain["where"]), tuple(plain["by"]), bool(plain["totals"]))


def _statistic_to_json(statistic: Statistic) -> list[Any]:
    listed: list[Any] = [statistic.name, list(statistic.variables), statistic.parameter]
    if statistic.model is None:
        return listed
    terms = [[[f.variable, f.transform] for f in term.factors] for term in statistic.model.terms]
    return [*listed, [[statistic.model.response.variable, statistic.model.response.transform], terms]]


def _statistic_from_json(listed: list[Any]) -> Statistic:
    name, variables, share, *rest = listed
    model = None
    if rest:
        response, terms = rest[0]
        model = Model(Factor(*response), tuple(Term(tuple(Factor(*f) for f in factors)) for factors in terms))
    statistic = Statistic(name, tuple(variables), share, model)
    if list(statistic.variables) != list(variables):
        # what was released is noted by its place in the order of variables, so another order cannot be replayed
        raise DataError("ledger: it holds a statistic whose variables are not in the order of this version.")
    return statistic


def _condition_to_json(condition: Condition) -> list[Any]:
    if isinstance(condition, Compare):
        return ["compare", condition.variable, condition.operator, condition.value]
    if isinstance(condition, In):
        return ["in", condition.variable, list(condition.values)]
    if isinstance(condition, IsMissing):
        return ["missing", condition.variable]
    if isinstance(condition, Constant):
        return ["constant", condition.value]
    if isinstance(condition, Not):
        return ["not", _condition_to_json(condition.part)]
    name = "and" if isinstance(condition, And) else "or"
    return [name, [_condition_to_json(part) for part in condition.parts]]


def _condition_from_json(plain: list[Any]) -> Condition:
    kind, *rest = plain
    if kind == "compare":
        return Compare(*rest)
    if kind == "in":
        return In(rest[0], tuple(rest[1]))
    if kind == "missing":
        return IsMissing(rest[0])
    if kind == "constant":
        return Constant(rest[0])
    if kind == "not":
        return Not(_condition_from_json(rest[0]))
    if kind in ("and", "or"):
        parts = tuple(_condition_from_json(part) for part in rest[0])
        return And(parts) if kind == "and" else Or(parts)
    raise DataError("ledger: it holds a condition that this version of the program does not know.")


def value_to_json(value: Any) -> Any:
    """A value of an answer; a (low, high) pair, also one inside a mapping, becomes a tagged mapping."""
    if isinstance(value, tuple) and len(value) == 2 and all(isinstance(end, int | float) for end in value):
        return {"low": value[0], "high": value[1]}
    if isinstance(value, Mapping):
        return {name: value_to_json(part) for name, part in value.items()}
    return value


def value_from_json(plain: Any) -> Any:
    """The value that `value_to_json` wrote."""
    if not isinstance(plain, dict):
        return plain
    if set(plain) == {"low", "high"}:
        return (plain["low"], plain["high"])
    return {name: value_from_json(part) for name, part in plain.items()}
