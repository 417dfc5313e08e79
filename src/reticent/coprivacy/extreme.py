"""Extreme equilibria of a game of two players, in fractions: corners of the best-reply polyhedra that fit together.

A mixture of one player and the payoff of the other's best reply form a polyhedron; an equilibrium is extreme if both mixtures
are corners. Every equilibrium lies between extreme ones (Mangasarian 1964), so nothing that is largest at a corner is missed.
"""

import itertools
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from reticent.coprivacy.fractions_solve import solve_exactly
from reticent.coprivacy.game import Game

Mixture = tuple[Fraction, ...]
MOST_CORNERS = 20_000
"""Systems of equations that are solved for each player; larger games are left to the solver's proposals."""


@dataclass(frozen=True)
class _Corner:
    mixture: Mixture
    used: frozenset[int]
    best: frozenset[int]


def extreme_mixtures(game: Game) -> list[tuple[Mixture, Mixture]]:
    """All pairs of corners of which each uses only best replies to the other; none where there are too many to try."""
    of_first = game.payoffs[..., 0].T  # [strategy of the second, reply of the first]
    of_second = game.payoffs[..., 1]
    if max(_systems(of_first), _systems(of_second)) > MOST_CORNERS:
        return []
    seconds, firsts = _corners(of_first), _corners(of_second)
    return [
        (first.mixture, second.mixture)
        for first in firsts
        for second in seconds
        if first.used <= second.best and second.used <= first.best
    ]


def _systems(payoffs: NDArray[np.object_]) -> int:
    strategies, replies = payoffs.shape
    count = 1
    for number in range(strategies):
        count = count * (strategies + replies - number) // (number + 1)
    return count


def _corners(payoffs: NDArray[np.object_]) -> list[_Corner]:
    """Corners of {(x, v): x ≥ 0, Σ x = 1, every reply earns at most v}, for `payoffs[strategy, reply]`."""
    strategies, replies = payoffs.shape
    zero, one = Fraction(0), Fraction(1)
    tight = [[one if at == s else zero for at in range(strategies)] + [zero] for s in range(strategies)]
    tight += [[*(payoffs[s, reply] for s in range(strategies)), -one] for reply in range(replies)]
    whole = [one] * strategies + [zero]
    found: dict[Mixture, _Corner] = {}
    for chosen in itertools.combinations(range(len(tight)), strategies):
        solved = solve_exactly([*(tight[at] for at in chosen), whole], [*([zero] * strategies), one])
        if solved is None or min(solved[:-1]) < 0 or tuple(solved[:-1]) in found:
            continue
        mixture, value = tuple(solved[:-1]), solved[-1]
        earned = [sum((m * payoffs[s, r] for s, m in enumerate(mixture)), zero) for r in range(replies)]
        if max(earned) <= value:
            used = frozenset(s for s, share in enumerate(mixture) if share)
            found[mixture] = _Corner(mixture, used, frozenset(r for r, e in enumerate(earned) if e == value))
    return list(found.values())
