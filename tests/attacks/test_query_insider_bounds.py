"""Bounds, known to insiders (where one of five is ill, the one who is ill knows that the others are not) and beside squares.

The attack lists all whole values within the known bounds that fit the answers, and keeps those in which the insider's own
value is true. It succeeds on the mode `open`.
"""

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from attacks.test_query_counted_as import asked, database
from reticent.base.errors import ParameterError, PlanError
from reticent.queries.policy import Bounds

PEOPLE = 10


def known_to_insiders(folder: Path, seed: int, mode: str, most: int) -> tuple[int, int]:
    """How many insiders know somebody else's value, and how many sums were answered."""
    rng = np.random.default_rng(seed)
    table = {"x": rng.integers(0, 3, PEOPLE), "y": rng.integers(0, 2, PEOPLE)}
    table["v"] = np.minimum(rng.binomial(most, 0.3, PEOPLE), most)
    base = database(folder, table, ("v",), mode, minimum=3, bounds={"v": Bounds(0, most, True)})
    worlds = np.array(list(product(range(most + 1), repeat=PEOPLE)))
    answered = 0
    for where, chosen in _sets(table).items():
        reply = asked(base, "SUM(v)", where)
        if reply["answered"]:
            answered += 1
            worlds = worlds[worlds[:, chosen].sum(axis=1) == reply["value"]]
    return sum(_knows_another(worlds, table["v"], who) for who in range(PEOPLE)), answered


def _sets(table: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Conditions, and whom they choose."""
    x, y = table["x"], table["y"]
    single = {"": x >= 0, "x = 0": x == 0, "x >= 1": x >= 1, "y = 0": y == 0, "y = 1": y == 1, "x = 1": x == 1}
    return single | {"x = 0 AND y = 0": (x == 0) & (y == 0), "x >= 1 AND y = 1": (x >= 1) & (y == 1)}


def known_by_variances(folder: Path, seed: int, mode: str) -> tuple[int, int, int]:
    """How many values anybody knows, how many insiders know another's, and how many variances were answered."""
    rng = np.random.default_rng(seed)
    n, most = 9, 2
    table = {"x": np.arange(n), "v": rng.integers(0, most + 1, n)}
    base = database(folder, table, ("v",), mode, minimum=3, bounds={"v": Bounds(0, most, True)})
    worlds = np.array(list(product(range(most + 1), repeat=n)))
    answered = 0
    for start, size in product((0, 2, 4, 1), (5, 7, 4)):
        chosen = (table["x"] >= start) & (table["x"] < start + size)
        replies = [asked(base, f"{what}(v)", f"x >= {start} AND x < {start + size}") for what in ("AVG", "VARIANCE")]
        for reply, power in zip(replies, (1, 2)):
            if reply["answered"] and (power == 1 or replies[0]["answered"]):
                answered += power - 1
                sums = (worlds[:, chosen] ** power).sum(axis=1)
                worlds = worlds[sums == (table["v"][chosen] ** power).sum()]
    outside = int((worlds == worlds[0]).all(axis=0).sum())
    return outside, sum(_knows_another(worlds, table["v"], who) for who in range(n)), answered


def _knows_another(worlds: np.ndarray, truth: np.ndarray, who: int) -> bool:
    fitting = worlds[worlds[:, who] == truth[who]]
    single = (fitting == fitting[0]).all(axis=0)
    single[who] = False
    return bool(single.any())


@pytest.mark.parametrize("most, seeds", [(1, range(4)), (2, range(2))])
def test_nobody_computes_another_with_bounds(tmp_path: Path, most: int, seeds: range) -> None:
    before = [known_to_insiders(tmp_path, seed, "open", most) for seed in seeds]
    after = [known_to_insiders(tmp_path, seed, "exact", most) for seed in seeds]
    assert sum(known for known, _ in before) > 0
    assert sum(known for known, _ in after) == 0
    assert sum(answered for _, answered in after) >= len(seeds), "sums are still answered"


def test_sums_and_sums_of_squares_fix_nothing_together(tmp_path: Path) -> None:
    before = known_by_variances(tmp_path, 0, "open")
    after = np.sum([known_by_variances(tmp_path, seed, "exact") for seed in (0, 1)], axis=0)
    assert before[0] > 0
    assert after[:2].tolist() == [0, 0]
    assert after[2] > 0, "variances are still answered"


def fitting_totals(rows: list[list[int]], sizes: list[int], true: list[int]) -> np.ndarray:
    """All numbers of ones in some groups that fit the sums over some of the groups."""
    worlds = np.array(list(product(*(range(size + 1) for size in sizes))))
    return worlds[(worlds @ np.array(rows).T == np.array(rows) @ np.array(true)).all(axis=1)]


# sums over unions of groups, sizes, ones in each, and an insider (group, value) who is not alone with it
CROWDS = [
    ([[1, 1, 1, 0], [0, 0, 1, 1], [0, 1, 0, 1]], [3, 3, 4, 3], [1, 2, 4, 0], (0, 0)),
    ([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 1, 1]], [4, 4, 3, 3], [2, 2, 3, 1], (3, 0)),
    ([[0, 1, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]], [3, 3, 4, 4], [0, 2, 2, 2], (1, 1)),
]


@pytest.mark.parametrize("rows, sizes, ones, insider", CROWDS)
def test_nobody_in_a_crowd_computes_a_group_by_whole_numbers(
    tmp_path: Path, rows: list[list[int]], sizes: list[int], ones: list[int], insider: tuple[int, int]
) -> None:
    """Three sums leave each group open, but by steps of two: one's own value decides which of two databases is true."""
    group, value = insider
    table = {"x": np.repeat(np.arange(len(sizes)), sizes)}
    table["v"] = np.concatenate([np.arange(size) < own for size, own in zip(sizes, ones)]).astype(int)

    def known(mode: str) -> int:
        base = database(tmp_path, table, ("v",), mode, minimum=3, bounds={"v": Bounds(0, 1, True)})
        wheres = [f"x IN ({', '.join(str(j) for j, a in enumerate(row) if a)})" for row in rows]
        told = [row for row, where in zip(rows, wheres) if asked(base, "SUM(v)", where)["answered"]]
        assert len(told) >= 2, "sums are still answered"
        worlds = fitting_totals(told, sizes, ones)
        left = worlds[:, group] - value
        worlds = worlds[(left >= 0) & (left < sizes[group])]
        pinned = [j for j, own in enumerate(ones) if own in (0, sizes[j]) and j != group]
        return sum(bool((worlds[:, j] == ones[j]).all()) for j in pinned)

    assert known("open") > 0
    assert known("exact") == 0


def test_bins_beside_sums_and_sums_of_squares_fix_nothing(tmp_path: Path) -> None:
    """A response that is a filter with a cutpoint: the bin of each value is known too."""
    table = {"x": np.array([0, 2, 2, 0, 1, 0, 2]), "v": np.array([3, 3, 3, 3, 4, 4, 2])}
    bounds, options = {"v": Bounds(0, 5, True)}, {"both": ("v",), "cutpoints": {"v": (3.0,)}}
    chosen = table["x"] != 1

    def known(mode: str) -> tuple[int, int]:
        base = database(tmp_path, table, ("v",), mode, minimum=3, bounds=bounds, **options)
        worlds = np.array(list(product(*((range(3, 6) if v >= 3 else range(3)) for v in table["v"]))))
        answered = 0
        for what, power in (("AVG", 1), ("VARIANCE", 2)):
            if asked(base, f"{what}(v)", "x IN (0, 2)")["answered"]:
                answered += 1
                sums = (worlds[:, chosen] ** power).sum(axis=1)
                worlds = worlds[sums == (table["v"][chosen] ** power).sum()]
        return sum(_knows_another(worlds, table["v"], who) for who in range(7)), answered

    assert known("open")[0] > 0
    assert known("exact") == (0, 1)


@pytest.mark.parametrize("mode", ["exact", "simulatable"])
def test_no_bin_of_a_response_has_one_value(tmp_path: Path, mode: str) -> None:
    """Who has no children is seen by the filter, so of three people two have children, and each computes the other."""
    table = {"x": np.zeros(9, dtype=int), "v": np.array([0, 1, 2, 3, 1, 2, 0, 1, 4])}
    for points in ((1.0,), (2.0, 3.0), (4.0,)):
        with pytest.raises(PlanError, match="one whole number"):
            database(
                tmp_path, table, ("v",), mode, bounds={"v": Bounds(0, 4, True)}, both=("v",), cutpoints={"v": points}
            )


def test_ends_of_whole_numbers_are_whole() -> None:
    """A least value of 0.5 is 1, and a sum at its least was not seen to be there."""
    with pytest.raises(ParameterError, match="low must be a whole number"):
        Bounds(0.5, 3, True)


@pytest.mark.parametrize(
    "base, step, bounds",
    [(0, 1, None), (0, 1, Bounds(0)), (300, 1, Bounds(0, None, True)), (0, 0.5, None), (70, 0.1, None)],
)
def test_squares_keep_values_together_without_an_upper_bound(
    tmp_path: Path, base: int, step: float, bounds: Bounds | None
) -> None:
    """Squares that add up like values of 0 and 1 leave no others; of four who have 3 together, the one without knows all.

    So do those of 300 and 301, and of values in steps of a half or a tenth, also where people elsewhere have other values.
    """
    near, far = np.array([0, 1, 1, 1, 1, 0, 1, 1]), np.array([40, 7, 90, 55, 23])
    table = {"x": np.repeat([0, 1, 2], [4, 4, 5]), "v": np.round(base + step * np.append(near, far), 1)}

    def known(mode: str) -> tuple[int, int]:
        own = {} if bounds is None else {"v": bounds}
        base = database(tmp_path, table, ("v",), mode, minimum=3, bounds=own)
        worlds = np.array(
            list(product(range(-2, 3), repeat=8)), dtype=np.int8
        )  # squares that add up to 6 leave no others
        answered = 0
        for what, powers, where, chosen in (
            ("SUM", (1,), "x = 1", table["x"][:8] == 1),
            ("VARIANCE", (1, 2), "x < 2", table["x"][:8] < 2),
        ):
            if asked(base, f"{what}(v)", where)["answered"]:
                answered += 1
                for power in powers:
                    worlds = worlds[(worlds[:, chosen] ** power).sum(axis=1) == (near[chosen] ** power).sum()]
        return sum(_knows_another(worlds, near, who) for who in range(8)), answered

    assert known("open")[0] > 0
    assert known("exact") == (0, 1)
