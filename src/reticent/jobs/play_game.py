# SPDX-License-Identifier: Apache-2.0
"""The job that analyses a game, or simulates peer-to-peer search: read, analyse, write."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reticent.base.doors import door
from reticent.base.errors import PlanError
from reticent.base.progress import Progress, part, silent
from reticent.coprivacy.files import GameFile, SearchFile, game_file, search_file
from reticent.coprivacy.models.search import SearchResult, simulate
from reticent.coprivacy.result import GameResult, analyse
from reticent.data.parameters import Parameters, build
from reticent.data.plan import read_toml, without_version
from reticent.io.atomic import write_text
from reticent.io.places import check_places
from reticent.report.game_report import game_report, search_report
from reticent.report.page import form_of

__all__ = ["GameOutput", "GameResult", "analyse_game", "run_game", "simulate_search"]


@dataclass(frozen=True)
class GameOutput(Parameters):
    """Where to write the report (HTML) and the summary (JSON)."""

    report: str | None = None
    summary: str | None = None


def analyse_game(given: GameFile, *, progress: Progress = silent) -> GameResult:
    """Equilibria, coprivacy and what repeated play changes, for a game from Python."""
    return analyse(given, progress=progress)


def simulate_search(given: SearchFile, *, progress: Progress = silent) -> tuple[SearchResult, ...]:
    """The same community under each masking, with the same questions."""
    share = 1 / len(given.maskings)
    return tuple(
        simulate(
            given.community, masking, cover=given.cover, progress=part(progress, number * share, (number + 1) * share)
        )
        for number, masking in enumerate(given.maskings)
    )


@door
def run_game(path: Path | str, *, progress: Progress = silent) -> GameResult | tuple[SearchResult, ...]:
    """Run a game file and write what its [output] names."""
    path = Path(path)
    table = without_version(read_toml(path), owner=path.name)
    output = _output(table, path.name)
    form = form_of(output.report or "")
    check_places((path.parent / name for name in (output.report, output.summary) if name), [path])
    if "search" in table:
        found = simulate_search(search_file(table, owner=path.name), progress=progress)
        _write(path.parent, output, search_report(found, form=form), [vars(item) for item in found])
        return found
    result = analyse_game(game_file(table, owner=path.name), progress=progress)
    _write(path.parent, output, game_report(result, form=form), result.summary())
    return result


def _output(table: Mapping[str, Any], owner: str) -> GameOutput:
    section = table.get("output", {})
    if not isinstance(section, Mapping):
        raise PlanError(f"{owner}: [output] must be a table of options.")
    return build(GameOutput, section, owner=f"{owner}: output")


def _write(folder: Path, output: GameOutput, page: str, summary: Any) -> None:
    if output.report:
        write_text(folder / output.report, page)
    if output.summary:
        write_text(folder / output.summary, json.dumps(summary, indent=2, ensure_ascii=False) + "\n")
