# SPDX-License-Identifier: Apache-2.0
"""Is a game coprivate: is it an equilibrium that one player asks another for help, and that the other helps?

The definitions are those of Domingo-Ferrer (SORT 35, 2011), with two corrections: a mixed equilibrium alone says nothing
(asking or helping may have probability 0), so the probability that help is asked for *and* given is reported; and a game
may have several equilibria, so each is named.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from reticent.base.doors import door, makers
from reticent.base.errors import ParameterError
from reticent.coprivacy.correlated import correlated
from reticent.coprivacy.equilibria import MAX_MIXED, Equilibrium, mixed, pure
from reticent.coprivacy.game import Game, Profile, exact


@makers
@dataclass(frozen=True)
class Question:
    """Who asks, by which strategy each helper is asked, and by which strategy that helper helps."""

    asker: str
    asks: Mapping[str, str]
    helps: Mapping[str, str]


@dataclass(frozen=True)
class _Pair:
    asker: int
    ask: int
    helper: int
    help: int

    def holds(self, profile: Profile) -> bool:
        return profile[self.asker] == self.ask and profile[self.helper] == self.help


@dataclass(frozen=True, eq=False)
class HelpFound:
    """An equilibrium in which a helper is asked and helps with this probability."""

    helper: str
    equilibrium: Equilibrium
    probability: Fraction


@dataclass(frozen=True, eq=False)
class Coprivacy:
    """The answer for each definition; `mixed` is None where it is not computed (more than two players)."""

    pure: tuple[HelpFound, ...]
    mixed: tuple[HelpFound, ...] | None
    correlated: tuple[HelpFound, ...]

    @property
    def coprivate(self) -> bool:
        """Whether a pure equilibrium has somebody asked who helps (the definition)."""
        return bool(self.pure)

    @property
    def mixed_probability(self) -> Fraction | None:
        """The largest P(ask)·P(help) over the mixed equilibria found."""
        return None if self.mixed is None else max((item.probability for item in self.mixed), default=Fraction(0))

    @property
    def correlated_probability(self) -> Fraction:
        """The largest probability of help that a correlated equilibrium gives."""
        return max((item.probability for item in self.correlated), default=Fraction(0))


def decide(game: Game, question: Question) -> Coprivacy:
    """Look for equilibria, pure, mixed and correlated, in which help is asked for and given."""
    pairs = _pairs(game, question)
    found_pure = tuple(_with_help(game, pairs, pure(game)))
    small = len(game.players) == 2 and max(game.shape) <= MAX_MIXED
    found_mixed = tuple(_with_help(game, pairs, mixed(game))) if small else None
    likeliest = []
    for pair in pairs:
        best = correlated(game, event=pair.holds)
        likeliest += _with_help(game, [pair], [best])
    return Coprivacy(found_pure, found_mixed, tuple(likeliest))


def _with_help(game: Game, pairs: Sequence[_Pair], equilibria: Sequence[Equilibrium]) -> list[HelpFound]:
    found = []
    for item in equilibria:
        for pair in pairs:
            probability = item.chance(pair.holds)
            if probability > 0:
                found.append(HelpFound(game.players[pair.helper], item, probability))
    return found


def _pairs(game: Game, question: Question) -> list[_Pair]:
    where = "coprivacy"
    asker = game.player(question.asker, where=where)
    if not question.asks or set(question.asks) != set(question.helps):
        raise ParameterError(
            f"{where}: asks and helps must name the same players, at least one; asks names "
            f"{', '.join(question.asks) or 'nobody'}, helps {', '.join(question.helps) or 'nobody'}."
        )
    pairs = []
    for name, ask in question.asks.items():
        helper = game.player(name, where=where)
        if helper == asker:
            raise ParameterError(f"{where}: {name} cannot be asked by the same player.")
        pairs.append(
            _Pair(
                asker, game.strategy(asker, ask, where=where),
                helper, game.strategy(helper, question.helps[name], where=where),
            )
        )  # fmt: skip
    return pairs


@door
def coprivate_share(games: Sequence[Game], question: Question, weights: Sequence[Any] | None = None) -> Fraction:
    """The probability that a game is coprivate when it is drawn from these: δ of δ-coprivacy."""
    shares = [Fraction(1)] * len(games) if weights is None else [exact(w, where="weights") for w in weights]
    if not games or len(shares) != len(games) or min(shares) < 0 or sum(shares) == 0:
        raise ParameterError("delta-coprivacy: needs games, and for each a weight of at least 0, not all of them 0.")
    held = sum((share for game, share in zip(games, shares, strict=True) if decide_pure(game, question)), Fraction(0))
    return held / sum(shares)


def decide_pure(game: Game, question: Question) -> bool:
    """Whether a pure equilibrium has help asked for and given: the definition alone, without the other equilibria."""
    return bool(_with_help(game, _pairs(game, question), pure(game)))
