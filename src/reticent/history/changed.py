# SPDX-License-Identifier: Apache-2.0
"""Memory for methods that publish other values: rounding the other way, and adjustment that knows what was released.

Rounding is tried again with cells of the proof kept from the multiple that they had, until the joint verdict is safe or
nothing is left to try. Adjustment takes what earlier releases keep unknown as unsafe, and what they show as fixed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from reticent.base.errors import InfeasibleError, NotProtectedError
from reticent.data.facts import COUNT, Facts, Term
from reticent.data.published_table import PUBLISHED
from reticent.history.book import Book, Stage
from reticent.history.remembered import Remembered, Run, judged_run, named, published_order, with_memories
from reticent.history.table_recipe import ShownTable, TableRecipe
from reticent.tables.listing import with_unlisted
from reticent.tables.memory import Codes, Ends, Memory
from reticent.tables.methods import Adjust, Round
from reticent.tables.request import TableRequest

MOST_ROUNDINGS = 40
"""This many roundings are tried."""
Cell = tuple[int, Codes]
Windows = Mapping[Cell, Ends]
Unknowns = tuple[str, bytes, bytes]


def change_again(book: Book, request: TableRequest, name: str, run: Run) -> Remembered:
    """Protect tables by a method that publishes other values, so that they are safe with everything in the ledger.

    Methods that only draw have nothing to choose: they are judged as they come out.
    """
    method = request.method
    if isinstance(method, Round) and not method.successive and not method.rapid_fallback:
        return _round(book, request, method, name, run)
    if isinstance(method, Adjust):
        return _adjust(book, request, name, run)
    return judged_run(book, request, name, run)


def _round(book: Book, request: TableRequest, method: Round, name: str, run: Run) -> Remembered:
    """Search over the multiples that cells of a proof may become; the first verdict stands where nothing safe is found."""
    own = book.recipes().get(name)
    if isinstance(own, TableRecipe):  # what is recorded is written again as it is
        return judged_run(book, _within(request, _values(own)), name, run)
    left: list[Windows] = [{}]
    for _ in range(MOST_ROUNDINGS):
        if not left:
            break
        windows = left.pop()
        try:
            found, alone = _rounded(book, _within(request, windows), name, run)
        except InfeasibleError:  # these multiples do not add up
            continue
        if not found.judged.verdict.safe:
            left += [*_options(book, found, windows, method, name)][::-1]
        elif alone:
            cells = named([" × ".join(codes) for _, codes in windows])
            return replace(
                found, notes=(f"Rounded another way because of earlier releases: {cells}.",) if cells else ()
            )
    return judged_run(book, request, name, run)


def _rounded(book: Book, request: TableRequest, name: str, run: Run) -> tuple[Remembered, bool]:
    """A rounding, and whether it is safe alone: what it exposes alone is exposed together too, with a proof to go on from."""
    try:
        return judged_run(book, request, name, run), True
    except NotProtectedError:
        return judged_run(book, request, name, run, exposed=True), False


def _values(recipe: TableRecipe) -> Windows:
    """The published values of each cell as the only ones that it may have."""
    return {(at, codes): (value, value) for at, shown in enumerate(recipe.tables) for codes, value in _listed(shown)}


def _listed(shown: ShownTable) -> list[tuple[Codes, float]]:
    """The cells of a rounded table with their values, those that it leaves out because they are 0 too."""
    whole = with_unlisted(shown.published, shown.frame())
    return [
        (codes, value) for codes, value in zip(whole.codes, whole.values.tolist(), strict=True) if np.isfinite(value)
    ]


def _options(book: Book, found: Remembered, windows: Windows, method: Round, name: str) -> Iterator[Windows]:
    """For each cell in the proof of an exposure, the smaller first: not the multiple that the proof rests on.

    A fact with a positive factor is used by its lower end, so that the cell must be published lower, and the other way round.
    """
    stage = book.stage(found.recipe, name)
    places = list(_facts_of_cells(stage, found, name))
    values = _values(found.recipe)
    proof = found.judged.verdict.exposures[0].combination
    used = {(cell, y < 0) for release, fact, y in proof if release == name and (cell := places[fact]) is not None}
    for cell, up in sorted(used, key=lambda one: (values[one[0]], one)):
        least, most = windows.get(cell, (-np.inf, np.inf))
        value, _ = values[cell]
        ends = (max(least, value + method.base), most) if up else (least, min(most, value - method.base))
        if ends[0] <= ends[1]:
            yield {**windows, cell: ends}


def _facts_of_cells(stage: Stage, found: Remembered, name: str) -> Iterator[Cell | None]:
    """The cell that each fact of a release is about; None for what is no cell's own."""
    cells = found.recipe.cell_facts(stage.scene.grounded, name)
    for at, facts in enumerate(stage.told[name]):
        yield from ((at, codes) for codes in cells[at])
        yield from (None for _ in range(len(facts.facts) - len(cells[at])))


def _within(request: TableRequest, windows: Windows) -> TableRequest:
    memories = [one.memory for one in request.tables]
    for at, number in enumerate(published_order(request)):
        own = {codes: ends for (table, codes), ends in windows.items() if table == at}
        memories[number] = replace(memories[number], window=own)
    return with_memories(request, memories)


def _adjust(book: Book, request: TableRequest, name: str, run: Run) -> Remembered:
    """Adjust with what earlier releases keep unknown as unsafe; what they show keeps its value, if that can be."""
    results, recipe = run(request)
    stage = book.stage(recipe, name)
    # cells of other versions have other records: what they keep unknown is for the joint verdict
    own = [release for release in _before(book, name) if release in stage.scene.recipes]
    earlier = [facts for release in own for facts in stage.told[release]]
    known = [_known(stage, earlier, recipe, at, name) for at in range(len(recipe.tables))]
    if not any(memory.unsafe or memory.show for memory in known):
        return Remembered(results, recipe, book.judge(recipe, name))
    for shown in (True, False):
        memories = [one.memory for one in request.tables]
        for at, number in enumerate(published_order(request)):
            memories[number] = known[at] if shown else replace(known[at], show=frozenset())
        try:
            found = judged_run(book, with_memories(request, memories), name, run)
        except (InfeasibleError, NotProtectedError) as err:
            refused = err
            continue
        return replace(found, notes=_adjusted_notes(known, shown=shown))
    raise refused


def _before(book: Book, name: str) -> list[str]:
    """The releases before one of this name, or all: what is written again must come out as it was."""
    names = list(book.recipes())
    return names[: names.index(name)] if name in names else names


def _known(stage: Stage, earlier: Sequence[Facts], recipe: TableRecipe, at: int, name: str) -> Memory:
    """Which cells of a table earlier releases watch, and which they show exactly."""
    watched, shown = _earlier(earlier)
    unsafe, show = {}, set()
    scales = {COUNT: 1, **{response: 10**digits for response, digits in stage.scene.grounded.decimals.items()}}
    hidden = _not_published(recipe.tables[at])
    for codes, term in recipe.cell_terms(stage.scene.grounded, name)[at].items():
        key, scale = _key(term), scales[term.response]
        if codes in hidden:
            continue
        if key in watched:
            unsafe[codes] = (watched[key][0] / scale, watched[key][1] / scale)
        elif key in shown:
            show.add(codes)
    return Memory(show=frozenset(show), unsafe=unsafe)


def _not_published(shown: ShownTable) -> set[Codes]:
    published = shown.published
    return {codes for codes, state in zip(published.codes, published.status, strict=True) if state != PUBLISHED}


def _earlier(facts: Sequence[Facts]) -> tuple[dict[Unknowns, tuple[int, int]], set[Unknowns]]:
    """What must stay possible of sums that are watched (the widest), and which sums become exact."""
    watched: dict[Unknowns, tuple[int, int]] = {}
    shown: set[Unknowns] = set()
    for told in facts:
        for watch in told.watches:
            key = _key(Term(watch.response, watch.places, watch.weights))
            low, high = watched.get(key, (watch.low, watch.high))
            watched[key] = (min(low, watch.low), max(high, watch.high))
        shown |= {_key(fact.terms[0]) for fact in told.facts if fact.is_exact and len(fact.terms) == 1}
    return watched, shown


def _key(term: Term) -> Unknowns:
    order = np.argsort(term.places, kind="stable")
    return term.response, term.places[order].astype(np.int64).tobytes(), term.weights[order].astype(np.int64).tobytes()


def _adjusted_notes(known: list[Memory], *, shown: bool) -> tuple[str, ...]:
    unsafe = [" × ".join(codes) for memory in known for codes in memory.unsafe]
    fixed = [" × ".join(codes) for memory in known for codes in sorted(memory.show)]
    notes = []
    if unsafe:
        notes.append(f"Adjusted because earlier releases keep it unknown: {named(unsafe)}.")
    if fixed:
        kept = "keeps its value" if shown else "could not keep its value"
        notes.append(f"What earlier releases show {kept}: {named(fixed)}.")
    return tuple(notes)
