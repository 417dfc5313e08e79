# SPDX-License-Identifier: Apache-2.0
"""A tree of categories and the terms that lead to them; any taxonomy that can be written as category, parent, terms."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from reticent.base.errors import DataError

MAX_WORDS = 5
"""A term has at most this many words."""

NONE = -1
_NOT_WORD = re.compile(r"[\W_]+")


def words_of(text: str) -> list[str]:
    """The words of a text in lower case, without punctuation."""
    return [word for word in _NOT_WORD.split(text.lower()) if word]


@dataclass(frozen=True, eq=False)
class Taxonomy:
    """Categories with their parents (−1 for roots), and each term's categories, the most fitting first."""

    names: tuple[str, ...]
    parents: NDArray[np.int32]
    terms: Mapping[str, tuple[int, ...]] = field(repr=False)
    ids: Mapping[str, int] = field(repr=False)

    def __repr__(self) -> str:
        return f"<Taxonomy {len(self.names)} categories, {len(self.terms)} terms, {self.depth} levels>"

    @property
    def depth(self) -> int:
        """The number of levels."""
        return int(self.paths().shape[1])

    def paths(self) -> NDArray[np.int32]:
        """For each category its ancestor at every level, the root first; −1 below its own level."""
        chains = []
        for category in range(len(self.names)):
            chain, at = [category], int(self.parents[category])
            while at != NONE:
                chain.append(at)
                at = int(self.parents[at])
            chains.append(chain[::-1])
        found = np.full((len(chains), max(map(len, chains))), NONE, dtype=np.int32)
        for category, chain in enumerate(chains):
            found[category, : len(chain)] = chain
        return found

    def find(self, text: str, *, most: int = 1) -> list[int]:
        """The categories of a query: of its longest terms from left to right, the first `most` of each term."""
        words = words_of(text)
        found: list[int] = []
        at = 0
        while at < len(words):
            for length in range(min(MAX_WORDS, len(words) - at), 0, -1):
                categories = self.terms.get(" ".join(words[at : at + length]))
                if categories:
                    found += categories[:most]
                    at += length
                    break
            else:
                at += 1
        return found


def make_taxonomy(rows: Iterable[tuple[str, str, str, Sequence[str]]], *, owner: str) -> Taxonomy:
    """A taxonomy from (id, parent id or "", name, terms); cycles, unknown parents and repeated ids are refused."""
    ids: dict[str, int] = {}
    names: list[str] = []
    parent_ids: list[str] = []
    terms: dict[str, list[int]] = {}
    for number, (key, parent, name, own_terms) in enumerate(rows):
        if key in ids:
            raise DataError(f"{owner}: the category {key!r} occurs twice; each may occur once.")
        ids[key] = number
        names.append(name)
        parent_ids.append(parent)
        for term in own_terms:
            text = " ".join(words_of(term)[:MAX_WORDS])
            if text and number not in terms.setdefault(text, []):
                terms[text].append(number)
    if not names:
        raise DataError(f"{owner}: has no categories.")
    unknown = next((parent for parent in parent_ids if parent and parent not in ids), None)
    if unknown is not None:
        raise DataError(f"{owner}: the parent {unknown!r} is not a category of the file.")
    parents = np.array([ids[parent] if parent else NONE for parent in parent_ids], dtype=np.int32)
    _refuse_cycles(parents, list(ids), owner)
    return Taxonomy(tuple(names), parents, {term: tuple(found) for term, found in terms.items()}, ids)


def _refuse_cycles(parents: NDArray[np.int32], keys: list[str], owner: str) -> None:
    settled = np.zeros(len(parents), dtype=bool)
    for start in range(len(parents)):
        path: dict[int, None] = {}
        at = start
        while at != NONE and not settled[at]:
            if at in path:
                raise DataError(
                    f"{owner}: the category {keys[at]!r} is an ancestor of itself; a taxonomy has no cycles."
                )
            path[at] = None
            at = int(parents[at])
        settled[list(path)] = True
