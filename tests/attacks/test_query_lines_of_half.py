"""Two responses on one line for little more than half of the records: two sums gave away the one of a group who is not on it.

Income is twice the pay for 55 % of all people, and for all but one of a cell of two filters. The attack has two sums over the
cell and the line. It succeeds on the mode `open`.
"""

import sys
from typing import Any

import numpy as np
import pytest

from attacks.test_query_partial_ties import opened
from reticent.queries.indexed import lines_in_common

PEOPLE, CELL = 40, 5
SEEDS = (1, 2, 3)  # which gave it away
WHERE = "FROM data WHERE area = '0' AND code = '0'"


def records(seed: int) -> tuple[dict[str, Any], float]:
    """The records, and what the two sums over the cell would give away of the only one who is not on the line."""
    rng = np.random.default_rng(seed)
    area, code = (rng.integers(0, 2, PEOPLE) for _ in range(2))
    area[:CELL] = code[:CELL] = 0
    code[CELL:] = np.where(area[CELL:] == 0, 1, code[CELL:])
    x, other = (np.round(rng.lognormal(10, 0.6, PEOPLE)) for _ in range(2))
    on = np.zeros(PEOPLE, dtype=bool)
    on[1:CELL] = True
    on[rng.permutation(np.arange(CELL, PEOPLE))[: round(0.55 * PEOPLE) - CELL + 1]] = True
    y = np.where(on, 2 * x, other)
    return {"area": area.astype(str), "code": code.astype(str), "x": x, "y": y}, float(y[0] - 2 * x[0])


def given_away(seed: int, mode: str) -> bool:
    table, truth = records(seed)
    db = opened(table, mode)
    x, y = (db.ask(f"SELECT SUM({name}) {WHERE}", user="u").as_json().get("value") for name in "xy")
    return None not in (x, y) and abs(y - 2 * x - truth) < 0.5


def test_two_sums_do_not_give_away_who_is_not_on_the_line() -> None:
    assert given_away(0, "open")
    assert not any(given_away(seed, "exact") for seed in SEEDS)


@pytest.mark.parametrize("unit", [1, 10])
@pytest.mark.parametrize("people", [12, 30, 90])
def test_a_line_that_half_follow_is_found(people: int, unit: int) -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x, other = (np.round(rng.lognormal(10, 0.6, people)) for _ in range(2))
        on = rng.permutation(people) < 0.52 * people
        y = np.round(np.where(on, 2.5 * x + 100, other) / unit) * unit
        found = [rows for rows, _ in lines_in_common(x, y, [])]
        assert set(np.flatnonzero(on).tolist()) <= {row for rows in found for row in rows.tolist()}


if __name__ == "__main__":  # PYTHONPATH=src:tests python -m attacks.test_query_lines_of_half
    rates = {mode: sum(given_away(seed, mode) for seed in range(40)) for mode in ("open", "exact")}
    sys.stdout.write(f"{rates} of 40\n")
