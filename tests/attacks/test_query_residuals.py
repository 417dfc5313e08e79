"""Synthetic residuals of two regressions, from answers only: what one plot hides must not follow from a second one.

The fixture is what version 0.1.0 answered:

    PYTHONPATH=<tree of version 0.1.0>/src:tests python tests/attacks/test_query_residuals.py <fixture>
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from attacks.query_scenarios import database, policy_of
from attacks.transcripts import stored
from reticent.data.schema import Kind, Role, Schema, Variable

MODELS = ("LINREG(y, g)", "LINREG(y, g, h)")
PEOPLE = 300


def two_models() -> dict[str, Any]:
    """The plots of two models of pay by public codes, and the true values to compare with."""
    rng = np.random.default_rng(1)
    g, h = (rng.choice(["0", "1"], PEOPLE) for _ in range(2))
    pay = np.round(rng.normal(5000, 600, PEOPLE) + 800 * (g == "1") + 2500 * (h == "1"))
    names = (Variable("g", codes=("0", "1")), Variable("h", codes=("0", "1")))
    schema = Schema((*names, Variable("y", role=Role.SENSITIVE, kind=Kind.NUMERIC)))
    policy = policy_of(mode="analysis", filters=("g", "h"), responses=("y",), options={"analysis": {"blur": 0.0}})
    db = database(pl.DataFrame({"g": g, "h": h, "y": pay}), schema, policy)
    answers = [db.ask(f"SELECT {model} FROM data", user="u").as_json()["value"] for model in MODELS]
    return {"answers": answers, "truth": pay.tolist()}


def values_by_two_scales(answers: list[dict[str, Any]], h: int) -> np.ndarray[Any, Any]:
    """v₁ = (y − f₁)/s₁ + e and v₂ = (y − f₂)/s₂ + e for each point, if both plots have one noise e: solve for y."""
    first, second = answers
    (label,) = first["synthetic_residuals"]
    (other,) = set(second["synthetic_residuals"]) - {label}
    x = np.array(first["synthetic_residuals"][label]["x"])
    points = min(len(x), len(second["synthetic_residuals"][label]["x"]))
    v1, v2 = (np.array(one["synthetic_residuals"][label]["residual"])[:points] for one in answers)
    s1, s2 = (np.sqrt(one["anova"]["residual"] / one["n"]) for one in answers)
    c1, c2 = (one["coefficients"] for one in answers)
    f1 = c1["(intercept)"] + c1[label] * x[:points]
    f2 = c2["(intercept)"] + c2[label] * x[:points] + c2[other] * h
    return np.asarray((v1 - v2 + f1 / s1 - f2 / s2) / (1 / s1 - 1 / s2))


def share_exact(scenario: dict[str, Any]) -> float:
    """The share of points that give somebody's pay to a hundredth, with the better of the two codes."""
    truth = np.array(scenario["truth"])
    found = [np.abs(values_by_two_scales(scenario["answers"], h)[:, None] - truth).min(axis=1) < 0.01 for h in (0, 1)]
    return float(np.logical_or(*found).mean())


def test_two_plots_do_not_share_their_noise() -> None:
    """Without factors, so that a value that follows is somebody's pay and not its product with a factor."""
    assert share_exact(stored("two_models")) > 0.95
    assert share_exact(two_models()) < 0.05


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(two_models()) + "\n", encoding="utf-8")
