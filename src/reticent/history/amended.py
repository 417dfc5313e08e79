# SPDX-License-Identifier: Apache-2.0
"""Releases after something else was published beside them: what is known already is no longer watched as it was.

A release that is imported is out, whatever it exposes. Each watched sum that it brings too near is amended by its entry:
from then on what was still possible must stay possible.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import reduce
from typing import Any, TypeVar

from reticent.data.facts import Facts, Watch
from reticent.history.table_recipe import TableRecipe
from reticent.tabulation.ground import GroundedData


@dataclass(frozen=True)
class Amendment:
    """What is left of a watched sum: the ends that can still be reached (None: it is known), and whether respondents know it.

    `release` and `number` say which of the watches of which release (of one table, where several were released together).
    """

    release: str
    number: int
    ends: tuple[int, int] | None
    inside: bool = False

    def to_plain(self) -> list[Any]:
        """As a line of an entry."""
        return [self.release, self.number, None if self.ends is None else list(self.ends), self.inside]

    @classmethod
    def from_plain(cls, plain: Sequence[Any]) -> "Amendment":
        """Back from a line of an entry."""
        release, number, ends, inside = plain
        return cls(release, number, None if ends is None else (ends[0], ends[1]), inside)


@dataclass(frozen=True, eq=False)
class AmendedTables(TableRecipe):
    """Released tables whose watches were amended, by one import after the other."""

    amendments: tuple[tuple[Amendment, ...], ...] = field(default=(), repr=False)

    def facts(self, grounded: GroundedData, name: str) -> tuple[Facts, ...]:
        """What each of the tables tells, and what is still watched."""
        return tuple(reduce(_amended, self.amendments, facts) for facts in super().facts(grounded, name))


def _amended(facts: Facts, amendments: Sequence[Amendment]) -> Facts:
    watches: dict[int, Watch] = dict(enumerate(facts.watches))
    for one in amendments:
        if one.release != facts.release or one.number not in watches:
            continue
        if one.ends is None:
            del watches[one.number]
        else:
            low, high = one.ends
            own = watches[one.number]
            watches[one.number] = replace(own, low=low, high=high, known_inside=own.known_inside or one.inside)
    return replace(facts, watches=tuple(watches.values()))


R = TypeVar("R")


def with_amendments(recipes: Mapping[str, R], amendments: Sequence[Sequence[Sequence[Any]]]) -> dict[str, R]:
    """The recipes, each with what imports left of its watches; `amendments` has the lines of one import after the other."""
    every = tuple(tuple(Amendment.from_plain(line) for line in own) for own in amendments if own)
    return {name: _with(recipe, every) if every else recipe for name, recipe in recipes.items()}


def _with(recipe: Any, amendments: tuple[tuple[Amendment, ...], ...]) -> Any:
    if not isinstance(recipe, TableRecipe):
        return recipe
    return AmendedTables(**{one.name: getattr(recipe, one.name) for one in fields(recipe)}, amendments=amendments)
