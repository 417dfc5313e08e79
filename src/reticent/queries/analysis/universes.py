"""Rules for universes: No Marginal 1 or 2, and Universe Gamma for disjoint and joint pieces."""

import itertools

import numpy as np
from numpy.typing import NDArray

from reticent.queries.canonical import Version
from reticent.queries.language import And, Condition, Constant, Not, Or

Mask = NDArray[np.bool_]
MOST_PIECES = 64


def has_small_marginal(version: Version, names: tuple[str, ...]) -> bool:
    """Whether an (m − 1)-way marginal of the m-way table of these variables is 1 or 2 (one variable: a category is)."""
    sizes = np.bincount(version.atom, minlength=version.n_atoms)
    subsets = itertools.combinations(names, len(names) - 1) if len(names) > 1 else [names]
    for subset in subsets:
        place = np.zeros(version.n_atoms, dtype=np.int64)
        for name in subset:
            place = place * (len(version.levels[name]) + 1) + version.codes[name] + 1
        _, group = np.unique(place, return_inverse=True)
        totals = np.bincount(group, weights=sizes)
        if bool(((totals == 1) | (totals == 2)).any()):
            return True
    return False


def pieces_of(condition: Condition) -> list[Condition] | None:
    """The condition as a union of simple universes (intersections); None if there would be too many."""
    parts = _union(condition, True)
    return None if parts is None else [And(tuple(part)) if part else Constant(True) for part in parts]


def _union(condition: Condition, positive: bool) -> list[list[Condition]] | None:
    if isinstance(condition, Not):
        return _union(condition.part, not positive)
    if isinstance(condition, Constant):
        return [[]] if condition.value == positive else []
    if isinstance(condition, Or | And) and isinstance(condition, Or) == positive:
        found: list[list[Condition]] = []
        for part in condition.parts:
            below = _union(part, positive)
            if below is None or len(found) + len(below) > MOST_PIECES:
                return None
            found += below
        return found
    if isinstance(condition, Or | And):
        product: list[list[Condition]] = [[]]
        for part in condition.parts:
            below = _union(part, positive)
            if below is None or len(product) * len(below) > MOST_PIECES:
                return None
            product = [first + second for first in product for second in below]
        return product
    return [[condition if positive else Not(condition)]]


def too_small(version: Version, condition: Condition, within: Mask, *, gamma: int, joint_gamma: int) -> bool | None:
    """Whether a piece has fewer than `gamma` records, or a non-empty intersection of pieces fewer than `joint_gamma`.

    Bins of a cutpoint variable inside one piece are merged by the condition itself. None: too many pieces to check.
    """
    pieces = pieces_of(condition)
    if pieces is None:
        return None
    sizes = np.bincount(version.atom, minlength=version.n_atoms)
    masks = [version.select(piece) & within for piece in pieces]
    masks = [mask for mask in masks if bool(mask.any())] or [np.zeros(version.n_atoms, dtype=bool)]
    if any(int(sizes[mask].sum()) < gamma for mask in masks):
        return True
    layer = [(mask, at) for at, mask in enumerate(masks)]
    while layer:  # every non-empty intersection of pieces, growing by one piece at a time
        following = []
        for mask, last in layer:
            for at in range(last + 1, len(masks)):
                both = mask & masks[at]
                size = int(sizes[both].sum())
                if 0 < size < joint_gamma:
                    return True
                if size and not np.array_equal(both, mask):
                    following.append((both, at))
        if len(following) > 4096:
            return None
        layer = following
    return False
