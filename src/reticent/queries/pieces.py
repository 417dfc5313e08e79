# SPDX-License-Identifier: Apache-2.0
"""What each statistic tells: the sums over records that it can be computed from, or that it reveals.

An answered average tells a sum and a count, a variance also the sum of squares, a regression its normal equations. The
auditor treats all of these as released. A piece is one such sum: a product of responses (none: the records themselves),
possibly times numbers that everybody knows (numeric filters), over a set of records.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement, product

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Mask
from reticent.base.errors import ParameterError
from reticent.queries.canonical import COUNT, MOST_LEVELS, RecordSet, Universe
from reticent.queries.design import Column, Part, columns_of, lower_bound
from reticent.queries.fixed import fixed_point
from reticent.queries.language import Statistic
from reticent.queries.terms import Factor, Model, transformed
from reticent.releases.rows import LinearRow


@dataclass(frozen=True)
class Piece:
    """Σ over the records of Π responses · Π known numbers; with `risen`, times the amounts by which this response rose."""

    responses: tuple[str, ...]
    records: RecordSet
    known: tuple[Factor, ...] = ()
    risen: str = ""

    @property
    def attribute(self) -> tuple[str, ...]:
        """The responses of the system of equations that the piece belongs to."""
        return self.responses or (COUNT,)

    @property
    def _known_names(self) -> str:
        return " and ".join(map(str, self.known))

    def row(self, universe: Universe) -> LinearRow:
        """The piece as a row over the columns of its system."""
        columns = universe.columns(*self.attribute)
        mask = columns.mask(self.records)
        if not self.known and not columns.weights:
            return LinearRow.of(mask)
        at_columns = np.append(known_weights(universe, self), 0)[columns.atom_of[self.records.version]]
        if columns.weights:
            at_columns = at_columns * columns.weights[self.records.version]
        if self.risen:
            at_columns = at_columns * columns.amounts[self.risen][self.records.version]
        levels = sorted({int(value) for value in at_columns[mask]} - {0})
        if len(levels) > MOST_LEVELS:
            raise ParameterError(f"{self._known_names} have too many different values here; use cutpoints.")
        if any(abs(level) >= 2**62 for level in levels):
            raise ParameterError(f"{self._known_names} have values too large to be audited.")
        common = math.gcd(*levels) or 1  # a multiple of a row tells the same
        return LinearRow(tuple((level // common, mask & (at_columns == level)) for level in levels))


def known_weights(universe: Universe, piece: Piece) -> NDArray[np.object_]:
    """The product of the known factors of a piece at each atom of its version, as whole numbers on a common scale."""
    version = piece.records.version % len(universe.versions)  # layers of several responses are numbered on
    factors = np.ones(universe.versions[version].n_atoms, dtype=object)
    for factor in piece.known:
        factors = factors * _known_integers(universe, version, factor)
    return factors


def _known_integers(universe: Universe, version: int, factor: Factor) -> NDArray[np.object_]:
    """A numeric filter, its transform, or a response that filters determine, at each atom of a version.

    As whole numbers on a common scale (missing: 0).
    """
    here = universe.versions[version]
    levels = here.levels.get(factor.variable)
    if levels is None or levels.numbers is None:  # a response, which may be a filter in bins too
        at_atoms = here.by_atom(factor.variable)
        assert at_atoms is not None
        return np.asarray(fixed_point(np.nan_to_num(at_atoms)).integers.astype(object))
    whole = fixed_point(transformed(levels.numbers, factor.transform, lower_bound(universe.policy, factor)))
    return np.append(whole.integers.astype(object), 0)[here.codes[factor.variable]]


def restrict(universe: Universe, records: RecordSet, mask: Mask) -> RecordSet:
    """The records that also lie in some atoms."""
    return universe.record_set(records.atoms & mask, version=records.version)


def complete(universe: Universe, records: RecordSet, names: tuple[str, ...]) -> RecordSet:
    """The records for which all the variables are there."""
    version = universe.versions[records.version]
    mask = records.atoms.copy()
    for name in names:
        mask &= version.present[name] if name in version.present else version.codes[name] >= 0
    return universe.record_set(mask, version=records.version)


def pieces(statistic: Statistic, universe: Universe, records: RecordSet) -> tuple[Piece, ...]:
    """All sums that an exact answer to a statistic reveals, also of responses tied to those asked for.

    A tied response is summed over the records that have the one asked for: its sum over all, less this one, is of the others.
    """
    found: list[Piece] = []
    for piece in (_with_known(universe, own) for own in _own_pieces(statistic, universe, records)):
        ties = [universe.linked.get(name, (name,)) for name in piece.responses]
        there = (
            complete(universe, piece.records, piece.responses) if max(map(len, ties), default=1) > 1 else piece.records
        )
        for names in product(*ties):
            linked = Piece(tuple(sorted(names)), there, piece.known)
            found += [each for each in (linked, *_by_filters(universe, linked)) if each not in found]
    return tuple(found)


def as_before(universe: Universe, parts: tuple[Piece, ...]) -> Iterator[Piece]:
    """What sums, and sums of squares, tell in a system in which values that all changed in one way count as the old ones.

    Where values x rose by an amount a, Σ (x + a)·y is Σ x·y and Σ a·y: who has both versions has the last one too.
    """
    for piece in parts:
        if len(set(piece.responses)) == 1:
            yield from _in_old_values(universe, piece, piece.responses)
        yield from _products_in_old_values(universe, piece)
        for risen, other in (
            dict.fromkeys((piece.responses, piece.responses[::-1])) if len(piece.responses) == 2 else ()
        ):
            for own in _in_old_values(universe, piece, (other,)) if risen in universe.risen else ():
                columns = universe.columns(*own.responses)
                if columns.amounts[risen][own.records.version][columns.mask(own.records)].any():
                    yield replace(own, risen=risen)


def _products_in_old_values(universe: Universe, piece: Piece) -> Iterator[Piece]:
    """A sum of products of two responses, the values of one of which count as the old ones."""
    for own, other in (piece.responses, piece.responses[::-1]) if len(set(piece.responses)) == 2 else ():
        if universe.before(own) is not universe.before(other):
            for old in _in_old_values(universe, piece, (own,)):
                yield replace(old, responses=tuple(sorted((*old.responses, other))))


def _in_old_values(universe: Universe, piece: Piece, responses: tuple[str, ...]) -> Iterator[Piece]:
    """The sum of a response, or of its squares, over the records of a piece, if its values count as the old ones."""
    before = universe.before(responses[0])
    if before is not None:
        layer = before.layer_of(responses[0], piece.records.version)
        names = (before.name,) * len(responses)
        yield replace(piece, responses=names, records=replace(piece.records, version=layer))


def _with_known(universe: Universe, piece: Piece) -> Piece:
    """A response that is also a filter is known to everybody, so it is a factor and not an unknown."""
    levels = universe.versions[piece.records.version].levels
    known = [name for name in piece.responses if name in levels and levels[name].numbers is not None]
    hidden = tuple(name for name in piece.responses if name not in known)
    return Piece(hidden, piece.records, tuple(sorted((*piece.known, *map(Factor, known)))))


def _by_filters(universe: Universe, piece: Piece) -> Iterator[Piece]:
    """A product with a response that filters determine is also a sum of the other response with known weights."""
    if len(set(piece.responses)) != 2:
        return
    for other, name in (piece.responses, piece.responses[::-1]):
        if universe.told_by_filters(name):
            yield Piece((other,), piece.records, tuple(sorted((*piece.known, Factor(name)))))


def _own_pieces(statistic: Statistic, universe: Universe, records: RecordSet) -> tuple[Piece, ...]:
    names = statistic.variables
    if statistic.name == "count":
        return (Piece((), complete(universe, records, names)),)
    if statistic.name in ("sum", "ratio"):  # a ratio reveals less than its two sums
        return tuple(Piece((name,), records) for name in names)
    inside = complete(universe, records, names)
    if statistic.name == "avg":
        return (Piece(names, inside), Piece((), inside))
    if statistic.name in ("variance", "stddev"):
        return (Piece((), inside), Piece(names, inside), Piece(names * 2, inside))
    if statistic.name == "corr":
        first, second = names
        products = ((first,), (second,), (first, first), (second, second), (first, second))
        return (Piece((), inside), *(Piece(product, inside) for product in products))
    if statistic.name in ("linreg", "logreg"):
        return _normal_equations(universe, inside, statistic.regression)
    if statistic.name == "km":
        return _life_table(universe, inside, names)
    raise ParameterError(f"{statistic.name} shows single values; it is not a sum over records.")


def _normal_equations(universe: Universe, records: RecordSet, model: Model) -> tuple[Piece, ...]:
    """X'X, X'y and y'y, with the intercept, as sums over subsets."""
    response: Column = (Part(model.response.variable, transform=model.response.transform),)
    columns = ((), *columns_of(universe, records, model), response)
    found: dict[Piece, None] = {}
    for one, other in combinations_with_replacement(columns, 2):
        piece = _product(universe, records, (*one, *other))
        if piece is not None:
            found[piece] = None
    return tuple(found)


def _product(universe: Universe, records: RecordSet, parts: Column) -> Piece | None:
    version = universe.versions[records.version]
    mask = np.ones(version.n_atoms, dtype=bool)
    responses, known = [], []
    chosen: dict[str, int] = {}
    for part in parts:
        if part.level is not None:
            if chosen.setdefault(part.name, part.level) != part.level:
                return None  # two codes of one variable never occur together
            mask &= version.codes[part.name] == part.level
        elif part.known:
            known.append(part.factor)
        elif part.transform:
            raise ParameterError(f"a transform of the confidential {part.name!r} cannot be audited.")
        else:
            responses.append(part.name)
    return Piece(tuple(sorted(responses)), restrict(universe, records, mask), tuple(sorted(known)))


def _life_table(universe: Universe, records: RecordSet, names: tuple[str, ...]) -> tuple[Piece, ...]:
    """Records and events at each time."""
    time, event = names
    version = universe.versions[records.version]
    if time not in version.levels or event in version.levels:
        raise ParameterError("KM needs a filter as time and a response with the values 0 and 1 as event.")
    codes = version.codes[time]
    found = []
    for code in np.unique(codes[records.atoms]).tolist():
        there = restrict(universe, records, codes == code)
        found += [Piece((), there), Piece((event,), there)]
    return tuple(found)
