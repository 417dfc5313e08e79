"""Linked tables, a cell of one within a cell of the other: `python -m attacks.difference_families 40` (and a family).

What is published of both tells of those who are in the one and not in the other, though no table has them. Families:

- `ages`: people by two groupings of one age, each a hierarchy that is cut at its groups;
- `groups`: the same, the groups as two variables of the records;
- `flags`: who is employed, and who is active (employed or seeking work), each a variable;
- `missing`: region, and district, which some do not have;
- `bands`: three ages in each band beside bands that begin a year later; all up to an age less all up to another;
- with `-sums` turnover instead of counts;
- `ledger`, `ledger-sums`: `groups`, each table released by itself, one after another, with one ledger; with `ledger-memory`
  and `ledger-memory-sums` the second one hides what it must because of the first; with `ledger-versions` and
  `ledger-versions-sums` the second one is of a second version, in which something else was corrected; with `bands` they are
  by the bands of ages. Neighbouring codes are taken away together, too.

Each is crossed by sex in every other case. The attacker knows which codes lie within others, and has the published tables.
"""

import hashlib
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations_with_replacement, pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from reticent.base.errors import InfeasibleError, NotProtectedError
from reticent.data.hierarchy import Hierarchy
from reticent.data.microdata import Microdata
from reticent.data.published_table import EMPTY, HIDDEN, PublishedTable
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.io.published import read_published_table
from reticent.jobs.protect_table import ProtectedTable, protect_table
from reticent.jobs.release import release_plan
from reticent.tables.rules import PPercent, Threshold

AGES = 8
FAMILIES = (
    "ages",
    "groups",
    "flags",
    "missing",
    "bands",
    "ages-sums",
    "groups-sums",
    "flags-sums",
    "missing-sums",
    "bands-sums",
)
LEDGERS = (
    "ledger",
    "ledger-sums",
    "ledger-memory",
    "ledger-memory-sums",
    "ledger-versions",
    "ledger-versions-sums",
    "ledger-bands",
    "ledger-bands-sums",
    "ledger-memory-bands",
    "ledger-memory-bands-sums",
)
Codes = Mapping[str, frozenset[int]]
"""The kinds of people that have each code of a variable; who has no code has none."""


def grouped(rng: np.random.Generator, letter: str) -> Codes:
    """Ages in groups, in their order."""
    cuts = sorted(rng.choice(range(1, AGES), int(rng.integers(1, 4)), replace=False).tolist())
    ends = [0, *cuts, AGES]
    return {f"{letter}{n}": frozenset(range(a, b)) for n, (a, b) in enumerate(pairwise(ends))}


def two_codings(family: str, rng: np.random.Generator) -> tuple[int, tuple[Codes, Codes]]:
    """How many kinds of people there are, and which have each code of two variables."""
    if family == "flags":  # employed, seeking work, neither
        yes = {"e1": frozenset({0}), "e0": frozenset({1, 2})}
        return 3, (yes, {"a1": frozenset({0, 1}), "a0": frozenset({2})})
    if family == "missing":  # the last kind of each region has no district
        of = {f"r{r}": frozenset({3 * r, 3 * r + 1, 3 * r + 2}) for r in range(3)}
        return 9, (of, {f"d{kind}": frozenset({kind}) for kind in range(9) if kind % 3 < 2})
    if "bands" in family:
        ends = ([0, *range(3 + later, 36, 3), 36] for later in (0, 1))
        one, other = ({f"{own[0]}": frozenset(range(*own)) for own in pairwise(cuts)} for cuts in ends)
        return 36, (one, other)
    return AGES, (grouped(rng, "g"), grouped(rng, "h"))


def drawn(family: str, number: int) -> tuple[int, tuple[Codes, Codes], list[tuple[int, int, int]], bool]:
    """Kinds of people, the two codings, people (kind, sex, turnover), and whether tables are crossed by sex."""
    rng = np.random.default_rng([number, 59])
    n, codings = two_codings(family.removesuffix("-sums"), rng)
    most = 2 * int(rng.integers(1, 4)) + 12 // n
    people = [(kind, sex) for kind in range(n) for sex in (0, 1) for _ in range(int(rng.integers(0, most + 1)))]
    turnover = np.exp(rng.normal(4, 1, len(people))).astype(int) + 1
    return n, codings, [(*one, int(t)) for one, t in zip(people, turnover, strict=True)], number % 2 == 1


def protected(
    family: str,
    n: int,
    codings: tuple[Codes, Codes],
    people: Sequence[tuple[int, int, int]],
    *,
    crossed: bool,
    **options: Any,
) -> ProtectedTable:
    """The two tables of a case, protected."""
    response = "t" if family.endswith("-sums") else None
    names = [[next((c for c, kinds in own.items() if kind in kinds), None) for kind in range(n)] for own in codings]
    columns = {
        "age": [f"{kind}" for kind, _, _ in people],
        "one": [names[0][kind] for kind, _, _ in people],
        "two": [names[1][kind] for kind, _, _ in people],
        "sex": ["mf"[sex] for _, sex, _ in people],
    }
    codes = {
        "age": [str(kind) for kind in range(n)],
        "one": list(codings[0]),
        "two": list(codings[1]),
        "sex": ["m", "f"],
    }
    keys = (Variable(name, role=Role.KEY, codes=tuple(own)) for name, own in codes.items())
    schema = Schema((*keys, Variable("t", kind=Kind.NUMERIC)))
    types = dict.fromkeys(columns, pl.String) | {"t": pl.Int64}
    data = Microdata.of(pl.DataFrame({**columns, "t": [t for _, _, t in people]}, schema=types), schema)
    specs = []
    for name, own in zip(("one", "two"), codings, strict=True):
        dimension = DimensionSpec(name)
        if family.startswith("ages"):
            children = {code: [f"{kind}" for kind in sorted(kinds)] for code, kinds in own.items()}
            dimension = DimensionSpec(
                "age", trees=(Hierarchy.from_children({"Total": list(own), **children}),), level=1
            )
        specs.append(TableSpec((dimension, DimensionSpec("sex")) if crossed else (dimension,), response=response))
    rules = (PPercent(15), Threshold(3, protection=20)) if response else (Threshold(3, protection=20),)
    return protect_table(data, specs, rules=rules, time_limit=60, **options)


def published(
    family: str, n: int, codings: tuple[Codes, Codes], people: Sequence[tuple[int, int, int]], *, crossed: bool
) -> tuple[PublishedTable, ...]:
    """The two tables of a case."""
    return protected(family, n, codings, people, crossed=crossed).published


def released(family: str, codings: tuple[Codes, Codes], people: Sequence[tuple[int, int, int]]) -> list[PublishedTable]:
    """The two tables of a case, as a ledger releases them one after another."""
    response = 'response = "t"' if family.endswith("-sums") else ""
    rules = '{ rule = "threshold", minimum = 3 }' + (', { rule = "p-percent", p = 15 }' if response else "")
    memory = "memory = true\n" if "memory" in family else ""
    names = [{kind: code for code, kinds in own.items() for kind in kinds} for own in codings]
    rows = [f"{at},{names[0][kind]},{names[1][kind]},{t},{at}" for at, (kind, _, t) in enumerate(people)]
    schema = '[[variable]]\nname = "id"\nrole = "identifier"\n' + "".join(
        f'[[variable]]\nname = "{name}"\nkind = "numeric"\n' for name in ("t", "other")
    )
    versions = ("people", "people" if "versions" not in family else "corrected")
    earlier = '[[ledger.earlier]]\nversion = "people"\npath = "people.csv"\n'
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "office.key").write_text(hashlib.sha256(b"office").hexdigest())
        for version in versions:
            rows[0] += "1" if version == "corrected" else ""
            (folder / f"{version}.csv").write_text("\n".join(["id,one,two,t,other", *rows]) + "\n")
        keys = (
            f'[[variable]]\nname = "{name}"\nrole = "key"\ncodes = {list(own)}\n'
            for name, own in zip(("one", "two"), codings, strict=True)
        )
        (folder / "people.toml").write_text(schema + "".join(keys))
        for name, version in zip(("one", "two"), versions, strict=True):
            plan = (
                f'[data]\npath = "{version}.csv"\nschema = "people.toml"\nsecret = "office.key"\n'
                f'[table]\ndimensions = ["{name}"]\n{response}\nrules = [{rules}]\n'
                f'[output]\npath = "{name}.csv"\n[ledger]\npath = "people.ledger"\nname = "{name}"\n{memory}'
                f'version = "{version}"\n{earlier if version == "corrected" else ""}'
            )
            (folder / f"{name}-plan.toml").write_text(plan)
            release_plan(folder / f"{name}-plan.toml")
        return [read_published_table(folder / f"{name}.csv") for name in ("one", "two")]


def _after_totals(tables: Sequence[PublishedTable]) -> list[range]:
    """The places of the cells of each table behind its total."""
    ends = np.cumsum([0, *(len(table.codes) for table in tables)]).tolist()
    return [range(start + 1, end) for start, end in pairwise(ends)]


def attacked(family: str, number: int) -> Counter[str]:
    """The unsafe differences of a case, and those that are known exactly."""
    ledger = family.startswith("ledger")
    n, codings, people, crossed = drawn(family, number)
    crossed = crossed and not ledger and not family.startswith("bands")
    tables = released(family, codings, people) if ledger else published(family, n, codings, people, crossed=crossed)
    cells: list[tuple[NDArray[np.float64], str]] = []
    for own, table in zip(codings, tables, strict=True):
        for code, state in zip(table.codes, table.status, strict=True):
            kinds = frozenset(range(n)) if code[0] == "Total" else own.get(code[0])
            kinds = frozenset(range(n)) - frozenset().union(*own.values()) if kinds is None else kinds
            sexes = {"m": (0,), "f": (1,)}.get(code[-1] if crossed else "", (0, 1))
            cells.append(
                (np.array([k in kinds and s in sexes for k, s in product(range(n), (0, 1))], dtype=float), state)
            )
    nobody = np.any([row > 0 for row, state in cells if state == EMPTY] or [np.zeros(2 * n, dtype=bool)], axis=0)
    known = np.array([row[~nobody] for row, state in cells if state != HIDDEN])
    have = {row.tobytes() for row, _ in cells}
    wholes = [row for row, _ in cells]
    if family.startswith("bands"):
        wholes = [
            np.sum(wholes[start : at + 1], axis=0) for start, end in ((1, 13), (14, 26)) for at in range(start, end)
        ]
    if ledger:  # neighbouring codes together, of each table
        spans = [(start, at) for own in _after_totals(tables) for start, at in combinations_with_replacement(own, 2)]
        wholes += [np.sum(wholes[start : at + 1], axis=0) for start, at in spans]
    wanted = {}
    for whole in wholes:
        for part in wholes:
            left = whole - part
            if left.any() and left.min() >= 0 and left.tobytes() not in have:
                wanted[left.tobytes()] = left
    found: Counter[str] = Counter(unsafe=0, exactly=0)
    for left in wanted.values():
        sizes = sorted((t for kind, sex, t in people if left[2 * kind + sex]), reverse=True)
        dominated = family.endswith("-sums") and bool(sizes) and 0.15 * sizes[0] > sum(sizes[2:])
        if not sizes or (len(sizes) >= 3 and not dominated):
            continue
        inside = left[~nobody]
        off = inside - known.T @ np.linalg.lstsq(known.T, inside, rcond=None)[0]
        found.update(unsafe=1, exactly=bool(np.abs(off).max() < 1e-7))
    return found


def rates(family: str, plans: int) -> Counter[str]:
    """Plans refused, written and broken, and what is found in them."""
    found: Counter[str] = Counter(refused=0, written=0, broken=0)
    for number in range(plans):
        try:
            one = attacked(family, number)
        except (InfeasibleError, NotProtectedError):
            found["refused"] += 1
            continue
        found.update(one)
        found.update(written=1, broken=one["exactly"] > 0)
    return found


if __name__ == "__main__":
    for chosen in sys.argv[2:] or (*FAMILIES, *LEDGERS):
        sys.stdout.write(f"{chosen}: {dict(rates(chosen, int(sys.argv[1])))}\n")
        sys.stdout.flush()
