# SPDX-License-Identifier: Apache-2.0
"""The mode `camouflage`: answers every question with an interval; what it protects stays protected for ever."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, product
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints
from reticent.base.errors import PlanError
from reticent.data.parameters import build
from reticent.data.schema import Kind
from reticent.queries.camouflage.draw import Placed, draw
from reticent.queries.camouflage.hulls import Hull, Members
from reticent.queries.camouflage.intervals import (
    Interval,
    outward,
    quantile_interval,
    ratio_interval,
    regression_intervals,
    root_interval,
    variance_interval,
)
from reticent.queries.camouflage.record import CamouflageOptions, Drawn, Recorded
from reticent.queries.canonical import RecordSet, Universe, Version
from reticent.queries.fixed import Whole, exact
from reticent.queries.guarantee import ModeGuarantee
from reticent.queries.indexed import lines_in_common
from reticent.queries.language import Statistic
from reticent.queries.modes import Decision, Request, Setting
from reticent.queries.pieces import complete
from reticent.queries.planes import planes_in
from reticent.queries.refusals import Answer, Row
from reticent.queries.statistics import design_matrix
from reticent.queries.ties import ties_of

REPEATED, FEWEST_ALIKE = 0.5, 3
"""From this share of the respondents with several records on, and this many of them, one value in all records is no chance."""
MOST_TIED = {2: 40, 3: 8}
"""Equations of this many responses that hold for most records are looked for where there are no more responses than these."""
MOST_COMPARED = 10_000
"""Of more records so many, drawn at random, say whether most follow an equation."""
AROUND_NUMBERS = " <>≤≥=+~"


@dataclass
class CamouflageMode:
    """Answers with intervals over hulls that were drawn once for the ledger; they depend on nothing else."""

    setting: Setting
    options: CamouflageOptions
    hulls: dict[str, Placed] = field(repr=False)
    sums: dict[str, "AtomSums"] = field(repr=False)
    to_record: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)
    name: ClassVar[str] = "camouflage"
    guarantee: ClassVar[ModeGuarantee] = ModeGuarantee(
        "This is for the arithmetic attacker and for the transparent attacker, even one who has the secret.",
        (
            "Every answer is an interval that holds the true value.",
            "Indistinguishable: all answers together tell into which hull the truth falls and no more. Every database of the "
            "hull would have given the same answers with the same secret, so that, for all a, a' of the hull, "
            "P(everything public | a) / P(everything public | a') is 1.",
            "Width: the hull leaves each respondent every value of a cell of declared width, and still does so for an attacker "
            "who knows all values of as many respondents as `insiders` says.",
        ),
        (
            "what the attacker thinks likely before asking",
            "an attacker who knows more respondents of a block, or an exact total from elsewhere",
            "values that different respondents share",
            "the fact that no equation ties the responses, for all or for most, without which the database does not open",
        ),
    )
    leakage: ClassVar[tuple[str, ...]] = (
        "counts of records (membership in groups is taken as known)",
        "which values are missing",
        "the cell that each value lies in",
        "that no responses are tied by a linear equation, that no filter repeats a response, and that respondents have "
        "different values in their records of a response that is not declared as repeated (else the database does not open)",
    )
    statistics: ClassVar[frozenset[str]] = frozenset(
        {"count", "sum", "avg", "variance", "stddev", "min", "max", "median", "quantile", "ratio", "linreg"}
    )

    def decide(self, request: Request) -> Decision:
        """Answer with intervals; the same record set always gets the same one."""
        rows = tuple(
            Row(cell.group, tuple(self._value(statistic, cell.records) for statistic in request.query.statistics))
            for cell in request.cells
        )
        columns = tuple(str(statistic) for statistic in request.query.statistics)
        return Decision(Answer(columns, rows, request.query.by, self.name))

    def replay(self, request: Request, remember: Mapping[str, Any]) -> None:
        """Nothing to remember: answers depend on the hulls only."""

    @property
    def unit(self) -> Fraction:
        """What intervals are rounded outward to."""
        return exact(self.options.unit)

    def _value(self, statistic: Statistic, records: RecordSet) -> Any:
        if statistic.name == "count" and not statistic.variables:
            return len(self.setting.universe.records(records))
        response = statistic.variables[0]
        if statistic.name in ("sum", "avg"):
            return self._linear(statistic.name, response, records)
        if statistic.name == "ratio":
            return self._ratio(statistic, records)
        rows = self._rows(response, records)
        if statistic.name == "count":
            return len(rows)
        if statistic.name == "linreg":
            return self._regression(statistic, records)
        if len(rows) == 0 or (len(rows) < 2 and statistic.name in ("variance", "stddev")):
            return None
        return _INTERVALS[statistic.name](statistic, self.hulls[response].hull, rows, self.unit)

    def _linear(self, name: str, response: str, records: RecordSet) -> Any:
        """Sum or mean, from sums over atoms where these are enough: the cost does not grow with the records."""
        n, (low, high) = self._sum(response, records)
        if n == 0:
            return None
        return outward((low, high) if name == "sum" else (low / n, high / n), self.unit)

    def _sum(self, response: str, records: RecordSet) -> tuple[int, Interval]:
        hull = self.hulls[response].hull
        n, low, high = self.sums[response].over(hull, records.atoms)
        return n, (low * hull.half, high * hull.half)

    def _ratio(self, statistic: Statistic, records: RecordSet) -> Any:
        """A ratio of two sums, from the intervals of both; None if there are no values or the divisor may be 0."""
        found = [self._sum(name, records) for name in statistic.variables]
        if not all(n for n, _ in found):
            return None
        interval = ratio_interval(found[0][1], found[1][1])
        return None if interval is None else outward(interval, self.unit)

    def _rows(self, response: str, records: RecordSet) -> Ints:
        """Positions in the hull of the records of a set that have a value."""
        at = self.hulls[response].positions[self.setting.universe.records(records)]
        return np.asarray(at[at >= 0], dtype=np.int64)

    def _regression(self, statistic: Statistic, records: RecordSet) -> Any:
        universe, response = self.setting.universe, statistic.variables[0]
        if not set(statistic.variables[1:]) <= set(self.setting.policy.filters):
            return None
        whole = complete(universe, records, statistic.variables)
        design, _, labels = design_matrix(universe, whole, statistic)
        rows = self._rows(response, whole)
        if len(rows) <= design.shape[1] or np.linalg.matrix_rank(design) < design.shape[1]:
            return None
        try:
            found = regression_intervals(self.hulls[response].hull, rows, design)
        except OverflowError:  # cells beyond floating-point numbers; that depends on the hull only
            return None
        return {"coefficients": {name: outward(ends, self.unit) for name, ends in zip(labels, found)}, "n": len(rows)}


def _spread(statistic: Statistic, hull: Hull, rows: Ints, unit: Fraction) -> Any:
    interval = variance_interval(hull, rows)
    return outward(interval if statistic.name == "variance" else root_interval(interval), unit)


def _order(statistic: Statistic, hull: Hull, rows: Ints, unit: Fraction) -> Any:
    shares = {"min": 0.0, "max": 1.0, "median": 0.5}
    share = shares.get(statistic.name, statistic.parameter or 0.0)
    return outward(quantile_interval(hull, rows, exact(share)), unit, slack=statistic.name not in ("min", "max"))


_INTERVALS: dict[str, Callable[[Statistic, Hull, Ints, Fraction], Any]] = {
    "variance": _spread,
    "stddev": _spread,
    "min": _order,
    "max": _order,
    "median": _order,
    "quantile": _order,
}


@dataclass(frozen=True)
class AtomSums:
    """Sums over the atoms of the current version: of blocks that lie in one atom; the other blocks record by record."""

    count: Ints
    low: Whole
    high: Whole
    members: Members
    member_atom: Ints

    @classmethod
    def of(cls, placed: Placed, atom: Ints, n_atoms: int) -> "AtomSums":
        """Divide the blocks."""
        hull, there = placed.hull, placed.positions >= 0
        at = np.full(
            len(hull.low), -1, dtype=np.int64
        )  # the atom of each record of the hull, −1 for records that are gone
        at[placed.positions[there]] = atom[there]
        member = hull.block >= 0
        first, last = (np.full(len(hull.least_total), end, dtype=np.int64) for end in (n_atoms, -1))
        np.minimum.at(first, hull.block[member], at[member])
        np.maximum.at(last, hull.block[member], at[member])
        together = (first == last) & (first >= 0)
        spread = member & ~together[hull.block]
        low, high = (np.zeros(n_atoms, dtype=hull.low.dtype) for _ in range(2))
        alone = ~member & (at >= 0)
        for out, own, totals in ((low, hull.low, hull.least_total), (high, hull.high, hull.most_total)):
            np.add.at(out, at[alone], own[alone])
            np.add.at(out, first[together], totals[together])
        members = Members.of(hull, np.flatnonzero(spread))
        return cls(np.bincount(atom[there], minlength=n_atoms), low, high, members, at[members.rows])

    def over(self, hull: Hull, atoms: NDArray[np.bool_]) -> tuple[int, int, int]:
        """Number of values, least and greatest sum, in half steps, over some atoms."""
        inside = np.append(atoms, False)[self.member_atom]
        least, most = hull.partial(self.members, inside)
        n = int(self.count[atoms].sum())
        return n, int(self.low[atoms].sum()) + int(least.sum()), int(self.high[atoms].sum()) + int(most.sum())


def camouflage(setting: Setting) -> CamouflageMode:
    """Make the mode: a hull for each response, over the units of all versions (appended records only add to it)."""
    policy = setting.policy
    options = build(CamouflageOptions, policy.options.get("camouflage", {}), owner="policy: options camouflage")
    _check(setting, options)
    recorded = Recorded(setting.recorded)
    hulls = {name: draw(setting, name, Drawn.of(policy, options, name), recorded) for name in policy.responses}
    current = setting.universe.current
    sums = {name: AtomSums.of(placed, current.atom, current.n_atoms) for name, placed in hulls.items()}
    return CamouflageMode(setting, options, hulls, sums, tuple(record.as_json() for record in recorded.fresh))


def _check(setting: Setting, options: CamouflageOptions) -> None:
    policy = setting.policy
    setting.universe.check_bounds()
    for option, names in (("bands", options.bands), ("repeated", options.repeated)):
        for name in names:
            if name not in policy.responses:
                raise PlanError(f"policy: options camouflage: {option} names {name!r}, which is not a response.")
    for name in policy.responses:
        if name in policy.filters:
            raise PlanError(
                f"camouflage: {name!r} is both a filter and a response; conditions on it would answer exactly about what is "
                "camouflaged. Make it one or the other."
            )
    _check_filters(setting)
    _check_repeated(setting, options)
    universe = setting.universe
    for response, others in universe.linked_by(
        (*universe.policy.tied, *universe.found_ties, *_tied_for_most(universe))
    ).items():
        if len(others) > 1:
            raise PlanError(
                f"camouflage: {response!r} is tied to {', '.join(o for o in others if o != response)} by an equation; each has "
                "its own hull, and what fits both is narrower than either. Keep one of them as a response."
            )


def _tied_for_most(universe: Universe) -> Iterator[tuple[str, ...]]:
    """Responses that an equation ties for half of the records or more: of these it leaves less than a cell."""
    for size, most in MOST_TIED.items():
        for version, names in product(universe.versions, combinations(universe.numeric, size)):
            if len(universe.numeric) <= most and _for_most(version.data.numbers(names)):
                yield names


def _for_most(values: Floats) -> bool:
    """Whether the last column follows an equation of the others in most rows that have all of them."""
    complete = values[~np.isnan(values).any(axis=1)]
    if len(complete) > MOST_COMPARED:  # always the same ones: a database that has opened opens again
        complete = complete[np.sort(np.random.default_rng(0).permutation(len(complete))[:MOST_COMPARED])]
    if values.shape[1] == 2:
        return any(True for _ in lines_in_common(complete[:, 0], complete[:, 1], []))
    return bool(planes_in(complete, []))


def _check_filters(setting: Setting) -> None:
    """A filter that repeats a response (an amount in another currency, its codes) would tell exactly what is camouflaged."""
    universe, filters = setting.universe, setting.policy.filters
    hulled = dict.fromkeys((*setting.policy.responses, *(str(record["response"]) for record in setting.recorded)))
    for version in universe.versions:
        schema = version.data.schema
        coded = [name for name in filters if schema[name].kind is not Kind.NUMERIC]
        for response, name in product(hulled, filters):
            if response == name or response not in schema or (own := _spelled(version, name)) is None:
                continue
            groups = [version.codes[other][version.atom] for other in coded if other != name]
            both = np.column_stack((own, version.data.numbers((response,))[:, 0]))
            if ties_of(both, groups) or _for_most(both):
                raise PlanError(
                    f"camouflage: the filter {name!r} is tied to {response!r} by an equation; conditions on it would answer "
                    "exactly about what is camouflaged. Leave it out of the filters."
                )


def _spelled(version: Version, name: str) -> Floats | None:
    """A filter as numbers, if its values are numbers or some of its codes spell them (0, 1, 2, 3+, unknown)."""
    if version.data.schema[name].kind is Kind.NUMERIC:
        return version.data.numbers((name,))[:, 0]
    numbers = [_number_in(text) for text in version.levels[name].texts]
    return None if np.isnan(numbers).all() else np.array([*numbers, np.nan])[version.codes[name][version.atom]]


def _number_in(text: str) -> float:
    """The number that a code spells, alone or as an end (3+, < 5); nan for other codes."""
    try:
        number = float(text.strip(AROUND_NUMBERS).replace(",", "."))
    except ValueError:
        return np.nan
    return number if np.isfinite(number) else np.nan


def _check_repeated(setting: Setting, options: CamouflageOptions) -> None:
    """Records that repeat their respondent's value tie it as an equation does: each would have a cell of its own around it."""
    universe, policy = setting.universe, setting.policy
    if all(version.data.schema.entity is None for version in universe.versions):
        return
    entity = np.concatenate([universe.entities(number) for number in range(len(universe.versions))])
    ids = np.concatenate([version.ids for version in universe.versions])
    _, records = np.unique(ids, return_index=True)
    for name in (own for own in policy.responses if own not in options.repeated):
        values = np.concatenate([version.data.numbers((name,))[:, 0] for version in universe.versions])[records]
        there = ~np.isnan(values)
        _, owner, counts = np.unique(entity[records][there], return_inverse=True, return_counts=True)
        least, most = np.full(len(counts), np.inf), np.full(len(counts), -np.inf)
        np.minimum.at(least, owner, values[there])
        np.maximum.at(most, owner, values[there])
        several = (counts > 1) & ((least != 0) | (most != 0))  # many have nothing in all their records
        if int((several & (least == most)).sum()) >= max(FEWEST_ALIKE, REPEATED * int(several.sum())):
            raise PlanError(
                f"camouflage: respondents have the same {name!r} in all their records; each record has its own cell, and what "
                f"fits all of them is narrower. Name it in `repeated`, so that a respondent has one cell."
            )
