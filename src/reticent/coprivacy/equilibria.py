"""Equilibria of a game: pure by comparison, mixed by supports and nashpy, correlated and max-min by linear programs.

Whatever a solver proposes is verified here in fractions: an `Equilibrium` carries the most that any player could gain
by deviating, and `exact` says whether that was computed without rounding.
"""

import itertools
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from reticent.base.checks import check_choice
from reticent.base.errors import ParameterError, SolverError
from reticent.base.optional import need
from reticent.coprivacy.extreme import extreme_mixtures
from reticent.coprivacy.fractions_solve import solve_exactly
from reticent.coprivacy.game import Game, Profile
from reticent.solve.highs import solve
from reticent.solve.model import INFINITE, LinearModel, Status

TOLERANCE = Fraction(1, 10**7)
"""Largest gain by deviation that counts as none where probabilities are known only up to rounding."""

MAX_MIXED = 7
"""Strategies of a player up to which all mixed equilibria are enumerated (supports grow as 2 to this power)."""

MAX_CORRELATED = 30_000_000
"""Entries of the linear program of correlated equilibria beyond which a game is refused."""

_DENOMINATORS = (10**3, 10**6, 10**9)
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
    largest = Fraction(0)
    for player, count in enumerate(game.shape):
        total = Fraction(0)
        for told in range(count):
            gains = [Fraction(0)] * count
            for profile, share in distribution.items():
                if profile[player] == told:
                    now = game.payoff(profile, player)
                    for other in range(count):
                        moved = (*profile[:player], other, *profile[player + 1 :])
                        gains[other] += share * (game.payoff(moved, player) - now)
            total += max(gains)
        largest = max(largest, total)
    return largest


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
    """The proposed mixture in fractions, from its supports if they determine it; None if it is no equilibrium."""
    if any(not np.isfinite(own).all() for own in strategies):
        return None
    supports = [tuple(int(s) for s in np.flatnonzero(own > _NASHPY_TOLERANCE)) for own in strategies]
    solved = _on_supports(game, *supports)
    candidates = [] if solved is None else [solved]
    candidates += [tuple(_simplified(own, limit) for own in strategies) for limit in _DENOMINATORS]
    nearly: Equilibrium | None = None
    for mixture in candidates:
        item = _judged(game, mixture)
        if item.exact:
            return item
        if item.gain <= TOLERANCE:
            nearly = item
    return nearly


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


def _simplified(shares: NDArray[np.float64], limit: int) -> Mixture:
    parts = [max(Fraction(0), Fraction(float(share)).limit_denominator(limit)) for share in shares]
    total = sum(parts, Fraction(0))
    return tuple(part / total for part in parts)


def is_degenerate(game: Game) -> bool:
    """Whether a mixed strategy has more pure best replies than strategies of its own: then equilibria may be a continuum."""
    _two_players(game, "degeneracy")
    if max(game.shape) > MAX_MIXED:
        raise ParameterError(f"degeneracy: decided for at most {MAX_MIXED} strategies per player.")
    own = game.payoffs[..., 0].T  # rows: the second player's strategies, columns: replies of the first
    return _too_many_replies(own) or _too_many_replies(game.payoffs[..., 1])


def _too_many_replies(payoffs: NDArray[np.object_]) -> bool:
    """`payoffs[s, r]`: what reply r earns against pure strategy s; looks for a mixture with too many best replies."""
    strategies, replies = payoffs.shape
    for size in range(1, min(strategies, replies - 1) + 1):
        for support in itertools.combinations(range(strategies), size):
            for best in itertools.combinations(range(replies), size + 1):
                if _mixture_exists(payoffs[list(support)], best):
                    return True
    return False


def _mixture_exists(payoffs: NDArray[np.object_], best: tuple[int, ...]) -> bool:
    """Whether a mixture with all of these strategies makes all replies in `best` equally good and none better."""
    size, replies = payoffs.shape
    values = payoffs.astype(np.float64)
    # columns: shares, the value of the best reply, the least share (to be maximised)
    against = np.hstack([values.T, -np.ones((replies, 1)), np.zeros((replies, 1))])
    least = np.hstack([np.eye(size), np.zeros((size, 1)), -np.ones((size, 1))])
    whole = np.hstack([np.ones((1, size)), np.zeros((1, 2))])
    lower = np.concatenate([[0.0 if r in best else -INFINITE for r in range(replies)], np.zeros(size), [1.0]])
    upper = np.concatenate([np.zeros(replies), np.full(size, INFINITE), [1.0]])
    found = solve(
        LinearModel(
            np.array([0.0] * size + [0.0, 1.0]), np.array([0.0] * size + [-INFINITE, 0.0]), np.full(size + 2, INFINITE),
            sparse.csr_array(np.vstack([against, least, whole])), lower, upper, maximise=True,
        )
    )  # fmt: skip
    return found.status is Status.OPTIMAL and found.objective > 1e-9


OBJECTIVES = ("fair", "welfare")


def correlated(
    game: Game, objective: str = "fair", *, event: Callable[[Profile], bool] | None = None, allowed: Any = 0
) -> Equilibrium:
    """A correlated equilibrium: the fairest (largest least payoff), the largest sum, or the likeliest `event`.

    With `allowed` > 0 an ε-correlated equilibrium: nobody gains more than that by deviating.
    """
    check_choice(objective, OBJECTIVES, name="objective", owner="correlated equilibrium")
    profiles = list(game.profiles())
    if len(profiles) * sum(count * count for count in game.shape) > MAX_CORRELATED:
        raise ParameterError(
            f"correlated equilibrium: {len(profiles)} profiles with so many strategies are too many for its linear program."
        )
    program = _Correlated(game, profiles, float(allowed))
    found = solve(program.model(objective, event))
    if found.status is not Status.OPTIMAL:
        raise SolverError("correlated equilibrium: the linear program has no solution, although one always exists.")
    return _verified_distribution(game, profiles, found.values[: len(profiles)], Fraction(str(allowed)))


class _Correlated:
    """The linear program: shares of the profiles, gains by deviating for each recommendation, the least payoff."""

    def __init__(self, game: Game, profiles: list[Profile], allowed: float) -> None:
        self.game, self.profiles, self.allowed = game, profiles, allowed
        self.payoffs = game.floats.reshape(len(profiles), len(game.players))
        self.told = [(player, own) for player, count in enumerate(game.shape) for own in range(count)]
        self.n_columns = len(profiles) + len(self.told) + 1

    def model(self, objective: str, event: Callable[[Profile], bool] | None) -> LinearModel:
        """Maximise the objective over all (ε-)correlated equilibria."""
        count, rows = len(self.profiles), self._rows()
        cost = np.zeros(self.n_columns)
        if event is not None:
            cost[:count] = [float(event(profile)) for profile in self.profiles]
        elif objective == "welfare":
            cost[:count] = self.payoffs.sum(axis=1)
        else:
            cost[-1] = 1.0
        lower = np.zeros(self.n_columns)
        lower[-1] = -INFINITE
        matrix = sparse.csr_array(np.vstack([row for row, _, _ in rows]))
        low, high = (np.array([row[place] for row in rows]) for place in (1, 2))
        return LinearModel(cost, lower, np.full(self.n_columns, INFINITE), matrix, low, high, maximise=True)

    def _rows(self) -> list[tuple[NDArray[np.float64], float, float]]:
        count = len(self.profiles)
        whole = np.zeros(self.n_columns)
        whole[:count] = 1.0
        rows = [(whole, 1.0, 1.0)]
        for place, (player, own) in enumerate(self.told):
            for other in range(self.game.shape[player]):
                if other != own:
                    row = np.zeros(self.n_columns)
                    row[:count] = self._gains(player, own, other)
                    row[count + place] = -1.0
                    rows.append((row, -INFINITE, 0.0))
        for player in range(len(self.game.players)):
            limit, least = np.zeros(self.n_columns), np.zeros(self.n_columns)
            limit[[count + place for place, (whose, _) in enumerate(self.told) if whose == player]] = 1.0
            least[:count], least[-1] = self.payoffs[:, player], -1.0
            rows += [(limit, -INFINITE, self.allowed), (least, 0.0, INFINITE)]
        return rows

    def _gains(self, player: int, own: int, other: int) -> NDArray[np.float64]:
        mine = np.moveaxis(self.game.floats[..., player], player, 0)
        gains = np.zeros_like(mine)
        gains[own] = mine[other] - mine[own]
        return np.moveaxis(gains, 0, player).reshape(-1)


def _verified_distribution(
    game: Game, profiles: list[Profile], shares: NDArray[np.float64], allowed: Fraction
) -> Equilibrium:
    nearly: Equilibrium | None = None
    for limit in _DENOMINATORS:
        simple = _simplified(shares, limit)
        distribution = {profile: share for profile, share in zip(profiles, simple, strict=True) if share}
        gain = deviation_gain(game, distribution)
        item = Equilibrium("correlated", distribution, expected(game, distribution), gain, gain <= allowed)
        if gain <= allowed:
            return item
        if gain <= allowed + TOLERANCE:
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
    rows = np.vstack([np.hstack([mine.T.astype(np.float64), -np.ones((others, 1))]), [[1.0] * count + [0.0]]])
    lower, upper = np.array([0.0] * others + [1.0]), np.array([INFINITE] * others + [1.0])
    found = solve(
        LinearModel(
            np.array([0.0] * count + [1.0]), np.array([0.0] * count + [-INFINITE]), np.full(count + 1, INFINITE),
            sparse.csr_array(rows), lower, upper, maximise=True,
        )
    )  # fmt: skip
    if found.status is not Status.OPTIMAL:
        raise SolverError("max-min strategy: the linear program has no solution, although one always exists.")
    best: tuple[Fraction, Mixture] | None = None
    for limit in _DENOMINATORS:
        mixture = _simplified(found.values[:count], limit)
        value = min(sum((s * v for s, v in zip(mixture, column, strict=True)), Fraction(0)) for column in mine.T)
        if best is None or value > best[0]:
            best = (value, mixture)
    assert best is not None
    return Security(player, best[1], best[0])
