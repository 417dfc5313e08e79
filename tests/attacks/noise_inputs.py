"""Inputs of the attacks on changed tables: records, schema and plans, written the same way for every version."""

import hashlib
from pathlib import Path

import numpy as np

AREAS, SIZES = tuple("abcdefg"), ("s", "m", "l")


def firms() -> list[tuple[str, str, int]]:
    """A row per firm: area, size class, turnover; every third cell has one or two firms."""
    rng = np.random.default_rng(2011)
    found = []
    for number, (area, size) in enumerate((area, size) for area in AREAS for size in SIZES):
        for _ in range(1 + number % 2 if number % 3 == 0 else int(rng.integers(4, 9))):
            found.append((area, size, int(rng.lognormal(6, 0.8)) + 10))
    return found


def true_values() -> dict[tuple[str, str], tuple[float, int]]:
    """Turnover and number of firms of every cell, totals included."""
    cells: dict[tuple[str, str], tuple[float, int]] = {}
    for area, size, turnover in firms():
        for place in ((area, size), (area, "Total"), ("Total", size), ("Total", "Total")):
            value, count = cells.get(place, (0.0, 0))
            cells[place] = (value + turnover, count + 1)
    return cells


def write_plan(folder: Path, protect: str, *, table: str = "", secret: str = "", extra: str = "") -> Path:
    """The firms with a plan; `secret` is a seed of the key file, none: the plan names no secret."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [f"f{n:03d},{area},{size},{value}" for n, (area, size, value) in enumerate(firms())]
    (folder / "firms.csv").write_text("id,area,size,turnover\n" + "\n".join(rows) + f"\n{extra}")
    (folder / "schema.toml").write_text(
        '[[variable]]\nname = "id"\nrole = "identifier"\n'
        + "".join(f'[[variable]]\nname = "{name}"\nrole = "key"\n' for name in ("area", "size"))
        + '[[variable]]\nname = "turnover"\nkind = "numeric"\ndecimals = 0\n'
    )
    if secret:
        (folder / "office.key").write_text(hashlib.sha256(secret.encode()).hexdigest())
    named = 'secret = "office.key"\n' if secret else ""
    (folder / "plan.toml").write_text(
        f'[data]\npath = "firms.csv"\nschema = "schema.toml"\n{named}[table]\ndimensions = ["area", "size"]\n{table}\n'
        'rules = [{ rule = "threshold", minimum = 3, protection = 20 }]\n'
        f'[protect]\n{protect}\naccept_exposed = true\ntime_limit = 10\n[output]\npath = "table.csv"\n'
        'public_report = "table.html"\n'
    )
    return folder / "plan.toml"
