# SPDX-License-Identifier: Apache-2.0
"""Attacks beyond one noisy table: other releases of its cells, differences of nested cells, and respondents that are known."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from reticent.base.arrays import Floats, Ints
from reticent.base.errors import DataError, ParameterError
from reticent.base.randomness import Secret
from reticent.data.large import LargeFile
from reticent.data.microdata import Microdata
from reticent.data.published_table import PUBLISHED, PublishedTable
from reticent.data.relations import Relations
from reticent.kernels.grouping import group_columns
from reticent.tables.attack.audit import Audit
from reticent.tables.attack.noise import audit_noise
from reticent.tables.attack.noise_intervals import sums_with_parts
from reticent.tables.attack.noise_releases import (
    Averaging,
    attack_differences,
    averaging,
    nested_pairs,
    what_all_allow,
)
from reticent.tables.outcome import Outcome
from reticent.tables.perturb.noise_origins import least_slack, told_of
from reticent.tables.perturb.origins import Origins, Told, origins_of, stacked
from reticent.tables.perturb.ptable import PerturbationTable
from reticent.tables.problem import Before, SuppressionProblem
from reticent.tables.sap import EXACT_WORK, Sap, sap, sap_linked, sap_linked_perturbed, sap_perturbed
from reticent.tabulation.linked import System

OWNER = "[attack]"
MOST_PAIRS = 2_000
MOST_WORK = 30_000_000
"""This many cells are drawn by simulations of noise; large tables get fewer draws, at least 100."""


def with_releases(
    system: System, problem: SuppressionProblem, outcome: Outcome, found: Audit, releases: Sequence[PublishedTable]
) -> tuple[Audit, tuple[str, ...]]:
    """The audit with what other releases of the same cells say: each has its own noise or its own adjustment.

    Cells that all of them together determine are exposed. Their noise is taken to be drawn by the design of this run, and
    adjusted no further than that explains.
    """
    if not releases:
        return found, ()
    if outcome.origins is None or outcome.drawn is None or outcome.low is None or outcome.high is None:
        raise ParameterError(
            f"{OWNER}: releases are combined only for noisy counts (cell-key, invariant) of one response."
        )
    before = [_shown_of(system, release) for release in releases]
    both = what_all_allow(problem.relations, [outcome.origins, *(_behind(problem, outcome, one) for one in before)])
    low, high = np.maximum(outcome.low, both.low), np.minimum(outcome.high, both.high)
    together = audit_noise(problem, replace(outcome, origins=both, low=low, high=high, quotas=None))
    own, order = np.argsort(together.cells), found.cells
    low, high = np.maximum(found.low, together.low[own][order]), np.minimum(found.high, together.high[own][order])
    there = (problem.values[order] > 0) & ~problem.frozen[order]
    lost = there & (high - low <= problem.tolerance)
    assert outcome.values is not None
    mean = averaged(problem, outcome, np.vstack([outcome.values, *(one.values for one in before)]))
    exposed = found.exposed | together.exposed[own][order] | lost
    return replace(found, low=low, high=high, exposed=exposed), (
        _releases_note(len(releases), int(lost.sum()), int(there.sum()), mean),
    )


def _behind(problem: SuppressionProblem, outcome: Outcome, before: Before) -> Origins:
    """Which true counts are possible behind another release and its measures; of cells not shown, what is known anyway.

    Where no adjustment is needed to explain it, the same records are published alike in it.
    """
    assert outcome.origins is not None
    assert outcome.drawn is not None
    values, told = before.values, told_of(None, before)
    seen = np.flatnonzero(~np.isnan(values) & ~problem.frozen)
    rest = np.setdiff1d(np.arange(problem.n_cells), seen)
    drawn = outcome.drawn
    slack = least_slack(drawn.strata, problem.values, values, drawn.noisy, seen)
    parts = [
        (own, _origins_of(table, before, told, own, slack=slack, alike=drawn.alike and slack == 0))
        for cells, table in drawn.strata
        if len(own := np.intersect1d(cells, seen))
    ]
    parts += [(rest, replace(outcome.origins.of(rest), alike=None))] if len(rest) else []
    return stacked(parts, problem.n_cells)


def averaged(problem: SuppressionProblem, outcome: Outcome, releases: Floats) -> Averaging:
    """What the mean of all releases gives, over the cells that all of them show."""
    assert outcome.drawn is not None
    both = ~np.isnan(releases).any(axis=0) & ~problem.frozen
    return averaging(problem.values[both], outcome.drawn.noisy[both], list(releases[:, both]))


def _releases_note(n: int, lost: int, cells: int, mean: Averaging) -> str:
    return (
        f"Together with {n} other release{'s' if n > 1 else ''} of these cells {lost} of {cells} counts above 0 are determined "
        f"exactly. The rounded mean of all releases is the true count in {mean.undone} of the {mean.changed} cells that noise "
        f"changed; it is {mean.from_true:.2f} from the truth on average, and {mean.from_noisy:.2f} from the noisy counts."
    )


def _origins_of(
    table: PerturbationTable, before: Before, told: Told | None, cells: Ints, *, slack: int | Ints, alike: bool
) -> Origins:
    own = None if told is None else told.of(cells)
    return origins_of(table, before.values[cells], slack=slack, told=own, alike=alike)


def _shown_of(system: System, release: PublishedTable) -> Before:
    """What a release shows of each cell of the system (NaN: nothing): the tables with its dimensions are its own."""
    numbers = [number for number, table in enumerate(system.parts) if table.names == release.dimensions]
    if not numbers:
        raise DataError(
            f"{OWNER}: a release has the dimensions {', '.join(release.dimensions)}, and no table of the plan has these."
        )
    table, members = system.parts[numbers[0]], system.members[numbers[0]]
    values, sizes = np.full(system.table.n_cells, np.nan), np.full(system.table.n_cells, np.nan)
    measures = np.full(len(release.values), np.nan) if release.measure is None else release.measure
    for codes, state, value, size in zip(
        release.codes, release.status, release.values.tolist(), measures.tolist(), strict=True
    ):
        cell = table.find(codes)
        if state != PUBLISHED or cell is None:
            continue
        if value != round(value) or value < 0 or (value > 0 and table.values[cell] == 0):
            raise DataError(
                f"{OWNER}: a release shows {value:g} in {' × '.join(codes)}, which noise on these counts cannot be; releases "
                "must be noisy counts of the same data."
            )
        values[members[cell]], sizes[members[cell]] = value, size
    return Before(values, np.where(np.isnan(values), -1, 0), sizes)


def with_nested(outcome: Outcome, systems: Sequence[System]) -> Outcome:
    """The outcome, in which noisy counts know which cells contain others by codes of several trees."""
    if outcome.single:
        own = tuple(with_nested(one, [system]) for one, system in zip(outcome.single, systems, strict=True))
        return replace(outcome, single=own)
    if outcome.origins is None or len(systems) > 1:
        return outcome
    pairs = nested_pairs(systems[0].table)
    origins = _told_in_strata(outcome, outcome.origins, systems[0].relations, pairs)
    return replace(outcome, origins=replace(origins, nested=pairs) if len(pairs) else origins)


def _told_in_strata(outcome: Outcome, origins: Origins, relations: Relations, nested: Ints) -> Origins:
    """The origins with pairs of cells that are published unlike, where the same records are published alike in one stratum."""
    drawn = outcome.drawn
    if drawn is None or not drawn.within or drawn.alike or outcome.additive or outcome.values is None:
        return origins
    stratum = np.full(relations.n_cells, -1, dtype=np.int64)
    for number, (cells, _) in enumerate(drawn.strata):
        stratum[cells] = number
    pairs = np.vstack([sums_with_parts(relations), nested])
    own, shown = stratum[pairs], outcome.values[pairs]
    unlike = (own[:, 0] == own[:, 1]) & (own[:, 0] >= 0) & (shown[:, 0] != shown[:, 1])
    return replace(origins, apart=pairs[unlike]) if unlike.any() else origins


def difference_note(problem: SuppressionProblem, outcome: Outcome) -> tuple[str, ...]:
    """What differences of nested cells say: groups that no table shows, where codes of several trees contain each other."""
    if outcome.origins is None or outcome.origins.nested is None:
        return ()
    pairs = outcome.origins.nested
    found = attack_differences(problem.relations, outcome.origins, pairs[:MOST_PAIRS])
    known = [one for one in found if one.determined]
    more = f" (of {len(pairs)})" if len(pairs) > MOST_PAIRS else ""
    return (
        f"{len(known)} of {len(found)}{more} differences of cells of which one contains the other are determined exactly and "
        f"are not 0 ({sum(one.low <= 2 for one in known)} of them 1 or 2): groups that no table shows.",
    )


def sap_note(
    system: System,
    outcome: Outcome,
    records: Microdata | LargeFile | None,
    known: Sequence[int],
    draws: int,
    secret: Secret,
) -> tuple[str, ...]:
    """How likely an intruder who knows this many respondents empties a cell by subtracting them; nothing if not asked for."""
    if not known:
        return ()
    if not system.table.is_count or system.table.weighted:
        raise ParameterError(
            f"{OWNER}: known asks how cells are emptied, which needs a table of counts without weights."
        )
    cells = _inner_cells(system, records)
    most = len(cells)
    wrong = [number for number in known if number > most]
    if wrong:
        raise ParameterError(f"{OWNER}: known must be at most the {most} respondents of the table, got {wrong[0]}.")
    found = [(number, _sap(cells, outcome, number, draws, secret.child(f"known {number}"))) for number in known]
    chances = ", ".join(
        f"{one.probability:.3g}{f' ± {one.error:.1g}' if one.draws else ''} with {number}" for number, one in found
    )
    noise = " and is sure of it by the p-table, before totals were made to add up" if outcome.drawn is not None else ""
    linked = f" of {cells.shape[1]} tables" if cells.shape[1] > 1 else ""
    return (
        f"Probability that somebody who knows some respondents empties a cell{linked} by subtracting them{noise} (SAP): "
        f"{chances} known respondents.",
    )


def _sap(cells: Ints, outcome: Outcome, known: int, draws: int, secret: Secret) -> Sap:
    tables = () if outcome.drawn is None else outcome.drawn.strata
    n_cells = int(cells.max(initial=0) + 1)
    single = cells.shape[1] == 1
    counts = np.bincount(cells[:, 0])
    exact = single and n_cells * (known + 1) ** 2 <= EXACT_WORK // (1 if not tables else 100)
    fewer = max(100, min(draws, MOST_WORK // max(n_cells * cells.shape[1], 1)))
    if not tables:
        return (
            sap(counts, known, secret=secret, draws=draws)
            if single
            else sap_linked(cells, known, secret=secret, draws=fewer)
        )
    if len(tables) > 1:
        raise ParameterError(f"{OWNER}: known needs one p-table for all cells; leave out strata.")
    table = tables[0][1]
    if exact:
        return sap_perturbed(counts, known, table)
    return sap_linked_perturbed(cells, known, table, secret=secret, draws=fewer)


def _inner_cells(system: System, records: Microdata | LargeFile | None) -> Ints:
    """The inner cell of each respondent in each table, a column per table."""
    if len(system.parts) == 1:
        counts = np.rint(system.table.values[system.table.is_inner]).astype(np.int64)
        return np.repeat(np.arange(int((counts > 0).sum())), counts[counts > 0])[:, None]
    if not isinstance(records, Microdata) or records.schema.entity is not None:
        raise ParameterError(f"{OWNER}: known needs records, one per respondent, where tables are linked.")
    columns = []
    for table in system.parts:
        encoded = [records.frame.encode(name) for name in table.names]
        codes = [np.asarray(column.codes, dtype=np.int32) for column in encoded]
        columns.append(group_columns(codes, [len(column.categories) for column in encoded])[0])
    return np.column_stack(columns).astype(np.int64)
