"""Local suppression (plan name `local-suppression`): blank single values until every asked combination is safe."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reticent.base.checks import check_unique
from reticent.base.errors import DataError, InfeasibleError, ParameterError
from reticent.base.progress import Progress, part
from reticent.base.randomness import Secret
from reticent.data.draws import StepDraws
from reticent.data.method import Applied, Method, Promise
from reticent.data.microdata import Microdata
from reticent.data.parameters import check_fields
from reticent.data.schema import DEFAULT_PRIORITY, Kind, Schema
from reticent.microdata.risk.combinations import KeyCombinations
from reticent.microdata.risk.individual import MODELS, record_risk
from reticent.microdata.risk.semantics import Semantics, aligned_codes, compare_semantics, count_codes
from reticent.microdata.suppress.demand import Demand, Prices, mask_of, refuse_frozen, variables_of
from reticent.microdata.suppress.engine import Task, solve

COSTS = ("equal", "priority", "entropy")


@dataclass(frozen=True)
class LocalSuppression(Method):
    """Blank as few (or as cheap) values as possible until the demand holds.

    The demand is one of: `k` (every combination of the keys fits at least k records), `combinations` (cells of these
    combinations have more records than their threshold), `risk_threshold` (individual risk at or below it). Under the
    default semantics, (k,1), and for the risk threshold the result is optimal; under `match-anything` and the others it
    is a good solution, and the recount proves that it is safe.

    A blank costs the variable's `importance` where given, else its priority (or 1, or its entropy: `cost`). A household
    variable is blanked for the whole household. `linked` variables are blanked together with their key.
    """

    name: ClassVar[str] = "local-suppression"
    blanks_only: ClassVar[bool] = True
    k: int | None = field(default=None, metadata={"min": 2, "help": "records that each combination must fit"})
    keys: tuple[str, ...] = field(default=(), metadata={"help": "key variables (default: the keys of the schema)"})
    combinations: KeyCombinations | None = field(default=None, metadata={"help": "combinations and their thresholds"})
    risk_threshold: float | None = field(
        default=None, metadata={"min": 0.0, "max": 1.0, "help": "largest individual risk that may stay"}
    )
    risk_model: str = field(
        default="negative-binomial", metadata={"choices": tuple(MODELS), "help": "model of the individual risk"}
    )
    semantics: str = field(
        default=Semantics.K1.value,
        metadata={
            "choices": tuple(s.value for s in Semantics if s is not Semantics.NEVER_MATCH),
            "help": "what a missing value may stand for",
        },
    )
    cost: str = field(default="priority", metadata={"choices": COSTS, "help": "what a blank costs"})
    importance: Mapping[str, float] = field(default_factory=dict, metadata={"help": "cost of a blank, by key"})
    strata: tuple[str, ...] = field(default=(), metadata={"help": "count and suppress within groups of these"})
    frozen: tuple[str, ...] = field(default=(), metadata={"help": "keys that must not be suppressed"})
    most_per_record: int | None = field(default=None, metadata={"min": 1, "help": "most blanks in a record"})
    linked: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict, metadata={"help": "variables that are blanked together with a key"}
    )

    def __post_init__(self) -> None:
        check_fields(self, owner=self.name)
        given = [n for n in ("k", "combinations", "risk_threshold") if getattr(self, n) is not None]
        if len(given) != 1:
            raise ParameterError(
                f"{self.name}: give exactly one of k, combinations and risk_threshold, got {', '.join(given) or 'none'}."
            )
        check_unique(self.keys, name="keys", owner=self.name)
        if self.combinations is not None and self.keys:
            raise ParameterError(f"{self.name}: with combinations, name the keys inside combinations.")
        if self.combinations is not None and self.semantics == Semantics.OWN_CATEGORY:
            raise ParameterError(
                f"{self.name}: own-category takes k and keys only, because groups blanked alike for one combination "
                "can break another. Use (k,1), (1,k), (k,k) or match-anything."
            )
        if any(not value > 0 for value in self.importance.values()):
            raise ParameterError(f"{self.name}: every importance must be above 0.")
        if self.risk_threshold is not None and self.semantics != Semantics.K1:
            raise ParameterError(f"{self.name}: a risk threshold works under the semantics (k,1) only.")

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
        if set(self.strata) & set(names):
            raise DataError(
                f"{self.name}: {min(set(self.strata) & set(names))!r} is a key, so it cannot be a stratum too."
            )
        if self.risk_threshold is not None and schema.weight is None:
            raise DataError(f"{self.name}: a risk threshold needs a variable with the role weight.")
        shared = [name for name in names if schema[name].is_household]
        if shared and self.semantics == Semantics.OWN_CATEGORY:
            raise DataError(
                f"{self.name}: own-category is not possible with the household variable {shared[0]!r}; use (k,1).",
                variables=tuple(shared),
            )
        self.demand(schema)

    def names(self, schema: Schema) -> tuple[str, ...]:
        """The keys concerned, in a fixed order."""
        if self.combinations is not None:
            listed = self.combinations.resolve(schema)
            return tuple(dict.fromkeys(name for one in listed for name in one.variables))
        names = self.keys or schema.keys
        if not names:
            raise DataError(f"{self.name}: there are no keys; name some or give variables the role key.")
        return names

    def demand(self, schema: Schema) -> Demand:
        """The combinations as bit masks over `names`, each with the records it must have (threshold + 1, or k)."""
        names = self.names(schema)
        if self.combinations is None:
            return Demand(len(names), (((1 << len(names)) - 1, self.k or 1),))
        made = []
        for one in self.combinations.resolve(schema):
            if one.threshold != int(one.threshold):
                raise DataError(f"{self.name}: thresholds must be whole numbers of records, got {one.threshold:g}.")
            made.append((mask_of([names.index(name) for name in one.variables]), int(one.threshold) + 1))
        return Demand(len(names), tuple(made))

    def mask(self, data: Microdata, *, draws: StepDraws, progress: Progress) -> Applied:
        """Blank; the search path of the heuristics is drawn from the secret, safety never depends on it."""
        self.check(data.schema)
        names = self.names(data.schema)
        demand, codes = self.demand(data.schema), data.codes(names)
        self._check_sizes(data, demand)
        prices = self._prices(data, names, codes)
        published, stuck = codes.copy(), np.zeros(data.n_records, np.bool_)
        strata = list(_strata(data, self.strata))
        weight = (data.schema.weight,) if data.schema.weight else ()
        secret = draws.of_file(data, (*names, *self.strata, *weight))
        for number, rows in enumerate(strata):
            within = part(progress, number / len(strata), (number + 1) / len(strata))
            within(0.0, "local suppression")
            task = self._task(data, names, codes, rows, demand, prices, secret)
            published[rows], stuck[rows] = solve(task)
        if stuck.any():
            raise refuse_frozen(int(stuck.sum()), self.frozen, self.most_per_record)
        masked, changed = self._write(data, names, codes, published)
        progress(1.0, "local suppression")
        return Applied(masked, changed, self._facts(data, masked, names, codes, published, prices))

    def _task(
        self,
        data: Microdata,
        names: tuple[str, ...],
        codes: NDArray[np.int32],
        rows: NDArray[np.int64],
        demand: Demand,
        prices: Prices,
        secret: Secret,
    ) -> Task:
        household, weights = data.household(), data.weights()
        shared = mask_of([v for v, name in enumerate(names) if data.schema[name].is_household])
        return Task(
            codes=codes[rows],
            demand=demand,
            prices=prices,
            semantics=Semantics(self.semantics),
            household=None if household is None or not shared else household[rows],
            shared=shared,
            weights=None if weights is None else weights[rows],
            risk_threshold=self.risk_threshold,
            risk=partial(record_risk, model=self.risk_model),
            seed=secret.words("search")[0],
        )

    def _check_sizes(self, data: Microdata, demand: Demand) -> None:
        entity = data.entity()
        if entity is not None and len(np.unique(entity)) < data.n_records:
            raise DataError(
                f"{self.name}: it counts records, but respondents have several of them ({data.schema.entity!r}), so the "
                "result would protect too little. Use generalisation, or keep one record of each respondent.",
                variables=(str(data.schema.entity),),
            )
        smallest = min(len(rows) for rows in _strata(data, self.strata))
        if self.risk_threshold is None and demand.k > smallest:
            where = "the smallest stratum has" if self.strata else "the file has"
            raise InfeasibleError(
                f"{self.name}: {demand.k} records must fit each combination, but {where} only {smallest} records."
            )

    def _prices(self, data: Microdata, names: tuple[str, ...], codes: NDArray[np.int32]) -> Prices:
        costs = []
        for v, name in enumerate(names):
            extra = 1 + len(self.linked.get(name, ()))
            if name in self.importance:
                costs.append(float(self.importance[name]) * extra)
            elif self.cost == "entropy":
                costs.append(max(entropy(codes[:, v]), 1e-3) * extra)
            else:
                share = data.schema[name].priority / DEFAULT_PRIORITY if self.cost == "priority" else 1.0
                costs.append(max(share, 1e-3) * extra)
        return Prices(tuple(costs), mask_of([names.index(n) for n in self.frozen]), self.most_per_record)

    def _write(
        self, data: Microdata, names: tuple[str, ...], codes: NDArray[np.int32], published: NDArray[np.int32]
    ) -> tuple[Microdata, dict[str, int]]:
        masked, changed = data, {}
        blanked = (published < 0) & (codes >= 0)
        for v, name in enumerate(names):
            changed[name] = int(blanked[:, v].sum())
            if changed[name]:
                masked = _blank(masked, name, blanked[:, v])
            for other in self.linked.get(name, ()):
                masked, gone = _blank(masked, other, blanked[:, v]), blanked[:, v] & ~masked.missing(other)
                changed[other] = changed.get(other, 0) + int(gone.sum())
        return masked, changed

    def _facts(
        self,
        data: Microdata,
        masked: Microdata,
        names: tuple[str, ...],
        codes: NDArray[np.int32],
        published: NDArray[np.int32],
        prices: Prices,
    ) -> dict[str, Any]:
        blanked = (published < 0) & (codes >= 0)
        per_record = np.bincount(blanked.sum(axis=1), minlength=1)
        cost = float(sum(price * int(blanked[:, v].sum()) for v, price in enumerate(prices.costs)))
        exact = self.semantics == Semantics.K1
        table = compare_semantics(masked, names, k=self.k or 2, truth=data)
        return {
            "suppressed": int(blanked.sum()),
            "records_touched": int(blanked.any(axis=1).sum()),
            "blanks_per_record": {str(blanks): int(count) for blanks, count in enumerate(per_record)},
            "by_variable": {name: int(blanked[:, v].sum()) for v, name in enumerate(names)},
            "cost": cost,
            "bound": cost if exact else None,
            "semantics": self.semantics,
            "records_below_k": {str(row.semantics): row.violating_records for row in table.rows},
            "k": table.k,
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


def entropy(codes: NDArray[np.int32]) -> float:
    """H = log2 N − (1/N) Σ f log2 f over the known codes of a variable: what a blank loses on average (mu-ARGUS)."""
    counts = np.bincount(codes[codes >= 0])
    counts = counts[counts > 0]
    total = int(counts.sum())
    return float(np.log2(total) - (counts * np.log2(counts)).sum() / total) if total else 0.0


def _strata(data: Microdata, strata: tuple[str, ...]) -> Iterator[NDArray[np.int64]]:
    if not strata:
        yield np.arange(data.n_records)
        return
    group = data.patterns(strata).group
    order = np.argsort(group, kind="stable")
    yield from np.split(order, np.flatnonzero(np.diff(group[order])) + 1)


def _blank(data: Microdata, name: str, where: NDArray[np.bool_]) -> Microdata:
    if data.schema[name].kind is Kind.NUMERIC:
        return data.with_numbers(name, np.where(where, np.nan, data.numbers((name,))[:, 0]))
    codes = np.where(where, np.int32(-1), data.codes((name,))[:, 0])
    return data.with_codes(name, codes, data.categories(name))


def _unsafe_records(method: LocalSuppression, before: Microdata, after: Microdata) -> int:
    """Recount, by code that has no part in the suppression: records that fall short in some combination."""
    names = method.names(before.schema)
    truth, published = aligned_codes(before, after, names), after.codes(names)
    unsafe = np.zeros(before.n_records, np.bool_)
    for rows in _strata(before, method.strata):
        ones = np.ones(len(rows), np.int64)
        if method.risk_threshold is not None:
            weights = before.weights()
            assert weights is not None
            f = count_codes(published[rows], truth[rows], ones, Semantics.K1)
            total = count_codes(published[rows], truth[rows], weights[rows], Semantics.K1)
            unsafe[rows] = record_risk(f, total, model=method.risk_model) > method.risk_threshold + 1e-12
            continue
        for mask, k in method.demand(before.schema).combinations:
            columns = list(variables_of(mask))
            found = count_codes(published[rows][:, columns], truth[rows][:, columns], ones, Semantics(method.semantics))
            unsafe[rows] |= found < k
    return int(unsafe.sum())


def _values_changed(method: LocalSuppression, before: Microdata, after: Microdata) -> int:
    names = method.names(before.schema)
    truth, published = aligned_codes(before, after, names), after.codes(names)
    return int(((published != truth) & (published >= 0)).sum())


def _frozen_touched(method: LocalSuppression, before: Microdata, after: Microdata) -> int:
    return int(sum((before.missing(name) != after.missing(name)).sum() for name in method.frozen))
