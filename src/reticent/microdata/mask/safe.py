# SPDX-License-Identifier: Apache-2.0
"""SAFE (plan name `safe`): a file of which no table has a count of 1 or 2 (Höhne 2003; Giessing and Höhne 2011)."""

from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from math import comb
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Ints
from reticent.base.checks import check_unique
from reticent.base.errors import DataError, InfeasibleError, NotProtectedError, ParameterError
from reticent.base.progress import Progress, part
from reticent.data.draws import StepDraws
from reticent.data.method import Applied, Group, Method, Promise
from reticent.data.microdata import Microdata
from reticent.data.parameters import Examples
from reticent.data.schema import Role, Schema
from reticent.microdata.perturb.binding import keyed_uniforms
from reticent.microdata.perturb.safe_search import Controls, Limits, SafeCounts, safe_counts
from reticent.microdata.perturb.safe_tables import SIZES, Combinations, TableChange, other_tables, table_change
from reticent.microdata.risk.safe_recount import SafeRecount
from reticent.microdata.risk.shown_combinations import attack_shown

MOST_TABLES = 1_000
FEWEST_RECORDS = 3
GUARANTEE = (
    "Against the arithmetic attacker, who knows the method, the controlled tables and bounds of the deviations, not how large "
    "the largest is: every table of this file, however crossed, filtered or merged, has counts of 0 or at least 3, and no true "
    "count of 1 or 2 can be proved, because the published counts themselves fit everything they know. Whoever learns that a "
    "deviation is reached can prove more: keep the report confidential. Not covered: people. A combination that is shown "
    "exists, whoever is alone with it can be looked up in its copies with all other values, and a published 3 often stands for "
    "one or two records; the verdict on the file counts copies of one person once. Somebody whose own combination is not shown "
    "knows one record that the file lacks, and can prove a count of 1 or 2 beside it where bounds are tight. Not for the "
    "transparent attacker. A second release of these records, with another secret or other options, reveals more."
)
_UNWANTED = {
    Role.WEIGHT: "it counts records, and weighted tables would show single weights",
    Role.HOUSEHOLD_ID: "it copies and drops single records, so households would not stay whole",
}


@dataclass(frozen=True)
class Safe(Method):
    """Drop and copy whole records until each combination of values is in no record or in at least three.

    Every table of the result is then free of 1 and 2, and all of them add up. `tables` are controlled: the search keeps
    their counts as near to the truth as it can, and lowers the largest deviation until it is stuck; other tables may
    deviate more. The number of records is kept, and no combination is made that nobody has. All variables of the file
    are values of the combination, written as they are: recode to the detail that is published first. Identifiers, and
    variables that are not named, leave the file. Nothing may change values after this step.
    """

    name: ClassVar[str] = "safe"
    group: ClassVar[Group] = Group.RECORDS
    searches: ClassVar[bool] = True
    last: ClassVar[bool] = True
    examples: ClassVar[Examples] = (
        {"variables": ["sex", "marital", "education"], "ways": 2, "steps": 30},
        {"variables": ["sex", "marital"], "tables": [["sex"], ["sex", "marital"]], "time_limit": 60.0, "steps": 20},
    )

    tables: tuple[tuple[str, ...], ...] = field(
        default=(), metadata={"help": "controlled tables, a list of variables each"}
    )
    ways: int = field(
        default=0, metadata={"min": 0, "max": 4, "help": "control also all tables of up to this many variables"}
    )
    variables: tuple[str, ...] = field(
        default=(),
        metadata={"names": "variables", "help": "variables that stay in the file; empty: all except identifiers"},
    )
    single_bound: int | None = field(
        default=None, metadata={"min": 0, "help": "largest deviation allowed in controlled tables of one variable"}
    )
    crossed_bound: int | None = field(
        default=None, metadata={"min": 0, "help": "largest deviation allowed in crossed controlled tables"}
    )
    steps: int | None = field(
        default=None, metadata={"min": 1, "keyed": False, "help": "stop the search after this many steps"}
    )
    time_limit: float | None = field(
        default=None,
        metadata={"min": 0.0, "keyed": False, "help": "seconds; then the best counts so far (facts have the steps)"},
    )

    def __post_init__(self) -> None:
        check_unique(self.variables, name="variables", owner=self.name)
        if not self.tables and not self.ways:
            raise ParameterError("nothing is controlled; name tables, or give ways (1: each variable).")
        seen: set[frozenset[str]] = set()
        for table in self.tables:
            if not table:
                raise ParameterError("a controlled table names no variable; give at least one.")
            check_unique(table, name="a controlled table", owner=self.name)
            if frozenset(table) in seen:
                raise ParameterError(f"the table {' × '.join(table)} is controlled twice; name it once.")
            seen.add(frozenset(table))
        single, crossed = self.single_bound, self.crossed_bound
        if single is not None and crossed is not None and single > crossed:
            raise ParameterError(
                f"single_bound must be at most crossed_bound, got {single} and {crossed}; exchange them.",
                option="single_bound",
            )

    def check(self, schema: Schema) -> None:
        """The variables exist and may be counted by; the controlled tables are made of them."""
        schema.require((*self.variables, *(name for table in self.tables for name in table)), owner=self.name)
        if schema.entity is not None:
            raise DataError(
                f"{self.name}: the file has the entity {schema.entity}, but three records of one respondent would be a count "
                "of 3; give the file one record for each respondent.",
                variables=(schema.entity,),
            )
        names = self.names_in(schema)
        for name in names:
            if schema[name].role in _UNWANTED:
                raise DataError(
                    f"{self.name}: {name} is the {schema[name].role} of the file, but {_UNWANTED[schema[name].role]}; name "
                    "the variables that stay, without it.",
                    variables=(name,),
                )
        for name in dict.fromkeys(self.variables + tuple(name for table in self.tables for name in table)):
            if name not in names:
                reason = "is an identifier" if schema[name].role is Role.IDENTIFIER else "is not among variables"
                raise DataError(f"{self.name}: {name} {reason}, so it cannot be counted by.", variables=(name,))
        many = len(self.tables) + sum(comb(len(names), size) for size in range(1, self.ways + 1))
        if not names or many > MOST_TABLES:
            raise ParameterError(
                f"{self.name}: {many} tables are controlled, 1 to {MOST_TABLES} are possible; name tables, or lower ways."
            )

    def names_in(self, schema: Schema) -> tuple[str, ...]:
        stay = [v.name for v in schema.variables if v.role is not Role.IDENTIFIER]
        return tuple(name for name in stay if not self.variables or name in self.variables)

    def schema_after(self, schema: Schema) -> Schema:
        """Identifiers and variables that are not named are gone; nothing belongs to households any more."""
        names = self.names_in(schema)
        left = schema.without(tuple(name for name in schema.names if name not in names))
        for name in names:
            if left[name].is_household:
                role = Role.OTHER if left[name].role is Role.HOUSEHOLD_VARIABLE else left[name].role
                left = left.change(name, household=False, role=role)
        return left

    def moves(self, schema: Schema) -> tuple[str, ...]:
        """Whole records are copied."""
        return self.names_in(schema)

    def controlled(self, names: tuple[str, ...]) -> tuple[tuple[int, ...], ...]:
        """The controlled tables as positions of variables, each once."""
        place = {name: at for at, name in enumerate(names)}
        found = [tuple(sorted(place[name] for name in table)) for table in self.tables]
        for size in range(1, self.ways + 1):
            found += combinations(range(len(names)), size)
        return tuple(dict.fromkeys(found))

    def mask(self, data: Microdata, *, draws: StepDraws, progress: Progress) -> Applied:
        """Search new counts, give the records of dropped combinations the values of copied ones, and count again."""
        self.check(data.schema)
        if data.n_records < FEWEST_RECORDS:
            raise DataError(
                f"{self.name}: a file of fewer than {FEWEST_RECORDS} records has no counts without 1 and 2; leave it out."
            )
        names = self.names_in(data.schema)
        tables = self.controlled(names)
        found = Combinations.of(data, names)
        secret = draws.of_part(found.as_input())
        result = safe_counts(
            found.counts,
            found.codes,
            Controls.of(found.codes, tables),
            stream=secret.stream("search"),
            limits=Limits(self.single_bound, self.crossed_bound, self.steps, self.time_limit),
            progress=part(progress, 0.0, 0.9),
        )
        self._require_bounds(result)
        source = _sources(found, result.counts, keyed_uniforms(secret, "records", data.record_ids()))
        dropped = tuple(name for name in data.schema.names if name not in names)
        masked = replace(
            data.without(dropped).rows(source), ids=data.record_ids(), schema=self.schema_after(data.schema)
        )
        progress(0.9, "recount")
        certificate = SafeRecount.of(data, masked, names).summary(tables)
        _require_recount(result, certificate)
        changes = [table_change(found, result.counts, columns, controlled=True) for columns in tables]
        for columns in other_tables(len(names), tables, secret.stream("tables")):
            changes.append(table_change(found, result.counts, columns, controlled=False))
        facts = self._facts(found, result, changes, certificate, dropped)
        return Applied(masked, _changed(found, source), facts)

    def _require_bounds(self, result: SafeCounts) -> None:
        asked = (self.single_bound, self.crossed_bound)
        if any(bound is not None and now > bound for bound, now in zip(asked, result.largest, strict=True)):
            raise InfeasibleError(
                f"{self.name}: the search ended ({_ENDED[result.ended]}) at largest deviations of {result.largest[0]} in tables "
                f"of one variable and {result.largest[1]} in crossed ones; raise single_bound or crossed_bound, give it more "
                "time, or control fewer tables."
            )

    def _facts(
        self,
        found: Combinations,
        result: SafeCounts,
        changes: list[TableChange],
        certificate: dict[str, Any],
        dropped: tuple[str, ...],
    ) -> dict[str, Any]:
        others = [change for change in changes if not change.controlled]
        repeat = {"repeat": {"steps": result.steps}} if result.ended == "time" else {}
        return {
            **repeat,
            "combinations": {
                "before": len(found),
                "in 1 or 2 records": int((found.counts < 3).sum()),
                "after": int((result.counts > 0).sum()),
            },
            "search": {
                "ended": _ENDED[result.ended],
                "steps": result.steps,
                "cut by time": result.ended == "time",
                "to repeat": f"steps = {result.steps}",
            },
            "largest deviation": {"single": result.largest[0], "crossed": result.largest[1]},
            "mean deviation": round(float(np.abs(result.deviation).mean()), 4),
            "records changed": int(np.maximum(found.counts - result.counts, 0).sum()),
            "tables": [change.plain() for change in changes],
            "other tables by true count": {
                _size(at): max((change.largest_by_size[at] for change in others), default=0) for at in range(len(SIZES))
            },
            "certificate": certificate,
            "attack": attack_shown(found, result.counts).summary(),
            "guarantee": GUARANTEE,
            "removed": list(dropped),
        }

    def promises(self) -> tuple[Promise, ...]:
        """What the name says, counted again."""
        return (
            Promise("no combination of values is in 1 or 2 records", partial(_small, self)),
            Promise("the number of records is kept and every combination is a true one", partial(_untrue, self)),
        )


_ENDED = {
    "content": "nothing better was asked for",
    "stuck": "nothing lowers the largest deviation any more",
    "steps": "the limit of steps was reached",
    "time": "the time limit was reached",
}


def _size(at: int) -> str:
    return f"{SIZES[at]}–{SIZES[at + 1] - 1}" if at + 1 < len(SIZES) else f"{SIZES[at]} and more"


def _sources(found: Combinations, new: Ints, uniform: NDArray[np.float64]) -> Ints:
    """The record whose values each record gets: the first of its own combination, or of a copied one if it is dropped.

    Who is dropped, and what takes the place, is drawn. All records of a combination are written in the same way.
    """
    order = np.lexsort((uniform, found.group))
    starts = np.concatenate(([0], np.cumsum(found.counts)[:-1]))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order)) - starts[found.group[order]]
    own = found.group.copy()
    dropped = np.flatnonzero(rank >= new[own])
    copied = np.repeat(np.arange(len(found)), np.maximum(new - found.counts, 0))
    own[dropped[np.argsort(uniform[dropped], kind="stable")]] = copied
    return found.first[own]


def _changed(found: Combinations, source: Ints) -> dict[str, int]:
    """Values that differ from the record's own, per variable."""
    new = found.group[source]
    return {
        name: int((found.codes[new, at] != found.codes[found.group, at]).sum()) for at, name in enumerate(found.names)
    }


def _require_recount(result: SafeCounts, certificate: dict[str, Any]) -> None:
    stated = {"single": result.largest[0], "crossed": result.largest[1]}
    if certificate["largest deviation"] != stated:
        raise NotProtectedError("safe: the recount finds other deviations than the search; nothing was written.")


def _small(method: Safe, before: Microdata, after: Microdata) -> int:
    return SafeRecount.of(before, after, method.names_in(before.schema)).small


def _untrue(method: Safe, before: Microdata, after: Microdata) -> int:
    left = [name for name in after.schema.names if name not in method.names_in(before.schema)]
    counted = SafeRecount.of(before, after, method.names_in(before.schema))
    return counted.new + abs(before.n_records - after.n_records) + len(left)
