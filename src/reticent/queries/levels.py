# SPDX-License-Identifier: Apache-2.0
"""The values of a filter in their order, and which of them a comparison selects."""

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Mask
from reticent.base.errors import ParameterError
from reticent.data.mapping import declared_codes
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Variable
from reticent.queries.columns import ABSENT
from reticent.queries.language import Compare
from reticent.queries.modes import MODES
from reticent.queries.policy import Policy


@dataclass(frozen=True)
class Levels:
    """The values of a filter in order: code texts, numbers, or the bins between cutpoints.

    `shown` are the positions of those that metadata or policy name; others occur in records only and are never shown.
    Listed codes come first, in the order of their list, whether or not a record has them. `places` are the numbers by
    which `<` and `>` compare ordinal codes: the place in the list, or, without a list, the number that a code spells;
    NaN for a code that has no place, for which every such comparison is unknown. `first_order` are the positions in the
    order that version 0.1.0 gave them (of numbers: those that occur): its answers are replayed by it, and by those that were
    `once_shown`.
    """

    texts: tuple[str, ...]
    numbers: NDArray[np.float64] | None = None
    cutpoints: tuple[float, ...] = ()
    ordered: bool = False
    shown: tuple[int, ...] = ()
    places: NDArray[np.float64] | None = None
    first_order: tuple[int, ...] = ()
    once_shown: tuple[int, ...] = ()
    old: bool = False

    def __len__(self) -> int:
        return len(self.texts)

    def as_at_first(self) -> "Levels":
        """The levels as version 0.1.0 had them: codes that nobody has last, and by such places compared."""
        if not self.first_order:
            return self
        shown = tuple(position for position in self.first_order if position in {*self.shown, *self.once_shown})
        if self.numbers is not None:
            return replace(self, shown=shown, old=True)
        rank = np.empty(len(self), dtype=np.float64)
        rank[list(self.first_order)] = np.arange(len(self))
        return replace(self, shown=shown, places=rank if self.ordered else None, old=True)


class CutpointError(ParameterError):
    """A comparison that is not at a published cutpoint."""


class OrderError(ParameterError):
    """An order comparison on codes that have no order."""


def encode(data: Microdata, name: str, policy: Policy) -> tuple[NDArray[np.int32], Levels]:
    """The level of each record for a filter (−1: missing), and the levels."""
    variable = data.schema[name]
    if variable.kind is Kind.NUMERIC:
        values = data.numbers((name,))[:, 0]
        absent = np.isnan(values)
        if name in policy.cutpoints:
            points = policy.cutpoints[name]
            codes = np.searchsorted(np.array(points), values, side="right").astype(np.int32)
            ends = ["-inf", *(constant_text(p) for p in points), "inf"]
            texts = tuple(f"[{low}, {high})" for low, high in itertools.pairwise(ends))
            levels = Levels(texts, cutpoints=points, ordered=True, shown=tuple(range(len(texts))))
        else:
            codes, levels = _encode_numbers(values, variable, policy)
        codes[absent] = ABSENT
        return codes, levels
    return _encode_codes(data, variable, policy)


def _listed(variable: Variable) -> tuple[str, ...]:
    """The codes of a list or a tree, whoever made it."""
    return variable.codes or (variable.hierarchy.leaves if variable.hierarchy else ())


def _told(variable: Variable, policy: Policy) -> tuple[str, ...]:
    """The listed codes that groups may show: a list that is guessed or made from digits has what records have."""
    declared = declared_codes(variable)
    if not MODES[policy.mode].hides_codes or (declared and "codes" not in variable.guessed):
        return _listed(variable)
    return declared


def _encode_numbers(
    values: NDArray[np.float64], variable: Variable, policy: Policy
) -> tuple[NDArray[np.int32], Levels]:
    """Numbers as positions: those that occur and those that the code list spells, which alone are shown, all of them."""
    occur = np.unique(values[~np.isnan(values)])
    listed, told = (_numbers(codes) for codes in (variable.codes, _told(variable, policy) if variable.codes else ()))
    distinct = np.unique(np.concatenate((occur, np.array([*listed, *told], dtype=np.float64))))
    once, shown = (tuple(np.flatnonzero(np.isin(distinct, codes)).tolist()) for codes in (listed, told))
    first_order = tuple(np.flatnonzero(np.isin(distinct, occur)).tolist()) if len(occur) < len(distinct) else ()
    texts = tuple(constant_text(number) for number in distinct.tolist())
    levels = Levels(texts, numbers=distinct, ordered=True, shown=shown, first_order=first_order, once_shown=once)
    return np.searchsorted(distinct, values).astype(np.int32), levels


def _numbers(codes: tuple[str, ...]) -> list[float]:
    """The codes that spell a number, as it is written."""
    return [number for code in codes if constant_text(number := _spelled(code)) == code != "nan"]


def _encode_codes(data: Microdata, variable: Variable, policy: Policy) -> tuple[NDArray[np.int32], Levels]:
    """Codes as positions: the listed ones in the order of their list, then those that only records have."""
    every, listed = _listed(variable), _told(variable, policy)
    categories = data.categories(variable.name)
    texts = tuple(dict.fromkeys([*listed, *categories, *every]))
    position = {text: i for i, text in enumerate(texts)}
    moved = np.array([*(position[text] for text in categories), ABSENT], dtype=np.int32)
    ordered = variable.kind is Kind.ORDINAL
    places = None
    if ordered:
        unlisted = [np.nan] * (len(texts) - len(listed))
        places = np.array([*range(len(listed)), *unlisted] if listed else [_spelled(text) for text in texts])
    shown = tuple(range(len(listed)))
    first_order = tuple(position[text] for text in dict.fromkeys([*categories, *every]))
    once = tuple(position[text] for text in every)
    levels = Levels(texts, ordered=ordered, shown=shown, places=places, first_order=first_order, once_shown=once)
    return moved[data.codes((variable.name,))[:, 0]], levels


def _spelled(text: str) -> float:
    """The number that a code spells; NaN if it spells none."""
    try:
        number = float(text)
    except ValueError:
        return math.nan
    return number if math.isfinite(number) else math.nan


def comparable_levels(condition: Compare, levels: Levels) -> Mask:
    """For which levels a comparison is true or false, not unknown; the entry at the end serves the code −1."""
    there = np.ones(len(levels) + 1, dtype=bool)
    if condition.operator not in ("=", "<>") and levels.places is not None:
        there[:-1] = ~np.isnan(levels.places)
    there[-1] = False
    return there


def chosen_levels(condition: Compare, levels: Levels) -> Mask:
    """Which levels satisfy a comparison; one more entry (False) at the end serves the code −1."""
    chosen = np.zeros(len(levels) + 1, dtype=bool)
    if levels.cutpoints:
        chosen[:-1] = _bins(condition, levels)
    elif levels.numbers is not None:
        chosen[:-1] = _compare(levels.numbers, condition.operator, _number(condition))
    elif condition.operator in ("=", "<>"):
        text = constant_text(condition.value)
        same = np.array([level == text for level in levels.texts], dtype=bool)
        chosen[:-1] = same if condition.operator == "=" else ~same
    else:
        chosen[:-1] = _by_position(condition, levels)
    return chosen


def _number(condition: Compare) -> float:
    try:
        return float(condition.value)
    except ValueError:
        raise OrderError(f"{condition.variable!r} is a number; compare it with a number.") from None


def constant_text(value: str | float) -> str:
    """A constant or a number as a code is written: whole numbers without a point, others with all their digits."""
    if isinstance(value, str):
        return value
    return str(int(value)) if math.isfinite(value) and value == int(value) else repr(float(value))


def _compare(values: NDArray[np.float64], operator: str, constant: float) -> Mask:
    table = {"=": np.equal, "<>": np.not_equal, "<": np.less, "<=": np.less_equal, ">": np.greater,
             ">=": np.greater_equal}  # fmt: skip
    return np.asarray(table[operator](values, constant), dtype=bool)


def _bins(condition: Compare, levels: Levels) -> Mask:
    """Only `>= cutpoint` and `< cutpoint` are whole bins."""
    constant = _number(condition)
    if condition.operator not in ("<", ">=") or constant not in levels.cutpoints:
        points = ", ".join(map(constant_text, levels.cutpoints))
        raise CutpointError(
            f"{condition.variable!r} can be compared only by >= or < with one of its cutpoints: {points}."
        )
    position = levels.cutpoints.index(constant) + 1
    above = np.arange(len(levels)) >= position
    return above if condition.operator == ">=" else ~above


def _by_position(condition: Compare, levels: Levels) -> Mask:
    """An order comparison of codes. Only code list and query decide whether it can be made, never what records have."""
    text, name = constant_text(condition.value), condition.variable
    if not levels.ordered or levels.places is None:
        raise OrderError(f"The codes of {name!r} have no order; use =, <> or IN.")
    if levels.old:
        if text not in levels.texts:
            return np.zeros(len(levels), dtype=bool)
        constant = float(levels.places[levels.texts.index(text)])
    elif levels.shown:
        if text not in levels.texts[: len(levels.shown)]:
            raise OrderError(f"{name!r} has no code {text!r} in its code list, so nothing is below or above it.")
        constant = float(levels.texts.index(text))
    else:
        constant = _spelled(text)
        if math.isnan(constant):
            raise OrderError(
                f"{name!r} has no code list that gives its order; compare with a number, or use =, <>, IN."
            )
    return _compare(levels.places, condition.operator, constant)
