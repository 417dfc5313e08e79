# SPDX-License-Identifier: Apache-2.0
"""Three or four variables that add up only together: who is employed and who is unemployed are, added up, all who are active.

No two of them fall into classes, and no table need cross them. In each combination of codes that occurs some factors of the codes
add up to 0, or to no less; then so do the cells with these factors. It is no less for codes of which nobody has two: who has them
are no more than everybody.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, islice, product
from math import lcm

import numpy as np

from reticent.base.arrays import Floats, Ints
from reticent.tabulation.code_columns import CodeColumns
from reticent.tabulation.linked import System

_LUCK = 0.05  # how likely chance may make codes add up before tables reckon with it
_MANY = (3, 4)  # variables that are looked at together
_MOST_CODES = 60  # of these variables
_MOST_TRIED = 40  # sets of so many variables
_MOST_APART = 200  # sets of codes of which nobody has two
_LARGEST = 3  # factors that somebody thinks of
Vector = list[Fraction]
Factors = dict[tuple[int, int], int]


@dataclass(frozen=True, eq=False)
class CodeSum:
    """Some tables and one dimension of each, with factors of its codes; `shared` are further dimensions that all have.

    With `at_least` the cells add up to 0 or more.
    """

    tables: tuple[int, ...]
    dimensions: tuple[int, ...]
    factors: tuple[Mapping[str, int], ...] = field(repr=False)
    shared: tuple[tuple[int, ...], ...] = ()
    at_least: bool = False

    def rows(self, system: System) -> Iterator[tuple[list[int], list[int]]]:
        """The cells of each combination of shared codes with their factors, where they do add up."""
        found: dict[tuple[str, ...], dict[int, int]] = {}
        for number, at, factors, shared in zip(self.tables, self.dimensions, self.factors, self.shared, strict=True):
            table, members = system.parts[number], system.members[number]
            others = [d for d in range(len(table.names)) if d != at and d not in shared]
            texts = [dimension.codes for dimension in table.dimensions]
            leaf = np.ones(table.n_cells, dtype=bool)
            for d in shared:
                leaf &= table.dimensions[d].is_leaf[table.codes[:, d]]
            for cell in np.flatnonzero(leaf & (table.codes[:, others] == 0).all(axis=1)).tolist():
                row = table.codes[cell].tolist()
                factor = factors.get(texts[at][row[at]], 0)
                if factor:
                    own = found.setdefault(tuple(texts[d][row[d]] for d in shared), {})
                    own[int(members[cell])] = own.get(int(members[cell]), 0) + factor
        values = system.table.values
        size = 1e-9 * float(np.abs(values).max(initial=1.0))
        for own in found.values():
            cells = [cell for cell in own if own[cell]]
            coefs = [own[cell] for cell in cells]
            total = float(values[cells] @ np.array(coefs))
            if len(cells) > 1 and (total >= -size if self.at_least else abs(total) <= size):
                yield cells, coefs


def code_sums(columns: CodeColumns) -> tuple[CodeSum, ...]:
    """What three or four variables of as many tables add up to, beyond what fewer of them do."""
    found = []
    for tables, chosen in (one for many in _MANY for one in islice(_sets(columns, many), _MOST_TRIED)):
        numbers = tuple(columns.tables[t][d] for t, d in zip(tables, chosen, strict=True))
        both = columns.together(numbers)
        if both is None:
            continue
        common = [one for one in columns.tables[tables[0]] if all(one in columns.tables[t] for t in tables[1:])]
        common = [one for one in common if one not in numbers]
        shared = tuple(tuple(columns.tables[t].index(one) for one in common) for t in tables)
        texts = [columns.columns[number].codes for number in numbers]
        told = [(factors, False) for factors in _vectors(*both)] + [(factors, True) for factors in _apart(both[0])]
        for factors, at_least in told:
            named = [{texts[at][code]: f for (of, code), f in factors.items() if of == at} for at in range(len(tables))]
            found.append(CodeSum(tables, chosen, tuple(named), shared, at_least))
    return tuple(found)


def _sets(columns: CodeColumns, many: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Some tables and a dimension of each; so many pairs of variables lack combinations of codes that all hang together."""
    for tables in combinations(range(len(columns.tables)), many):
        for chosen in product(*(range(len(columns.tables[t])) for t in tables)):
            numbers = [columns.tables[t][d] for t, d in zip(tables, chosen, strict=True)]
            codes = sum(len(columns.columns[number].codes) for number in numbers)
            if len(set(numbers)) < many or codes > _MOST_CODES:
                continue
            if sum(_lacks(columns, one, other) for one, other in combinations(sorted(numbers), 2)) >= many - 1:
                yield tables, chosen


def _lacks(columns: CodeColumns, one: int, other: int) -> bool:
    both = columns.together((one, other))
    if both is None:
        return False
    pairs = both[0]
    return len(pairs) < len(np.unique(pairs[:, 0])) * len(np.unique(pairs[:, 1]))


def _vectors(codes: Ints, counts: Ints) -> Iterator[Factors]:
    """Small factors of codes that add up to 0 in each combination that occurs, beyond what fewer variables say."""
    places = _places(codes)
    number = {place: n for n, place in enumerate(places)}
    rows = [[number[(at, int(code))] for at, code in enumerate(row)] for row in codes]
    known = _of_fewer(codes, number)
    for vector in _kernel(rows, len(places), most=len(places) - len(known)):
        scale = lcm(*(one.denominator for one in vector))
        whole = [int(one * scale) for one in vector]
        if max(map(abs, whole)) > _LARGEST or not _grows(known, vector):
            continue
        forms = _forms({place: one for place, one in zip(places, whole, strict=True) if one}, places)
        if _believed(forms[0], codes, counts):
            yield from forms


def _places(codes: Ints) -> list[tuple[int, int]]:
    """The codes of all variables that occur."""
    return sorted({(at, int(code)) for at in range(codes.shape[1]) for code in codes[:, at]})


def _apart(codes: Ints) -> Iterator[Factors]:
    """Factors of codes of all variables of which nobody has two, so that who has them are no more than all who have any.

    That nobody has two codes is what pairs of variables say, where it is not asked whether chance made it.
    """
    places = _places(codes)
    has = np.column_stack([codes[:, at] == code for at, code in places])
    both = has.T.astype(np.float64) @ has > 0
    alone = {place: {places[at] for at in np.flatnonzero(~both[n]).tolist()} for n, place in enumerate(places)}
    many = codes.shape[1]
    for found in islice(_largest(set(), set(places), set(), alone), _MOST_APART):
        if len({at for at, _ in found}) < many or bool(has[:, [places.index(one) for one in found]].any(axis=1).all()):
            continue  # fewer variables say it, or it is a sum
        factors = {place: 1 for place in places if place[0] == 0 and place not in found}
        factors |= {place: -1 for place in found if place[0] > 0}
        yield factors


def _largest(
    own: set[tuple[int, int]],
    left: set[tuple[int, int]],
    done: set[tuple[int, int]],
    alone: Mapping[tuple[int, int], set[tuple[int, int]]],
) -> Iterator[set[tuple[int, int]]]:
    """The largest sets of codes of which each goes with all others, by the algorithm of Bron and Kerbosch."""
    if not left and not done:
        yield own
        return
    pivot = max(left | done, key=lambda place: (len(alone[place] & left), place))
    for place in sorted(left - alone[pivot]):
        yield from _largest(own | {place}, left & alone[place], done & alone[place], alone)
        left, done = left - {place}, done | {place}


def _forms(factors: Factors, places: Sequence[tuple[int, int]]) -> list[Factors]:
    """The shortest way to say it, and all that say that one code is the sum of others: their bounds follow from its parts."""
    found: dict[tuple[tuple[tuple[int, int], int], ...], Factors] = {}
    many = max(at for at, _ in places)
    for sign, *moved in product((1, -1), *([(-1, 0, 1)] * many)):
        added = (*moved, -sum(moved))  # each variable has the same total
        own = {place: sign * factors.get(place, 0) + added[place[0]] for place in places}
        found.setdefault(
            tuple(sorted((place, f) for place, f in own.items() if f)), {p: f for p, f in own.items() if f}
        )
    forms = sorted(found.values(), key=lambda own: (len(own), sum(f < 0 for f in own.values()), sorted(own.items())))
    return [forms[0], *(own for own in forms[1:] if sorted(own.values())[:2] == [-1, 1] and max(own.values()) == 1)]


def _of_fewer(codes: Ints, number: Mapping[tuple[int, int], int]) -> list[Vector]:
    """What all variables but one say already: classes of their codes, and that all of them have the same total."""
    known: list[Vector] = []
    many = codes.shape[1]
    for chosen in combinations(range(many), many - 1):
        occurring = np.unique(codes[:, chosen], axis=0)
        rows = [[number[(at, int(code))] for at, code in zip(chosen, row, strict=True)] for row in occurring]
        places = sorted({place for row in rows for place in row})
        local = {place: n for n, place in enumerate(places)}
        for vector in _kernel([[local[place] for place in row] for row in rows], len(places), most=len(places)):
            wide = [Fraction(0)] * len(number)
            for n, value in enumerate(vector):
                wide[places[n]] = value
            _grows(known, wide)
    return known


def _kernel(rows: Sequence[Sequence[int]], n: int, *, most: int) -> list[Vector]:
    """The vectors whose entries at the places of each row add up to 0; none is looked for once the rank reaches `most`."""
    pivots: list[Vector] = []
    for row in rows:
        if len(pivots) >= most:
            return []
        vector = [Fraction(0)] * n
        for place in row:
            vector[place] += 1
        _grows(pivots, vector)
    leads = {next(at for at, x in enumerate(vector) if x): vector for vector in pivots}
    found = []
    for free in (at for at in range(n) if at not in leads):
        vector = [Fraction(0)] * n
        vector[free] = Fraction(1)
        for lead in sorted(leads, reverse=True):
            vector[lead] = -sum((leads[lead][at] * vector[at] for at in range(lead + 1, n)), Fraction(0))
        found.append(vector)
    return found


def _grows(basis: list[Vector], vector: Vector) -> bool:
    """Whether a vector is independent of others; it is then taken in, with 1 at its first place."""
    rest = list(vector)
    for own in basis:
        lead = next(at for at, x in enumerate(own) if x)
        if rest[lead]:
            factor = rest[lead]
            rest = [x - factor * y for x, y in zip(rest, own, strict=True)]
    first = next((x for x in rest if x), None)
    if first is None:
        return False
    basis.append([x / first for x in rest])
    return True


def _believed(factors: Mapping[tuple[int, int], int], codes: Ints, counts: Ints) -> bool:
    """Whether it is no accident: would independent codes add up to 0 so often?"""
    n = int(counts.sum())
    spread: dict[int, float] = {0: 1.0}
    for at in range(codes.shape[1]):
        shares: Floats = np.bincount(codes[:, at], weights=counts) / n
        grown: dict[int, float] = {}
        for (total, chance), (code, share) in product(spread.items(), enumerate(shares.tolist())):
            key = total + factors.get((at, code), 0)
            grown[key] = grown.get(key, 0.0) + chance * share
        spread = grown
    evidence = n - len(factors)
    return evidence > 0 and spread.get(0, 0.0) ** evidence < _LUCK
