# SPDX-License-Identifier: Apache-2.0
"""Additive noise (plan name `noise`): on its own, correlated, or with a transformation that keeps moments."""

from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

import numpy as np

from reticent.base.arrays import Floats, taken
from reticent.base.errors import DataError, ParameterError
from reticent.base.progress import Progress
from reticent.data.draws import StepDraws, StepInput, step_input
from reticent.data.method import Applied, Group, Promise
from reticent.data.microdata import Microdata
from reticent.data.parameters import Examples
from reticent.microdata.perturb import additive
from reticent.microdata.perturb.binding import (
    OnNumbers,
    keyed_normals,
    missing_moved,
    strata_of,
    units,
    with_all_numbers,
    zeros_moved,
)
from reticent.microdata.perturb.covariance import Moments, check_not_constant, moments
from reticent.microdata.perturb.parts import MINIMUM_PART, Part, parts_of

BLOCK = 1 << 16
KINDS = ("uncorrelated", "correlated", "linear", "nonlinear")


@dataclass(frozen=True)
class Noise(OnNumbers):
    """Add normal noise to numeric variables.

    `uncorrelated` inflates variances by 1 + k, `correlated` the whole covariance matrix; `linear` keeps means and
    covariance in expectation (Kim 1986) and, with `exact`, in this very file; `nonlinear` adds the noise to normal
    scores, so that each variable keeps its distribution and range (Sullivan 1989). `outliers` limits the noise to
    records with a variable this many robust deviations from its median. Missing values stay missing.
    """

    name: ClassVar[str] = "noise"
    group: ClassVar[Group] = Group.NUMBERS
    examples: ClassVar[Examples] = (
        {"variables": ["income"], "k": 0.2},
        {"variables": ["income"], "exact": True},
        {"variables": ["age", "income"], "kind": "correlated", "strata": ["sex"]},
    )
    variables: tuple[str, ...] = field(metadata={"names": "variables", "help": "numeric variables to mask together"})
    k: float = field(default=0.1, metadata={"min": 0.0, "help": "variance of the noise over variance of the data"})
    kind: str = field(default="linear", metadata={"choices": KINDS, "help": "how noise enters"})
    exact: bool = field(default=False, metadata={"help": "keep means and covariance of the file exactly (linear)"})
    outliers: float | None = field(default=None, metadata={"min": 0.0, "help": "only records this many MADs away"})
    keep_zeros: bool = field(default=False, metadata={"help": "zeros stay zeros"})
    strata: tuple[str, ...] = field(
        default=(), metadata={"names": "variables", "help": "mask within groups of these variables"}
    )
    shrink: bool = field(default=False, metadata={"help": "shrink correlations towards 0 before use"})
    nearest_psd: bool = field(default=False, metadata={"help": "replace an impossible covariance by the nearest"})

    def __post_init__(self) -> None:
        if self.exact and (self.kind != "linear" or self.keep_zeros or self.outliers is not None):
            raise ParameterError(
                "exact moments go with kind = 'linear' and without keep_zeros or outliers. Drop one of them.",
                option="exact",
            )

    def mask(self, data: Microdata, *, draws: StepDraws, progress: Progress) -> Applied:
        """Mask the data; draws are keyed by record."""
        self.check(data.schema)
        who = units(data, self.variables, owner=self.name)
        values = taken(data.numbers(self.variables), who.first)
        if self.k == 0:
            return Applied(data, dict.fromkeys(self.variables, 0), {"parts": 0})
        check_not_constant(values, self.variables, owner=self.name)
        seen = step_input(data, self.variables, first=who.first, ids=who.ids)
        flagged = None if self.outliers is None else additive.outliers(values, cutoff=self.outliers)
        pieces = parts_of(
            values, strata_of(data, self.strata, first=who.first), keep_zeros=self.keep_zeros, only=flagged
        )
        masked = values
        for number, piece in enumerate(pieces):
            new = self._mask(values, draws, seen.take(piece.rows), piece)
            masked = new if piece.is_all(values) else _put(masked.copy() if masked is values else masked, piece, new)
            progress((number + 1) / len(pieces), "noise")
        result, changed = with_all_numbers(data, self.variables, taken(masked, who.of))
        facts = {"parts": len(pieces), "units": sum(len(piece.rows) for piece in pieces)}
        return Applied(result, changed, facts)

    def mask_block(self, data: Microdata, spread: Moments, *, draws: StepDraws) -> Applied:
        """Mask a block of records by the moments of the whole file: what `mask` does to them without strata."""
        who = units(data, self.variables, owner=self.name)
        values = data.numbers(self.variables)[who.first]
        seen = step_input(data, self.variables, first=who.first, ids=who.ids)
        masked = self._noisy(values, spread, self.variables, draws, seen)
        return Applied(*with_all_numbers(data, self.variables, masked[who.of]))

    def _mask(self, values: Floats, draws: StepDraws, seen: StepInput, piece: Part) -> Floats:
        own = piece.of(values)
        names = tuple(self.variables[j] for j in piece.columns)
        if self.exact or self.kind == "nonlinear":
            # Each masked value depends on all records of the part, so its draws do.
            together = keyed_normals(draws.of_part(seen), "noise", seen.ids, len(names))
        if self.exact:
            return additive.linear_exact(own, together, k=self.k, names=names)
        if self.kind == "nonlinear":
            if len(piece.rows) < MINIMUM_PART:
                raise DataError(
                    f"noise: a group has fewer than {MINIMUM_PART} records, too few for its distribution function. "
                    "Use fewer strata or another kind.",
                    variables=names,
                )
            return additive.nonlinear(own, together, k=self.k, names=names, nearest=self.nearest_psd)
        return self._noisy(own, self._spread(values, own, piece), names, draws, seen)

    def _noisy(self, own: Floats, spread: Moments, names: tuple[str, ...], draws: StepDraws, seen: StepInput) -> Floats:
        keyed = draws.of_records(seen, scale=(names, *spread))
        masked = np.empty_like(own)
        for start in range(0, len(own), BLOCK):  # each record by itself: blocks save memory and change nothing
            rows = slice(start, start + BLOCK)
            masked[rows] = self._add(own[rows], keyed.rows(rows).normals(len(names)), spread, names)
        return masked

    def _add(self, own: Floats, normals: Floats, spread: Moments, names: tuple[str, ...]) -> Floats:
        if self.kind == "uncorrelated":
            return additive.uncorrelated(own, normals, k=self.k, spread=spread)
        how = additive.correlated if self.kind == "correlated" else additive.linear
        return how(own, normals, k=self.k, spread=spread, names=names, nearest=self.nearest_psd)

    def _spread(self, values: Floats, own: Floats, piece: Part) -> Moments:
        """Own moments of a part that is large enough, else the file's covariance around the part's own mean."""
        if len(piece.rows) >= MINIMUM_PART and (np.nanmax(own, axis=0) > np.nanmin(own, axis=0)).all():
            return moments(own, shrink=self.shrink)
        pooled = moments(values[:, piece.columns], shrink=self.shrink)
        mean = moments(np.where(np.isnan(own), pooled.mean, own)).mean
        return Moments(mean, pooled.covariance, pooled.second, pooled.count)

    def promises(self) -> tuple[Promise, ...]:
        """Missing stays missing; zeros stay zeros and moments are exact where asked for."""
        made = [Promise("missing values stay missing and no others become so", partial(missing_moved, self.variables))]
        if self.keep_zeros:
            made.append(Promise("zeros stay zeros", partial(zeros_moved, self.variables)))
        if self.exact:
            made.append(Promise("means and covariance of the file are exact", partial(_moments_moved, self.variables)))
        return tuple(made)


def _put(masked: Floats, piece: Part, new: Floats) -> Floats:
    masked[np.ix_(piece.rows, piece.columns)] = new
    return masked


def _moments_moved(names: tuple[str, ...], before: Microdata, after: Microdata) -> int:
    """Entries of mean vector and covariance matrix (of households, for what they share) that rounding does not explain."""
    first = units(before, names, owner=Noise.name).first
    old, new = before.numbers(names)[first], after.numbers(names)[first]
    deviation = old.std(axis=0)
    means = np.abs(new.mean(axis=0) - old.mean(axis=0)) > 1e-7 * deviation
    covariance = np.cov(new.T, bias=True) - np.cov(old.T, bias=True)
    return int(means.sum()) + int((np.abs(covariance) > 1e-7 * np.outer(deviation, deviation)).sum())
