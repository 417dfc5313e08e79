# SPDX-License-Identifier: Apache-2.0
"""One call that measures everything a masked file lost against its original."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypedDict, Unpack

import numpy as np

from reticent.base.arrays import Floats, Ints
from reticent.base.checks import check_integer, check_options
from reticent.base.errors import DataError, ParameterError
from reticent.base.randomness import Secret, as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role
from reticent.microdata.loss import numbers as on_numbers
from reticent.microdata.loss import tables as on_tables
from reticent.microdata.loss.definitions import DEFINITIONS
from reticent.microdata.loss.design import joint_codes, joint_design
from reticent.microdata.loss.levels import at_common_level
from reticent.microdata.loss.measure import LossReport, Measure
from reticent.microdata.loss.models import interval_overlap, least_squares, logistic, naive_bayes
from reticent.microdata.loss.propensity import Propensity, logistic_propensity, tree_propensity

MOST_CELLS = 1_000_000
"""Tables above this size are left out of the table measures."""
MOST_MODELLED = 10_000
"""Records of each file that the propensity models see; of a larger file a fixed part, the same records in both."""
SCORE = (
    "il1s",
    "means",
    "variances",
    "correlations",
    "quantiles",
    "hellinger",
    "cramers-v",
    "suppression-share",
    "pmse",
)
"""What the combined score averages, each brought to [0, 1]; what recoding took from the codes comes before it."""


@dataclass(frozen=True)
class Regression:
    """A model that users of the file will fit: least squares for a numeric response, logistic for two codes."""

    response: str
    predictors: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.predictors or self.response in self.predictors:
            raise ParameterError("Regression: give at least one predictor that is not the response.")


@dataclass(frozen=True)
class Classification:
    """A code that users of the file will predict from other variables."""

    target: str
    predictors: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.predictors or self.target in self.predictors:
            raise ParameterError("Classification: give at least one predictor that is not the target.")


class TellingApart(TypedDict, total=False):
    """How models try to tell masked records from original ones: also by trees, against this many permutations, drawn from a
    secret."""

    trees: bool
    permutations: int
    secret: Secret | int


def compare(
    original: Microdata,
    masked: Microdata,
    *,
    variables: Sequence[str] | None = None,
    regressions: Sequence[Regression] = (),
    classifications: Sequence[Classification] = (),
    table_dimension: int = 2,
    **telling: Unpack[TellingApart],
) -> LossReport:
    """All loss measures of a masked file.

    Without `variables`, all that both files have and that are not identifiers, weights or ids are compared. Records
    are matched by their ids (`Microdata.record_ids`); where none match, only distributions are compared. Recoded
    variables are compared at the common coarser level (see `levels`); what that level no longer says is `entropy`.

    The combined score is e + (1 − e)·m: m is the mean of the SCORE measures that apply, each brought to [0, 1]: x/(1 + x)
    where a measure has no upper limit, else divided by it; e is the mean over variables of the detail that is lost: the share
    of the entropy of a code, the share of the numbers that were blanked, and 1 for a variable that was dropped or is one
    number only. Recoding everything to one code is a loss of 1, not of 0, and so is dropping or blanking it.
    """
    check_options(telling, TellingApart.__annotations__, owner="compare")
    check_integer(table_dimension, minimum=1, maximum=3, name="table_dimension", owner="compare")
    names = _names(original, masked, variables)
    dropped = () if variables is not None else _compared(original, lambda name: name not in masked.schema)
    numeric = tuple(n for n in names if _both(original, masked, n, Kind.NUMERIC))
    coded = tuple(n for n in names if n not in numeric)
    here, there = _match(original, masked)
    first, second = at_common_level(original, masked, coded, here, there)
    work = _Comparison(first, second, numeric, coded, here, there)
    measures = [*work.values(), *work.suppressions()]
    if numeric:
        measures += work.moments()
    if coded:
        measures += [
            *work.tables(table_dimension),
            *_Comparison(original, masked, numeric, coded, here, there).entropies(),
        ]
    measures += _propensities(first, second, names, telling)
    for regression in regressions:
        measures += _regression(first, second, regression)
    measures += [_classification(first, second, wanted) for wanted in classifications]
    measures.append(_measure("dropped-share", len(dropped) / (len(names) + len(dropped)), dropped))
    gone = _detail_lost(measures, work.numbers_gone(), names, dropped)
    score = combined_score(measures, gone)
    return LossReport(tuple(measures), original.n_records, masked.n_records, here.size, score, gone)


def _detail_lost(measures: Sequence[Measure], numbers: float, names: Sequence[str], dropped: Sequence[str]) -> float:
    """The part of the file that no measure can see any more: codes made coarser, numbers blanked, variables dropped."""
    lost = next((measure for measure in measures if measure.name == "entropy-share"), None)
    coarser = 0.0 if lost is None else lost.value * len(lost.variables)
    return (coarser + numbers + len(dropped)) / (len(names) + len(dropped))


def combined_score(measures: Sequence[Measure], gone: float) -> float:
    """e + (1 − e)·m of the measures that are there (the first of each name); see `compare`."""
    first = {measure.name: measure for measure in reversed(measures)}
    parts = [first[name].share for name in SCORE if name in first]
    return gone + (1.0 - gone) * (float(np.mean(parts)) if parts else 0.0)


def _names(original: Microdata, masked: Microdata, variables: Sequence[str] | None) -> tuple[str, ...]:
    if variables is not None:
        original.schema.require(variables, owner="compare")
        masked.schema.require(variables, owner="compare")
        return tuple(variables)
    names = _compared(original, lambda name: name in masked.schema)
    if not names:
        raise DataError("compare: the two files have no variable in common that could be compared.")
    return names


def _compared(original: Microdata, wanted: Callable[[str], bool]) -> tuple[str, ...]:
    """Variables that can be compared (no ids, no weights) and are wanted."""
    skip = (Role.IDENTIFIER, Role.WEIGHT, Role.HOUSEHOLD_ID, Role.ENTITY)
    return tuple(v.name for v in original.schema.variables if v.role not in skip and wanted(v.name))


def _both(original: Microdata, masked: Microdata, name: str, kind: Kind) -> bool:
    return original.schema[name].kind is kind and masked.schema[name].kind is kind


def _match(original: Microdata, masked: Microdata) -> tuple[Ints, Ints]:
    """Positions of the same records in both files, by id."""
    first, second = original.record_ids(), masked.record_ids()
    if first.size == second.size and bool((first == second).all()):
        same = np.arange(first.size)
        return same, same
    _, here, there = np.intersect1d(first, second, assume_unique=False, return_indices=True)
    return here.astype(np.int64), there.astype(np.int64)


def _measure(name: str, value: float, variables: tuple[str, ...]) -> Measure:
    return Measure(DEFINITIONS[name], float(value), variables)


@dataclass(frozen=True)
class _Comparison:
    """The measures on values, moments, tables and blanks of one pair of files."""

    original: Microdata
    masked: Microdata
    numeric: tuple[str, ...]
    coded: tuple[str, ...]
    here: Ints
    there: Ints

    def values(self) -> list[Measure]:
        """Record by record: only where records could be matched."""
        if not self.here.size:
            return []
        names = (*self.numeric, *self.coded)
        out = []
        distances = {name: self._distance(name) for name in names}
        out.append(_measure("variables", float(np.mean([d.mean() for d in distances.values()])), names))
        if self.numeric:
            x = self.original.numbers(self.numeric)[self.here]
            y = self.masked.numbers(self.numeric)[self.there]
            out += [
                _measure("il1s", on_numbers.il1s(x, y), self.numeric),
                _measure("il1s-sum", on_numbers.il1s_sum(x, y), self.numeric),
                _measure("il1-percent", on_numbers.il1_percent(x, y), self.numeric),
                _measure("squares-share", on_numbers.squares_share(x, y), self.numeric),
            ]
            for at, name in enumerate(self.numeric):
                out.append(_measure("il1s", on_numbers.il1s(x[:, [at]], y[:, [at]]), (name,)))
        return [*out, *(_measure("variables", d.mean(), (name,)) for name, d in distances.items())]

    def _distance(self, name: str) -> Floats:
        if name in self.numeric:
            x, y = self.original.numbers((name,))[self.here, 0], self.masked.numbers((name,))[self.there, 0]
            return on_numbers.arctangent_distance(x, y)
        before, after, levels = joint_codes(self.original, self.masked, name)
        before, after = before[self.here], after[self.there]
        if _both(self.original, self.masked, name, Kind.ORDINAL):
            apart = np.abs(before - after) / max(levels - 1, 1)
            return np.asarray(np.where((before < 0) ^ (after < 0), 1.0, np.where(before < 0, 0.0, apart)))
        return np.asarray(before != after, dtype=float)

    def numbers_gone(self) -> float:
        """How many numeric variables are lost, those of which a part is gone by that part."""
        if not (self.numeric and self.here.size):
            return 0.0
        x, y = self.original.numbers(self.numeric)[self.here], self.masked.numbers(self.numeric)[self.there]
        return float(on_numbers.gone(x, y).sum())

    def moments(self) -> list[Measure]:
        """Distributions of the numeric variables."""
        x, y, names = self.original.numbers(self.numeric), self.masked.numbers(self.numeric), self.numeric
        w, v = self.original.weights(), self.masked.weights()
        w = np.ones(len(x)) if w is None else w
        # A file that lost its weights is compared as it stands.
        v = np.ones(len(y)) if v is None else v
        simple = {
            "means": on_numbers.mean_change, "variances": on_numbers.variance_change,
            "quantiles": on_numbers.quantile_change,
        }  # fmt: skip
        out = [_measure(name, f(x, y), names) for name, f in simple.items()]
        out.append(_measure("totals", on_numbers.total_change(x, y, w, v), names))
        if len(names) > 1:
            joint = {
                "covariances": on_numbers.covariance_change, "correlations": on_numbers.correlation_change,
                "eigenvalues": on_numbers.eigenvalue_change,
                "inverse-correlations": on_numbers.inverse_correlation_change,
                "first-regression": on_numbers.regression_change,
            }  # fmt: skip
            out += [_measure(name, f(x, y), names) for name, f in joint.items()]
        for at, variable in enumerate(names):
            out += [_measure(name, f(x[:, [at]], y[:, [at]]), (variable,)) for name, f in simple.items()]
        return out

    def tables(self, dimension: int) -> list[Measure]:
        """Tables of the coded variables, one by one and in pairs."""
        codes = {name: joint_codes(self.original, self.masked, name) for name in self.coded}
        sums: dict[str, list[float]] = {}
        for size in range(1, dimension + 1):
            for names in combinations(self.coded, size):
                levels = [codes[name][2] for name in names]
                if np.prod([level + 1 for level in levels]) > MOST_CELLS:
                    continue
                a = on_tables.cross_counts(np.column_stack([codes[name][0] for name in names]), levels)
                b = on_tables.cross_counts(np.column_stack([codes[name][1] for name in names]), levels)
                for name, value in _table_values(a, b).items():
                    sums.setdefault(name, []).append(value)
        add_up = ("table-absolute", "table-roots")
        return [_measure(n, sum(v) if n in add_up else float(np.mean(v)), self.coded) for n, v in sums.items()]

    def entropies(self) -> list[Measure]:
        """What the masked codes leave open of the true ones."""
        if not self.here.size:
            return []
        bits, shares = [], []
        for name in self.coded:
            before, after, levels = joint_codes(self.original, self.masked, name)
            lost, share = on_tables.entropy_loss(before[self.here], after[self.there], (levels, levels))
            bits.append(lost)
            shares.append(share)
        return [
            _measure("entropy", sum(bits), self.coded),
            _measure("entropy-share", float(np.mean(shares)), self.coded),
        ]

    def suppressions(self) -> list[Measure]:
        """Values and records that are no longer there."""
        names = (*self.numeric, *self.coded)
        gone = {
            n: int(np.sum(self.masked.missing(n)[self.there] & ~self.original.missing(n)[self.here])) for n in names
        }
        present = sum(int(np.sum(~self.original.missing(n)[self.here])) for n in names)
        cost = sum(self.original.schema[n].priority * count for n, count in gone.items())
        lost = max(1 - self.masked.n_records / self.original.n_records, 0.0)
        return [
            _measure("suppressions", sum(gone.values()), names),
            _measure("suppression-share", sum(gone.values()) / max(present, 1), names),
            _measure("suppression-cost", cost, names),
            _measure("records-lost", lost, ()),
            *(_measure("suppressions", count, (n,)) for n, count in gone.items()),
        ]


def _table_values(a: Floats, b: Floats) -> dict[str, float]:
    """All measures of one pair of tables."""
    out = {
        "hellinger": on_tables.hellinger(a, b), "jensen-shannon": on_tables.jensen_shannon(a, b),
        "table-absolute": on_tables.absolute_differences(a, b),
        "table-relative": on_tables.relative_differences(a, b), "table-roots": on_tables.root_differences(a, b),
        "table-pmse": on_tables.table_pmse(a, b),
    }  # fmt: skip
    if a.ndim == 2:
        out["cramers-v"] = abs(on_tables.cramers_v(a) - on_tables.cramers_v(b))
    return out


def _propensities(
    original: Microdata, masked: Microdata, names: tuple[str, ...], telling: TellingApart
) -> list[Measure]:
    x, y = joint_design(_fixed_part(original), _fixed_part(masked), names)

    def rows(found: Propensity, prefix: str) -> list[Measure]:
        return [_measure(f"{prefix}pmse", found.pmse, names), _measure(f"{prefix}s-pmse", found.ratio, names)]

    found = logistic_propensity(x, y)
    out = [*rows(found, ""), _measure("specks", found.specks, names), _measure("po50", max(found.po50, 0.0), names)]
    if telling.get("trees", False):
        secret = as_secret(telling.get("secret", 0))
        tree = tree_propensity(x, y, secret=secret, permutations=telling.get("permutations", 10))
        out += [_measure("tree-pmse", tree.pmse, names), _measure("tree-s-pmse", tree.ratio, names)]
    return out


def _fixed_part(data: Microdata) -> Microdata:
    """At most MOST_MODELLED records, chosen by a hash of their ids: the order of records has no say in it."""
    if data.n_records <= MOST_MODELLED:
        return data
    mixed = data.record_ids() * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(31)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    return data.rows(np.sort(np.argpartition(mixed, MOST_MODELLED)[:MOST_MODELLED]))


def _regression(original: Microdata, masked: Microdata, wanted: Regression) -> list[Measure]:
    """Coefficients on both files, predictors standardised by the original."""
    variables = (wanted.response, *wanted.predictors)
    original.schema.require(variables, owner="Regression")
    x, y = joint_design(original, masked, wanted.predictors)
    if _both(original, masked, wanted.response, Kind.NUMERIC):
        pairs = []
        for design, data in ((x, original), (y, masked)):
            response = data.numbers((wanted.response,))[:, 0]
            use = ~np.isnan(response)
            pairs.append(least_squares(design[use], response[use]))
    else:
        before, after, levels = joint_codes(original, masked, wanted.response)
        if levels != 2:
            raise ParameterError(f"Regression: the response {wanted.response!r} must be numeric or have two codes.")
        pairs = [logistic(d[c >= 0], c[c >= 0].astype(float))[0] for d, c in ((x, before), (y, after))]
    overlap = interval_overlap(pairs[0], pairs[1])
    errors = np.where(pairs[0].errors > 0, pairs[0].errors, 1.0)
    change = np.abs(pairs[0].coefficients - pairs[1].coefficients) / errors
    return [
        _measure("regression-overlap", 1 - float(overlap.mean()), variables),
        _measure("regression-difference", float(change.mean()), variables),
    ]


def _classification(original: Microdata, masked: Microdata, wanted: Classification) -> Measure:
    """Accuracy on the odd original records, trained on the even ones, original against masked."""
    variables = (wanted.target, *wanted.predictors)
    original.schema.require(variables, owner="Classification")
    numeric = [n for n in wanted.predictors if _both(original, masked, n, Kind.NUMERIC)]
    coded = [n for n in wanted.predictors if n not in numeric]
    before, after, classes = joint_codes(original, masked, wanted.target)
    target = (before, after)
    columns = [joint_codes(original, masked, n) for n in coded]
    accuracies = []
    test = (np.arange(original.n_records) % 2 == 1) & (target[0] >= 0)

    def side(number: int, data: Microdata) -> tuple[Ints, Floats]:
        codes = [np.where(pair[number] < 0, levels, pair[number]).astype(np.int64) for *pair, levels in columns]
        values = data.numbers(numeric)
        centre = np.nanmean(original.numbers(numeric), axis=0) if numeric else np.empty(0)
        block = np.stack(codes, axis=1) if codes else np.empty((data.n_records, 0), np.int64)
        return block, np.where(np.isnan(values), centre, values)

    test_codes, test_numbers = side(0, original)
    for number, data in ((0, original), (1, masked)):
        codes, values = side(number, data)
        train = (np.arange(data.n_records) % 2 == 0) & (target[number] >= 0)
        model = naive_bayes(codes[train], values[train], target[number][train].astype(np.int64), classes)
        guess = model.predict(test_codes[test], test_numbers[test])
        accuracies.append(float(np.mean(guess == target[0][test])))
    drop = max(accuracies[0] - accuracies[1], 0.0) / accuracies[0] if accuracies[0] > 0 else 0.0
    return _measure("classification", drop, variables)
