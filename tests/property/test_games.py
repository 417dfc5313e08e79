"""Equilibria against enumeration in fractions on random games; every equilibrium verified by what deviating would earn."""

import random
from fractions import Fraction

import numpy as np
import pytest

from reference.small_games import nash_equilibria, pure_profiles
from reticent.coprivacy.coprivacy import Question, decide
from reticent.coprivacy.equilibria import correlated, deviation_gain, is_degenerate, mixed, pure, security
from reticent.coprivacy.game import Game, game_from, two_player

FEW, MANY = 150, 10_000


def random_bimatrix(rng: random.Random, *, ties: bool) -> Game:
    rows, columns = rng.randint(2, 3), rng.randint(2, 3)
    top = 3 if ties else 1000

    def matrix() -> list[list[int]]:
        return [[rng.randint(-top, top) for _ in range(columns)] for _ in range(rows)]

    return two_player("a", "b", [f"r{i}" for i in range(rows)], [f"c{j}" for j in range(columns)], matrix(), matrix())


def as_lists(game: Game, player: int) -> list[list[Fraction]]:
    return [[game.payoff((i, j), player) for j in range(game.shape[1])] for i in range(game.shape[0])]


def check_bimatrix(number: int) -> None:
    game = random_bimatrix(random.Random(number), ties=False)
    expected = nash_equilibria(as_lists(game, 0), as_lists(game, 1))
    found = mixed(game)
    assert all(item.exact and item.gain == 0 for item in found)
    mixtures = {item.mixture for item in found}
    assert expected <= mixtures
    if mixtures != expected or len(expected) % 2 == 0:  # Wilson: only a degenerate game has an even number, or more
        assert is_degenerate(game)


@pytest.mark.parametrize("number", range(FEW))
def test_mixed_equilibria_equal_enumeration(number: int) -> None:
    check_bimatrix(number)


@pytest.mark.deep
def test_mixed_equilibria_equal_enumeration_on_many_games() -> None:
    for number in range(FEW, FEW + MANY):
        check_bimatrix(number)


def check_many_players(number: int) -> None:
    rng = random.Random(number)
    shape = tuple(rng.randint(1, 3) for _ in range(rng.randint(2, 4)))
    game = game_from(
        [f"p{i}" for i in range(len(shape))], [[f"s{j}" for j in range(count)] for count in shape],
        lambda _: [rng.randint(-2, 2) for _ in shape],
    )  # fmt: skip
    payoffs = {profile: tuple(game.payoff(profile, i) for i in range(len(shape))) for profile in game.profiles()}
    assert {next(iter(item.distribution)) for item in pure(game)} == pure_profiles(payoffs, shape)
    fair, welfare = correlated(game, "fair"), correlated(game, "welfare")
    for item in (fair, welfare):
        assert deviation_gain(game, item.distribution) == item.gain <= Fraction(1, 10**7)
        assert sum(item.distribution.values()) == 1
    for item in pure(game):  # every pure equilibrium is a correlated one, so neither optimum can be worse
        assert min(item.payoffs) <= min(fair.payoffs) + Fraction(1, 10**6)
        assert sum(item.payoffs) <= sum(welfare.payoffs) + Fraction(1, 10**6)
    for player in range(len(shape)):
        assert security(game, player).value <= min(item.payoffs[player] for item in (fair, welfare)) + Fraction(
            1, 10**6
        )


@pytest.mark.parametrize("number", range(60))
def test_pure_and_correlated_equilibria_of_any_number_of_players(number: int) -> None:
    check_many_players(number)


@pytest.mark.deep
def test_pure_and_correlated_equilibria_on_many_games() -> None:
    for number in range(60, 3060):
        check_many_players(number)


@pytest.mark.parametrize("number", range(60))
def test_a_game_with_an_even_number_of_equilibria_is_called_degenerate(number: int) -> None:
    game = random_bimatrix(random.Random(1000 + number), ties=True)
    count = len(nash_equilibria(as_lists(game, 0), as_lists(game, 1)))
    if count % 2 == 0:
        assert is_degenerate(game)
    mine, theirs = game.floats[..., 0], game.floats[..., 1]
    columns = any((mine[:, j] == mine[:, j].max()).sum() > 1 for j in range(game.shape[1]))
    rows = any((theirs[i] == theirs[i].max()).sum() > 1 for i in range(game.shape[0]))
    if columns or rows:
        assert is_degenerate(game)
    assert all(item.gain <= Fraction(1, 10**7) for item in mixed(game))


def test_help_in_the_corner_of_a_degenerate_game_is_found() -> None:
    """(r1; half c0, half c1) is an equilibrium that has supports of different sizes."""
    game = two_player("a", "b", ("r0", "r1"), ("c0", "c1", "c2"), [[1, 0, 2], [0, 1, 2]], [[2, 2, 2], [1, 1, 1]])
    found = decide(game, Question("a", {"b": "r1"}, {"b": "c0"}))
    assert found.mixed_probability == Fraction(1, 2)


def test_large_games_of_two_are_decided_without_mixed_equilibria() -> None:
    names = [str(number) for number in range(9)]
    rng = np.random.default_rng(2)
    game = two_player("a", "b", names, names, *rng.integers(0, 9, size=(2, 9, 9)).tolist())
    assert decide(game, Question("a", {"b": "1"}, {"b": "1"})).mixed is None


def test_random_large_payoffs_are_not_degenerate() -> None:
    rng = np.random.default_rng(5)
    values = rng.integers(-(10**6), 10**6, size=(2, 3, 3)).tolist()
    assert not is_degenerate(two_player("a", "b", "xyz", "uvw", *values))
