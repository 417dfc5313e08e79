# SPDX-License-Identifier: Apache-2.0
"""Correlated equilibria and max-min strategies by linear programs: in whole numbers where the game is small enough.

Larger games are solved in floating point, with each player's payoffs scaled to lengths of 1 (which changes no equilibrium);
what the solver proposes is then measured in fractions, and `exact` says whether nobody gains at all by deviating.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from reticent.base.checks import check_choice
from reticent.base.doors import door
from reticent.base.errors import ParameterError, SolverError
from reticent.coprivacy.equilibria import (
    DENOMINATORS,
    Distribution,
    Equilibrium,
    Mixture,
    deviation_gain,
    deviation_gains,
    expected,
    simplified,
)
from reticent.coprivacy.exact_program import Exact, maximise_exactly
from reticent.coprivacy.game import Game, Profile, exact
from reticent.solve.highs import solve
from reticent.solve.model import INFINITE, LinearModel, Status

MAX_EXACT = 15_000
"""Entries (rows times columns) up to which a linear program is solved in whole numbers."""

MAX_CORRELATED = 30_000_000
"""Profiles times squared numbers of strategies, added up over players, beyond which a game is refused."""

TOLERANCE = Fraction(1, 10**7)
"""Gain by deviating that rounding may leave in a large game, as a share of the range of the player's payoffs."""

OBJECTIVES = ("fair", "welfare")
Event = Callable[[Profile], bool]


@door
def correlated(game: Game, objective: str = "fair", *, event: Event | None = None, allowed: Any = 0) -> Equilibrium:
    """A correlated equilibrium: the fairest (largest least payoff), the largest sum, or the likeliest `event`.

    With `allowed` > 0 an ε-correlated equilibrium: nobody gains more than that by deviating.
    """
    check_choice(objective, OBJECTIVES, name="objective", owner="correlated equilibrium")
    most = exact(allowed, where="correlated equilibrium: allowed")
    if most < 0:
        raise ParameterError("correlated equilibrium: allowed must be at least 0.")
    profiles = list(game.profiles())
    if len(profiles) * sum(count * count for count in game.shape) > MAX_CORRELATED:
        raise ParameterError(
            f"correlated equilibrium: {len(profiles)} profiles with this many strategies are too many for its linear "
            "program; use fewer strategies, or ask for pure equilibria."
        )
    program = _Correlated(game, profiles, most)
    found = solve(program.model(objective, event))
    if found.status is not Status.OPTIMAL:
        raise SolverError("correlated equilibrium: the linear program has no solution, although one always exists.")
    if program.n_rows * program.n_columns <= MAX_EXACT:
        shares = maximise_exactly(*program.exactly(objective, event), found.values, found.row_duals)
        if shares is not None:
            return _judged(game, dict(zip(profiles, shares[: len(profiles)], strict=True)), most)
    return _verified(game, profiles, found.values[: len(profiles)], most)


class _Correlated:
    """The linear program: shares of the profiles, gains by deviating for each recommendation, the least payoff.

    Shares add up to at most 1 and every profile is worth something (1 more than the objective gives it), so in an optimum
    they add up to 1: what is missing can be filled with any correlated equilibrium, and there always is one.
    """

    def __init__(self, game: Game, profiles: list[Profile], allowed: Fraction) -> None:
        self.profiles, self.shape = profiles, game.shape
        self.payoffs = _unit(game.payoffs)  # compared between players
        self.spans = [_span(game.payoffs[..., player]) or Fraction(1) for player in range(len(game.players))]
        self.own = [game.payoffs[..., player] / span for player, span in enumerate(self.spans)]
        self.allowed = [allowed / span for span in self.spans]
        told = [(player, own) for player, count in enumerate(game.shape) for own in range(count)]
        self.told, self.n_slack = told, len(told) if allowed else 0
        self.n_columns = len(profiles) + self.n_slack + 1
        self.n_rows = 1 + sum(count * (count - 1) for count in game.shape) + len(game.shape) * (2 if allowed else 1)

    def exactly(self, objective: str, event: Event | None) -> tuple[list[Fraction], Exact, list[Fraction]]:
        """Costs, rows and right-hand sides in fractions."""
        zeros = np.full((self.n_rows, self.n_columns), Fraction(0), dtype=object)
        rows, right = self._filled(zeros, self.own, self.payoffs)
        return self._costs(objective, event), rows, right

    def model(self, objective: str, event: Event | None) -> LinearModel:
        """The same program for a solver in floating point."""
        own = [mine.astype(np.float64) for mine in self.own]
        zeros = np.zeros((self.n_rows, self.n_columns))
        rows, right = self._filled(zeros, own, self.payoffs.astype(np.float64))
        costs = np.array([float(cost) for cost in self._costs(objective, event)])
        lower, upper = np.zeros(self.n_columns), np.full(self.n_columns, INFINITE)
        below = np.full(self.n_rows, -INFINITE)
        return LinearModel(
            costs, lower, upper, sparse.csr_array(rows), below, np.array([float(r) for r in right]), maximise=True
        )

    def _filled(self, rows: Any, own: list[Any], payoffs: Any) -> tuple[Any, list[Fraction]]:
        """Rows (in fractions or floating point, as given) that are at most the right-hand sides."""
        count, one, at = len(self.profiles), Fraction(1), 1
        right = [one] + [Fraction(0)] * (self.n_rows - 1)
        rows[0, :count] = one
        for place, (player, told) in enumerate(self.told):
            for other in range(self.shape[player]):
                if other != told:
                    rows[at, :count] = _gains(own[player], player, told, other)
                    if self.n_slack:
                        rows[at, count + place] = -one
                    at += 1
        for player, allowed in enumerate(self.allowed):
            rows[at, :count], rows[at, -1] = -payoffs[..., player].reshape(-1), one
            at += 1
            if self.n_slack:
                rows[at, [count + place for place, (whose, _) in enumerate(self.told) if whose == player]] = one
                right[at] = allowed
                at += 1
        return rows, right

    def _costs(self, objective: str, event: Event | None) -> list[Fraction]:
        if event is not None:
            worth = [Fraction(int(event(profile))) for profile in self.profiles]
        elif objective == "welfare":
            worth = list(self.payoffs.sum(axis=-1).reshape(-1))
        else:
            worth = [Fraction(0)] * len(self.profiles)
        fair = Fraction(int(event is None and objective == "fair"))
        return [*(1 + own for own in worth), *([Fraction(0)] * self.n_slack), fair]


def _gains(mine: Any, player: int, told: int, other: int) -> Any:
    """What a player gains in each profile who plays `other` against the advice (0 where the advice is another)."""
    moved = np.moveaxis(mine, player, 0)
    gains = moved * 0
    gains[told] = moved[other] - moved[told]
    return np.moveaxis(gains, 0, player).reshape(-1)


def _span(payoffs: Exact) -> Fraction:
    found: Fraction = payoffs.max() - payoffs.min()
    return found


def _unit(payoffs: Exact) -> Exact:
    """Payoffs moved and scaled to reach from 0 to 1: the order of all distributions stays the same."""
    moved: Exact = (payoffs - payoffs.min()) / (_span(payoffs) or Fraction(1))
    return moved


def _judged(game: Game, shares: Distribution, allowed: Fraction) -> Equilibrium:
    """A distribution with its payoffs and the gain of the best deviation, in fractions."""
    distribution = {profile: share for profile, share in shares.items() if share}
    gain = deviation_gain(game, distribution)
    return Equilibrium("correlated", distribution, expected(game, distribution), gain, gain <= allowed)


def _verified(game: Game, profiles: list[Profile], shares: NDArray[np.float64], allowed: Fraction) -> Equilibrium:
    """What the solver proposed, in fractions: exactly an equilibrium, or up to rounding of each player's own payoffs."""
    nearly: Equilibrium | None = None
    for limit in DENOMINATORS:
        item = _judged(game, dict(zip(profiles, simplified(shares, limit), strict=True)), allowed)
        if item.exact:
            return item
        gains = deviation_gains(game, item.distribution)
        if all(gain <= allowed + TOLERANCE * _span(game.payoffs[..., p]) for p, gain in enumerate(gains)):
            nearly = item
    if nearly is None:
        raise SolverError("correlated equilibrium: what the solver proposed does not hold when checked in fractions.")
    return nearly


@dataclass(frozen=True)
class Security:
    """What a player can make sure of alone: a mixed strategy and the least it earns, whatever the others do."""

    player: int
    mixture: Mixture
    value: Fraction


def security(game: Game, player: int) -> Security:
    """The max-min strategy of a player by a linear program; its value is recomputed in fractions."""
    mine = np.moveaxis(game.payoffs[..., player], player, 0).reshape(game.shape[player], -1)
    count, others = mine.shape
    rows = np.full((others + 1, count + 1), Fraction(0), dtype=object)
    rows[:others, :count], rows[:others, count] = -_unit(mine).T, Fraction(1)
    rows[others, :count] = Fraction(1)
    costs, right = [Fraction(1)] * (count + 1), [Fraction(0)] * others + [Fraction(1)]
    found = solve(
        LinearModel(
            np.ones(count + 1), np.zeros(count + 1), np.full(count + 1, INFINITE),
            sparse.csr_array(rows.astype(np.float64)), np.full(others + 1, -INFINITE),
            np.array([float(value) for value in right]), maximise=True,
        )
    )  # fmt: skip
    if found.status is not Status.OPTIMAL:
        raise SolverError("max-min strategy: the linear program has no solution, although one always exists.")
    mixtures = [simplified(found.values[:count], limit) for limit in DENOMINATORS]
    if rows.size <= MAX_EXACT:
        proved = maximise_exactly(costs, rows, right, found.values, found.row_duals)
        mixtures += [] if proved is None else [tuple(proved[:count])]
    value, mixture = max((_least(mine, own), own) for own in mixtures)
    return Security(player, mixture, value)


def _least(mine: Exact, mixture: Mixture) -> Fraction:
    """What a mixture earns at least, whatever the others do."""
    return min(sum((s * v for s, v in zip(mixture, column, strict=True)), Fraction(0)) for column in mine.T)
