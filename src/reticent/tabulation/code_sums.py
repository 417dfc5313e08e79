# SPDX-License-Identifier: Apache-2.0
"""Variables that add up only together: who is employed and who is unemployed are, added up, all who are active.

No two of them fall into classes, and no table need cross them. In each combination of codes that occurs some factors of the codes
add up to 0, or to no less; then so do the cells with these factors. It is no less for codes of which nobody has two: who has them
are no more than everybody. Whoever knows what codes mean knows such sums, however few records there are: of short ones it is not
asked whether chance could have made them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice, product

import numpy as np

from reticent.base.arrays import Ints
from reticent.tabulation.code_columns import CodeColumns
from reticent.tabulation.code_kernel import (
    MOST_CODES,
    TOTAL,
    Factors,
    PairCounts,
    Place,
    chance,
    forms_of,
    is_short,
    sums_beyond,
)
from reticent.tabulation.linked import System

_LUCK = 0.05  # how likely chance may make codes add up before tables reckon with a long sum
_MOST_SUMS = 100  # of variables that are looked at together, the shortest
MOST_CODES_OF_PAIRS = 200
"""The same where two variables of a table count as one."""
_MOST_CODES_APART = 60
_MOST_TRIED = 40  # sets of so many variables
_MOST_SHARED = 20  # sets of variables that tables share
_MOST_APART = 200  # sets of codes of which nobody has two


@dataclass(frozen=True, eq=False)
class CodeSum:
    """Some tables and dimensions of each, with factors of their codes; `shared` are further dimensions that all have.

    With `at_least` the cells add up to 0 or more.
    """

    tables: tuple[int, ...]
    dimensions: tuple[tuple[int, ...], ...]
    factors: tuple[Mapping[tuple[str, ...], int], ...] = field(repr=False)
    shared: tuple[tuple[int, ...], ...] = ()
    at_least: bool = False

    def rows(self, system: System) -> Iterator[tuple[list[int], list[int]]]:
        """The cells of each combination of shared codes with their factors, where they do add up."""
        found: dict[tuple[str, ...], dict[int, int]] = {}
        for number, own, factors, shared in zip(self.tables, self.dimensions, self.factors, self.shared, strict=True):
            table, members = system.parts[number], system.members[number]
            others = [d for d in range(len(table.names)) if d not in own and d not in shared]
            texts = [dimension.codes for dimension in table.dimensions]
            leaf = np.ones(table.n_cells, dtype=bool)
            for d in shared:
                leaf &= table.dimensions[d].is_leaf[table.codes[:, d]]
            for cell in np.flatnonzero(leaf & (table.codes[:, others] == 0).all(axis=1)).tolist():
                row = table.codes[cell].tolist()
                factor = factors.get(tuple(texts[at][row[at]] for at in own), 0)
                if factor:
                    cells = found.setdefault(tuple(texts[d][row[d]] for d in shared), {})
                    cells[int(members[cell])] = cells.get(int(members[cell]), 0) + factor
        values = system.table.values
        size = 1e-9 * float(np.abs(values).max(initial=1.0))
        for sums in found.values():
            kept = [cell for cell in sums if sums[cell]]
            coefs = [sums[cell] for cell in kept]
            total = float(values[kept] @ np.array(coefs))
            if len(kept) > 1 and (total >= -size if self.at_least else abs(total) <= size):
                yield kept, coefs


@dataclass(frozen=True)
class _Own:
    """One dimension of a table, or two that count as one, with the numbers of their columns."""

    table: int
    dimensions: tuple[int, ...]
    columns: tuple[int, ...]


Told = dict[tuple[tuple[int, ...], int], int]  # factors by columns and code; no columns: everybody


def code_sums(columns: CodeColumns) -> tuple[CodeSum, ...]:
    """What variables of several tables add up to together, beyond what two of them do."""
    found: list[CodeSum] = []
    told: list[tuple[frozenset[int], Told]] = []
    pairs = 0
    for shared in _shared(columns):
        single = _within_limit(columns, _singles(columns, shared), MOST_CODES)
        if len({own.table for own in single}) > 2:
            found += _sums(columns, shared, single, told)
            found += _parts(columns, shared, single)
        for own in _pairs(columns, shared) if pairs < _MOST_TRIED else ():
            others = [one for one in single if one.table != own.table and one.columns[0] not in own.columns]
            run = _within_limit(columns, others, MOST_CODES_OF_PAIRS - _n_codes(columns, own))
            if run:
                pairs += 1
                found += _sums(columns, shared, [own, *run], told)
    return tuple(found)


def _shared(columns: CodeColumns) -> list[frozenset[int]]:
    """Variables that two tables or more have in common, most first; none is the last of them."""
    tables = [frozenset(table) for table in columns.tables]
    found: set[frozenset[int]] = {one & other for one, other in combinations(tables, 2)} | {frozenset()}
    return sorted(found, key=lambda own: (-len(own), sorted(own)))[-_MOST_SHARED:]


def _singles(columns: CodeColumns, shared: frozenset[int]) -> list[_Own]:
    """Each further variable once, in the first table that has it beside those that are shared."""
    found: dict[int, _Own] = {}
    for number, table in enumerate(columns.tables):
        if shared <= set(table):
            for at, column in enumerate(table):
                if column not in shared:
                    found.setdefault(column, _Own(number, (at,), (column,)))
    return list(found.values())


def _pairs(columns: CodeColumns, shared: frozenset[int]) -> list[_Own]:
    """Each two variables of a table that count as one."""
    found: dict[tuple[int, ...], _Own] = {}
    for number, table in enumerate(columns.tables):
        further = [at for at, column in enumerate(table) if column not in shared]
        for one, other in combinations(further, 2) if shared <= set(table) else ():
            own = tuple(sorted((table[one], table[other])))
            found.setdefault(own, _Own(number, (one, other), (table[one], table[other])))
    return list(found.values())


def _n_codes(columns: CodeColumns, own: _Own) -> int:
    """The codes of variables that occur, or as many as is too many."""
    if len(own.columns) == 1:
        return len(columns.columns[own.columns[0]].codes)
    both = columns.together(own.columns)
    return MOST_CODES if both is None else len(both[0])


def _within_limit(columns: CodeColumns, chosen: Sequence[_Own], most: int) -> list[_Own]:
    """The variables with the fewest codes, as many as may be looked at together, in their own order."""
    kept: set[_Own] = set()
    for own in sorted(chosen, key=lambda one: _n_codes(columns, one)):
        most -= _n_codes(columns, own)
        if most < 0:
            break
        kept.add(own)
    return [own for own in chosen if own in kept]


def _counts(columns: CodeColumns, chosen: Sequence[_Own]) -> PairCounts | None:
    """How many records have each two codes; only the first may be of two variables. None: there may be too many."""
    both: dict[tuple[int, int], tuple[Ints, Ints]] = {}
    n_records = 0
    for one, other in combinations(range(len(chosen)), 2):
        mine, its = chosen[one].columns, chosen[other].columns
        counted = columns.together((*mine, *its) if len(mine) > 1 or mine < its else (*its, *mine))
        if counted is None:
            return None
        codes, many = counted
        if len(mine) > 1:
            size = len(columns.columns[mine[1]].codes)
            codes = np.column_stack((codes[:, 0] * size + codes[:, 1], codes[:, 2]))
        elif mine > its:
            codes = codes[:, ::-1]
        both[one, other] = codes, many
        n_records = int(many.sum())
    return PairCounts(len(chosen), n_records, both) if n_records else None


def _sums(
    columns: CodeColumns, shared: frozenset[int], chosen: Sequence[_Own], told: list[tuple[frozenset[int], Told]]
) -> Iterator[CodeSum]:
    """The shortest sums of some variables beyond what two of them, what was found before, or one table say."""
    counts = _counts(columns, chosen)
    if counts is None:
        return
    known = _known(columns, shared, chosen, counts, told)
    tables = [set(table) for table in columns.tables]
    new = []
    for factors in sums_beyond(counts, known):
        used = {column for n, _ in factors if n != TOTAL for column in chosen[n].columns}
        if any(used | shared <= table for table in tables):
            continue
        forms = forms_of(factors, counts)
        if _reckoned_with(forms[0], counts):
            new.append(forms)
    for forms in sorted(new, key=lambda own: len(own[0]))[:_MOST_SUMS]:
        told.append((shared, {(() if n == TOTAL else chosen[n].columns, code): f for (n, code), f in forms[0].items()}))
        for factors in forms:
            yield _named(columns, shared, chosen, factors)


def _known(
    columns: CodeColumns,
    shared: frozenset[int],
    chosen: Sequence[_Own],
    counts: PairCounts,
    told: Sequence[tuple[frozenset[int], Told]],
) -> list[Factors]:
    """What two variables say, and what was found of variables in the same tables; two that count as one add up to each."""
    first, *others = chosen
    number = {own.columns: n for n, own in enumerate(chosen)} | {(): TOTAL}
    known: list[Factors] = []
    for one, other in combinations(range(len(chosen)), 2):
        known += counts.classes(one, other) if len(chosen[one].columns) == 1 else ()
    said = [own for over, own in told if over >= shared]
    parts: dict[Place, list[Place]] = {}
    if len(first.columns) > 1:
        size = len(columns.columns[first.columns[1]].codes)
        for code in counts.sizes[0]:
            for column, part in zip(first.columns, divmod(code, size), strict=True):
                parts.setdefault((column, part), []).append((0, code))
        for column, beside in product(first.columns, others):
            pair = _counts(columns, [_Own(first.table, (), (column,)), beside])
            names = ((column,), beside.columns)
            for factors in pair.classes(0, 1) if pair is not None else ():
                said.append({(names[n], code): f for (n, code), f in factors.items()})
    for told_one in said:
        if all(own in number or (own[0], code) in parts for own, code in told_one):
            places: Factors = {}
            for (own, code), f in told_one.items():
                for place in [(number[own], code)] if own in number else parts[own[0], code]:
                    places[place] = places.get(place, 0) + f
            known.append(places)
    return known


def _reckoned_with(factors: Factors, counts: PairCounts) -> bool:
    """Whether somebody may know a sum: it is short, or chance hardly makes so many records follow it."""
    if is_short(factors):
        return True
    evidence = counts.n_records - len(factors)
    return evidence > 0 and chance(factors, counts) ** evidence < _LUCK


def _named(
    columns: CodeColumns, shared: frozenset[int], chosen: Sequence[_Own], factors: Factors, *, at_least: bool = False
) -> CodeSum:
    """A sum with codes as they are written; all records are the total of its first table."""
    used = [chosen[n] for n in sorted({n for n, _ in factors if n != TOTAL})]
    named: list[dict[tuple[str, ...], int]] = [{} for _ in used]
    for (n, code), factor in factors.items():
        own = used[0] if n == TOTAL else chosen[n]
        texts = [columns.columns[column].codes for column in own.columns]
        numbers = (0,) * len(texts) if n == TOTAL else divmod(code, len(texts[1])) if len(texts) > 1 else (code,)
        named[used.index(own)][tuple(one[number] for one, number in zip(texts, numbers, strict=True))] = factor
    over = sorted(shared)
    return CodeSum(
        tuple(own.table for own in used),
        tuple(own.dimensions for own in used),
        tuple(named),
        tuple(tuple(columns.tables[own.table].index(column) for column in over) for own in used),
        at_least,
    )


def _parts(columns: CodeColumns, shared: frozenset[int], chosen: Sequence[_Own]) -> Iterator[CodeSum]:
    """Codes of three variables and more of which nobody has two: who has them are no more than everybody."""
    few = _within_limit(columns, chosen, _MOST_CODES_APART)
    sets = [few]
    if len(few) < len(chosen):
        sets += [list(one) for many in (3, 4) for one in islice(_lacking(columns, chosen, many), _MOST_TRIED)]
    for own in sets:
        counts = _counts(columns, own) if len(own) > 2 else None
        for factors in _apart(counts) if counts is not None else ():
            yield _named(columns, shared, own, factors, at_least=True)


def _lacking(columns: CodeColumns, chosen: Sequence[_Own], many: int) -> Iterator[tuple[_Own, ...]]:
    """Variables of different tables; so many pairs of them lack combinations of codes that all hang together."""
    for own in combinations(chosen, many):
        if len({one.table for one in own}) < many or sum(_n_codes(columns, one) for one in own) > _MOST_CODES_APART:
            continue
        if sum(_lacks(columns, *one.columns, *other.columns) for one, other in combinations(own, 2)) >= many - 1:
            yield own


def _lacks(columns: CodeColumns, one: int, other: int) -> bool:
    both = columns.together((min(one, other), max(one, other)))
    if both is None:
        return False
    pairs = both[0]
    return len(pairs) < len(np.unique(pairs[:, 0])) * len(np.unique(pairs[:, 1]))


def _apart(counts: PairCounts) -> Iterator[Factors]:
    """Factors of codes of three variables and more of which nobody has two, so that who has them are no more than everybody.

    That nobody has two codes is what pairs of variables say, where it is not asked whether chance made it.
    """
    sizes = {(at, code): many for at, own in enumerate(counts.sizes) for code, many in own.items()}
    alone = {place: set(sizes) - {place} for place in sizes}
    for (one, other), (codes, _) in counts.both.items():
        for a, b in codes.tolist():
            alone[one, a].discard((other, b))
            alone[other, b].discard((one, a))
    for found in islice(_largest(set(), set(sizes), set(), alone), _MOST_APART):
        if len({at for at, _ in found}) < 3 or sum(sizes[place] for place in found) == counts.n_records:
            continue  # two variables say it, or it is a sum
        first = min(at for at, _ in found)
        rest = {place: 1 for place in sizes if place[0] == first and place not in found}
        if len(rest) > 1 + sum(at == first for at, _ in found):
            yield {(TOTAL, 0): 1} | dict.fromkeys(found, -1)
        else:
            yield rest | {place: -1 for place in found if place[0] != first}


def _largest(
    own: set[Place], left: set[Place], done: set[Place], alone: Mapping[Place, set[Place]]
) -> Iterator[set[Place]]:
    """The largest sets of codes of which each goes with all others, by the algorithm of Bron and Kerbosch."""
    if not left and not done:
        yield own
        return
    pivot = max(left | done, key=lambda place: (len(alone[place] & left), place))
    for place in sorted(left - alone[pivot]):
        yield from _largest(own | {place}, left & alone[place], done & alone[place], alone)
        left, done = left - {place}, done | {place}
