# SPDX-License-Identifier: Apache-2.0
"""The owner's numbers for one protected database: what may be asked, and when a set of records is unsafe.

The policy is read from the `[policy]` section of a database file. Thresholds and rule parameters are confidential: no
message repeats them; names of variables and cutpoints are public.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reticent.base.checks import check_unique
from reticent.base.errors import ParameterError, PlanError
from reticent.data.parameters import Parameters, build
from reticent.data.schema import Kind, Schema
from reticent.queries.modes import check_mode
from reticent.queries.terms import MAX_PREDICTORS, MOST_FACTORS, TRANSFORMS

MAX_TEXT = 20_000
MOST_TEXT = 1_000_000
MAX_NESTING = 20
OWNER = "policy"
TIED_FOR_SOME = "some"
"""The ties of the mode `simulatable` that any part of the records may follow, and others not."""


@dataclass(frozen=True)
class Bounds(Parameters):
    """What everybody knows of a response: its smallest and largest value, and whether it is a whole number."""

    called: ClassVar[str] = f"{OWNER}: bounds"
    low: float | None = None
    high: float | None = None
    integer: bool = False

    def __post_init__(self) -> None:
        if self.low is not None and self.high is not None and self.low >= self.high:
            raise ParameterError("low must be below high.", option="low")
        for option, end in (("low", self.low), ("high", self.high)):
            if self.integer and end is not None and end % 1:
                raise ParameterError(f"{option} must be a whole number, as the values are.", option=option)

    def broken_by(self, values: NDArray[np.float64]) -> int:
        """How many values (missing ones apart) are not as everybody believes."""
        there = values[~np.isnan(values)]
        wrong = np.zeros(len(there), dtype=bool)
        if self.low is not None:
            wrong |= there < self.low
        if self.high is not None:
            wrong |= there > self.high
        if self.integer:
            wrong |= there != np.rint(there)
        return int(wrong.sum())


@dataclass(frozen=True)
class Limits(Parameters):
    """What a single query and a single user may ask for."""

    called: ClassVar[str] = f"{OWNER}: limits"
    text: int = field(default=MAX_TEXT, metadata={"min": 20, "max": MOST_TEXT, "help": "longest query text"})
    nesting: int = field(default=MAX_NESTING, metadata={"min": 2, "max": 40, "help": "deepest nesting of brackets"})
    constants: int = field(default=500, metadata={"min": 1, "help": "most constants in one query"})
    cells: int = field(default=2_000, metadata={"min": 1, "help": "most groups of one GROUP BY"})
    queries: int = field(default=0, metadata={"min": 0, "help": "most queries of one user; 0 is no limit"})
    tick: float = field(
        default=0.0,
        metadata={"min": 0, "max": 3600, "help": "answers leave only at multiples of this many seconds; 0 is at once"},
    )
    predictors: int = field(
        default=MAX_PREDICTORS,
        metadata={"min": 1, "max": MAX_PREDICTORS, "help": "most predictors of a regression, interactions not counted"},
    )
    factors: int = field(
        default=MOST_FACTORS,
        metadata={"min": 1, "max": MOST_FACTORS, "help": "most variables of an interaction; 1 allows none"},
    )
    columns: int = field(
        default=100, metadata={"min": 1, "help": "most columns of a regression, one for each code and product"}
    )


@dataclass(frozen=True)
class SimulatableOptions(Parameters):
    """`[policy.options.simulatable]`: which responses count as tied by an equation; values may not decide it."""

    called: ClassVar[str] = f"{OWNER}: options simulatable"
    ties: str = field(
        default=TIED_FOR_SOME,
        metadata={
            "choices": (TIED_FOR_SOME, "all", "declared"),
            "help": "all responses count as tied, by an equation that some records follow or by one that all do; or only those "
            "that `tied` lists, for all records",
        },
    )


@dataclass(frozen=True)
class Policy(Parameters):
    """All rules of a database.

    A set of records is unsafe with fewer than `minimum` respondents (entities), or if its `dominance` (n, k): the n
    largest respondents hold strictly more than k percent, or by the p percent rule with a coalition of `coalition`
    respondents. `interval` is the distance, in percent of the true value, that an attacker with the known `bounds` must
    be left from below and from above for every unsafe set. `known` lists respondents whose values are public knowledge.
    `tied` lists responses that are tied by an equation (a total and its parts): who sums one sums the others. `test` says
    that the data are made up, without which the mode `open` is refused.
    """

    called: ClassVar[str] = OWNER
    mode: str = field(default="exact", metadata={"help": "how queries are answered, and so what is promised"})
    history: str = field(
        default="all",
        metadata={"choices": ("all", "user"), "help": "whose earlier answers count: of all users together, or of each"},
    )
    minimum: int = field(default=3, metadata={"min": 1, "help": "fewest respondents"})
    dominance: tuple[float, ...] = field(
        default=(), metadata={"help": "two numbers n, k: unsafe if the n largest respondents hold more than k percent"}
    )
    p_percent: float | None = field(
        default=None,
        metadata={"min": 0, "max": 100, "help": "unsafe if the largest can be estimated within this many percent"},
    )
    coalition: int = field(
        default=1, metadata={"min": 0, "max": 20, "help": "respondents who join to estimate the largest"}
    )
    interval: float = field(
        default=0.0,
        metadata={
            "min": 0,
            "max": 100,
            "help": "percent of a value that must stay open on both sides, given the bounds",
        },
    )
    unions: int = field(default=2, metadata={"min": 1, "max": 3, "help": "most classes in an inferred sensitive set"})
    dimension: int = field(
        default=3, metadata={"min": 0, "max": 3, "help": "most filters of the tables whose unsafe cells are watched"}
    )
    leverage: float = field(default=0.5, metadata={"min": 0, "max": 1, "help": "largest leverage in a regression"})
    r_squared: float = field(default=0.99, metadata={"min": 0, "max": 1, "help": "largest R² of a regression"})
    transforms: tuple[str, ...] = field(default=TRANSFORMS, metadata={"choices": TRANSFORMS})
    responses: tuple[str, ...] = field(default=(), metadata={"names": "responses", "help": "what can be added up"})
    filters: tuple[str, ...] = field(default=(), metadata={"names": "filters", "help": "what can be selected by"})
    cutpoints: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    bounds: Mapping[str, Bounds] = field(default_factory=dict)
    known: tuple[str, ...] = ()
    families: tuple[tuple[str, ...], ...] = ()
    tied: tuple[tuple[str, ...], ...] = ()
    limits: Limits = Limits()
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    test: bool = field(default=False, metadata={"help": "the data are made up: needed for the mode open"})

    def __post_init__(self) -> None:
        for name in ("filters", "responses", "known"):
            check_unique(getattr(self, name), name=name, owner=OWNER)
        if self.dominance and (len(self.dominance) != 2 or self.dominance[0] < 1 or self.dominance[0] % 1):
            raise ParameterError(
                "dominance must be two numbers [n, k]: the n largest above k percent.", option="dominance"
            )
        if self.dominance and not 0 < self.dominance[1] <= 100:
            raise ParameterError("k of the dominance rule must be above 0 and at most 100.")
        for name, points in self.cutpoints.items():
            if list(points) != sorted(set(points)) or not points:
                raise ParameterError(f"cutpoints of {name!r} must be increasing numbers.", option="cutpoints")
        check_mode(self)

    @property
    def ties(self) -> str:
        """What ties responses in the mode `simulatable`."""
        options = self.options.get("simulatable", {})
        return build(SimulatableOptions, options, owner=f"{OWNER}: options simulatable").ties

    @property
    def ties_without_values(self) -> tuple[tuple[str, ...], ...]:
        """The ties of the mode `simulatable`: found ones would depend on values, so none means all responses."""
        return self.tied if self.ties == "declared" else (*self.tied, self.responses)

    def check(self, schema: Schema) -> None:
        """Refuse a policy that does not fit the schema."""
        schema.require((*self.responses, *self.filters, *self.cutpoints, *self.bounds), owner=OWNER)
        secret_roles = set(schema.identifiers) | ({schema.entity} if schema.entity else set())
        for name in (*self.filters, *self.responses):
            if name in secret_roles:
                raise PlanError(f"{OWNER}: {name!r} identifies respondents; it can be neither filter nor response.")
        for name in (*self.responses, *self.cutpoints):
            if schema[name].kind is not Kind.NUMERIC:
                raise PlanError(f"{OWNER}: {name!r} must be numeric to be a response or to have cutpoints.")
        for name in self.cutpoints:
            if name not in self.filters:
                raise PlanError(f"{OWNER}: {name!r} has cutpoints but is not one of the filters.")
        for tied in self.tied:
            if len(set(tied)) < 2 or not set(tied) <= set(self.responses):
                raise PlanError(f"{OWNER}: tied must list two or more of the responses each time.")
        for family in self.families:
            if not family:
                raise PlanError(f"{OWNER}: a family must name one or more of the filters.")
            for name in family:
                if name not in self.filters:
                    raise PlanError(f"{OWNER}: the family variable {name!r} must be one of the filters.")


def read_policy(table: Mapping[str, Any], *, owner: str) -> Policy:
    """Build a policy from the `[policy]` table of a database file."""
    return build(Policy, table, owner=owner)
