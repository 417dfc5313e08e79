"""Two responses on one line for little more than half of the records: two sums gave away the one of a group who is not on it.

Income is twice the pay for 55 % of all people, and for all but one of a cell of two filters. The attack has two sums over the
cell and the line. It succeeds on the mode `open`.
"""

import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from attacks.test_query_partial_ties import opened
from reticent.queries.indexed import lines_in_common, simple_fraction

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


def large_given_away(seed: int, mode: str, rate: float = 1.0) -> bool:
    """Whether two sums over an area give what one person of it earns besides the pay, which is a billion times as much."""
    rng = np.random.default_rng(seed)
    area = np.arange(PEOPLE) % 3
    more = np.where((rng.random(PEOPLE) < 0.3) & (area > 0), rng.integers(500, 5000, PEOPLE), 0)
    more[0] = 700
    pay = rng.integers(10**12, 9 * 10**12, PEOPLE)
    codes = (area > 0).astype(int).astype(str)
    db = opened({"area": codes, "code": codes, "x": pay.astype(float), "y": np.round(rate * pay) + more}, mode)
    x, y = (db.ask(f"SELECT SUM({name}) FROM data WHERE area = '0'", user="u").as_json().get("value") for name in "xy")
    return None not in (x, y) and abs(y - rate * x - more[0]) < (0.5 if rate == 1 else 20)


@pytest.mark.parametrize("rate", [1.0, 1.23])
def test_two_sums_of_large_amounts_do_not_give_away_a_small_difference(rate: float) -> None:
    assert large_given_away(0, "open", rate)
    assert not any(large_given_away(seed, "exact", rate) for seed in SEEDS)


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-165, 1e-155, 1.0, 1e12, 1e155, 1e300])
@pytest.mark.filterwarnings("error")
def test_a_line_is_found_at_any_size_without_a_word_of_numpy(size: float) -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(1, 9000, PEOPLE).astype(np.float64)
    more = np.where(np.arange(PEOPLE) % 7 == 0, rng.integers(1, 99, PEOPLE), 0)
    for old in (np.multiply(x, size), x):
        ((rows, rate),) = lines_in_common(old, np.multiply(x + more, size), [])
        assert set(np.flatnonzero(more == 0).tolist()) <= set(rows.tolist())
        assert len(rows) < PEOPLE
        assert abs(rate / (Fraction(size) if old[0] == x[0] != size * x[0] else 1) - 1) < 1e-9
    list(lines_in_common(np.multiply(x, size), rng.choice([-1.7e308, 1.7e308, 5e-324, 0, 1], PEOPLE), []))


@pytest.mark.parametrize("slope", [1e-9, 1.2345e-5, 0.8, 1.25, 1e9])
def test_the_fraction_of_a_slope_is_near_it(slope: float) -> None:
    assert abs(simple_fraction(slope, 1e-15 * slope) / Fraction(slope) - 1) < 1e-12


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
    rates = {mode: sum(large_given_away(seed, mode) for seed in range(40)) for mode in ("open", "exact")}
    sys.stdout.write(f"large amounts: {rates} of 40\n")
