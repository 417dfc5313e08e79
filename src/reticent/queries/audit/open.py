# SPDX-License-Identifier: Apache-2.0
"""The open mode: every statistic answered exactly. It protects nothing; attacks must succeed against it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from reticent.queries.guarantee import ModeGuarantee
from reticent.queries.language import STATISTICS
from reticent.queries.modes import Decision, Request, Setting
from reticent.queries.refusals import Answer, Row
from reticent.queries.statistics import evaluate


@dataclass
class OpenMode:
    """Answers everything exactly: for invented data only."""

    setting: Setting
    name: ClassVar[str] = "open"
    guarantee: ClassVar[ModeGuarantee] = ModeGuarantee(
        "Nothing is promised to anybody: every answer is exact. Use it only to try attacks on made-up data."
    )
    leakage: ClassVar[tuple[str, ...]] = ("everything",)
    statistics: ClassVar[frozenset[str]] = frozenset(STATISTICS)

    def decide(self, request: Request) -> Decision:
        """Answer."""
        universe = self.setting.universe
        rows = tuple(
            Row(
                cell.group,
                tuple(evaluate(s, universe, cell.records, all_digits=True) for s in request.query.statistics),
            )
            for cell in request.cells
        )
        columns = tuple(str(statistic) for statistic in request.query.statistics)
        return Decision(Answer(columns, rows, request.query.by, self.name))

    def replay(self, request: Request, remember: Mapping[str, Any]) -> None:
        """Nothing to remember."""


def open_mode(setting: Setting) -> OpenMode:
    """Make the open mode."""
    return OpenMode(setting)
