# SPDX-License-Identifier: Apache-2.0
"""Local suppression (plan name `local-suppression`): blank single values until every asked combination is safe."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Ints
from reticent.base.checks import check_unique
from reticent.base.errors import DataError, InfeasibleError, ParameterError
from reticent.base.progress import Progress, part
from reticent.data.draws import StepDraws, step_input
from reticent.data.method import Applied, Group, Method, Promise
from reticent.data.microdata import Microdata
from reticent.data.parameters import Examples
from reticent.data.schema import DEFAULT_PRIORITY, Schema
from reticent.kernels.draws import uniform_matrix
from reticent.microdata.perturb.binding import refuse_structure, single_records, slices
from reticent.microdata.risk.combinations import KeyCombinations
from reticent.microdata.risk.individual import MODELS, record_risk
from reticent.microdata.risk.register import attack_with_register
from reticent.microdata.risk.semantics import Semantics, aligned_codes, compare_semantics, count_codes
from reticent.microdata.suppress.engine import Task, solve
from reticent.microdata.suppress.facts import (
    entropy,
    missing_as_code,
    occurring,
    patterns_of,
    register_facts,
    suppression_facts,
)
from reticent.microdata.suppress.inference import Judge, inferred_blanks
from reticent.microdata.suppress.merge import merged_blanks
from reticent.microdata.suppress.records import strata_of, with_blanks
from reticent.microdata.suppress.requirement import Prices, Requirement, mask_of, refuse_frozen, variables_of
from reticent.microdata.suppress.ties import first_with, for_all_members, spread

COSTS = ("equal", "priority", "entropy")


@dataclass(frozen=True)
class LocalSuppression(Method):
    """Blank few (or cheap) values until the demand holds.

    The demand is one of: `k` (every combination of the keys fits at least k records), `combinations` (cells of these
    combinations have more records than their threshold), `risk_threshold` (individual risk at or below it).

    For whom it holds. *Arithmetic attacker*, under the default semantics (k,k): every published record fits at least k
    true records, and every true record fits at least k published ones; so who knows the keys of a target, and that it
    is in the file, is left with k candidates. (k,1) promises only the first, (1,k) only the second, the others less.
    The attacker who knows the keys of all records at once may be left with fewer; the facts say how many (`register`).
    *Transparent attacker*, who also knows this method: with `slack` above 0, (k,k) and (k,1) may publish any file that
    is safe, so a blank is inferred only where every truth for which the file is safe has the same value there. The
    facts say how often that is (`inferred`): exact up to 8 records whose blanks have at most 20,000 completions by the
    codes that are shown, beyond that a lower bound. It is a statement about certainty, not about odds, and not for
    somebody who knows that a code occurs which the file does not show. With `slack` = 0, for a risk threshold, and
    under the other semantics: *not for the transparent attacker*.

    The cheapest blanks of (k,1) are found exactly, and `bound` is their cost; blanks are drawn by the secret among
    equally cheap ones and may be costlier by `slack` (where that is less than one blank: one more, with the probability
    that keeps the expected cost within it). (k,k) adds what its second half needs: a good solution, not an optimum.

    A blank costs the variable's `importance` where given, else its priority (or 1, or its entropy: `cost`). A household
    variable is blanked for the whole household. `linked` variables are blanked together with their key.
    """

    name: ClassVar[str] = "local-suppression"
    group: ClassVar[Group] = Group.DETAIL
    examples: ClassVar[Examples] = (
        {"k": 3, "keys": ["sex", "marital", "education"]},
        {"risk_threshold": 0.2, "keys": ["sex", "marital"]},
        {"combinations": {"dimension": 2, "keys": ["sex", "marital", "birthplace"]}},
    )
    blanks_only: ClassVar[bool] = True
    k: int | None = field(default=None, metadata={"min": 2, "help": "records that each combination must fit"})
    keys: tuple[str, ...] = field(
        default=(), metadata={"names": "variables", "help": "key variables (default: the keys of the schema)"}
    )
    combinations: KeyCombinations | None = field(default=None, metadata={"help": "combinations and their thresholds"})
    risk_threshold: float | None = field(
        default=None, metadata={"min": 0.0, "max": 1.0, "help": "largest individual risk that may stay"}
    )
    risk_model: str = field(
        default="negative-binomial", metadata={"choices": tuple(MODELS), "help": "model of the individual risk"}
    )
    semantics: str = field(
        default=Semantics.KK.value,
        metadata={
            "choices": tuple(s.value for s in Semantics if s is not Semantics.NEVER_MATCH),
            "help": "what a missing value may stand for",
        },
    )
    slack: float = field(
        default=0.02,
        metadata={
            "min": 0.0,
            "max": 1.0,
            "help": "share of the cost for blanks drawn by the secret, against inference",
        },
    )
    cost: str = field(default="priority", metadata={"choices": COSTS, "help": "what a blank costs"})
    importance: Mapping[str, float] = field(default_factory=dict, metadata={"help": "cost of a blank, by key"})
    strata: tuple[str, ...] = field(
        default=(), metadata={"names": "variables", "help": "count and suppress within groups of these"}
    )
    frozen: tuple[str, ...] = field(
        default=(), metadata={"names": "variables", "help": "keys that must not be suppressed"}
    )
    most_per_record: int | None = field(default=None, metadata={"min": 1, "help": "most blanks in a record"})
    linked: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict, metadata={"help": "variables that are blanked together with a key"}
    )
    by_combination: bool = field(
        default=False, metadata={"keyed": "if set", "help": "blank by combination, not by record (own-category)"}
    )

    def __post_init__(self) -> None:
        given = [n for n in ("k", "combinations", "risk_threshold") if getattr(self, n) is not None]
        if len(given) != 1:
            raise ParameterError(
                f"give exactly one of k, combinations and risk_threshold, got {', '.join(given) or 'none'}."
            )
        check_unique(self.keys, name="keys", owner=self.name)
        if self.combinations is not None and self.keys:
            raise ParameterError("with combinations, name the keys inside combinations.")
        if self.combinations is not None and self.semantics == Semantics.OWN_CATEGORY:
            raise ParameterError(
                "own-category takes k and keys only, because groups blanked in the same way for one combination "
                "can break another. Use (k,k), (k,1), (1,k) or match-anything."
            )
        if self.by_combination and (self.k is None or self.semantics != Semantics.OWN_CATEGORY):
            raise ParameterError(
                "by_combination goes with k and semantics = 'own-category'; say both.", option="by_combination"
            )
        if any(not value > 0 for value in self.importance.values()):
            raise ParameterError("every importance must be above 0.")
        if self.risk_threshold is not None and self.semantics not in (Semantics.K1, Semantics.KK):
            raise ParameterError("a risk threshold works under the semantics (k,k) and (k,1) only.")

    def check(self, schema: Schema) -> None:
        """Keys, strata and linked variables are known; the roles that the demand needs are there."""
        names = self.names(schema)
        schema.require((*names, *self.strata), owner=self.name)
        for what, listed in (("importance", self.importance), ("frozen", self.frozen), ("linked", self.linked)):
            for name in listed:
                if name not in names:
                    raise DataError(
                        f"{self.name}: {what} names {name!r}, which is not one of its keys.", variables=(name,)
                    )
        for key, others in self.linked.items():
            schema.require(others, owner=self.name)
            both = set(others) & set(names)
            if both:
                raise DataError(f"{self.name}: {min(both)!r} is a key itself, so it cannot be linked to {key!r}.")
        linked = [other for others in self.linked.values() for other in others]
        refuse_structure(schema, (*names, *linked), owner=self.name, done="blanked")
        if set(self.strata) & set(names):
            raise DataError(
                f"{self.name}: {min(set(self.strata) & set(names))!r} is a key, so it cannot be a stratum too."
            )
        if self.risk_threshold is not None and schema.weight is None:
            raise DataError(f"{self.name}: a risk threshold needs a variable with the role weight.")
        shared = [name for name in names if schema[name].is_household]
        if shared and self.semantics == Semantics.OWN_CATEGORY:
            raise DataError(
                f"{self.name}: own-category is not possible with the household variable {shared[0]!r}; use (k,k).",
                variables=tuple(shared),
            )
        self.requirement(schema)

    def names(self, schema: Schema) -> tuple[str, ...]:
        """The keys concerned, in a fixed order."""
        if self.combinations is not None:
            listed = self.combinations.resolve(schema)
            return tuple(dict.fromkeys(name for one in listed for name in one.variables))
        names = self.keys or schema.keys
        if not names:
            raise DataError(f"{self.name}: there are no keys; name some or give variables the role key.")
        return names

    def blanks(self, schema: Schema) -> tuple[str, ...]:
        """Its keys, except frozen ones, and what is linked to them."""
        names = [name for name in self.names(schema) if name not in self.frozen]
        return (*names, *(other for name in names for other in self.linked.get(name, ())))

    def requirement(self, schema: Schema) -> Requirement:
        """The combinations as bit masks over `names`, each with the records it must have (threshold + 1, or k)."""
        names = self.names(schema)
        if self.combinations is None:
            return Requirement(len(names), (((1 << len(names)) - 1, self.k or 1),))
        made = []
        for one in self.combinations.resolve(schema):
            if one.threshold != int(one.threshold):
                raise DataError(f"{self.name}: thresholds must be whole numbers of records, got {one.threshold:g}.")
            made.append((mask_of([names.index(name) for name in one.variables]), int(one.threshold) + 1))
        return Requirement(len(names), tuple(made))

    def mask(self, data: Microdata, *, draws: StepDraws, progress: Progress) -> Applied:
        """Blank; the secret draws among blanks that serve as well, safety never depends on it.

        Between equally cheap blanks a record chooses by draws of its own, so that it chooses alike in the next release
        of a file that changed elsewhere: two different blanks would add up to none. Records are taken in the order of
        their ids, so that the order of the file does not matter.
        """
        if self.by_combination:
            return self._alike(data, progress)
        if data.copies is not None:
            raise DataError(f"{self.name}: it looks at single records here; say by_combination = true.")
        who = single_records(data)
        applied = self._in_order(data.rows(who.first), draws=draws, progress=progress)
        return replace(applied, data=applied.data.rows(who.of))

    def _in_order(self, data: Microdata, *, draws: StepDraws, progress: Progress) -> Applied:
        """The work, on records in the order of their ids."""
        self.check(data.schema)
        names = self.names(data.schema)
        data.require_values(names, owner=self.name)
        requirement, source = self.requirement(data.schema), occurring(data.codes(names))
        self._check_sizes(data, requirement)
        prices = self._prices(data, names, source)
        codes = missing_as_code(source, [names.index(name) for name in self.frozen])
        published, stuck = codes.copy(), np.zeros(data.n_records, np.bool_)
        bounds: list[float | None] = []
        strata = list(strata_of(data, self.strata))
        weight = (data.schema.weight,) if data.schema.weight else ()
        secret = draws.of_file(data, (*names, *self.strata, *weight))
        own = draws.of_records(step_input(data, names), scale=())
        chance = uniform_matrix(*own.words, own.ids, 2)
        whole = self._task(data, names, codes, requirement, prices, chance)
        for number, rows in enumerate(strata):
            within = part(progress, number / len(strata), (number + 1) / len(strata))
            within(0.0, "local suppression")
            seed = secret.words(f"stratum {number}")[0]
            solved = solve(whole.only(rows, seed=seed))
            published[rows], stuck[rows] = solved.published, solved.stuck
            bounds.append(solved.bound)
        # strata may part the members of a household: what is blank for one in his stratum is blank for all
        published = spread(published, self._ties(data, names))
        if self.most_per_record is not None:
            stuck |= ((published < 0) & (codes >= 0)).sum(axis=1) > self.most_per_record
        if stuck.any():
            raise refuse_frozen(int(stuck.sum()), self.frozen, self.most_per_record)
        published, codes = np.where(source < 0, -1, published), source
        masked, changed = self._write(data, names, codes, published)
        facts = suppression_facts(codes, published, prices, names, self.semantics)
        facts["bound"] = None if None in bounds else sum(b for b in bounds if b is not None)
        facts |= self._attacks(data, masked, names, codes, published)
        progress(1.0, "local suppression")
        return Applied(masked, changed, facts)

    def _ties(self, data: Microdata, names: tuple[str, ...]) -> Ints:
        """Which values are one, because household variables are those of all members."""
        return first_with(data.household(), self._shared(data, names), (data.n_records, len(names)))

    def _shared(self, data: Microdata, names: tuple[str, ...]) -> int:
        return mask_of([v for v, name in enumerate(names) if data.schema[name].is_household])

    def _alike(self, data: Microdata, progress: Progress) -> Applied:
        """Blank whole combinations: nothing is drawn, and the order of the file does not matter."""
        self.check(data.schema)
        names = self.names(data.schema)
        data.require_values(names, owner=self.name)
        requirement = self.requirement(data.schema)
        self._check_sizes(data, requirement)
        patterns = data.patterns((*self.strata, *names))
        codes = occurring(patterns.codes[:, len(self.strata) :])
        prices = self._prices(data, names, codes, patterns.counts)
        published, stuck = codes.copy(), np.zeros(len(codes), np.bool_)
        order = np.lexsort(patterns.codes.T[::-1])  # by codes: what is blanked must not depend on the order of the file
        for part_of in slices(patterns_of(patterns.codes[order, : len(self.strata)])):
            rows = order[part_of]
            published[rows], stuck[rows] = merged_blanks(
                codes[rows], requirement.k, prices, copies=patterns.counts[rows]
            )
        if stuck.any():
            raise refuse_frozen(int(patterns.counts[stuck].sum()), self.frozen, self.most_per_record)
        masked, changed = self._write(data, names, codes[patterns.group], published[patterns.group])
        facts = suppression_facts(codes, published, prices, names, self.semantics, copies=patterns.counts)
        facts |= {"k": requirement.k, "transparent_attacker": "not for the transparent attacker"}
        progress(1.0, "local suppression")
        return Applied(masked, changed, facts)

    def _task(
        self,
        data: Microdata,
        names: tuple[str, ...],
        codes: NDArray[np.int32],
        requirement: Requirement,
        prices: Prices,
        chance: NDArray[np.float64],
    ) -> Task:
        """The whole file as a task."""
        household, weights = data.household(), data.weights()
        shared = self._shared(data, names)
        return Task(
            codes=codes,
            requirement=requirement,
            prices=prices,
            semantics=Semantics(self.semantics),
            household=household if shared else None,
            shared=shared,
            weights=weights,
            risk_threshold=self.risk_threshold,
            risk=partial(record_risk, model=self.risk_model),
            chance=chance,
            slack=self.slack,
            cards=tuple(int(c) + 1 for c in codes.max(axis=0)),
        )

    def _check_sizes(self, data: Microdata, requirement: Requirement) -> None:
        entity = data.entity()
        if entity is not None and len(np.unique(entity)) < data.n_rows:
            raise DataError(
                f"{self.name}: it counts records, but respondents have several of them, so the "
                "result would protect too little. Use generalisation, or keep one record of each respondent.",
                variables=(data.schema.entity,) if data.schema.entity else (),
            )
        copies = data.multiplicity
        smallest = min(int(copies[rows].sum()) for rows in strata_of(data, self.strata))
        if self.risk_threshold is None and requirement.k > smallest:
            where = "the smallest stratum has" if self.strata else "the file has"
            raise InfeasibleError(
                f"{self.name}: {requirement.k} records must fit each combination, but {where} only {smallest} records."
            )

    def _prices(
        self,
        data: Microdata,
        names: tuple[str, ...],
        codes: NDArray[np.int32],
        copies: NDArray[np.int64] | None = None,
    ) -> Prices:
        costs = []
        for v, name in enumerate(names):
            extra = 1 + len(self.linked.get(name, ()))
            if name in self.importance:
                costs.append(float(self.importance[name]) * extra)
            elif self.cost == "entropy":
                costs.append(max(entropy(codes[:, v], copies), 1e-3) * extra)
            else:
                share = data.schema[name].priority / DEFAULT_PRIORITY if self.cost == "priority" else 1.0
                costs.append(max(share, 1e-3) * extra)
        return Prices(tuple(costs), mask_of([names.index(n) for n in self.frozen]), self.most_per_record)

    def _write(
        self, data: Microdata, names: tuple[str, ...], codes: NDArray[np.int32], published: NDArray[np.int32]
    ) -> tuple[Microdata, dict[str, int]]:
        masked, changed = data, {}
        blanked = (published < 0) & (codes >= 0)
        copies = data.multiplicity
        for v, name in enumerate(names):
            changed[name] = int(copies[blanked[:, v]].sum())
            if changed[name]:
                masked = with_blanks(masked, name, blanked[:, v])
            for other in self.linked.get(name, ()):
                shared = data.household() if data.schema[other].is_household else None
                where = for_all_members(shared, blanked[:, v])
                masked, gone = with_blanks(masked, other, where), where & ~masked.missing(other)
                changed[other] = changed.get(other, 0) + int(copies[gone].sum())
        return masked, changed

    def _attacks(
        self,
        data: Microdata,
        masked: Microdata,
        names: tuple[str, ...],
        codes: NDArray[np.int32],
        published: NDArray[np.int32],
    ) -> dict[str, Any]:
        """What attackers find: companions under every semantics, candidates given the register, inferred blanks."""
        table = compare_semantics(masked, names, k=self.k or 2, truth=data)
        facts: dict[str, Any] = {
            "k": table.k,
            "records_below_k": {str(row.semantics): row.violating_records for row in table.rows},
            "register": register_facts(attack_with_register(codes, published), table.k),
        }
        drawn = self.slack > 0 and self.risk_threshold is None and self.semantics in (Semantics.KK, Semantics.K1)
        facts["transparent_attacker"] = "every safe file is possible" if drawn else "not for the transparent attacker"
        if self.risk_threshold is None:
            facts["inferred"] = self._inferred(data, names, codes, published)
        return facts

    def _inferred(
        self, data: Microdata, names: tuple[str, ...], codes: NDArray[np.int32], published: NDArray[np.int32]
    ) -> dict[str, Any]:
        """Blanks with one possible value; where strata part a household, what its other members tell is not used."""
        cards = [int(c) + 1 for c in codes.max(axis=0)]
        blank = (published < 0) & (codes >= 0)
        requirement, prices = self.requirement(data.schema), self._prices(data, names, codes)
        household, shared, whole, found = data.household(), self._shared(data, names), True, []
        for rows in strata_of(data, self.strata):
            own = None if household is None else household[rows]
            same = first_with(own, shared, (len(rows), len(names)))
            judge = Judge(cards, requirement, Semantics(self.semantics), prices, same)
            found.append(inferred_blanks(published[rows], blank[rows], judge))
            if household is not None and shared:
                whole &= bool(np.isin(household, household[rows]).sum() == len(rows))
        return {
            "blanks": sum(one.blanks for one in found),
            "inferred": sum(one.inferred for one in found),
            "kind": "exact" if whole and all(one.exact for one in found) else "lower bound",
        }

    def promises(self) -> tuple[Promise, ...]:
        """The recount, and that nothing but the keys and what is linked to them was touched."""
        what = "individual risk is at most the threshold" if self.risk_threshold is not None else (
            f"every record fits enough records in every combination ({self.semantics})"
        )  # fmt: skip
        return (
            Promise(what, partial(_unsafe_records, self)),
            Promise("values are as before or missing", partial(_values_changed, self)),
            Promise("keys that must not be suppressed are as before", partial(_frozen_touched, self)),
        )


def _unsafe_records(method: LocalSuppression, before: Microdata, after: Microdata) -> int:
    """Recount, by code that has no part in the suppression: records that fall short in some combination."""
    names = method.names(before.schema)
    truth, published = aligned_codes(before, after, names), after.codes(names)
    unsafe = np.zeros(before.n_rows, np.bool_)
    copies = before.multiplicity
    for rows in strata_of(before, method.strata):
        ones = copies[rows]
        if method.risk_threshold is not None:
            weights = before.weights()
            assert weights is not None
            for way in (Semantics.K1, Semantics.ONE_K)[: 2 if method.semantics == Semantics.KK else 1]:
                f = count_codes(published[rows], truth[rows], ones, way)
                total = count_codes(published[rows], truth[rows], weights[rows], way)
                unsafe[rows] |= record_risk(f, total, model=method.risk_model) > method.risk_threshold + 1e-12
            continue
        for mask, k in method.requirement(before.schema).combinations:
            columns = list(variables_of(mask))
            found = count_codes(published[rows][:, columns], truth[rows][:, columns], ones, Semantics(method.semantics))
            unsafe[rows] |= found < k
    return int(copies[unsafe].sum())


def _values_changed(method: LocalSuppression, before: Microdata, after: Microdata) -> int:
    names = method.names(before.schema)
    truth, published = aligned_codes(before, after, names), after.codes(names)
    return int(((published != truth) & (published >= 0)).sum())


def _frozen_touched(method: LocalSuppression, before: Microdata, after: Microdata) -> int:
    return int(sum((before.missing(name) != after.missing(name)).sum() for name in method.frozen))
