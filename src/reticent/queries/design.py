# SPDX-License-Identifier: Apache-2.0
"""The columns of a regression: what its terms become over a set of records, and which models a policy allows.

Filters with codes or cutpoints become indicators of all codes but the most common one; interactions become products of
the columns of their factors. What may be asked is decided from metadata and policy, before any record is read.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats
from reticent.base.errors import ParameterError
from reticent.queries.canonical import RecordSet, Universe, Version
from reticent.queries.language import REGRESSIONS, Statistic
from reticent.queries.policy import Policy
from reticent.queries.refusals import Code, Refusal
from reticent.queries.terms import NEEDS_BOUND, Factor, Model, Term, transformed

Numbers = Callable[[Factor], Floats]
# elsewhere only what everybody knows (filters) can be transformed or multiplied: sums of powers of a few confidential
# values fix these values, although none of the sums does by linear algebra
CONFIDENTIAL_TERMS = ("analysis", "open")
WORDS = {"square": "SQUARE", "root": "SQRT", "log": "LN"}


@dataclass(frozen=True)
class Part:
    """One factor of a column: an indicator of a code (`level`), or a number, known to everybody or confidential."""

    name: str
    level: int | None = None
    known: bool = False
    transform: str = ""

    @property
    def factor(self) -> Factor:
        """The variable and its transform."""
        return Factor(self.name, self.transform)


Column = tuple[Part, ...]


def columns_of(universe: Universe, records: RecordSet, model: Model) -> tuple[Column, ...]:
    """The columns of a model's terms, without the intercept; combinations of codes that nobody has are left out."""
    version = universe.versions[records.version]
    sizes = np.bincount(version.atom, minlength=version.n_atoms)
    choices = {factor: _parts(version, records, sizes, factor) for factor in model.factors if factor != model.response}
    found = []
    for term in model.terms:
        for column in product(*(choices[factor] for factor in term.factors)):
            if sum(part.level is not None for part in column) < 2 or _occurs(version, records, column):
                found.append(column)
    return tuple(found)


def _parts(version: Version, records: RecordSet, sizes: NDArray[np.int64], factor: Factor) -> list[Part]:
    levels = version.levels.get(factor.variable)
    if levels is None or levels.numbers is not None:
        return [Part(factor.variable, known=levels is not None, transform=factor.transform)]
    codes = version.codes[factor.variable]
    inside = records.atoms & (codes >= 0)
    counts = np.bincount(codes[inside], weights=sizes[inside], minlength=len(levels))
    if set(np.flatnonzero(counts).tolist()) - set(levels.shown):
        raise ParameterError(f"{factor.variable!r} has codes that its code list lacks; they cannot be shown.")
    reference = int(np.argmax(counts))
    return [Part(factor.variable, int(code)) for code in np.flatnonzero(counts) if code != reference]


def _occurs(version: Version, records: RecordSet, column: Column) -> bool:
    mask = records.atoms.copy()
    for part in column:
        if part.level is not None:
            mask &= version.codes[part.name] == part.level
    return bool(mask.any())


def label_of(version: Version, column: Column) -> str:
    """A column's name in an answer, e.g. `region[north] * log(area)`."""
    words = []
    for part in column:
        text = "" if part.level is None else f"[{version.levels[part.name].texts[part.level]}]"
        words.append(f"{part.factor}{text}")
    return " * ".join(words)


def values_of(version: Version, column: Column, rows: NDArray[np.int64], numbers: Numbers) -> Floats:
    """A column's values for some records, given the values of its numeric factors for them."""
    values = np.ones(len(rows))
    for part in column:
        if part.level is not None:
            values *= version.codes[part.name][version.atom[rows]] == part.level
        else:
            values *= numbers(part.factor)
    return values


def factor_values(universe: Universe, version: int, factor: Factor, rows: NDArray[np.int64]) -> Floats:
    """A number, or its transform, for some records of a version."""
    numbers = universe.versions[version].data.numbers((factor.variable,))[rows, 0]
    return transformed(np.asarray(numbers, dtype=np.float64), factor.transform, lower_bound(universe.policy, factor))


def lower_bound(policy: Policy, factor: Factor) -> float | None:
    """The smallest value that the policy calls known."""
    bounds = policy.bounds.get(factor.variable)
    return None if bounds is None else bounds.low


def check_model(statistic: Statistic, version: Version, policy: Policy) -> Refusal | None:
    """Why a regression cannot be asked at all: decided by metadata and policy, never by a record."""
    if statistic.name not in REGRESSIONS:
        return None
    model = statistic.regression
    for factor in model.factors:
        refusal = _check_factor(factor, version, policy)
        if refusal is not None:
            return refusal
    if policy.mode not in CONFIDENTIAL_TERMS:
        refusal = _check_confidential(model, version) or _check_curved(statistic, version)
        if refusal is not None:
            return refusal
    return _check_size(model, version, policy)


def _check_factor(factor: Factor, version: Version, policy: Policy) -> Refusal | None:
    if not factor.transform:
        return None
    word = WORDS[factor.transform]
    if factor.transform not in policy.transforms:
        return Refusal(Code.NOT_ALLOWED, f"{word} is not offered by this database.", "Use the variable itself.")
    levels = version.levels.get(factor.variable)
    if levels is not None and levels.numbers is None:
        return Refusal(
            Code.NOT_ALLOWED,
            f"{factor.variable!r} is used as codes; only numbers can be transformed.",
            "Leave it plain.",
        )
    low = lower_bound(policy, factor)
    if factor.transform in NEEDS_BOUND and (low is None or low < 0 or (factor.transform == "log" and low == 0)):
        least = "above 0" if factor.transform == "log" else "of 0 or more"
        return Refusal(
            Code.NOT_ALLOWED,
            f"{word} is offered only for variables with a published lower bound {least}; {factor.variable!r} has none.",
            "Use SQUARE or the variable itself.",
        )
    return None


def _check_confidential(model: Model, version: Version) -> Refusal | None:
    """At most one factor of a term may be confidential, and none transformed."""

    def confidential(factor: Factor) -> bool:
        return factor.variable not in version.levels

    change = "Transform and multiply only variables that can be in a condition."
    for factor in model.factors:
        if factor.transform and confidential(factor):
            message = (
                f"{factor.variable!r} is confidential; this database does not answer models with a transform of it."
            )
            return Refusal(Code.NOT_ALLOWED, message, change)
    for term in model.terms:
        if sum(map(confidential, term.factors)) > 1:
            message = "This database does not answer models with a product of two confidential variables."
            return Refusal(Code.NOT_ALLOWED, message, change)
    return None


def _check_curved(statistic: Statistic, version: Version) -> Refusal | None:
    """A logistic curve of a confidential number is no sum of it: a few such models would give its values one by one."""
    response = statistic.regression.response
    for factor in statistic.regression.factors:
        if statistic.name == "logreg" and factor != response and factor.variable not in version.levels:
            return Refusal(
                Code.NOT_ALLOWED,
                f"{factor.variable!r} is confidential; this database does not answer logistic regressions on it.",
                "Use predictors that can be in a condition, or LINREG.",
            )
    return None


def _check_size(model: Model, version: Version, policy: Policy) -> Refusal | None:
    limits = policy.limits
    if sum(len(term.factors) == 1 for term in model.terms) > limits.predictors:
        return Refusal(Code.LIMIT, f"A regression takes {limits.predictors} predictors at most.", "Use fewer.")
    if max(len(term.factors) for term in model.terms) > limits.factors:
        most = f"of {limits.factors} variables at most" if limits.factors > 1 else "not at all"
        return Refusal(Code.LIMIT, f"This database answers interactions {most}.", "Leave the others out.")
    if sum(_width(term, version) for term in model.terms) > limits.columns:
        return Refusal(
            Code.LIMIT, "The regression has too many columns, counting one for each code.", "Use fewer codes."
        )
    return None


def _width(term: Term, version: Version) -> int:
    """The number of columns a term may get, by the published codes."""
    widths = []
    for factor in term.factors:
        levels = version.levels.get(factor.variable)
        widths.append(1 if levels is None or levels.numbers is not None else max(len(levels.shown) - 1, 1))
    return prod(widths)
