"""Games in plain tables: models, payoffs one by one, components with weights, and a sentence for every gap."""

import json
from fractions import Fraction
from typing import Any

import pytest

from reticent.base.errors import PlanError
from reticent.coprivacy.files import MODELS, GameFile, game_file, search_file
from reticent.coprivacy.result import analyse

PRISONERS = {
    "game": {"ann": ["hide", "show"], "bob": ["hide", "show"]},
    "payoff": [
        {"played": ["hide", "hide"], "values": [1, 1]},
        {"played": ["hide", "show"], "values": [3, 0]},
        {"played": ["show", "hide"], "values": [0, 3]},
        {"played": ["show", "show"], "values": ["5/2", "5/2"]},
    ],
}


def read(table: dict[str, Any]) -> GameFile:
    return game_file(table, owner="g.toml")


def changed(**sections: Any) -> dict[str, Any]:
    return {**PRISONERS, **sections}


def test_payoffs_are_exact() -> None:
    game = read(PRISONERS).game
    assert game.players == ("ann", "bob")
    assert game.payoff((1, 1), 0) == Fraction(5, 2)
    assert game.payoff((0, 1), 0) == 3


def test_components_are_weighed_and_privacy_is_kept_apart() -> None:
    rows = [
        {"played": row["played"], "privacy": row["values"], "function": [2, 4]}
        for row in PRISONERS["payoff"]  # type: ignore[union-attr]
    ]
    found = read({"game": PRISONERS["game"], "payoff": rows, "weights": {"privacy": 1, "function": "1/2"}})
    assert found.game.payoff((0, 0), 0) == 1 + Fraction(1, 2) * 2
    assert found.game.payoff((0, 0), 1) == 1 + Fraction(1, 2) * 4
    assert found.privacy is not None
    assert found.privacy.payoff((0, 0), 1) == 1


@pytest.mark.parametrize("name", MODELS)
def test_each_model_makes_a_game(name: str) -> None:
    needed = {"peer-search": {"seen": [[1, 0], [0, 1]], "keyword": 1}}
    game = read({"model": {"name": name, **needed.get(name, {})}}).game
    assert len(game.players) >= 2
    assert all(len(strategies) >= 2 for strategies in game.strategies)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (changed(gme={}), "unknown section 'gme'. Did you mean 'game'"),
        ({"payoff": PRISONERS["payoff"]}, r"\[game\] must list every player"),
        (changed(game={"ann": "hide", "bob": ["hide"]}), "ann must have a list of strategies"),
        (changed(game={"ann": ["hide", "hide"], "bob": ["hide"]}), "the strategies of ann"),
        ({"game": PRISONERS["game"]}, r"needs one \[\[payoff\]\] for each profile"),
        (changed(payoff=PRISONERS["payoff"][:3]), r"profile \(show, show\) has no payoffs"),  # type: ignore[index]
        (changed(payoff=[{"played": ["hide"], "values": [1, 1]}]), "payoff 1: played must list one strategy for each"),
        (changed(payoff=[{"played": ["hide", "wait"], "values": [1, 1]}]), "bob has no strategy 'wait'"),
        (changed(payoff=[{"played": ["hide", "hide"]}]), "payoff 1: needs values"),
        (changed(payoff=[{"played": ["hide", "hide"], "values": [1]}]), "values must list one payoff for each"),
        (changed(payoff=[*PRISONERS["payoff"], PRISONERS["payoff"][0]]), r"payoff 5: .* has values twice"),  # type: ignore[misc,index]
        (changed(weights={"values": 1}), "weights need payoffs by component"),
        (changed(model={"name": "expiry"}), "a model makes its own payoffs"),
        ({"model": {}}, r"\[model\] needs a name"),
        ({"model": {"name": "expirey"}}, "no model 'expirey'.*Did you mean 'expiry'"),
        ({"model": {"name": "vehicular", "vehicles": 1}}, "vehicles must be"),
        ({"model": {"name": "peer-search", "seen": [[1], [1, 2]], "keyword": 1}}, "as many counts"),
        ({"model": {"name": "peer-search", "seen": [[1], [1]], "keyword": 1, "sent": [1]}}, "sent needs one count"),
        (changed(coprivacy="yes"), r"\[coprivacy\] must be a table"),
        (changed(repeated={"discount": [0.5]}), "discount"),
    ],
)
def test_every_gap_is_one_sentence(table: dict[str, Any], words: str) -> None:
    with pytest.raises(PlanError, match=words) as found:
        read(table)
    assert str(found.value).startswith("g.toml: ")
    assert "\n" not in str(found.value)


def test_values_and_components_cannot_be_mixed() -> None:
    rows = [{"played": row["played"], "values": [1, 1], "privacy": [1, 1]} for row in PRISONERS["payoff"]]  # type: ignore[union-attr]
    with pytest.raises(PlanError, match="as values or by component, not both"):
        read({"game": PRISONERS["game"], "payoff": rows, "weights": {"privacy": 1}})
    rows = [{"played": row["played"], "privacy": [1, 1], "function": [1, 1]} for row in PRISONERS["payoff"]]  # type: ignore[union-attr]
    with pytest.raises(PlanError, match=r"so \[weights\] must give each a weight"):
        read({"game": PRISONERS["game"], "payoff": rows})


def test_the_analysis_says_what_the_dilemma_is() -> None:
    result = analyse(read(changed(repeated={"discounts": ["9/10"]})))
    text = " ".join(result.sentences())
    assert "Pure equilibria: 1: " in text
    assert "hide is strictly dominant for ann." in text
    assert "is an ε-equilibrium only for ε ≥ 1/2" in text  # (show, show) earns 5 in all, hiding alone 3
    assert "Played again and again with discount 9/10, grim" in text or "discount 9/10" in text
    plain = json.loads(json.dumps(result.summary()))
    assert plain["dominant"]["bob"] == {"weakly": ["hide"], "strictly": ["hide"]}
    assert plain["security"]["ann"]["value"] == "1"
    assert plain["coprivacy"] is None


def test_a_question_of_coprivacy_is_answered() -> None:
    question = {"asker": "ann", "asks": {"bob": "show"}, "helps": {"bob": "show"}}
    result = analyse(read(changed(coprivacy=question)))
    assert result.coprivacy is not None
    assert not result.coprivacy.coprivate  # nobody shows in equilibrium
    assert result.sentences()[0].startswith("The game is not coprivate")


SEARCH = {"peers": 3, "keywords": 4, "queries": 5}


def test_a_simulation_of_search_is_read() -> None:
    found = search_file({"search": {**SEARCH, "cover": 2}}, owner="s.toml")
    assert found.cover == 2
    assert found.maskings


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"search": SEARCH, "game": {}}, r"only \[output\] beside it"),
        ({"search": {**SEARCH, "maskings": []}}, "at least one of"),
        ({"search": {**SEARCH, "maskings": ["nothing"]}}, "maskings"),
        ({"search": {**SEARCH, "cover": 0}}, "cover"),
        ({"search": {**SEARCH, "peers": 0}}, "peers"),
    ],
)
def test_wrong_simulations_are_refused(table: dict[str, Any], words: str) -> None:
    with pytest.raises(PlanError, match=words):
        search_file(table, owner="s.toml")
