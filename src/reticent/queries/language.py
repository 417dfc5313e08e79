# SPDX-License-Identifier: Apache-2.0
"""What an analyst may ask, as frozen data: statistics of a record set, nothing of a single record.

Text (`parse`) and Python (`ask_for`) both end here; what cannot be built here cannot be asked. A query is never turned
into SQL or into code. Conditions follow SQL's three-valued logic: a comparison with a missing value is unknown, and
only records for which the whole condition is true are selected.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from numbers import Integral, Rational, Real
from typing import Any

from reticent.base.checks import check_between, check_choice, check_unique, kind_of
from reticent.base.doors import doors
from reticent.base.errors import ParameterError
from reticent.queries.terms import MAX_PREDICTORS, Model, Term

OPERATORS = ("=", "<>", "<", "<=", ">", ">=")
REGRESSIONS = ("linreg", "logreg")

# name -> (fewest variables, most variables, takes a parameter)
STATISTICS: dict[str, tuple[int, int, bool]] = {
    "count": (0, 1, False),
    "sum": (1, 1, False),
    "avg": (1, 1, False),
    "variance": (1, 1, False),
    "stddev": (1, 1, False),
    "min": (1, 1, False),
    "max": (1, 1, False),
    "median": (1, 1, False),
    "quantile": (1, 1, True),
    "ratio": (2, 2, False),
    "corr": (2, 2, False),
    "linreg": (2, MAX_PREDICTORS + 1, False),
    "logreg": (2, MAX_PREDICTORS + 1, False),
    "km": (2, 2, False),
}


def _constant(value: object) -> str | float:
    """A text or a finite number; one of numpy (a value of a data frame) as the same number of Python."""
    if isinstance(value, str):
        return value
    plain: object = value
    if isinstance(value, Integral) and not isinstance(value, bool):
        plain = int(value)
    elif isinstance(value, Real) and not isinstance(value, Rational):
        plain = float(value)
    if type(plain) in (int, float):
        with suppress(OverflowError):  # a whole number beyond floating-point numbers
            if math.isfinite(plain):  # type: ignore[arg-type]
                return plain  # type: ignore[return-value]
    raise ParameterError("a variable can be compared with a text or a finite number only.").at("Query")


def _listed(values: object, what: str) -> tuple[Any, ...]:
    """A list as a tuple; a text is not the list of its letters."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise ParameterError(f"{what} must be a list, got {kind_of(values)}.").at("Query")
    return tuple(values)


@dataclass(frozen=True)
class Compare:
    """`variable operator constant`; unknown where the variable is missing."""

    variable: str
    operator: str
    value: str | float

    def __post_init__(self) -> None:
        check_choice(self.operator, OPERATORS, name="operator", owner="Compare")
        object.__setattr__(self, "value", _constant(self.value))


@dataclass(frozen=True)
class In:
    """The variable has one of the listed constants; unknown where it is missing."""

    variable: str
    values: tuple[str | float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(map(_constant, _listed(self.values, "the constants of in"))))


@dataclass(frozen=True)
class IsMissing:
    """The variable is missing (never unknown)."""

    variable: str


@dataclass(frozen=True)
class Constant:
    """True or false for every record."""

    value: bool


@dataclass(frozen=True)
class Not:
    """The opposite; unknown stays unknown."""

    part: "Condition"


@dataclass(frozen=True)
class And:
    """All parts hold."""

    parts: tuple["Condition", ...]


@dataclass(frozen=True)
class Or:
    """At least one part holds."""

    parts: tuple["Condition", ...]


Condition = Compare | In | IsMissing | Constant | Not | And | Or
EVERYONE = Constant(True)


@dataclass(frozen=True)
class Statistic:
    """One statistic of the selected records, e.g. `Statistic("sum", ("income",))`; `statistic_of` takes terms too.

    A regression with transforms or interactions has a `model`; its variables are the response and the predictors. The
    predictors of a regression, and the two variables of a correlation, are kept in the order of their names.
    """

    name: str
    variables: tuple[str, ...] = ()
    parameter: float | None = None
    model: Model | None = None

    def __post_init__(self) -> None:
        check_choice(self.name, tuple(STATISTICS), name="statistic", owner="Query")
        fewest, most, takes_parameter = STATISTICS[self.name]
        if not fewest <= len(self.variables) <= most:
            allowed = str(fewest) if fewest == most else f"{fewest} to {most}"
            raise ParameterError(f"{self.name} takes {allowed} variables, got {len(self.variables)}.").at("Query")
        if takes_parameter != (self.parameter is not None):
            wanted = "needs a share between 0 and 1" if takes_parameter else "takes no share"
            raise ParameterError(f"{self.name} {wanted}.").at("Query")
        if self.parameter is not None:
            check_between(self.parameter, 0, 1, name="share", owner=self.name)
        check_unique(self.variables, name=f"the list of variables of {self.name}", owner="Query")
        self._order()

    def _order(self) -> None:
        """Bring what has no order into one, and leave out a model that says no more than the variables."""
        if self.name == "corr":
            object.__setattr__(self, "variables", tuple(sorted(self.variables)))
        if self.name in REGRESSIONS:
            object.__setattr__(self, "variables", (self.variables[0], *sorted(self.variables[1:])))
        if self.model is None:
            return
        if self.name not in REGRESSIONS or self.variables != (self.model.response.variable, *self.model.predictors):
            raise ParameterError("a model belongs to a regression of its own variables.").at("Query")
        if self.model.plain:
            object.__setattr__(self, "model", None)

    @property
    def regression(self) -> Model:
        """The model of a regression."""
        if self.model is not None:
            return self.model
        return Model(Term.of(self.variables[0]).factors[0], tuple(map(Term.of, self.variables[1:])))

    def __str__(self) -> str:
        inside = ", ".join(self.variables) or "*" if self.model is None else str(self.model)
        return f"{self.name}({inside}{'' if self.parameter is None else f', {self.parameter!r}'})"


def statistic_of(name: str, parts: Sequence[str | Term], parameter: float | None = None) -> Statistic:
    """A statistic of variables or, for a regression, of a response and terms."""
    for part in parts:
        if not isinstance(part, str | Term):
            raise ParameterError(f"variables must be texts (a regression: or terms), got {kind_of(part)}.").at("Query")
    terms = [Term.of(part) if isinstance(part, str) else part for part in parts]
    if name not in REGRESSIONS:
        if any(len(term.factors) > 1 or term.factors[0].transform for term in terms):
            raise ParameterError(f"{name} takes plain variables; only a regression has terms.").at("Query")
        return Statistic(name, tuple(term.factors[0].variable for term in terms), parameter)
    if len(terms) < 2 or len(terms[0].factors) > 1:
        raise ParameterError(f"{name} takes a response that is one variable, and at least one predictor.").at("Query")
    model = Model(terms[0].factors[0], tuple(terms[1:]))
    return Statistic(name, (model.response.variable, *model.predictors), parameter, model)


@dataclass(frozen=True)
class Query:
    """Statistics of the records for which `where` is true, for all of them or for each combination of `by`.

    `totals` adds, for every subset of `by`, the rows that sum over the others.
    """

    statistics: tuple[Statistic, ...]
    where: Condition = EVERYONE
    by: tuple[str, ...] = ()
    totals: bool = False

    def __post_init__(self) -> None:
        if not self.statistics:
            raise ParameterError("ask for at least one statistic, e.g. COUNT(*).").at("Query")
        check_unique(self.by, name="GROUP BY", owner="Query")
        if self.totals and not self.by:
            raise ParameterError("totals need a GROUP BY.").at("Query")

    @property
    def condition_variables(self) -> tuple[str, ...]:
        """Every variable that selects or groups records, in order of appearance."""
        return tuple(dict.fromkeys([*variables_of(self.where), *self.by]))


def walk(condition: Condition) -> Iterator[Condition]:
    """Every part of a condition, without recursion (a condition may be a long chain)."""
    stack = [condition]
    while stack:
        part = stack.pop()
        yield part
        if isinstance(part, And | Or):
            stack.extend(reversed(part.parts))
        elif isinstance(part, Not):
            stack.append(part.part)


def variables_of(condition: Condition) -> tuple[str, ...]:
    """The variables a condition reads."""
    names = [part.variable for part in walk(condition) if isinstance(part, Compare | In | IsMissing)]
    return tuple(dict.fromkeys(names))


@doors
@dataclass(frozen=True)
class ask_for:  # noqa: N801 - reads as a sentence: ask_for("sum", "income").where(...).by("region")
    """Build a query in Python. A regression takes terms: `ask_for("linreg", ("y", "x", Term.square("x")))`.

    >>> ask_for("sum", "income").where("region", "=", "north").where("age", ">=", 30).by("sex", totals=True).query()
    Query(statistics=(Statistic(name='sum', variables=('income',), parameter=None, model=None),), \
where=And(parts=(Compare(variable='region', operator='=', value='north'), \
Compare(variable='age', operator='>=', value=30))), by=('sex',), totals=True)
    """

    statistic: str
    variables: Any = ()
    parameter: float | None = None
    conditions: tuple[Condition, ...] = ()
    groups: tuple[str, ...] = ()
    totals: bool = False
    others: tuple[Statistic, ...] = field(default=())

    def where(self, variable: str, operator: str, value: Any) -> "ask_for":
        """Add a condition that must hold as well; the operator `in` takes a list of constants."""
        if operator == "in":
            return self.such_that(In(variable, value))
        return self.such_that(Compare(variable, operator, value))

    def such_that(self, condition: Condition) -> "ask_for":
        """Add any condition (`Or`, `Not`, …) that must hold as well."""
        return self._changed(conditions=(*self.conditions, condition))

    def by(self, *names: str, totals: bool = False) -> "ask_for":
        """One row for each combination of these variables."""
        return self._changed(groups=names, totals=totals)

    def also(self, statistic: str, *variables: str | Term, parameter: float | None = None) -> "ask_for":
        """Ask for one more statistic of the same records."""
        return self._changed(others=(*self.others, statistic_of(statistic, variables, parameter)))

    def query(self) -> Query:
        """The query as data."""
        alone = isinstance(self.variables, str | Term)
        parts = (self.variables,) if alone else _listed(self.variables, "variables")
        where: Condition = EVERYONE
        if len(self.conditions) == 1:
            where = self.conditions[0]
        elif self.conditions:
            where = And(self.conditions)
        first = statistic_of(self.statistic, parts, self.parameter)
        return Query((first, *self.others), where, self.groups, self.totals)

    def _changed(self, **facts: Any) -> "ask_for":
        return ask_for(**{**self.__dict__, **facts})
