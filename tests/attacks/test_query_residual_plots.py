"""The mode `analysis`: synthetic residuals of a regression, read by somebody who knows the public number of everybody.

A point of the plot was the residual of the record with the nearest public number, with a quarter of the spread as noise, which
hides no value of 0 or 1. The attack reads the plot only.
"""

import sys
from typing import Any

import numpy as np
import polars as pl
import pytest

from attacks.query_scenarios import database, policy_of
from reticent.base.arrays import Floats
from reticent.data.schema import Kind, Role, Schema, Variable

PEOPLE = 300
Plot = dict[str, list[float]]


def world(seed: int, part: float = 0.5) -> tuple[Floats, Floats]:
    """The areas of farms, which anybody can look up, and a value of 0 or 1."""
    rng = np.random.default_rng(seed)
    return np.round(rng.lognormal(4, 0.6, PEOPLE), 2), (rng.random(PEOPLE) < part).astype(float)


def fit_of(area: Floats, bit: Floats, seed: int) -> dict[str, Any]:
    kinds = {"area": Role.KEY, "bit": Role.SENSITIVE}
    schema = Schema(tuple(Variable(name, role=role, kind=Kind.NUMERIC) for name, role in kinds.items()))
    policy = policy_of(mode="analysis", filters=("area",), responses=("bit",))
    db = database(pl.DataFrame({"area": area, "bit": bit}), schema, policy, secret=seed + 1)
    return dict(db.ask("SELECT LINREG(bit, area) FROM data", user="u").as_json()["value"])


def residuals_of_neighbours(real: Floats, response: Floats, seed: int) -> dict[str, Any]:
    """A fit with a plot as it was: the residual of the nearest record, and noise."""
    rng = np.random.default_rng(seed)
    slope, level = np.polyfit(real, response, 1)
    left = response - level - slope * real
    drawn = real[rng.integers(0, PEOPLE, PEOPLE)]
    drawn = drawn + 0.9 * real.std() * PEOPLE**-0.2 * rng.standard_normal(PEOPLE)
    near = np.abs(real[:, None] - drawn[None, :]).argmin(axis=0)
    plot = {"x": drawn, "residual": left[near] / left.std() + 0.25 * rng.standard_normal(PEOPLE)}
    return {
        "coefficients": {"(intercept)": level, "x": slope},
        "anova": {"residual": float(left @ left)},
        "n": PEOPLE,
        "synthetic_residuals": {"x": plot},
    }


def read(fit: dict[str, Any]) -> tuple[Floats, Floats, float, float]:
    """The points of a plot in the unit of the response, and the line."""
    level, slope = fit["coefficients"].values()
    (plot,) = fit["synthetic_residuals"].values()
    left = np.sqrt(fit["anova"]["residual"] / fit["n"])
    return np.array(plot["x"]), left * np.array(plot["residual"]), level, slope


def bits_by_area(area: Floats, fit: dict[str, Any]) -> dict[int, float]:
    """The value of each farm that is the nearest to a point."""
    x, residual, level, slope = read(fit)
    near = np.abs(area[:, None] - x[None, :]).argmin(axis=0)
    return {
        who: float(np.median(level + slope * area[who] + residual[near == who]) > 0.5)
        for who in np.unique(near).tolist()
    }


def right(bits: Floats, found: dict[int, float]) -> tuple[int, int]:
    return sum(bits[who] == value for who, value in found.items()), len(found)


def told(seed: int, before: bool, part: float = 0.5) -> tuple[int, int]:
    """How many values are right, and how many were said, from one plot over the public number."""
    area, bit = world(seed, part)
    fit = residuals_of_neighbours(area, bit, seed) if before else fit_of(area, bit, seed)
    return right(bit, bits_by_area(area, fit))


@pytest.mark.parametrize("before", [True, False])
def test_no_point_of_a_plot_is_about_one_record(before: bool) -> None:
    hits, said = (sum(part) for part in zip(*(told(seed, before) for seed in range(3))))
    assert hits >= 0.95 * said if before else 0.4 * said <= hits <= 0.6 * said


if __name__ == "__main__":  # PYTHONPATH=src:tests python -m attacks.test_query_residual_plots
    for before in (True, False):
        for part in (0.5, 0.03):
            hits, said = (sum(one) for one in zip(*(told(seed, before, part) for seed in range(20))))
            sys.stdout.write(f"before {before}, {part} have it: {hits} right of {said} of {20 * PEOPLE}\n")
