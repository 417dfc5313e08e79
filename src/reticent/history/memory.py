# SPDX-License-Identifier: Apache-2.0
"""Protection with memory: a new table hides what it must hide so that everything released before stays unknown with it.

The table is protected by its own method first. Where the joint verdict is not safe, the cells that it might hide are shown
one after another, the costliest first, beside everything that was released: what would expose something stays hidden. With
these cells given, the method looks for its pattern again. Whatever comes out is judged as a whole once more.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from reticent.base.errors import InfeasibleError, NotProtectedError
from reticent.data.facts import Fact, Facts
from reticent.data.published_table import HIDDEN, PUBLISHED
from reticent.data.table import TableSpec
from reticent.history.book import Book, Stage, joined
from reticent.history.changed import change_again
from reticent.history.editions import Recipe
from reticent.history.remembered import (
    AlsoHidden,
    Remembered,
    Run,
    judged_run,
    named,
    published_order,
    with_memories,
)
from reticent.history.table_recipe import ShownTable, TableRecipe
from reticent.releases.joint import JointSystem
from reticent.releases.verdict import JointVerdict
from reticent.tables.memory import Codes, Memory, hideable
from reticent.tables.request import TableRequest, WantedTable, hides
from reticent.tables.result import ProtectedTable

MOST_VERDICTS = 400
"""This many verdicts are asked for while cells are shown again; what is left then stays hidden."""
Released = tuple[str, ShownTable]
"""A table that was released, with the name of the release."""


@dataclass(frozen=True, eq=False)
class Looked:
    """Which further cells of a table stay hidden beside everything that was released, or why no pattern is safe.

    `system` has taken in what the table tells with these cells hidden; `told` is what each of them would tell.
    """

    also: tuple[AlsoHidden, ...]
    told: tuple[Fact, ...] = field(repr=False)
    system: JointSystem = field(repr=False)
    refused: JointVerdict | None = None
    complete: bool = True


def remember(book: Book, request: TableRequest, name: str, run: Run) -> Remembered:
    """Protect tables so that they are safe together with everything in the ledger; judged, also where that fails.

    A revision keeps the pattern of the same table before it, if that can be: first as it was, then with more hidden.
    """
    recorded = book.recipes()
    own = recorded.pop(name, None)
    if not hides(request.method):
        return change_again(book, request, name, run)
    if own is not None:  # what is recorded was judged then, and is written again as it is
        same = _revised({name: own}, request)
        return judged_run(book, _keeping(request, same, shown=True), name, run)
    same = _revised(recorded, request)
    asked, found = _first(book, request, same, name, run)
    if not found.judged.verdict.safe:
        found = _hiding_more(book, asked, found, name, run)
    if not found.judged.verdict.safe:
        return found
    return replace(found, notes=(*_revisions(request, same, found.recipe), *found.notes))


def _first(
    book: Book, request: TableRequest, same: Mapping[int, Released], name: str, run: Run
) -> tuple[TableRequest, Remembered]:
    """The tables as their method protects them; a revision with what the table before it hid, if that can be."""
    tries = [_keeping(request, same, shown=shown) for shown in (True, False)] if same else []
    for asked in tries:
        try:
            found = judged_run(book, asked, name, run)
        except (InfeasibleError, NotProtectedError):
            continue
        if found.judged.verdict.safe or asked is tries[-1]:
            return asked, found
    return request, judged_run(book, request, name, run)


def _hiding_more(book: Book, asked: TableRequest, base: Remembered, name: str, run: Run) -> Remembered:
    """Hide what must be hidden beside everything that was released; with more hidden its method may choose another pattern."""
    found, given = base, [one.memory for one in asked.tables]
    for everything in (False, True):
        looked = look(book.stage(found.recipe, name), found.results, found.recipe, name)
        if looked.refused is not None:
            return replace(base, judged=replace(base.judged, verdict=looked.refused))
        given = _hiding(asked, found, looked, given, everything=everything)
        found = judged_run(book, with_memories(asked, given), name, run)
        if found.judged.verdict.safe:
            break
    also = _added(base.recipe, found.recipe, looked.also)
    left = () if looked.complete else (f"After {MOST_VERDICTS} verdicts the rest stays hidden.",)
    return replace(found, also=also, notes=(*_told(also), *left))


def _hiding(
    request: TableRequest, found: Remembered, looked: Looked, given: Sequence[Memory], *, everything: bool
) -> list[Memory]:
    """What must be hidden: the cells that were found, and with `everything` the whole pattern, which can then only grow."""
    more = list(given)
    shown = [own for result in found.results for own in hideable(result)]
    for at, number in enumerate(published_order(request)):
        cells = {one.codes for one in looked.also if one.table == at} | (shown[at].hidden if everything else set())
        more[number] = replace(more[number], hide=more[number].hide | cells)
    return more


def look(
    stage: Stage, results: Sequence[ProtectedTable], recipe: TableRecipe, name: str, *, most: int = MOST_VERDICTS
) -> Looked:
    """Show the cells of a table one after another beside everything that was released; what exposes something stays hidden.

    This many verdicts are asked for at `most`; what is left then stays hidden.
    """
    shown = [own for result in results for own in hideable(result)]
    grounded, system = stage.scene.grounded, stage.system()
    core = stage.unaware(joined(recipe.hiding([own.costs.keys() for own in shown]).facts(grounded, name), name))
    verdict = system.judge(core)
    if not verdict.safe:
        return Looked((), (), system, verdict)
    system.accept(verdict)
    facts = recipe.cell_facts(grounded, name)
    cells = [
        (-cost, at, codes) for at, own in enumerate(shown) for codes, cost in own.costs.items() if codes in facts[at]
    ]
    left = [(AlsoHidden(at, codes), facts[at][codes]) for _, at, codes in sorted(cells)]
    return _shown(system, left, name, most)


def _shown(system: JointSystem, cells: list[tuple[AlsoHidden, Fact]], name: str, most: int) -> Looked:
    """Halve what is not safe as a whole until single cells are left; the system takes in what is shown."""
    hidden: list[tuple[AlsoHidden, Fact]] = []
    batches, verdicts = [cells], 0
    while batches:
        batch = batches.pop()
        if verdicts >= most:
            hidden += batch
            continue
        verdicts += 1
        verdict = system.judge(Facts(name, tuple(fact for _, fact in batch)))
        if verdict.safe:
            system.accept(verdict)
        elif len(batch) == 1:
            hidden.append((replace(batch[0][0], why=verdict.exposures[0]), batch[0][1]))
        else:
            half = len(batch) // 2
            batches += [batch[half:], batch[:half]]
    also, told = tuple(one for one, _ in hidden), tuple(fact for _, fact in hidden)
    return Looked(also, told, system, complete=verdicts < most)


def _added(before: TableRecipe, after: TableRecipe, reasons: Sequence[AlsoHidden]) -> tuple[AlsoHidden, ...]:
    """The cells that a recipe shows and another hides, with the reasons that are known."""
    known = {(one.table, one.codes): one for one in reasons}
    return tuple(
        known.get((at, codes), AlsoHidden(at, codes))
        for at, (old, new) in enumerate(zip(before.tables, after.tables, strict=True))
        for codes in sorted(_having(old, PUBLISHED) & _having(new, HIDDEN))
    )


def _told(also: Sequence[AlsoHidden]) -> tuple[str, ...]:
    if not also:
        return ()
    reasons = dict.fromkeys(f"{one.why.watch} (hidden by {one.why.hidden_by})" for one in also if one.why is not None)
    kept = f", so that {named(list(reasons))} stays unknown" if reasons else ""
    return (f"Hidden in addition because of earlier releases: {named([' × '.join(one.codes) for one in also])}{kept}.",)


def _having(shown: ShownTable, status: str) -> frozenset[Codes]:
    published = shown.published
    return frozenset(codes for codes, state in zip(published.codes, published.status, strict=True) if state == status)


def _revised(released: Mapping[str, Recipe], request: TableRequest) -> dict[int, Released]:
    """The latest release of each table of a request that showed the same dimensions and response, by number and with its name."""
    found: dict[int, Released] = {}
    for release, recipe in released.items():
        for shown in recipe.tables if isinstance(recipe, TableRecipe) else ():
            for number, one in enumerate(request.tables):
                if shown.published.method == "suppression" and _same(one, shown):
                    found[number] = (release, shown)
    return found


def _same(one: WantedTable, shown: ShownTable) -> bool:
    source = one.source
    return (
        isinstance(source, TableSpec)
        and (source.response, source.weighted) == (shown.response, shown.weighted)
        and tuple(dimension.variable for dimension in source.dimensions) == shown.published.dimensions
    )


def _keeping(request: TableRequest, same: Mapping[int, Released], *, shown: bool) -> TableRequest:
    """The request with what was hidden before hidden again, and with `shown` what was published shown again."""
    memories = [one.memory for one in request.tables]
    for number, (_, old) in same.items():
        show = _having(old, PUBLISHED) if shown else frozenset()
        memories[number] = Memory(memories[number].hide | _having(old, HIDDEN), show)
    return with_memories(request, memories)


def _revisions(request: TableRequest, same: Mapping[int, Released], recipe: TableRecipe) -> tuple[str, ...]:
    """What is hidden and shown otherwise than in the tables before."""
    order, notes = published_order(request), []
    for number, (release, old) in sorted(same.items()):
        new = recipe.tables[order.index(number)]
        opened, closed = _having(old, HIDDEN) & _having(new, PUBLISHED), _having(old, PUBLISHED) & _having(new, HIDDEN)
        changed = [f"{what} {named([' × '.join(codes) for codes in sorted(cells)])}"
                   for what, cells in (("it hid, shown now:", opened), ("it showed, hidden now:", closed)) if cells]  # fmt: skip
        kept = (
            "its pattern of hidden cells is kept"
            if not changed
            else "its pattern could not be kept; " + "; ".join(changed)
        )
        notes.append(f"A table of the same variables was released as {release!r}: {kept}.")
    return tuple(notes)
