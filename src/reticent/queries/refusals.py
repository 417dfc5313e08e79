# SPDX-License-Identifier: Apache-2.0
"""Answers and refusals: what the asker sees, and what only staff see.

A refusal is a value, not an error. For the asker it has a code, a sentence and what to change. There is one code for
everything that depends on data, `RISK`, always with the same words: the sentence never reveals which rule, which record
or which earlier answer was the reason. The full reason is a `StaffReason`, kept in the ledger.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from reticent.base.doors import doors


class Code(StrEnum):
    """Why a query was not answered. Only `RISK` and `BUDGET` depend on anything but the query, the policy and metadata."""

    SYNTAX = "SYNTAX"
    TOO_LONG = "TOO_LONG"
    UNSUPPORTED = "UNSUPPORTED"
    ROW_LEVEL = "ROW_LEVEL"
    UNKNOWN_VARIABLE = "UNKNOWN_VARIABLE"
    NOT_ALLOWED = "NOT_ALLOWED"
    CUTPOINT = "CUTPOINT"
    LIMIT = "LIMIT"
    BUDGET = "BUDGET"
    RISK = "RISK"
    CLOSED = "CLOSED"


RISK_MESSAGE = "This query cannot be answered without risk to confidential data."
HIDDEN = "Values that could expose somebody are hidden."
RISK_CHANGE = "Ask about a larger or more even group, or with fewer conditions."


@doors
@dataclass(frozen=True)
class Refusal:
    """A query that is not answered: code, sentence, what to change."""

    code: Code
    message: str
    change: str = ""

    def as_json(self) -> dict[str, Any]:
        """The refusal for a program."""
        text = f"{self.message} {self.change}".strip()
        return {"answered": False, "code": self.code.value, "message": text}


RISK = Refusal(Code.RISK, RISK_MESSAGE, RISK_CHANGE)


@dataclass(frozen=True)
class Row:
    """One row of an answer: the group it is about and a value for each statistic.

    A value is a number, a (low, high) pair, a mapping of named results (regressions, curves), or None where this value
    is refused; `hidden` says which are. A total over a grouping variable has None in its group.
    """

    group: tuple[str | None, ...]
    values: tuple[Any, ...]

    @property
    def hidden(self) -> tuple[bool, ...]:
        """Which values of the row are refused."""
        return tuple(value is None for value in self.values)


@doors
@dataclass(frozen=True)
class Answer:
    """What may leave: rows of values, in the order of the statistics asked for. It holds no reference to data."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    by: tuple[str, ...] = ()
    mode: str = ""
    notes: tuple[str, ...] = field(default=())

    @property
    def value(self) -> Any:
        """The value of an answer that has exactly one."""
        if len(self.rows) != 1 or len(self.columns) != 1:
            raise AttributeError("Answer: it has several values; read `rows`.")
        return self.rows[0].values[0]

    def as_json(self) -> dict[str, Any]:
        """The answer for a program: `value`, `low` and `high`, or `rows`."""
        out: dict[str, Any] = {"answered": True, "code": "OK", "message": " ".join(self.notes)}
        if len(self.rows) == 1 and len(self.columns) == 1 and not self.by:
            value = self.rows[0].values[0]
            if isinstance(value, tuple):
                out["low"], out["high"] = value
            else:
                out["value"] = value
            return out
        out["rows"] = [self._row(row) for row in self.rows]
        return out

    def _row(self, row: Row) -> dict[str, Any]:
        named: dict[str, Any] = dict(zip(self.by, row.group))
        for column, value in zip(self.columns, row.values):
            named[column] = {"low": value[0], "high": value[1]} if isinstance(value, tuple) else value
        return named


@dataclass(frozen=True)
class StaffReason:
    """The full reason of a decision, for staff only: the rule, the size of the sets, the earlier releases involved."""

    rule: str
    detail: str = ""
    releases: tuple[int, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The reason as it is kept in the ledger."""
        return {"rule": self.rule, "detail": self.detail, "releases": list(self.releases)}
