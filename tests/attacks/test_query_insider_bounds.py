"""Insiders who use bounds: where one of five is ill, the one who is ill knows that the others are not.

The attack lists all whole values within the known bounds that fit the answers, and keeps those in which the insider's own
value is true. It succeeds on the mode `open`.
"""

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from attacks.test_query_counted_as import asked, database
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
