"""Perturbation from a plan file: nested options, edit rules, and what the confidential record keeps."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from reticent.base.errors import ReticentError
from reticent.jobs.protect_file import run_file_plan

SCHEMA = """
[[variable]]
name = "income"
kind = "numeric"
[[variable]]
name = "tax"
kind = "numeric"
[[variable]]
name = "sex"
role = "key"
[[variable]]
name = "town"
role = "key"
"""

PLAN = """
[data]
path = "people.csv"
schema = "people.schema.toml"
secret = 1
test_secret = true

[risk]
most = 1.0

[[edit]]
rule = "tax <= income"

[[step]]
method = "multiplicative-noise"
variables = ["income", "tax"]
chains = [["income", "tax"]]
zones = [{ k = 0.2, up_to = 3.0 }, { k = 0.05 }]
nearest-psd = true

[[step]]
method = "pram"
variables = ["sex"]
matrix = [[0.9, 0.1], [0.2, 0.8]]
codes = ["f", "m"]

[[step]]
method = "record-swap"
areas = ["town"]
profiles = [["sex"]]
rate = 20

[output]
path = "safe.csv"
summary = "summary.json"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    tax = rng.exponential(size=300)
    pl.DataFrame({"income": tax + rng.exponential(size=300), "tax": tax, "sex": rng.choice(["f", "m"], 300),
                  "town": rng.integers(0, 5, 300)}).write_csv(tmp_path / "people.csv")  # fmt: skip
    (tmp_path / "people.schema.toml").write_text(SCHEMA, encoding="utf-8")
    return tmp_path


def test_plan_with_nested_options_runs_and_keeps_its_rules(folder) -> None:
    (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
    run_file_plan(folder / "plan.toml")
    safe = pl.read_csv(folder / "safe.csv")
    assert bool((safe["tax"] <= safe["income"]).all())
    steps = json.loads((folder / "summary.json").read_text(encoding="utf-8"))["steps"]
    assert [step["method"] if "method" in step else step["name"] for step in steps] == [
        "multiplicative-noise", "pram", "record-swap",
    ]  # fmt: skip
    matrix = steps[1]["facts"]["matrices"][0]
    assert matrix["matrix"] == [[0.9, 0.1], [0.2, 0.8]]
    assert len(steps[2]["facts"]["swaps"]) == 30


@pytest.mark.parametrize(
    "old, new, message",
    [
        ('rule = "tax <= income"', 'rule = "tax <= incme"', "Did you mean 'income'"),
        ('rule = "tax <= income"', 'rule = "tax < income and tax > income"', "cannot be satisfied"),
        ("[0.9, 0.1]", "[0.9, 0.2]", "not stochastic"),
        ("k = 0.05", "k = -0.05", "k must be at least 0"),
        ('chains = [["income", "tax"]]', 'chains = [["tax", "income"]]', "chain tax >= income does not hold"),
        ("rate = 20", "rate = 120", "rate must be"),
        ("nearest-psd = true", "nearest_psp = true", "Did you mean 'nearest_psd'"),
    ],
)
def test_a_bad_plan_says_what_is_wrong_and_writes_nothing(folder, old, new, message) -> None:
    assert old in PLAN
    (folder / "plan.toml").write_text(PLAN.replace(old, new), encoding="utf-8")
    with pytest.raises(ReticentError, match=message):
        run_file_plan(folder / "plan.toml")
    assert not (folder / "safe.csv").exists()
    assert not (folder / "summary.json").exists()
