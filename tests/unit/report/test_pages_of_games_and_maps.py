"""Reports of games and explorations: the answer first, every candidate listed, names escaped."""

import math
from typing import Any

from report_makers import GAME
from reticent.coprivacy.files import game_file
from reticent.coprivacy.result import analyse
from reticent.data.verdict import State
from reticent.report.explore_report import explore_report
from reticent.report.game_report import game_report


def candidate(name: str, risk: float, loss: float, **facts: Any) -> dict[str, Any]:
    row = {
        "candidate": name, "risk": risk, "highest risk": risk, "loss": loss, "score": risk + loss, "recount": risk,
        "linkage": 0.1, "households": math.nan, "interval": math.nan, "il1s": 0.2, "correlations": 0.1, "pmse": 0.0,
        "failed": "", "not held": "", "front": False, "chosen": False,
    }  # fmt: skip
    return {**row, **facts}


ROWS = [
    candidate("noise 10 %", 0.3, 0.1, front=True, chosen=True),
    candidate("noise <b>20 %</b>", 0.2, 0.4),
    candidate("swap", math.inf, 0.0, failed="needs two strata"),
]
FRESH = {"risk": 0.31234567, "highest risk": 0.4, "loss": 0.11}


def test_an_exploration_says_what_was_chosen_and_whether_it_holds() -> None:
    page = explore_report(ROWS, fresh=FRESH, state=State.HELD)
    assert "Chosen: noise 10 %. Every fresh draw, none of which was used for choosing it, withstands" in page
    assert "0.312" in page
    assert "Not every fresh draw withstands" in explore_report(ROWS, fresh=FRESH, state=State.NOT_HELD)
    assert "Not judged: the file has no weights" in explore_report(ROWS, fresh=FRESH, state=State.NOT_JUDGED)


def test_failures_are_named_and_texts_escaped() -> None:
    rows = [*ROWS, candidate("recoded", 0.1, 0.2, **{"not held": "weights not held: they tell regions"})]
    page = explore_report(rows, fresh=FRESH, state=State.HELD)
    assert "Not held: recoded: weights not held: they tell regions" in page
    assert "Failed: swap: needs two strata" in page
    assert "<b>20 %</b>" not in page
    assert "&lt;b&gt;20 %&lt;/b&gt;" in page
    assert "nan" not in page.lower().split("<body")[1].split("data:image")[0]


def test_without_a_candidate_no_plan_was_written() -> None:
    rows = [{**row, "chosen": False} for row in ROWS]
    page = explore_report(rows, fresh=None, state=State.NOT_HELD)
    assert "No candidate can be released on every draw; no plan was written." in page


def test_a_game_shows_its_payoffs_and_equilibria() -> None:
    page = game_report(analyse(game_file(GAME, owner="g.toml")))
    assert "2, 2 <b>*</b>" in page  # a star marks a pure equilibrium
    assert "1, 1 <b>*</b>" in page
    assert "0, 0 <b>" not in page
    assert "correlated, fairest" in page
    assert "b<o>b" not in page
    assert "b&lt;o&gt;b" in page


def test_repeated_play_and_the_question_have_their_places() -> None:
    table = {
        **GAME,
        "coprivacy": {"asker": "ann", "asks": {"b<o>b": "show"}, "helps": {"b<o>b": "show"}},
        "repeated": {"discounts": ["1/2"]},
    }
    page = game_report(analyse(game_file(table, owner="g.toml")))
    assert "The game is coprivate" in page
    assert "Played again and again" in page
    assert "<td" in page


def test_three_players_are_listed_profile_by_profile() -> None:
    page = game_report(
        analyse(game_file({"model": {"name": "vehicular", "vehicles": 3, "threshold": 2}}, owner="g.toml"))
    )
    assert "All profiles; * marks pure equilibria." in page


def test_payoffs_of_nothing_are_not_drawn() -> None:
    table = {"model": {"name": "expiry", "detection": "9/10", "penalty": 5}}  # nobody gains in its only equilibrium
    page = game_report(analyse(game_file(table, owner="g.toml")))
    assert "Equilibria, each verified" in page
    assert "Pictures" not in page
