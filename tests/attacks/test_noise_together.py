"""Attacks on noisy counts that put together what is published beside them: equal cells, a measure, releases, kept totals.

Each attacker enumerates all true tables that fit, with the rules of the method and nothing else. What he determines the run must
call exposed (so that it is refused unless that is accepted). Each family also has cases that the plain attack, by the p-table
and the sums alone, does not find: these were missed before.
"""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reference.quota_worlds import fits
from reticent.base.errors import InfeasibleError, NotProtectedError
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.published_table import PublishedTable
from reticent.data.schema import Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.jobs.protect_table import protect_table
from reticent.report.table_report import confidential_table_report
from reticent.tables.attack.noise import fitted_prior, posteriors
from reticent.tables.methods import CellKey, InvariantNoise, RandomRounding, Resample
from reticent.tables.perturb.invariant import InvariantDesign
from reticent.tables.perturb.quota_rule import stratum_matrix, widest_table
from reticent.tables.perturb.quotas import round_expected
from reticent.tables.result import ProtectedTable
from reticent.tables.rules import Threshold

LARGEST, REACH = 7, 2
INNER = np.array(list(itertools.product(range(LARGEST + 1), repeat=4)))
CELLS = [(a, b) for a in ("0", "1", "Total") for b in ("0", "1", "Total")]
SCHEMA = Schema((
    Variable("id", role=Role.IDENTIFIER), Variable("a", role=Role.KEY, codes=("0", "1")),
    Variable("b", role=Role.KEY, codes=("0", "1")),
))  # fmt: skip


def summed(inner: np.ndarray) -> np.ndarray:
    """All nine cells of tables of two by two, in the order of CELLS."""
    rows = [inner[:, 0] + inner[:, 1], inner[:, 2] + inner[:, 3]]
    columns = [inner[:, 0] + inner[:, 2], inner[:, 1] + inner[:, 3]]
    return np.column_stack([
        inner[:, 0], inner[:, 1], rows[0], inner[:, 2], inner[:, 3], rows[1], *columns, rows[0] + rows[1],
    ])  # fmt: skip


WORLDS = summed(INNER)
CONTAINED = [
    (total, part)
    for total, part in itertools.permutations(range(9), 2)
    if all(t in (p, "Total") for t, p in zip(CELLS[total], CELLS[part], strict=True))
]
"""Pairs of a cell and one that is part of it."""


def ptable(folder: Path, stay: float) -> str:
    """A p-table with changes of at most 2, written to a file."""
    lines = ["i;j;p;v;p_ij_ub", "0;0;1;0;1"]
    for count in range(1, LARGEST):
        results = list(range(max(0, count - REACH), count + REACH + 1))
        chances = [stay if j == count else (1 - stay) / (len(results) - 1) for j in results]
        bounds = np.cumsum(chances)
        bounds[-1] = 1.0
        lines += [
            f"{count};{j};{p!r};{j - count};{float(b)!r}" for j, p, b in zip(results, chances, bounds, strict=True)
        ]
    path = folder / "ptable.csv"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def people(seed: int, mean: float) -> Microdata:
    rng = np.random.default_rng(seed)
    counts = np.minimum(rng.poisson(mean, 4), LARGEST)
    if not counts.any():
        counts[0] = 1
    places = [divmod(cell, 2) for cell in range(4) for _ in range(counts[cell])]
    columns = {name: [str(place[at]) for place in places] for at, name in enumerate("ab")}
    return Microdata.of(pl.DataFrame({"id": [f"p{n}" for n in range(len(places))], **columns}), SCHEMA)


def protected(data: Microdata, method: object, seed: int, *names: tuple[str, ...], **options: object) -> ProtectedTable:
    specs = tuple(TableSpec(tuple(DimensionSpec(name) for name in table)) for table in names or (("a", "b"),))
    return protect_table(
        data, specs[0] if len(specs) == 1 else specs, rules=[Threshold(minimum=3)], method=method, secret=seed,
        test_secret=True, accept_exposed=True, **options,
    )  # type: ignore[arg-type]  # fmt: skip


def shown(table: PublishedTable) -> np.ndarray:
    found = dict(zip(table.codes, table.values.tolist(), strict=True))
    return np.array([found.get(cell, 0.0) for cell in CELLS]).astype(int)


def by_noise(published: np.ndarray, reach: int | np.ndarray = REACH) -> np.ndarray:
    """True tables with changes within reach; 0 stays 0, so what is above 0 has somebody in it."""
    near = (np.abs(WORLDS - published) <= reach).all(axis=1)
    return near & ~((WORLDS == 0) & (published > 0)).any(axis=1)


def determined(fits: np.ndarray) -> set[int]:
    """Cells that are the same, and not 0, in all true tables that fit."""
    left = WORLDS[fits]
    return {cell for cell in range(9) if left[0, cell] > 0 and (left[:, cell] == left[0, cell]).all()}


def exposed(result: ProtectedTable) -> set[int]:
    """The cells that the run calls exposed, in the order of CELLS."""
    names = {result.table.name_of(cell) for cell in result.exposed}
    return {at for at, codes in enumerate(CELLS) if " × ".join(codes) in names}


def runs(method: object, mean: float, n: int, **options: object) -> Iterator[tuple[ProtectedTable, np.ndarray]]:
    for seed in range(n):
        result = protected(people(seed, mean), method, seed, **options)  # type: ignore[arg-type]
        yield result, shown(result.published[-1])


def different(published: np.ndarray) -> np.ndarray:
    """The same records are published in the same way; so cells that are published differently have different records."""
    fits = np.ones(len(WORLDS), dtype=bool)
    for total, part in CONTAINED:
        if published[total] != published[part]:
            fits &= WORLDS[:, total] != WORLDS[:, part]
    return fits


@pytest.mark.parametrize("kind", ["cell-key", "invariant"])
def test_cells_with_the_same_records_are_published_alike(kind: str, tmp_path: Path) -> None:
    """A total that is published unlike its only part has somebody else in it."""
    method: object = CellKey(ptable=ptable(tmp_path, 0.4))
    if kind == "invariant":
        method = InvariantNoise(selection="keys", frequencies=(9, 8, 7, 6, 5, 4, 3), spread=0.3, mix=1.0)
    plain = together = hidden = 0
    for result, published in runs(method, 0.5, 60):
        alone = by_noise(published, REACH if kind == "cell-key" else 3)
        both = alone & different(published)
        assert determined(both) <= exposed(result)
        plain += len(determined(alone))
        together += len(determined(both))
        under = (WORLDS[both].min(axis=0) > 0) & (published == 0)
        hidden += int((under & ~(WORLDS[alone].min(axis=0) > 0)).sum())
        said = re.search(r"(\d+) cells published as 0 are shown", " ".join(result.notes))
        assert said is not None
        assert int(said[1]) >= under.sum()
        assert kind == "invariant" or int(said[1]) == under.sum()
    assert together > plain
    assert hidden > 0


def sizes_of(result: ProtectedTable) -> np.ndarray:
    """The published measures in the order of CELLS."""
    table = result.published[0]
    assert table.measure is not None
    told = dict(zip(table.codes, table.measure.tolist(), strict=True))
    return np.array([told.get(cell, np.nan) for cell in CELLS])


def truth_of(result: ProtectedTable) -> np.ndarray:
    found = {result.table.name_of(cell): result.table.values[cell] for cell in range(result.table.n_cells)}
    return np.array([found.get(" × ".join(codes), 0.0) for codes in CELLS])


@pytest.mark.parametrize("add_up", ["no", "exact"])
def test_the_sizes_that_measures_show_are_not_those_of_the_changes(add_up: str, tmp_path: Path) -> None:
    """Measures kept how often each size occurs: true tables with these sizes alone were left, 123 of 40 runs' counts unseen.

    Each measure is drawn alone now, so who relies on the kept numbers excludes the truth; what a measure does say is attacked.
    """
    method = CellKey(ptable=ptable(tmp_path, 0.5), measure=True, add_up=add_up)  # type: ignore[arg-type]
    wrong = 0
    for result, published in runs(method, 2.0, 20):
        sizes = sizes_of(result)
        seen = ~np.isnan(sizes)
        slack = int(result.outcome.facts.get("largest change by additivity", 0))
        fits = by_noise(published, REACH + slack) & (np.abs(np.abs(WORLDS - published) - sizes) <= 2)[:, seen].all(
            axis=1
        )
        if add_up == "no":
            fits &= different(published) & different(np.nan_to_num(sizes, nan=-1.0))
        assert determined(fits) <= exposed(result)
        true = np.abs(truth_of(result) - published)[seen]
        wrong += bool((np.sort(true) != np.sort(sizes[seen])).any())
    assert wrong >= 10


def test_one_measure_alone_is_not_the_size_of_its_change(tmp_path: Path) -> None:
    """By an invariant matrix of one change the measure was that change, whatever was drawn."""
    method = CellKey(ptable=ptable(tmp_path, 0.2), measure=True)
    counts = {n: people_alone(n) for n in (3, 4, 5)}
    differ = 0
    for seed in range(24):
        result = protected(counts[3 + seed % 3], method, seed)
        sizes, published = sizes_of(result), shown(result.published[0])
        seen = ~np.isnan(sizes)
        differ += bool((sizes != np.abs(truth_of(result) - published))[seen].any())
    assert differ >= 5


def people_alone(n: int) -> Microdata:
    """All in one inner cell: the four cells that they are in have the same records, and one change."""
    return Microdata.of(pl.DataFrame({"id": [f"p{i}" for i in range(n)], "a": ["0"] * n, "b": ["0"] * n}), SCHEMA)


@pytest.mark.parametrize("mean", [0.5, 1.5])
def test_random_rounding_is_attacked_by_cells_with_the_same_records(mean: float) -> None:
    """A total that is rounded unlike its part has somebody else in it; 51 of the counts of 80 tables were not reported."""
    plain = together = 0
    for result, published in runs(RandomRounding(base=3), mean, 40):
        alone = (np.abs(WORLDS - published) < 3).all(axis=1)
        both = alone & different(published)
        assert determined(both) <= exposed(result)
        plain += len(determined(alone))
        together += len(determined(both))
    assert together > plain


def left_by_quotas(result: ProtectedTable, published: np.ndarray) -> np.ndarray:
    """True tables whose movements are a rounding of what their own matrix expects."""
    names = {result.table.name_of(cell) for cell in range(result.table.n_cells)}
    listed = np.array([" × ".join(codes) in names for codes in CELLS])
    left = by_noise(published, 3) & (WORLDS[:, ~listed] == 0).all(axis=1)
    for at in np.flatnonzero(left).tolist():
        left[at] = fits(WORLDS[at, listed], published[listed])
    return left


@pytest.mark.parametrize("first", [0, pytest.param(12, marks=pytest.mark.deep)])
def test_what_quotas_tell_is_attacked(first: int) -> None:
    """Numbers of cells that moved determined 26 of 384 counts of 50 tables, in 7 runs that were called clean: now none.

    Which tables fit follows from what is published alone, and so does whether the run is refused.
    """
    plain = together = 0
    for seed in range(first, 12 if not first else 100):
        result = protected(people(seed, 2.0), InvariantNoise(selection="quotas"), seed)
        published = shown(result.published[0])
        left = left_by_quotas(result, published)
        assert left[(truth_of(result) == WORLDS).all(axis=1)].all()
        known = determined(left)
        assert known == exposed(result)
        assert result.audit.worlds is not None
        assert result.audit.worlds >= left.sum()  # ours end at 7
        together += len(known)
        plain += len(determined(by_noise(published, 3)))
    assert together > plain


def test_quotas_that_are_not_judged_never_read_as_held() -> None:
    """Verdict, note, headline, report and guarantee say so, and nothing leaves unless that is accepted."""
    small = protected(people(1, 2.0), InvariantNoise(selection="quotas"), 1)
    assert any("looked at all" in note for note in small.notes)
    added = protected(people(1, 2.0), InvariantNoise(selection="quotas", add_up="exact"), 1)
    assert (added.exposed, added.state, added.summary()["state"]) == ((), "not judged", "not judged")
    assert "not judged" in added.headline
    assert any("Not judged: what quotas reveal" in note for note in added.notes)
    assert "Not judged: what quotas reveal" in confidential_table_report(added)
    assert "are called not judged and refused" in InvariantNoise.guarantee.arithmetic
    with pytest.raises(NotProtectedError, match='what quotas reveal .* is not judged.*selection = "keys"'):
        added.require()
    added.require(accept_exposed=True)
    data = pl.DataFrame({"id": [f"p{n}" for n in range(9)], "a": [*"001110001"], "b": [*"010101010"]})
    run = (
        rt.load(data, schema=SCHEMA)
        .tabulate("a", "b")
        .protect(
            rules=[Threshold(minimum=3)],
            method=InvariantNoise(selection="quotas", add_up="exact"),
            secret=1,
            test_secret=True,
        )
    )
    with pytest.raises(NotProtectedError, match="nothing was released; choose that, or give accept_risk"):
        run.release()
    run.release(accept_risk="tried in a test")
    assert any("Released although not judged: tried" in note for note in run.notes)
    judged = protected(people(1, 2.0), InvariantNoise(add_up="exact"), 1)
    assert judged.state in ("held", "not held")


def test_the_matrix_of_any_true_table_has_the_same_changes() -> None:
    """Where frequencies are only kept on average no frequencies rule out a change: seeing it would tell them."""
    rng = np.random.default_rng(3)
    for _ in range(300):
        design = InvariantDesign(
            float(rng.choice([0.05, 0.15, 0.3, 0.49])), float(rng.choice([0.2, 0.4, 1.0])), int(rng.integers(0, 5)),
            int(rng.choice([1, 3, 20])),
        )  # fmt: skip
        counts = rng.poisson(rng.choice([0.3, 1, 3, 10, 40]), int(rng.integers(1, 60)))
        found = stratum_matrix(counts[(counts != 3) | (rng.random() < 0.5)], np.zeros(0), design, met=False)
        wide = widest_table(design.skip).rows
        for count in range(1, 40) if found is not None else ():
            row = found.table.rows[min(count, len(found.table.rows) - 1)]
            assert sorted(row.changes) == sorted(wide[min(count, len(wide) - 1)].changes), (design, counts)


@pytest.mark.parametrize("seed", [7, 27])
def test_every_rounding_with_the_right_sums_is_drawn(seed: int) -> None:
    """Roundings that cannot come up would exclude true tables: 7 of 9 and 8 of 9 came up before."""
    rng = np.random.default_rng(seed)
    flows = rng.dirichlet(np.ones(3), 2) * 2.0
    found = {tuple(round_expected(flows, as_secret(seed), f"{n}").ravel().tolist()) for n in range(3000)}
    low, high = np.floor(flows), np.ceil(flows)
    columns = flows.sum(axis=0)
    wanted = set()
    for steps in itertools.product((0, 1), repeat=6):
        made = low + np.array(steps).reshape(2, 3)
        whole = (made.sum(axis=1) == 2).all() and (np.abs(made.sum(axis=0) - columns) < 1).all()
        if whole and (made <= high).all():
            wanted.add(tuple(made.ravel().astype(int).tolist()))
    assert found == wanted


def test_what_was_published_without_adding_up_stays_as_near_to_the_truth_as_it_was(tmp_path: Path) -> None:
    """A later table adds up and moves its cells; those of the earlier one were never moved, and everybody knows."""
    file = ptable(tmp_path, 0.2)
    looked_at = plain = together = 0
    for seed in range(60):
        data = people(seed, 1.5)
        first = protected(data, CellKey(ptable=file), seed, ("a",)).published[0]
        try:
            result = protected(data, CellKey(ptable=file, add_up="exact"), seed, ("a",), ("a", "b"), earlier={0: first})
        except InfeasibleError:  # the counts of the earlier table do not add up
            continue
        published = shown(result.published[0])
        out = np.array([codes[1] == "Total" for codes in CELLS])
        largest = int(result.outcome.facts["largest change by additivity"])
        near = determined(by_noise(published, np.where(out, REACH, REACH + largest)))
        assert near <= exposed(result)
        looked_at += 1
        plain += len(determined(by_noise(published, REACH + largest)))
        together += len(near)
    assert looked_at >= 5
    assert together >= plain


def test_a_measure_is_published_once(tmp_path: Path) -> None:
    """A second measure of a cell, drawn among other cells, would narrow its change once more."""
    method = CellKey(ptable=ptable(tmp_path, 0.4), measure=True)
    data = people(3, 3.0)
    first = protected(data, method, 3, ("a",)).published[0]
    later = protected(data, method, 3, ("a",), ("a", "b"), earlier={0: first}).published[0]
    assert later.measure is not None
    for codes, size in zip(later.codes, later.measure.tolist(), strict=True):
        assert np.isnan(size) == (codes[1] == "Total" or shown(later)[CELLS.index(codes)] == 0)


def test_resampling_keeps_the_number_of_respondents() -> None:
    """Two respondents and two counts above 0: each is 1. The total is known, so the run must be refused."""
    found = 0
    for result, published in runs(Resample(), 0.6, 40):
        fits = (WORLDS[:, 8] == published[8]) & ~((WORLDS == 0) & (published > 0)).any(axis=1)
        certain = determined(fits) - {8}
        if published[8] < 3:
            certain |= {8}
        assert certain <= exposed(result)
        found += len(certain - {8})
    assert found > 0
    assert any(not exposed(result) for result, _ in runs(Resample(), 3.0, 5)), "not every run is refused"


def test_strata_are_attacked_by_their_own_matrices() -> None:
    """Where a stratum has no small counts, nobody takes a 4 for a 3 that went up."""
    counts = {("0", "0"): 4, ("0", "1"): 5, ("1", "0"): 1, ("1", "1"): 3}
    places = [cell for cell, n in counts.items() for _ in range(n)]
    columns = {name: [place[at] for place in places] for at, name in enumerate("ab")}
    data = Microdata.of(pl.DataFrame({"id": [f"p{n}" for n in range(len(places))], **columns}), SCHEMA)
    result = protected(data, InvariantNoise(strata=("a",), selection="quotas"), 1)
    origins, values = result.outcome.origins, result.outcome.values
    assert origins is not None
    assert values is not None
    stratum = [cell for cell in range(result.table.n_cells) if result.table.name_of(cell).startswith("0 ×")]
    for cell in stratum:
        low = origins.low[cell]
        assert low <= result.table.values[cell] <= origins.high[cell]
        assert low >= 4 or values[cell] < 4


def chances(stay: float) -> np.ndarray:
    """The p-table of the file as a matrix."""
    found = np.zeros((5 * LARGEST, 5 * LARGEST))
    found[0, 0] = 1.0
    for count in range(1, 4 * LARGEST + 1):
        results = list(range(max(0, count - REACH), count + REACH + 1))
        found[count, results] = (1 - stay) / (len(results) - 1)
        found[count, count] = stay
    return found


def drawn_once(published: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """How likely each true table is published so, where cells with the same records have one noise."""
    likely = different(published).astype(float)
    for total in range(9):
        same = np.zeros(len(WORLDS), dtype=bool)
        for larger, part in CONTAINED:
            if larger == total:
                same |= WORLDS[:, total] == WORLDS[:, part]
        likely *= np.where(same, 1.0, matrix[WORLDS[:, total], published[total]])
    return likely


def test_probable_counts_are_those_of_all_true_tables_together(tmp_path: Path) -> None:
    """By single relations 12 to 80 of 34 to 194 such counts were found; now the same as by weighing every table."""
    matrix, method = chances(0.5), CellKey(ptable=ptable(tmp_path, 0.5))
    checked = 0
    for result, published in runs(method, 1.0, 25):
        origins = result.outcome.origins
        assert origins is not None
        prior = fitted_prior(origins)
        weights = drawn_once(published, matrix) * prior[INNER].prod(axis=1)
        sure, likeliest = posteriors(result.problem.relations, origins, result.audit.low, result.audit.high)
        names = [result.table.name_of(cell) for cell in range(result.table.n_cells)]
        if len(names) < 9:  # combinations without records that stay unlisted
            continue
        places = [names.index(" × ".join(codes)) for codes in CELLS]
        inside = (result.audit.low[places] <= WORLDS) & (result.audit.high[places] >= WORLDS)
        weights *= inside.all(axis=1)  # bounds that everybody knows
        for at, place in enumerate(places):
            law = np.bincount(WORLDS[:, at], weights=weights) / weights.sum()
            assert sure[place] == pytest.approx(law.max(), abs=1e-6)
            checked += int(law.max() > 0.95)
            assert law.max() <= 0.95 or likeliest[place] == law.argmax()
    assert checked > 10
