"""Generated tables of responses with few different numbers, attacked from CSV files: `python -m attacks.indicator_families 30`.

Everybody knows that men and women are all, that a benefit is 194 for each child, and what a fee is.
"""

import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl

from attacks.file_reader import Cell, Knowledge, attack_files
from reticent.base.errors import InfeasibleError
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.io.published import published_text
from reticent.jobs.protect_table import protect_table
from reticent.tables.rules import PPercent, Threshold

RULES = (PPercent(15), Threshold(3, protection=20))
FAMILIES: Mapping[str, tuple[tuple[str, ...], Mapping[str, float]]] = {
    "sexes": (("men", "women", "count"), {"men": 1.0, "women": 1.0, "count": -1.0}),
    "status": (("work", "seek", "rest", "count"), {"work": 1.0, "seek": 1.0, "rest": 1.0, "count": -1.0}),
    "benefit": (("child", "benefit"), {"benefit": 1.0, "child": -194.0}),
    "fee": (("yes", "fee", "count"), {"fee": 1.0, "yes": -2.0, "count": -5.0}),
}


def numbers(family: str, rng: np.random.Generator, n: int) -> dict[str, list[int]]:
    """The responses of each record."""
    kind = rng.choice(3, n, p=[0.6, 0.25, 0.15])
    made = {
        "sexes": {"men": kind == 0, "women": kind > 0},
        "status": {"work": kind == 0, "seek": kind == 1, "rest": kind == 2},
        "benefit": {"child": kind == 1, "benefit": 194 * (kind == 1)},
        "fee": {"yes": kind == 1, "fee": 5 + 2 * (kind == 1)},
    }
    return {name: column.astype(int).tolist() for name, column in made[family].items()}


def attacked(family: str, rng: np.random.Generator, folder: Path) -> tuple[int, int, int]:
    """Unsafe cells of one table, those known exactly, and those placed within their levels."""
    responses, relation = FAMILIES[family]
    n = int(rng.integers(25, 70))
    codes = {"a": rng.choice(list("pqr"), n), "b": rng.choice(list("xyz"), n)}
    values = numbers(family, rng, n)
    keys = [Variable("a", role=Role.KEY, codes=tuple("pqr")), Variable("b", role=Role.KEY, codes=tuple("xyz"))]
    schema = Schema((*keys, *(Variable(name, kind=Kind.NUMERIC) for name in values)))
    data = Microdata.of(pl.DataFrame({**codes, **values}), schema)
    both = (DimensionSpec("a"), DimensionSpec("b"))
    specs = [TableSpec(both, response=None if name == "count" else name) for name in responses]
    result = protect_table(data, specs, rules=RULES, time_limit=20)
    files = []
    for number, table in enumerate(result.published):
        (folder / f"{number}.csv").write_text(published_text(table))
        files.append((table.response, folder / f"{number}.csv"))
    known = Knowledge(counts=frozenset(responses), least={"count": 1.0}, relations=(relation,))
    release, attack = attack_files(files, {}, known)
    found = np.zeros(3, dtype=int)
    for cell, shown in release.cells.items():
        wanted = _wanted(cell, codes, {**values, "count": [1] * n})
        if shown.status == "hidden" and wanted is not None:
            low, high = attack.ends(cell)
            found += [1, high - low < 1e-6, high < wanted - 1e-6]
    return int(found[0]), int(found[1]), int(found[2])


def _wanted(cell: Cell, codes: Mapping[str, np.ndarray], values: Mapping[str, list[int]]) -> float | None:
    """What the interval of an unsafe cell must reach."""
    inside = np.all([codes[name] == code for name, code in cell[1]] or [codes["a"] == codes["a"]], axis=0)
    sizes = sorted((values[cell[0]][row] for row in np.flatnonzero(inside)), reverse=True)
    if cell[0] == "count":
        return 3.0 if 0 < len(sizes) < 3 else None
    if sizes and 15 * sizes[0] > 100 * sum(sizes[2:]):
        return sum(sizes) + 0.15 * sizes[0] - sum(sizes[2:])
    return 1.2 * sum(sizes) if 0 < len(sizes) < 3 and sum(sizes) else None


def rates(family: str, tables: int) -> Counter[str]:
    """What was refused and written; unsafe cells, those known exactly, those within their levels, and tables with any."""
    found: Counter[str] = Counter(refused=0, written=0, unsafe=0, exactly=0, closely=0, broken=0)
    for number in range(tables):
        with tempfile.TemporaryDirectory() as folder:
            try:
                unsafe, exactly, closely = attacked(family, np.random.default_rng([number, 7]), Path(folder))
            except InfeasibleError:
                found["refused"] += 1
                continue
        found.update(written=1, unsafe=unsafe, exactly=exactly, closely=closely, broken=exactly + closely > 0)
    return found


if __name__ == "__main__":
    for name in sys.argv[2:] or FAMILIES:
        sys.stdout.write(f"{name}: {dict(rates(name, int(sys.argv[1])))}\n")
