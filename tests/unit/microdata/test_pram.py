"""PRAM: invariant matrices, structural zeros, controlled draws, strata, own matrices, refusals."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from reference.perturb_files import file_of, run
from reticent.base.errors import DataError, ParameterError
from reticent.data.schema import Role
from reticent.kernels import transitions
from reticent.microdata.mask.pram import Pram
from reticent.microdata.perturb import transition_matrix as markov


@given(seed=st.integers(0, 100_000), size=st.integers(1, 9), keep=st.floats(0, 1), density=st.floats(0.1, 1))
def test_invariant_matrix_is_invariant_and_keeps_its_zeros_and_diagonal(seed, size, keep, density) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 1000, size).astype(float) ** rng.integers(1, 3)
    allowed = rng.random((size, size)) < density
    np.fill_diagonal(allowed, True)
    matrix = markov.invariant_matrix(counts, allowed, keep=keep)
    assert np.abs(matrix.sum(axis=1) - 1).max() < 1e-12
    if counts.sum():
        shares = counts / counts.sum()
        assert np.abs(shares @ matrix - shares).max() < 1e-12
    assert (matrix[~allowed] == 0).all()
    assert (matrix >= 0).all()
    assert np.diag(matrix).min() >= keep - 1e-12
    if keep < 0.999 and allowed.all() and (counts > 0).sum() > 1:
        inside = np.ix_(counts > 0, counts > 0)
        assert (matrix[inside] > 0).all()


def test_invariant_matrix_of_a_ring_and_a_chain() -> None:
    """By hand: one way around a ring all flows are equal; along a chain without return nothing can move."""
    ring = np.eye(3, dtype=bool) | np.roll(np.eye(3, dtype=bool), 1, axis=1)
    counts = np.array([50.0, 30.0, 20.0])
    flow = counts[:, None] * markov.invariant_matrix(counts, ring, keep=0.5)
    assert flow[0, 1] == pytest.approx(flow[1, 2])
    assert flow[1, 2] == pytest.approx(flow[2, 0])
    assert flow[0, 1] > 1
    one_way = np.triu(np.ones((3, 3), dtype=bool))
    assert np.array_equal(markov.invariant_matrix(counts, one_way, keep=0.5), np.eye(3))


def test_hard_scaling_is_finished_by_newton() -> None:
    size = 30
    band = np.abs(np.subtract.outer(np.arange(size), np.arange(size))) <= 1
    counts = np.where(np.arange(size) % 2 == 0, 1.0, 1e6)
    matrix = markov.invariant_matrix(counts, band, keep=0.0)
    shares = counts / counts.sum()
    assert np.abs(shares @ matrix - shares).max() < 1e-12


@given(seed=st.integers(0, 100_000), m=st.integers(1, 7), k=st.integers(1, 7))
def test_rounded_flows_are_neighbours_with_the_same_sums(seed, m, k) -> None:
    rng = np.random.default_rng(seed)
    # A random table of thirds whose sums are whole: a whole table plus alternating thirds around 2 × 2 squares.
    flows = rng.integers(2, 9, (m, k)).astype(float)
    for _ in range(5):
        i, a = rng.integers(0, m, 2)
        j, b = rng.integers(0, k, 2)
        if i != a and j != b:
            flows[[i, a, i, a], [j, b, b, j]] += np.array([1, 1, -1, -1]) * rng.integers(1, 3) / 3
    rounded = transitions.round_flows(flows.copy(), np.uint64(seed), np.uint64(1))
    assert np.array_equal(rounded.sum(axis=0), np.rint(flows.sum(axis=0)))
    assert np.array_equal(rounded.sum(axis=1), np.rint(flows.sum(axis=1)))
    assert (np.abs(rounded - flows) < 1).all()


def test_rounding_is_unbiased() -> None:
    flows = np.array([[0.3, 0.45, 0.25], [0.5, 0.2, 0.3], [0.2, 0.35, 0.45]])
    mean = np.mean([transitions.round_flows(flows.copy(), np.uint64(s), np.uint64(3)) for s in range(6000)], axis=0)
    assert np.abs(mean - flows).max() < 4 * 0.5 / np.sqrt(6000)


def codes_file(seed: int = 0, n: int = 600):
    rng = np.random.default_rng(seed)
    stratum = rng.integers(0, 3, n)
    code = np.minimum(rng.integers(0, 6, n), stratum + 3)
    return file_of({"c": np.array(list("abcdef"))[code], "s": stratum.astype(str)}, ordinal=("c",))


@given(seed=st.integers(0, 10_000), keep=st.floats(0, 1), controlled=st.booleans(), invariant=st.booleans(),
       bandwidth=st.sampled_from([None, 1, 2]), strata=st.booleans())  # fmt: skip
def test_pram_keeps_its_promises(seed, keep, controlled, invariant, bandwidth, strata) -> None:
    data = codes_file(seed, 200)
    method = Pram(("c",), keep=keep, controlled=controlled, invariant=invariant, bandwidth=bandwidth,
                  strata=("s",) if strata else ())  # fmt: skip
    applied = run(method, data)
    for entry in applied.facts["matrices"]:
        assert entry["smallest_diagonal"] >= keep - 1e-12
    if keep == 1.0:
        assert applied.changed == {"c": 0}


def test_controlled_draws_stay_within_one_of_expectation() -> None:
    data = codes_file()
    for seed in range(20):
        applied = run(Pram(("c",), keep=0.6, invariant=False), data, secret=seed)
        before = np.bincount(data.codes(("c",))[:, 0], minlength=6)
        expected = before @ np.array(applied.facts["matrices"][0]["matrix"])
        after = np.bincount(applied.data.codes(("c",))[:, 0], minlength=6)
        assert np.abs(after - expected).max() < 1


@pytest.mark.slow
@pytest.mark.parametrize("controlled", [True, False])
def test_transitions_follow_the_matrix(controlled) -> None:
    data = codes_file(n=300)
    origin = data.codes(("c",))[:, 0]
    total, stays = np.zeros((6, 6)), np.zeros(300)
    for seed in range(200):
        applied = run(Pram(("c",), keep=0.5, controlled=controlled), data, secret=seed)
        codes = applied.data.codes(("c",))[:, 0]
        np.add.at(total, (origin, codes), 1)
        stays += codes == origin
    matrix = np.array(applied.facts["matrices"][0]["matrix"])
    expected = 200 * np.bincount(origin, minlength=6)[:, None] * matrix
    if controlled:
        assert np.abs(total - expected).max() < 4 * np.sqrt(200 * 0.25) + 1
    else:
        for got, wanted in zip(total, expected):
            assert stats.chisquare(got, wanted).pvalue > 1e-4
    # Each single record has the same chances, wherever it stands.
    assert np.abs(stays / 200 - np.diag(matrix)[origin]).max() < 4.5 * np.sqrt(0.25 / 200)


def test_own_matrix_in_any_order_of_labels() -> None:
    data = file_of({"c": np.array(["x", "y"] * 50)})
    applied = run(Pram(("c",), matrix=((0.0, 1.0), (1.0, 0.0)), codes=("y", "x")), data)
    assert applied.changed == {"c": 100}
    identity = run(Pram(("c",), matrix=((1.0, 0.0), (0.0, 1.0)), codes=("x", "y")), data)
    assert identity.changed == {"c": 0}
    one_way = run(Pram(("c",), matrix=((0.5, 0.5), (0.0, 1.0)), codes=("x", "y")), data)
    assert one_way.changed == {"c": 25}


def test_forbidden_and_exempt_codes() -> None:
    data = codes_file()
    before = data.codes(("c",))[:, 0]
    after = run(Pram(("c",), keep=0.3, forbidden=(("a", "b"),), exempt=("f",)), data).data.codes(("c",))[:, 0]
    assert not ((before == 0) & (after == 1)).any()
    assert np.array_equal(before == 5, after == 5)
    assert ((before == 1) & (after == 0)).any()


def test_missing_stays_and_draws_follow_the_record() -> None:
    rng = np.random.default_rng(0)
    codes = np.array(list("abc"), dtype=object)[rng.integers(0, 3, 120)]
    codes[:9] = None
    ids = np.array([f"p{i:03d}" for i in range(120)])
    order = rng.permutation(120)
    roles = {"id": Role.IDENTIFIER}
    straight = file_of({"id": ids, "c": pl.Series(list(codes), dtype=pl.String)}, roles=roles)
    mixed = file_of({"id": ids[order], "c": pl.Series(list(codes[order]), dtype=pl.String)}, roles=roles)
    first, second = (run(Pram(("c",), keep=0.5), d).data.codes(("c",))[:, 0] for d in (straight, mixed))
    assert (first[:9] == -1).all()
    assert np.array_equal(first[order], second)


def test_household_variable_changes_for_the_whole_household() -> None:
    household = np.repeat(np.arange(60), 2)
    tenure = np.array(["own", "rent"])[np.arange(60) % 2][household]
    data = file_of({"hh": household.astype(str), "t": tenure}, roles={"hh": Role.HOUSEHOLD_ID}, household=("t",))
    after = run(Pram(("t",), keep=0.2), data).data.codes(("t",))[:, 0].reshape(60, 2)
    assert (after[:, 0] == after[:, 1]).all()
    assert (after[:, 0] != data.codes(("t",))[::2, 0]).any()


def test_estimate_of_counts_before_pram() -> None:
    matrix = np.array([[0.8, 0.2, 0.0], [0.1, 0.8, 0.1], [0.0, 0.3, 0.7]])
    counts = np.array([500.0, 300.0, 200.0])
    assert markov.estimate_counts(matrix, counts @ matrix) == pytest.approx(counts, rel=1e-4)
    assert (markov.estimate_counts(matrix, np.array([0.0, 0.0, 10.0])) >= 0).all()


@pytest.mark.parametrize(
    "options, message",
    [
        ({"matrix": ((0.5, 0.4), (0.0, 1.0)), "codes": ("x", "y")}, "not stochastic: row 1 sums to 0.9"),
        ({"matrix": ((1.0, 0.0), (0.0, 1.0)), "codes": ("x", "z")}, "1 are absent and 1 unknown"),
        ({"matrix": ((1.0,), (0.0, 1.0)), "codes": ("x", "y")}, "must be 2 × 2"),
        ({"matrix": ((1.5, -0.5), (0.0, 1.0)), "codes": ("x", "y")}, "between 0 and 1"),
        ({"matrix": ((1.0, 0.0), (0.0, 1.0)), "codes": ("x", "x")}, "twice"),
        ({"matrix": ((1.0, 0.0), (0.0, 1.0))}, "go together"),
        ({"keep": 1.2}, "keep must be"),
        ({"exempt": ("q",)}, "do not occur"),
    ],
)
def test_bad_matrices_and_options_are_refused(options, message) -> None:
    data = file_of({"c": np.array(["x", "y"] * 5)})
    with pytest.raises(ParameterError, match=message):
        run(Pram(("c",), **options), data)


def test_numeric_variables_are_refused() -> None:
    with pytest.raises(DataError, match="x must be ordinal or nominal"):
        run(Pram(("x",)), file_of({"x": np.arange(5.0)}))
