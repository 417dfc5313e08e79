# SPDX-License-Identifier: Apache-2.0
"""A game of two played again and again: machines such as tit-for-tat, and how far each is from an equilibrium.

Against a machine the best reply is a Markov decision problem over the machine's states; its value is computed exactly
by policy iteration in fractions, so the gain of the best deviation is a fact, not an estimate. Payoffs are per round:
discounted sums times 1 − δ.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from reticent.base.errors import ParameterError
from reticent.coprivacy.game import Game, exact

ACTIONS = 2
"""Machines answer one of two actions with one of two: hide (0) or publish (1)."""


@dataclass(frozen=True)
class Machine:
    """A strategy of a repeated game: `action[state]`, and the next state `after[state][action of the other]`."""

    name: str
    start: int
    action: tuple[int, ...]
    after: tuple[tuple[int, int], ...]


TIT_FOR_TAT = Machine("tit-for-tat", 1, (0, 1), ((0, 1), (0, 1)))
GRIM = Machine("grim", 1, (0, 1), ((0, 0), (0, 1)))


def reputation(levels: int, needed: int) -> Machine:
    """Publish to whoever has at least the reputation `needed`; it rises and falls by 1 between 0 and `levels`."""
    if not 1 <= needed <= levels <= 50:
        raise ParameterError("reputation: needs 1 ≤ needed ≤ levels ≤ 50.")
    action = tuple(int(score >= needed) for score in range(levels + 1))
    after = tuple((max(0, score - 1), min(levels, score + 1)) for score in range(levels + 1))
    return Machine(f"reputation {needed} of {levels}", levels, action, after)


def discount(value: Any) -> Fraction:
    """A discount factor: 0 ≤ δ < 1."""
    found = exact(value, where="discount")
    if not 0 <= found < 1:
        raise ParameterError("discount: must be at least 0 and less than 1.")
    return found


def value_of(game: Game, first: Machine, second: Machine, delta: Any) -> tuple[Fraction, Fraction]:
    """What both machines earn per round when they meet: exact, since their states repeat after a while."""
    factor = discount(delta)
    _two_actions(game)
    path: list[tuple[int, int]] = []
    state = (first.start, second.start)
    while state not in path:
        path.append(state)
        mine, theirs = first.action[state[0]], second.action[state[1]]
        state = (first.after[state[0]][theirs], second.after[state[1]][mine])
    loop = path.index(state)
    totals = []
    for player in (0, 1):
        earned = [game.payoff((first.action[a], second.action[b]), player) for a, b in path]
        head = sum((factor**t * earned[t] for t in range(loop)), Fraction(0))
        round_trip = sum((factor**t * earned[t] for t in range(loop, len(path))), Fraction(0))
        totals.append((1 - factor) * (head + round_trip / (1 - factor ** (len(path) - loop))))
    return totals[0], totals[1]


def best_reply_value(game: Game, machine: Machine, delta: Any) -> Fraction:
    """The most that the first player can earn per round against a machine, by any strategy whatever."""
    factor = discount(delta)
    _two_actions(game)
    states = range(len(machine.action))
    policy = [0] * len(states)
    while True:
        values = [_follow(game, machine, policy, factor, state) for state in states]
        better = [max(range(ACTIONS), key=lambda a: _step(game, machine, values, factor, s, a)) for s in states]
        gains = [
            _step(game, machine, values, factor, s, better[s]) > _step(game, machine, values, factor, s, policy[s])
            for s in states
        ]
        if not any(gains):
            return (1 - factor) * values[machine.start]
        policy = [better[s] if gains[s] else policy[s] for s in states]


def _step(game: Game, machine: Machine, values: list[Fraction], factor: Fraction, state: int, action: int) -> Fraction:
    return game.payoff((action, machine.action[state]), 0) + factor * values[machine.after[state][action]]


def _follow(game: Game, machine: Machine, policy: list[int], factor: Fraction, state: int) -> Fraction:
    """The discounted sum from a state on: the path runs into a loop, whose sum is a geometric series."""
    path: list[int] = []
    while state not in path:
        path.append(state)
        state = machine.after[state][policy[state]]
    loop = path.index(state)
    earned = [game.payoff((policy[s], machine.action[s]), 0) for s in path]
    head = sum((factor**t * earned[t] for t in range(loop)), Fraction(0))
    tail = sum((factor**t * earned[t] for t in range(loop, len(path))), Fraction(0))
    return head + tail / (1 - factor ** (len(path) - loop))


def deviation(game: Game, machine: Machine, delta: Any) -> Fraction:
    """What a player gains by leaving the machine while the other keeps to it: the ε of its ε-equilibrium."""
    return best_reply_value(game, machine, delta) - value_of(game, machine, machine, delta)[0]


def _two_actions(game: Game) -> None:
    symmetric = game.shape == (2, 2) and bool((game.payoffs[..., 0] == game.payoffs[..., 1].T).all())
    if not symmetric:
        raise ParameterError("repeated game: needs a symmetric game of two players with two strategies each.")
