"""Simple adjustment, successive rounding, resampling, SAP after noise, several releases, utility, shares and ratios."""

import itertools
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from reticent.base.errors import DataError, ParameterError, PlanError
from reticent.base.randomness import as_secret
from reticent.data.hierarchy import Hierarchy
from reticent.data.microdata import Microdata
from reticent.data.published_table import EMPTY, HIDDEN, PUBLISHED, PublishedTable
from reticent.data.relations import Relations
from reticent.data.schema import Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.jobs.protect_table import protect_table
from reticent.tables.attack.noise_intervals import narrowed
from reticent.tables.attack.noise_releases import attack_differences, averaging, nested_pairs, what_all_allow
from reticent.tables.attack.noise_worlds import all_worlds
from reticent.tables.derived import ratio_table, share_table
from reticent.tables.methods import CellKey, Resample, Round, SmallCounts
from reticent.tables.perturb.additivity import restore_additivity
from reticent.tables.perturb.alternating import alternated
from reticent.tables.perturb.cell_key import perturb_counts
from reticent.tables.perturb.noise_report import noise_utility
from reticent.tables.perturb.origins import Origins, origins_of
from reticent.tables.perturb.ptable import PerturbationTable, Row
from reticent.tables.perturb.ptable_design import Design, design_ptable
from reticent.tables.rules import Threshold
from reticent.tables.sap import sap, sap_linked, sap_linked_perturbed, sap_perturbed
from reticent.tabulation.tabulate import tabulate
from table_makers import with_totals

SESRIC = np.array([[15, 1, 3, 1], [20, 10, 10, 15], [3, 10, 10, 2], [12, 14, 7, 2]])
TABLE_2_11 = np.array([[15, 0, 3, 3], [20, 10, 10, 15], [3, 10, 10, 0], [12, 14, 7, 3]])


def people(counts: np.ndarray, names: tuple[str, ...]) -> Microdata:
    """One record per respondent of a cube of counts."""
    places = [place for place, n in np.ndenumerate(counts) for _ in range(int(n))]
    columns = {name: [str(place[at]) for place in places] for at, name in enumerate(names)}
    schema = Schema((Variable("id", role=Role.IDENTIFIER), *(Variable(name, role=Role.KEY) for name in names)))
    return Microdata.of(pl.DataFrame({"id": [f"p{n}" for n in range(len(places))], **columns}), schema)


def spec(*names: str) -> TableSpec:
    return TableSpec(tuple(DimensionSpec(name) for name in names))


def test_sesric_2_11_by_alternating_signs() -> None:
    """Descending order 2, 2, 1, 1; the first way is drawn: down gives the printed table, up its mirror."""
    found = {tuple(alternated(SESRIC.ravel(), 3, as_secret(seed)).tolist()) for seed in range(20)}
    assert tuple(TABLE_2_11.ravel().tolist()) in found
    assert len(found) == 2
    for values in found:
        assert sorted(values[at] for at in (1, 3, 11, 15)) == [0, 0, 3, 3]


def test_alternating_as_a_table_method() -> None:
    method = SmallCounts(base=3, choice="alternating")
    data = people(SESRIC, ("county", "level"))
    with pytest.raises(PlanError, match="needs a secret"):
        protect_table(data, spec("county", "level"), rules=[Threshold(minimum=3)], method=method)
    result = protect_table(
        data, spec("county", "level"), rules=[Threshold(minimum=3)], method=method, secret=2, test_secret=True,
        accept_exposed=True,
    )  # fmt: skip
    assert np.abs(result.problem.relations.residuals(result.outcome.values)).max() == 0
    assert abs(result.outcome.values.max() - 135) <= 1
    assert not np.isin(result.outcome.values, (1, 2)).any()
    with pytest.raises(ParameterError, match="leave it out"):
        protect_table(
            data, spec("county", "level"), method=replace(method, threshold=1), secret=2, test_secret=True,
        )  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_successive_rounding_of_three_dimensions(seed: int) -> None:
    """Everything adds up in multiples; zeros stay; cells within two bases, sums over the slices within one."""
    cube = np.random.default_rng(seed).poisson(3, (3, 4, 3))
    data = people(cube, ("a", "b", "c"))
    method = Round(base=5, successive=True)
    result = protect_table(
        data, spec("a", "b", "c"), rules=[Threshold(minimum=3)], method=method, secret=seed, test_secret=True,
        accept_exposed=True,
    )  # fmt: skip
    values, table = result.outcome.values, result.table
    assert np.abs(result.problem.relations.residuals(values)).max() == 0
    assert (values % 5 == 0).all()
    assert (values[table.values == 0] == 0).all()
    inner = (table.codes > 0).all(axis=1)
    over = (table.codes[:, 0] == 0) & (table.codes[:, 1:] > 0).all(axis=1)
    assert np.abs(values - table.values)[inner].max() < 10
    assert np.abs(values - table.values)[over].max() < 5


def test_successive_rounding_needs_three_flat_dimensions() -> None:
    data = people(SESRIC, ("a", "b"))
    with pytest.raises(ParameterError, match="three dimensions"):
        protect_table(data, spec("a", "b"), method=Round(successive=True), secret=1, test_secret=True)


def test_resampling_keeps_the_total_and_the_zeros() -> None:
    data = people(SESRIC, ("a", "b"))
    runs = [
        protect_table(
            data, spec("a", "b"), rules=[Threshold(minimum=3)], method=Resample(times=times), secret=4, test_secret=True,
            accept_exposed=True,
        )
        for times in (1, 1, 50)
    ]  # fmt: skip
    first, again, often = (run.outcome.values for run in runs)
    assert first.tolist() == again.tolist()
    true = runs[0].table.values
    assert first.max() == often.max() == 135
    assert np.abs(often - true).mean() < np.abs(first - true).mean()
    assert np.abs(runs[0].problem.relations.residuals(first)).max() == 0


def test_sap_after_noise_by_enumeration() -> None:
    """All sets of two known respondents and all noise of a small table: the exact count."""
    table = PerturbationTable((
        Row.of(0.0, np.zeros(1), np.ones(1)), Row.of(1.0, np.array([-1.0, 0.0, 1.0]), np.array([0.25, 0.5, 0.25])),
    ))  # fmt: skip
    counts, known = [1, 2, 3], 2
    owners = [cell for cell, n in enumerate(counts) for _ in range(n)]
    total = hits = 0.0
    for chosen in itertools.combinations(range(6), known):
        taken = [sum(owners[who] == cell for who in chosen) for cell in range(3)]
        for noise in itertools.product((-1, 0, 1), repeat=3):
            chance = float(np.prod([0.5 if v == 0 else 0.25 for v in noise]))
            published = np.array(counts) + np.array(noise)
            sure = [table.origins(published)[1][c] <= taken[c] == counts[c] for c in range(3)]
            total += chance
            hits += chance * any(sure)
    assert sap_perturbed(counts, known, table).probability == pytest.approx(hits / total, abs=1e-9)
    assert sap_perturbed(counts, known, table).probability < sap(counts, known).probability


def test_sap_of_linked_tables_falls_with_noise() -> None:
    cells = np.random.default_rng(3).integers(0, 5, (25, 2))
    table = design_ptable(Design(3, 2.0, 2))
    plain = sap_linked(cells, 8, secret=as_secret(1), draws=400)
    noisy = sap_linked_perturbed(cells, 8, table, secret=as_secret(1), draws=400)
    assert noisy.probability <= plain.probability
    with pytest.raises(ParameterError, match="must not be negative"):
        sap_perturbed([1, -1], 0, table)


RELATION = Relations.from_rows(3, [([0, 1, 2], [1, 1, -1])])


def test_several_releases_say_more_than_each() -> None:
    """Independent noise of the same cells: what is left is what all of them allow."""
    table, true = design_ptable(Design(2, 1.5, 0)), np.array([4, 6, 10])
    rng = np.random.default_rng(0)
    releases = [origins_of(table, perturb_counts(true, rng.random(3), table).values) for _ in range(12)]
    widths = []
    for n in (1, 3, 12):
        both = what_all_allow(RELATION, releases[:n])
        found = narrowed(RELATION, both, both.low, both.high)
        assert ((found.low <= true) & (true <= found.high)).all()
        widths.append(float((found.high - found.low).sum()))
    assert widths[0] >= widths[1] >= widths[2]
    assert widths[2] < widths[0]
    with pytest.raises(DataError, match="no true count fits"):
        what_all_allow(RELATION, [releases[0], origins_of(table, np.array([90.0, 6.0, 96.0]))])


def test_averaging_over_adjusted_tables_gives_the_noisy_counts() -> None:
    """The same noise, adjusted in tables that differ: the mean comes nearer to the noisy counts than to the true ones.

    It also profits from the noise of the totals, which is other noise: adjusted counts are functions of all noisy ones.
    """
    rng = np.random.default_rng(8)
    table = design_ptable(Design(5, 3.0, 2))
    true, relations, cells = with_totals(rng.poisson(6, (6, 8)))
    noisy = perturb_counts(true.astype(np.int64), rng.random(len(true)), table).values
    inner = cells[:-1, :-1].ravel()
    releases = []
    for seed in range(40):  # each table has other neighbours: other cells of it are moved
        other = noisy.copy()
        outside = np.setdiff1d(np.arange(len(true)), inner)
        other[outside] = noisy[outside] + np.random.default_rng(seed).integers(-4, 5, len(outside))
        releases.append(restore_additivity(np.maximum(other, 0), relations, way="kernel").values[inner])
    found = averaging(true[inner], noisy[inner], releases)
    assert found.releases == 40
    assert found.from_noisy < found.from_true
    assert found.undone <= 0.5 * found.changed


def test_differences_of_nested_codes_are_attacked() -> None:
    """15–64 and 15–65 of two classifications: the difference is one group that no table shows."""
    trees = (
        Hierarchy.from_children({"Total": ["young", "old"], "young": ["a", "b"], "old": ["c", "d"]}),
        Hierarchy.from_children({"Total": ["wide", "rest"], "wide": ["a", "b", "c"], "rest": ["d"]}),
    )
    codes = ("a",) * 5 + ("b",) * 6 + ("c",) + ("d",) * 9
    schema = Schema((Variable("id", role=Role.IDENTIFIER), Variable("age", role=Role.KEY)))
    data = Microdata.of(pl.DataFrame({"id": [f"p{n}" for n in range(len(codes))], "age": codes}), schema)
    table = tabulate(data, TableSpec((DimensionSpec("age", trees=trees),)))
    pairs = nested_pairs(table)
    named = {(table.cell_codes(large)[0], table.cell_codes(small)[0]) for large, small in pairs}
    assert ("wide", "young") in named
    one = next(
        pair for pair in pairs if table.cell_codes(pair[0])[0] == "wide" and table.cell_codes(pair[1])[0] == "young"
    )
    exact = PerturbationTable((Row.of(0.0, np.zeros(1), np.ones(1)),))
    shown = Relations.from_rows(table.n_cells, [])
    (found,) = attack_differences(shown, origins_of(exact, table.values), one[None])
    assert (found.low, found.high, found.determined) == (1, 1, True)
    wide = design_ptable(Design(2, 1.5, 0))
    (noisy,) = attack_differences(shown, origins_of(wide, table.values), one[None])
    assert noisy.low < 1 < noisy.high


def test_utility_in_the_shape_of_the_source() -> None:
    true = np.array([0, 1, 2, 25, 60, 7000, 4])
    noisy, published = true + np.array([0, -1, 1, 0, 2, -3, 0]), true + np.array([0, 2, 1, 0, 2, -4, 0])
    moved = np.array([np.nan, 1, 2, 0, 2, -4, 0])
    found = noise_utility(true, published, noisy=noisy, moved=moved)
    assert dict(found.largest) == {"1-2": 2, "3-9": 0, "20-49": 0, "50-99": 2, "from 5000": 4}
    assert [row[0] for row in found.shares] == [0, 1, 2, 3, 4]
    assert sum(row[1] for row in found.shares) == pytest.approx(100)
    assert sum(row[2] or 0 for row in found.shares) == pytest.approx(100)
    assert (-4, 1, 1) in found.frequencies
    assert (2, 2, 2) in found.frequencies
    assert found.mean == pytest.approx(9 / 6)
    with pytest.raises(ParameterError, match="one published count"):
        noise_utility(true, published[:3])


def published(values: list[float], status: list[str], response: str) -> PublishedTable:
    codes = (("Total", "x"), ("a", "x"), ("b", "x"), ("c", "x"))
    return PublishedTable(("v", "w"), codes, np.array(values), tuple(status), response)


def test_shares_and_ratios_come_from_published_values_only() -> None:
    sums = published([100, 60, np.nan, np.nan], [PUBLISHED, PUBLISHED, HIDDEN, EMPTY], "pay")
    counts = published([10, 5, 3, 0], [PUBLISHED] * 4, "count")
    ratio = ratio_table(sums, counts)
    assert ratio.status == (PUBLISHED, PUBLISHED, HIDDEN, EMPTY)
    assert ratio.values[:2].tolist() == [10, 12]
    share = share_table(sums, "v")
    assert share.values[:2].tolist() == [100, 60]
    assert share.status[2] == HIDDEN
    assert share.response == "pay in per cent of v"
    with pytest.raises(ParameterError, match="no dimension 'x'"):
        share_table(sums, "x")
    with pytest.raises(ParameterError, match="has no code 'All'"):
        share_table(sums, "v", total="All")
    with pytest.raises(ParameterError, match="same dimensions"):
        ratio_table(sums, replace(counts, dimensions=("w", "v")))


def test_the_measure_is_published_and_the_attack_knows_it() -> None:
    data = people(np.random.default_rng(2).poisson(4, (5, 6)), ("a", "b"))
    given = {"rules": [Threshold(minimum=3)], "secret": 3, "test_secret": True, "accept_exposed": True}
    told = protect_table(data, spec("a", "b"), method=CellKey(measure=True), **given)
    silent = protect_table(data, spec("a", "b"), method=CellKey(), **given)
    assert told.outcome.values.tolist() == silent.outcome.values.tolist()
    table = told.published[0]
    assert table.measure is not None
    assert np.isnan(table.measure[table.values == 0]).all()
    shown = told.outcome.values > 0
    error = np.abs(told.outcome.values - told.table.values)
    assert np.abs(told.outcome.measure - error)[shown].max() <= 2
    assert (told.audit.high - told.audit.low).sum() < (silent.audit.high - silent.audit.low).sum()
    assert ((told.audit.low <= told.table.values) & (told.table.values <= told.audit.high)).all()
    assert "measure" in table.rows()[0]


def test_all_true_tables_of_many_parts_are_listed() -> None:
    """Most of forty parts are known: the others have three true tables."""
    relations = Relations.from_rows(41, [([*range(40), 40], [1] * 40 + [-1])])
    sets = np.array([[True, False, False], [True, True, True]])
    pattern = np.zeros(41, dtype=np.int32)
    pattern[[7, 40]] = 1
    origins = Origins(np.zeros(41, dtype=np.int64), pattern, sets, sets.astype(np.float64))
    found = all_worlds(relations, origins, origins.low, origins.high)
    assert found is not None
    assert found.counts[:, 40].tolist() == [0, 1, 2]
