# SPDX-License-Identifier: Apache-2.0
"""The terms of a regression as data: variables, three transforms of numbers, and interactions of two or three of them.

The rules are those of the U.S. Census Bureau's analysis server (Lucero et al. 2011, 3.2): square, root and natural
logarithm only; an interaction needs all its parts and all its lower interactions in the model. A model is canonical: the
order of terms, and of factors within a term, does not matter.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from reticent.base.checks import check_choice, check_unique
from reticent.base.doors import doors
from reticent.base.errors import ParameterError

TRANSFORMS = ("square", "root", "log")
NEEDS_BOUND = ("root", "log")
MOST_FACTORS = 3
MAX_PREDICTORS = 20
DECIMALS = 4


@dataclass(frozen=True, order=True)
class Factor:
    """A variable, or a transform of it."""

    variable: str
    transform: str = ""

    def __post_init__(self) -> None:
        if self.transform:
            check_choice(self.transform, TRANSFORMS, name="transform", owner="Query")

    def __str__(self) -> str:
        return f"{self.transform}({self.variable})" if self.transform else self.variable


@doors
@dataclass(frozen=True)
class Term:
    """One term of a regression: a variable, a transform, or an interaction, written as a product.

    >>> print(Term.log("turnover") * Term.of("region"))
    region * log(turnover)
    """

    factors: tuple[Factor, ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.factors) <= MOST_FACTORS:
            raise ParameterError(f"an interaction has two or three factors, got {len(self.factors)}.").at("Query")
        names = [factor.variable for factor in self.factors]
        if len(set(names)) < len(names):
            raise ParameterError("an interaction takes different variables; write SQUARE(x) for x * x.").at("Query")
        object.__setattr__(self, "factors", tuple(sorted(self.factors)))

    @classmethod
    def of(cls, variable: str) -> "Term":
        """The variable itself."""
        return cls((Factor(variable),))

    @classmethod
    def square(cls, variable: str) -> "Term":
        """The square of a number."""
        return cls((Factor(variable, "square"),))

    @classmethod
    def root(cls, variable: str) -> "Term":
        """The square root of a number whose lower bound in the policy is 0 or more."""
        return cls((Factor(variable, "root"),))

    @classmethod
    def log(cls, variable: str) -> "Term":
        """The natural logarithm of a number whose lower bound in the policy is above 0."""
        return cls((Factor(variable, "log"),))

    def __mul__(self, other: "Term") -> "Term":
        return Term((*self.factors, *other.factors))

    def __str__(self) -> str:
        return " * ".join(map(str, self.factors))

    @property
    def parts(self) -> Iterator["Term"]:
        """Every term that must be in the model with this one: its factors and its lower interactions."""
        for size in range(1, len(self.factors)):
            yield from (Term(chosen) for chosen in combinations(self.factors, size))


@dataclass(frozen=True)
class Model:
    """A response and the terms it is explained by, simple ones first, each kind in the order of names."""

    response: Factor
    terms: tuple[Term, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", tuple(sorted(self.terms, key=lambda t: (len(t.factors), t.factors))))
        check_unique(tuple(map(str, self.terms)), name="the list of terms", owner="Query")
        if self.response.variable in self.predictors:
            raise ParameterError(f"{self.response.variable!r} is the response; it cannot explain itself.").at("Query")
        if sum(len(term.factors) == 1 for term in self.terms) > MAX_PREDICTORS:
            raise ParameterError(f"a regression takes {MAX_PREDICTORS} predictors at most.").at("Query")
        there = set(self.terms)
        for term in self.terms:
            lacking = [str(part) for part in term.parts if part not in there]
            if lacking:
                raise ParameterError(f"the interaction {term} needs {' and '.join(lacking)} in the model too.").at(
                    "Query"
                )

    @property
    def predictors(self) -> tuple[str, ...]:
        """The variables that explain, in the order of names."""
        return tuple(sorted({factor.variable for term in self.terms for factor in term.factors}))

    @property
    def factors(self) -> tuple[Factor, ...]:
        """Every factor of every term, and the response, each once."""
        return tuple(dict.fromkeys([self.response, *(f for term in self.terms for f in term.factors)]))

    @property
    def plain(self) -> bool:
        """Whether there are neither transforms nor interactions."""
        return all(len(term.factors) == 1 for term in self.terms) and not any(f.transform for f in self.factors)

    def __str__(self) -> str:
        return ", ".join(map(str, (self.response, *self.terms)))


def transformed(values: NDArray[np.float64], transform: str, low: float | None) -> NDArray[np.float64]:
    """A transform of numbers. Root and logarithm first raise what lies below the known lower bound to it.

    So whether a transform exists depends on the policy alone, never on a record. Both are rounded to four decimals, so
    that sums of them are exact and can be audited as such (more digits make the audit's coefficients too large).
    """
    if not transform:
        return values
    if transform == "square":
        return np.asarray(values * values, dtype=np.float64)
    if low is None:
        raise ParameterError(f"{transform.upper()} needs a known lower bound of its variable in the policy.")
    raised = np.maximum(values, low)  # missing stays missing
    return np.asarray(np.round(np.sqrt(raised) if transform == "root" else np.log(raised), DECIMALS), dtype=np.float64)
