# SPDX-License-Identifier: Apache-2.0
"""What everybody knows of variables that say the same twice: a code that another code determines, a number that goes with a code.

A district lies in one region, an age in one band of ages, a degree takes a number of years, and sex and marital status tell who
is a widow. Records show such rules, and
whoever knows them reads a hidden code from the other variable. A rule counts if chance does not make it look so; one that
is an accident makes the attacker stronger than they are, so that a safe verdict stays right.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations, permutations
from math import lgamma, prod

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from reticent.base.arrays import Floats, Ints, Mask
from reticent.tabulation.code_kernel import MOST_CODES, TOTAL, PairCounts, forms_of, is_short, sums_beyond

OPEN_CODE = -2
"""Stands for every code: nobody has been seen with the code that would determine it."""
LUCK = 0.001
"""How likely chance may make records look as if they followed a rule, before somebody believes it."""
LUCK_OF_CLASSES = 0.05
"""The same for classes of codes: geography is known without records."""
EVIDENCE = 8
"""This many records beyond the first of each code must follow a rule."""
SPARSE = 20
"""With more combinations of two codes per record than this, hardly two records have the same one."""
MOST_TOGETHER = 4_000_000
"""With more combinations of two codes than this, it is not looked for which of them occur."""
GLANCE = 2_000
"""This many records are looked at first."""


@dataclass(frozen=True, eq=False)
class Rule:
    """The code of variable `then` that goes with each code, or pair of codes, of the variables `given`, all by their numbers."""

    given: tuple[int, ...]
    then: int
    sizes: tuple[int, ...]
    codes: Ints = field(repr=False)

    def possible(self, atoms: Ints) -> Mask:
        """The combinations of codes that follow the rule."""
        wanted = self.codes[_together([atoms[:, at] for at in self.given], self.sizes)]
        return np.asarray((wanted == OPEN_CODE) | (wanted == atoms[:, self.then]))


@dataclass(frozen=True, eq=False)
class Ranges:
    """The least and greatest number that goes with each code of a variable, the last of missing; infinite where none was seen."""

    response: str
    variable: str
    low: Floats = field(repr=False)
    high: Floats = field(repr=False)

    @property
    def determined(self) -> bool:
        """Whether each code has one number."""
        seen = np.isfinite(self.low)
        return bool((self.low[seen] == self.high[seen]).all())


@dataclass(frozen=True, eq=False)
class Classes:
    """Two variables, by their numbers, whose codes fall into classes: nobody has a code of one class and a code of another.

    `labels` have the class of each code of both, the last that of missing; `OPEN_CODE` where nobody has the code.
    """

    variables: tuple[int, int]
    labels: tuple[Ints, Ints] = field(repr=False)

    def possible(self, atoms: Ints) -> Mask:
        """The combinations of codes that stay within a class."""
        one, other = (own[atoms[:, at]] for own, at in zip(self.labels, self.variables, strict=True))
        return np.asarray((one == OPEN_CODE) | (other == OPEN_CODE) | (one == other))


@dataclass(frozen=True, eq=False)
class Together:
    """Two variables, by their numbers, and which codes of both somebody has; the last of each are missing.

    A code that nobody has goes with all.
    """

    variables: tuple[int, int]
    seen: Mask = field(repr=False)

    def possible(self, atoms: Ints) -> Mask:
        """The combinations of codes that somebody has."""
        one, other = (atoms[:, at] for at in self.variables)
        return np.asarray(self.seen[one, other])


def together_of(columns: Sequence[Ints], sizes: Sequence[int], pairs: Sequence[tuple[int, int]]) -> list[Together]:
    """Which codes of some pairs of variables go together, as whoever knows the codes knows however few records there are."""
    found = []
    for one, other in pairs:
        if (sizes[one] + 1) * (sizes[other] + 1) > MOST_TOGETHER:
            continue
        seen = np.zeros((sizes[one] + 1, sizes[other] + 1), dtype=bool)
        seen[columns[one], columns[other]] = True  # −1, which is missing, is the last
        seen |= ~seen.any(axis=1, keepdims=True) | ~seen.any(axis=0, keepdims=True)
        found.append(Together((one, other), seen))
    return found


@dataclass(frozen=True, eq=False)
class CodesAddUp:
    """Variables, by their numbers, whose codes have factors that add up to 0 with `start`; NaN: nobody has the code."""

    variables: tuple[int, ...]
    start: int
    factors: tuple[Floats, ...] = field(repr=False)

    def possible(self, atoms: Ints) -> Mask:
        """The combinations of codes that add up."""
        total = self.start + sum(own[atoms[:, at]] for at, own in zip(self.variables, self.factors, strict=True))
        return np.asarray(np.isnan(total) | (total == 0))


def sums_of(columns: Sequence[Ints], sizes: Sequence[int], pairs: Sequence[tuple[int, int]]) -> list[CodesAddUp]:
    """Short sums of codes of three variables and more, of which each two are among the pairs: active = employed + unemployed."""
    names = sorted({at for pair in pairs for at in pair})
    if len(names) < 3 or sum(sizes[at] + 1 for at in names) > MOST_CODES or not len(columns[names[0]]):
        return []
    coded = [columns[at] % (sizes[at] + 1) for at in names]
    both = {}
    for one, other in combinations(range(len(names)), 2):
        codes, many = np.unique(np.column_stack((coded[one], coded[other])), axis=0, return_counts=True)
        both[one, other] = codes, many
    counts = PairCounts(len(names), len(coded[0]), both)
    known = [factors for one, other in both for factors in counts.classes(one, other)]
    found = []
    for factors in sums_beyond(counts, known):
        form = forms_of(factors, counts)[0]
        used = sorted({at for at, _ in form if at != TOTAL})
        if not is_short(form) or any((names[a], names[b]) not in pairs for a, b in combinations(used, 2)):
            continue
        own = []
        for at in used:
            values = np.full(sizes[names[at]] + 1, np.nan)
            values[list(counts.sizes[at])] = [form.get((at, code), 0) for code in counts.sizes[at]]
            own.append(values)
        found.append(CodesAddUp(tuple(names[at] for at in used), form.get((TOTAL, 0), 0), tuple(own)))
    return found


def classes_of(columns: Sequence[Ints], sizes: Sequence[int]) -> list[Classes]:
    """Pairs of variables whose codes fall into several classes, where chance hardly makes so many records keep to them.

    Geography is known without records, so the chance need not be as small as for other rules.
    """
    found = []
    for one, other in combinations(range(len(columns)), 2):
        together = _occurring(_together([columns[one], columns[other]], [sizes[one], sizes[other]]))
        first, second = np.divmod(together, sizes[other] + 1)
        n = sizes[one] + 1
        graph = sparse.coo_array((np.ones(len(first)), (first, n + second)), shape=(n + sizes[other] + 1,) * 2)
        label = np.asarray(connected_components(graph, directed=False)[1]).astype(np.int64)
        if _keeps_to(label[columns[one] % n], len(np.unique(first)) + len(np.unique(second))):
            seen = np.isin(np.arange(len(label)), np.concatenate((first, n + second)))
            label = np.where(seen, label, OPEN_CODE)
            found.append(Classes((one, other), (label[:n], label[n:])))
    return found


def _keeps_to(classes: Ints, n_codes: int) -> bool:
    """Whether it is no accident that both codes of each record are of one class; `classes` has the class of each record.

    Each code beyond the first of its class was put there by one record; the others are the evidence.
    """
    counts = np.unique(classes, return_counts=True)[1]
    evidence = len(classes) - (n_codes - len(counts))
    shares = counts / max(len(classes), 1)
    return len(counts) > 1 and evidence > 0 and evidence * np.log(float((shares**2).sum())) < np.log(LUCK_OF_CLASSES)


def _occurring(numbers: Ints) -> Ints:
    """The different numbers, in rising order."""
    most = int(numbers.max(initial=0))
    return np.unique(numbers) if most > SPARSE * len(numbers) else np.flatnonzero(np.bincount(numbers))


def everything_known(
    columns: Sequence[Ints], sizes: Sequence[int], apart: Sequence[tuple[int, int]] = ()
) -> list[Rule | Classes | Together | CodesAddUp]:
    """Which combinations of codes everybody knows to be empty: what rules and classes exclude.

    Of pairs of variables that stand `apart` also what no record has, and what breaks a sum of codes.
    """
    known: list[Rule | Classes] = [*rules_of(columns, sizes), *classes_of(columns, sizes)]
    return [*known, *together_of(columns, sizes, apart), *sums_of(columns, sizes, apart)]


def rules_of(columns: Sequence[Ints], sizes: Sequence[int]) -> list[Rule]:
    """Variables whose codes, alone or two by two, determine those of another; −1 is missing, and a code like others."""
    found: list[Rule] = []
    every = range(len(columns))
    single = [((one,), then) for one, then in permutations(every, 2)]
    double = [(pair, then) for pair in combinations(every, 2) for then in every if then not in pair]
    for given, then in (*single, *double):
        own = tuple(sizes[at] for at in given)
        known = any(rule.then == then and {*rule.given} <= {*given} for rule in found)
        if known or prod(size + 1 for size in own) > SPARSE * len(columns[then]):
            continue
        luck = LUCK / (1 if len(given) == 1 else len(double))
        codes = _determined([columns[at] for at in given], own, columns[then], luck)
        if codes is not None:
            found.append(Rule(given, then, own, codes))
    return found


def _together(columns: Sequence[Ints], sizes: Sequence[int]) -> Ints:
    """A number for each combination of codes, of which the last of each variable is missing."""
    out = np.zeros(len(columns[0]), dtype=np.int64)
    for column, size in zip(columns, sizes, strict=True):
        out = out * (size + 1) + column % (size + 1)
    return out


def _determined(given: Sequence[Ints], sizes: Sequence[int], then: Ints, luck: float) -> Ints | None:
    """The code of a variable for each combination of codes of others; None where no rule shows."""
    few = slice(0, GLANCE)
    if len(then) > GLANCE and _codes([own[few] for own in given], sizes, then[few]) is None:
        return None
    codes = _codes(given, sizes, then)
    if codes is None:
        return None
    shares = np.bincount(then + 1) / max(len(then), 1)
    return codes if believed(np.bincount(_together(given, sizes) + 1), shares, luck) else None


def _codes(given: Sequence[Ints], sizes: Sequence[int], then: Ints) -> Ints | None:
    codes = np.full(prod(size + 1 for size in sizes), OPEN_CODE, dtype=np.int64)
    one = _together(given, sizes)
    codes[one] = then
    return None if bool((codes[one] != then).any()) else codes


def believed(together: Ints, shares: Floats, luck: float = LUCK, evidence: int = EVIDENCE) -> bool:
    """Whether it is no accident that records with the same code agree in something that has these shares among all.

    So many records have each code `together`; beyond the first of each there must be as many as the `evidence`.
    """
    together = together[together > 0]
    if int((together - 1).sum()) < evidence or int((shares > 0).sum()) < 2:
        return False
    sizes, many = np.unique(together, return_counts=True)
    shares = shares[shares > 0]
    # the logarithm of Σ share^size, from the largest share, so that nothing is too small to be written
    largest = float(shares.max())
    agree = sizes * np.log(largest) + np.log([float(((shares / largest) ** size).sum()) for size in sizes.tolist()])
    return bool(agree @ many < np.log(luck))


def ranges_of(response: str, values: Floats, variable: str, codes: Ints, size: int) -> Ranges | None:
    """What goes with each code, where codes determine numbers or numbers determine codes; None where neither does."""
    there = ~np.isnan(values)
    values, codes = values[there], codes[there]
    if not len(values):
        return None
    low, high = np.full(size + 1, np.inf), np.full(size + 1, -np.inf)
    np.minimum.at(low, codes, values)
    np.maximum.at(high, codes, values)
    seen = np.unique(codes)
    if bool((low[seen] == high[seen]).all()):
        shares = np.unique(values, return_counts=True)[1] / len(values)
        return Ranges(response, variable, *_open(low, high)) if believed(np.bincount(codes + 1), shares) else None
    order = seen[np.argsort(low[seen], kind="stable")]
    if len(order) < 2 or bool((low[order][1:] <= high[order][:-1]).any()):
        return None
    return Ranges(response, variable, *_open(low, high)) if _in_order(np.bincount(codes + 1)) else None


def _in_order(sizes: Ints) -> bool:
    """Whether it is no accident that records in the order of a number lie together by codes, of which there are so many each."""
    sizes = sizes[sizes > 0]
    luck = lgamma(len(sizes) + 1) + sum(lgamma(int(size) + 1) for size in sizes) - lgamma(int(sizes.sum()) + 1)
    return bool((sizes - 1).sum() >= EVIDENCE and luck < np.log(LUCK))


def _open(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Codes that nobody has may go with any number."""
    unseen = ~np.isfinite(low)
    return np.where(unseen, -np.inf, low), np.where(unseen, np.inf, high)
