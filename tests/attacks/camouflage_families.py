"""Rates of the attacks on camouflage over generated families.

    PYTHONPATH=src:tests/attacks python tests/attacks/camouflage_families.py

With another version of the package on the path the rates are that version's.
"""

import hashlib
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from test_camouflage import CODES, GUESSES, SCHEMA, chance, decoded, decoder, intervals, people, published

from reticent.base.errors import ReticentError
from reticent.data.microdata import Microdata
from reticent.queries.database import ProtectedDatabase
from reticent.queries.policy import Bounds, Policy

SECRETS = 5
OPTIONS = {"percent": 20, "unit": 0.001}
N = 400
CASES = 900


def families(seed: int) -> dict[str, np.ndarray]:
    """Whole incomes of 400 people."""
    rng = np.random.default_rng(seed)
    income = rng.lognormal(6, 0.8, N).round() + 10
    return {
        "lognormal incomes": income,
        "multiples of 10": (income / 10).round() * 10,
        "a third zeros": np.where(rng.random(N) < 0.33, 0.0, income),
        "small counts": rng.integers(0, 30, N).astype(float),
    }


def rates(name: str, insiders: int) -> str:
    """One row of the table: how many are decoded by the best attack, by chance, and how many runs could not be opened."""
    best, by_chance, failed = [], [], 0
    for number in range(SECRETS):
        secret = hashlib.blake2b(f"family {number}".encode()).digest()
        folder = Path(tempfile.mkdtemp())
        try:
            rows = published(folder, {**OPTIONS, "insiders": insiders}, pay=families(number)[name], secret=secret)
        except ReticentError:
            failed += 1
            continue
        found = intervals(rows)
        best.append(max(decoded(found, guess) for guess in (*GUESSES.values(), decoder(found))))
        by_chance.append(chance(found))
    if not best:
        return f"| {name} | {insiders} | does not open | |"
    note = f" ({failed} of {SECRETS} do not open)" if failed else ""
    return f"| {name} | {insiders} | {100 * np.mean(best):.1f} %{note} | {100 * np.mean(by_chance):.1f} % |"


def missed() -> int:
    """How many of 900 variance and deviation intervals, of two to seven people each, do not hold the truth."""
    rng = np.random.default_rng(9)
    count = 0
    for case in range(CASES // 30):
        pay = (10.0 ** rng.integers(4, 13) * rng.lognormal(0, 0.5, N)).round(2)
        frame = pl.DataFrame({**people(), "pay": pay})
        policy = Policy(mode="camouflage", filters=("a", "b"), responses=("pay",), bounds={"pay": Bounds(low=0)})
        secret = hashlib.blake2b(f"case {case}".encode()).digest()
        ledger = Path(tempfile.mkdtemp()) / "x.ledger"
        database = ProtectedDatabase(Microdata.of(frame, SCHEMA), policy=policy, secret=secret, ledger=ledger)
        for code in CODES[:15]:
            some = CODES[: int(rng.integers(2, 8))]
            own = pay[(np.array(people()["a"]) == code) & np.isin(people()["b"], some)]
            where = f"a = '{code}' AND b IN ({', '.join(map(repr, some))})"
            row = database.ask(f"SELECT VARIANCE(pay), STDDEV(pay) FROM data WHERE {where}", user="u").rows[0].values
            told = (own.var(ddof=1), own.std(ddof=1))
            count += sum(not low <= value <= high for (low, high), value in zip(row, told))
        database.close()
    return count


def main() -> None:
    """Print the rates."""
    lines = ["| family | insiders | decoded to the unit by the best attack | chance |"]
    lines += [rates(name, insiders) for name in families(0) for insiders in (0, 1)]
    lines += [f"variance and deviation intervals without the truth: {missed()} of {CASES}"]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
