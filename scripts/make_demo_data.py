# SPDX-License-Identifier: Apache-2.0
"""Generate the bundled demonstration data: a labour force survey and a business survey, both invented.

Run from the repository root: python scripts/make_demo_data.py. The seed is fixed: the files are the same every time.
"""

from pathlib import Path

import numpy as np
import polars as pl

FOLDER = Path(__file__).resolve().parents[1] / "src" / "reticent" / "demo_data"
REGIONS = [f"{area}{town}" for area in "NSEW" for town in range(1, 6)]
OCCUPATIONS = [f"{major}{minor}" for major in range(1, 10) for minor in range(1, 5)]
INDUSTRIES = [
    "A01",
    "A02",
    "B05",
    "C10",
    "C13",
    "C24",
    "C29",
    "F41",
    "F43",
    "G46",
    "G47",
    "H49",
    "I55",
    "J62",
    "K64",
    "M69",
]


def skewed(n: int, power: float) -> np.ndarray:
    """Probabilities that fall with rank."""
    weights = (np.arange(n) + 1.0) ** -power
    return weights / weights.sum()


def people(n_households: int, rng: np.random.Generator) -> pl.DataFrame:
    """Households of one to five persons with keys that are rare here and there."""
    sizes = rng.choice([1, 2, 3, 4, 5], n_households, p=[0.35, 0.3, 0.16, 0.14, 0.05])
    household = np.repeat(np.arange(1, n_households + 1), sizes)
    n = len(household)
    region = np.repeat(rng.choice(REGIONS, n_households, p=skewed(20, 0.8)), sizes)
    age = np.clip(rng.normal(44, 18, n).round(), 16, 97).astype(int)
    education = np.minimum(rng.choice(6, n, p=[0.1, 0.25, 0.3, 0.2, 0.12, 0.03]), (age - 14) // 3)
    occupation = np.where(age > 67, "00", rng.choice(OCCUPATIONS, n, p=skewed(36, 0.6)))
    income = np.where(age > 67, 0.65, 1.0) * np.exp(7.4 + 0.16 * education + 0.45 * rng.standard_normal(n))
    income[rng.random(n) < 0.004] *= 9
    return pl.DataFrame(
        {
            "person": [f"P{number:05d}" for number in rng.permutation(np.arange(1, n + 1))],
            "household": household,
            "region": region,
            "sex": rng.choice(["f", "m"], n, p=[0.51, 0.49]),
            "age": age,
            "marital": rng.choice(["single", "married", "divorced", "widowed"], n, p=[0.38, 0.44, 0.12, 0.06]),
            "education": education.astype(str),
            "occupation": occupation,
            "birthplace": rng.choice([f"C{i:02d}" for i in range(25)], n, p=skewed(25, 1.9)),
            "income": income.round(-1).astype(int),
            "weight": np.repeat(rng.uniform(60, 180, n_households).round(1), sizes),
        }
    )


def firms(n: int, rng: np.random.Generator) -> pl.DataFrame:
    """Firms with a few that dominate their cell; some belong to the same group of companies."""
    industry = rng.choice(INDUSTRIES, n, p=skewed(16, 0.7))
    size = rng.choice(["micro", "small", "medium", "large"], n, p=[0.62, 0.25, 0.1, 0.03])
    scale = np.select([size == "micro", size == "small", size == "medium"], [0.0, 1.6, 3.2], 5.0)
    return pl.DataFrame(
        {
            "firm": [f"F{number:05d}" for number in range(1, n + 1)],
            "group": np.where(rng.random(n) < 0.08, rng.integers(1, 40, n), np.arange(1000, 1000 + n)),
            "industry": industry,
            "region": rng.choice(REGIONS, n, p=skewed(20, 0.9)),
            "size": size,
            "turnover": np.exp(4.6 + scale + 0.9 * rng.standard_normal(n)).round(1),
        }
    )


def main() -> None:
    """Write both files."""
    rng = np.random.default_rng(20260101)
    FOLDER.mkdir(parents=True, exist_ok=True)
    people(1600, rng).write_csv(FOLDER / "people.csv")
    firms(900, rng).write_csv(FOLDER / "firms.csv")


if __name__ == "__main__":
    main()
