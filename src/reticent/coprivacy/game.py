# SPDX-License-Identifier: Apache-2.0
"""A finite game as data: players, strategies, a payoff for every player in every profile; payoffs are fractions."""

import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.base.checks import check_unique, did_you_mean
from reticent.base.errors import ParameterError

MAX_PROFILES = 65_536
"""Profiles beyond which a game is refused: every one is looked at, some by linear programs."""

LARGEST = 10**12
_EXPONENT = re.compile(r"[eE][+-]?\d{3,}")

Profile = tuple[int, ...]
Payoffs = NDArray[np.object_]


def exact(value: object, *, where: str) -> Fraction:
    """A number, or a text such as "1/2", as a fraction; anything else is refused."""
    wrong = f"{where} must be a finite number or a fraction such as '1/2'."
    if isinstance(value, Fraction):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ParameterError(wrong)
    try:
        text = str(value)
        if len(text) > 40 or _EXPONENT.search(text):  # 1e999999999 would take for ever to write out
            raise ValueError
        found = Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise ParameterError(wrong) from None
    if abs(found) > LARGEST:
        raise ParameterError(f"{where} must be between -{LARGEST} and {LARGEST}.")
    return found


@dataclass(frozen=True, eq=False)
class Game:
    """Players, their strategies, and `payoffs[s1, …, sN, i]`: what player i gets when profile s is played.

    >>> game = two_player("a", "b", ("H", "P"), ("H", "P"), [[0, 1], [0, "1/2"]], [[0, 0], [1, "1/2"]])
    >>> game.payoff((1, 1), 0)
    Fraction(1, 2)
    """

    players: tuple[str, ...]
    strategies: tuple[tuple[str, ...], ...]
    payoffs: Payoffs = field(repr=False)

    def __post_init__(self) -> None:
        check_unique(self.players, name="players", owner="game")
        if len(self.players) < 1 or len(self.strategies) != len(self.players):
            raise ParameterError(
                "game: every player needs a list of strategies, and there must be at least one player."
            )
        for player, names in zip(self.players, self.strategies, strict=True):
            check_unique(names, name=f"the strategies of {player}", owner="game")
            if not names:
                raise ParameterError(f"game: {player} has no strategy; give at least one.")
        check_size(self.shape)
        if self.payoffs.shape != (*self.shape, len(self.players)):
            raise ParameterError(f"game: payoffs must have the shape {(*self.shape, len(self.players))}.")

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of strategies of each player."""
        return tuple(len(names) for names in self.strategies)

    @property
    def floats(self) -> NDArray[np.float64]:
        """Payoffs as floating-point numbers, for solvers."""
        return self.payoffs.astype(np.float64)

    def profiles(self) -> Iterator[Profile]:
        """Every combination of strategies, by number."""
        return itertools.product(*(range(count) for count in self.shape))

    def payoff(self, profile: Profile, player: int) -> Fraction:
        """What a player gets in a profile."""
        value: Fraction = self.payoffs[(*profile, player)]
        return value

    def player(self, name: str, *, where: str = "game") -> int:
        """The number of a player."""
        if name not in self.players:
            raise ParameterError(f"{where}: there is no player {name!r}.{did_you_mean(name, self.players)}")
        return self.players.index(name)

    def strategy(self, player: int, name: str, *, where: str = "game") -> int:
        """The number of a strategy of a player."""
        known = self.strategies[player]
        if name not in known:
            raise ParameterError(
                f"{where}: {self.players[player]} has no strategy {name!r}; known are {', '.join(known)}."
                f"{did_you_mean(name, known)}"
            )
        return known.index(name)

    def named(self, profile: Profile) -> str:
        """A profile in words: (Hide, Publish)."""
        return "(" + ", ".join(names[chosen] for names, chosen in zip(self.strategies, profile, strict=True)) + ")"


def check_size(shape: Sequence[int]) -> None:
    """Refuse a game whose profiles are too many to look at."""
    count = math.prod(shape)
    if count > MAX_PROFILES:
        raise ParameterError(
            f"game: {count} profiles are more than the {MAX_PROFILES} that can be examined one by one."
        )


def game_from(
    players: Sequence[str], strategies: Sequence[Sequence[str]], payoff: Callable[[Profile], Sequence[Any]]
) -> Game:
    """A game whose payoffs a function gives, profile by profile."""
    shape = tuple(len(names) for names in strategies)
    check_size(shape)
    payoffs = np.empty((*shape, len(players)), dtype=object)
    for profile in itertools.product(*(range(count) for count in shape)):
        values = payoff(profile)
        for player, value in enumerate(values):
            payoffs[(*profile, player)] = exact(value, where="game: a payoff")
    return Game(tuple(players), tuple(tuple(names) for names in strategies), payoffs)


def two_player(
    first: str, second: str, rows: Sequence[str], columns: Sequence[str],
    of_first: Sequence[Sequence[Any]], of_second: Sequence[Sequence[Any]],
) -> Game:  # fmt: skip
    """A game of two players from their two matrices (rows: strategies of the first)."""
    for name, matrix in (("first", of_first), ("second", of_second)):
        if len(matrix) != len(rows) or any(len(row) != len(columns) for row in matrix):
            raise ParameterError(
                f"game: the matrix of the {name} player must have {len(rows)} rows and {len(columns)} columns."
            )
    return game_from((first, second), (rows, columns), lambda s: (of_first[s[0]][s[1]], of_second[s[0]][s[1]]))


def combined(components: Mapping[str, Game], weights: Mapping[str, Any]) -> Game:
    """One game from components of utility (privacy, functionality, security): the weighted sum of their payoffs."""
    unknown = [name for name in weights if name not in components]
    if unknown:
        raise ParameterError(
            f"weights: there is no component {unknown[0]!r}; known are {', '.join(components)}."
            f"{did_you_mean(unknown[0], components)}"
        )
    missing = [name for name in components if name not in weights]
    if missing:
        raise ParameterError(f"weights: the component {missing[0]!r} has no weight; 0 leaves it out.")
    games = list(components.values())
    total = sum(
        (exact(weights[name], where=f"weights: {name}") * game.payoffs for name, game in components.items()),
        start=np.full_like(games[0].payoffs, Fraction(0)),
    )
    return Game(games[0].players, games[0].strategies, total)
