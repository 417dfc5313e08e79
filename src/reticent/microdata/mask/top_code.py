# SPDX-License-Identifier: Apache-2.0
"""Top and bottom coding of a numeric variable, and its multivariate form (records pulled back to an ellipse)."""

import math
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats
from reticent.base.errors import DataError, NotProtectedError, ParameterError
from reticent.base.progress import Progress
from reticent.data.draws import StepDraws
from reticent.data.mapping import RANGE, Mapped
from reticent.data.method import Applied, Group, Method, Promise
from reticent.data.microdata import Microdata
from reticent.data.parameters import Examples
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.microdata.mask.ellipse import winsorize
from reticent.microdata.mask.tail_sums import told_by_sum
from reticent.microdata.mask.tails import (
    both_ends,
    check_tail,
    first_beyond,
    grid_of,
    known_end,
    last_possible,
    refuse_list,
)
from reticent.microdata.perturb.binding import respondents, units
from reticent.microdata.perturb.leaves import step_of


def _check_numeric(schema: Schema, names: tuple[str, ...], owner: str) -> None:
    schema.require(names, owner=owner)
    for name in names:
        if schema[name].kind is Kind.NOMINAL or schema[name].role is Role.HOUSEHOLD_ID:
            raise DataError(
                f"{owner}: {name!r} must be numeric or ordinal with numbers as codes, it is declared {schema[name].kind}.",
                variables=(name,),
            )


@dataclass(frozen=True)
class LimitCode(Method):
    """What top and bottom coding share; `sign` +1 codes values above the limit, −1 values below.

    A limit that is computed from the file (`quantile`, `deviations`) is moved inward to the next value that stays in the
    file: the computed number itself would reveal something about the values that are hidden. For the same reason the mean
    and the standard deviation of `deviations` are those of the coded values, which the file shows. The mean of the values
    beyond the limit is published only if they belong to at least `k` respondents (households for what members share, else
    entities where the schema has them) and none of them dominates: nobody in the tail, who knows their own values and which
    values are possible (the codes of a list; else those in the steps of the file, such as 5, 15, 25, and none below 0 if none
    is there), can place the total of another within `p` percent. Where the limit and the possible values alone place it so,
    another total must be possible. A mean of which this cannot be shown is refused; with `p = 0` it is not asked. This holds
    for the arithmetic attacker, and for the transparent one too, since nothing here is drawn: the published file tells of the
    values beyond the limit that they are beyond it, how many they are and, with `mean`, their sum. That somebody lies beyond
    the limit is always published.
    """

    sign: ClassVar[float]
    coarsens: ClassVar[bool] = True

    variable: str = field(metadata={"names": "variables", "help": "numeric variable"})
    value: float | None = field(default=None, metadata={"help": "the limit itself"})
    quantile: float | None = field(
        default=None, metadata={"min": 0.0, "max": 1.0, "help": "the limit as a quantile of the file"}
    )
    deviations: float | None = field(
        default=None,
        metadata={"min": 0.0, "help": "the limit as this many standard deviations from the mean, of coded values"},
    )
    replacement: float | str = field(
        default="limit", metadata={"help": "'limit', 'mean' (of the values beyond the limit) or a number"}
    )
    k: int = field(default=3, metadata={"min": 2, "help": "with 'mean': fewest respondents beyond the limit"})
    p: float = field(
        default=10.0,
        metadata={"min": 0.0, "help": "with 'mean': percent within which nobody in the tail may place another"},
    )
    label: str | None = field(default=None, metadata={"help": "a text such as '90+'; the variable becomes a code"})

    def __post_init__(self) -> None:
        given = [way for way in ("value", "quantile", "deviations") if getattr(self, way) is not None]
        if len(given) != 1:
            came = " and ".join(given) or "none"
            raise ParameterError(f"give exactly one of value, quantile, deviations; got {came}.")
        if isinstance(self.replacement, str) and self.replacement not in ("limit", "mean"):
            raise ParameterError("replacement must be 'limit', 'mean' or a number.", option="replacement")
        if self.label is not None and self.replacement != "limit":
            raise ParameterError("give either a label or a replacement, not both.")

    def check(self, schema: Schema) -> None:
        """The variable is there and not nominal."""
        _check_numeric(schema, (self.variable,), self.name)

    def schema_after(self, schema: Schema) -> Schema:
        """With a label the variable becomes a code."""
        if self.label is None:
            return schema
        return schema.change(self.variable, kind=Kind.ORDINAL, codes=(), labels=(), hierarchy=None)

    def mask(self, data: Microdata, *, draws: StepDraws, progress: Progress) -> Applied:
        """Code what lies beyond the limit; the facts say how many records that were."""
        self.check(data.schema)
        values = data.numbers((self.variable,))[:, 0]
        present = values[~np.isnan(values)]
        if not present.size:
            raise DataError(
                f"{self.name}: every value of {self.variable!r} is missing; leave the step out.",
                variables=(self.variable,),
            )
        limit = self._limit(present)
        beyond = np.nan_to_num(self.sign * (values - limit), nan=0.0) > 0
        n_beyond = int(beyond.sum())
        who = respondents(data, (self.variable,))
        who = who if who is None else who[beyond]
        scale = self._scale(data, present)
        # what a list leaves possible is judged by its codes, see `told_by_sum`
        step, shift = (step_of(present), 0.0) if scale.size else grid_of(present)
        first = first_beyond(limit, step, self.sign, shift)
        end = last_possible(known_end(present, scale, self.sign), step, self.sign, shift)
        tail = both_ends(values[beyond], first, end, who)
        facts = {"records_beyond": n_beyond, "respondents_beyond": tail.respondents, "limit": limit}
        if self.label is not None:
            return Applied(self._labelled(data, beyond), {self.variable: n_beyond}, facts)
        if not n_beyond:
            return Applied(data, {self.variable: 0}, facts)
        new = limit
        if self.replacement == "mean":
            check_tail(tail, k=self.k, p=self.p, owner=self.name, variable=self.variable)
            listed = scale[self.sign * (scale - limit) > 0]
            if scale.size and self.p > 0 and told_by_sum(values[beyond], listed, who, self.p):
                refuse_list(p=self.p, owner=self.name, variable=self.variable)
            new = math.fsum(values[beyond].tolist()) / n_beyond
        elif not isinstance(self.replacement, str):
            new = float(self.replacement)
        masked = data.with_numbers(self.variable, np.where(beyond, new, values))
        return Applied(masked, {self.variable: n_beyond}, facts | {"replacement": new})

    def declared(self, variable: Variable, shown: tuple[str, ...]) -> tuple[Mapped, ...]:
        """The limit, where it is declared and not computed from the file, and what stands for the values beyond it."""
        if variable.name != self.variable or self.value is None or self.replacement == "mean":
            return ()
        new = self.label or f"{self.value if self.replacement == 'limit' else self.replacement:g}"
        return (Mapped(variable.name, RANGE, f"{'>' if self.sign > 0 else '<'}{self.value:g}", new),)

    def _scale(self, data: Microdata, present: Floats) -> Floats:
        """The values that a variable can have: its listed codes, or those of the file where an ordinal one has no list."""
        variable = data.schema[self.variable]
        listed = numbers_of(code for code in variable.codes if code not in variable.missing)
        return present if variable.kind is Kind.ORDINAL and not listed.size else listed

    def _limit(self, present: Floats) -> float:
        if self.value is not None:
            return float(self.value)
        ordered = np.sort(self.sign * present)
        if self.quantile is None:
            return self.sign * last_within(ordered, float(self.deviations or 0.0))
        computed = float(np.quantile(present, self.quantile))
        inside = ordered[ordered <= self.sign * computed]
        return self.sign * float(inside[-1]) if inside.size else computed

    def _labelled(self, data: Microdata, beyond: NDArray[np.bool_]) -> Microdata:
        """The variable as codes, with one text for everything beyond the limit."""
        name, label = self.variable, str(self.label)
        categories = data.categories(name)
        if label in categories:
            raise DataError(f"{self.name}: the label is already a code of {name!r}; choose another.", variables=(name,))
        codes = data.codes((name,))[:, 0]
        kept = tuple(np.unique(codes[(codes >= 0) & ~beyond]).tolist())  # codes beyond the limit must not stay listed
        place = np.full(len(categories) + 1, -1, dtype=np.int32)
        place[list(kept)] = np.arange(len(kept)) + (1 if self.sign < 0 else 0)
        label_code = len(kept) if self.sign > 0 else 0
        names = [categories[code] for code in kept]
        names.insert(label_code, label)
        changed = data.with_codes(name, np.where(beyond, label_code, place[codes]).astype(np.int32), names)
        after = self.schema_after(data.schema)[name]
        # the list is that of the records: others must not take it for a declared one
        listed = replace(after, codes=tuple(names), guessed=(*after.guessed, "codes"))
        return changed.with_schema(changed.schema.replace(listed))

    def promises(self) -> tuple[Promise, ...]:
        """Nothing beyond a limit given as a value is left; a mean stands for enough respondents."""
        if self.label is not None:
            return ()
        if self.replacement == "mean":
            return (Promise(f"a mean of {self.variable} stands for enough respondents", partial(_few, self)),)
        if self.value is None or self.replacement != "limit":
            return ()
        return (Promise(f"no value of {self.variable} is beyond the limit", partial(_beyond, self)),)


def numbers_of(codes: Iterable[str]) -> Floats:
    """The codes that are numbers."""
    found = []
    for code in codes:
        with suppress(ValueError):
            found.append(float(code))
    return np.array([number for number in found if math.isfinite(number)], dtype=np.float64)


def last_within(ordered: Floats, deviations: float) -> float:
    """The last of sorted values before one that lies too far above the mean, were all from it on coded as this one; O(n).

    From the median on, a value is judged by those below it and by how many are above it, never by how large these are: what
    the limit tells of the values beyond it follows from the file that is published. With a share s of the values below u, of
    mean m and deviation d, u is beyond mean + t deviations of min(x, u) where u − m > t d / √(s − t² (1 − s)).
    """
    n = len(ordered)
    below = np.arange((n + 1) // 2, n)
    centered = ordered - ordered[(n - 1) // 2]
    mean = np.cumsum(centered)[below - 1] / below
    spread = np.sqrt(np.maximum(np.cumsum(centered**2)[below - 1] / below - mean**2, 0.0))
    share = below / n
    room = share - deviations**2 * (1.0 - share)
    far = (room > 0) & (centered[below] - mean > deviations * spread / np.sqrt(np.where(room > 0, room, 1.0)))
    first = np.flatnonzero(far & (centered[below] > centered[below - 1]))
    return float(ordered[below[first[0]] - 1] if len(first) else ordered[-1])


def _beyond(method: LimitCode, before: Microdata, after: Microdata) -> int:
    """Values still beyond the limit."""
    values = after.numbers((method.variable,))[:, 0]
    return int(np.count_nonzero(method.sign * (values - float(method.value or 0.0)) > 0))


def _few(method: LimitCode, before: Microdata, after: Microdata) -> int:
    """Values put in by the step that fewer than k respondents share."""
    old, new = before.numbers((method.variable,))[:, 0], after.numbers((method.variable,))[:, 0]
    found = respondents(before, (method.variable,))
    who = np.arange(len(new)) if found is None else found
    put_in = set(new[(old != new) & ~np.isnan(old)].tolist())
    return sum(len(np.unique(who[new == value])) < method.k for value in put_in)


@dataclass(frozen=True)
class TopCode(LimitCode):
    """Replace values above a limit by the limit, by their mean, by a number or by a text."""

    name: ClassVar[str] = "top-code"
    group: ClassVar[Group] = Group.DETAIL
    examples: ClassVar[Examples] = (
        {"variable": "income", "quantile": 0.98},
        {"variable": "income", "value": 4000},
        {"variable": "age", "deviations": 2},
    )
    sign: ClassVar[float] = 1.0


@dataclass(frozen=True)
class BottomCode(LimitCode):
    """Replace values below a limit by the limit, by their mean, by a number or by a text."""

    name: ClassVar[str] = "bottom-code"
    group: ClassVar[Group] = Group.DETAIL
    examples: ClassVar[Examples] = (
        {"variable": "income", "quantile": 0.02},
        {"variable": "age", "value": 18},
        {"variable": "income", "deviations": 2},
    )
    sign: ClassVar[float] = -1.0


@dataclass(frozen=True)
class MultivariateTopCode(Method):
    """Pull records that lie outside an ellipse back onto it, to the nearest of a few points (winsorizing).

    A record is outside when its squared Mahalanobis distance is above the 1 − `share` quantile of χ² with d degrees of
    freedom. Center and covariance are robust by default, so that the outliers do not hide themselves. The classical
    ones are those of the records as they are published (scaled as for normal data), of which at least `k` respondents
    must lie outside. Three points on an ellipse tell center and covariance to the last digit, so neither depends on how
    far out records lie: else sums of their true values would be published. Along the line to the center a record would
    keep its direction, and who knows one of two variables would compute the other. So there are 3^d − 1 points on the
    ellipse: each variable, made uncorrelated and scaled, is low, high or in the middle. What stays published of a
    record outside is which point is nearest in direction. Variables that the members of a household share are pulled
    back for all of them, so they do not go together with variables of persons. Steps that hide values of a few
    records, or leave a few out, come before this one, because the points reveal what is hidden later.
    """

    name: ClassVar[str] = "multivariate-top-code"
    repeatable: ClassVar[bool] = True
    group: ClassVar[Group] = Group.DETAIL
    examples: ClassVar[Examples] = ({"variables": ["age", "income"]},)

    variables: tuple[str, ...] = field(metadata={"names": "variables", "help": "numeric variables, at least two"})
    share: float = field(default=0.025, metadata={"min": 0.0, "max": 0.5, "help": "share of normal data outside"})
    estimate: Literal["robust", "classical"] = field(default="robust", metadata={"help": "center and covariance"})
    k: int = field(default=3, metadata={"min": 2, "help": "with 'classical': fewest respondents outside"})

    def __post_init__(self) -> None:
        if len(self.variables) < 2:
            raise ParameterError("give at least two variables; for one use top-code.")

    def check(self, schema: Schema) -> None:
        """The variables are there and not nominal."""
        _check_numeric(schema, self.variables, self.name)

    def mask(self, data: Microdata, *, draws: StepDraws, progress: Progress) -> Applied:
        """Records with a missing value stay; the facts say how many were outside."""
        self.check(data.schema)
        units_of = units(data, self.variables, owner=self.name, hidden=True)
        values = data.numbers(self.variables)[units_of.first]
        complete = ~np.isnan(values).any(axis=1)
        pulled, outside = winsorize(values[complete], share=self.share, robust=self.estimate == "robust")
        at, who = np.flatnonzero(complete)[outside], respondents(data, self.variables)
        n_respondents = len(np.unique(at if who is None else who[units_of.first][at]))
        if self.estimate == "classical" and 0 < n_respondents < self.k:
            raise NotProtectedError(
                f"{self.name}: fewer than {self.k} respondents lie outside, too few for the classical covariance. "
                "Use estimate = 'robust', or a larger share.",
                exposed=n_respondents,
            )
        result = values.copy()
        result[complete] = pulled
        for position, name in enumerate(self.variables):
            if outside.any():
                data = data.with_numbers(name, result[units_of.of, position])
        n_outside = int(np.isin(units_of.of, at).sum())
        return Applied(data, dict.fromkeys(self.variables, n_outside),
                       {"records_beyond": n_outside, "respondents_beyond": n_respondents})  # fmt: skip

    def follows_from_all(self, schema: Schema) -> tuple[str, ...]:
        """Center and covariance are those of records inside, by either estimate."""
        return self.variables
