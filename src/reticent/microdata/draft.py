# SPDX-License-Identifier: Apache-2.0
"""Drafts of a masking plan, from what a file looks like: weakest first, and a job takes the first that withstands its attacks.

What an attacker may know counts: keys, and numbers of any role but weights. Numbers become few values, codes become coarser,
and what is still rare is blanked. A draft is a beginning for a person to edit; none is called safe before it was attacked.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from reticent.base.arrays import Floats, Ints
from reticent.base.errors import DataError
from reticent.data.hierarchy import Hierarchy
from reticent.data.mapping import declared_codes
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.verdict import FileVerdict, State
from reticent.frames.profile import frequent_values
from reticent.microdata.result import ProtectedFile

REMOVED = (Role.IDENTIFIER, Role.HOUSEHOLD_ID, Role.ENTITY)
OTHER = "other"
FEWEST_KEPT = 2
MOST_CODES = 10_000
MOST_BLANKS = 0.2
"""A draft that blanks a larger share of a variable's values is too weak elsewhere: coarser codes lose less."""


@dataclass(frozen=True)
class Strength:
    """How much a draft gives up: how many values a number keeps, how many codes a variable keeps, and the smallest group."""

    values: int
    codes: int
    k: int


LADDER = tuple(
    Strength(*numbers) for numbers in ((8, 12, 3), (5, 6, 3), (3, 4, 3), (3, 4, 5), (2, 2, 3), (2, 2, 5), (2, 2, 10))
)
"""Strengths in the order in which they are tried."""


@dataclass(frozen=True)
class DraftStep:
    """A step as a plan has it, and why it is there."""

    options: Mapping[str, Any]
    reason: str


@dataclass(frozen=True)
class Draft:
    """Steps for one strength."""

    strength: Strength
    steps: tuple[DraftStep, ...]


def known_to_attackers(schema: Schema) -> tuple[str, ...]:
    """Variables that somebody may know of a person: keys, and numbers of any role but weights."""
    return tuple(
        variable.name
        for variable in schema.variables
        if variable.role is Role.KEY
        or (variable.kind is Kind.NUMERIC and variable.role in (Role.SENSITIVE, Role.OTHER))
    )


def drafts(data: Microdata, *, least_group: int) -> Iterator[Draft]:
    """Drafts for the records, weakest first; no combination stays with fewer records than `least_group`."""
    if not known_to_attackers(data.schema):
        raise DataError(
            "plan: no variable is a key or a number, so there is nothing that an attacker could know. "
            'Say role = "key" in the schema for what others may know of a person, then plan again.'
        )
    for rung in LADDER:
        strength = replace(rung, k=max(rung.k, least_group))
        yield Draft(strength, tuple(_steps(data, strength)))


def _steps(data: Microdata, strength: Strength) -> Iterator[DraftStep]:
    schema = data.schema
    removed = [variable.name for variable in schema.variables if variable.role in REMOVED]
    if removed:
        yield DraftStep(
            {"method": "remove-identifiers", "variables": removed}, "names, numbers of persons and who lives together"
        )
    for variable in schema.variables:
        if variable.name in known_to_attackers(schema):
            yield from _coarser(data, variable, strength)
        elif variable.role is Role.WEIGHT:
            mean = float(np.nanmean(data.numbers((variable.name,))))
            options = {"method": "round", "variables": [variable.name], "points": [_plain(mean)]}
            yield DraftStep(options, "a weight with decimals is nearly a name; all become about the mean")
    keys = list(known_to_attackers(schema))
    yield DraftStep(
        {"method": "local-suppression", "k": strength.k, "keys": keys, "semantics": "(k,k)"},
        f"what fewer than {strength.k} records share is blanked",
    )


def _coarser(data: Microdata, variable: Variable, strength: Strength) -> Iterator[DraftStep]:
    if variable.kind is Kind.NUMERIC:
        yield from _rounded(data, variable, strength.values)
    elif variable.hierarchy is not None:
        yield from _raised(variable, variable.hierarchy, strength.codes)
    else:
        yield from _merged(data, variable, strength.codes)


def _rounded(data: Microdata, variable: Variable, values: int) -> Iterator[DraftStep]:
    numbers = data.numbers((variable.name,))[:, 0]
    present = numbers[np.isfinite(numbers)]
    if len(np.unique(present)) <= values:
        return
    yield DraftStep(
        {"method": "round", "variables": [variable.name], "points": _points(present, values)},
        "each number becomes the nearest of these",
    )


def _points(present: Floats, values: int) -> list[float]:
    """About the middle of each of this many equally filled classes, in round numbers."""
    middles = np.quantile(present, (np.arange(values) + 0.5) / values)
    return sorted({_plain(float(middle)) for middle in middles})


def _plain(number: float) -> float:
    """Two digits, so that no point is somebody's number but by accident."""
    rounded = float(f"{number:.2g}")
    return int(rounded) if rounded == int(rounded) else rounded


def _raised(variable: Variable, tree: Hierarchy, codes: int) -> Iterator[DraftStep]:
    """The finest level of the tree with few enough codes, else its coarsest one."""
    sizes = np.bincount(tree.levels)
    fitting = [level for level in range(1, tree.depth + 1) if sizes[level] <= codes]
    level = max(fitting, default=1)
    if level < tree.depth:
        yield DraftStep(
            {"method": "recode", "variable": variable.name, "level": level}, f"level {level} of its hierarchy"
        )


def _merged(data: Microdata, variable: Variable, codes: int) -> Iterator[DraftStep]:
    """The most frequent codes stay and the others become one; codes with an order become classes of neighbours.

    Codes that only some records have are not named: what a plan names may be published as its mapping, and new codes are.
    """
    found = [code for code in frequent_values(data.frame, variable.name, MOST_CODES) if code not in variable.missing]
    if len(found) <= max(codes, FEWEST_KEPT):
        return
    declared = declared_codes(variable)
    if variable.kind is Kind.ORDINAL and set(found) <= set(declared):
        classes = _classes(data, variable.name, declared, codes)
        yield DraftStep({"method": "recode", "variable": variable.name, "map": classes}, "classes of neighbours")
        return
    if variable.kind is Kind.ORDINAL and all(
        code.isascii() and code.isdigit() and str(int(code)) == code for code in found
    ):
        rules = _ranges(data, variable.name, codes)
        yield DraftStep({"method": "recode", "variable": variable.name, "rules": rules}, "classes of neighbours")
        return
    kept = found[: max(codes - 1, FEWEST_KEPT - 1)]
    other = next(text for text in (OTHER, f"{OTHER} codes", f"all {OTHER} codes") if text not in found)
    options = {"method": "recode", "variable": variable.name, "map": {code: code for code in kept}, "other": other}
    yield DraftStep(options, "rare codes become one")


def _classes(data: Microdata, name: str, declared: Sequence[str], n: int) -> dict[str, str]:
    """Classes of about equally many records, named by the declared codes that they are made of."""
    place = {code: at for at, code in enumerate(declared)}
    starts = _starts(np.array([place[code] for code in data.texts(name) if code in place]), n)
    parts = [list(part) for part in np.split(np.array(declared, dtype=object), starts)]
    names = [part[0] if len(part) == 1 else f"{part[0]} to {part[-1]}" for part in parts]
    return {code: label for part, label in zip(parts, names, strict=True) for code in part}


def _ranges(data: Microdata, name: str, n: int) -> list[str]:
    """Classes of about equally many records with whole numbers, as lines of a recoding; both ends are open."""
    known = data.codes((name,))[:, 0]
    starts = _starts(np.array([int(code) for code in data.categories(name)])[known[known >= 0]], n)
    lines = [f"below {starts[0]}: -{starts[0] - 1}"]
    lines += [
        f"{low}: {low}" if high - low == 1 else f"{low} to {high - 1}: {low}-{high - 1}"
        for low, high in pairwise(starts)
    ]
    return [*lines, f"{starts[-1]} or more: {starts[-1]}-"]


def _starts(numbers: Ints, n: int) -> list[int]:
    """Where classes of about equally many records begin, after the first; at least one."""
    found = np.unique(np.quantile(numbers, np.arange(1, n) / n, method="higher"))
    later = [int(one) for one in found if one > numbers.min()]
    return later or [int(numbers.min()) + 1]


DIMENSIONS = 2
TABLE_CODES, TREE_CODES = 60, 600
"""Most codes of a dimension of a drafted table, flat and with a hierarchy."""


def table_dimensions(data: Microdata) -> tuple[str, ...]:
    """Variables to tabulate by: codes, not too many, those with a hierarchy first."""
    ranked = []
    for at, variable in enumerate(data.schema.variables):
        most = TABLE_CODES if variable.hierarchy is None else TREE_CODES
        coded = variable.kind is not Kind.NUMERIC and variable.role in (Role.KEY, Role.OTHER, Role.SENSITIVE)
        if coded and 1 < len(data.categories(variable.name)) <= most:
            ranked.append((variable.hierarchy is None, at, variable.name))
    return tuple(name for _, _, name in sorted(ranked)[:DIMENSIONS])


FILTERS = 4
CUTPOINTS = 4


def query_filters(data: Microdata) -> tuple[tuple[str, ...], dict[str, list[float]]]:
    """Variables that queries may select by: the keys with the fewest codes, and cutpoints of those that are numbers."""
    ranked = []
    for at, variable in enumerate(data.schema.variables):
        if variable.role is not Role.KEY:
            continue
        numeric = variable.kind is Kind.NUMERIC
        codes = CUTPOINTS + 1 if numeric else len(data.categories(variable.name))
        if 1 < codes <= TABLE_CODES:
            ranked.append((codes, at, variable.name, numeric))
    chosen = sorted(ranked)[:FILTERS]
    cuts = {name: _cutpoints(data, name) for _, _, name, numeric in chosen if numeric}
    return tuple(name for _, _, name, _ in chosen if cuts.get(name, [0.0])), {n: c for n, c in cuts.items() if c}


def _cutpoints(data: Microdata, name: str) -> list[float]:
    """Round numbers that cut a variable into about equal parts."""
    numbers = data.numbers((name,))[:, 0]
    present = numbers[np.isfinite(numbers)]
    if not present.size:
        return []
    ends = np.quantile(present, np.arange(1, CUTPOINTS + 1) / (CUTPOINTS + 1))
    return sorted({_plain(float(end)) for end in ends})


def query_responses(data: Microdata) -> dict[str, bool]:
    """Numbers that queries may add up, each with whether it is never below 0."""
    names = [v.name for v in data.schema.variables if v.kind is Kind.NUMERIC and v.role in (Role.SENSITIVE, Role.OTHER)]
    return {name: bool(np.nanmin(data.numbers((name,)), initial=0.0) >= 0) for name in names}


def table_response(schema: Schema) -> str | None:
    """The first number that nobody should learn of a respondent."""
    numbers = (v.name for v in schema.variables if v.kind is Kind.NUMERIC and v.role is Role.SENSITIVE)
    return next(numbers, None)


def merit(run: ProtectedFile) -> tuple[bool, bool, int, float]:
    """Held counts first, then few blanks; the weakest draft with both is taken. Of others, the one that fewest attacks break."""
    lost = blanks(run)
    return run.verdict.held, run.verdict.held and lost <= MOST_BLANKS, -len(run.verdict.blocking), -lost


def what_next(verdict: FileVerdict) -> str:
    """What to do with a draft that is not held, in words; empty where it is held."""
    if verdict.held:
        return ""
    named = ", ".join(f"{one.attack} {one.state}" for one in verdict.blocking)
    unjudged = any(one.state is State.NOT_JUDGED for one in verdict.blocking)
    first = (
        "give variables their roles in the schema and draft again" if unjudged else "drop or coarsen what they go by"
    )
    return (
        f"No draft withstands what is asked for ({named}), so protect would write nothing: {first}, "
        "or state accept_risk with a reason in [risk]."
    )


def blanks(run: ProtectedFile) -> float:
    """The largest share of a variable's values that became blanks."""
    shared = [name for name in run.after.schema.names if name in run.before.schema.names]
    gone = [float(run.after.missing(name).mean() - run.before.missing(name).mean()) for name in shared]
    return max(gone, default=0.0)
