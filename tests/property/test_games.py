"""Equilibria against enumeration in fractions on random games; every equilibrium verified by what deviating would earn."""

import random
from fractions import Fraction

import numpy as np
import pytest

from reference.small_games import nash_equilibria, pure_profiles
from reticent.coprivacy.coprivacy import Question, decide
from reticent.coprivacy.correlated import correlated, security
from reticent.coprivacy.equilibria import deviation_gain, is_degenerate, mixed, pure
from reticent.coprivacy.game import Game, game_from, two_player
from samples import numbers

FEW, MANY = 50, 10_000


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
        assert deviation_gain(game, item.distribution) == item.gain == 0
        assert sum(item.distribution.values()) == 1
    for item in pure(game):  # every pure equilibrium is a correlated one, so neither optimum can be worse
        assert min(item.payoffs) <= min(fair.payoffs)
        assert sum(item.payoffs) <= sum(welfare.payoffs)
    for player in range(len(shape)):
        assert security(game, player).value <= min(item.payoffs[player] for item in (fair, welfare))


@pytest.mark.parametrize("number", range(25))
def test_pure_and_correlated_equilibria_of_any_number_of_players(number: int) -> None:
    check_many_players(number)


@pytest.mark.deep
def test_pure_and_correlated_equilibria_on_many_games() -> None:
    for number in range(25, 3060):
        check_many_players(number)


@pytest.mark.parametrize("number", numbers(25, 60))
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
    assert all(item.exact and item.gain == 0 for item in mixed(game))


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


SCALES = (Fraction(1, 10**9), Fraction(1, 10**30), Fraction(10**11), Fraction(1, 7))


def rescaled(game: Game, first: Fraction, second: Fraction) -> Game:
    """The same game in other units: no equilibrium may change."""
    return two_player(
        "a", "b", *game.strategies,
        [[5 + first * value for value in line] for line in as_lists(game, 0)],
        [[-3 + second * value for value in line] for line in as_lists(game, 1)],
    )  # fmt: skip


@pytest.mark.parametrize("number", numbers(12, 40))
def test_units_of_payoffs_change_no_answer(number: int) -> None:
    rng = random.Random(number)
    game = random_bimatrix(rng, ties=number % 2 == 0)
    other = rescaled(game, rng.choice(SCALES), rng.choice(SCALES))
    question = Question("a", {"b": "r0"}, {"b": "c1"})
    mine, theirs = decide(game, question), decide(other, question)
    assert is_degenerate(game) == is_degenerate(other)
    assert {item.mixture for item in pure(game)} == {item.mixture for item in pure(other)}
    assert (mine.coprivate, mine.mixed_probability) == (theirs.coprivate, theirs.mixed_probability)
    assert mine.correlated_probability == theirs.correlated_probability
    if not is_degenerate(game):
        assert {item.mixture for item in mixed(game)} == {item.mixture for item in mixed(other)}


@pytest.mark.parametrize("unit", [1, *SCALES])
def test_nobody_helps_in_a_dilemma_however_small_its_payoffs_are(unit: Fraction) -> None:
    """With payoffs of 1e-9 a fixed tolerance called every pair of strategies an equilibrium."""
    mine = [[3 * unit, 0 * unit], [5 * unit, 1 * unit]]
    game = two_player("a", "b", ("help", "not"), ("help", "not"), mine, [list(own) for own in zip(*mine, strict=True)])
    found = decide(game, Question("a", {"b": "help"}, {"b": "help"}))
    assert (found.coprivate, found.mixed_probability, found.correlated_probability) == (False, 0, 0)
    assert [item.mixture for item in mixed(game)] == [((0, 1), (0, 1))]


def test_a_difference_beyond_floating_point_decides() -> None:
    """10^12 against 10^12 - 10^-12 is a strict preference, not a tie."""
    top, less = Fraction(10**12), 10**12 - Fraction(1, 10**12)
    mine = [[top, 0], [less, 0]]
    theirs = [[1, 0], [1, 0]]
    game = two_player("a", "b", ("ask", "not"), ("help", "not"), mine, theirs)
    found = decide(game, Question("a", {"b": "not"}, {"b": "help"}))
    assert (found.coprivate, found.mixed_probability, found.correlated_probability) == (False, 0, 0)
    assert correlated(game, "welfare").payoffs == (top, 1)


@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (4, 1), (1, 1, 1), (1, 3, 1), (2, 1, 2)])
def test_players_without_a_choice(shape: tuple[int, ...]) -> None:
    rng = random.Random(str(shape))
    game = game_from(
        [f"p{i}" for i in range(len(shape))], [[f"s{j}" for j in range(count)] for count in shape],
        lambda _: [rng.randint(-9, 9) for _ in shape],
    )  # fmt: skip
    assert all(correlated(game, kind).exact for kind in ("fair", "welfare"))
    if len(shape) == 2:
        assert {item.mixture for item in mixed(game)} == nash_equilibria(as_lists(game, 0), as_lists(game, 1))


@pytest.mark.parametrize("allowed", [0, "1/2", 1, "1/1000000000000"])
def test_an_allowed_gain_is_used_up_and_not_exceeded(allowed: int | str) -> None:
    """In the dilemma, help is bought by the allowed gain and by nothing else: 2 is what a certain deviation earns."""
    mine = [[3, 0], [5, 1]]
    game = two_player("a", "b", ("help", "not"), ("help", "not"), mine, [list(own) for own in zip(*mine, strict=True)])
    found = correlated(game, event=lambda profile: profile == (0, 0), allowed=allowed)
    assert found.chance(lambda profile: profile == (0, 0)) == Fraction(allowed) / 2
    assert found.gain == Fraction(allowed)


def test_a_larger_game_is_exact_too() -> None:
    names = [str(number) for number in range(7)]
    game = two_player("a", "b", names, names, *np.random.default_rng(1).integers(-(10**6), 10**6, (2, 7, 7)).tolist())
    found = [correlated(game, kind) for kind in ("fair", "welfare")]
    assert all(item.exact for item in found)
    best = [max(item.payoffs[player] for item in found) for player in (0, 1)]
    assert all(security(game, player).value <= best[player] for player in (0, 1))
