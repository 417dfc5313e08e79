# SPDX-License-Identifier: Apache-2.0
"""Columns whose codes are nested: each code of the finer one belongs to one code of the coarser one (A88 in A21 in A10).

Found by counting, never by name, so that any office's codes are found; a chain gives the finest column a tree.
"""

from collections.abc import Sequence

import numpy as np

from reticent.base.errors import DataError
from reticent.data.hierarchy import TOTAL, Hierarchy
from reticent.data.schema import Kind, Role, Variable
from reticent.frames.frame import Frame
from reticent.frames.profile import Profile, constant_within, distinct_rows

FEWEST_CHILDREN = 1.5
"""A coarser column has at least this many codes of the finer one below a code of its own, on average."""
RECORDS_PER_CODE = 5
"""The finer column has at least this many records per code: almost every column follows from a column of names."""
CANDIDATES = (Role.KEY, Role.OTHER, Role.SENSITIVE, Role.HOUSEHOLD_VARIABLE)


def nested_chains(
    frame: Frame, variables: Sequence[Variable], profiles: Sequence[Profile]
) -> dict[str, tuple[str, ...]]:
    """For each finest column the coarser ones that it belongs to, finest first."""
    sizes = {
        variable.name: looks.n_distinct
        for variable, looks in zip(variables, profiles, strict=True)
        if _may_nest(variable, looks)
    }
    named = {variable.name: variable for variable in variables}
    above = {name: _coarser(frame, named[name], sizes) for name in sorted(sizes, key=lambda name: -sizes[name])}
    taken: set[str] = set()
    chains = {}
    for name, found in above.items():
        chain = _chain(found, above, sizes)
        if name not in taken and chain:
            chains[name] = chain
        taken.update(chain)
    return chains


def _may_nest(variable: Variable, looks: Profile) -> bool:
    coded = variable.kind is not Kind.NUMERIC and variable.role in CANDIDATES and variable.hierarchy is None
    return coded and looks.n_distinct > 1 and looks.n_present >= RECORDS_PER_CODE * looks.n_distinct


def _coarser(frame: Frame, variable: Variable, sizes: dict[str, int]) -> tuple[str, ...]:
    """The columns of which this one has several codes below each of theirs."""
    name = variable.name
    others = [other for other, size in sizes.items() if sizes[name] >= FEWEST_CHILDREN * size and other != name]
    return constant_within(_with_code(frame.select((name, *others)), variable), others, name) if others else ()


def _with_code(frame: Frame, variable: Variable) -> Frame:
    """The records that have a code: what stands for 'not known' belongs to no class, whatever other columns say."""
    absent = frame.is_missing(variable.name, variable.missing)
    return frame.take(np.flatnonzero(~absent)) if absent.any() else frame


def _chain(found: Sequence[str], above: dict[str, tuple[str, ...]], sizes: dict[str, int]) -> tuple[str, ...]:
    """The longest chain among the coarser columns that starts at the finest of them."""
    chain: list[str] = []
    for other in sorted(found, key=lambda one: (-sizes[one], one)):
        if not chain or other in above[chain[-1]]:
            chain.append(other)
    return tuple(chain)


def tree_of_columns(frame: Frame, variable: Variable, chain: Sequence[Variable]) -> Hierarchy | None:
    """The tree of the finest column; None where a record has a code without the coarser one."""
    names = (variable.name, *(column.name for column in chain))
    known = _with_code(frame.select(names), variable)
    if any(known.is_missing(column.name, column.missing).any() for column in chain):
        return None
    rows = distinct_rows(known, names)
    seen = {row[0] for row in rows}
    for at, column in enumerate(names[1:], start=1):  # one code may stand for different things at two levels
        clash = seen & {row[at] for row in rows}
        rows = [tuple(f"{column} {code}" if i == at and clash else code for i, code in enumerate(row)) for row in rows]
        seen |= {row[at] for row in rows}
    try:
        return Hierarchy.from_paths(rows, total=TOTAL, leaf_first=True)
    except DataError:  # a code that is called like the total
        return None
