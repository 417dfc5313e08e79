# SPDX-License-Identifier: Apache-2.0
"""What becomes of a release: its verdict beside everything before, what memory hides in addition, what could go instead."""

from dataclasses import dataclass, replace
from typing import Any

from reticent.data.plan import LedgerSection
from reticent.history.book import Book, Judged
from reticent.history.instead import Instead, instead_of
from reticent.history.made import Made
from reticent.history.memory import remember
from reticent.history.remembered import AlsoHidden
from reticent.history.table_recipe import TableRecipe
from reticent.releases.verdict import JointVerdict


@dataclass(frozen=True)
class Released:
    """What became of a plan: its entry in the ledger (None: only judged), the verdict, and what it was judged with.

    With memory, `also` is hidden because of earlier releases; `instead` is what could be released where it is refused.
    """

    name: str
    number: int | None
    verdict: JointVerdict
    together_with: tuple[str, ...]
    proved: int | None = None
    """How many watched sums a second check, in whole numbers, went through; None: the verdict is not safe, or not proved."""
    also: tuple[AlsoHidden, ...] = ()
    notes: tuple[str, ...] = ()
    instead: Instead | None = None

    def summary(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "release": self.name,
            "entry": self.number,
            "outcome": self.verdict.outcome.value,
            "sentence": self.verdict.sentence(),
            "judged with": list(self.together_with),
            "hidden in addition": [one.summary() for one in self.also],
            "notes": list(self.notes),
            "instead": None if self.instead is None else self.instead.summary(),
        }


def remembered(book: Book, made: Made, section: LedgerSection, *, prove: bool = False) -> tuple[Released, Judged, Made]:
    """The joint verdict; with memory on tables that are safe with everything before, if there are such."""
    also: tuple[AlsoHidden, ...] = ()
    notes: tuple[str, ...] = ()
    judged: Judged | None = None
    if section.memory and made.request is not None:
        kept = remember(book, made.request, section.name, made.run)
        made, also, notes = replace(made, recipe=kept.recipe, results=kept.results), kept.also, kept.notes
        judged = None if prove and kept.judged.verdict.safe else kept.judged
    if judged is None:
        judged = book.judge(made.recipe, section.name, prove=prove)
    notes = (*notes, *judged.notes)
    found = Released(section.name, None, judged.verdict, judged.together_with, judged.proved, also, notes)
    return found, judged, made


def offer_instead(book: Book, made: Made, name: str) -> Instead:
    """What could be released instead of refused tables; nothing is known of files."""
    if made.request is None or not isinstance(made.recipe, TableRecipe):
        return Instead()
    return instead_of(book, made.request, name, made.run, (made.results, made.recipe))
