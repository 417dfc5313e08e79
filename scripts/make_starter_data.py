# SPDX-License-Identifier: Apache-2.0
"""Generate the data of the starter project: people in households, and firms, both invented.

Run from the repository root: python scripts/make_starter_data.py. The files are the same every time.
"""

from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parents[1] / "src" / "reticent" / "starter_data"
N_HOUSEHOLDS, N_FIRMS = 160, 140


def _draws(name: str) -> np.random.Generator:
    """The same draws every time."""
    return np.random.Generator(np.random.Philox(key=len(name)))


def people() -> str:
    """Households with one to five members, as CSV text."""
    draw = _draws("people")
    rows = ["person,household,region,sex,age,education,occupation,income,weight"]
    person = 0
    for household in range(1, N_HOUSEHOLDS + 1):
        region = draw.choice(["N1", "N2", "S1", "S2", "S3"], p=[0.35, 0.1, 0.3, 0.2, 0.05])
        weight = round(float(draw.uniform(40, 160)), 1)
        for _ in range(int(draw.choice([1, 2, 3, 4, 5], p=[0.3, 0.33, 0.17, 0.14, 0.06]))):
            person += 1
            age = int(np.clip(draw.normal(44, 21), 0, 98))
            grown = age >= 16
            education = str(draw.choice([1, 2, 3], p=[0.25, 0.5, 0.25])) if grown else "1"
            work = f"{draw.integers(1, 8)}{draw.integers(1, 5)}" if 16 <= age < 70 and draw.random() < 0.8 else "00"
            income = int(draw.lognormal(7.6, 0.6) / 10) * 10 if grown else 0
            sex = draw.choice(["f", "m", "x"], p=[0.5, 0.48, 0.02])
            rows.append(f"P{person:04d},{household},{region},{sex},{age},{education},{work},{income},{weight}")
    return "\n".join(rows) + "\n"


def firms() -> str:
    """Firms with skewed turnover, as CSV text."""
    draw = _draws("businesses")
    rows = ["firm,industry,region,turnover"]
    for firm in range(1, N_FIRMS + 1):
        industry = draw.choice(["A1", "A2", "B1", "B2", "C1"], p=[0.3, 0.2, 0.25, 0.2, 0.05])
        region = draw.choice(["N", "S", "W"], p=[0.5, 0.35, 0.15])
        rows.append(f"F{firm:04d},{industry},{region},{round(float(draw.lognormal(5, 1.3)), 1)}")
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    (FOLDER / "people.csv").write_text(people(), encoding="utf-8")
    (FOLDER / "firms.csv").write_text(firms(), encoding="utf-8")
