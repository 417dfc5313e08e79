# SPDX-License-Identifier: Apache-2.0
"""Coordinates for linking an original and a masked file: numbers scaled or whitened, codes shared, strings compared.

Distances follow Domingo-Ferrer and Torra, Definition 1, with the ordinal one corrected (equal codes are at 0): numeric
difference in standard deviations, ordinal |difference of positions|/(|D|−1), nominal 0 or 1, strings by normalized
Levenshtein distance; they aggregate as a sum of squares.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from reticent.base.checks import check_choice
from reticent.base.errors import DataError
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind

Floats = npt.NDArray[np.float64]
OWNER = "record linkage"
MEASURES = ("standardized", "mahalanobis")
ABSENT_NUMBER = 2.0  # the expected squared difference of two independent standardized values


@dataclass(frozen=True)
class Texts:
    """One string variable: squared distances between distinct texts, and which text each record has (−1: missing)."""

    squared: npt.NDArray[np.float32] = field(repr=False)
    original: npt.NDArray[np.int64] = field(repr=False)
    masked: npt.NDArray[np.int64] = field(repr=False)

    def block(self, rows: slice) -> Floats:
        """Squared distances of some masked records to all original ones; a missing masked text says nothing."""
        result = np.ones((self.masked[rows].size, self.original.size))
        known = self.original >= 0
        present = self.masked[rows] >= 0
        result[~present] = 0.0
        result[np.ix_(present, known)] = self.squared[np.ix_(self.masked[rows][present], self.original[known])]
        return result


@dataclass(frozen=True)
class Coordinates:
    """Both files as points of the same space; `names` are the variables, points first, then strings."""

    names: tuple[str, ...]
    original: Floats = field(repr=False)
    masked: Floats = field(repr=False)
    nominal: npt.NDArray[np.bool_] = field(repr=False)
    absent: Floats = field(repr=False)
    texts: tuple[Texts, ...] = field(default=(), repr=False)

    @property
    def n_original(self) -> int:
        """Records of the original file."""
        return int(self.original.shape[0])

    @property
    def n_masked(self) -> int:
        """Records of the masked file."""
        return int(self.masked.shape[0])

    @property
    def n_columns(self) -> int:
        """Point columns, then string variables."""
        return int(self.original.shape[1]) + len(self.texts)

    def columns(self, which: Sequence[int]) -> "Coordinates":
        """Only some variables (positions as in `names`)."""
        d = self.original.shape[1]
        points = [i for i in which if i < d]
        return replace(
            self,
            names=tuple(self.names[i] for i in which),
            original=np.ascontiguousarray(self.original[:, points]),
            masked=np.ascontiguousarray(self.masked[:, points]),
            nominal=self.nominal[points],
            absent=self.absent[points],
            texts=tuple(self.texts[i - d] for i in which if i >= d),
        )


def from_numbers(original: npt.ArrayLike, masked: npt.ArrayLike, *, measure: str = "standardized") -> Coordinates:
    """Numeric variables only: in standard deviations of the original file, or whitened by its covariance."""
    check_choice(measure, MEASURES, name="measure", owner=OWNER)
    x = _matrix(original)
    y = _matrix(masked)
    if x.shape[1] != y.shape[1]:
        raise DataError(f"{OWNER}: the files have {x.shape[1]} and {y.shape[1]} variables; they must be the same.")
    names = tuple(f"variable {i + 1}" for i in range(x.shape[1]))
    if measure == "standardized":
        return _coordinates(names, *_standardized(x, y), np.zeros(x.shape[1], dtype=bool))
    white_x, white_y = _whitened(x, y)
    names = names if white_x.shape[1] == x.shape[1] else tuple(f"direction {i + 1}" for i in range(white_x.shape[1]))
    return _coordinates(names, white_x, white_y, np.zeros(white_x.shape[1], dtype=bool))


def from_files(
    original: Microdata,
    masked: Microdata,
    variables: Sequence[str],
    *,
    strings: Sequence[str] = (),
    measure: str = "standardized",
) -> Coordinates:
    """The variables of two files, by their declared kind; `strings` are compared letter by letter."""
    check_choice(measure, MEASURES, name="measure", owner=OWNER)
    for data in (original, masked):
        data.schema.require((*variables, *strings), owner=OWNER)
    if not variables and not strings:
        raise DataError(f"{OWNER}: name at least one variable that the intruder knows.")
    kinds = {name: original.schema[name].kind for name in variables}
    numeric = [name for name in variables if kinds[name] is Kind.NUMERIC]
    coded = [name for name in variables if kinds[name] is not Kind.NUMERIC]
    parts = []
    if numeric:
        points = from_numbers(original.numbers(numeric), masked.numbers(numeric), measure=measure)
        parts.append(replace(points, names=tuple(numeric)) if len(points.names) == len(numeric) else points)
    for name in coded:
        parts.append(_coded(original, masked, name, ordinal=kinds[name] is Kind.ORDINAL))
    texts = tuple(string_distances(original.texts(name), masked.texts(name)) for name in strings)
    n, m = original.n_records, masked.n_records
    return Coordinates(
        tuple(name for part in parts for name in part.names) + tuple(strings),
        np.hstack([part.original for part in parts]) if parts else np.zeros((n, 0)),
        np.hstack([part.masked for part in parts]) if parts else np.zeros((m, 0)),
        np.concatenate([part.nominal for part in parts]) if parts else np.zeros(0, dtype=bool),
        np.concatenate([part.absent for part in parts]) if parts else np.zeros(0),
        texts,
    )


def string_distances(original: Sequence[str | None], masked: Sequence[str | None]) -> Texts:
    """Squared normalized Levenshtein distances between the distinct texts of two files."""
    from rapidfuzz.distance import Levenshtein  # late: few runs compare strings
    from rapidfuzz.process import cdist

    words_x, place_x = _distinct(original)
    words_y, place_y = _distinct(masked)
    if len(words_x) * len(words_y) > 400_000_000:
        raise DataError(
            f"{OWNER}: {len(words_y)} × {len(words_x)} distinct texts are too many to compare all; use blocks."
        )
    squared = np.zeros((len(words_y), len(words_x)), dtype=np.float32)
    if words_x and words_y:
        squared = np.asarray(cdist(words_y, words_x, scorer=Levenshtein.normalized_distance, dtype=np.float32)) ** 2
    return Texts(squared, place_x, place_y)


def _distinct(texts: Sequence[str | None]) -> tuple[list[str], npt.NDArray[np.int64]]:
    place: dict[str, int] = {}
    numbers = [-1 if text is None else place.setdefault(text, len(place)) for text in texts]
    return list(place), np.array(numbers, dtype=np.int64)


def _matrix(values: npt.ArrayLike) -> Floats:
    matrix = np.asarray(values, dtype=np.float64)
    matrix = matrix[:, None] if matrix.ndim == 1 else matrix
    if not matrix.size:
        raise DataError(f"{OWNER}: a file has no records or no variables.")
    return matrix


def _coordinates(names: tuple[str, ...], x: Floats, y: Floats, nominal: npt.NDArray[np.bool_]) -> Coordinates:
    absent = np.where(nominal, 1.0, ABSENT_NUMBER)
    return Coordinates(names, np.ascontiguousarray(x), np.ascontiguousarray(y), nominal, absent)


def _standardized(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    if bool(np.isnan(x).all(axis=0).any()):
        raise DataError(f"{OWNER}: a numeric variable of the original file is missing in every record.")
    center, spread = np.nanmean(x, axis=0), np.nanstd(x, axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    return (x - center) / spread, (y - center) / spread


def _whitened(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Mahalanobis distance is Euclidean after whitening; directions without variance are dropped."""
    if np.isnan(x).any() or np.isnan(y).any():
        raise DataError(f"{OWNER}: measure = 'mahalanobis' needs complete numbers; use 'standardized'.")
    x, y = _standardized(x, y)
    values, vectors = np.linalg.eigh(np.atleast_2d(np.cov(x.T)))
    keep = values > 1e-10 * values.max()
    turn = vectors[:, keep] / np.sqrt(values[keep])
    return x @ turn, y @ turn


def _coded(original: Microdata, masked: Microdata, name: str, *, ordinal: bool) -> Coordinates:
    """Codes of both files in one numbering: the original's order, then codes that only the masked file has."""
    order = list(original.categories(name))
    place = {code: position for position, code in enumerate(order)}
    for code in masked.categories(name):
        place.setdefault(code, len(place))
    x = original.codes((name,)).astype(np.float64)
    table = np.array([place[code] for code in masked.categories(name)] + [-1], dtype=np.float64)
    y = table[masked.codes((name,))]
    x[x < 0], y[y < 0] = np.nan, np.nan
    if ordinal:
        scale = max(len(place) - 1, 1)
        made = _coordinates((name,), x / scale, y / scale, np.zeros(1, dtype=bool))
        return replace(made, absent=np.ones(1))
    return _coordinates((name,), x, y, np.ones(1, dtype=bool))
