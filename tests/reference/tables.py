"""Generated tables and a slow, obvious attacker: one linear program on the full system for each end of each cell."""

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from reticent.data.relations import Relations
from reticent.tables.problem import SuppressionProblem

Tree = list[list[int]]  # children of each node; node 0 is the total


def flat(n: int) -> Tree:
    """A total and n parts."""
    return [list(range(1, n + 1))] + [[] for _ in range(n)]


def nested(groups: int, size: int) -> Tree:
    """A total, groups, and parts of each group."""
    tree: Tree = [list(range(1, groups + 1))]
    for g in range(groups):
        start = 1 + groups + g * size
        tree.append(list(range(start, start + size)))
    tree.extend([] for _ in range(groups * size))
    return tree


def leaves_below(tree: Tree, node: int) -> list[int]:
    """Leaves of the tree below a node."""
    if not tree[node]:
        return [node]
    return [leaf for child in tree[node] for leaf in leaves_below(tree, child)]


def crossed(trees: list[Tree], inner: NDArray[np.float64]) -> tuple[NDArray[np.float64], Relations]:
    """Values of all cells and all relations of the crossed trees; `inner` has one axis a tree, over its leaves."""
    values = inner
    for axis, tree in enumerate(trees):
        leaves = [n for n in range(len(tree)) if not tree[n]]
        sums = np.zeros((len(tree), len(leaves)))
        for node in range(len(tree)):
            for leaf in leaves_below(tree, node):
                sums[node, leaves.index(leaf)] = 1
        values = np.moveaxis(np.tensordot(sums, values, axes=(1, axis)), 0, axis)
    shape = tuple(len(t) for t in trees)
    rows = []
    for axis, tree in enumerate(trees):
        others = [range(s) for a, s in enumerate(shape) if a != axis]
        for node, children in enumerate(tree):
            if children:
                for rest in itertools.product(*others):
                    place = [
                        int(np.ravel_multi_index(rest[:axis] + (k,) + rest[axis:], shape)) for k in [node, *children]
                    ]
                    rows.append((place, [-1] + [1] * len(children)))
    return values.ravel(), Relations.from_rows(values.size, rows)


def full_intervals(problem: SuppressionProblem, hidden: NDArray[np.bool_]) -> dict[int, tuple[float, float]]:
    """Attack intervals by scipy on all cells and all relations."""
    fixed = ~hidden
    low = np.where(fixed, problem.values, problem.lower_bound)
    high = np.where(fixed, problem.values, problem.upper_bound)
    bounds = np.column_stack((low, high))
    matrix = problem.relations.matrix().toarray()
    right = matrix @ problem.values
    found = {}
    for cell in np.flatnonzero(hidden):
        ends = []
        for sign in (1.0, -1.0):
            objective = np.zeros(problem.n_cells)
            objective[cell] = sign
            answer = linprog(objective, A_eq=matrix, b_eq=right, bounds=bounds, method="highs")
            ends.append(-np.inf if answer.status == 3 else answer.fun)
        found[int(cell)] = (ends[0], -ends[1])
    return found


class Together:
    """A judge of sums from the respondents of each inner cell: fewer than `minimum` in all are unsafe."""

    def __init__(
        self, relations: Relations, inner: Sequence[int], respondents: Sequence[set[int]], minimum: int
    ) -> None:
        self.parts = {cell: {cell} for cell in inner}
        self.who, self.minimum = dict(zip(inner, respondents, strict=True)), minimum
        waiting = list(range(relations.n_rows))
        while waiting:
            row = waiting.pop(0)
            cells, coefs = relations.row(row)
            parts, total = cells[coefs > 0].tolist(), int(cells[coefs < 0][0])
            if all(part in self.parts for part in parts):
                self.parts[total] = set().union(*(self.parts[part] for part in parts))
            else:
                waiting.append(row)

    def count(self, group: Sequence[int]) -> int:
        """How many respondents the cells of a group have in all."""
        return len(set().union(*(self.who[part] for cell in group for part in self.parts[cell])))

    def unsafe(self, groups: Sequence[tuple[int, ...]]) -> NDArray[np.bool_]:
        """Groups of cells without a common part that have too few."""
        apart = [sum(len(self.parts[c]) for c in g) == len(set().union(*(self.parts[c] for c in g))) for g in groups]
        return np.array(
            [ok and 0 < self.count(g) < self.minimum for ok, g in zip(apart, groups, strict=True)], dtype=bool
        )


def unsafe_known_sums(
    problem: SuppressionProblem, hidden: NDArray[np.bool_], *, most: int = 5
) -> list[tuple[int, ...]]:
    """Unsafe sums of hidden cells that the relations alone give: every set of up to `most` cells, by the rank."""
    assert problem.judge is not None
    cells = np.flatnonzero(hidden).tolist()
    sets = [s for size in range(2, most + 1) for s in itertools.combinations(cells, size)]
    sets = [s for s in sets if problem.primary[list(s)].any()]
    wrong = list(itertools.compress(sets, problem.judge.unsafe(sets))) if sets else []
    matrix = problem.relations.matrix().toarray()[:, cells]
    rank = np.linalg.matrix_rank(matrix)
    known = []
    for group in wrong:
        row = np.isin(cells, group).astype(float)
        if np.linalg.matrix_rank(np.vstack((matrix, row))) == rank:
            known.append(group)
    return known


def cheapest_by_trying(problem: SuppressionProblem, *, singletons: bool = False) -> float:
    """The cost of the cheapest safe pattern: all sets of candidates, the cheapest first (only for very small tables).

    With `singletons` a pattern is safe only if no sole respondent of a cell works out another primary either.

    Not attacked are patterns with a cell alone in a relation: it is known. A primary so known is exposed; hiding a
    candidate so known gains nothing over the same pattern without it, which is tried too. If hiding everything is
    unsafe nothing is safe, because hiding more only leaves the attacker with more possibilities.
    """
    # the slow part is the enumeration; the judges are tested on their own
    from reticent.tables.attack import audit
    from reticent.tables.attack.insiders import insiders

    def safe(hidden: NDArray[np.bool_]) -> bool:
        if audit(problem, hidden).n_exposed or (singletons and insiders(problem, hidden)):
            return False
        return problem.judge is None or not unsafe_known_sums(problem, hidden)

    if not safe(problem.forced | problem.candidates):
        return np.inf
    patterns, costs = np.array([_bits(problem.forced)], dtype=np.uint64), np.zeros(1)
    for cell in np.flatnonzero(problem.candidates).tolist():
        patterns = np.concatenate((patterns, patterns | np.uint64(1 << cell)))
        costs = np.concatenate((costs, costs + problem.cost[cell]))
    matters = np.uint64(_bits(problem.primary | problem.candidates))
    keep = np.ones(len(patterns), dtype=bool)
    for number in range(problem.relations.n_rows):
        row = np.zeros(problem.n_cells, dtype=bool)
        row[problem.relations.row(number)[0]] = True
        inside = patterns & np.uint64(_bits(row))
        keep &= (np.bitwise_count(inside) != 1) | (inside & matters == 0)
    patterns, costs = patterns[keep], costs[keep]
    for place in np.argsort(costs, kind="stable").tolist():
        hidden = (int(patterns[place]) >> np.arange(problem.n_cells) & 1).astype(bool)
        if safe(hidden):
            return float(costs[place])
    raise AssertionError("hiding everything was safe, so some pattern is")


def _bits(mask: NDArray[np.bool_]) -> int:
    """A set of cells as the bits of a number."""
    return sum(1 << cell for cell in np.flatnonzero(mask).tolist())
