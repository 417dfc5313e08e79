# SPDX-License-Identifier: Apache-2.0
"""k-anonymity and its kin: how many records, or people, share a combination of keys, and what an attacker makes of it.

All measures go by key groups: records with the same codes on the keys. f_j is the number of records in group j, F_j the
number of units of the population, n the number of records, J the number of groups.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from reticent.base.checks import check_between, check_integer
from reticent.base.errors import DataError, ParameterError
from reticent.data.microdata import Microdata
from reticent.kernels.grouping import group_columns
from reticent.microdata.risk.semantics import Semantics, aligned_codes, count_codes, keys_of


@dataclass(frozen=True)
class Violation:
    """How much of a file falls short of one k: distinct combinations (cells) and records in them."""

    k: int
    cells: int
    records: int


@dataclass(frozen=True)
class KAnonymity:
    """The k that a file has, and what violates larger ones."""

    keys: tuple[str, ...]
    semantics: Semantics
    unit: str
    k: int
    n_records: int
    n_cells: int
    violations: tuple[Violation, ...]
    sample_counts: NDArray[np.int64] = field(repr=False, compare=False)

    def summary(self) -> str:
        """The short form."""
        lines = [
            f"{self.k}-anonymous on {len(self.keys)} keys ({self.semantics}, counting {self.unit}): "
            f"{self.n_cells} cells, {self.n_records} records"
        ]
        lines += [f"  below {v.k}: {v.cells} cells, {v.records} records" for v in self.violations]
        return "\n".join(lines)


def k_anonymity(
    data: Microdata,
    keys: Sequence[str] = (),
    *,
    ks: Sequence[int] = (2, 3, 5),
    semantics: Semantics | str = Semantics.OWN_CATEGORY,
    truth: Microdata | None = None,
) -> KAnonymity:
    """The smallest count of any record (Samarati and Sweeney 1998), and the violations of each k in `ks`.

    Where the schema names a respondent for each record, respondents are counted, not records: a firm with ten branches
    in a cell is one. That is possible for `own-category` and `never-match`.
    """
    for k in ks:
        check_integer(k, minimum=1, name="k", owner="k_anonymity")
    chosen = Semantics.of(semantics, owner="k_anonymity")
    names = keys_of(data, keys, owner="k_anonymity")
    published = data.codes(names)
    entity = data.entity()
    patterns = data.patterns(names)
    if entity is not None:
        counts = _respondents(patterns.group, len(patterns), entity, chosen, np.asarray((published < 0).any(axis=1)))
    else:
        true = published if truth is None else aligned_codes(truth, data, names)
        counts = count_codes(published, true, data.multiplicity, chosen).astype(np.int64)
        if chosen is Semantics.NEVER_MATCH:
            counts[(published < 0).any(axis=1)] = 1
    violations = tuple(
        Violation(k, len(np.unique(patterns.group[counts < k])), int(data.multiplicity[counts < k].sum()))
        for k in sorted(set(ks))
    )
    unit = "records" if entity is None else "respondents"
    return KAnonymity(names, chosen, unit, int(counts.min()), data.n_records, len(patterns), violations, counts)


def _respondents(
    group: NDArray[np.int64],
    n_groups: int,
    entity: NDArray[np.int64],
    semantics: Semantics,
    incomplete: NDArray[np.bool_],
) -> NDArray[np.int64]:
    if semantics not in (Semantics.OWN_CATEGORY, Semantics.NEVER_MATCH):
        raise ParameterError(
            f"k_anonymity: with several records of a respondent, semantics must be own-category or never-match, "
            f"got {semantics}."
        )
    known = np.where(entity < 0, entity.max(initial=0) + 1 + np.arange(len(entity)), entity)
    pair, n_pairs = group_columns((group, known), (n_groups, int(known.max()) + 1))
    first = np.full(n_pairs, -1, np.int64)
    first[pair[::-1]] = np.arange(len(pair))[::-1]
    counts = np.bincount(group[first], minlength=n_groups)[group]
    return np.where(incomplete, 1, counts) if semantics is Semantics.NEVER_MATCH else counts


@dataclass(frozen=True)
class AttackerRisks:
    """Re-identification risk by what the attacker knows and wants (El Emam 2013, chapters 16–17).

    Prosecutor: knows that the target is in the file; risk 1/f_j. Journalist: knows only that it is in the population;
    risk 1/F_j. Marketer: wants to re-identify as many as possible; expected share Σ_j f_j/F_j / n.
    """

    keys: tuple[str, ...]
    threshold: float
    prosecutor_highest: float
    prosecutor_average: float
    prosecutor_at_risk: float
    journalist_highest: float | None
    journalist_average: float | None
    journalist_at_risk: float | None
    marketer: float

    def summary(self) -> str:
        """The short form."""
        lines = [
            f"prosecutor: highest {self.prosecutor_highest:.4g}, average {self.prosecutor_average:.4g}, "
            f"above {self.threshold:g}: {100 * self.prosecutor_at_risk:.2f} % of records"
        ]
        if self.journalist_highest is not None:
            lines.append(
                f"journalist: highest {self.journalist_highest:.4g}, average {self.journalist_average:.4g}, "
                f"above {self.threshold:g}: {100 * (self.journalist_at_risk or 0):.2f} % of records"
            )
        lines.append(f"marketer: {self.marketer:.4g} of the records")
        return "\n".join(lines)


def attacker_risks(
    data: Microdata,
    keys: Sequence[str] = (),
    *,
    threshold: float = 0.2,
    population: Microdata | None = None,
) -> AttackerRisks:
    """Prosecutor, journalist and marketer risk; F_j from a population file, else from the weights, else not known.

    Average prosecutor risk is J/n. Average journalist risk is max(J / Σ_j F_j, Σ_j f_j/F_j / n) as in El Emam. Without
    population and weights the marketer's share is the prosecutor's average.
    """
    check_between(threshold, 0, 1, name="threshold", owner="attacker_risks")
    names = keys_of(data, keys, owner="attacker_risks")
    patterns = data.patterns(names)
    f = patterns.counts.astype(np.float64)
    n, J = data.n_records, len(f)
    F = _population_sizes(data, names, population)
    at_risk = float(f[1 / f > threshold].sum() / n)
    if F is None:
        return AttackerRisks(names, threshold, float(1 / f.min()), J / n, at_risk, None, None, None, J / n)
    F = np.maximum(F, f)
    expected = float((f / F).sum() / n)
    return AttackerRisks(
        names, threshold, float(1 / f.min()), J / n, at_risk,
        float(1 / F.min()), max(J / float(F.sum()), expected), float(f[threshold < 1 / F].sum() / n), expected,
    )  # fmt: skip


def _population_sizes(
    data: Microdata, names: tuple[str, ...], population: Microdata | None
) -> NDArray[np.float64] | None:
    """F_j of every key group of the sample: counted in the population file, or the sum of weights."""
    patterns = data.patterns(names)
    if population is None:
        return patterns.weights
    in_population = _counts_in(population, data, names)
    first = np.empty(len(patterns), np.int64)
    first[patterns.group[::-1]] = np.arange(data.n_records)[::-1]
    return in_population[first].astype(np.float64)


def _counts_in(population: Microdata, data: Microdata, names: tuple[str, ...]) -> NDArray[np.int64]:
    """How many records of the population have each record's codes, compared by text (missing = a code)."""
    population.schema.require(names, owner="population file")
    merged: list[NDArray[np.int64]] = []
    cards: list[int] = []
    for name in names:
        texts = {text: code for code, text in enumerate(data.categories(name))}
        renumber = np.array([texts.setdefault(t, len(texts)) for t in population.categories(name)] + [-1], np.int64)
        other = renumber[population.codes((name,))[:, 0]]
        merged.append(np.concatenate((data.codes((name,))[:, 0].astype(np.int64), other)))
        cards.append(len(texts))
    group, n_groups = group_columns(merged, cards)
    sizes = np.bincount(group[data.n_records :], minlength=n_groups)
    return sizes[group[: data.n_records]]


@dataclass(frozen=True)
class KMap:
    """The smallest number of people of the population behind any combination in the file."""

    keys: tuple[str, ...]
    k: float
    source: str
    population_counts: NDArray[np.float64] = field(repr=False, compare=False)

    def summary(self) -> str:
        """The short form."""
        return f"k-map {self.k:g} on {len(self.keys)} keys (population counts from {self.source})"


def k_map(data: Microdata, keys: Sequence[str] = (), *, population: Microdata | None = None) -> KMap:
    """k-map (Sweeney 2001): like k-anonymity, with the population's counts; estimated by weights without a file."""
    names = keys_of(data, keys, owner="k_map")
    sizes = _population_sizes(data, names, population)
    if sizes is None:
        raise DataError("k_map: population counts need a population file or a variable with the role weight.")
    counts = sizes[data.patterns(names).group]
    return KMap(names, float(counts.min()), "weights" if population is None else "a population file", counts)


@dataclass(frozen=True)
class DeltaPresence:
    """Bounds of P(a person is in the file | the keys) over all people of the population."""

    keys: tuple[str, ...]
    smallest: float
    largest: float

    def summary(self) -> str:
        """The short form."""
        return f"δ-presence: between {self.smallest:.4g} and {self.largest:.4g} on {len(self.keys)} keys"


def delta_presence(data: Microdata, population: Microdata, keys: Sequence[str] = ()) -> DeltaPresence:
    """δ-presence (Nergiz, Atzori and Clifton 2007): min and max of f_j/F_j over the groups of the population.

    The file must be a part of the population: a combination that is in the file more often is an error.
    """
    names = keys_of(data, keys, owner="delta_presence")
    in_population = _counts_in(population, data, names)
    in_file = data.patterns(names).sample_counts
    if (in_file > in_population).any():
        raise DataError(
            f"delta_presence: {int((in_file > in_population).sum())} records have combinations that occur more often in "
            "the file than in the population; the file must be a part of it."
        )
    covered = _counts_in(data, population, names)
    everybody = population.patterns(names).sample_counts
    share = covered / everybody
    return DeltaPresence(names, float(share.min()), float(share.max()))


@dataclass(frozen=True)
class KeySetRisk:
    """How well a set of keys tells records apart."""

    keys: tuple[str, ...]
    distinction: float
    separation: float
