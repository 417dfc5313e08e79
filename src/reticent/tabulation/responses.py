# SPDX-License-Identifier: Apache-2.0
"""Responses of one release: which are related, what relates them, and which tables must be thought of beside those asked for."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from reticent.base.checks import did_you_mean
from reticent.base.errors import PlanError
from reticent.data.microdata import Microdata
from reticent.data.response_relations import COUNT, ResponseRelation
from reticent.data.schema import Kind
from reticent.data.table import DimensionSpec
from reticent.tabulation.assemble import MAX_DECIMALS
from reticent.tabulation.class_limits import OfOne, limits_of_one, ties_by_class
from reticent.tabulation.dimensions import build_dimension
from reticent.tabulation.joint import cell_numbers
from reticent.tabulation.linked import System
from reticent.tabulation.near_ties import near_ties, ties_by_code
from reticent.tabulation.tabulate import decimals_of
from reticent.tabulation.tied_responses import Numbers, Tie, check_declared, find_ties
from reticent.tabulation.ties_together import ties_together

LISTED = 20
"""A note names this many relations."""


def name_of_response(response: str | None) -> str:
    """What a relation calls a response; without one, records are counted."""
    return COUNT if response is None else response


def ties_in_records(
    data: Microdata,
    responses: Sequence[str],
    declared: Sequence[ResponseRelation],
    *,
    find: bool = True,
    dimensions: Sequence[DimensionSpec] = (),
    cells: bool = False,
) -> list[Tie]:
    """The declared relations, checked record by record, and those that the records show: all, nearly all, or of a code.

    With `cells` also those of sums only: limits of responses by codes that follow their order, and what holds for the records
    of a respondent or of a household together.
    """
    names = tuple(dict.fromkeys((*responses, *(name for relation in declared for name in relation.names))))
    for relation in declared:
        for name in relation.names:
            _check_numeric(data, name, relation)
    numbers = _record_numbers(data, names)
    ties = _ties(numbers, responses, declared, find=find)
    if find and len(responses) > 1 and COUNT not in names and COUNT not in data.schema:
        ties = _with_constants(ties, _record_numbers(data, (*names, COUNT)), responses, declared)
    if find and len(responses) > 1:
        own = _chosen(numbers, responses)
        for spec in dict.fromkeys(dimensions):
            dimension, nodes = build_dimension(data, spec)
            places = nodes[data.encoded(spec.variable).codes]
            ties += ties_by_code(own, dimension, places, ties)
            if cells and data.schema.entity is None:  # counts are those of records
                ties += ties_by_class(own, dimension, places.astype(np.int64))
        if cells:
            ties += ties_together(data, own, dimensions, ties)
    return ties


def limits_in_records(data: Microdata, response: str, dimensions: Sequence[DimensionSpec]) -> list[OfOne]:
    """What one record of a response has at least, as far as everybody knows it from its codes or from all records."""
    coded = []
    for spec in dict.fromkeys(dimensions):
        dimension, nodes = build_dimension(data, spec)
        coded.append((dimension, nodes[data.encoded(spec.variable).codes].astype(np.int64)))
    return limits_of_one(_record_numbers(data, (response,)), response, coded)


def ties_in_cells(systems: Sequence[System], declared: Sequence[ResponseRelation], *, find: bool = True) -> list[Tie]:
    """The same cell by cell, for tables that came without records."""
    numbers = cell_numbers(systems)
    for relation in declared:
        for name in relation.names:
            if name not in numbers.columns:
                raise PlanError(
                    f"relations: {str(relation)!r} names {name!r}, which is not a response of the tables; they have "
                    f"{', '.join(numbers.columns)}.{did_you_mean(name, tuple(numbers.columns))}"
                )
    return _ties(numbers, tuple(numbers.columns), declared, find=find)


def _ties(numbers: Numbers, responses: Sequence[str], declared: Sequence[ResponseRelation], *, find: bool) -> list[Tie]:
    ties = [check_declared(relation, numbers) for relation in dict.fromkeys(declared)]
    if find and len(responses) > 1:
        own = _chosen(numbers, responses)
        ties += find_ties(own, [tie.relation for tie in ties])
        ties += near_ties(own, ties)
    return ties


def _chosen(numbers: Numbers, responses: Sequence[str]) -> Numbers:
    """The columns of the responses, without those that only declared relations name."""
    return replace(numbers, columns={name: numbers.columns[name] for name in dict.fromkeys(responses)})


def _with_constants(
    ties: list[Tie], numbers: Numbers, responses: Sequence[str], declared: Sequence[ResponseRelation]
) -> list[Tie]:
    """The ties with those that have a constant per record, as in y = 2 x + 50: added up, they name the number of records."""
    exact = [tie for tie in _ties(numbers, (*responses, COUNT), declared, find=True) if not tie.relation.inequality]
    if not any(COUNT in tie.relation.names and len(tie.relation.names) > 2 and tie.rounding == 0 for tie in exact):
        return ties
    # one basis of all linear relations instead of two that say the same twice
    linear = [tie for tie in exact if tie.rounding == 0]
    return linear + [tie for tie in ties if tie.relation.inequality or tie.rounding > 0]


def _check_numeric(data: Microdata, name: str, relation: ResponseRelation) -> None:
    if name in data.schema and data.schema[name].kind is Kind.NUMERIC:
        return
    if name == COUNT and name not in data.schema:
        return
    numeric = tuple(v.name for v in data.schema.variables if v.kind is Kind.NUMERIC)
    raise PlanError(
        f"relations: {str(relation)!r} names {name!r}, which is not a numeric variable of the data; they have "
        f"{', '.join(numeric)} and {COUNT}.{did_you_mean(name, numeric)}"
    )


def _record_numbers(data: Microdata, names: Sequence[str]) -> Numbers:
    columns, steps, absent = {}, {}, {}
    for name in names:
        counted = name == COUNT and name not in data.schema
        column = np.ones(data.n_records) if counted else np.nan_to_num(data.numbers((name,))[:, 0])
        if not counted and bool((missing := data.missing(name)).any()):
            absent[name] = missing
        digits = decimals_of(column)
        columns[name] = column
        steps[name] = 10.0 ** -(MAX_DECIMALS if digits is None else digits)
    return Numbers(columns, steps, absent=absent)


def tie_words(ties: Sequence[Tie]) -> str:
    """What was found in the data, in a sentence; nothing if nothing was."""
    found = [str(tie) for tie in ties if not tie.relation.declared]
    if not found:
        return ""
    listed = "; ".join(found[:LISTED]) + (f"; and {len(found) - LISTED} more" if len(found) > LISTED else "")
    return f"Relations between responses were found in the data, and the attacker calculates with them: {listed}."


def tie_notes(ties: Sequence[Tie]) -> list[str]:
    """What was found in the data, and what to do about it."""
    words = tie_words(ties)
    return (
        [f"{words} Declare those of all records, or say find_relations = false if they are accidents."] if words else []
    )


def related(responses: Sequence[str], ties: Sequence[Tie]) -> list[list[str]]:
    """The responses in groups that relations (also over further responses) hold together, in their order."""
    group = {name: at for at, name in enumerate(dict.fromkeys(responses))}
    for tie in ties:
        for name in tie.relation.names:
            group.setdefault(name, len(group))
    for tie in ties:
        joined = {group[name] for name in tie.relation.names}
        group = {name: min(joined) if at in joined else at for name, at in group.items()}
    groups: dict[int, list[str]] = {}
    for name in dict.fromkeys(responses):
        groups.setdefault(group[name], []).append(name)
    return list(groups.values())


def lacking(have: Sequence[tuple[str, object]], ties: Sequence[Tie]) -> list[tuple[str, int]]:
    """Tables that nobody publishes but everybody can calculate with: related responses that a table of another lacks.

    `have` are the tables as (response, shape); the answer names a response and the number of a table that it lacks. Who
    publishes `tot` and `dom` by region publishes `exp` by region too where `tot = dom + exp`.
    """
    names = list(dict.fromkeys(name for tie in ties for name in tie.relation.names))
    known = list(have)
    found: list[tuple[str, int]] = []
    for number, (response, shape) in enumerate(have):
        for name in names if response in names else ():
            if (name, shape) not in known:
                known.append((name, shape))
                found.append((name, number))
    return found
