"""One page of each kind of report that needs no plan: made of small results, with names that try to be markup."""

import math
from fractions import Fraction
from typing import Any

from reticent.coprivacy.files import game_file
from reticent.coprivacy.models.search import SearchResult
from reticent.coprivacy.result import analyse
from reticent.data.verdict import State
from reticent.delegation.owner import Verified
from reticent.querylogs.measures import LogRisk
from reticent.querylogs.protect import LogOptions, LogResult, MaskedLog
from reticent.report.delegation_report import delegation_report
from reticent.report.explore_report import explore_report
from reticent.report.game_report import game_report, search_report
from reticent.report.page import HTML
from reticent.report.querylog_report import querylog_report

GAME = {
    "game": {"ann": ["hide", "show"], "b<o>b": ["hide", "show"]},
    "payoff": [
        {"played": ["hide", "hide"], "values": [1, 1]},
        {"played": ["hide", "show"], "values": [0, 0]},
        {"played": ["show", "hide"], "values": [0, 0]},
        {"played": ["show", "show"], "values": [2, 2]},
    ],
}
CANDIDATE: dict[str, Any] = {
    "candidate": "noise <b>10 %</b>", "risk": 0.3, "highest risk": 0.3, "loss": 0.1, "score": 0.4, "recount": 0.3,
    "linkage": 0.1, "households": math.nan, "interval": math.nan, "il1s": 0.2, "correlations": 0.1, "pmse": 0.0,
    "failed": "", "not held": "", "front": True, "chosen": True,
}  # fmt: skip


def exploration(form: str = HTML) -> str:
    worse = {**CANDIDATE, "candidate": "swap | all", "risk": 0.5, "front": False, "chosen": False}
    failed = {**worse, "candidate": "pram", "risk": math.inf, "failed": "needs two strata"}
    fresh = {"risk": 0.31, "highest risk": 0.32, "loss": 0.11}
    return explore_report([CANDIDATE, worse, failed], fresh=fresh, state=State.HELD, form=form)


def game(form: str = HTML) -> str:
    return game_report(analyse(game_file(GAME, owner="g.toml")), form=form)


def peers(form: str = HTML) -> str:
    found = [SearchResult(name, 0.2, 0.4, 0.3, 0.1, 3.2, 4.1, 4.8, 0.15, 1.0) for name in ("frequency", "cover")]
    return search_report(found, form=form)


def query_log(form: str = HTML) -> str:
    risk = LogRisk(own_queries=0, linked_before=0.9, linked_cluster=0.4, linked_person=0.12, tried=40)
    found = LogResult(
        MaskedLog((1, 1, 2), ("weather", "news", "weather"), ("", "", "")), LogOptions(), 120, 40, 1, 13, (3, 4),
        {"e-mail address": 3}, 25, 0, 2, (1.0, 0.8), (0.7, 0.5), (0.4, 0.2), risk, 31,
    )  # fmt: skip
    return querylog_report(found, "Test only.", form=form)


def delegation(form: str = HTML) -> str:
    found = Verified({"mean": Fraction(7, 3), "same": True, "ratio": None}, "residues", 3, 1e-12, 12)
    return delegation_report(found, {"mean": "sum(x) / n", "same": "a == b", "ratio": "a / b"}, form=form)


PAGES = {"exploration": exploration, "game": game, "peers": peers, "query-log": query_log, "delegation": delegation}
