# SPDX-License-Identifier: Apache-2.0
"""What protection with memory gives: tables, their joint verdict, and what was done because of earlier releases."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from reticent.history.book import Book, Judged
from reticent.history.table_recipe import TableRecipe
from reticent.releases.verdict import Exposure
from reticent.tables.memory import Codes, Memory
from reticent.tables.request import TableRequest
from reticent.tables.result import ProtectedTable
from reticent.tabulation.responses import name_of_response

MOST_NAMED = 5


class Run(Protocol):
    """Protects the tables of a request; an error if the attack on them alone finds something, unless `exposed` ones count."""

    def __call__(
        self, request: TableRequest, *, exposed: bool = False
    ) -> tuple[tuple[ProtectedTable, ...], TableRecipe]:
        """The results, and their recipe."""
        ...


@dataclass(frozen=True)
class AlsoHidden:
    """A cell that is hidden because of earlier releases; `why` is what showing it would expose (None: not looked at)."""

    table: int
    codes: Codes
    why: Exposure | None = None

    def summary(self) -> dict[str, Any]:
        """As plain data."""
        known = {} if self.why is None else {
            "because of": self.why.watch, "hidden by": self.why.hidden_by, "releases": list(dict.fromkeys(self.why.releases)),
        }  # fmt: skip
        return {"table": self.table + 1, "cell": list(self.codes), **known}


@dataclass(frozen=True, eq=False)
class Remembered:
    """A table protected with memory: its results and recipe, the joint verdict, what it hides in addition, what was kept."""

    results: tuple[ProtectedTable, ...] = field(repr=False)
    recipe: TableRecipe = field(repr=False)
    judged: Judged
    also: tuple[AlsoHidden, ...] = ()
    notes: tuple[str, ...] = ()


def judged_run(book: Book, request: TableRequest, name: str, run: Run, *, exposed: bool = False) -> Remembered:
    """Protect the tables of a request as their method does, and judge them with everything in the ledger."""
    results, recipe = run(request, exposed=exposed)
    return Remembered(results, recipe, book.judge(recipe, name))


def published_order(request: TableRequest) -> list[int]:
    """The numbers of the tables of a request in the order of its recipe: response by response."""
    names = [name_of_response(one.source.response) for one in request.tables]
    return [number for name in dict.fromkeys(names) for number, own in enumerate(names) if own == name]


def with_memories(request: TableRequest, memories: Sequence[Memory]) -> TableRequest:
    """The request with what earlier releases ask of each of its tables."""
    tables = tuple(replace(one, memory=memory) for one, memory in zip(request.tables, memories, strict=True))
    return replace(request, tables=tables)


def named(words: Sequence[str]) -> str:
    """The first of some words, and how many more there are."""
    more = len(words) - MOST_NAMED
    return ", ".join(words[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
