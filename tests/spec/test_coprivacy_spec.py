"""The worked examples of the source on coprivacy, with its errata: every number is in the source or follows from it."""

import importlib.util
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from reticent.base.errors import ParameterError
from reticent.coprivacy.coprivacy import Question, coprivate_share, decide
from reticent.coprivacy.correlated import correlated
from reticent.coprivacy.equilibria import deviation_gain, dominant, is_degenerate, mixed, pure
from reticent.coprivacy.game import Game, two_player
from reticent.coprivacy.models.repeated import (
    GRIM,
    TIT_FOR_TAT,
    Machine,
    best_reply_value,
    deviation,
    reputation,
    value_of,
)
from reticent.coprivacy.models.search import Community, entropy, entropy_with, search_game, simulate
from reticent.coprivacy.models.social import disclosure_game, privacy_functionality, privacy_scores
from reticent.coprivacy.models.worked import announcement_game, expiry_game

HELP = Question("user 1", {"user 2": "publish"}, {"user 2": "publish"})


def played(game: Game) -> set[str]:
    return {game.named(next(iter(item.distribution))) for item in pure(game)}


def test_two_users_have_the_utilities_of_the_source() -> None:
    game = disclosure_game(2)
    assert [[game.payoff((i, j), 0) for j in (0, 1)] for i in (0, 1)] == [[0, 1], [0, Fraction(1, 2)]]
    assert [[game.payoff((i, j), 1) for j in (0, 1)] for i in (0, 1)] == [[0, 0], [1, Fraction(1, 2)]]


def test_hiding_is_weakly_dominant_but_not_the_only_equilibrium() -> None:
    """The source calls (Hide, Hide) the only equilibrium; (Hide, Publish) and (Publish, Hide) are equilibria too."""
    game = disclosure_game(2)
    assert played(game) == {"(hide, hide)", "(hide, publish)", "(publish, hide)"}
    assert dominant(game, 0) == [0]
    assert dominant(game, 0, strictly=True) == []
    assert is_degenerate(game)
    assert all(item.gain == 0 for item in mixed(game))


def test_the_fair_correlated_equilibrium_of_two_users_gives_as_much_as_publishing() -> None:
    game = disclosure_game(2)
    fair = correlated(game, "fair")
    assert fair.distribution == {(0, 1): Fraction(1, 2), (1, 0): Fraction(1, 2)}
    assert fair.payoffs == (Fraction(1, 2), Fraction(1, 2))
    assert game.payoff((1, 1), 0) == Fraction(1, 2)


@pytest.mark.parametrize("users", [2, 3, 5, 8])
def test_n_users_have_n_plus_1_pure_equilibria(users: int) -> None:
    """Nobody publishes, or exactly one does; publishing by all needs a tolerance of (N − 1)/2."""
    game = disclosure_game(users)
    assert len(pure(game)) == users + 1
    assert correlated(game, "fair").payoffs == (Fraction(users - 1, users),) * users
    everybody = {(1,) * users: Fraction(1)}
    assert game.payoff((1,) * users, 0) == Fraction(users - 1, 2)
    assert deviation_gain(game, everybody) == Fraction(users - 1, 2)


def test_a_tolerance_lets_everybody_publish() -> None:
    game = disclosure_game(3)
    allowed = correlated(game, "welfare", allowed=1)
    assert allowed.gain <= 1
    assert sum(allowed.payoffs) > sum(correlated(game, "welfare").payoffs)


def test_two_users_are_not_coprivate_in_any_sense() -> None:
    found = decide(disclosure_game(2), HELP)
    assert not found.coprivate
    assert found.mixed_probability == 0
    assert found.correlated_probability == 0


def test_a_mixed_equilibrium_alone_does_not_make_a_game_coprivate() -> None:
    """The source: every game has a mixed equilibrium and "is therefore mixedly coprivate". Here nobody asks."""
    game = two_player("a", "b", ("direct", "ask"), ("help", "ignore"), [[2, 2], [1, 0]], [[0, 0], [1, 0]])
    found = decide(game, Question("a", {"b": "ask"}, {"b": "help"}))
    assert mixed(game)
    assert found.mixed_probability == 0
    assert not found.coprivate


def test_coprivacy_holds_where_asking_and_helping_are_best_replies() -> None:
    game = two_player("a", "b", ("direct", "ask"), ("help", "ignore"), [[1, 1], [2, 0]], [[0, 0], [1, 0]])
    found = decide(game, Question("a", {"b": "ask"}, {"b": "help"}))
    assert found.coprivate
    assert found.mixed_probability == found.correlated_probability == 1


def test_delta_coprivacy_is_the_probability_of_a_coprivate_game() -> None:
    question = Question("a", {"b": "ask"}, {"b": "help"})
    good = two_player("a", "b", ("direct", "ask"), ("help", "ignore"), [[1, 1], [2, 0]], [[0, 0], [1, 0]])
    bad = two_player("a", "b", ("direct", "ask"), ("help", "ignore"), [[1, 1], [0, 0]], [[0, 0], [1, 0]])
    assert coprivate_share([good, bad, bad], question) == Fraction(1, 3)
    assert coprivate_share([good, bad], question, weights=["3/4", "1/4"]) == Fraction(3, 4)
    with pytest.raises(ParameterError, match="weight"):
        coprivate_share([good], question, weights=[])


def test_grim_is_an_equilibrium_from_one_half_on() -> None:
    game = disclosure_game(2)
    assert deviation(game, GRIM, "49/100") > 0
    assert deviation(game, GRIM, "1/2") == 0
    assert deviation(game, GRIM, "9/10") == 0


@pytest.mark.parametrize("delta", [Fraction(1, 2), Fraction(3, 4), Fraction(9, 10)])
def test_tit_for_tat_loses_to_an_alternator(delta: Fraction) -> None:
    game = disclosure_game(2)
    gain = (1 - delta) / (2 * (1 + delta))
    assert (
        value_of(game, Machine("alternator", 0, (0, 1), ((1, 1), (0, 0))), TIT_FOR_TAT, delta)[0] - Fraction(1, 2)
        == gain
    )
    assert deviation(game, TIT_FOR_TAT, delta) == gain
    assert best_reply_value(game, TIT_FOR_TAT, delta) == 1 / (1 + delta)


def test_reputation_is_an_epsilon_equilibrium_whose_epsilon_falls_with_patience() -> None:
    game, machine = disclosure_game(2), reputation(3, 2)
    gains = [deviation(game, machine, delta) for delta in ("1/2", "9/10", "99/100")]
    assert gains[0] > gains[1] > 0
    assert value_of(game, machine, machine, "1/2") == (Fraction(1, 2), Fraction(1, 2))


@pytest.mark.parametrize("cost, endorsing", [(1, {0, 3}), (2, {0, 3}), (4, {0})])
def test_vehicles_endorse_where_privacy_among_endorsers_is_cheap(cost: int, endorsing: set[int]) -> None:
    game = announcement_game(5, 3, value=1, cost=cost)
    assert {sum(next(iter(item.distribution))) for item in pure(game)} == endorsing


def test_content_with_expiry_has_one_mixed_equilibrium() -> None:
    found = mixed(expiry_game(detection="9/10", penalty=5))
    assert len(found) == 1
    assert found[0].mixture is not None
    receiver, source = found[0].mixture
    assert receiver == (Fraction(17, 18), Fraction(1, 18))  # honest 0.944
    assert source == (Fraction(2, 9), Fraction(7, 9))  # audit 0.222


def test_privacy_scores_by_hand() -> None:
    """Two attributes, three users in a chain, visible at one or two links."""
    visibility = np.array([[[1, 1], [1, 0], [0, 0]], [[0, 0], [1, 1], [1, 0]]], dtype=float)
    sensitivity = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert privacy_scores(visibility, sensitivity).tolist() == [3.0, 8.0, 3.0]
    links = np.array([[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    # user 1: user 2 shows 1 + 3 at one link, user 3 shows nothing at two; divided by 1 + 3
    # user 2: user 1 shows 1, user 3 shows 3 at one link; divided by 1 + 8
    # user 3: user 2 shows 4 at one link, user 1 shows 2 at two; divided by 1 + 3
    assert privacy_functionality(visibility, sensitivity, links) == pytest.approx([4 / 4, 4 / 9, 6 / 4])


def test_privacy_functionality_of_two_users_is_the_game() -> None:
    for first in (0.0, 1.0):
        for second in (0.0, 1.0):
            found = privacy_functionality(
                np.array([[[first], [second]]]), np.array([[1.0]]), np.array([[0, 1], [1, 0]])
            )  # fmt: skip
            assert found == pytest.approx([second / (1 + first), first / (1 + second)])


def test_entropy_is_shannons() -> None:
    assert entropy([1, 1, 1, 1]) == 2.0
    assert entropy([5, 0]) == 0.0
    assert entropy([]) == 0.0
    assert entropy_with(np.array([1, 1, 0, 1]), 2) == 2.0


def test_a_query_that_flattens_the_helpers_profile_is_coprivate() -> None:
    """Peer 1 has asked for keyword 0 too often; peer 2 has never: asking is better, and so is helping."""
    game = search_game([[5, 1], [1, 3]], keyword=0)
    found = decide(game, Question("peer 1", {"peer 2": "ask peer 2"}, {"peer 2": "help"}))
    assert found.coprivate
    unwilling = search_game([[5, 1], [3, 1]], keyword=0)
    assert not decide(unwilling, Question("peer 1", {"peer 2": "ask peer 2"}, {"peer 2": "help"})).coprivate


def test_peers_flatten_profiles_and_the_shares_add_up() -> None:
    community = Community(peers=6, keywords=20, queries=60)
    by_peers, alone = simulate(community, "peers"), simulate(community, "none")
    assert by_peers.direct + by_peers.first + by_peers.later + by_peers.fallback == pytest.approx(1.0)
    assert by_peers.entropy_after > alone.entropy_after == alone.entropy_before
    assert alone.linked == 1.0
    assert simulate(community, "trackmenot", cover=2).submitted_per_query == 3.0
    assert simulate(community, "goopir", cover=3).submitted_per_query == 4.0
    assert simulate(community, "peers") == by_peers  # the same secret gives the same draws


def test_the_page_says_what_the_script_computes_now() -> None:
    """The tables that do not need a simulation, so that the page cannot go stale."""
    root = Path(__file__).resolve().parents[2]
    spec = importlib.util.spec_from_file_location("make_coprivacy_page", root / "scripts" / "make_coprivacy_page.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    page = (root / "docs" / "explanation" / "coprivacy.md").read_text(encoding="utf-8")
    for part in (script.users(), script.repeated(), script.worked()):
        assert part in page, "run: python scripts/make_coprivacy_page.py"
