"""Minimal rare sets and SUDA against all subsets of all records."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from reference.microdata_counts import minimal_rare_sets as reference
from reticent.data.microdata import Microdata
from reticent.data.schema import Role, Schema, Variable
from reticent.kernels import uniques
from reticent.kernels.grouping import pattern_table
from reticent.microdata.risk.suda import suda

CODES = st.tuples(st.integers(1, 30), st.integers(1, 5)).flatmap(
    lambda shape: hnp.arrays(np.int32, shape, elements=st.integers(-1, 2))
)


def _listed(codes: np.ndarray, **options: object) -> list[set[tuple[int, ...]]]:
    first, counts, _, group = pattern_table(codes, [int(c) + 1 for c in codes.max(axis=0)])
    rows, masks, _ = uniques.minimal_rare_sets(codes[first], counts, **options)  # type: ignore[arg-type]
    of_pattern: list[set[tuple[int, ...]]] = [set() for _ in first]
    for row, mask in zip(rows.tolist(), masks.tolist()):
        of_pattern[row].add(tuple(v for v in range(codes.shape[1]) if mask >> v & 1))
    return [of_pattern[g] for g in group]


@pytest.mark.parametrize("storage", ["flags", "lists"])
@given(codes=CODES, limit=st.integers(2, 4), size=st.integers(1, 5))
def test_minimal_rare_sets_equal_all_subsets(storage: str, codes: np.ndarray, limit: int, size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(uniques, "FLAG_VARIABLES", 12 if storage == "flags" else 0)
        found = _listed(codes, limit=limit, max_size=min(size, codes.shape[1]))
    assert found == reference(codes, limit, min(size, codes.shape[1]), missing="never")


@given(codes=CODES, data=st.data())
def test_limits_of_their_own(codes: np.ndarray, data: st.DataObject) -> None:
    """With a limit per combination S: every R inside some S with fewer than limit(S) records, the minimal ones."""
    q = codes.shape[1]
    codes = np.abs(codes)
    limits = {mask: data.draw(st.integers(0, 4)) for mask in range(1, 1 << q)}
    by_mask = np.zeros(1 << q, np.int64)
    for mask in range(1, 1 << q):
        by_mask[mask] = max(limit for other, limit in limits.items() if other & mask == mask)
    expected: list[set[tuple[int, ...]]] = []
    for row in codes:
        rare: list[int] = []
        for size in range(1, q + 1):
            for names in combinations(range(q), size):
                mask = sum(1 << v for v in names)
                f = int((codes[:, list(names)] == row[list(names)]).all(axis=1).sum())
                if f < by_mask[mask] and not any(r & mask == r for r in rare):
                    rare.append(mask)
        expected.append({tuple(v for v in range(q) if r >> v & 1) for r in rare})
    assert _listed(codes, by_mask=by_mask) == expected


@given(codes=CODES, repeat=st.booleans())
def test_contributions_are_those_of_the_listed_uniques(codes: np.ndarray, repeat: bool) -> None:
    """Also when a key is there twice or nested in another, where sdcMicro's contributions go wrong (peers 7.4)."""
    twin = codes[:, :1] if repeat else codes[:, :1] // 2
    wide = np.concatenate((np.abs(codes), np.abs(twin)), axis=1)
    names = [f"v{j}" for j in range(wide.shape[1])]
    frame = pl.DataFrame({name: wide[:, j] for j, name in enumerate(names)})
    data = Microdata.of(frame, Schema(tuple(Variable(name, role=Role.KEY) for name in names)))
    result = suda(data)
    m = len(names)
    score = {size: float(np.prod(np.arange(1, m - size + 1, dtype=np.float64))) for size in range(1, m + 1)}
    for i, sets in enumerate(reference(wide, 2, m, missing="own")):
        total = sum(score[len(names_)] for names_ in sets)
        assert result.scores[i] == total
        for v in range(m):
            share = sum(score[len(s)] for s in sets if v in s) / total if total else 0.0
            assert result.contributions[i, v] == pytest.approx(share)
