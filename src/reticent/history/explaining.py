# SPDX-License-Identifier: Apache-2.0
"""Why a release is refused: which releases conflict, and the relations that prove it, in codes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from reticent.data.facts import Facts
from reticent.history.book import Book
from reticent.history.editions import Recipe
from reticent.releases.explain import explain
from reticent.releases.joint import JointSystem
from reticent.releases.verdict import Exposure, JointVerdict, Outcome

MOST = 5
"""This many watched sums are explained."""


@dataclass(frozen=True)
class Conflict:
    """A watched sum that a release would reveal, the releases that conflict, and how it follows from them."""

    exposure: Exposure = field(repr=False)
    sentence: str
    relations: str

    def plain(self) -> dict[str, Any]:
        """As plain data."""
        one = self.exposure
        return {
            "cell": one.watch,
            "hidden by": one.hidden_by,
            "end": "upper" if one.upper else "lower",
            "to respondents only": one.insider,
            "proved": one.proved,
            "releases": list(one.releases),
            "sentence": self.sentence,
            "relations": self.relations,
        }


@dataclass(frozen=True)
class Explanation:
    """The verdict on a release, what it was judged with, its conflicts, and what could be released instead, in words."""

    verdict: JointVerdict = field(repr=False)
    together_with: tuple[str, ...]
    conflicts: tuple[Conflict, ...]
    instead: str = ""

    def summary(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "release": self.verdict.release,
            "outcome": self.verdict.outcome.value,
            "judged with": list(self.together_with),
            "conflicts": [one.plain() for one in self.conflicts],
            "not certified": list(self.verdict.uncertified),
            "instead": self.instead,
        }

    def lines(self) -> list[str]:
        """For people, line by line."""
        with_what = ", ".join(self.together_with) or "nothing: it is the first release"
        if not self.conflicts:
            return [f"{self.verdict.release}: nothing stands against it.", f"judged together with {with_what}"]
        return [
            f"{self.verdict.release}: refused, judged together with {with_what}",
            *said(self.conflicts),
            *([self.instead] if self.instead else []),
        ]


def said(conflicts: Sequence[Conflict]) -> list[str]:
    """Each conflict with its releases and relations, line by line."""
    lines = []
    for one in conflicts:
        lines += [one.sentence, f"  releases in conflict: {', '.join(one.exposure.releases)}"]
        lines += [f"  {one.relations}"] if one.relations else []
    return lines


def explain_release(book: Book, recipe: Recipe, name: str) -> Explanation:
    """Judge a release with everything in the ledger and say what stands against it; nothing is recorded."""
    stage = book.stage(recipe, name)
    asked = stage.scene.answered
    together_with = (*stage.before, *((f"{asked} answers",) if asked else ()))
    if not any(facts.watches for own in stage.told.values() for facts in own):
        return Explanation(JointVerdict(name, Outcome.SAFE), together_with, ())
    system = stage.system()
    verdict = system.judge(stage.new, most_exposures=MOST)
    return Explanation(verdict, together_with, conflicts_of(system, stage.new, verdict))


def conflicts_of(system: JointSystem, new: Facts, verdict: JointVerdict, *, most: int = MOST) -> tuple[Conflict, ...]:
    """What stands against a release, each with the relations that prove it."""
    found = []
    for one in verdict.exposures[:most]:
        sentence, *relations = explain(system, new, JointVerdict(verdict.release, verdict.outcome, (one,)))
        found.append(Conflict(one, sentence, " ".join(relations)))
    return tuple(found)
