# SPDX-License-Identifier: Apache-2.0
"""What was published before the ledger knew of it: whether it can be true of the data, and what it leaves of what is watched."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from reticent.base.arrays import Ints
from reticent.base.errors import DataError
from reticent.data.facts import COUNT, OWN, Fact, Facts
from reticent.data.published_table import EMPTY, HIDDEN, PublishedTable
from reticent.data.table import Dimension
from reticent.history.amended import Amendment
from reticent.history.book import Book
from reticent.history.editions import Recipe
from reticent.history.explaining import Conflict, conflicts_of
from reticent.history.file_recipe import FileRecipe
from reticent.history.scene import Scene
from reticent.history.staging import scene_with, staged
from reticent.releases.explain import describe
from reticent.releases.joint import JointSystem
from reticent.releases.verdict import Exposure
from reticent.tabulation.ground import GroundedData
from reticent.tabulation.tied_facts import classes_of

INFEASIBLE = 2


@dataclass(frozen=True, eq=False)
class Imported:
    """What an import tells, what was known too well as soon as it was released, and what that leaves of the watches."""

    facts: Facts = field(repr=False)
    conflicts: tuple[Conflict, ...]
    amendments: tuple[Amendment, ...] = field(repr=False)
    together_with: tuple[str, ...]

    def sentence(self) -> str:
        """In words."""
        text = f"{self.facts.release}: published before; from now on every verdict takes it into account."
        known = list(dict.fromkeys(one.sentence for one in self.conflicts))
        if known:
            text += f" Nothing can undo what it reveals beside the other releases: {' '.join(known)}"
        if not self.facts.certified:
            text += f" Not certified: it may reveal more than is judged ({self.facts.beyond})."
        return text


@dataclass(frozen=True)
class ImportedRelease:
    """What became of an import: its entry (None: only judged), what it says, and what it was judged with."""

    name: str
    number: int | None
    found: Imported

    def summary(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "release": self.name,
            "entry": self.number,
            "sentence": self.found.sentence(),
            "conflicts": [one.plain() for one in self.found.conflicts],
            "certified": self.found.facts.certified,
            "judged with": list(self.found.together_with),
        }


def judge_import(book: Book, recipe: Recipe, name: str) -> Imported:
    """Take a release in that was released before; what cannot be true of the data is refused."""
    scene = scene_with(book, recipe, name, checked=False)  # what contradicts the data is named below
    _check_possible(scene, recipe, name)
    case = staged(scene, name)
    if not any(facts.watches for facts in case.every):
        return Imported(case.new, (), (), case.together_with)
    system = case.system()
    verdict = system.take_published(case.new)
    amendments = _amendments(system, case.every, verdict.exposures)
    return Imported(case.new, conflicts_of(system, case.new, verdict), amendments, case.together_with)


def _amendments(system: JointSystem, told: Sequence[Facts], exposures: Sequence[Exposure]) -> tuple[Amendment, ...]:
    """What is left of each watched sum that is proved to be known too well; what is not proved stays watched as it is."""
    number_of = {id(watch): (facts.release, k) for facts in told for k, watch in enumerate(facts.watches)}
    known = {(one.hidden_by, one.watch) for one in exposures if one.proved}
    inside = {(one.hidden_by, one.watch) for one in exposures if one.proved and one.insider}
    found = []
    for sight in (sight for part in system.parts.values() for sight in part.system.sights):
        which = (sight.watch.release, sight.watch.name)
        if which in known:
            ends = (sight.low, sight.high) if sight.low < sight.high else None
            found.append(Amendment(*number_of[id(sight.watch)], ends, which in inside))
    return tuple(found)


def _check_possible(scene: Scene, recipe: Recipe, name: str) -> None:
    """Refuse what does not hold of the data."""
    grounded = scene.grounded
    if isinstance(recipe, FileRecipe):
        selected = [facts for own in scene.tables.values() for facts in own]
        own = recipe.facts(grounded, name, classes_of(grounded.ground, [*selected, *scene.asked]))
    else:
        own = scene.tables[name]
    truth = {name: grounded.truth(name) for name in (COUNT, *grounded.decimals)}
    for facts in own:
        plain = [fact for fact in facts.facts if all(term.response != OWN for term in fact.terms)]
        wrong = [fact for fact in plain if not _holds(fact, truth)]
        if wrong:
            raise _contradicts(facts.release, grounded, wrong)
        if not _has_world(facts, truth):
            raise DataError(
                f"import: {facts.release!r} cannot have been made from these data by these steps; give the steps, the schema and "
                "the version of the data that it was made with."
            )


def _holds(fact: Fact, truth: Mapping[str, Ints]) -> bool:
    total = _true_total(fact, truth)
    return (fact.low is None or total >= fact.low) and (fact.high is None or total <= fact.high)


def _true_total(fact: Fact, truth: Mapping[str, Ints]) -> int:
    return sum(int(term.weights @ truth[term.response][term.places]) for term in fact.terms if term.response != OWN)


def _contradicts(release: str, grounded: GroundedData, wrong: Sequence[Fact]) -> DataError:
    more = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
    return DataError(
        f"import: {release!r} contradicts the data in {describe(grounded.ground, wrong[0])}{more}; only what was published of "
        "these data, by the method that the plan names, can be imported."
    )


def _has_world(facts: Facts, truth: Mapping[str, Ints]) -> bool:
    """Whether auxiliary unknowns can make everything true of the data; what no program can exclude is let pass."""
    mixed = [fact for fact in facts.facts if any(term.response == OWN for term in fact.terms)]
    if not mixed:
        return True
    rows, columns, weights, low, high = [], [], [], [], []
    for row, fact in enumerate(mixed):
        total = _true_total(fact, truth)
        for term in (term for term in fact.terms if term.response == OWN):
            rows.append(np.full(len(term.places), row))
            columns.append(term.places)
            weights.append(term.weights)
        low.append(-np.inf if fact.low is None else fact.low - total)
        high.append(np.inf if fact.high is None else fact.high - total)
    cells = (np.concatenate(weights).astype(np.float64), (np.concatenate(rows), np.concatenate(columns)))
    matrix = sparse.csr_array(cells, shape=(len(mixed), len(facts.own)))
    ends = Bounds([a for a, _ in facts.own], [np.inf if b is None else b for _, b in facts.own])
    found = milp(np.zeros(len(facts.own)), constraints=LinearConstraint(matrix, low, high), bounds=ends)
    return bool(found.status != INFEASIBLE)


def check_adds_up(published: PublishedTable, dimensions: Sequence[Dimension], *, exact: bool) -> None:
    """Refuse a published table in which a total is not the sum of its parts, where all of them are published.

    Without `exact` values were written with fewer decimals than the data have, and may be off by half a unit each.
    """
    values = {codes: _shown(published, row) for row, codes in enumerate(published.codes)}
    unit = Fraction(1, 10**published.decimals)
    for codes, total in values.items():
        for at, dimension in enumerate(dimensions):
            for tree in dimension.trees:
                below = np.flatnonzero(tree == dimension.position(codes[at])).tolist()
                parts = [values.get((*codes[:at], dimension.codes[node], *codes[at + 1 :])) for node in below]
                known = [part for part in parts if part is not None]
                if total is None or not parts or len(known) < len(parts):
                    continue
                if abs(sum(known) - total) > (0 if exact else unit * (len(parts) + 1) / 2):
                    raise DataError(
                        f"import: the table does not add up: {' × '.join(codes)} is not the sum of its {len(parts)} parts by "
                        f"{dimension.name}."
                    )


def _shown(published: PublishedTable, row: int) -> Fraction | None:
    if published.status[row] == HIDDEN:
        return None
    return Fraction(0) if published.status[row] == EMPTY else Fraction(published.text(row))
