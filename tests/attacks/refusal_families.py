"""Generated tables that may be refused although hiding everything protects them: `python -m attacks.refusal_families 30 FAMILY`.

Families: `missing` and `missing-2` (wages of all, of men and of women, of firms with several plants, attacked by each firm or by
each two together), `linked`, `linked-empty` and `linked-undeclared` (counts by a × b and by a × k; the last two hide
empty cells), `levels-empty` (as `linked-empty`, with fewer levels of a in the second table), `losses-empty` (gains and losses of
a few people by a × b, attacked by each who is alone in a cell; hides empty cells), `weighted` (weighted counts of a few people
by a × b × c and turnover by b, attacked by each who is alone in a cell). Where tables are written, an attacker who has
the CSV files counts what they find.
"""

import itertools
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl

from attacks.file_reader import Attack, Cell, Knowledge, own_bounds, read_release
from reticent.base.errors import InfeasibleError
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.data.table_plan import Insiders
from reticent.io.published import published_text
from reticent.jobs.protect_table import protect_table
from reticent.tables.request import Attacker
from reticent.tables.result import ProtectedTable
from reticent.tables.rules import PPercent, Threshold

MINIMUM = Threshold(3, protection=20)
WAGES = ("wages", "of_men", "of_women")
FAMILIES = (
    "missing",
    "missing-2",
    "linked",
    "linked-empty",
    "linked-undeclared",
    "levels-empty",
    "losses-empty",
    "weighted",
)


def written(result: ProtectedTable, folder: Path) -> list[tuple[str, Path]]:
    """The tables of a run as CSV files."""
    files = []
    for number, table in enumerate(result.published):
        (folder / f"{number}.csv").write_text(published_text(table))
        files.append((table.response, folder / f"{number}.csv"))
    return files


def missing(rng: np.random.Generator, coalition: int, folder: Path) -> int:
    """How many unsafe sums some firms, or pairs of them, work out exactly."""
    n = 26
    firm, woman = rng.integers(0, 16, n), rng.random(n) < 0.5
    paid = (rng.lognormal(4, 1.0, n) + 1).astype(int)
    a, b = rng.choice(list("pqr"), n), rng.choice(list("xyz"), n)
    has = {"wages": woman | True, "of_men": ~woman, "of_women": woman}
    columns = {name: [int(v) if own else None for v, own in zip(paid, has[name], strict=True)] for name in WAGES}
    frame = pl.DataFrame({"firm": [f"f{f}" for f in firm], "a": a, "b": b, **columns})
    keys = (Variable("firm", role=Role.ENTITY), Variable("a", role=Role.KEY), Variable("b", role=Role.KEY))
    schema = Schema((*keys, *(Variable(name, kind=Kind.NUMERIC) for name in WAGES)))
    specs = [TableSpec((DimensionSpec("a"), DimensionSpec("b")), response=name) for name in WAGES]
    result = protect_table(
        Microdata.of(frame, schema), specs, rules=(PPercent(15), MINIMUM), attacker=Attacker(coalition=coalition),
        time_limit=20,
    )  # fmt: skip
    release = read_release(written(result, folder), {}, [{"wages": 1.0, "of_men": -1.0, "of_women": -1.0}])
    who: dict[Cell, dict[int, int]] = {}
    for cell, shown in release.cells.items():
        if shown.status == "hidden":
            where = np.all([{"a": a, "b": b}[name] == code for name, code in cell[1]] or [woman | True], axis=0)
            for row in np.flatnonzero(where & has[cell[0]]).tolist():
                own = who.setdefault(cell, {})
                own[int(firm[row])] = own.get(int(firm[row]), 0) + int(paid[row])
    found = 0
    for members in itertools.combinations(sorted({f for own in who.values() for f in own}), coalition):
        known = {cell: float(sum(own.values())) for cell, own in who.items() if set(own) <= set(members)}
        bounds = own_bounds(release, Knowledge()) | {cell: (value, value) for cell, value in known.items()}
        attack = Attack(release, Knowledge(), bounds)
        for cell, own in who.items() if known else ():
            if cell not in known and _unsafe(list(own.values())):
                low, high = attack.ends(cell)
                found += high - low < 1e-6
    return found


def _unsafe(sizes: list[int]) -> bool:
    sizes.sort(reverse=True)
    return len(sizes) < 3 or 15 * sizes[0] > 100 * sum(sizes[2:])


def linked(rng: np.random.Generator, family: str, folder: Path) -> int:
    """How many counts below the minimum cannot reach it."""
    declared, empty = family != "linked-undeclared", family != "linked"
    codes = {"a": ("10", "12", "21", "23"), "b": ("b0", "b1", "b2")[: int(rng.integers(2, 4))], "k": ("k0", "k1", "k2")}
    mean = float(rng.choice([0.6, 1.2, 2.0, 3.0]))
    pairs = itertools.product(codes["a"][: int(rng.integers(2, 5))], codes["b"])
    rows = [pair for pair in pairs for _ in range(rng.poisson(mean * rng.choice([0, 1, 2])))] or [("10", "b0")]
    columns = {"a": [a for a, _ in rows], "b": [b for _, b in rows], "k": rng.choice(codes["k"], len(rows)).tolist()}
    schema = Schema(tuple(Variable(n, role=Role.KEY, codes=codes[n] if declared else ()) for n in codes))
    digits = (1, 1) if declared else ()
    specs = [TableSpec((DimensionSpec("a", digits=digits), DimensionSpec(name))) for name in "bk"]
    if family == "levels-empty":
        specs[1] = TableSpec((DimensionSpec("a", digits=digits, level=1), DimensionSpec("k")))
    data = Microdata.of(pl.DataFrame(columns), schema)
    result = protect_table(data, specs, rules=(MINIMUM,), hide_empty=empty, time_limit=20)
    known = Knowledge(counts=frozenset({"count"}), least={"count": 1.0}, hides_empty=empty)
    release = read_release(written(result, folder), {"a": {code: code[0] for code in codes["a"]}} if declared else {})
    bounds = own_bounds(release, known)
    if empty and not declared:  # a code that nothing but the records declares is somebody's
        bounds |= {cell: (max(1.0, ends[0]), ends[1]) for cell, ends in bounds.items() if len(cell[1]) == 1}
    attack, found = Attack(release, known, bounds), 0
    for cell in release.cells:
        n = sum(all(columns[name][row].startswith(code) for name, code in cell[1]) for row in range(len(rows)))
        found += 0 < n < 3 and attack.ends(cell)[1] < 3
    return found


def losses(rng: np.random.Generator, folder: Path, insiders: Insiders = "exact") -> int:
    """How many unsafe sums of others somebody works out exactly who is alone in a cell."""
    n, codes = int(rng.integers(1, 8)), {"a": ("a0", "a1"), "b": ("b0", "b1", "b2")}
    columns = {name: rng.choice(own, n) for name, own in codes.items()}
    gains = rng.integers(-9, 10, n)
    schema = Schema(
        (*(Variable(k, role=Role.KEY, codes=own) for k, own in codes.items()), Variable("t", kind=Kind.NUMERIC))
    )
    data = Microdata.of(pl.DataFrame({**columns, "t": gains}), schema)
    spec = TableSpec((DimensionSpec("a"), DimensionSpec("b")), response="t")
    who = Attacker(insiders=insiders)
    result = protect_table(data, spec, rules=(PPercent(15), MINIMUM), attacker=who, hide_empty=True, time_limit=20)
    release = read_release(written(result, folder), {})
    inside = {
        cell: np.all([columns[name] == code for name, code in cell[1]] or [gains > -99], axis=0)
        for cell, shown in release.cells.items()
        if shown.status == "hidden"
    }
    open_ends = own_bounds(release, Knowledge()) | dict.fromkeys(inside, (-1e3, 1e3))
    found = 0
    for person in range(n):
        alone = {cell: float(gains[person]) for cell, rows in inside.items() if rows[person] and rows.sum() == 1}
        attack = Attack(release, Knowledge(), open_ends | {cell: (own, own) for cell, own in alone.items()})
        for cell, rows in inside.items() if alone else ():
            if cell not in alone and rows.sum() > 0 and _unsafe(np.abs(gains[rows]).tolist()):
                low, high = attack.ends(cell)
                found += high - low < 1e-6
    return found


def weighted(rng: np.random.Generator, folder: Path) -> int:
    """How many unsafe weighted counts of others somebody works out exactly who is alone in a cell."""
    n = int(rng.integers(4, 16))
    columns = {name: rng.choice([f"{name}{code}" for code in range(3)], n) for name in "abc"}
    weight, turnover = rng.choice([1.0, 2.0, 2.5, 7.0], n), rng.integers(1, 200, n)
    keys = (Variable(name, role=Role.KEY, codes=tuple(f"{name}{code}" for code in range(3))) for name in "abc")
    schema = Schema((*keys, Variable("t", kind=Kind.NUMERIC), Variable("w", kind=Kind.NUMERIC, role=Role.WEIGHT)))
    data = Microdata.of(pl.DataFrame({**columns, "t": turnover, "w": weight}), schema)
    specs = [
        TableSpec(tuple(map(DimensionSpec, "abc")), weighted=True),
        TableSpec((DimensionSpec("b"),), response="t", weighted=True),
    ]
    result = protect_table(data, specs, rules=(PPercent(15), MINIMUM), time_limit=20)
    release = read_release(written(result, folder), {})
    inside = {
        cell: np.all([columns[name] == code for name, code in cell[1]] or [weight > 0], axis=0)
        for cell, shown in release.cells.items()
        if shown.status == "hidden" and cell[0] == "count"
    }
    knowledge, found = Knowledge(least={"count": float(weight.min())}), 0
    bounds = own_bounds(release, knowledge)
    for person in range(n):
        alone = {cell: float(weight[person]) for cell, rows in inside.items() if rows[person] and rows.sum() == 1}
        attack = Attack(release, knowledge, bounds | {cell: (own, own) for cell, own in alone.items()})
        for cell, rows in inside.items() if alone else ():
            if 0 < rows.sum() < 3 and not rows[person]:
                low, high = attack.ends(cell)
                found += high - low < 1e-6
    return found


def rates(family: str, tables: int) -> Counter[str]:
    """Cases that were refused, were written, and give something away."""
    found: Counter[str] = Counter(refused=0, written=0, broken=0)
    for number in range(tables):
        rng = np.random.default_rng([number, FAMILIES.index(family)])
        with tempfile.TemporaryDirectory() as folder:
            try:
                if family == "losses-empty":
                    broken = losses(rng, Path(folder))
                elif family == "weighted":
                    broken = weighted(rng, Path(folder))
                elif family.startswith("missing"):
                    broken = missing(rng, 2 if family.endswith("2") else 1, Path(folder))
                else:
                    broken = linked(rng, family, Path(folder))
            except InfeasibleError:
                found["refused"] += 1
                continue
        found["written"] += 1
        found["broken"] += broken > 0
    return found


if __name__ == "__main__":
    for name in sys.argv[2:] or FAMILIES:
        sys.stdout.write(f"{name}: {dict(rates(name, int(sys.argv[1])))}\n")
