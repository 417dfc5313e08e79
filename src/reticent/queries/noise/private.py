# SPDX-License-Identifier: Apache-2.0
"""The mode `private`: differential privacy by OpenDP's Laplace mechanism, with the spent budget kept in the ledger.

Every value costs `epsilon`; when the total is spent, only values that were released before are given again. The budget is
the data set's, whoever asks and whatever `history` says: users can put their answers together. A respondent
counts with at most `contributions` records in a cell (the first ones of the file), and values are clamped to the bounds
that the policy calls known, so that the sensitivity is the policy's, never the data's.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reticent.base.errors import PlanError
from reticent.base.optional import need
from reticent.data.parameters import Parameters, build
from reticent.queries.canonical import RecordSet
from reticent.queries.fixed import clamped_sum, exact
from reticent.queries.guarantee import ModeGuarantee
from reticent.queries.language import Statistic
from reticent.queries.modes import Decision, Request, Setting
from reticent.queries.refusals import Answer, Code, Refusal, Row, StaffReason
from reticent.queries.statistics import exact_sum
from reticent.queries.written import written_name

MOST_SIZE = 1e280
"""Bounds times records of a respondent, over epsilon, stay below: no sum of any number of records overflows."""
ROUNDING = 1 + 1e-6
"""Sums are correctly rounded; with this factor the noise covers the rounding of sums of up to four billion records."""
SPENT = Refusal(
    Code.BUDGET,
    "This query costs more than is left of the privacy budget of this database.",
    "Ask for fewer values, or for what was answered before, which costs nothing.",
)


@dataclass(frozen=True)
class PrivateOptions(Parameters):
    """`[policy.options.private]`: the budget and what a value costs."""

    called: ClassVar[str] = "policy: options private"
    total: float = field(default=5.0, metadata={"min": 1e-6, "help": "epsilon of the whole database, for ever"})
    epsilon: float = field(default=0.1, metadata={"min": 1e-6, "help": "epsilon of one value"})
    contributions: int = field(default=1, metadata={"min": 1, "help": "most records of a respondent in a cell"})


@dataclass
class PrivateMode:
    """Answers counts, sums and means with noise, until the privacy budget of the data is spent."""

    setting: Setting
    options: PrivateOptions
    spent: float = 0.0
    name: ClassVar[str] = "private"
    guarantee: ClassVar[ModeGuarantee] = ModeGuarantee(
        "This is for the arithmetic attacker and for the transparent attacker, whatever else they know.",
        (
            "All answers to all users together are differentially private, between databases that differ by one respondent more "
            "or less, or by what one respondent has, with the policy's total epsilon per respondent (the largest total, if the "
            "ledger was open under several).",
        ),
        ("what answers tell of many respondents together", "what is published of the same data in other ways"),
    )
    leakage: ClassVar[tuple[str, ...]] = (
        "refusals and answers tell how much of the budget is spent, and so how many values were asked for, by whomever",
    )
    statistics: ClassVar[frozenset[str]] = frozenset({"count", "sum", "avg"})

    def decide(self, request: Request) -> Decision:
        """Answer with noise while the budget lasts. Cells of a group-by are disjoint, but are charged one by one.

        Cells with the same condition as written, and the same statistic asked for twice, have one value, charged once.
        """
        universe, query = self.setting.universe, request.query
        names = [written_name(query, c.group, universe.versions[c.records.version].name) for c in request.cells]
        asked = {
            (name, str(statistic)): (statistic, cell.records)
            for name, cell in zip(names, request.cells)
            for statistic in query.statistics
        }
        cost = self.options.epsilon * len(asked)
        if self.spent + cost > self.options.total * (1 + 1e-12):
            return Decision(SPENT, (StaffReason("budget", f"spent {self.spent:g}, asked {cost:g}"),))
        self.spent += cost
        drawn = {key: self._value(*what) for key, what in asked.items()}
        rows = tuple(
            Row(cell.group, tuple(drawn[name, str(statistic)] for statistic in query.statistics))
            for name, cell in zip(names, request.cells)
        )
        columns = tuple(str(statistic) for statistic in request.query.statistics)
        note = f"Noise was added to each value, at epsilon {self.options.epsilon:g}."
        answer = Answer(columns, rows, request.query.by, self.name, (note,))
        return Decision(answer, remember={"spent": cost})

    def replay(self, request: Request, remember: Mapping[str, Any]) -> None:
        """Take over what an earlier answer spent."""
        self.spent += float(remember.get("spent", 0.0))

    def _value(self, statistic: Statistic, records: RecordSet) -> float | int:
        if statistic.name == "count" and not statistic.variables:
            return self._noisy_count(self._size(records), self.options.epsilon)
        n, total = self._clamped(statistic.variables[0], records)
        if statistic.name == "count":
            return self._noisy_count(n, self.options.epsilon)
        low, high = self._ends(statistic.variables[0])
        if statistic.name == "sum":
            # of a respondent who is there or not, or who has one value or another
            largest = max(abs(low), abs(high), high - low)
            return self._noisy_sum(float(total), largest, self.options.epsilon)
        # the mean is the middle of the bounds plus a noisy sum of differences over a noisy count, half the budget each
        middle, half = (low + high) / 2, self.options.epsilon / 2
        apart = self._noisy_sum(float(total - n * exact(middle)), max(high - middle, middle - low), half)
        count = max(1, self._noisy_count(n, half))
        return float(np.clip(middle + apart / count, low, high))

    def _size(self, records: RecordSet) -> int:
        universe = self.setting.universe
        if universe.current.schema.entity is None:
            return int(exact_sum(universe, records))
        return len(self._bounded_rows(records))

    def _clamped(self, name: str, records: RecordSet) -> tuple[int, Fraction]:
        """How many values there are, and their exact sum within the bounds."""
        universe, (low, high) = self.setting.universe, self._ends(name)
        if universe.current.schema.entity is None:
            return universe.clamped(name, records, low, high)
        rows = self._bounded_rows(records)
        return clamped_sum(universe.versions[records.version].data.numbers((name,))[rows, 0], low, high)

    def _ends(self, name: str) -> tuple[float, float]:
        bounds = self.setting.policy.bounds[name]
        return float(bounds.low or 0.0), float(bounds.high or 0.0)

    def _bounded_rows(self, records: RecordSet) -> NDArray[np.int64]:
        """At most `contributions` records of each respondent.

        Record ids would not do: one repeated identifier renames all records, and so chooses others of all respondents.
        """
        universe = self.setting.universe
        rows = universe.records(records)
        entity = universe.versions[records.version].data.entity()
        assert entity is not None
        order = rows[np.lexsort((rows, entity[rows]))]
        owner = entity[order]
        first = np.searchsorted(owner, owner, side="left")
        return np.asarray(order[(np.arange(len(order)) - first < self.options.contributions) | (owner < 0)])

    def _noisy_count(self, value: int, epsilon: float) -> int:
        dp = need("opendp.prelude", extra="dp", purpose="differential privacy")
        dp.enable_features("contrib")
        space = dp.atom_domain(T=int), dp.absolute_distance(T=int)
        return int(dp.m.make_laplace(*space, scale=self.options.contributions / epsilon)(value))

    def _noisy_sum(self, value: float, largest: float, epsilon: float) -> float:
        dp = need("opendp.prelude", extra="dp", purpose="differential privacy")
        dp.enable_features("contrib")
        space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
        return float(dp.m.make_laplace(*space, scale=ROUNDING * self.options.contributions * largest / epsilon)(value))


def private(setting: Setting) -> PrivateMode:
    """Make the mode; every response needs both bounds."""
    options = build(PrivateOptions, setting.policy.options.get("private", {}), owner="policy: options private")
    for name in setting.policy.responses:
        bounds = setting.policy.bounds.get(name)
        if bounds is None or bounds.low is None or bounds.high is None:
            raise PlanError(f"policy: the mode private needs low and high bounds of {name!r}.")
        if 2 * max(abs(bounds.low), abs(bounds.high)) * options.contributions / options.epsilon > MOST_SIZE:
            raise PlanError(f"policy: the bounds of {name!r} are too large for noise; give narrower ones.")
    if setting.universe.current.schema.entity is None and options.contributions != 1:
        raise PlanError("policy: options private: contributions other than 1 need an entity variable in the schema.")
    return PrivateMode(setting, options)
