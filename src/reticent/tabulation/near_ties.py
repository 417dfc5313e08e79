# SPDX-License-Identifier: Apache-2.0
"""Relations between responses that do not hold in every record: all but a few obey them, or those of one code do.

One wrong or incomplete record must not hide from us what everybody knows: in every cell without it `tot = dom + exp` holds.
Rates, prices and factors often belong to a code, so two responses may have another ratio in each country. Such relations
are used in the cells in which they hold.
"""

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints
from reticent.data.response_relations import COUNT, ResponseRelation, relation_of
from reticent.data.table import Dimension
from reticent.tabulation.few_values import believed_by_records
from reticent.tabulation.ratios import ratios
from reticent.tabulation.tied_responses import (
    EVIDENCE,
    LARGE,
    LARGEST_FACTOR,
    MOST_SEARCHED,
    Numbers,
    Tie,
    Within,
    null_space,
)

NEARLY_ALL = 0.95
"""The share of complete records that obey a relation from which on the others are exceptions."""
_MOST_CODES = (
    0.8  # of the codes with enough records, this many have a ratio of their own before the others are taken to
)
_ALIKE = 8  # records of a code with one and the same number
_TRIALS = 40
_SAMPLE = 400


def near_ties(numbers: Numbers, known: Sequence[Tie]) -> list[Tie]:
    """Linear relations, exact or up to rounding, that all but a few rows obey, and that do not follow from known ones."""
    if not 2 <= len(numbers.columns) <= MOST_SEARCHED or numbers.n_rows == 0:
        return []
    found = [tie.relation for tie in known if not tie.relation.inequality]
    made: list[Tie] = []
    for relation, rounding in itertools.chain(_sampled(numbers), _rounded(numbers)):
        if _obeyed(numbers, relation, rounding) and is_new(relation, found):
            found.append(relation)
            made.append(Tie(relation, rounding, numbers.of_records, everywhere=False))
    return made


def _obeyed(numbers: Numbers, relation: ResponseRelation, rounding: float) -> bool:
    """Whether nearly all rows that say something obey the relation, and enough different ones."""
    sizes = np.column_stack([numbers.columns[name] for name in relation.names])
    some = numbers.complete(relation.names) & sizes.any(axis=1)
    fine = some & (np.abs(numbers.residuals(relation)) <= rounding + numbers.noise(relation))
    if int(fine.sum()) < NEARLY_ALL * int(some.sum()) or not fine.any():
        return False
    if rounding > 0 and float(np.median(np.abs(sizes[fine]).min(axis=1))) <= LARGE * rounding:
        return False
    if len(np.unique(sizes[fine], axis=0)) >= len(relation.names) - 1 + EVIDENCE:
        return True
    columns = [numbers.columns[name][some] for name in relation.names]
    return numbers.of_records and believed_by_records(columns, relation.coefs, int(some.sum()) - int(fine.sum()))


def is_new(relation: ResponseRelation, known: Sequence[ResponseRelation]) -> bool:
    """Whether a relation does not follow from others; a second one up to rounding between the same responses says nothing."""
    if any(set(one.names) == set(relation.names) for one in known):
        return False
    names = sorted({name for one in (*known, relation) for name in one.names})
    rows = np.array(
        [[dict(zip(one.names, one.coefs, strict=True)).get(name, 0) for name in names] for one in (*known, relation)],
        dtype=np.float64,
    )
    return null_space(rows)[1] > (null_space(rows[:-1])[1] if len(rows) > 1 else 0)


def _sampled(numbers: Numbers) -> Iterator[tuple[ResponseRelation, float]]:
    """Relations of small samples: one without an exception among its rows shows what nearly all obey."""
    names = [name for name, column in numbers.columns.items() if column.any()]
    there = numbers.complete(names)
    whole = np.column_stack([np.rint(numbers.columns[name] / numbers.steps[name]) for name in names])[there]
    if len(names) < 2 or float(np.abs(whole).max(initial=0.0)) >= 2.0**53:
        return
    rows = np.unique(whole[whole.any(axis=1)], axis=0)
    if len(rows) < len(names) - 1:
        return
    rng = np.random.default_rng(0)  # which rows are looked at first; all of them decide
    steps = [Fraction(numbers.steps[name]).limit_denominator(10**6) for name in names]
    for _ in range(_TRIALS):
        vectors, _ = null_space(rows[rng.choice(len(rows), len(names) - 1, replace=False)])
        for vector in vectors:
            terms = [(name, Fraction(c) / step) for name, c, step in zip(names, vector, steps, strict=True)]
            made = relation_of(terms, declared=False)
            if len(made.names) > 1 and max(abs(c) for c in made.coefs) <= LARGEST_FACTOR:
                yield made, 0.0


def _rounded(numbers: Numbers) -> Iterator[tuple[ResponseRelation, float]]:
    """Sums of two to four parts and fixed ratios, where rounding hides them from algebra: those a few rows speak for."""
    names = [name for name, column in numbers.columns.items() if column.any()]
    few = np.flatnonzero(numbers.complete(names))[:_SAMPLE]
    for total in names:
        others = [name for name in names if name != total]
        for parts in itertools.chain.from_iterable(itertools.combinations(others, size) for size in (2, 3, 4)):
            terms = [(total, Fraction(1)), *((name, Fraction(-1)) for name in parts)]
            made = relation_of(terms, declared=False)
            limit = numbers.rounding(made)
            if len(few) and float((np.abs(numbers.residuals(made, few)) <= limit * 1.001).mean()) >= NEARLY_ALL:
                yield made, limit
    for pair in itertools.combinations(names, 2):
        yield from _ratios(numbers, pair, np.flatnonzero(numbers.complete(pair)))


def _ratios(
    numbers: Numbers, pair: tuple[str, str], rows: NDArray[np.int64]
) -> Iterator[tuple[ResponseRelation, float]]:
    """The ratios that nearly all of some rows allow, the sharpest first."""
    steps, columns = numbers.steps, numbers.columns
    both = columns[pair[0]][rows], columns[pair[1]][rows]
    return ratios((steps[pair[0]], steps[pair[1]]), pair, both, NEARLY_ALL)


def ties_by_code(numbers: Numbers, dimension: Dimension, nodes: Ints, known: Sequence[Tie]) -> list[Tie]:
    """Two responses with a fixed ratio for the records of a code; `nodes` has the place of each record in the dimension.

    A code with few records has a ratio of its own where most codes with enough of them have.
    """
    tied = {frozenset(tie.relation.names) for tie in known if not tie.relation.inequality and tie.within is None}
    names = [name for name, column in numbers.columns.items() if column.any()][:MOST_SEARCHED]
    groups = _groups(dimension, nodes)
    found: list[Tie] = []
    for one, other in itertools.combinations(names, 2):
        if frozenset((one, other)) not in tied:
            found += _ties_of_pair(numbers, (one, other), dimension, groups)
    return found


def _groups(dimension: Dimension, nodes: Ints) -> list[tuple[int, NDArray[np.int64]]]:
    """The records below each node other than the total, the highest nodes first."""
    start, above = dimension.ancestors
    below: dict[int, list[NDArray[np.int64]]] = {}
    order = np.argsort(nodes, kind="stable")
    for leaf, rows in zip(*_runs(nodes[order], order), strict=True):
        for node in above[start[leaf] : start[leaf + 1]].tolist() if leaf >= 0 else ():
            if node > 0:
                below.setdefault(node, []).append(rows)
    groups = [(node, np.concatenate(rows)) for node, rows in below.items()]
    return sorted(groups, key=lambda group: (int(start[group[0] + 1] - start[group[0]]), group[0]))


def _runs(sorted_nodes: Ints, order: NDArray[np.int64]) -> tuple[list[int], list[NDArray[np.int64]]]:
    first = np.flatnonzero(np.diff(sorted_nodes, prepend=-2))
    return sorted_nodes[first].tolist(), np.split(order, first[1:])


def _ties_of_pair(
    numbers: Numbers, pair: tuple[str, str], dimension: Dimension, groups: Sequence[tuple[int, NDArray[np.int64]]]
) -> list[Tie]:
    """The ties of two responses code by code, if most codes that can show one do."""
    x, y = (numbers.columns[name] for name in pair)
    complete = numbers.complete(pair) & ((x != 0) | (y != 0))
    done: set[int] = set()
    ties: list[Tie] = []
    shown = asked = 0
    start, above = dimension.ancestors
    for node, rows in groups:
        if done & set(above[start[node] : start[node + 1]].tolist()):
            continue
        there = rows[complete[rows]]
        if not len(there):
            continue
        different = len(np.unique(np.column_stack((x[there], y[there])), axis=0))
        enough = different >= 1 + EVIDENCE or (COUNT in pair and len(there) >= _ALIKE)  # the same number for everybody
        tie = _fixed_ratio(numbers, pair, there) if enough or dimension.is_leaf[node] else None
        asked, shown = asked + (enough and bool(dimension.is_leaf[node])), shown + (enough and tie is not None)
        if tie is not None:
            done.add(node)
            ties.append(Tie(tie[0], tie[1], numbers.of_records, everywhere=False, within=_within(dimension, node)))
    return ties if shown and shown >= _MOST_CODES * max(asked, 1) else []


def _within(dimension: Dimension, node: int) -> Within:
    """The codes of a node and of all below it."""
    start, above = dimension.ancestors
    row_of = np.repeat(np.arange(len(dimension.codes)), np.diff(start))
    codes = frozenset(dimension.codes[at] for at in row_of[above == node].tolist())
    return Within(dimension.name, codes, dimension.codes[node])


def _fixed_ratio(
    numbers: Numbers, pair: tuple[str, str], rows: NDArray[np.int64]
) -> tuple[ResponseRelation, float] | None:
    """The ratio of two responses that all (but a few) of some rows have, exactly or up to rounding."""
    x, y = (numbers.columns[name][rows] for name in pair)
    both = (x != 0) & (y != 0)
    if float(both.mean()) < NEARLY_ALL:
        return None
    for relation, rounding in _ratios(numbers, pair, rows):
        fine = np.abs(numbers.residuals(relation, rows)) <= rounding + numbers.noise(relation)
        if float(fine.mean()) >= NEARLY_ALL and (rounding == 0 or _is_large(x, y, relation, rounding)):
            return relation, rounding
    return None


def _is_large(x: Floats, y: Floats, relation: ResponseRelation, rounding: float) -> bool:
    """Whether the numbers are so large that a ratio up to rounding is not an accident."""
    sizes = (abs(relation.coefs[0]) * np.abs(x), abs(relation.coefs[1]) * np.abs(y))
    return min(float(np.median(size)) for size in sizes) > LARGE * rounding
