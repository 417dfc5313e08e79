"""What each statistic tells: the sums over records that it can be computed from, or that it gives away.

An answered average tells a sum and a count, a variance also the sum of squares, a regression its normal equations. The
auditor treats all of these as released. A piece is one such sum: a product of responses (none: the records themselves),
possibly times numbers that everybody knows (numeric filters), over a set of records.
"""

from dataclasses import dataclass
from itertools import combinations_with_replacement, product

import numpy as np
from numpy.typing import NDArray

from reticent.base.errors import ParameterError
from reticent.queries.audit.rowspace import LinearRow
from reticent.queries.canonical import COUNT, RecordSet, Universe
from reticent.queries.columns import fixed_point
from reticent.queries.language import Statistic

Mask = NDArray[np.bool_]
MOST_LEVELS = 256


@dataclass(frozen=True)
class Piece:
    """Σ over the records of Π responses · Π known numbers."""

    responses: tuple[str, ...]
    records: RecordSet
    known: tuple[str, ...] = ()

    @property
    def attribute(self) -> tuple[str, ...]:
        """The responses of the system of equations that the piece belongs to."""
        return self.responses or (COUNT,)

    def row(self, universe: Universe) -> LinearRow:
        """The piece as a row over the columns of its system."""
        columns = universe.columns(*self.attribute)
        mask = columns.mask(self.records)
        if not self.known:
            return LinearRow.of(mask)
        factors = np.ones(universe.versions[self.records.version].n_atoms, dtype=object)
        for name in self.known:
            factors = factors * _known_integers(universe, self.records.version, name)
        at_columns = np.append(factors, 0)[columns.atom_of[self.records.version]]
        levels = sorted({int(value) for value in at_columns[mask]} - {0})
        if len(levels) > MOST_LEVELS:
            raise ParameterError(f"{' and '.join(self.known)} have too many different values here; use cutpoints.")
        if any(abs(level) >= 2**62 for level in levels):
            raise ParameterError(f"{' and '.join(self.known)} have values too large to be audited.")
        return LinearRow(tuple((level, mask & (at_columns == level)) for level in levels))


def _known_integers(universe: Universe, version: int, name: str) -> NDArray[np.object_]:
    """A numeric filter at each atom of a version as whole numbers on a common scale (missing: 0)."""
    here = universe.versions[version]
    numbers = here.levels[name].numbers
    assert numbers is not None
    whole = fixed_point(numbers).integers.astype(object)
    return np.append(whole, 0)[here.codes[name]]


@dataclass(frozen=True)
class Factor:
    """One column of a regression's design: an indicator of a code (`level`), or a number."""

    name: str
    level: int | None = None
    known: bool = False


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


def design(universe: Universe, records: RecordSet, names: tuple[str, ...]) -> tuple[Factor, ...]:
    """The columns of a regression on some predictors: numbers, and indicators of all codes but the most common one."""
    version = universe.versions[records.version]
    sizes = np.bincount(version.atom, minlength=version.n_atoms)
    factors: list[Factor] = []
    for name in names:
        levels = version.levels.get(name)
        if levels is None:
            factors.append(Factor(name))
        elif levels.numbers is not None:
            factors.append(Factor(name, known=True))
        else:
            codes = version.codes[name]
            inside = records.atoms & (codes >= 0)
            counts = np.bincount(codes[inside], weights=sizes[inside], minlength=len(levels))
            if set(np.flatnonzero(counts).tolist()) - set(levels.shown):
                raise ParameterError(f"{name!r} has codes that its code list lacks; they cannot be shown.")
            reference = int(np.argmax(counts))
            factors += [Factor(name, int(code)) for code in np.flatnonzero(counts) if code != reference]
    return tuple(factors)


def pieces(statistic: Statistic, universe: Universe, records: RecordSet) -> tuple[Piece, ...]:
    """All sums that an exact answer to a statistic gives away, also of responses tied to those asked for."""
    found: list[Piece] = []
    for piece in (_with_known(universe, own) for own in _own_pieces(statistic, universe, records)):
        for names in product(*(universe.linked.get(name, (name,)) for name in piece.responses)):
            linked = Piece(tuple(sorted(names)), piece.records, piece.known)
            if linked not in found:
                found.append(linked)
    return tuple(found)


def _with_known(universe: Universe, piece: Piece) -> Piece:
    """A response that is also a filter is known to everybody, so it is a factor and not an unknown."""
    levels = universe.versions[piece.records.version].levels
    known = [name for name in piece.responses if name in levels and levels[name].numbers is not None]
    hidden = tuple(name for name in piece.responses if name not in known)
    return Piece(hidden, piece.records, tuple(sorted((*piece.known, *known))))


def _own_pieces(statistic: Statistic, universe: Universe, records: RecordSet) -> tuple[Piece, ...]:
    names = statistic.variables
    if statistic.name == "count":
        return (Piece((), complete(universe, records, names)),)
    if statistic.name == "sum":
        return (Piece(names, records),)
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
        return _normal_equations(universe, inside, names)
    if statistic.name == "km":
        return _life_table(universe, inside, names)
    raise ParameterError(f"{statistic.name} shows single values; it is not a sum over records.")


def _normal_equations(universe: Universe, records: RecordSet, names: tuple[str, ...]) -> tuple[Piece, ...]:
    """X'X, X'y and y'y, with the intercept, as sums over subsets."""
    factors = (Factor("", None), *design(universe, records, names[1:]), Factor(names[0]))
    found = []
    for one, other in combinations_with_replacement(factors, 2):
        piece = _product(universe, records, (one, other))
        if piece is not None and piece not in found:
            found.append(piece)
    return tuple(found)


def _product(universe: Universe, records: RecordSet, factors: tuple[Factor, ...]) -> Piece | None:
    version = universe.versions[records.version]
    mask = np.ones(version.n_atoms, dtype=bool)
    responses, known = [], []
    chosen: dict[str, int] = {}
    for factor in factors:
        if factor.level is not None:
            if chosen.setdefault(factor.name, factor.level) != factor.level:
                return None  # two codes of one variable never occur together
            mask &= version.codes[factor.name] == factor.level
        elif factor.known:
            known.append(factor.name)
        elif factor.name:
            responses.append(factor.name)
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
