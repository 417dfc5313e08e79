"""Small sums of whole numbers, attacked by linear and by integer programs: `python -m attacks.whole_sum_families 40`.

Of one table by two variables the ends of sums of whole numbers are whole by themselves. Of tables by three variables, of
linked tables and of two hierarchies they need not be, so that who knows that sums are whole may come closer. Families: the
sizes of the variables of one table, `linked` (three tables by two of three variables each) and `levels` (two of three variables
have hierarchies). Sums are of numbers up to 3, p % (15) and a minimum of 3; with `zeros` most numbers are 0.
"""

import itertools
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl

from attacks.file_reader import Attack, Cell, Knowledge, own_bounds, read_release
from attacks.refusal_families import written
from reticent.base.errors import InfeasibleError
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.jobs.protect_table import protect_table
from reticent.tables.rules import PPercent, Threshold

RULES = (PPercent(15), Threshold(3, protection=20))
NAMES = "abc"
FAMILIES: Mapping[str, tuple[tuple[int, ...], bool]] = {
    "2x2x3": ((2, 2, 3), False),
    "2x3x3": ((2, 3, 3), False),
    "2x3x4": ((2, 3, 4), False),
    "2x3x3-zeros": ((2, 3, 3), True),
    "levels": ((4, 4, 2), False),
    "levels-zeros": ((4, 4, 2), True),
    "linked": ((4, 4, 4), False),
}
"""Sizes of the variables, and whether most numbers are 0."""
_NEAR = 1e-5  # how far from the true end a program may stop


def records(shape: tuple[int, ...], zeros: bool, rng: np.random.Generator) -> tuple[list[tuple[int, ...]], list[int]]:
    """The place and the number of each record."""
    places: list[tuple[int, ...]] = []
    numbers: list[int] = []
    small, filled, mean = rng.random(shape) < 0.2, float(rng.choice([0.05, 0.15, 0.3])), float(rng.choice([1, 2, 3]))
    for at in itertools.product(*map(range, shape)):
        n = int(rng.poisson(mean))
        own = rng.integers(0, 4, n)
        if zeros:
            n = int(rng.integers(1, 3) if small[at] else rng.integers(3, 6))
            own = rng.integers(0, 4, n) if small[at] else (rng.random(n) < filled) * rng.integers(1, 4, n)
        places += [at] * n
        numbers += own.tolist()
    return places or [(0,) * len(shape)], numbers or [1]


def attacked(family: str, rng: np.random.Generator, folder: Path) -> Counter[str]:
    """Unsafe cells, those known exactly and within their levels by whole numbers, and those whose ends these change."""
    shape, zeros = FAMILIES[family]
    levels = family.startswith("levels")
    texts = [
        tuple(f"{1 + j // 2}{j % 2}" if levels and size == 4 else f"{name}{j}" for j in range(size))
        for name, size in zip(NAMES, shape, strict=True)
    ]
    places, numbers = records(shape, zeros, rng)
    codes = {name: [texts[at][place[at]] for place in places] for at, name in enumerate(NAMES)}
    keys = (Variable(name, role=Role.KEY, codes=own) for name, own in zip(NAMES, texts, strict=True))
    data = Microdata.of(pl.DataFrame({**codes, "t": numbers}), Schema((*keys, Variable("t", kind=Kind.NUMERIC))))
    dimensions = [
        DimensionSpec(n, digits=(1, 1) if own[0].isdigit() else ()) for n, own in zip(NAMES, texts, strict=True)
    ]
    crossed = itertools.combinations(dimensions, 2 if family == "linked" else 3)
    result = protect_table(data, [TableSpec(one, response="t") for one in crossed], rules=RULES, time_limit=20)
    parents = {n: {c: c[0] for c in own} for n, own in zip(NAMES, texts, strict=True) if own[0].isdigit()}
    release = read_release(written(result, folder), parents)
    bounds = own_bounds(release, Knowledge())
    whole, plain = (Attack(release, Knowledge(counts=own), bounds) for own in (frozenset({"t"}), frozenset[str]()))
    found: Counter[str] = Counter(unsafe=0, exactly=0, closely=0, changed=0)
    for cell, shown in release.cells.items():
        wanted = _wanted(cell, codes, numbers) if shown.status == "hidden" else None
        if wanted is not None:
            low, high = whole.ends(cell)
            least, most = plain.ends(cell)
            closely = low > wanted[0] + _NEAR or high < wanted[1] - _NEAR
            changed = low > least + _NEAR or high < most - _NEAR
            found.update(unsafe=1, exactly=high - low < _NEAR, closely=closely, changed=changed)
    return found


def _wanted(cell: Cell, codes: Mapping[str, list[str]], numbers: list[int]) -> tuple[float, float] | None:
    """What the interval of an unsafe cell must reach; levels end at 0."""
    inside = (all(codes[name][row].startswith(code) for name, code in cell[1]) for row in range(len(numbers)))
    sizes = sorted(itertools.compress(numbers, inside), reverse=True)
    level = 0.15 * sizes[0] - sum(sizes[2:]) if sizes else 0.0
    if level <= 0 and len(sizes) < 3:
        level = 0.2 * sum(sizes)
    return (max(0.0, sum(sizes) - level), sum(sizes) + level) if level > 0 else None


def rates(family: str, tables: int) -> Counter[str]:
    """What was refused and written, and what attackers find of the unsafe cells."""
    found: Counter[str] = Counter(refused=0, written=0, unsafe=0, exactly=0, closely=0, changed=0)
    for number in range(tables):
        with tempfile.TemporaryDirectory() as folder:
            try:
                found.update(attacked(family, np.random.default_rng([number, 29]), Path(folder)))
            except InfeasibleError:
                found["refused"] += 1
                continue
        found["written"] += 1
    return found


if __name__ == "__main__":
    for name in sys.argv[2:] or FAMILIES:
        sys.stdout.write(f"{name}: {dict(rates(name, int(sys.argv[1])))}\n")
        sys.stdout.flush()
