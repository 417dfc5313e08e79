# SPDX-License-Identifier: Apache-2.0
"""Multiplicative noise (plan name `multiplicative-noise`): keeps positivity, order, means and covariance (Oganian 2011)."""

from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from reticent.base.arrays import Floats, Ints
from reticent.base.errors import DataError, ParameterError
from reticent.base.progress import Progress
from reticent.data.draws import StepDraws, StepInput, step_input
from reticent.data.method import Applied, Group, Promise
from reticent.data.microdata import Microdata
from reticent.data.parameters import Examples, Parameters
from reticent.microdata.perturb import lognormal
from reticent.microdata.perturb.binding import (
    OnNumbers,
    missing_moved,
    strata_of,
    units,
    with_all_numbers,
    zeros_moved,
)
from reticent.microdata.perturb.covariance import Moments, check_not_constant, moments
from reticent.microdata.perturb.parts import MINIMUM_PART, Part, parts_of

SCHEMES = ("auto", "plain", "z-score")


@dataclass(frozen=True)
class Zone(Parameters):
    """Records whose variables are all at most `up_to` (and in no earlier zone) get noise of strength `k`."""

    k: float = field(metadata={"min": 0.0, "help": "variance inflation of this zone"})
    up_to: float | None = field(default=None, metadata={"help": "largest value of the zone; none: all the rest"})


@dataclass(frozen=True)
class MultiplicativeNoise(OnNumbers):
    """Multiply by log-normal noise and rescale, so that means and covariance are kept in expectation.

    `plain` is (7) of the paper and needs nonnegative variables; `z-score` is (21), which always has a noise
    covariance and also takes variables of both signs (after a shift); `auto` is plain where it applies and z-score
    where condition (10) or a negative value forbids it. A chain (X1, X2, …) keeps X1 ≥ X2 ≥ …, its last variable and
    all differences being masked in place of the variables.
    """

    name: ClassVar[str] = "multiplicative-noise"
    group: ClassVar[Group] = Group.NUMBERS
    examples: ClassVar[Examples] = (
        {"variables": ["income"], "k": 0.1},
        {"variables": ["income"], "zones": [{"k": 0.2, "up_to": 1500}, {"k": 0.05}]},
    )
    variables: tuple[str, ...] = field(metadata={"names": "variables", "help": "numeric variables to mask together"})
    k: float = field(default=0.15, metadata={"min": 0.0, "help": "variance inflation before rescaling"})
    scheme: str = field(default="auto", metadata={"choices": SCHEMES, "help": "plain, z-score, or whichever applies"})
    chains: tuple[tuple[str, ...], ...] = field(default=(), metadata={"help": "X1 >= X2 >= …, kept"})
    zones: tuple[Zone, ...] = field(default=(), metadata={"help": "zones with their own k, lowest first"})
    keep_zeros: bool = field(default=False, metadata={"help": "zeros stay zeros, masked apart from the rest"})
    strata: tuple[str, ...] = field(
        default=(), metadata={"names": "variables", "help": "mask within groups of these variables"}
    )
    shrink: bool = field(default=False, metadata={"help": "shrink correlations towards 0 before use"})
    nearest_psd: bool = field(default=False, metadata={"help": "replace an impossible covariance by the nearest"})

    def __post_init__(self) -> None:
        for chain in self.chains:
            if len(chain) < 2 or len(set(chain)) != len(chain) or not set(chain) <= set(self.variables):
                raise ParameterError(f"a chain must be two or more different ones of the variables, got {list(chain)}.")
        members = [name for chain in self.chains for name in chain]
        if len(set(members)) != len(members):
            raise ParameterError("a variable may be in one chain only.")
        _check_zones(self.zones, owner=self.name)

    def mask(self, data: Microdata, *, draws: StepDraws, progress: Progress) -> Applied:
        """Mask the data; draws are keyed by record."""
        self.check(data.schema)
        who = units(data, self.variables, owner=self.name)
        values = data.numbers(self.variables)[who.first]
        if self.k == 0 and all(zone.k == 0 for zone in self.zones):
            return Applied(data, dict.fromkeys(self.variables, 0), {"parts": 0})
        check_not_constant(values, self.variables, owner=self.name)
        shares = lognormal.chain_to_parts(values, self.variables, self.chains)
        shift = self._shift(shares)
        zone = self._zone(values)
        seen = step_input(data, self.variables, first=who.first, ids=who.ids)
        strata = strata_of(data, self.strata, first=who.first)
        pieces = parts_of(shares, strata * max(1, len(self.zones)) + zone, keep_zeros=self.keep_zeros)
        masked, used = shares.copy(), {"plain": 0, "z-score": 0}
        for number, piece in enumerate(pieces):
            k = self.zones[int(zone[piece.rows[0]])].k if self.zones else self.k
            if k > 0:
                where = np.ix_(piece.rows, piece.columns)
                masked[where], scheme = self._mask(shares, shift, draws, seen.take(piece.rows), piece, k=k)
                used[scheme] += 1
            progress((number + 1) / len(pieces), self.name)
        whole = lognormal.parts_to_chain(masked, self.variables, self.chains)
        result, changed = with_all_numbers(data, self.variables, whole[who.of])
        facts: dict[str, Any] = {"parts": len(pieces), "parts_by_scheme": used, "shifted": int((shift > 0).sum())}
        return Applied(result, changed, facts)

    def _shift(self, shares: Floats) -> Floats:
        shift = lognormal.shifts(shares)
        if self.scheme == "plain" and (shift > 0).any():
            culprits = tuple(name for name, s in zip(self.variables, shift, strict=True) if s > 0)
            raise DataError(
                f"{self.name}: the plain scheme needs nonnegative values, {', '.join(culprits)} has negative ones. "
                "Use scheme = 'z-score'.",
                variables=culprits,
            )
        return shift

    def _zone(self, values: Floats) -> Ints:
        """The zone of each record: by its largest value."""
        limits = [np.inf if zone.up_to is None else zone.up_to for zone in self.zones]
        if not limits:
            return np.zeros(values.shape[0], dtype=np.int64)
        largest = np.where(np.isnan(values), -np.inf, values).max(axis=1)
        zone: Ints = np.searchsorted(np.array(limits), largest, side="left").astype(np.int64)
        if (zone == len(limits)).any():
            raise DataError(
                f"{self.name}: {int((zone == len(limits)).sum())} records lie above the last zone. "
                "Give the last zone no up_to, so that it takes all the rest."
            )
        return zone

    def _mask(
        self, shares: Floats, shift: Floats, draws: StepDraws, seen: StepInput, piece: Part, *, k: float
    ) -> tuple[Floats, str]:
        """The masked values of one part and the scheme that was used."""
        names = tuple(self.variables[j] for j in piece.columns)
        own_shift = shift[piece.columns]
        own = shares[np.ix_(piece.rows, piece.columns)] + own_shift
        spread = self._spread(shares[:, piece.columns], own, own_shift)
        plain = self.scheme == "plain" or (
            self.scheme == "auto" and not (own_shift > 0).any() and lognormal.plain_applies(spread, k=k)
        )
        scale = (names, own_shift, k, plain, *spread)
        masked = lognormal.mask_nonnegative(
            own,
            draws.of_records(seen, scale=scale).normals(len(names)),
            k=k,
            lag=1.0 if plain else float(np.sqrt(1.0 + k)),
            spread=spread,
            names=names,
            nearest=self.nearest_psd,
        )
        return masked - own_shift, "plain" if plain else "z-score"

    def _spread(self, shares: Floats, own: Floats, shift: Floats) -> Moments:
        """Own moments of a part, or those of all records with the same variables where it is small or constant."""
        if own.shape[0] >= MINIMUM_PART and (np.nanmax(own, axis=0) > np.nanmin(own, axis=0)).all():
            return moments(own, shrink=self.shrink)
        keep = (shares != 0).all(axis=1) if self.keep_zeros else np.ones(shares.shape[0], dtype=bool)
        return moments((shares[keep] if keep.sum() >= MINIMUM_PART else shares) + shift, shrink=self.shrink)

    def promises(self) -> tuple[Promise, ...]:
        """Nonnegative variables stay so, chains hold, zeros stay where asked for."""
        made = [
            Promise("variables without negative values get none", partial(_negative, self.variables)),
            Promise("missing values stay missing and no others become so", partial(missing_moved, self.variables)),
        ]
        if self.chains:
            made.append(Promise("chains hold", partial(_broken_chains, self.chains)))
        if self.keep_zeros and not self.chains:
            made.append(Promise("zeros stay zeros", partial(zeros_moved, self.variables)))
        return tuple(made)


def _check_zones(zones: tuple[Zone, ...], *, owner: str) -> None:
    limits = [float("inf") if zone.up_to is None else zone.up_to for zone in zones]
    if any(low >= high for low, high in pairwise(limits)):
        raise ParameterError(f"{owner}: the limits of zones must increase, and only the last may be without up_to.")


def _negative(names: tuple[str, ...], before: Microdata, after: Microdata) -> int:
    nonnegative = np.nanmin(before.numbers(names), axis=0) >= 0
    return int((after.numbers(names)[:, nonnegative] < 0).sum())


def _broken_chains(chains: tuple[tuple[str, ...], ...], before: Microdata, after: Microdata) -> int:
    count = 0
    for chain in chains:
        values = after.numbers(chain)
        count += int((values[:, :-1] < values[:, 1:]).sum())
    return count
