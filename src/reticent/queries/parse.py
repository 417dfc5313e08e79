# SPDX-License-Identifier: Apache-2.0
"""Query text into `Query` data: length and nesting are limited first, then a whitelist of syntax is translated.

The text is parsed by sqlglot and never executed. Everything not listed here is refused. The grammar:

    SELECT item, … FROM data [WHERE condition] [GROUP BY variable, … [WITH TOTALS]]
    item:  COUNT(*) · COUNT(x) · SUM(x) · AVG(x) · VARIANCE(x) · STDDEV(x) · MIN(x) · MAX(x) · MEDIAN(x) ·
           QUANTILE(x, share) · SUM(x) / SUM(y) · CORR(x, y) · LINREG(y, term, …) · LOGREG(y, term, …) ·
           KM(time, event) · a grouping variable
    term:  x · SQUARE(x) · SQRT(x) · LN(x) · products of two or three of these
    condition: comparisons of a variable with a constant, IN, BETWEEN, IS [NOT] NULL, AND, OR, NOT, TRUE, FALSE
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError, TokenError

from reticent.base.errors import ParameterError
from reticent.queries.language import (
    And,
    Compare,
    Condition,
    Constant,
    In,
    IsMissing,
    Not,
    Or,
    Query,
    Statistic,
    statistic_of,
    walk,
)
from reticent.queries.policy import Limits
from reticent.queries.refusals import Code, Refusal
from reticent.queries.terms import Factor, Term

SHOWN = 120


class Refused(Exception):
    """Carries a refusal out of the translation."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


def _refuse(code: Code, message: str, change: str = "") -> Refused:
    return Refused(Refusal(code, message, change))


def parse(text: str, limits: Limits | None = None) -> Query | Refusal:
    """Translate a query text, or say why it cannot be asked."""
    limits = limits or Limits()
    try:
        _check_size(text, limits)
        return _translate(_read(text), limits)
    except Refused as refused:
        return refused.refusal
    except RecursionError:
        return Refusal(Code.TOO_LONG, "The query is nested too deeply.", "Write it with fewer levels.")
    except ParameterError as err:
        return Refusal(Code.UNSUPPORTED, err.reason)


def _check_size(text: str, limits: Limits) -> None:
    if len(text) > limits.text:
        raise _refuse(Code.TOO_LONG, f"A query may have {limits.text} characters at most.", "Make it shorter.")
    if not text.strip():
        raise _refuse(Code.SYNTAX, "The query is empty.", "Write SELECT … FROM data.")
    depth = deepest = 0
    for character in text:
        if character in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in ")]}":
            depth = max(depth - 1, 0)
    if deepest > limits.nesting:
        raise _refuse(
            Code.TOO_LONG, f"A query may nest {limits.nesting} levels at most.", "Write it with fewer levels."
        )


def _read(text: str) -> exp.Expression:
    try:
        statements = sqlglot.parse(text)
    except ParseError as err:
        raise _refuse(Code.SYNTAX, _located(text, err)) from None
    except TokenError:
        raise _refuse(Code.SYNTAX, _unclosed(text)) from None
    except (SqlglotError, ValueError, OverflowError):
        raise _refuse(Code.SYNTAX, "The text cannot be read as a query.") from None
    if len(statements) != 1 or statements[0] is None:
        raise _refuse(Code.UNSUPPORTED, "Ask one query at a time.", "Remove what follows the semicolon.")
    return statements[0]


def _located(text: str, err: ParseError) -> str:
    """The first error with the line of the query and a caret under the place."""
    facts = err.errors[0] if err.errors else {}
    line_number, column = int(facts.get("line") or 1), int(facts.get("col") or 1)
    highlight = str(facts.get("highlight") or "")
    place = max(column - max(len(highlight), 1), 0)  # sqlglot gives the column of the token's last character
    return _with_caret(text, line_number, place, _in_words(str(facts.get("description") or "")))


def _unclosed(text: str) -> str:
    """The quotation mark or comment that is not closed, with a caret under it."""
    place = 0
    while place < len(text):
        opening = next((mark for mark in CLOSED_BY if text.startswith(mark, place)), None)
        if opening is None:
            place += 1
            continue
        end = text.find(CLOSED_BY[opening], place + len(opening))
        if end < 0:
            line = text.count("\n", 0, place)
            column = place - (text.rfind("\n", 0, place) + 1)
            return _with_caret(text, line + 1, column, "a quotation mark or comment is not closed")
        place = end + len(CLOSED_BY[opening])
    return "The text cannot be read as a query."


def _with_caret(text: str, line_number: int, place: int, what: str) -> str:
    lines = text.split("\n")
    line = lines[min(line_number, len(lines)) - 1]
    start = max(place - SHOWN // 2, 0)
    shown = line[start : start + SHOWN].replace("\t", " ").rstrip("\r")
    return f"Line {line_number}, column {place + 1}: {what}.\n{shown}\n{' ' * (place - start)}^"


def _in_words(description: str) -> str:
    """What the parser found wrong, without its own terms."""
    if description.startswith("Expecting "):
        return f"{description.removeprefix('Expecting ').split('.')[0]} is missing"
    return "something is missing here" if description.startswith("Required") else "this does not fit here"


CLOSED_BY = {"'": "'", '"': '"', "`": "`", "/*": "*/"}
ALLOWED_CLAUSES = {"expressions", "from_", "where", "group", "kind"}


def _translate(statement: exp.Expression, limits: Limits) -> Query:
    if not isinstance(statement, exp.Select):
        raise _refuse(Code.UNSUPPORTED, "Only SELECT of statistics can be asked.", "Write SELECT … FROM data.")
    for clause, value in statement.args.items():
        if value and clause not in ALLOWED_CLAUSES:
            word = clause.rstrip("_").upper()
            raise _refuse(Code.UNSUPPORTED, f"{word} cannot be used in a query.", f"Leave {word} out.")
    tables = _tables(statement)
    scope = _Scope(tables)
    by, totals = _grouping(statement, scope)
    statistics = _items(statement, scope, by)
    where = statement.args.get("where")
    condition: Condition = Constant(True) if where is None else _condition(where.this, scope)
    constants = sum(len(p.values) if isinstance(p, In) else 1 for p in walk(condition) if isinstance(p, Compare | In))
    if constants > limits.constants:
        raise _refuse(Code.TOO_LONG, f"A query may have {limits.constants} constants at most.", "Make it shorter.")
    return Query(statistics, condition, by, totals)


@dataclass(frozen=True)
class _Scope:
    """The names under which the one table may be addressed."""

    tables: frozenset[str]

    def name(self, node: exp.Expression) -> str:
        """The variable a column node names."""
        if isinstance(node, exp.Paren):
            return self.name(node.this)
        if not isinstance(node, exp.Column) or not isinstance(node.this, exp.Identifier):
            raise _refuse(
                Code.UNSUPPORTED,
                "Only plain variables can be used here, no expressions.",
                "Name a variable of the data.",
            )
        if node.args.get("db") or node.args.get("catalog") or (node.table and node.table.lower() not in self.tables):
            raise _refuse(Code.UNSUPPORTED, "A variable may be prefixed only by the name of the one table.")
        return str(node.this.name)


def _tables(statement: exp.Select) -> frozenset[str]:
    source = statement.args.get("from_")
    if source is None:
        raise _refuse(Code.SYNTAX, "FROM is missing.", "Write SELECT … FROM data.")
    table = source.this
    extra = (
        [k for k, v in table.args.items() if v and k not in ("this", "alias")]
        if isinstance(table, exp.Table)
        else ["x"]
    )
    if extra or not isinstance(table.this, exp.Identifier):
        raise _refuse(Code.UNSUPPORTED, "FROM takes the one protected table, nothing else.", "Write FROM data.")
    return frozenset({table.name.lower(), table.alias_or_name.lower()})


def _grouping(statement: exp.Select, scope: _Scope) -> tuple[tuple[str, ...], bool]:
    group = statement.args.get("group")
    if group is None:
        return (), False
    nodes, totals = list(group.expressions), bool(group.args.get("totals"))
    if any(value and key not in ("expressions", "totals") for key, value in group.args.items()):
        raise _refuse(Code.UNSUPPORTED, "GROUP BY takes variables only.", "Write GROUP BY a, b [WITH TOTALS].")
    if len(nodes) == 1 and isinstance(nodes[0], exp.Cube):
        nodes, totals = list(nodes[0].expressions), True
    return tuple(scope.name(node) for node in nodes), totals


def _items(statement: exp.Select, scope: _Scope, by: tuple[str, ...]) -> tuple[Statistic, ...]:
    statistics = []
    for node in statement.expressions:
        item = node.this if isinstance(node, exp.Alias) else node
        if isinstance(item, exp.Star) or (isinstance(item, exp.Column) and isinstance(item.this, exp.Star)):
            raise _row_level("SELECT *")
        if isinstance(item, exp.Column | exp.Paren):
            name = scope.name(item)
            if name not in by:
                raise _row_level(repr(name))
            continue
        statistics.append(_statistic(item, scope))
    if not statistics:
        raise _row_level("A list of variables")
    return tuple(statistics)


def _row_level(what: str) -> Refused:
    return _refuse(
        Code.ROW_LEVEL,
        f"{what} would show single records; only statistics can be asked.",
        "Use COUNT, SUM, AVG, … of a variable, and name in SELECT only the variables of GROUP BY.",
    )


ONE_VARIABLE: dict[type[exp.Expression], str] = {
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
    exp.Median: "median",
    exp.Stddev: "stddev",
    exp.StddevSamp: "stddev",
    exp.Variance: "variance",
}
BY_NAME = {"LINREG": "linreg", "LOGREG": "logreg", "KM": "km"}
KNOWN = "COUNT, SUM, AVG, VARIANCE, STDDEV, MIN, MAX, MEDIAN, QUANTILE, SUM / SUM, CORR, LINREG, LOGREG, KM"


def _statistic(node: exp.Expression, scope: _Scope) -> Statistic:
    kind = type(node)
    if kind is exp.Count:
        _only(node, ("this", "big_int"))
        inside = node.this
        if isinstance(inside, exp.Star) or (isinstance(inside, exp.Literal) and not inside.is_string):
            return Statistic("count")
        return Statistic("count", (scope.name(inside),))
    if kind in ONE_VARIABLE:
        _only(node, ("this",))
        return Statistic(ONE_VARIABLE[kind], (scope.name(node.this),))
    if kind is exp.Quantile:
        _only(node, ("this", "quantile"))
        share = _literal(node.args["quantile"])
        if isinstance(share, str):
            raise _refuse(Code.UNSUPPORTED, "The share of QUANTILE must be a number between 0 and 1.")
        return Statistic("quantile", (scope.name(node.this),), share)
    if kind is exp.Corr:
        _only(node, ("this", "expression"))
        return Statistic("corr", (scope.name(node.this), scope.name(node.expression)))
    if kind is exp.Div:
        return _ratio(node, scope)
    if kind is exp.Anonymous and str(node.this).upper() in BY_NAME:
        return statistic_of(BY_NAME[str(node.this).upper()], [_term(part, scope) for part in node.expressions])
    raise _refuse(Code.UNSUPPORTED, "SELECT has something that is not a known statistic.", f"Known are {KNOWN}.")


def _ratio(node: exp.Expression, scope: _Scope) -> Statistic:
    """SUM(x) / SUM(y), nothing else."""
    parts = [_open(node.this), _open(node.expression)]
    if not all(type(part) is exp.Sum for part in parts):
        raise _refuse(Code.UNSUPPORTED, "Only two sums can be divided.", "Write SUM(x) / SUM(y), or AVG(x).")
    for part in parts:
        _only(part, ("this",))
    return Statistic("ratio", (scope.name(parts[0].this), scope.name(parts[1].this)))


FUNCTIONS: dict[type[exp.Expression], str] = {exp.Sqrt: "root", exp.Ln: "log", exp.Log: "log"}
FUNCTIONS_BY_NAME = {"SQUARE": "square", "ROOT": "root"}
TERMS = "Use variables, SQUARE(x), SQRT(x), LN(x), and products of two or three of them."


def _term(node: exp.Expression, scope: _Scope) -> Term:
    """One term of a regression."""
    factors = [_factor(part, scope) for part in _chain(node, exp.Mul)]
    return Term(tuple(factors))


def _factor(node: exp.Expression, scope: _Scope) -> Factor:
    if isinstance(node, exp.Column):
        return Factor(scope.name(node))
    kind = type(node)
    if kind in FUNCTIONS:
        _only_terms(node, ("this",))
        return Factor(scope.name(node.this), FUNCTIONS[kind])
    if kind is exp.Pow:
        _only_terms(node, ("this", "expression"))
        exponent = _open(node.expression)
        if isinstance(exponent, exp.Literal) and not exponent.is_string and _number(exponent) == 2:
            return Factor(scope.name(node.this), "square")
    word = str(node.this).upper() if kind is exp.Anonymous else ""
    if word in FUNCTIONS_BY_NAME and len(node.expressions) == 1:
        return Factor(scope.name(node.expressions[0]), FUNCTIONS_BY_NAME[word])
    raise _refuse(Code.UNSUPPORTED, "A regression has something that is not an allowed term.", TERMS)


def _only_terms(node: exp.Expression, allowed: tuple[str, ...]) -> None:
    if any(value and key not in allowed for key, value in node.args.items()):
        raise _refuse(Code.UNSUPPORTED, "A regression has something that is not an allowed term.", TERMS)


def _only(node: exp.Expression, allowed: tuple[str, ...]) -> None:
    if any(value and key not in allowed for key, value in node.args.items()):
        raise _refuse(Code.UNSUPPORTED, "A statistic takes plain variables only.", f"Known are {KNOWN}.")


COMPARISONS: dict[type[exp.Expression], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
MIRRORED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _condition(node: exp.Expression, scope: _Scope) -> Condition:
    if isinstance(node, exp.Paren):
        return _condition(node.this, scope)
    if isinstance(node, exp.And | exp.Or):
        parts = tuple(_condition(part, scope) for part in _chain(node, type(node)))
        return And(parts) if isinstance(node, exp.And) else Or(parts)
    if isinstance(node, exp.Not):
        return Not(_condition(node.this, scope))
    if isinstance(node, exp.Boolean):
        return Constant(bool(node.this))
    if type(node) in COMPARISONS:
        return _comparison(node, COMPARISONS[type(node)], scope)
    if isinstance(node, exp.In):
        _only_condition(node, ("this", "expressions"))
        return In(scope.name(node.this), tuple(_literal(value) for value in node.expressions))
    if isinstance(node, exp.Between):
        _only_condition(node, ("this", "low", "high"))
        name = scope.name(node.this)
        low, high = _literal(node.args["low"]), _literal(node.args["high"])
        return And((Compare(name, ">=", low), Compare(name, "<=", high)))
    if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
        return IsMissing(scope.name(node.this))
    raise _unsupported_condition()


def _chain(node: exp.Expression, kind: type[exp.Expression]) -> list[exp.Expression]:
    """The parts of a AND b AND c …, which is parsed as a tree as deep as the chain is long."""
    parts, stack = [], [node]
    while stack:
        part = stack.pop()
        while isinstance(part, exp.Paren):
            part = part.this
        if type(part) is kind:
            stack.extend((part.expression, part.this))
        else:
            parts.append(part)
    return parts


def _only_condition(node: exp.Expression, allowed: tuple[str, ...]) -> None:
    if any(value and key not in allowed for key, value in node.args.items()):
        raise _unsupported_condition()


def _unsupported_condition() -> Refused:
    return _refuse(
        Code.UNSUPPORTED,
        "WHERE has something other than comparisons of a variable with constants.",
        "Use =, <>, <, <=, >, >=, IN, BETWEEN, IS NULL, AND, OR, NOT.",
    )


TESTS: dict[str, Callable[[str | float, str | float], bool]] = {
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: a < b,  # type: ignore[operator]
    "<=": lambda a, b: a <= b,  # type: ignore[operator]
    ">": lambda a, b: a > b,  # type: ignore[operator]
    ">=": lambda a, b: a >= b,  # type: ignore[operator]
}


def _comparison(node: exp.Expression, operator: str, scope: _Scope) -> Condition:
    left, right = _open(node.this), _open(node.expression)
    left_constant, right_constant = _is_literal(left), _is_literal(right)
    if left_constant and right_constant:
        a, b = _literal(left), _literal(right)
        if isinstance(a, str) != isinstance(b, str):
            raise _unsupported_condition()
        return Constant(TESTS[operator](a, b))
    if left_constant:
        return Compare(scope.name(right), MIRRORED[operator], _literal(left))
    if right_constant:
        return Compare(scope.name(left), operator, _literal(right))
    name = scope.name(left)
    if name == scope.name(right):  # x = x is true and x <> x is false wherever x is there, else unknown
        never = In(name, ())
        return Not(never) if operator in ("=", "<=", ">=") else never
    raise _unsupported_condition()


def _open(node: exp.Expression) -> exp.Expression:
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def _is_literal(node: exp.Expression) -> bool:
    return isinstance(node, exp.Literal) or (isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal))


def _literal(node: exp.Expression) -> str | float:
    node = _open(node)
    if isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal) and not node.this.is_string:
        return -_number(node.this)
    if isinstance(node, exp.Literal):
        return str(node.this) if node.is_string else _number(node)
    raise _refuse(
        Code.UNSUPPORTED, "Variables can be compared with constants only.", "Write a number or a quoted text."
    )


def _number(node: exp.Literal) -> float:
    try:
        number = float(str(node.this))
    except ValueError:
        raise _refuse(Code.SYNTAX, "A number cannot be read.") from None
    if not math.isfinite(number):
        raise _refuse(Code.SYNTAX, "A number is too large.")
    return number
