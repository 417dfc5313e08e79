"""Two lemmas that joint judgement rests on, on generated cases: classes lose nothing, and blanks are a transport problem."""

import numpy as np
import polars as pl
import pytest

from fact_worlds import A, B, can_come, count_worlds, counts_in, data_of, optimum
from reticent.data.facts import COUNT
from reticent.data.microdata import Microdata
from reticent.data.published import release_file
from reticent.microdata.facts.file import facts_left, seen_of
from reticent.microdata.mask.local_suppression import LocalSuppression
from reticent.releases.classes import Classes


def _box(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """All whole vectors between two, a row each."""
    axes = [np.arange(a, b + 1) for a, b in zip(low.tolist(), high.tolist(), strict=True)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(low))


def _ends(
    points: np.ndarray, rows: list[np.ndarray], ends: list[tuple[int, int]], watch: np.ndarray
) -> tuple[int, int]:
    """The least and greatest watched sum over the points that agree with all facts."""
    fits = np.ones(len(points), dtype=bool)
    for row, (low, high) in zip(rows, ends, strict=True):
        fits &= (points @ row >= low) & (points @ row <= high)
    sums = points[fits] @ watch
    return int(sums.min()), int(sums.max())


def _class_case(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    low = rng.integers(0, 2, n)
    high = low + rng.integers(0, 4, n)
    truth = rng.integers(low, high + 1)
    group = rng.integers(0, 3, n)
    rows = [rng.integers(-1, 3, 3)[group] for _ in range(int(rng.integers(1, 4)))]
    ends = [(int(row @ truth) - int(rng.integers(0, 2)), int(row @ truth) + int(rng.integers(0, 3))) for row in rows]
    watch = rng.integers(0, 2, 3)[group]
    classes = Classes.single(np.zeros(n, dtype=np.int64))
    places = [np.flatnonzero(row) for row in (*rows, watch)]
    classes = classes.refined([(where, row[where]) for where, row in zip(places, (*rows, watch), strict=True)])
    first = np.array([int(np.argmax(classes.of == c)) for c in range(classes.n)])
    by_class = _box(classes.totals(low), classes.totals(high))
    small = [row[first] for row in rows]
    assert _ends(_box(low, high), rows, ends, watch) == _ends(by_class, small, ends, watch[first])


def _blank_case(seed: int) -> bool:
    """Both ends of the count of some atoms, from the facts and by brute force; whether they leave something open."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 5))
    people = [(str(rng.choice(A)), str(rng.choice(B)), 0) for _ in range(n)]
    data, grounded = data_of(people)
    shown = [tuple(None if rng.random() < 0.3 else code for code in person[:2]) for person in people]
    frame = pl.DataFrame(
        {"a": [r[0] for r in shown], "b": [r[1] for r in shown], "v": [0] * n},
        schema={"a": pl.String, "b": pl.String, "v": pl.Int64},
    )
    file = release_file(Microdata.of(frame, data.schema))
    facts = facts_left(grounded, file, seen_of(grounded, [LocalSuppression(k=2)]), release="file F")
    places = np.flatnonzero(rng.random(grounded.ground.n_atoms) < 0.4)

    def images(record: tuple[object, ...]) -> list[tuple[object, ...]]:
        return [(a, b) for a in (record[0], None) for b in (record[1], None)]

    sums = [int(counts_in(grounded, w)[places].sum()) for w in count_worlds(n) if can_come(w, shown, images)]
    found = optimum(facts, grounded.ground, COUNT, places)
    assert found == (min(sums), max(sums)), (people, shown, places)
    return found[0] < found[1]


def test_classes_lose_nothing() -> None:
    for seed in range(300):
        _class_case(seed)


def test_blanks_are_a_transport_problem() -> None:
    assert sum(_blank_case(seed) for seed in range(60)) > 15


@pytest.mark.deep
def test_classes_lose_nothing_in_10_000_cases() -> None:
    for seed in range(1_000, 11_000):
        _class_case(seed)


@pytest.mark.deep
def test_blanks_are_a_transport_problem_in_10_000_cases() -> None:
    assert sum(_blank_case(seed) for seed in range(1_000, 11_000)) > 3_000
