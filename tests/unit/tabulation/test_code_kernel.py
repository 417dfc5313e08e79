"""Small factors of codes that add up to 0 in every record, held against exact elimination over all records."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from reticent.base.arrays import Ints
from reticent.tabulation.code_kernel import TOTAL, Factors, PairCounts, forms_of, sums_beyond


def counted(records: Ints) -> PairCounts:
    both = {}
    for one, other in combinations(range(records.shape[1]), 2):
        codes, many = np.unique(records[:, [one, other]], axis=0, return_counts=True)
        both[one, other] = codes, many
    return PairCounts(records.shape[1], len(records), both)


def rank(rows: list[list[Fraction]]) -> int:
    rows, done = [list(row) for row in rows], 0
    for at in range(len(rows[0]) if rows else 0):
        lead = next((n for n in range(done, len(rows)) if rows[n][at]), None)
        if lead is None:
            continue
        rows[done], rows[lead] = rows[lead], rows[done]
        for n in range(done + 1, len(rows)):
            factor = rows[n][at] / rows[done][at]
            rows[n] = [x - factor * y for x, y in zip(rows[n], rows[done], strict=True)]
        done += 1
    return done


def holds(factors: Factors, records: Ints) -> bool:
    return all(
        factors.get((TOTAL, 0), 0) + sum(factors.get((at, int(code)), 0) for at, code in enumerate(row)) == 0
        for row in records
    )


@pytest.mark.parametrize("seed", range(30))
def test_all_sums_are_found_and_hold_in_every_record(seed: int) -> None:
    rng = np.random.default_rng(seed)
    flags = rng.integers(0, 2, (int(rng.integers(4, 12)), int(rng.integers(2, 5)))) * (rng.random() < 0.7)
    kinds = rng.integers(0, flags.shape[1] + 1, len(flags))
    apart = np.array([[int(kind == at) for at in range(flags.shape[1])] for kind in kinds])
    records = np.column_stack((apart, apart.sum(axis=1), rng.integers(0, 3, len(apart))))
    counts = counted(records)
    found = list(sums_beyond(counts, []))
    assert all(holds(form, records) for factors in found for form in forms_of(factors, counts))
    codes = [[Fraction(1), *(Fraction(int(row[at] == code)) for at, code in counts.places[1:])] for row in records]
    vectors = [[Fraction(int(x)) for x in counts.vector(factors)] for factors in found]
    assert len(vectors) == rank(vectors), "none follows from others"
    assert len(counts.places) - rank(codes) == len(vectors)


def test_the_shortest_sum_comes_first_and_what_is_known_is_left_out() -> None:
    records = np.array([(1, 0, 0, 0, 1), (0, 1, 0, 0, 1), (0, 0, 1, 0, 1), (0, 0, 0, 1, 1), (0, 0, 0, 0, 0)])
    counts = counted(records)
    (factors,) = sums_beyond(counts, [])
    first, *others = forms_of(factors, counts)
    assert len(first) == 5
    assert {(TOTAL, 0): -1, (4, 0): 1} | {(at, 1): 1 for at in range(4)} in others, (
        "all who work in a way, and who do not"
    )
    assert not list(sums_beyond(counts, [first]))
