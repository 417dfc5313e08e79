"""Sums by classes of their own size: a firm of the class 10 to 49 has at least 10, so that counts bound hidden sums.

`PYTHONPATH=src:tests python -m attacks.size_class_families [CASES] [alone] [large]` gives the rates, without counts as well
(`alone`), or with turnover in much smaller units (`large`). The attacker has the CSV files of turnover and counts and the limits
of the classes, and shares no code with the protectors: two linear programs give the ends of each hidden sum.
"""

import csv
import io
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy.optimize import linprog

import reticent as rt
from reticent import methods, rules
from reticent.base.errors import ReticentError

LIMITS = {"A": (0.0, 9.0), "B": (10.0, 49.0), "C": (50.0, np.inf)}
LARGE = 100_000  # units that one of the limits has
P = 15
TOTAL = "Total"
Cell = tuple[str, str]


def limits_in(scale: int) -> dict[str, tuple[float, float]]:
    """The limits in units of which each has so many."""
    return {name: (low * scale, (high + 1) * scale - 1) for name, (low, high) in LIMITS.items()}


def firms(number: int, scale: int = 1) -> pl.DataFrame:
    """Firms of three regions, each with a turnover and its class."""
    rng = np.random.default_rng(number)
    rows = []
    for region in "xyz":
        for name, (low, high) in limits_in(scale).items():
            for _ in range(int(rng.integers(2, 7))):
                large = name == "C"
                value = (
                    int(low + scale * rng.lognormal(4.5, 1.2)) if large else int(rng.integers(int(low), int(high) + 1))
                )
                rows.append((region, name, value))
    return pl.DataFrame(rows, schema=["region", "size", "turnover"], orient="row").with_row_index("id")


def published(frame: pl.DataFrame, folder: Path, method: Any, *, counts: bool = True) -> list[str] | None:
    """The files of turnover, and of counts; None where they are refused."""
    data = rt.load(frame, keys=["region", "size"], identifiers=["id"])
    table = data.tabulate("region", "size", response="turnover")
    linked = table.linked(data.tabulate("region", "size")) if counts else table
    try:
        run = linked.protect(rules=[rules.PPercent(P), rules.Threshold(3)], method=method, secret=7, test_secret=True)
        tables = run.release_all() if counts else (run.release(),)
    except ReticentError:
        return None
    out = []
    for at, one in enumerate(tables):
        one.write(folder / f"{at}.csv")
        out.append((folder / f"{at}.csv").read_text())
    return out


def _cells(text: str) -> dict[Cell, float | None]:
    rows = csv.DictReader(io.StringIO(text))
    return {(r["region"], r["size"]): None if r["status"] == "hidden" else float(r["value"] or 0) for r in rows}


def ends(
    sums: dict[Cell, float | None], counts: dict[Cell, float | None], *, limits: bool, scale: int = 1
) -> dict[Cell, tuple[float, float]]:
    """The least and the largest turnover of each hidden cell."""
    inner = [(r, s) for r in "xyz" for s in LIMITS]
    place = {cell: n for n, cell in enumerate(inner)}
    n = len(inner)

    def row(cell: Cell) -> Any:
        own = np.zeros(2 * n)
        for (r, s), at in place.items():
            if cell[0] in (r, TOTAL) and cell[1] in (s, TOTAL):
                own[at] = 1.0
        return own

    equal, right = [], []
    for cell, value in sums.items():
        if value is not None:
            equal.append(row(cell))
            right.append(value)
    for cell, value in counts.items():
        if value is not None:
            equal.append(np.roll(row(cell), n))
            right.append(value)
    below = []
    for (_, s), at in place.items() if limits else ():
        low, high = limits_in(scale)[s]
        for sign, limit in ((1.0, high), (-1.0, low)):
            if np.isfinite(limit):
                own = np.zeros(2 * n)
                own[at], own[n + at] = sign, -sign * limit
                below.append(own)
    bounds = [(0, None)] * n + [(1 if counts.get(cell) is None else 0, None) for cell in inner]
    out = {}
    for cell, value in sums.items():
        if value is None:
            found = []
            for sign in (1.0, -1.0):
                got = linprog(sign * row(cell), A_eq=np.array(equal), b_eq=right, A_ub=np.array(below) if below else None,
                              b_ub=np.zeros(len(below)) if below else None, bounds=bounds, method="highs")  # fmt: skip
                found.append(sign * got.fun if got.status == 0 else np.inf)
            out[cell] = (found[0], found[1])
    return out


def exposed(frame: pl.DataFrame, texts: list[str], *, limits: bool, scale: int = 1) -> list[Cell]:
    """Unsafe sums that are placed within their levels."""
    sums = _cells(texts[0])
    counts = _cells(texts[1]) if len(texts) > 1 else {}
    lost = []
    for cell, (low, high) in ends(sums, counts, limits=limits, scale=scale).items():
        own = frame.filter(
            (pl.col("region") == cell[0] if cell[0] != TOTAL else pl.lit(value=True))
            & (pl.col("size") == cell[1] if cell[1] != TOTAL else pl.lit(value=True))
        ).sort("turnover", descending=True)
        values = [float(value) for value in own["turnover"]]
        total, need = sum(values), P / 100 * values[0] - sum(values[2:])
        codes = own["size"].to_list()
        least, most = (sum(limits_in(scale)[code][end] for code in codes) for end in (0, 1))
        if most - total < need or total - least < min(need, total):
            continue  # who knows how many firms there are knows it without the table
        if need > 0 and (high - total < need - 1e-6 or total - low < min(need, total) - 1e-6):
            lost.append(cell)
    return lost


def main(cases: int, *, alone: bool, scale: int = 1) -> None:
    """Print how many cases give an unsafe sum away, with and without the limits of the classes."""
    for name, method in (("heuristic", methods.Heuristic()), ("optimal", methods.Optimal())):
        for counts in (True, False) if alone else (True,):
            out = plain = by_limits = refused = 0
            for number in range(cases):
                frame = firms(number, scale)
                with tempfile.TemporaryDirectory() as folder:
                    texts = published(frame, Path(folder), method, counts=counts)
                if texts is None:
                    refused += 1
                    continue
                out += 1
                plain += bool(exposed(frame, texts, limits=False, scale=scale))
                by_limits += bool(exposed(frame, texts, limits=True, scale=scale))
            words = "with counts" if counts else "alone"
            sys.stdout.write(
                f"{name} {words}: {out} published, {plain} exposed, {by_limits} by limits, {refused} refused\n"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    chosen = {"alone": "alone" in sys.argv, "scale": LARGE if "large" in sys.argv else 1}
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20, **chosen)
