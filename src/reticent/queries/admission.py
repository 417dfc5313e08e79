# SPDX-License-Identifier: Apache-2.0
"""Which queries are looked at: variables, statistics and labels that the policy and the metadata allow."""

import itertools
from collections.abc import Collection

from reticent.base.checks import did_you_mean
from reticent.queries.canonical import Universe
from reticent.queries.design import check_model
from reticent.queries.language import REGRESSIONS, STATISTICS, Query, Statistic, walk
from reticent.queries.policy import Policy
from reticent.queries.refusals import Code, Refusal

MOST_PARTS = 2_000


class Admission:
    """Says what may be asked at all, from the policy and the metadata; no record is looked at."""

    def __init__(self, universe: Universe, policy: Policy, statistics: Collection[str]) -> None:
        self.universe, self.policy = universe, policy
        self._statistics = universe.answerable(statistics)
        self._needs_records = set(statistics) - set(self._statistics)

    def check(self, query: Query) -> Refusal | None:
        """What the policy and the metadata say; no record is looked at."""
        for statistic in query.statistics:
            refusal = self._check_statistic(statistic)
            if refusal is not None:
                return refusal
        if sum(1 for _ in itertools.islice(walk(query.where), MOST_PARTS)) == MOST_PARTS:
            return Refusal(Code.TOO_LONG, "The condition has too many parts.", "Make it shorter.")
        for name in query.condition_variables:
            if name not in self.policy.filters:
                return self._unknown(name, self.policy.filters, "a condition or GROUP BY")
        return None

    def _check_statistic(self, statistic: Statistic) -> Refusal | None:
        if statistic.name not in self._statistics:
            known = ", ".join(name.upper() for name in STATISTICS if name in self._statistics)
            why = "is not answered by this database"
            if statistic.name in self._needs_records:
                why = "needs all records at once, and those of this database stay in an engine"
            return Refusal(Code.NOT_ALLOWED, f"{statistic.name.upper()} {why}.", f"It answers {known}.")
        for position, name in enumerate(statistic.variables):
            also = self.policy.filters if statistic.name in REGRESSIONS and position else ()
            if statistic.name == "km" and position == 0:
                if name not in self.policy.filters:
                    return self._unknown(name, self.policy.filters, "the time of KM")
            elif name not in (*self.policy.responses, *also):
                return self._unknown(name, (*self.policy.responses, *also), f"{statistic.name.upper()}")
        return (
            self._check_labels(statistic)
            or self._check_survival(statistic)
            or check_model(statistic, self.universe.current, self.policy)
        )

    def _check_survival(self, statistic: Statistic) -> Refusal | None:
        """Survival needs a time that has an order, and an event that is 0 or 1 (in the mode simulatable: declared to be)."""
        if statistic.name != "km":
            return None
        time, event = statistic.variables
        if not self.universe.current.levels[time].ordered:
            return Refusal(Code.NOT_ALLOWED, f"The codes of {time!r} have no order, so it cannot be the time of KM.")
        # in the mode simulatable the declared bounds alone decide; elsewhere values do, and the decision goes on record
        if self.policy.mode == "open" and not self.universe.holds_event(event):  # where everything may be told
            return Refusal(Code.NOT_ALLOWED, f"The event of KM must be 0 or 1 for everybody; {event!r} is not.")
        if self.policy.mode != "simulatable" or self.universe.is_event(event):
            return None
        return Refusal(
            Code.NOT_ALLOWED,
            f"The event of KM must be known to be 0 or 1; {event!r} is not.",
            "The owner can declare bounds of 0 and 1 and whole numbers for it.",
        )

    def _check_labels(self, statistic: Statistic) -> Refusal | None:
        """Codes that only records know must not become labels of an answer."""
        for name in statistic.variables if statistic.name in (*REGRESSIONS, "km") else ():
            levels = self.universe.current.levels.get(name)
            numeric = levels is not None and levels.numbers is not None and statistic.name != "km"
            if levels is not None and not levels.shown and not numeric:
                return no_labels(name)
        return None

    def _unknown(self, name: str, allowed: tuple[str, ...], where: str) -> Refusal:
        schema = self.universe.current.schema
        offered = f"Allowed there: {', '.join(allowed) or 'none'}."
        if name in (*self.policy.filters, *self.policy.responses) and name in schema:
            return Refusal(Code.NOT_ALLOWED, f"The variable {name!r} cannot be used in {where}.", offered)
        # variables that exist but may not be used are not told apart from ones that do not exist
        hint = did_you_mean(name, (*self.policy.filters, *self.policy.responses)).strip()
        return Refusal(Code.UNKNOWN_VARIABLE, f"There is no variable {name!r} to ask about.", hint or offered)


def no_labels(name: str) -> Refusal:
    """The refusal of a variable whose codes only the records know."""
    return Refusal(
        Code.NOT_ALLOWED,
        f"{name!r} has no published code list or cutpoints, so its groups cannot be shown.",
        "Select single codes with WHERE, or ask the owner to declare its codes in the schema.",
    )
