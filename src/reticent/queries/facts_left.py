# SPDX-License-Identifier: Apache-2.0
"""What an answer tells, as facts over the ground: one declaration per query mode.

An exact answer tells the sums that `pieces` lists, a camouflaged one the hull that its numbers come from. A refusal tells the
arithmetic attacker nothing: what follows from it rests on the rules of the policy.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Ints, whole_product
from reticent.base.errors import DataError, ParameterError
from reticent.data.declarations import Declarations
from reticent.data.facts import COUNT, LARGEST, Fact, Facts, Term
from reticent.queries.camouflage.mode import CamouflageMode
from reticent.queries.canonical import Universe
from reticent.queries.design import Part, columns_of
from reticent.queries.language import REGRESSIONS, Statistic
from reticent.queries.modes import Cell, Mode, Request
from reticent.queries.noise.cell_key import CellKeyMode
from reticent.queries.pieces import Piece, complete, known_weights, pieces
from reticent.queries.places import Places
from reticent.queries.refusals import Answer, Refusal
from reticent.queries.terms import Factor
from reticent.tables.perturb.origins import ALIKE, origins_of
from reticent.tabulation.ground import GroundedData

MOST_SPARE = 2_000
"""Up to this many empty atoms, what an extreme tells of them is stated one by one."""
MOMENTS = "what sums of squares and products tell of single values"
ORDER = "which record has a value in the order, and that one has it"
TIMES = "what a life table tells of single times"
SAMPLED = "how near answers from subsampled and slightly changed records are to the true ones"
NOISY = "how near noisy sums and means are to the true ones"
PRIVATE = "how likely each true value is after the noise"


@dataclass(frozen=True, eq=False)
class Asked:
    """One value of an answer: the statistic, the cell it is about, and where it is in the ground."""

    places: Places
    request: Request
    cell: Cell
    statistic: Statistic
    value: object


@dataclass(frozen=True)
class Told:
    """Facts of one value, and what it may tell beyond."""

    facts: tuple[Fact, ...] = ()
    beyond: str = ""


Tell = Callable[[Mode, Asked], Told]


DECLARED: Declarations[str, Tell] = Declarations()
"""The declaration of each query mode, by its name in a policy."""
declares = DECLARED.declares


def facts_left(
    grounded: GroundedData, universe: Universe, mode: Mode, request: Request, result: Answer | Refusal, *, release: str
) -> Facts:
    """The facts that an answer leaves to the attacker; a refusal, or a refused value, leaves none."""
    if isinstance(result, Refusal) or not request.cells:
        return Facts(release, ())
    places = Places(grounded, universe, request.cells[0].records.version)
    facts: list[Fact] = []
    beyond: dict[str, None] = {}
    for cell, row in zip(request.cells, result.rows, strict=True):
        for statistic, value in zip(request.query.statistics, row.values, strict=True):
            if value is None:
                continue
            told = DECLARED[mode.name].read(mode, Asked(places, request, cell, statistic, value))
            facts += told.facts
            beyond |= dict.fromkeys([told.beyond] if told.beyond else [])
    words = "; ".join(beyond)
    return Facts(release, tuple(facts), certified=not words, beyond=words)


@declares(
    "open",
    "exact",
    "simulatable",
    tells="every sum that an exact answer reveals: counts, sums, of a mean both, of a regression its normal equations",
    beyond="only of variances, correlations, regressions (sums of squares and products), of extremes and quantiles (which record "
    "has them) and of life tables",
)
def _exact(mode: Mode, asked: Asked) -> Told:
    name = asked.statistic.name
    if name in ("min", "max"):
        return _extreme(asked)
    if name in ("median", "quantile"):
        return Told(_somebody(asked, asked.statistic.variables[0]), ORDER)
    facts = _counts_of_parts(asked)
    beyond = ""
    for piece in pieces(asked.statistic, asked.places.universe, asked.cell.records):
        if not set(piece.responses) <= set(asked.statistic.variables):
            continue  # what ties between responses tell is a fact of the data, not of the answer
        if len(piece.responses) > 1:
            beyond = MOMENTS
            continue
        told = [_count(asked, piece)] if not piece.responses else _sums(asked, piece)
        facts += [fact for fact in told if fact is not None]
        if name in ("sum", "ratio") and piece.responses:  # the others tell how many records there are
            facts += _somebody(asked, piece.responses[0]) if mode.name != "open" or _is_not_zero(asked, piece) else ()
    if name in REGRESSIONS or name == "km":
        beyond = beyond or (MOMENTS if name in REGRESSIONS else TIMES)
    return Told(tuple(facts), beyond)


def _is_not_zero(asked: Asked, piece: Piece) -> bool:
    """Whether the sum of a response over some records is not 0."""
    (response,) = piece.responses
    return bool(sum(asked.places.grounded.whole(response)[asked.places.units(piece.records, response)].tolist()))


def _somebody(asked: Asked, response: str) -> tuple[Fact, ...]:
    """Somebody of the cell has a value: without records there is no extreme, a sum is 0, and a protected mode answers none."""
    atoms = asked.places.atoms(asked.request, asked.cell, (response,))
    return (Fact((Term.total(COUNT, atoms),), 1, None),) if len(atoms) else ()


def _count(asked: Asked, piece: Piece) -> Fact | None:
    """A number of records, or a sum of numbers that select; of a regression or life table `_counts_of_parts` has them."""
    if asked.statistic.name in (*REGRESSIONS, "km"):
        return None
    atoms = asked.places.atoms(asked.request, asked.cell, asked.statistic.variables)
    return _weighted_count(asked.places, atoms, piece.known)


def _counts_of_parts(asked: Asked) -> list[Fact]:
    """The records with each code, or pair of codes, of a regression, and at each time of a life table.

    Standard errors tell them: they come from the sums of squares and products of what explains, of which these are a part.
    """
    places, statistic = asked.places, asked.statistic
    if statistic.name not in (*REGRESSIONS, "km"):
        return []
    inside = complete(places.universe, asked.cell.records, statistic.variables)
    if statistic.name == "km":
        time = statistic.variables[0]
        parts: list[tuple[Part, ...]] = [
            (Part(time, int(code)),) for code in np.unique(places.version.codes[time][inside.atoms]).tolist()
        ]
    else:
        columns = ((), *columns_of(places.universe, inside, statistic.regression))
        parts = [(*one, *other) for one, other in combinations_with_replacement(columns, 2)]
    every = places.atoms(asked.request, asked.cell, statistic.variables)
    found = [_count_of_part(places, every, own) for own in parts]
    return [fact for fact in found if fact is not None]


def _count_of_part(places: Places, atoms: Ints, parts: tuple[Part, ...]) -> Fact | None:
    """The records with all the codes, times the known numbers; None for a product with a response."""
    if any(part.level is None and not part.known for part in parts):
        return None
    for part in parts:
        if part.level is not None:
            text = places.version.levels[part.name].texts[part.level]
            atoms = atoms[places.labelled(part.name, text)[atoms]]
    return _weighted_count(places, atoms, tuple(part.factor for part in parts if part.known))


def _weighted_count(places: Places, atoms: Ints, known: tuple[Factor, ...], response: str | None = None) -> Fact | None:
    """The records of some atoms, times known numbers and a response that follows from codes."""
    if response is None and not known:
        weights = np.broadcast_to(np.int64(1), len(atoms))
    else:
        own = np.ones(len(atoms), dtype=object)
        if response is not None:
            own = places.grounded.by_atom(response)[atoms].astype(object)
        for factor in known:
            own = own * places.numbers(factor)[atoms].astype(object)
        common = math.gcd(*own.tolist()) or 1
        if any(abs(weight) // common >= LARGEST for weight in own.tolist()):
            return None
        atoms, weights = atoms[own != 0], (own[own != 0] // common).astype(np.int64)
    if not len(atoms):
        return None
    return Fact.exact((Term(COUNT, atoms, weights),), whole_product(places.grounded.counts[atoms], weights))


def _sums(asked: Asked, piece: Piece) -> list[Fact | None]:
    """A sum of a response, with what empty atoms could add to it; nothing, where their weights are not known."""
    (response,), ground = piece.responses, asked.places.grounded.ground
    if response not in ground.spare or response in asked.places.grounded.counted:
        return [_sum(asked, piece)]
    factors = [asked.places.at_atoms(factor) for factor in piece.known]
    if all(factor is not None for factor in factors):
        return [_sum_with_spare(asked, piece, [factor for factor in factors if factor is not None])]
    atoms = asked.places.atoms(asked.request, asked.cell, (response,))
    return [_sum(asked, piece), Fact.exact((Term.total(response, ground.spare_places(response, atoms)),), 0)]


def _sum(asked: Asked, piece: Piece) -> Fact | None:
    """A sum of a response, with known weights where the other factor is a filter."""
    places, (response,) = asked.places, piece.responses
    grounded = places.grounded
    if response not in grounded.decimals:
        raise DataError(f"facts: the ground does not have the response {response!r}; name it there.")
    units = places.units(piece.records, response)
    if response in grounded.counted:
        return _weighted_count(places, _whole_atoms(asked, units), piece.known, response)
    weights = np.broadcast_to(np.int64(1), len(units))
    if piece.known:
        at_atoms = known_weights(places.universe, piece)
        record_of_unit = np.empty(grounded.ground.n_units, dtype=np.int64)
        record_of_unit[places.unit_of_record] = np.arange(len(places.unit_of_record))
        own = at_atoms[places.version.atom[record_of_unit[units]]]
        common = math.gcd(*(int(w) for w in own)) or 1 if len(own) else 1
        if any(abs(int(w)) // common >= LARGEST for w in own):
            raise ParameterError("facts: the known numbers of a regression are too large to be exact.")
        weights = np.array([int(w) // common for w in own], dtype=np.int64)
        units, weights = units[weights != 0], weights[weights != 0]
    if not len(units):
        return None
    true = whole_product(grounded.whole(response)[units], weights)
    return Fact.exact((Term(response, units, weights),), true)


def _sum_with_spare(asked: Asked, piece: Piece, factors: list[NDArray[np.object_]]) -> Fact | None:
    """A sum of a response that relations connect with counts: what empty atoms could add to it is a part of it."""
    places, (response,), ground = asked.places, piece.responses, asked.places.grounded.ground
    units = places.units(piece.records, response)
    if not len(units):
        return None
    own = np.append(units, ground.spare_places(response, _selected(asked, units, response)))
    weights = np.broadcast_to(np.int64(1), len(own))
    if factors:
        known = np.ones(len(own), dtype=object)
        for factor in factors:
            known = known * factor[ground.atoms_of(response)[own]]
        common = math.gcd(*known.tolist()) or 1
        if any(abs(weight) // common >= LARGEST for weight in known.tolist()):
            raise ParameterError("facts: the known numbers of a regression are too large to be exact.")
        own, weights = own[known != 0], (known[known != 0] // common).astype(np.int64)
    total = whole_product(places.grounded.truth(response)[own], weights)
    return Fact.exact((Term(response, own, weights),), total) if len(own) else None


def _selected(asked: Asked, units: Ints, response: str) -> Ints:
    """The atoms that a sum over some units of a cell selects, empty ones too.

    A regression or life table divides its cell by codes: where all units of a sum have one code of such a variable, and others
    of the cell have another, the code selects.
    """
    places, ground = asked.places, asked.places.grounded.ground
    present = (response,) if asked.statistic.name in ("sum", "ratio") else asked.statistic.variables
    atoms = places.atoms(asked.request, asked.cell, present)
    here, chosen = atoms[places.grounded.counts[atoms] > 0], np.unique(ground.atom_of_unit[units])
    for name in (name for name in asked.statistic.variables if name in places.version.levels):
        codes = places.levels(name)[0]
        own = np.unique(codes[chosen])
        if len(own) == 1 and len(np.unique(codes[here])) > 1:
            atoms, here = atoms[codes[atoms] == own[0]], here[codes[here] == own[0]]
    if not np.array_equal(np.sort(here), chosen):
        raise DataError("facts: it is open which empty combinations of codes a sum of the answer selects.")
    return atoms


def _whole_atoms(asked: Asked, units: Ints) -> Ints:
    """The atoms of some units; empty ones of the cell too, where all its units are meant."""
    there = np.unique(asked.places.grounded.ground.atom_of_unit[units])
    every = asked.places.atoms(asked.request, asked.cell, asked.statistic.variables)
    occupied = every[asked.places.grounded.counts[every] > 0]
    return every if np.array_equal(occupied, there) else there


def _extreme(asked: Asked) -> Told:
    """Nobody lies beyond an extreme; who has it is not said."""
    (response,) = asked.statistic.variables
    grounded = asked.places.grounded
    units = asked.places.units(asked.cell.records, response)
    whole = round(Fraction(repr(float(str(asked.value)))) * 10 ** grounded.decimals[response])
    if response in grounded.counted:
        atoms, sign = _whole_atoms(asked, units), 1 if asked.statistic.name == "max" else -1
        beyond = atoms[sign * grounded.by_atom(response)[atoms] > sign * whole]
        return Told((Fact.exact((Term.total(COUNT, beyond),), 0),) if len(beyond) else (), ORDER)
    ends = (whole, None) if asked.statistic.name == "min" else (None, whole)
    facts = [Fact((Term.total(response, units[at : at + 1]),), *ends) for at in range(len(units))]
    return Told((*facts, *_extreme_of_spare(asked, response, whole), *_somebody(asked, response)), ORDER)


def _extreme_of_spare(asked: Asked, response: str, whole: int) -> Iterator[Fact]:
    """What nobody beyond an extreme means for atoms that are empty; nothing is there, where they are too many to say it."""
    ground, sign = asked.places.grounded.ground, 1 if asked.statistic.name == "max" else -1
    atoms = asked.places.atoms(asked.request, asked.cell, (response,))
    places = ground.spare_places(response, atoms)
    if len(places) > MOST_SPARE:
        yield Fact.exact((Term.total(response, places),), 0)
        return
    for place in places.tolist():
        atom = ground.empty[place - ground.n_units]
        sums = Term(response, np.array([place]), np.array([-sign]))
        yield Fact((sums, Term(COUNT, np.array([atom]), np.array([sign * whole]))) if whole else (sums,), 0, None)


@declares(
    "camouflage", tells="that all values of a response together lie in its stored hull: cells and slabs; counts exactly"
)
def _camouflaged(mode: Mode, asked: Asked) -> Told:
    assert isinstance(mode, CamouflageMode)
    if asked.statistic.name == "count":
        atoms = asked.places.atoms(asked.request, asked.cell, asked.statistic.variables)
        true = int(asked.places.grounded.counts[atoms].sum())
        return Told((Fact.exact((Term.total(COUNT, atoms),), true),) if len(atoms) else ())
    names = [name for name in asked.statistic.variables if name in mode.hulls]
    there = [fact for name in asked.statistic.variables[:1] for fact in _somebody(asked, name)]
    return Told((*(fact for name in names for fact in _hull(mode, asked.places, name)), *there))


def _hull(mode: CamouflageMode, places: Places, response: str) -> list[Fact]:
    placed, scale = mode.hulls[response], 10 ** places.grounded.decimals[response]
    hull, here = placed.hull, np.flatnonzero(placed.positions >= 0)
    units = places.unit_of_record[here]
    at = placed.positions[here]
    spare = places.grounded.ground.spare_places(response, np.arange(places.grounded.ground.n_atoms))
    facts = [Fact.exact((Term.total(response, spare),), 0)] if len(spare) else []  # the hull is of these records
    for unit, row in zip(units.tolist(), at.tolist(), strict=True):
        low, high = (Fraction(int(end)) * hull.half * scale for end in (hull.low[row], hull.high[row]))
        facts.append(Fact((Term.total(response, np.array([unit])),), ceil(low), floor(high)))
    sizes = np.bincount(hull.block[hull.block >= 0], minlength=len(hull.least_total))
    for block in np.unique(hull.block[at][hull.block[at] >= 0]).tolist():
        members = np.sort(units[hull.block[at] == block])
        if len(members) == sizes[block]:  # of a block with members of other versions nothing is said here
            low, high = (Fraction(int(end[block])) * hull.half * scale for end in (hull.least_total, hull.most_total))
            facts.append(Fact((Term.total(response, members),), ceil(low), floor(high)))
    return facts


@declares(
    "cell-key",
    tells="the true counts that the noise leads to the answered one; of sums nothing",
    beyond=f"{ALIKE}; {NOISY}",
)
def _keyed(mode: Mode, asked: Asked) -> Told:
    assert isinstance(mode, CellKeyMode)
    if asked.statistic.name != "count":
        return Told(beyond=NOISY)
    atoms = asked.places.atoms(asked.request, asked.cell, asked.statistic.variables)
    found = origins_of(mode.options.tables()[0], np.array([float(str(asked.value))]))
    low, high = int(found.low[0]), int(found.high[0])
    return Told((Fact((Term.total(COUNT, atoms),), low, high),) if len(atoms) else (), ALIKE)


@declares(
    "analysis", tells="nothing exactly: universes without a few records, with slightly changed values", beyond=SAMPLED
)
def _analysed(mode: Mode, asked: Asked) -> Told:
    return Told(beyond=SAMPLED)


@declares("private", tells="nothing exactly: every answer is differentially private", beyond=PRIVATE)
def _private(mode: Mode, asked: Asked) -> Told:
    return Told(beyond=PRIVATE)
