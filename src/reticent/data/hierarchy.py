# SPDX-License-Identifier: Apache-2.0
"""Hierarchy: the code tree of a variable, balanced or not, with one root (the total).

A hierarchy is made from code digits, from parent → children lists, or from rows of levels; files are read in `io`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from reticent.base.doors import makers
from reticent.base.errors import DataError

TOTAL = "Total"


@makers
@dataclass(frozen=True)
class Hierarchy:
    """A tree of codes. `codes[0]` is the total; `parents[i]` is the position of the parent of `codes[i]` (−1 at the root).

    Codes are in an order in which every parent comes before its children.

    >>> tree = Hierarchy.from_children({"Total": ["A", "B"], "A": ["A1", "A2"]})
    >>> tree.leaves
    ('B', 'A1', 'A2')
    >>> tree.ancestor_at(1)["A2"]
    'A'
    """

    codes: tuple[str, ...]
    parents: tuple[int, ...]
    labels: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        if not self.codes or len(self.codes) != len(self.parents) or self.parents[0] != -1:
            raise DataError("Hierarchy: the first code must be the total, and each code needs one parent.")
        if len(set(self.codes)) != len(self.codes):
            twice = next(code for code in self.codes if self.codes.count(code) > 1)
            raise DataError(f"Hierarchy: code {twice!r} is in two places; each code has one parent.")
        for position, parent in enumerate(self.parents[1:], start=1):
            if not 0 <= parent < position:
                raise DataError(f"Hierarchy: the parent of code {self.codes[position]!r} must come before it.")
        if self.labels and len(self.labels) != len(self.codes):
            raise DataError("Hierarchy: there must be one label for each code.")

    def __len__(self) -> int:
        return len(self.codes)

    def __repr__(self) -> str:
        return f"<Hierarchy {len(self.codes)} codes: {len(self.leaves)} leaves, {self.depth} levels below the total>"

    @property
    def total(self) -> str:
        """The code of the root."""
        return self.codes[0]

    @cached_property
    def index(self) -> Mapping[str, int]:
        """Position of each code."""
        return {code: position for position, code in enumerate(self.codes)}

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Positions of the children of each code."""
        lists: list[list[int]] = [[] for _ in self.codes]
        for position, parent in enumerate(self.parents):
            if parent >= 0:
                lists[parent].append(position)
        return tuple(tuple(child) for child in lists)

    @cached_property
    def levels(self) -> NDArray[np.int64]:
        """Distance of each code from the root (the total is at level 0)."""
        levels = np.zeros(len(self.codes), dtype=np.int64)
        for position, parent in enumerate(self.parents[1:], start=1):
            levels[position] = levels[parent] + 1
        return levels

    @property
    def depth(self) -> int:
        """Level of the deepest code."""
        return int(self.levels.max())

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """Codes without children, in tree order."""
        return tuple(code for code, child in zip(self.codes, self.children, strict=True) if not child)

    def ancestors(self, code: str) -> tuple[str, ...]:
        """The code itself, its parent, … up to the total."""
        position = self.position(code)
        line = [self.codes[position]]
        while self.parents[position] >= 0:
            position = self.parents[position]
            line.append(self.codes[position])
        return tuple(line)

    def position(self, code: str) -> int:
        """Position of a code, or an error that names it."""
        try:
            return self.index[code]
        except KeyError:
            raise DataError(f"Hierarchy: code {code!r} is not in the hierarchy of {self.total!r}.") from None

    def ancestor_at(self, level: int) -> dict[str, str]:
        """For each code, its ancestor at `level` (a code above or at that level stays as it is)."""
        if not 0 <= level <= self.depth:
            raise DataError(f"Hierarchy: level must be from 0 (the total) to {self.depth}, got {level}.")
        image: list[int] = []
        for position, parent in enumerate(self.parents):
            image.append(position if self.levels[position] <= level else image[parent])
        return {code: self.codes[image[position]] for position, code in enumerate(self.codes)}

    def missing_from(self, codes: Iterable[str]) -> tuple[str, ...]:
        """Those of `codes` that the hierarchy does not have."""
        return tuple(code for code in codes if code not in self.index)

    def cut_at(self, level: int) -> "Hierarchy":
        """The tree down to `level`; deeper codes are gone."""
        keep = [i for i in range(len(self.codes)) if self.levels[i] <= level]
        new = {old: i for i, old in enumerate(keep)}
        parents = tuple(-1 if self.parents[i] < 0 else new[self.parents[i]] for i in keep)
        labels = tuple(self.labels[i] for i in keep) if self.labels else ()
        return Hierarchy(tuple(self.codes[i] for i in keep), parents, labels)

    def only(self, codes: Iterable[str]) -> "Hierarchy | None":
        """The tree of some codes and of all above them; None if it has none of them."""
        kept: set[int] = set()
        for code in codes:
            position = self.index.get(code, -1)
            while position >= 0 and position not in kept:
                kept.add(position)
                position = self.parents[position]
        if not kept:
            return None
        keep = sorted(kept)
        new = {old: i for i, old in enumerate(keep)}
        parents = tuple(-1 if self.parents[i] < 0 else new[self.parents[i]] for i in keep)
        labels = tuple(self.labels[i] for i in keep) if self.labels else ()
        return Hierarchy(tuple(self.codes[i] for i in keep), parents, labels)

    @classmethod
    def flat(cls, codes: Iterable[str], *, total: str = TOTAL) -> "Hierarchy":
        """A total with all codes below it."""
        codes = tuple(codes)
        return cls((total, *codes), (-1,) + (0,) * len(codes))

    @classmethod
    def from_children(cls, children: Mapping[str, Sequence[str]], *, total: str | None = None) -> "Hierarchy":
        """From parent → children lists; the total is the one code that is nobody's child, or `total`."""
        parent_of: dict[str, str] = {}
        for parent, below in children.items():
            for child in below:
                if child in parent_of:
                    raise DataError(
                        f"Hierarchy: code {child!r} has two parents, {parent_of[child]!r} and {parent!r}; it may have one."
                    )
                parent_of[child] = parent
        roots = [code for code in children if code not in parent_of]
        root = total if total is not None else (roots[0] if len(roots) == 1 else None)
        if root is None:
            raise DataError(f"Hierarchy: there must be one total, found {len(roots)} codes without a parent.")
        return cls._breadth_first(root, children, parent_of)

    @classmethod
    def _breadth_first(
        cls, root: str, children: Mapping[str, Sequence[str]], parent_of: Mapping[str, str]
    ) -> "Hierarchy":
        order, parents, queue = [root], [-1], [root]
        place = {root: 0}
        while queue:
            code = queue.pop(0)
            for child in children.get(code, ()):
                place[child] = len(order)
                order.append(child)
                parents.append(place[code])
                queue.append(child)
        lost = [code for code in parent_of if code not in place]
        if lost:
            raise DataError(
                f"Hierarchy: code {lost[0]!r} is not below the total {root!r} (a circle, or a second tree)."
            )
        return cls(tuple(order), tuple(parents))

    @classmethod
    def from_digits(cls, codes: Iterable[str], digits: Sequence[int], *, total: str = TOTAL) -> "Hierarchy":
        """From code prefixes: `digits` are the widths of the levels, e.g. (3, 1, 1) for 5-digit codes.

        A level of width 0 is passed over, as in ARGUS files. A prefix that is the whole code is the leaf itself.

        >>> Hierarchy.from_digits(["110", "120", "210"], (1, 2)).codes
        ('Total', '1', '2', '110', '120', '210')
        """
        cuts = np.cumsum([width for width in digits if width > 0])
        rows = []
        for code in dict.fromkeys(codes):
            prefixes = [code[:cut] for cut in cuts if cut < len(code)]
            rows.append([*prefixes, code])
        return cls.from_paths(rows, total=total)

    @classmethod
    def from_paths(cls, paths: Iterable[Sequence[str]], *, total: str = TOTAL, leaf_first: bool = False) -> "Hierarchy":
        """From rows that go from the top code down to the leaf; a code repeated along a row counts once.

        With `leaf_first` rows go from the leaf up, as ARX writes them; a last code that all rows share is the total.

        >>> Hierarchy.from_paths([("30", "20-39", "*"), ("41", "40-59", "*")], leaf_first=True).codes
        ('*', '20-39', '40-59', '30', '41')
        """
        if leaf_first:
            paths, total = _turned([tuple(path) for path in paths], total)
        children: dict[str, dict[str, None]] = {total: {}}
        parent_of: dict[str, str] = {}
        for path in paths:
            parent = total
            for code in path:
                if code == parent:
                    continue
                known = parent_of.setdefault(code, parent)
                if known != parent:
                    raise DataError(
                        f"Hierarchy: code {code!r} has two parents, {known!r} and {parent!r}; it may have one."
                    )
                children.setdefault(parent, {})[code] = None
                parent = code
        if not parent_of:
            raise DataError("Hierarchy: there is no code below the total; give one row for each leaf.")
        return cls.from_children({code: tuple(below) for code, below in children.items()}, total=total)


def _turned(rows: list[tuple[str, ...]], total: str) -> tuple[list[tuple[str, ...]], str]:
    """Rows from the leaf up as rows from the top down, and the total."""
    widths = {len(row) for row in rows}
    if not rows or len(widths) != 1 or widths == {0}:
        raise DataError("Hierarchy: every row must have as many levels as the first, the leaf first.")
    tops = {row[-1] for row in rows}
    if len(tops) == 1 and len(rows[0]) > 1:
        total = tops.pop()
        rows = [row[:-1] for row in rows]
    return [tuple(reversed(row)) for row in rows], total
