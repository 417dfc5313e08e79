# SPDX-License-Identifier: Apache-2.0
"""Rates of attacks on generated files, as docs/explanation/what-we-got-wrong/files-risk.md has them.

Run from the repository root: python scripts/file_attack_rates.py [files]. The script uses plan files and the CSV files that are
written, so it runs on any version (PYTHONPATH chooses it): what 0.1.0 called protected can be attacked in the same way.
"""

import hashlib
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from reticent.base.errors import ReticentError
from reticent.jobs.protect_file import run_file_plan

SCHEMA = """
[[variable]]
name = "person"
role = "identifier"
[[variable]]
name = "home"
role = "household-id"
[[variable]]
name = "region"
role = "key"
household = true
hierarchy = { digits = [1, 1] }
[[variable]]
name = "sex"
role = "key"
[[variable]]
name = "age"
role = "key"
kind = "numeric"
[[variable]]
name = "job"
role = "key"
hierarchy = { digits = [1, 1] }
[[variable]]
name = "income"
role = "sensitive"
kind = "numeric"
[[variable]]
name = "weight"
role = "weight"
kind = "numeric"
"""
HEAD = '[data]\npath = "people.csv"\nschema = "people.toml"\nsecret = "secret.key"\n'
COARSE = """
[[step]]
method = "recode"
variable = "age"
bands = [0, 20, 35, 50, 65]
[[step]]
method = "recode"
variable = "region"
level = 1
[[step]]
method = "recode"
variable = "job"
level = 1
"""
THEN = (
    COARSE
    + """
[[step]]
method = "top-code"
variable = "income"
value = 6000
[[step]]
method = "local-suppression"
combinations = { dimension = 3, threshold = 1 }
"""
)
NOW = (
    """
[[step]]
method = "remove-identifiers"
variables = ["person", "home"]
"""
    + COARSE
    + """
[[step]]
method = "top-code"
variable = "income"
value = 3000
[[step]]
method = "round"
variables = ["income"]
base = 1500
[[step]]
method = "round"
variables = ["weight"]
points = [100]
[[step]]
method = "local-suppression"
k = 4
keys = ["region", "sex", "age", "job", "income"]
semantics = "(k,k)"
"""
)
OUTPUT = '[output]\npath = "safe.csv"\n'


def people(seed: int) -> pl.DataFrame:
    """Households with skewed regions, jobs and incomes; weights of the region in odd files, of the household in even ones."""
    rng = np.random.default_rng(seed)
    sizes = rng.choice([1, 2, 3, 4], 250)
    home = np.repeat(np.arange(1, 251), sizes)
    n = home.size
    region = rng.choice(["N1", "N2", "S1", "S2", "S3"], 250, p=[0.35, 0.2, 0.25, 0.15, 0.05])
    design = dict(zip(["N1", "N2", "S1", "S2", "S3"], rng.uniform(60, 180, 5).round(1)))
    weight = [design[code] for code in region] if seed % 2 else rng.uniform(60, 180, 250).round(1)
    return pl.DataFrame(
        {
            "person": np.arange(n) + 1,
            "home": home,
            "region": np.repeat(region, sizes),
            "sex": rng.choice(["f", "m"], n),
            "age": np.clip(rng.normal(42, 20, n), 0, 95).astype(int),
            "job": rng.choice(["11", "12", "21", "22", "31"], n),
            "income": (rng.lognormal(7.6, 0.6, n) / 10).astype(int) * 10,
            "weight": np.repeat(weight, sizes),
        }
    )


def linked(released: pl.DataFrame, register: pl.DataFrame) -> float:
    """Share of released records whose nearest register record by income and weight is their own, and nobody else's."""
    distance = np.zeros((released.height, register.height))
    for name in ("income", "weight"):
        shown, true = (frame[name].cast(pl.Float64, strict=False).to_numpy() for frame in (released, register))
        distance += np.nan_to_num((shown[:, None] - true[None, :]) / (true.std() or 1.0), nan=0.0) ** 2
    alone = (distance <= distance.min(axis=1)[:, None] * (1 + 1e-9)).sum(axis=1) == 1
    return float((alone & (distance.argmin(axis=1) == np.arange(released.height))).mean())


def attack(seed: int, steps: str, keep: str) -> float | None:
    """The linked share of one file; None if nothing was written. `keep` keeps the order, so that links can be marked."""
    with tempfile.TemporaryDirectory() as name:
        folder, register = Path(name), people(seed)
        register.write_csv(folder / "people.csv")
        (folder / "people.toml").write_text(SCHEMA, encoding="utf-8")
        (folder / "secret.key").write_text(hashlib.sha256(str(seed).encode()).hexdigest() + "\n", encoding="utf-8")
        (folder / "plan.toml").write_text(HEAD + steps + OUTPUT + keep, encoding="utf-8")
        try:
            run_file_plan(folder / "plan.toml")
        except ReticentError:
            return None
        return linked(pl.read_csv(folder / "safe.csv", infer_schema_length=None), register)


def main() -> None:
    """Print the rates."""
    files = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    options = getattr(__import__("reticent.data.plan", fromlist=["x"]), "FileOutputSection", None)
    keep = "" if options is None else "keep_order = true\n"
    for name, steps in (("plan as for 0.1.0", THEN), ("plan as today", NOW)):
        shares = [attack(seed, steps, keep) for seed in range(files)]
        written = [share for share in shares if share is not None]
        found = f"linked by income and weight {np.mean(written):.3f}, at most {max(written):.3f}" if written else ""
        print(f"{name}: {len(written)} of {files} files written; {found}")


if __name__ == "__main__":
    main()
