"""Pairs of releases of one small file with one secret, as a version of reticent makes them.

    PYTHONPATH=src python tests/attacks/file_releases.py FOLDER     write the releases as CSV files

Run with the sources of 0.1.0 on the path, this made `fixtures/v010/file_releases`; only calls that both versions
have are used.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent.base.progress import silent
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.microdata.mask import METHODS

N = 300
KEY = bytes.fromhex("8f3a61d20c5be94717aa90e4c86f2b53d1097e3cb8254f60a97d1ce2305b84f6")
STEPS: dict[str, tuple[str, dict[str, Any]]] = {
    "noise-01": ("noise", {"variables": ("income",), "k": 0.1, "kind": "uncorrelated"}),
    "noise-04": ("noise", {"variables": ("income",), "k": 0.4, "kind": "uncorrelated"}),
    "linear-01": ("noise", {"variables": ("income",), "k": 0.1, "kind": "linear"}),
    "linear-04": ("noise", {"variables": ("income",), "k": 0.4, "kind": "linear"}),
    "factor-01": ("multiplicative-noise", {"variables": ("income",), "k": 0.1, "scheme": "plain"}),
    "factor-04": ("multiplicative-noise", {"variables": ("income",), "k": 0.4, "scheme": "plain"}),
    "weights-5": ("noise-on-weights", {"percent": 5.0}),
    "weights-20": ("noise-on-weights", {"percent": 20.0}),
    "subset": ("noise", {"variables": ("income",), "k": 0.1, "kind": "uncorrelated"}),
    "corrected": ("noise", {"variables": ("income",), "k": 0.1, "kind": "uncorrelated"}),
}


def truth(seed: int = 0, n: int = N) -> pl.DataFrame:
    """Identifier, whole incomes, weights with one decimal, a job."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "person": [f"p{i:04d}" for i in range(n)],
            "income": np.round(np.exp(rng.normal(10.2, 0.6, n))),
            "weight": np.round(rng.uniform(20, 400, n), 1),
            "job": np.array(list("abcdef"))[rng.integers(0, 6, n)],
        }
    )


def described(frame: pl.DataFrame) -> Microdata:
    return Microdata.of(
        frame,
        Schema(
            (
                Variable("person", role=Role.IDENTIFIER),
                Variable("income", kind=Kind.NUMERIC, role=Role.SENSITIVE),
                Variable("weight", kind=Kind.NUMERIC, role=Role.WEIGHT),
                Variable("job", role=Role.KEY),
            )
        ),
    )


def masked(frame: pl.DataFrame, name: str, options: dict[str, Any], key: bytes | int = KEY) -> pl.DataFrame:
    """One step, with the draws that a plan of this one step has; the identifier stays only to score the attack."""
    step = METHODS[name](**options)
    return step.apply(described(frame), secret=as_secret(key).child(f"{name}:0"), progress=silent).data.frame.table


def variant(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """The file behind a release: all of it, without every tenth record, or with one value corrected."""
    if name == "subset":
        return frame.filter(pl.arange(0, len(frame), eager=True) % 10 != 3)
    if name == "corrected":
        income = frame["income"].to_numpy().copy()
        income[5] = 3 * income[5]
        return frame.with_columns(pl.Series("income", income))
    return frame


def releases(seed: int = 0, key: bytes = KEY) -> dict[str, pl.DataFrame]:
    """All releases of the file with one secret."""
    frame = truth(seed)
    made = {}
    for name, (method, options) in STEPS.items():
        column = "weight" if name.startswith("weights") else "income"
        made[name] = masked(variant(frame, name), method, options, key).select("person", column)
    return made


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    truth().select("person", "income", "weight").write_csv(folder / "truth.csv")
    for name, frame in releases().items():
        frame.write_csv(folder / f"{name}.csv")
    guessable = masked(truth(), *STEPS["noise-04"], key=2026).select("person", "income")
    guessable.write_csv(folder / "guessable.csv")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
