# SPDX-License-Identifier: Apache-2.0
"""The recount of a published file: how many published records fit the true keys of each person.

For record i the risk is 1/(published records compatible with its true keys at the published detail). A recoded key is
compared at its coarser level, a blank fits everything, a code changed by chance fits only those who truly have it. An
attacker leaves out keys that chance has changed: where its own record does not fit all keys, those count that it fits. A
numeric key that chance has moved has no level to compare at: the records that lie at least as near to the true value as its
own record count. The population version takes the expected 1/F given the fitting records and their weights.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Codes, Floats, Ints
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind
from reticent.kernels.grouping import distinct_rows
from reticent.kernels.nearest import build_tree, sums_within
from reticent.kernels.wildcards import compatible_sums
from reticent.microdata.risk.individual import IndividualRisk, record_risk
from reticent.microdata.risk.respondents import copies_in, counted_once, respondents_of, respondents_shown, shares_of
from reticent.microdata.trace import Cover, Trace, numbers_of, values_of

SETS = 16
"""Sets of changed keys that are left out, at most, beside all of them together."""
ENOUGH = 1000
"""Fitting records after which a search around moved numbers stops: the risk is then at most 1/1000."""


@dataclass(frozen=True)
class Recount:
    """Fitting published records of each original record (0: its own is not among them) and their weights.

    `copied` published records are copies of others, and count as one with these; `together` are variables that went to
    other records together, and `left_out` keys that chance has changed and an attacker leaves out, where that raises the
    risk of somebody.
    """

    keys: tuple[str, ...]
    sample_counts: Ints = field(repr=False)
    population_counts: Floats | None = field(repr=False)
    copies: Ints | None = field(default=None, repr=False)
    copied: int = 0
    together: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def sample_risk(self) -> Floats:
        """1/f, and 0 for records whose own is not among the fitting ones."""
        return inverse(self.sample_counts)

    def or_riskier(self, other: "Recount") -> "Recount":
        """Each original record with the larger of two risks."""
        more = other.individual().risk > self.individual().risk
        if not more.any():
            return self
        population = None
        if self.population_counts is not None and other.population_counts is not None:
            population = np.where(more, other.population_counts, self.population_counts)
        counts = np.where(more, other.sample_counts, self.sample_counts)
        left_out = tuple(dict.fromkeys((*self.left_out, *other.left_out)))
        return replace(
            self,
            sample_counts=counts,
            population_counts=population,
            together=other.together or self.together,
            left_out=left_out,
        )

    def individual(self) -> IndividualRisk:
        """The risk of each original record: the expected 1/F with weights, else 1/f."""
        if self.population_counts is None:
            population = self.sample_counts.astype(float)
            return IndividualRisk("sample-only", self.sample_risk, self.sample_counts, population, self.copies)
        risk = weighted_risk(self.sample_counts, self.population_counts)
        return IndividualRisk("negative-binomial", risk, self.sample_counts, self.population_counts, self.copies)


def inverse(counts: Ints) -> Floats:
    """1/f where f > 0, else 0."""
    return np.where(counts > 0, 1.0 / np.maximum(counts, 1), 0.0)


def weighted_risk(counts: Ints, population: Floats) -> Floats:
    """The expected 1/F given f fitting records whose weights add up to F̂; 0 where nothing fits."""
    risk = np.zeros(counts.size)
    there = counts > 0
    risk[there] = record_risk(counts[there], population[there])
    return risk


@dataclass(frozen=True)
class Fit:
    """True keys of the published records, published keys, and how the two compare.

    `true` are numbers of true values (−1 missing), `shown` numbers of published values (−1 blank, fits everything); where no
    step may have blanked the key, "missing" is a value like others on both sides;
    `maps[v][l]` shows for each true value of key v the published one at detail l, `detail` has l of each published value.
    `near` are positions of numeric keys that chance has moved, with `true_numbers` and `shown_numbers` for them.
    """

    keys: tuple[str, ...]
    own: Ints = field(repr=False)
    true: Codes = field(repr=False)
    shown: Codes = field(repr=False)
    maps: tuple[tuple[Ints, ...], ...] = field(repr=False)
    detail: Codes = field(repr=False)
    true_numbers: Floats = field(repr=False)
    shown_numbers: Floats = field(repr=False)

    @classmethod
    def of(cls, trace: Trace, masked: Microdata, keys: Sequence[str]) -> "Fit":
        """Bind the trace to the published file."""
        own = trace.own(masked)
        near = [name for name in keys if is_near(trace.covers[name], masked, name)]
        exact = [name for name in keys if name not in near]
        m = masked.n_rows
        true, shown, detail = (np.zeros((m, len(exact)), dtype=np.int32) for _ in range(3))
        maps = []
        for at, name in enumerate(exact):
            cover = trace.covers[name]
            layers, numbers = cover.layers, numbered(cover, masked, name)
            known = np.where(own >= 0, cover.true[own], -1)
            if name not in trace.blanked and not ((numbers < 0) & (known >= 0)).any():
                # no step blanked a value: a missing one is that of somebody who has none, and fits nobody else
                missing = len(cover.shown) + 1
                layers = tuple(np.append(layer, missing) for layer in layers)
                known, numbers = (
                    np.where((known < 0) & (own >= 0), cover.n_true, known),
                    np.where(numbers < 0, missing, numbers),
                )
            level = np.zeros(len(cover.shown) + 2, dtype=np.int32)
            for number, layer in enumerate(layers):
                level[layer[layer >= 0]] = number
            true[:, at], shown[:, at] = known, numbers
            detail[:, at] = level[shown[:, at]]
            maps.append(layers)
        true_numbers, shown_numbers = np.zeros((m, len(near))), np.zeros((m, len(near)))
        for at, name in enumerate(near):
            images = numbers_of(trace.covers[name], trace.covers[name].images())
            true_numbers[:, at] = np.where(own >= 0, images[own], np.nan)
            shown_numbers[:, at] = masked.numbers((name,))[:, 0]
        return cls((*exact, *near), own, true, shown, tuple(maps), detail, true_numbers, shown_numbers)

    def translated(self, detail: Codes) -> Codes:
        """The true keys as they would be shown at one detail for each key; a value never shown there has a code of its own."""
        out = np.empty_like(self.true)
        for at, layers in enumerate(self.maps):
            table = layers[int(detail[at])]
            nowhere = max(int(self.shown[:, at].max(initial=-1)), int(table.max(initial=-1))) + 1
            out[:, at] = np.append(np.where(table < 0, nowhere, table), -1)[self.true[:, at]]
        return out

    def details(self) -> list[tuple[Codes, NDArray[np.bool_]]]:
        """The details that occur in the published file, each with its records."""
        if all(len(layers) == 1 for layers in self.maps):
            return [(np.zeros(len(self.maps), dtype=np.int32), np.ones(len(self.own), dtype=bool))]
        rows, group = np.unique(self.detail, axis=0, return_inverse=True)
        return [(row, group.ravel() == at) for at, row in enumerate(rows)]

    def own_fits(self) -> NDArray[np.bool_]:
        """Whether the published record of each target fits its true keys (moved numbers always do)."""
        fits = self.own >= 0
        for detail, rows in self.details():
            at = np.flatnonzero(rows)
            shown, true = self.shown[at], self.translated(detail)[at]
            fits[at] &= ((shown == true) | (shown < 0)).all(axis=1)
        return fits

    def radii(self) -> tuple[Floats, Floats, Floats]:
        """True and published moved numbers on a scale on which no two are 1 apart, and its own squared distance."""
        both = np.vstack((self.true_numbers, self.shown_numbers))
        low, high = _span(both)
        scale = np.where(high > low, (high - low) * 1.01 * np.sqrt(max(both.shape[1], 1)), 1.0)
        true, shown = (self.true_numbers - low) / scale, (self.shown_numbers - low) / scale
        return true, shown, np.asarray(np.nansum((true - shown) ** 2, axis=1))


def _span(columns: Floats) -> tuple[Floats, Floats]:
    known = ~np.isnan(columns)
    low = np.where(known.any(axis=0), np.where(known, columns, np.inf).min(axis=0, initial=np.inf), 0.0)
    high = np.where(known.any(axis=0), np.where(known, columns, -np.inf).max(axis=0, initial=-np.inf), 0.0)
    return low, high


def is_near(cover: Cover, masked: Microdata, name: str) -> bool:
    """Whether the key is a number that chance has moved."""
    return cover.changed and masked.schema[name].kind is Kind.NUMERIC


def numbered(cover: Cover, masked: Microdata, name: str) -> Codes:
    """Published values in the numbering of the cover; a value that stands for nothing gets the next number."""
    values = values_of(masked, name)
    place = {value: at for at, value in enumerate(cover.shown)}
    table = [place.get(value, len(cover.shown)) for value in values.distinct]
    return np.array([*table, -1], dtype=np.int32)[values.numbers]


def recount(trace: Trace, masked: Microdata, keys: Sequence[str]) -> Recount:
    """Count the fitting published records of each original record; without keys every published record fits.

    Records of one respondent, and copies of one record, count once, and its own record is among the fitting ones if any
    of the respondent's is. Where keys went to another record together with something that is no key, whoever knows these
    keys finds the rest there; who has everybody's keys knows what steps that draw nothing made of each. Each person has
    the largest of these risks.
    """
    found = _by_fitting_keys(trace, masked, keys)
    again = trace.repeating()
    if again is not None:
        found = found.or_riskier(_by_fitting_keys(again, masked, keys))
    for names, part in trace.parts(masked):
        together = [name for name in keys if name in names]
        if together and any(name not in keys for name in names):
            found = found.or_riskier(replace(_by_fitting_keys(part, masked, together), together=names))
    return found


def _by_fitting_keys(trace: Trace, masked: Microdata, keys: Sequence[str]) -> Recount:
    """The recount by all keys, and by those that are left if keys changed by chance are left out."""
    found = _recount(trace, masked, keys)
    for left_out in changed_keys(trace, masked, keys):
        kept = [name for name in keys if name not in left_out]
        found = found.or_riskier(replace(_recount(trace, masked, kept), left_out=left_out))
    return found


def changed_keys(trace: Trace, masked: Microdata, keys: Sequence[str]) -> list[tuple[str, ...]]:
    """Sets of keys that an attacker leaves out because chance has changed them: all of them, and those of some records.

    A person who is alone with the other keys stays alone, whatever became of these. Where many sets occur, those of most
    records are tried.
    """
    names = tuple(n for n in keys if trace.covers[n].changed and not is_near(trace.covers[n], masked, n))
    if not names:
        return []
    off = np.column_stack([~Fit.of(trace, masked, (name,)).own_fits() for name in names])
    rows, counts = np.unique(off[off.any(axis=1)], axis=0, return_counts=True)
    often = rows[np.argsort(-counts, kind="stable")[:SETS]]
    sets = [tuple(name for name, out in zip(names, row, strict=True) if out) for row in often.tolist()]
    return list(dict.fromkeys((names, *sets))) if sets else []


def _recount(trace: Trace, masked: Microdata, keys: Sequence[str]) -> Recount:
    fit = Fit.of(trace, masked, keys)
    weights = population_weights(trace, masked)
    true_who = counted_once(trace.original, fit.own)
    who = None if true_who is None else respondents_shown(true_who, fit.own)
    exclusive = not fit.true_numbers.shape[1] and all(len(layers) == 1 for layers in fit.maps)
    if who is None:
        shares, sizes = masked.multiplicity.astype(np.float64), np.ones(masked.n_rows)
    else:
        shares = sizes = shares_of(who, fit.shown, exclusive=exclusive)
    counts, fitting = _fitting(fit, shares, shares if weights is None else sizes * weights)
    mine = fit.own_fits()
    if who is not None:
        mine = (np.bincount(who, weights=mine) > 0)[who] & (fit.own >= 0) & (counts > 0)
    n = trace.original.n_rows
    found, population = np.zeros(n, dtype=np.int64), np.zeros(n)
    at = np.flatnonzero(mine)
    found[fit.own[at]], population[fit.own[at]] = counts[at], fitting[at]
    sums = None if weights is None else population
    return Recount(fit.keys, found, sums, trace.original.copies, copies_in(fit.own))


def recount_as_it_is(data: Microdata, keys: Sequence[str], *, blanks: bool = True) -> Recount:
    """The recount of a file that is published as it is, without a trace: true keys are the published ones.

    `blanks` says that missing values may be blanks of an earlier protection, which fit everybody.
    """
    if respondents_of(data) is not None or not keys:
        return recount(replace(Trace.start(data, keys), blanked=frozenset(keys if blanks else ())), data, keys)
    codes = np.empty((data.n_rows, len(keys)), dtype=np.int32)
    for at, name in enumerate(keys):
        numeric = data.schema[name].kind is Kind.NUMERIC
        codes[:, at] = values_of(data, name).numbers if numeric else data.encoded(name).codes
        if not blanks:
            codes[codes[:, at] < 0, at] = codes[:, at].max(initial=-1) + 1
    rows, group = distinct_rows(codes)
    del codes
    found = _fitting_alike(rows, group, data.multiplicity).astype(np.int64)
    weights = data.weights()
    sums = None if weights is None else _fitting_alike(rows, group, weights)
    return Recount(tuple(keys), found, sums, data.copies)


def _fitting_alike(rows: Codes, group: Ints, amounts: Floats | Ints) -> Floats:
    totals = np.bincount(group, weights=amounts, minlength=len(rows))
    return np.asarray(compatible_sums(rows, rows, totals, asking_wild=False, answering_wild=True)[group])


def population_weights(trace: Trace, masked: Microdata) -> Floats | None:
    """What each published record stands for in the population: its true weight, raised where records were left out.

    Weights that were rounded, disturbed or dropped make nobody rarer or more frequent, so the published ones do not count.
    """
    true = trace.original.weights()
    if true is None:
        return None
    own = trace.own(masked)
    here = np.where(own >= 0, true[own], 0.0)
    return np.asarray(here * (true.sum() / here.sum())) if here.sum() > 0 else here


def _fitting(fit: Fit, shares: Floats, values: Floats) -> tuple[Ints, Floats]:
    """How many published respondents, and which sum of values, fit the true keys of each published record's person."""
    found, sums = np.zeros(len(fit.own)), np.zeros(len(fit.own))
    for detail, rows in fit.details():
        true = fit.translated(detail)
        for total, amounts in ((found, shares), (sums, values)):
            if fit.true_numbers.shape[1]:
                total += _around(fit, true, rows, amounts)
            else:
                total += _equal(true, fit.shown[rows], amounts[rows])
    # shares of one respondent add up to 1 except for rounding; who fits at all is at least one
    counts = np.where(found > 0, np.maximum(np.floor(found + 1e-6), 1.0), 0.0)
    return counts.astype(np.int64), sums


def _equal(true: Codes, shown: Codes, amounts: Floats) -> Floats:
    if true.shape[1] == 0:
        return np.full(len(true), amounts.sum())
    asking, ask = distinct_rows(true)
    answering, answer = distinct_rows(shown)
    totals = np.bincount(answer, weights=amounts, minlength=len(answering))
    found = compatible_sums(asking, answering, totals, asking_wild=False, answering_wild=True)
    return np.asarray(found[ask])


def _around(fit: Fit, true: Codes, rows: NDArray[np.bool_], values: Floats) -> Floats:
    """The sum of values over records with fitting codes that are at least as near in the moved numbers as its own one."""
    near_true, near_shown, radii = fit.radii()
    codes = fit.shown[rows].astype(np.float64)
    codes[codes < 0] = np.nan
    asked = true.astype(np.float64)
    asked[asked < 0] = -2.0  # a value missing in the truth fits only a blank
    points = np.ascontiguousarray(np.hstack((codes, near_shown[rows])))
    nominal = np.array([True] * codes.shape[1] + [False] * near_true.shape[1])
    tree = build_tree(points, nominal, np.zeros(nominal.size))
    queries = np.ascontiguousarray(np.hstack((asked, near_true)))
    return sums_within(tree, values[rows], queries, radii, cap=ENOUGH)[1]
