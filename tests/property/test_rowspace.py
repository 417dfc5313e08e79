"""The row space of released statistics against elimination in fractions."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reference.rational_rows import Span
from reticent.releases.rows import Certificate, LinearRow
from reticent.releases.rowspace import RowSpace

RNG = np.random.default_rng(5)


@st.composite
def histories(draw: st.DrawFn) -> tuple[int, list[LinearRow]]:
    n = draw(st.integers(2, 9))
    masks = st.lists(st.booleans(), min_size=n, max_size=n).map(lambda bits: np.array(bits))
    coefficient = draw(st.sampled_from([st.just(1), st.integers(-3, 3), st.integers(-(10**9), 10**9)]))
    row = st.lists(st.tuples(coefficient, masks), min_size=1, max_size=2).map(lambda terms: LinearRow(tuple(terms)))
    return n, draw(st.lists(row, max_size=7))


@given(histories())
def test_implied_rows_classes_and_pairs_are_those_of_the_reference(history: tuple[int, list[LinearRow]]) -> None:
    n, rows = history
    space, span = RowSpace(n, rng=RNG), Span()
    everywhere = np.arange(n)
    for row in rows:
        vector = row.coefficients(everywhere)
        found = space.propose(row)
        assert isinstance(found, Certificate) == span.contains(vector)
        if isinstance(found, Certificate):
            total = sum(
                (factor * space.rows()[i].coefficients(everywhere) for i, factor in found.combination), 0 * vector
            )
            assert (np.asarray(total) == vector).all()
            continue
        span.add(vector)
        classes = found.partition.class_of
        units = set(found.unit_candidates().tolist())
        pairs, triples = set(found.pair_candidates()), set(found.triple_candidates())
        for chosen in itertools.chain(
            itertools.combinations(range(found.partition.n_classes), 1),
            itertools.combinations(range(found.partition.n_classes), 2),
            itertools.combinations(range(found.partition.n_classes), 3),
        ):
            members = np.isin(np.arange(found.partition.n_classes), chosen)
            implied = span.contains(np.isin(classes, chosen).astype(int))
            assert (space.implied(members, found) is not None) == implied
            if len(chosen) == 1:
                assert (chosen[0] in units) == implied
            elif not set(chosen) & units and not any(set(pair) < set(chosen) for pair in pairs):
                assert (chosen in pairs | triples) == implied
        space.accept(found)
    assert space.rank == len(span.rows)


def test_float_rank_traps_are_right() -> None:
    """Vandermonde rows and rows that differ by one in a billion: floating point calls them dependent."""
    n = 12
    nodes = [LinearRow(tuple((k**power, np.arange(n) == k) for k in range(1, n))) for power in range(8)]
    space = RowSpace(n, rng=RNG)
    for row in nodes:
        found = space.propose(row)
        assert not isinstance(found, Certificate)
        space.accept(found)
    close = RowSpace(3, rng=RNG)
    for terms in (((10**9, [1, 0, 0]), (1, [0, 1, 0])), ((10**9, [1, 0, 0]), (2, [0, 1, 0]))):
        row = LinearRow(tuple((c, np.array(mask, dtype=bool)) for c, mask in terms))
        found = close.propose(row)
        assert not isinstance(found, Certificate)
        close.accept(found)
    assert close.rank == 2
    assert isinstance(close.propose(LinearRow.of(np.array([True, False, False]))), Certificate)


def test_large_coefficients_are_lifted() -> None:
    """A combination whose fractions do not fit one prime is still proved, and a near miss is still excluded."""
    n = 14
    space, span = RowSpace(n, rng=RNG), Span()
    rng = np.random.default_rng(1)
    columns = np.arange(n)
    for _ in range(n - 1):
        row = LinearRow(tuple((int(c), columns == j) for j, c in enumerate(rng.integers(-(10**6), 10**6, n - 1))))
        found = space.propose(row)
        assert not isinstance(found, Certificate)
        space.accept(found)
        span.add(row.coefficients(columns))
    assert isinstance(space.propose(LinearRow.of(columns == 3)), Certificate)
    assert span.contains((columns == 3).astype(int))
    assert not isinstance(space.propose(LinearRow.of(columns == n - 1)), Certificate)
