"""Cell keys: moments exact, entropy maximal by an independent certificate, same records same noise, slow reference."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import polars as pl
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import linprog

from reference.cell_key_reference import cell_key, perturbed_magnitude
from reticent.base.errors import InfeasibleError
from reticent.base.randomness import Secret, as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.tables.cell_keys import with_cell_keys
from reticent.tables.perturb.cell_key import MagnitudeCells, MagnitudeNoise, perturb_counts, perturb_magnitudes
from reticent.tables.perturb.keyed import CellKey
from reticent.tables.perturb.ptable import PerturbationTable
from reticent.tables.perturb.ptable_design import Design, design_ptable
from reticent.tables.perturb.record_keys import RecordKeys, turned
from reticent.tabulation.tabulate import tabulate
from samples import examples

DESIGNS = st.builds(
    Design,
    largest=st.integers(1, 7),
    variance=st.floats(0.3, 6.0),
    skip=st.integers(0, 3),
    stay=st.sampled_from([0.0, 0.0, 0.3, 0.5]),
    monotone=st.booleans(),
    at_most=st.booleans(),
)


@given(DESIGNS)
@examples(8)
def test_designed_rows_have_their_moments_and_the_most_entropy(design: Design) -> None:
    """Σ p (−log p*) ≤ H(p*) for every feasible p: the condition of optimality, by another solver."""
    try:
        table = design_ptable(design)
    except InfeasibleError:
        assume(False)
    for size, row in enumerate(table.rows[1:], start=1):
        exact = [(Fraction(v), Fraction(p)) for v, p in zip(row.changes.tolist(), row.chances.tolist(), strict=True)]
        assert abs(sum(p for _, p in exact) - 1) < 1e-12
        assert abs(sum(v * p for v, p in exact)) < 1e-12
        variance = float(sum(v * v * p for v, p in exact))
        assert abs(variance - design.variance) < 1e-10 if not design.at_most else variance < design.variance + 1e-10
        results = row.changes + size
        assert bool(((results == 0) | (results > design.skip)).all())
        assert np.abs(row.changes).max() <= design.largest
        _certify(design, size, row.changes, row.chances)


def _certify(design: Design, size: int, changes: np.ndarray, chances: np.ndarray) -> None:
    below, above = [], []
    (below if design.at_most else above).append((changes**2, design.variance))
    above.append((changes, 0.0))
    above.append((np.ones(len(changes)), 1.0))
    if design.stay and (changes == 0).any():
        below.append((-(changes == 0).astype(float), -design.stay))
    if design.monotone:
        for at in range(int((changes <= 0).sum()) - 1):
            step = np.zeros(len(changes))
            step[at], step[at + 1] = 1.0, -1.0
            below.append((step, 0.0))
    gain = -np.log(np.maximum(chances, 1e-300))
    found = linprog(
        -gain, A_ub=[a for a, _ in below] or None, b_ub=[b + 1e-12 for _, b in below] or None,
        A_eq=[a for a, _ in above], b_eq=[b for _, b in above], bounds=(0, 1), method="highs",
    )  # fmt: skip
    if found.status == 0:  # at the edge of what is feasible rounding may leave nothing to compare
        assert -found.fun <= float(gain @ chances) + 1e-5


@given(st.integers(1, 40), st.integers(0, 10_000), st.integers(1, 15))
def test_cell_keys_of_a_column_are_exact_sums(n: int, seed: int, digits: int) -> None:
    rng = np.random.default_rng(seed)
    whole = rng.integers(0, 10**digits, n)
    texts = [f"0.{int(w):0{digits}d}" for w in whole]
    keys = RecordKeys.of_column(np.array([float(t) for t in texts]), name="k", digits=digits)
    sums = keys.parts.sum(axis=0, dtype=np.uint64)[None, :]
    expected = cell_key(texts)
    assert keys.fraction(sums)[0] == float(expected)
    text = f"{expected:.{digits}f}"
    assert turned(keys.fraction(sums), digits)[0] == float(Decimal("0." + text[3:] + text[2]))


def _data(seed: int, n: int) -> Microdata:
    rng = np.random.default_rng(seed)
    schema = Schema((
        Variable("id", role=Role.IDENTIFIER), Variable("a", codes=("x", "y", "z")), Variable("b", codes=("1", "2")),
        Variable("pay", role=Role.SENSITIVE, kind=Kind.NUMERIC),
    ))  # fmt: skip
    frame = pl.DataFrame({
        "id": [f"r{i}" for i in range(n)], "a": rng.choice(["x", "y", "z"], n), "b": rng.choice(["1", "2"], n),
        "pay": rng.integers(0, 100, n),
    })  # fmt: skip
    return Microdata.of(frame, schema)


def _keyed(data: Microdata, names: tuple[str, ...], secret: Secret) -> dict[tuple[str, ...], tuple[float, float]]:
    spec = TableSpec(tuple(DimensionSpec(name) for name in names))
    table = with_cell_keys(tabulate(data, spec), data, spec, CellKey(), secret)
    assert table.cell_keys is not None
    return {table.cell_codes(i): (float(table.values[i]), float(table.cell_keys[i])) for i in range(table.n_cells)}


@given(st.integers(0, 1000), st.integers(1, 60))
def test_the_same_records_have_the_same_key_everywhere(seed: int, n: int) -> None:
    """In any order of the records, in any table, and in a table of one slice only."""
    data, secret = _data(seed, n), as_secret(seed)
    one, other = _keyed(data, ("a", "b"), secret), _keyed(data, ("b",), secret)
    order = np.random.default_rng(seed).permutation(n)
    assert _keyed(data.rows(order), ("a", "b"), secret) == one
    for code in ("Total", "1", "2"):
        assert one[("Total", code)] == other[(code,)]
    mask = np.array([data.categories("a")[c] == "x" for c in data.codes(("a",))[:, 0]])
    if mask.any():
        part = _keyed(data.rows(mask), ("b",), secret)
        assert part[("Total",)] == one[("x", "Total")]
    assert _keyed(data, ("a", "b"), as_secret(seed + 1)) != one


def test_noise_over_many_sets_has_the_table_s_moments() -> None:
    """Drawn keys are uniform: over 20,000 sets of two records the mean and variance of the noise are right."""
    design = Design(5, 3.0, 2)
    table = design_ptable(design)
    keys = RecordKeys.drawn(as_secret(5), np.arange(40_000, dtype=np.uint64))
    sums = keys.parts[:20_000] + keys.parts[20_000:]
    for size in (1, 2, 9):
        noise = perturb_counts(np.full(20_000, size), keys.fraction(sums), table).values - size
        assert abs(noise.mean()) < 4 * np.sqrt(3.0 / 20_000)
        assert abs(noise.var() - 3.0) < 0.2


@given(st.data())
@examples(12)
def test_magnitudes_equal_the_slow_reference(data: st.DataObject) -> None:
    draw = data.draw
    top = sorted((float(draw(st.integers(0, 3000))) for _ in range(draw(st.integers(1, 6)))), reverse=True)
    count = draw(st.integers(len(top), len(top) + 3))
    contributions = draw(st.integers(1, 3))
    shares = tuple(draw(st.sampled_from([0.5, 0.2, 1.0])) for _ in range(contributions - 1))
    noise = MagnitudeNoise(
        contributions=contributions, scaling=draw(st.sampled_from(["flex", "simple"])), small=0.3, large=0.03,
        turning=500.0, power=2.0, shares=shares, parity=draw(st.booleans()), separation=draw(st.booleans()),
        extra=draw(st.sampled_from([0.0, 0.7])),
    )  # fmt: skip
    sign = draw(st.sampled_from([1.0, -1.0]))
    unsafe = draw(st.booleans())
    whole = draw(st.integers(0, 10**8 - 1))
    tables = {kind: _magnitude_table(largest) for kind, largest in (("all", 5), ("even", 4), ("odd", 6))}
    small_table = _magnitude_table(8) if noise.separation else None
    kept = (top + [0.0] * 3)[:3]
    cells = MagnitudeCells(
        np.array([sign * sum(top)]), np.array([kept]), np.array([count]), np.array([whole / 1e8]), np.array([unsafe])
    )
    found = perturb_magnitudes(cells, noise, tables, small_table=small_table)
    expected = perturbed_magnitude(
        sign * sum(top), kept, count, Decimal(f"0.{whole:08d}"), tables={k: _plain(t) for k, t in tables.items()},
        small_table=None if small_table is None else _plain(small_table), small=0.3, large=0.03, turning=500.0, power=2.0,
        shares=list(shares), flex=noise.scaling == "flex", parity=noise.parity, extra=noise.extra, unsafe=unsafe, digits=8,
    )  # fmt: skip
    assert abs(found.values[0] - expected) <= 1e-9 * max(1.0, abs(expected))
    assert found.low[0] <= cells.values[0] <= found.high[0]


_TABLES: dict[int, PerturbationTable] = {}


def _magnitude_table(largest: int) -> PerturbationTable:
    if largest not in _TABLES:
        _TABLES[largest] = design_ptable(Design(largest, 1.0, parts=2), sizes=(1, largest))
    return _TABLES[largest]


def _plain(table: PerturbationTable) -> dict[float, list[tuple[float, float]]]:
    return {
        row.size: list(zip((row.size + row.changes).tolist(), row.bounds.tolist(), strict=True)) for row in table.rows
    }
