# SPDX-License-Identifier: Apache-2.0
"""The mode `analysis`: statistics of subsampled universes, after the rules of the U.S. Census Bureau's analysis server."""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints, Words
from reticent.base.errors import PlanError
from reticent.data.parameters import Parameters, build
from reticent.queries.analysis.blur import blur_factors, blurred, respondent_ids
from reticent.queries.analysis.covering import covering_rows, draw_of, parts_of, shown_sets
from reticent.queries.analysis.dominance import Shares
from reticent.queries.analysis.drop_q import kept_rows
from reticent.queries.analysis.linked import link_units
from reticent.queries.analysis.numbers import NumberColumn, PublicNumbers, correlated_numbers, number_columns
from reticent.queries.analysis.pairs import MeasuredBy, Measurements
from reticent.queries.analysis.regression import (
    RegressionRules,
    absorb_sparse,
    fit_regression,
    is_indicator,
    saturated,
    synthetic_residuals,
)
from reticent.queries.analysis.rounding import DEVIANCE, coarse, coarse_all, coarse_errors
from reticent.queries.analysis.sample import NOBODY, Sample, value_of
from reticent.queries.analysis.together import ToldTogether
from reticent.queries.analysis.universes import deciding_filters, has_small_marginal, simple_universes, too_small
from reticent.queries.canonical import RecordSet, Version
from reticent.queries.fitting import leverage, logistic
from reticent.queries.fixed import finite
from reticent.queries.guarantee import ModeGuarantee
from reticent.queries.language import REGRESSIONS, Statistic
from reticent.queries.modes import ANSWERED, Decision, Request, Setting
from reticent.queries.pieces import complete
from reticent.queries.refusals import RISK, Answer, Row, StaffReason
from reticent.queries.statistics import design_matrix

CORRELATION = "corr"
LARGE = 20
LEAST_LOST = 2
PAIRS = "pairs: a record would be the difference of too many universes that are nearly the same"
DROPPED = "A few records are left out, and values are slightly changed."
LIMITED = "A few records are left out, values are slightly changed, and those that outweigh all others are limited."


@dataclass(frozen=True)
class AnalysisOptions(Parameters):
    """`[policy.options.analysis]`; every number here is confidential."""

    called: ClassVar[str] = "policy: options analysis"
    gamma: int = field(default=20, metadata={"min": 3, "help": "fewest records of a piece of a universe"})
    joint_gamma: int = field(default=10, metadata={"min": 3, "help": "fewest records of a non-empty intersection"})
    drop: int = field(default=5, metadata={"min": 2, "max": 50, "help": "most records dropped in a stratum"})
    strata: tuple[str, ...] | None = field(
        default=None,
        metadata={
            "help": "filters that form the strata of the dropping; by default the first ones that leave them large"
        },
    )
    pairs: int = field(
        default=4,
        metadata={
            "min": 1,
            "help": "how often a record may be the difference of two universes that are nearly the same",
        },
    )
    category: int = field(default=10, metadata={"min": 3, "help": "fewest records of a category in a regression"})
    blur: float = field(
        default=0.1,
        metadata={
            "min": 0,
            "max": 0.5,
            "help": "largest part by which a respondent's values are changed, once for ever",
        },
    )
    reach: float = field(
        default=0.0,
        metadata={"min": 0, "help": "most a respondent counts in a sum, as a multiple of the mean; 0 is no limit"},
    )
    noise: float = field(default=0.25, metadata={"min": 0.01, "max": 2, "help": "noise of synthetic residuals"})


@dataclass
class AnalysisMode:
    """Answers regressions and other statistics from a subsample that is fixed for each set of records.

    Answers depend on the universe alone; what is remembered limits near pairs and public numbers only.
    """

    setting: Setting
    options: AnalysisOptions
    stratum: Ints = field(repr=False)
    shares: Shares
    near_pairs: MeasuredBy = field(repr=False)
    together: ToldTogether = field(repr=False)
    numbers: PublicNumbers = field(repr=False)
    redrawn: tuple[int, ...] = (0,)
    _responses: dict[str, Floats] = field(default_factory=dict, repr=False)
    name: ClassVar[str] = "analysis"
    guarantee: ClassVar[ModeGuarantee] = ModeGuarantee(
        "This is for the arithmetic attacker, who also knows how records are dropped; for the transparent attacker nothing is "
        "certified, because some refusals depend on values.",
        (
            "Universes: they are unions of published categories with enough records in every piece and intersection. Every "
            "answer is computed without a few records, chosen once for ever for each universe and stratum, so that two universes "
            "that differ by one record agree in what they lost only with a small probability; what counts is the records that "
            "have the variables of a statistic. Padding with other strata redraws nothing.",
            "Pairs: no respondent is the difference of more such pairs in its stratum than the policy allows, one with m records "
            "counting as m² pairs, in all versions of the data together, and no linear combination of answers reveals more of "
            "a respondent than these pairs do. With 4 pairs and up to 5 records dropped, an attacker who averages them still "
            "mistakes a value of 0 or 1 once in five times; where one value is rarer, fewer pairs are allowed.",
            "Values: each respondent's values carry a factor, drawn once for ever, so that averaging over many universes comes "
            "no nearer to a value than that. A respondent who holds more of a sum, or of a sum of squares, than the policy's "
            "dominance and p percent rules allow counts only as far as they do.",
            "Regressions: each has one sample for each universe, in which each category of at least `category` records loses a "
            "few, and each category that it shows counts as a universe. Those that lean on single respondents are refused; so "
            "are those that show more coefficients of public numbers than a tenth of the records, all models together (with "
            "correlations and models of public numbers). Synthetic residuals are of a quarter of the records "
            "or more, or of those with a code, and of no single one.",
            "Rounding: answers other than counts are rounded to a tenth of their standard error, and quantiles are means of "
            "blocks of neighbours.",
        ),
        (
            "totals of several respondents, which many different universes narrow",
            "an attacker who knows the values of others than the policy lists as `known`",
            "what answers reveal together other than by linear combinations",
            "who has a value at all: two universes that differ by somebody without one are answered alike",
            "rare differences of responses that are no response themselves, and rare values that products of more than two "
            "responses tell",
            "strata with more than 20 million universes times kinds of respondents, in which only pairs are counted",
        ),
    )
    leakage: ClassVar[tuple[str, ...]] = (
        "a refusal reveals that a universe breaks a size rule or is too near to earlier ones, which depends on records only, "
        "however it is written, or that too few respondents have a value other than 0",
        "a refused ratio, correlation or regression also reveals that it does not exist, or breaks a leverage, dominance or "
        "fit rule",
        "answers are near the truth: averaging over many different universes narrows totals of larger groups",
        "the factor of a respondent is the same in all records and versions: whoever knows one value learns the others, and "
        "changes show without it",
        "an answer that stays the same in a new version of the data reveals that no value in it changed",
        "where more than half of a stratum have one value of a response (a 0), a refusal also depends on how many have another",
        "a regression on a numeric filter with many different values reveals in part the sums of its values and squares "
        "over the kept records, and so of who was dropped; rounding limits how much",
        "counts, zeros and responses of zeros and ones carry no factor, and a factor hides no whole number below five",
        "other filters, strata, drop or blur for the same ledger draw again what was not answered before",
        "each response has a factor of its own: an amount in two currencies, or a total and its parts, narrow a value together",
        "a value that outweighs the dropped records shows in differences of answers, up to its factor and the limit of the "
        "dominance rules",
    )
    statistics: ClassVar[frozenset[str]] = frozenset(
        {"count", "sum", "avg", "variance", "stddev", "median", "quantile", "ratio", "corr", "linreg", "logreg"}
    )

    def decide(self, request: Request) -> Decision:
        """Check the universe of every cell, subsample it, and compute."""
        reasons: list[StaffReason] = []
        rows, answered, fitted = [], [], []
        for number, cell in enumerate(request.cells):
            broken = self._broken(cell.records)
            values: list[Any] = []
            for statistic in request.query.statistics:
                found = broken or self._value(statistic, cell.records)
                if isinstance(found, str):
                    reasons.append(StaffReason("analysis", found))
                    values.append(None)
                else:
                    values.append(found)
                    self._remember(cell.records, [statistic])  # what follows in the same query is judged beside it
            told = [place for place, value in enumerate(values) if value is not None]
            answered += [number] if told else []
            fitted += [[number, place] for place in told if request.query.statistics[place].name in REGRESSIONS]
            rows.append(Row(cell.group, tuple(values)))
        if all(value is None for row in rows for value in row.values):
            return Decision(RISK, tuple(dict.fromkeys(reasons)))
        columns = tuple(str(statistic) for statistic in request.query.statistics)
        # the same words with every answer: whether anything was limited is not told
        note = LIMITED if self.shares.there else DROPPED
        answer = Answer(columns, tuple(rows), request.query.by, self.name, (note,))
        return Decision(answer, tuple(dict.fromkeys(reasons)), {"cells": answered, "fits": fitted})

    def replay(self, request: Request, remember: Mapping[str, Any]) -> None:
        """Take over which universes of any version were answered (version 0.1.0 did not say: then all of the request)."""
        statistics = request.query.statistics
        every = range(len(request.cells))
        told = remember.get(ANSWERED, [])
        for number in remember.get("cells", every):
            plain = [
                statistic
                for place, statistic in enumerate(statistics)
                if statistic.name not in REGRESSIONS and (statistic.name != CORRELATION or [number, place] in told)
            ]
            fits = remember.get("fits", [[cell, place] for cell in every for place in range(len(statistics))])
            shown = [statistics[place] for cell, place in fits if cell == number]
            self._remember(request.cells[number].records, [*plain, *shown])

    def _remember(self, records: RecordSet, told: Sequence[Statistic]) -> None:
        """Count what was answered about a universe: its sums, and the categories that each regression shows."""
        for statistic in told:
            for full in self._sets(statistic, records):
                draw, shown = self._shown(statistic, full)
                rows = self.setting.universe.records(full)
                told_of = self._shares(statistic, [rows, *shown], records.version, draw)
                self.near_pairs.answer(rows, records.version, draw, shown, names=told_of)
                pieces = self.together.pieces([rows, *shown], records.version, draw)
                self.together.answer(pieces, self._told(statistic, records.version))
            self.numbers.answer(self._numbers(statistic, records), records.version)

    def _sets(self, statistic: Statistic, records: RecordSet) -> list[RecordSet]:
        """The records of a universe that a statistic is about: those that have its variables; of a ratio, each by itself."""
        parts = [(name,) for name in statistic.variables] if statistic.name == "ratio" else [statistic.variables]
        return [complete(self.setting.universe, records, names) for names in parts]

    def _numbers(self, statistic: Statistic, records: RecordSet) -> list[NumberColumn]:
        """The public numbers of which a statistic shows the products with confidential ones."""
        universe, full = self.setting.universe, self._sets(statistic, records)[0]
        if statistic.name in REGRESSIONS:
            return number_columns(universe, full, statistic.regression, self._shown(statistic, full)[0])
        names = statistic.variables if statistic.name == CORRELATION else ()
        return correlated_numbers(universe, full, names)

    def _shown(self, statistic: Statistic, records: RecordSet) -> tuple[int, list[Ints]]:
        """The name of the sample that a statistic is worked out from, and the sets of records that a regression shows."""
        if statistic.name not in REGRESSIONS:
            return self.redrawn[records.version], []
        universe, model = self.setting.universe, statistic.regression
        version = universe.versions[records.version]
        draw = draw_of(universe.records(records), self._keys(records.version), model, version)
        # smaller ones are absorbed into the reference
        return draw, [part for part in shown_sets(universe, records, model) if len(part) >= self.options.category]

    def _broken(self, records: RecordSet) -> str | None:
        """The universe rule that a set of records breaks, however it was asked for."""
        version = self.setting.universe.versions[records.version]
        names = deciding_filters(version, records.atoms)
        if names and has_small_marginal(version, names):
            return "No Marginal 1 or 2"
        masks = simple_universes(version, records.atoms, names)
        small = None
        if masks is not None:
            small = too_small(version, masks, gamma=self.options.gamma, joint_gamma=self.options.joint_gamma)
        if small is None or masks is None:
            return "Universe Gamma: too many pieces"
        if small or self._few_respondents(masks, records.version):
            return "Universe Gamma"
        return self._small_stratum(records)

    def _small_stratum(self, records: RecordSet) -> str | None:
        sizes = np.bincount(self.stratum[self.setting.universe.records(records)])
        return "Universe Gamma in a stratum" if bool(((sizes > 0) & (sizes < self.options.joint_gamma)).any()) else None

    def _few_respondents(self, masks: list[NDArray[np.bool_]], version: int) -> bool:
        """Whether a piece has enough records, but of too few respondents."""
        universe = self.setting.universe
        if universe.versions[version].data.schema.entity is None:
            return False
        least = max(self.options.gamma, self.setting.policy.minimum)
        return any(universe.n_entities(universe.record_set(mask, version=version)) < least for mask in masks)

    def _keys(self, version: int) -> Words:
        """What draws know the records of a version by."""
        units = self.near_pairs.units
        return units.key[units.of_rows[version]]

    def _left(self, records: RecordSet) -> Ints:
        """What is left of a set of records."""
        rows, secret = self.setting.universe.records(records), self.setting.secret.child("drop-q")
        return kept_rows(rows, self._keys(records.version), self.stratum, most=self.options.drop, secret=secret)

    def _covered(self, statistic: Statistic, records: RecordSet) -> Ints:
        """What is left for a regression: every category that is shown has lost a few records."""
        universe, model = self.setting.universe, statistic.regression
        version, rows, keys = universe.versions[records.version], universe.records(records), self._keys(records.version)
        parts = parts_of(rows, model, version)
        names = f"cover:{len(parts)}:{draw_of(rows, keys, model, version)}"
        sizes = (self.options.category, self.options.drop)
        return covering_rows(rows, keys, parts, sizes=sizes, secret=self.setting.secret.child(names))

    def _response(self, name: str) -> Floats:
        """The values of a response in the current version, each with its respondent's factor."""
        if name not in self._responses:
            data = self.setting.universe.current.data
            values = data.numbers((name,))[:, 0]
            if self.options.blur:
                secret = self.setting.secret.child("blur")
                factors = blur_factors(respondent_ids(data), name, blur=self.options.blur, secret=secret)
                values = blurred(values, factors)
            self._responses[name] = values
        return self._responses[name]

    def _value(self, statistic: Statistic, records: RecordSet) -> Any:
        """A value, or the name of the rule that forbids it."""
        universe = self.setting.universe
        for full in self._sets(statistic, records):
            rows = universe.records(full)
            if len(rows) < self.options.gamma:
                return "too few complete records"
            if self._small_stratum(full):
                return "too few complete records in a stratum"
            draw, shown = self._shown(statistic, full)
            shares = self._shares(statistic, [rows, *shown], full.version, draw)
            if self.near_pairs.too_many(rows, full.version, draw, shown, shares=shares):
                return PAIRS
        if self.numbers.too_many(self._numbers(statistic, records), records.version):
            return "too many correlations or regressions with public numbers for so few records"
        sample = Sample(universe, records, self._left, self.shares, self._response)
        with np.errstate(all="ignore"):  # what goes beyond floating-point numbers is refused below
            regression = statistic.name in REGRESSIONS
            found = self._regression(statistic, sample) if regression else value_of(statistic, sample)
        return found if finite(found) else "beyond floating-point numbers"

    def _shares(self, statistic: Statistic, sets: Sequence[Ints], version: int, draw: int) -> dict[str, list[float]]:
        """The responses of whose values a statistic tells, with the share of the allowed pairs for each set.

        How many have a response reveals no value of it. What was answered under a policy with other responses may tell of these.
        """
        told, data = self._told(statistic, version), self.setting.universe.versions[version].data
        pieces = self.together.pieces(sets, version, draw)
        return self.together.shares(data, pieces, told, self.setting.policy.responses) if told else {}

    def _told(self, statistic: Statistic, version: int) -> list[str]:
        """The responses of whose values a statistic tells, other than how many have one."""
        schema, filters = self.setting.universe.versions[version].data.schema, self.setting.policy.filters
        responses = {*self.setting.policy.responses, *(set(statistic.variables) - set(filters))}
        names = () if statistic.name == "count" else statistic.variables
        return [name for name in names if name in responses and name in schema]

    def _regression(self, statistic: Statistic, sample: Sample) -> Any:
        universe, full = self.setting.universe, self._sets(statistic, sample.records)[0]
        sample = replace(sample, left=lambda records: self._covered(statistic, records))
        rows = sample.complete_rows(statistic.variables)
        linear = statistic.name == "linreg"
        numbers = sample.numbers(statistic.regression, rows, limit_response=linear)
        if numbers is None:
            return NOBODY
        design, response, labels = design_matrix(universe, full, statistic, rows=rows, numbers=numbers.__getitem__)
        covered = _lost_enough(shown_sets(universe, full, statistic.regression), rows)
        design, labels = design[:, covered], tuple(label for label, kept in zip(labels, covered) if kept)
        policy = self.setting.policy
        rules = RegressionRules(self.options.category, policy.r_squared, policy.leverage)
        design, labels = absorb_sparse(design, labels, rules.least)
        holders = sample.holders(rows)
        for column in range(design.shape[1]):
            # counts of ones in a category are no magnitudes
            counts = not linear and is_indicator(design[:, column])
            if not counts and holders.dominated(design[:, column] * response):
                return "a respondent holds too much of a cross product"
        if not linear:
            return _logistic(design, labels, response, rules)
        fit = fit_regression(design, labels, response, rules)
        if isinstance(fit, str):
            return fit
        # every model and every sample draws again: two plots with one noise, on different scales, would give the values
        secret = self.setting.secret.child(
            f"residuals:{statistic.variables[0]}:{_fingerprint(design, labels, response)}"
        )
        return {
            "coefficients": dict(zip(fit.labels, coarse_all(fit.coefficients, fit.errors))),
            "standard_errors": dict(zip(fit.labels, coarse_errors(fit.errors, fit.n))),
            "anova": {"model": coarse(fit.sums[0], fit.unexplained), "residual": coarse(fit.sums[1], fit.unexplained)},
            "r_squared": coarse(fit.r_squared, 1 / math.sqrt(fit.n)),
            "n": fit.n,
            "synthetic_residuals": synthetic_residuals(fit, secret, noise=self.options.noise),
        }


def _lost_enough(shown: Sequence[Ints], kept: Ints) -> list[bool]:
    """Which columns, after the intercept, are about records of which enough were left out."""
    return [True, *(len(rows) - int(np.isin(rows, kept).sum()) >= LEAST_LOST for rows in shown)]


def _fingerprint(design: Floats, labels: tuple[str, ...], response: Floats) -> str:
    """A hash of everything that a regression is worked out from."""
    digest = hashlib.blake2b(repr((labels, design.shape)).encode(), digest_size=16)
    for part in (design, response):
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()


def _logistic(design: Floats, labels: tuple[str, ...], response: Floats, rules: RegressionRules) -> Any:
    ones = int((response == 1).sum())
    if not bool(np.isin(response, (0.0, 1.0)).all()) or not rules.least <= ones <= len(response) - rules.least:
        return "a response that is not two codes, or has too few of one"
    if len(response) < design.shape[1] + rules.least:
        return "too few records for the model"
    if saturated(design):
        return "fully interacted model of indicators only"
    if float(leverage(design).max()) > rules.leverage:
        return "a record has too much leverage"
    found = logistic(design, response)
    if found is None:
        return "the codes separate the response"
    beta, errors, deviance = found
    return {
        "coefficients": dict(zip(labels, coarse_all(beta, errors))),
        "standard_errors": dict(zip(labels, coarse_errors(errors, len(response)))),
        "deviance": coarse(deviance, DEVIANCE),
        "n": len(response),
    }


def analysis(setting: Setting) -> AnalysisMode:
    """Make the mode; strata are the combinations of the chosen filters."""
    options = build(AnalysisOptions, setting.policy.options.get("analysis", {}), owner="policy: options analysis")
    versions = setting.universe.versions
    strata = [_default_strata(v, options) if options.strata is None else options.strata for v in versions]
    for name in strata[-1]:
        if name not in setting.policy.filters:
            raise PlanError(f"policy: options analysis: the stratum variable {name!r} must be one of the filters.")
    if options.drop + 2 > options.joint_gamma:
        raise PlanError("policy: options analysis: joint_gamma must be at least drop + 2, so that records remain.")
    if 0 < options.reach < 2:
        raise PlanError("policy: options analysis: reach must be 0 or at least 2.")
    shares = Shares.of(setting.policy, setting.universe.known_entities(), reach=options.reach)
    units = link_units(setting.universe, strata)
    own = units.strata[0][units.of_rows[-1]]
    sizes = {"near": options.joint_gamma, "most": options.pairs, "drop": options.drop}
    near_pairs = MeasuredBy(lambda: Measurements.of(units, **sizes), units)
    redrawn = tuple(list(dict.fromkeys(strata)).index(names) for names in strata)
    return AnalysisMode(setting, options, own, shares, near_pairs, ToldTogether(units), PublicNumbers(units), redrawn)


def _default_strata(version: Version, options: AnalysisOptions) -> tuple[str, ...]:
    """The filters in their order, as long as every stratum stays so large that honest universes seldom nearly agree in it."""
    chosen: list[str] = []
    place = np.zeros(version.data.n_records, dtype=np.int64)
    for name in version.filters:
        finer = place * (len(version.levels[name]) + 1) + version.codes[name][version.atom] + 1
        _, finer = np.unique(finer, return_inverse=True)
        if len(finer) and int(np.bincount(finer).min()) >= LARGE * options.joint_gamma:
            chosen.append(name)
            place = finer.astype(np.int64)
    return tuple(chosen)
