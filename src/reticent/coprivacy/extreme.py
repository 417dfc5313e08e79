# SPDX-License-Identifier: Apache-2.0
"""Extreme equilibria of a game of two players, in fractions: corners of the best-reply polyhedra that fit together.

A mixture of one player and the payoff of the other's best reply form a polyhedron; an equilibrium is extreme if both mixtures
are corners. Every equilibrium lies between extreme ones (Mangasarian 1964), so nothing that is largest at a corner is missed.
"""

import functools
from dataclasses import dataclass
from fractions import Fraction

from reticent.coprivacy.exact_program import Exact, Tableau
from reticent.coprivacy.game import Game

Mixture = tuple[Fraction, ...]


@dataclass(frozen=True)
class Corner:
    """A corner: the mixture, the strategies in use, and the other player's best replies to it."""

    mixture: Mixture
    used: frozenset[int]
    best: frozenset[int]


def extreme_mixtures(game: Game) -> list[tuple[Mixture, Mixture]]:
    """All pairs of corners of which each uses only best replies to the other."""
    firsts, seconds = corners(game)
    return [
        (first.mixture, second.mixture)
        for first in firsts
        for second in seconds
        if first.used <= second.best and second.used <= first.best
    ]


@functools.lru_cache(maxsize=4)
def corners(game: Game) -> tuple[list[Corner], list[Corner]]:
    """The corners of the first and of the second player's mixtures.

    A mixture with more best replies than strategies of its own lies on a face whose corners have too many as well, so the
    corners decide whether a game is degenerate.
    """
    return _corners(game.payoffs[..., 1]), _corners(game.payoffs[..., 0].T)


def _corners(payoffs: Exact) -> list[Corner]:
    """Corners of {x ≥ 0: every reply earns at most 1}, scaled to probabilities, for `payoffs[strategy, reply]`.

    Payoffs are moved above 0, which changes no best reply and bounds the polytope. From x = 0 the search goes to every
    neighbour, over all ties, so no corner is missed.
    """
    strategies, replies = payoffs.shape
    moved = payoffs - payoffs.min() + ((payoffs.max() - payoffs.min()) or Fraction(1))
    start = Tableau.of(moved.T, [Fraction(1)] * replies)
    seen, waiting = {frozenset(start.basis)}, [start]
    found: dict[Mixture, Corner] = {}
    while waiting:
        at = waiting.pop()
        shares = at.values()
        if total := sum(shares, Fraction(0)):
            mixture = tuple(share / total for share in shares)
            used = frozenset(s for s, share in enumerate(mixture) if share)
            earned = [sum((m * moved[s, r] for s, m in enumerate(shares)), Fraction(0)) for r in range(replies)]
            found[mixture] = Corner(mixture, used, frozenset(r for r, own in enumerate(earned) if own == 1))
        for column in range(strategies):
            for row in at.leaving(column):
                basis = frozenset(at.basis) - {at.basis[row]} | {at.outside[column]}
                if basis not in seen:
                    seen.add(basis)
                    waiting.append(at.moved(row, column))
    return list(found.values())
