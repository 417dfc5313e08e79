"""Generated tables and a slow, obvious attacker: one linear program on the full system for each end of each cell."""

import itertools

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


def cheapest_by_trying(problem: SuppressionProblem) -> float:
    """The cost of the cheapest safe pattern by trying all sets of candidates (only for very small tables)."""
    from reticent.tables.attack import audit  # the slow part is the enumeration; the judge is tested on its own

    candidates = np.flatnonzero(problem.candidates)
    best = np.inf
    for number in range(2 ** len(candidates)):
        chosen = [c for k, c in enumerate(candidates) if number >> k & 1]
        cost = float(problem.cost[chosen].sum())
        if cost >= best:
            continue
        hidden = problem.forced.copy()
        hidden[chosen] = True
        if audit(problem, hidden).n_exposed == 0:
            best = cost
    return best
