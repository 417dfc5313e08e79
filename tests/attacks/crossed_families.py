"""Tables of which those of another response show more variables together: `python -m attacks.crossed_families 40` (and a family).

Cells of another response that are empty or not say who may be where, also by variables that no table of a response has together
or has at all. Families:

- `chain`: counts by a and by c, turnover by a × b and by b × c; `chain-responses`: the same, employees by b × c;
- `lacking`: counts by a, wages of men by a × b, wages of women by a × b;
- `triangle`: turnover by each two of a, b and c, counts by all three; `alone`: the same without counts; `alone-counts`: counts
  by each two; `shown`: turnover by a × b and by b × c, counts by a × c;
- `square`: turnover by a × b, b × c, c × d and a × d; `square-counts`: counts by the same;
- `some-missing`: turnover by a and by b, of which some people have none, counts by a × b.

The attacker has the published tables, an unknown for each combination of codes, and two programs for each hidden unsafe cell.
"""

import itertools
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

from reticent.base.errors import InfeasibleError
from reticent.data.microdata import Microdata
from reticent.data.published_table import EMPTY, HIDDEN, PUBLISHED, PublishedTable
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.jobs.protect_table import protect_table
from reticent.tables.rules import PPercent, Threshold

MINIMUM = 3
RULES = (PPercent(15), Threshold(MINIMUM, protection=20))
NAMES = "abcd"
COLUMNS = (*NAMES, "t", "e")
_NEAR = 1e-4  # how far from the true end a program may stop
Person = tuple[int, int, int, int, int | None, int | None]


@dataclass(frozen=True)
class Family:
    """Tables by variables and responses, sizes of the variables, shares of combinations without people, most people in one."""

    tables: Sequence[tuple[str, str | None]]
    sizes: tuple[int, int, int, int]
    empty: tuple[float, ...]
    most: tuple[int, ...]
    asked: str = "all"


SPARSE = (0.7, 0.8, 0.85), (1, 2)
DENSE = (0.3, 0.5, 0.7), (2, 3, 4)
WIDE = (0.8, 0.85, 0.9), (1, 2)
FAMILIES: Mapping[str, Family] = {
    "chain": Family([("a", None), ("c", None), ("ab", "t"), ("bc", "t")], (3, 3, 3, 1), *SPARSE),
    "chain-responses": Family([("a", None), ("c", None), ("ab", "t"), ("bc", "e")], (3, 3, 3, 1), *SPARSE),
    "lacking": Family([("a", None), ("ab", "t"), ("ab", "e")], (3, 4, 1, 1), *SPARSE, asked="either"),
    "triangle": Family([("ab", "t"), ("bc", "t"), ("ac", "t"), ("abc", None)], (3, 3, 3, 1), *DENSE),
    "alone": Family([("ab", "t"), ("bc", "t"), ("ac", "t")], (3, 3, 3, 1), *DENSE),
    "alone-counts": Family([("ab", None), ("bc", None), ("ac", None)], (3, 3, 3, 1), *DENSE),
    "shown": Family([("ab", "t"), ("bc", "t"), ("ac", None)], (3, 3, 3, 1), *DENSE),
    "square": Family([(names, "t") for names in ("ab", "bc", "cd", "ad")], (3, 3, 3, 3), *WIDE),
    "square-counts": Family([(names, None) for names in ("ab", "bc", "cd", "ad")], (3, 3, 3, 3), *WIDE),
    "some-missing": Family([("a", "t"), ("b", "t"), ("ab", None)], (4, 4, 1, 1), *DENSE, asked="some"),
}


def drawn(family: Family, rng: np.random.Generator) -> list[Person]:
    """People of each combination, and what each has of the two responses."""
    empty, most = float(rng.choice(family.empty)), int(rng.choice(family.most))
    people: list[Person] = []
    for a, b, c, d in itertools.product(*map(range, family.sizes)):
        for _ in range(int(rng.integers(1, most + 1)) if rng.random() > empty else 0):
            t, e = np.exp(rng.normal(4, 1, 2)).astype(int).tolist()
            first = family.asked == "all" or bool(rng.random() < (0.5 if family.asked == "either" else 0.7))
            people.append((a, b, c, d, t if first else None, e if family.asked == "all" or not first else None))
    return people or [(0, 0, 0, 0, 50, 60)]


def published(family: Family, people: Sequence[Person]) -> list[PublishedTable]:
    """The tables of a family."""
    rows = [(f"a{a}", f"b{b}", f"c{c}", f"d{d}", t, e) for a, b, c, d, t, e in people]
    keys = (
        Variable(name, role=Role.KEY, codes=tuple(f"{name}{j}" for j in range(size)))
        for name, size in zip(NAMES, family.sizes, strict=True)
    )
    schema = Schema((*keys, Variable("t", kind=Kind.NUMERIC), Variable("e", kind=Kind.NUMERIC)))
    types = dict.fromkeys(NAMES, pl.String) | dict.fromkeys("te", pl.Int64)
    data = Microdata.of(pl.DataFrame(rows, schema=types, orient="row"), schema)
    specs = [TableSpec(tuple(DimensionSpec(name) for name in names), response=of) for names, of in family.tables]
    rules = RULES if any(of for _, of in family.tables) else RULES[1:]
    return list(protect_table(data, specs, rules=rules, time_limit=60).published)


class Reader:
    """What the published tables say of the combinations of codes, in people or in one of the responses."""

    def __init__(self, family: Family, tables: Sequence[PublishedTable]) -> None:
        self.inner = list(itertools.product(*map(range, family.sizes)))
        self.cells = [
            (of, self.within(names, codes), state, value)
            for (names, of), table in zip(family.tables, tables, strict=True)
            for codes, state, value in zip(table.codes, table.status, table.values.tolist(), strict=True)
        ]
        full = family.asked == "all"
        self.nobody = np.zeros(len(self.inner), dtype=bool)
        for of, inside, state, _ in self.cells:
            if state == EMPTY and (full or of is None):
                self.nobody |= inside > 0

    def within(self, names: Sequence[str], codes: Sequence[str]) -> NDArray[np.float64]:
        """Which combinations a cell of a table contains."""
        given = {name: int(code[1:]) for name, code in zip(names, codes, strict=True) if code != "Total"}
        places = [dict(zip(NAMES, at, strict=True)) for at in self.inner]
        return np.array([all(at[name] == code for name, code in given.items()) for at in places], dtype=float)

    def ends(self, of: str | None, wanted: NDArray[np.float64]) -> tuple[float, float]:
        """The least and the largest value of a cell."""
        rows: list[NDArray[np.float64]] = []
        low: list[float] = []
        high: list[float] = []
        for response, inside, state, value in self.cells:
            if response == of and state in (PUBLISHED, EMPTY):
                known = 0.0 if state == EMPTY else value
                rows, low, high = [*rows, inside], [*low, known], [*high, known]
            elif of is None and state != EMPTY:
                rows, low, high = [*rows, inside], [*low, 1.0], [*high, np.inf]
        most = np.where(self.nobody, 0.0, 1e3 if of is None else 1e6)
        found = []
        for side in (1.0, -1.0):
            one = milp(
                side * wanted, constraints=LinearConstraint(np.array(rows), low, high), bounds=Bounds(0.0, most),
                integrality=np.full(len(self.inner), of is None, dtype=np.int64),
            )  # fmt: skip
            assert one.fun is not None
            found.append(side * one.fun)
        return found[0], found[1]


def _wanted(sizes: list[int], *, people: bool) -> tuple[float, float] | None:
    """What the interval of an unsafe cell must reach."""
    if people:
        return (float(len(sizes)), MINIMUM) if 0 < len(sizes) < MINIMUM else None
    sizes.sort(reverse=True)
    level = 0.15 * sizes[0] - sum(sizes[2:]) if sizes else 0.0
    if level <= 0 and len(sizes) < MINIMUM:
        level = 0.2 * sum(sizes)
    return (max(0.0, sum(sizes) - level), sum(sizes) + level) if level > 0 else None


def attacked(name: str, number: int) -> Counter[str]:
    """Hidden unsafe cells of a case, and those that are known exactly or more closely than they may be."""
    family = FAMILIES[name]
    people = drawn(family, np.random.default_rng([number, 57]))
    reader = Reader(family, published(family, people))
    found: Counter[str] = Counter(unsafe=0, exactly=0, closely=0)
    for of, inside, state, _ in reader.cells:
        own = [one for one in people if inside[reader.inner.index(one[:4])]]
        sizes = [value for one in own if (value := 1 if of is None else one[COLUMNS.index(of)]) is not None]
        wanted = _wanted(sizes, people=of is None) if state == HIDDEN else None
        if wanted is not None:
            low, high = reader.ends(of, inside)
            closely = low > wanted[0] + _NEAR or high < wanted[1] - _NEAR
            found.update(unsafe=1, exactly=high - low < _NEAR, closely=closely)
    return found


def rates(name: str, tables: int) -> Counter[str]:
    """Plans refused, written and broken, and what is found in them."""
    found: Counter[str] = Counter(refused=0, written=0, broken=0)
    for number in range(tables):
        try:
            one = attacked(name, number)
        except InfeasibleError:
            found["refused"] += 1
            continue
        found.update(one)
        found.update(written=1, broken=one["closely"] > 0)
    return found


if __name__ == "__main__":
    for chosen in sys.argv[2:] or FAMILIES:
        sys.stdout.write(f"{chosen}: {dict(rates(chosen, int(sys.argv[1])))}\n")
        sys.stdout.flush()
