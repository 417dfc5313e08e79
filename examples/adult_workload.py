# SPDX-License-Identifier: Apache-2.0
"""Three hundred honest questions about the Adult census extract, and how many of them a protected database answers.

    python examples/adult_workload.py adult.csv [--mode exact] [--limit 300] [--json out.json]

The questions are what an analyst of work, schooling and pay would ask: counts, means, cross-tabulations, quantiles,
linear and logistic regressions. Nobody tries to single anybody out. They come in a fixed order, so that two versions of
the program, or two policies, can be compared. The file is the Adult extract of the UCI repository with `;` between the
columns sex, age, race, marital-status, education, native-country, workclass, occupation and salary-class.
"""

import argparse
import json
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from reticent.base import randomness
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.database import ProtectedDatabase
from reticent.queries.policy import Bounds, Policy

YEARS = {
    "Preschool": 1, "1st-4th": 2, "5th-6th": 3, "7th-8th": 4, "9th": 5, "10th": 6, "11th": 7, "12th": 8, "HS-grad": 9,
    "Some-college": 10, "Assoc-voc": 11, "Assoc-acdm": 12, "Bachelors": 13, "Masters": 14, "Prof-school": 15,
    "Doctorate": 16,
}  # fmt: skip
FILTERS = ("sex", "race", "marital", "education", "workclass", "occupation")
KINDS = {"count": 70, "mean": 80, "crosstab": 50, "quantile": 30, "linreg": 40, "logreg": 30}


def read(path: Path) -> pl.DataFrame:
    """The extract with `rich` (1 above 50K), `school` (years of it) and short names."""
    table = pl.read_csv(path, separator=";")
    return table.select(
        pl.col("sex", "race", "education", "workclass", "occupation"),
        pl.col("marital-status").alias("marital"),
        pl.col("age").cast(pl.Float64),
        pl.col("education").replace_strict(YEARS, return_dtype=pl.Float64).alias("school"),
        (pl.col("salary-class") == ">50K").cast(pl.Float64).alias("rich"),
    )


def questions(table: pl.DataFrame, seed: int = 1) -> Iterator[tuple[str, str]]:
    """The kind and the text of each question."""
    rng = random.Random(seed)
    codes = {name: table[name].value_counts(sort=True)[name].to_list() for name in FILTERS}

    def where(most: int) -> str:
        names = rng.sample(FILTERS, rng.randint(0, most))
        # analysts ask about the larger groups more often
        parts = [f"{name} = '{rng.choice(codes[name][: max(2, len(codes[name]) // 2)])}'" for name in names]
        return f" WHERE {' AND '.join(parts)}" if parts else ""

    def one(kind: str) -> str:
        response = rng.choice(("age", "rich"))
        if kind == "count":
            return f"SELECT COUNT(*) FROM data{where(3)}"
        if kind == "mean":
            return f"SELECT AVG({response}), COUNT(*) FROM data{where(2)}"
        if kind == "crosstab":
            by, totals = ", ".join(rng.sample(FILTERS, 2)), rng.choice(("", " WITH TOTALS"))
            return f"SELECT {rng.choice(('COUNT(*)', f'AVG({response})'))} FROM data{where(1)} GROUP BY {by}{totals}"
        if kind == "quantile":
            what = rng.choice(("MEDIAN(age)", "QUANTILE(age, 0.25)", "QUANTILE(age, 0.9)"))
            return f"SELECT {what} FROM data{where(2)}"
        terms = ", ".join(sorted(rng.sample(FILTERS, rng.randint(1, 3))))
        if kind == "linreg":
            return f"SELECT LINREG(age, {rng.choice((terms, f'school, {terms}'))}) FROM data{where(1)}"
        return f"SELECT LOGREG(rich, {terms}) FROM data{where(1)}"

    kinds = [kind for kind, number in KINDS.items() for _ in range(number)]
    rng.shuffle(kinds)
    for kind in kinds:
        yield kind, one(kind)


def database(table: pl.DataFrame, mode: str, folder: Path, **rules: Any) -> ProtectedDatabase:
    """The extract behind a policy with a minimum of three respondents, a dominance rule if asked for."""
    keys = [Variable(name, role=Role.KEY, codes=tuple(sorted(table[name].unique().to_list()))) for name in FILTERS]
    numbers = [Variable(name, role=Role.SENSITIVE, kind=Kind.NUMERIC) for name in ("age", "rich", "school")]
    policy = Policy(
        mode=mode,
        filters=FILTERS,
        responses=("age", "rich", "school"),
        bounds={"age": Bounds(0, 120), "school": Bounds(0, 20)},
        **{"minimum": 3, **rules},
    )
    test = {"test_secret": True} if hasattr(randomness, "release_secret") else {}  # version 0.1.0 took any secret
    data = Microdata.of(table, Schema((*keys, *numbers)))
    return ProtectedDatabase(data, policy=policy, secret=11, ledger=folder / "adult.ledger", **test)


def run(path: Path, mode: str, limit: int, **rules: Any) -> dict[str, Any]:
    """The share of each kind that is answered (for tables: of their cells), and how long decisions take."""
    table = read(path)
    found: dict[str, list[float]] = {kind: [] for kind in KINDS}
    seconds = []
    with tempfile.TemporaryDirectory() as folder:
        db = database(table, mode, Path(folder), **rules)
        for number, (kind, text) in enumerate(questions(table)):
            if number == limit:
                break
            start = time.perf_counter()
            result = db.ask(text, user="analyst").as_json()
            seconds.append(time.perf_counter() - start)
            found[kind].append(_share(result))
        db.close()
    every = [share for shares in found.values() for share in shares]
    seconds.sort()
    return {
        "mode": mode,
        "asked": len(every),
        "answered": sum(share > 0 for share in every),
        "share of cells": round(sum(every) / len(every), 4),
        "by kind": {
            kind: [len(s), sum(x > 0 for x in s), round(sum(s) / max(len(s), 1), 4)] for kind, s in found.items()
        },
        "seconds": [
            round(seconds[len(seconds) // 2], 3),
            round(seconds[int(len(seconds) * 0.95)], 3),
            round(seconds[-1], 3),
        ],
    }


def _share(result: dict[str, Any]) -> float:
    """The share of the values asked for that an answer has."""
    if not result["answered"]:
        return 0.0
    rows = result.get("rows", [result])
    values = [value for row in rows for name, value in row.items() if "(" in name] or [result.get("value", result)]
    return sum(value is not None for value in values) / len(values)


def main() -> None:
    """Ask, and print one line for each kind."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("path", type=Path)
    options.add_argument("--mode", default="exact")
    options.add_argument("--limit", type=int, default=sum(KINDS.values()))
    options.add_argument("--dominance", nargs=2, type=float, metavar=("N", "K"))
    options.add_argument("--minimum", type=int, default=3)
    options.add_argument("--json", type=Path)
    given = options.parse_args()
    rules = {"minimum": given.minimum, **({"dominance": tuple(given.dominance)} if given.dominance else {})}
    found = run(given.path, given.mode, given.limit, **rules)
    for kind, (asked, answered, share) in found["by kind"].items():
        print(f"{kind:10} {answered:3} of {asked:3} answered, {share:7.1%} of the values")
    print(
        f"all        {found['answered']:3} of {found['asked']:3} answered, {found['share of cells']:7.1%} of the values"
    )
    print("seconds a question: median {}, 95 % {}, longest {}".format(*found["seconds"]))
    if given.json:
        given.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
