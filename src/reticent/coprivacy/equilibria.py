# SPDX-License-Identifier: Apache-2.0
"""Equilibria of a game: pure by comparison, mixed by corners of the best-reply polyhedra and nashpy; all in fractions.

What nashpy proposes is taken only if nobody gains by deviating, not even a little: a tolerance would be too wide for
games with small payoffs and too narrow for games with large ones.
"""

import itertools
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from reticent.base.doors import door
from reticent.base.errors import ParameterError
from reticent.base.optional import need
from reticent.coprivacy.extreme import corners, extreme_mixtures
from reticent.coprivacy.fractions_solve import solve_exactly
from reticent.coprivacy.game import Game, Profile

MAX_MIXED = 7
"""Strategies of a player up to which all mixed equilibria are enumerated (supports grow as 2 to this power)."""

DENOMINATORS = (10**3, 10**6, 10**9)
"""Tried in this order for probabilities that a solver gives as floating-point numbers."""

_NASHPY_TOLERANCE = 1e-9  # of payoffs scaled to [0, 1]; what it lets through too much is refused by the verification

Mixture = tuple[Fraction, ...]
Distribution = dict[Profile, Fraction]


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """A distribution over profiles from which nobody gains more than `gain` by deviating.

    `mixture` has the players' own probabilities where they play independently (pure and mixed equilibria).
    """

    kind: str
    distribution: Distribution
    payoffs: tuple[Fraction, ...]
    gain: Fraction
    exact: bool
    mixture: tuple[Mixture, ...] | None = None

    def chance(self, event: Callable[[Profile], bool]) -> Fraction:
        """The probability that the profile played satisfies a condition."""
        return sum((share for profile, share in self.distribution.items() if event(profile)), Fraction(0))


@door
def pure(game: Game) -> list[Equilibrium]:
    """All profiles in which every player's strategy is a best reply: exact, by comparison."""
    good = np.ones(game.shape, dtype=bool)
    for player in range(len(game.players)):
        mine = game.payoffs[..., player]
        good &= mine == mine.max(axis=player, keepdims=True)
    return [_at(game, tuple(int(part) for part in profile)) for profile in np.argwhere(good)]


def _at(game: Game, profile: Profile) -> Equilibrium:
    mixture = tuple(
        tuple(Fraction(int(number == chosen)) for number in range(count))
        for chosen, count in zip(profile, game.shape, strict=True)
    )
    payoffs = tuple(game.payoff(profile, player) for player in range(len(game.players)))
    return Equilibrium("pure", {profile: Fraction(1)}, payoffs, Fraction(0), True, mixture)


def dominant(game: Game, player: int, *, strictly: bool = False) -> list[int]:
    """Strategies of a player that are best whatever the others do (weakly: never worse; strictly: always better)."""
    mine = np.moveaxis(game.payoffs[..., player], player, 0).reshape(game.shape[player], -1)
    found = []
    for number, row in enumerate(mine):
        others = np.delete(mine, number, axis=0)
        if bool(np.all(row > others if strictly else row >= others)):
            found.append(number)
    return found


def expected(game: Game, distribution: Distribution) -> tuple[Fraction, ...]:
    """What each player gets on average."""
    return tuple(
        sum((share * game.payoff(profile, player) for profile, share in distribution.items()), Fraction(0))
        for player in range(len(game.players))
    )


def deviation_gain(game: Game, distribution: Distribution) -> Fraction:
    """The most that a player gains on average by answering each recommended strategy with the best other one."""
    return max(deviation_gains(game, distribution))


def deviation_gains(game: Game, distribution: Distribution) -> tuple[Fraction, ...]:
    """What each player gains on average by answering each recommended strategy with the best other one."""
    found = []
    for player, count in enumerate(game.shape):
        gains = [[Fraction(0)] * count for _ in range(count)]  # [recommended][played instead]
        for profile, share in distribution.items():
            now = game.payoff(profile, player)
            for other in range(count):
                moved = (*profile[:player], other, *profile[player + 1 :])
                gains[profile[player]][other] += share * (game.payoff(moved, player) - now)
        found.append(sum((max(own) for own in gains), Fraction(0)))
    return tuple(found)


def independent(mixture: Sequence[Mixture]) -> Distribution:
    """The distribution over profiles when players draw on their own; profiles that never occur are left out."""
    found: Distribution = {}
    for profile in itertools.product(*(range(len(own)) for own in mixture)):
        share = Fraction(1)
        for own, chosen in zip(mixture, profile, strict=True):
            share *= own[chosen]
        if share:
            found[profile] = share
    return found


def mixed(game: Game) -> list[Equilibrium]:
    """Equilibria of a game of two players in mixed strategies, pure ones included, each verified.

    The extreme equilibria are enumerated in fractions: all equilibria of a game that is not degenerate; of a degenerate one
    (see `is_degenerate`) the corners of the continuum. A product of two probabilities is largest at one of them.
    """
    _two_players(game, "mixed equilibria")
    if max(game.shape) > MAX_MIXED:
        raise ParameterError(f"mixed equilibria: enumerated for at most {MAX_MIXED} strategies per player.")
    found = {item.mixture: item for item in pure(game)}
    for mixture in extreme_mixtures(game):
        found.setdefault(mixture, _judged(game, mixture))
    for strategies in _proposed(game):
        proposed = _verified(game, strategies)
        if proposed is not None:
            found.setdefault(proposed.mixture, proposed)
    return list(found.values())


def _proposed(game: Game) -> list[list[NDArray[np.float64]]]:
    """What nashpy finds: also points of degenerate games, whose supports differ in size."""
    nashpy = need("nashpy", extra="games", purpose="mixed equilibria")
    players = nashpy.Game(*(_scaled(game.floats[..., player]) for player in (0, 1)))
    found: list[list[NDArray[np.float64]]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nashpy warns of degenerate games; `is_degenerate` decides that
        for search in (players.support_enumeration, players.vertex_enumeration):
            try:
                found += [[np.asarray(own, dtype=np.float64) for own in pair] for pair in search()]
            except (ValueError, RuntimeError, IndexError, TypeError):
                continue  # vertices of a degenerate game: what the other search found stands
    return found


def _two_players(game: Game, what: str) -> None:
    if len(game.players) != 2:
        raise ParameterError(
            f"{what}: computed for two players, this game has {len(game.players)}; "
            "pure and correlated equilibria are computed for any number."
        )


def _scaled(payoffs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Payoffs moved to [0, 1]: equilibria stay the same, and one tolerance fits all games."""
    span = float(payoffs.max() - payoffs.min())
    scaled: NDArray[np.float64] = (payoffs - payoffs.min()) / (span or 1.0)
    return scaled


def _verified(game: Game, strategies: list[NDArray[np.float64]]) -> Equilibrium | None:
    """The proposed mixture in fractions, from its supports if they determine it; None if it is not an equilibrium."""
    if any(not np.isfinite(own).all() for own in strategies):
        return None
    supports = [tuple(int(s) for s in np.flatnonzero(own > _NASHPY_TOLERANCE)) for own in strategies]
    solved = _on_supports(game, *supports)
    candidates = [] if solved is None else [solved]
    candidates += [tuple(simplified(own, limit) for own in strategies) for limit in DENOMINATORS]
    judged = (_judged(game, mixture) for mixture in candidates)
    return next((item for item in judged if item.exact), None)


def _judged(game: Game, mixture: tuple[Mixture, ...]) -> Equilibrium:
    """A mixture with its payoffs and the gain of the best deviation, in fractions."""
    distribution = independent(mixture)
    gain = deviation_gain(game, distribution)
    kind = "pure" if len(distribution) == 1 else "mixed"
    return Equilibrium(kind, distribution, expected(game, distribution), gain, gain == 0, mixture)


def _on_supports(game: Game, first: tuple[int, ...], second: tuple[int, ...]) -> tuple[Mixture, ...] | None:
    """The mixtures on these supports that make the other player's strategies in use equally good."""
    mine = _indifference(game.payoffs[..., 1], first, second)
    theirs = None if mine is None else _indifference(game.payoffs[..., 0].T, second, first)
    return None if mine is None or theirs is None else (mine, theirs)


def _indifference(payoffs: NDArray[np.object_], own: tuple[int, ...], other: tuple[int, ...]) -> Mixture | None:
    """`payoffs[own, other]`: what the other player's strategies earn; None unless exactly one mixture equals them."""
    if len(own) != len(other):
        return None
    rows = [[*(payoffs[s, reply] for s in own), Fraction(-1)] for reply in other]
    rows.append([*([Fraction(1)] * len(own)), Fraction(0)])
    found = solve_exactly(rows, [*([Fraction(0)] * len(other)), Fraction(1)])
    if found is None or min(found[:-1]) < 0:
        return None
    shares = dict(zip(own, found[:-1], strict=True))
    return tuple(shares.get(strategy, Fraction(0)) for strategy in range(len(payoffs)))


def simplified(shares: NDArray[np.float64], limit: int) -> Mixture:
    """Probabilities near these, with denominators up to a limit, that add up to 1."""
    parts = [max(Fraction(0), Fraction(float(share)).limit_denominator(limit)) for share in shares]
    total = sum(parts, Fraction(0))
    return tuple(part / total for part in parts)


def is_degenerate(game: Game) -> bool:
    """Whether a mixed strategy has more pure best replies than strategies of its own: then equilibria may be a continuum."""
    _two_players(game, "degeneracy")
    if max(game.shape) > MAX_MIXED:
        raise ParameterError(f"degeneracy: decided for at most {MAX_MIXED} strategies per player.")
    return any(len(corner.best) > len(corner.used) for side in corners(game) for corner in side)
