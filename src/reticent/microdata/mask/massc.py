# SPDX-License-Identifier: Apache-2.0
"""MASSC (plan name `massc`): micro agglomeration, substitution, subsampling, calibration (Singh, Yu and Dunteman 2003)."""

from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints
from reticent.base.checks import check_between
from reticent.base.errors import DataError, ParameterError
from reticent.base.progress import Progress
from reticent.base.randomness import Secret
from reticent.data.draws import StepDraws
from reticent.data.method import Applied, Group, Method, Promise
from reticent.data.microdata import Microdata
from reticent.data.parameters import Examples
from reticent.data.schema import Kind, Schema
from reticent.microdata.mask.swap import exchange
from reticent.microdata.perturb.binding import (
    Units,
    check_variables,
    in_id_order,
    keyed_uniforms,
    units,
    whole_households,
)
from reticent.microdata.perturb.calibration import calibrate


@dataclass(frozen=True)
class Massc(Method):
    """Four steps: risk strata, substitution of keys, a subsample, weights calibrated to the original totals.

    Stratum h holds units whose combination of keys occurs at most `limits[h]` times (the last one all others). In each
    stratum `substitute` percent get the keys of a similar unit, then `sample` percent are kept; both are uncertain for
    an intruder, the more so the higher the risk. Weights are then calibrated so that the totals of `calibrate`
    (numbers of each category, sums of numeric variables) are those of the original file. Such weights reveal these variables,
    so that steps that change them come before this one. Where all weights were equal, the
    new ones show the stratum, and so who had rare keys: put noise on them (`noise-on-weights`) in a later step.
    """

    name: ClassVar[str] = "massc"
    group: ClassVar[Group] = Group.CODES
    examples: ClassVar[Examples] = ({"keys": ["sex", "education"], "calibrate": ["sex"]},)
    keys: tuple[str, ...] = field(metadata={"names": "variables", "help": "key variables, most important first"})
    limits: tuple[int, ...] = field(default=(1, 5), metadata={"help": "largest count of each risk stratum"})
    substitute: tuple[float, ...] = field(
        default=(50.0, 20.0, 5.0), metadata={"help": "percent substituted, by stratum"}
    )
    sample: tuple[float, ...] = field(default=(70.0, 90.0, 95.0), metadata={"help": "percent kept, by stratum"})
    calibrate: tuple[str, ...] = field(
        default=(), metadata={"names": "variables", "help": "variables whose totals are kept"}
    )

    def __post_init__(self) -> None:
        size = len(self.limits) + 1
        if any(low >= high for low, high in pairwise((0, *self.limits))):
            raise ParameterError("limits must be whole numbers from 1 on that increase.", option="limits")
        for label, rates in (("substitute", self.substitute), ("sample", self.sample)):
            if len(rates) != size:
                raise ParameterError(
                    f"{label} needs {size} rates, one for each risk stratum, got {len(rates)}.", option=label
                )
            for rate in rates:
                check_between(rate, 0.0, 100.0, name=label, owner=self.name)
        if max(self.sample) == 0:
            raise ParameterError("sample keeps nobody; at least one rate must be above 0.", option="sample")

    def check(self, schema: Schema) -> None:
        """Keys may be exchanged; there is a weight to calibrate."""
        check_variables(schema, self.keys, owner=self.name)
        schema.require(self.calibrate, owner=self.name)
        if schema.weight is None:
            raise DataError(
                f"{self.name}: calibration needs a weight. Declare a variable with the role weight (1 if all count equally)."
            )

    def mask(self, data: Microdata, *, draws: StepDraws, progress: Progress) -> Applied:
        """Mask the data; both draws are keyed by unit."""
        self.check(data.schema)
        who = units(data, self.keys, owner=self.name)
        stratum = self._strata(data, who)
        secret = draws.of_file(data, (*self.keys, *self.calibrate, str(data.schema.weight)))
        chosen = fixed_share(stratum, self.substitute, keyed_uniforms(secret, "substitute", who.ids))
        source = np.where(chosen, self._partners(data, who, secret), np.arange(who.count))
        masked, changed = exchange(data, self.keys, who.first[source][who.of])
        progress(0.4, "substitution")
        kept, weights = self._subsample(data, stratum, who, secret)
        result = masked.rows(kept)
        weights = weights[kept]
        if self.calibrate:
            weights = self._calibrated(data, result, weights)
        result = result.with_numbers(str(data.schema.weight), weights)
        facts: dict[str, Any] = {
            "strata": np.bincount(stratum, minlength=len(self.sample)).tolist(),
            "substituted": np.bincount(stratum[chosen], minlength=len(self.sample)).tolist(),
            "kept_records": int(kept.sum()),
            "largest_weight_change": float((weights / _weights(data)[kept]).max()),
        }
        progress(1.0, "calibration")
        return Applied(result, changed, facts)

    def _calibrated(self, data: Microdata, kept: Microdata, weights: Floats) -> Floats:
        """Weights that give the original totals; summed in the order of the ids, whatever that of the file."""
        totals = in_id_order(data)
        order = np.argsort(kept.record_ids(), kind="stable")
        found = np.empty_like(weights)
        found[order] = calibrate(
            weights[order],
            _design(kept.rows(order), self.calibrate, data),
            _weights(totals) @ _design(totals, self.calibrate, data),
            owner=self.name,
        )
        return found

    def _strata(self, data: Microdata, who: Units) -> Ints:
        """The risk stratum of each unit, by its rarest member."""
        smallest = np.full(who.count, np.iinfo(np.int64).max)
        np.minimum.at(smallest, who.of, data.sample_counts(self.keys))
        return np.searchsorted(np.array(self.limits), smallest, side="left").astype(np.int64)

    def _partners(self, data: Microdata, who: Units, secret: Secret) -> Ints:
        """A unit with a neighbouring combination of keys, in the lexicographic order of their codes."""
        codes = data.codes(self.keys)[who.first]
        order = np.lexsort((keyed_uniforms(secret, "order", who.ids), *codes.T[::-1]))
        new = (np.diff(codes[order], axis=0) != 0).any(axis=1)
        group = np.empty(who.count, dtype=np.int64)
        group[order] = np.append(0, np.cumsum(new))
        bounds = np.append(np.append(0, np.flatnonzero(new) + 1), who.count)
        if len(bounds) == 2:
            raise DataError(
                f"{self.name}: all records have the same keys, so there is nothing to substitute; leave the step out.",
                variables=self.keys,
            )
        side = np.where(keyed_uniforms(secret, "side", who.ids) < 0.5, -1, 1)
        last = len(bounds) - 2
        target = np.where(group == 0, 1, np.where(group == last, last - 1, group + side))
        inside = keyed_uniforms(secret, "partner", who.ids)
        place = bounds[target] + (inside * (bounds[target + 1] - bounds[target])).astype(np.int64)
        partners: Ints = order[place]
        return partners

    def _subsample(
        self, data: Microdata, stratum: Ints, who: Units, secret: Secret
    ) -> tuple[NDArray[np.bool_], Floats]:
        """Which records stay, and all weights times the inverse of the share kept in their stratum."""
        together, level = self._drawn(data, stratum, who)
        kept = fixed_share(level, self.sample, keyed_uniforms(secret, "sample", together.ids))[together.of]
        return kept, self._raised(data, kept, together, level)

    def _drawn(self, data: Microdata, stratum: Ints, who: Units) -> tuple[Units, Ints]:
        """Who is drawn together, and the stratum of each."""
        household = data.household()
        if household is None or who.count != data.n_records:
            return who, stratum
        # Households stay whole: they are drawn together, in the stratum of their rarest member.
        together = whole_households(household, data.record_ids())
        lowest = np.full(together.count, np.iinfo(np.int64).max)
        np.minimum.at(lowest, together.of, stratum[who.of])
        return together, lowest

    def _raised(self, data: Microdata, kept: NDArray[np.bool_], together: Units, level: Ints) -> Floats:
        """All weights times the inverse of the share kept in their stratum."""
        size = len(self.sample)
        drawn = np.bincount(level[np.unique(together.of[kept])], minlength=size)
        factor = np.bincount(level, minlength=size) / np.maximum(drawn, 1)
        return np.asarray(_weights(data) * factor[level][together.of])

    def moves(self, schema: Schema) -> tuple[str, ...]:
        """All keys are those of one other unit."""
        return self.keys

    def in_weights(self, schema: Schema) -> tuple[str, ...]:
        """Weights are an exponential function of numbers, and equal for equal codes; codes of keys are judged as `weights`.

        With a number hardly two weights are equal, so that the attack sees nothing; but the number, where it is published,
        is divided out of them, and what is left is equal for equal codes.
        """
        numbers = any(schema[name].kind is Kind.NUMERIC for name in self.calibrate)
        return self.calibrate if numbers else tuple(name for name in self.calibrate if name not in schema.keys)

    def weighs_by(self, schema: Schema) -> tuple[str, ...]:
        """Weights follow how rare keys are, and what they are calibrated to."""
        return tuple(dict.fromkeys((*self.keys, *self.calibrate)))

    def without_numbers(self, before: Microdata, after: Microdata) -> Floats | None:
        """Weights by how rare keys are, as before calibrating; codes that they were calibrated to stay published."""
        if not any(before.schema[name].kind is Kind.NUMERIC for name in self.calibrate):
            return None
        kept = np.isin(before.record_ids(), after.record_ids())
        who = units(before, self.keys, owner=self.name)
        return self._raised(before, kept, *self._drawn(before, self._strata(before, who), who))[kept]

    def promises(self) -> tuple[Promise, ...]:
        """Calibrated totals are those of the original file."""
        return (
            Promise("weighted totals of the calibration variables are kept", partial(_totals_moved, self.calibrate)),
        )


def fixed_share(stratum: Ints, rates: tuple[float, ...], uniform: Floats) -> NDArray[np.bool_]:
    """The share of each stratum with the smallest draws: a fixed number, rounded, all units equally likely."""
    chosen = np.zeros(len(stratum), dtype=np.bool_)
    for number, rate in enumerate(rates):
        members = np.flatnonzero(stratum == number)
        count = round(len(members) * rate / 100.0)
        chosen[members[np.argsort(uniform[members], kind="stable")[:count]]] = True
    return chosen


def _weights(data: Microdata) -> Floats:
    weights = data.weights()
    return np.ones(data.n_records) if weights is None else weights


def _design(data: Microdata, names: tuple[str, ...], original: Microdata) -> Floats:
    """A column for each category that the original file has, or the values of numeric variables (missing: 0)."""
    columns: list[Floats] = [np.ones(data.n_records)]
    for name in names:
        if data.schema[name].kind is Kind.NUMERIC:
            columns.append(np.nan_to_num(data.numbers((name,))[:, 0], nan=0.0))
            continue
        codes = np.array((*data.categories(name), ""), dtype=object)[data.encoded(name).codes]
        columns += [(codes == text).astype(np.float64) for text in original.categories(name)]
    return np.column_stack(columns)


def _totals_moved(names: tuple[str, ...], before: Microdata, after: Microdata) -> int:
    if not names:
        return 0
    old, new = (_weights(data) @ _design(data, names, before) for data in (before, after))
    return int((np.abs(old - new) > 1e-6 * np.maximum(1.0, np.abs(old))).sum())
