"""Linked tables by several codings of one thing, and an attacker with their CSV files who knows which codes go together.

`PYTHONPATH=src:tests python -m attacks.coding_families [CASES] [FAMILY …]` gives the rates. Shares no code with the protectors:
unknown are the numbers of people in each combination of codes that can occur, and two integer programs give the ends of a count.
"""

import csv
import io
import itertools
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy.optimize import LinearConstraint, milp

import reticent as rt
from reticent import methods, rules
from reticent.base.errors import ReticentError
from reticent.data.table import DimensionSpec

MINIMUM = 3
TOTAL = "Total"
Atom = dict[str, str]


@dataclass(frozen=True)
class Case:
    """People in combinations of codes, the tables that are published, and the combinations that everybody knows to be possible.

    `below` has the codes of a variable that a code stands for, where it is not one of them.
    """

    atoms: list[tuple[Atom, int]]
    tables: list[tuple[Any, ...]]
    possible: list[Atom]
    below: dict[tuple[str, str], set[str]] = field(default_factory=dict)

    @property
    def frame(self) -> pl.DataFrame:
        """A row for each of the people; an empty code is missing."""
        rows = [atom for atom, many in self.atoms for _ in range(many)]
        names = list(rows[0])
        columns = {name: [row[name] or None for row in rows] for name in names}
        return pl.DataFrame({"id": range(len(rows)), **columns}, schema_overrides=dict.fromkeys(names, pl.String))


class Reader:
    """What the files say of the number of people in each possible combination; `step` bounds how far counts were changed."""

    def __init__(self, texts: Iterable[str], case: Case, step: int = 0) -> None:
        self.case, self.step = case, step
        self.cells: dict[tuple[tuple[str, str], ...], tuple[str, float]] = {}
        for text in texts:
            for row in csv.DictReader(io.StringIO(text)):
                codes = tuple(
                    sorted((n, c) for n, c in row.items() if n not in ("value", "status", "count") and c != TOTAL)
                )
                self.cells[codes] = (row["status"], float(row["value"] or 0))
        self.rows = {codes: self._row(codes) for codes in self.cells}
        self.limits = [self._limit(codes) for codes in self.cells]
        self.matrix = np.array([self.rows[codes] for codes in self.cells])

    def _row(self, codes: tuple[tuple[str, str], ...]) -> Any:
        below = self.case.below
        return np.array(
            [
                float(all(atom[n] in below.get((n, c), {"" if c == "missing" else c}) for n, c in codes))
                for atom in self.case.possible
            ]
        )

    def _limit(self, codes: tuple[tuple[str, str], ...]) -> tuple[float, float]:
        status, value = self.cells[codes]
        if status == "hidden":
            return 1.0, np.inf
        if status == "empty":
            return 0.0, 0.0
        return max(0.0, value - self.step), value + self.step

    def ends(self, codes: tuple[tuple[str, str], ...]) -> tuple[float, float]:
        """The least and the largest number of people that a cell can have."""
        low, high = (np.array(side) for side in zip(*self.limits, strict=True))
        found = []
        for sign in (1.0, -1.0):
            result = milp(
                sign * self.rows[codes], constraints=LinearConstraint(self.matrix, low, high),
                integrality=np.ones(len(self.case.possible)),
            )  # fmt: skip
            assert result.status in (0, 3, 4), result.message
            found.append(np.inf if result.x is None else sign * result.fun)
        return round(float(found[0]), 6), round(float(found[1]), 6)

    def found(self) -> list[tuple[Any, float, float]]:
        """Unsafe counts that are known too closely: hidden ones that cannot reach the minimum, changed ones exactly."""
        out = []
        for codes, (status, value) in self.cells.items():
            if status == "empty" or (self.step == 0 and status != "hidden"):
                continue
            if self.step and not 0 <= value <= 2 * self.step + MINIMUM:
                continue
            truth = sum(
                many
                for atom, many in self.case.atoms
                if all(atom[n] in self.case.below.get((n, c), {"" if c == "missing" else c}) for n, c in codes)
            )
            if not 0 < truth < MINIMUM:
                continue
            low, high = self.ends(codes)
            assert low <= truth <= high
            if low == high or (not self.step and high < MINIMUM):
                out.append((codes, low, high))
        return out


def _sizes(rng: Any, n: int) -> list[int]:
    return [int(one) for one in rng.choice([1, 1, 2, 2, 4, 7, 11, 15], n)]


def _case(rng: Any, possible: list[Atom], tables: list[tuple[Any, ...]], **more: Any) -> Case:
    return Case(list(zip(possible, _sizes(rng, len(possible)), strict=True)), tables, possible, **more)


def nested(rng: Any) -> Case:
    """Districts and regions, one table each."""
    regions = _split(rng, 5)
    return _case(rng, [{"district": d, "region": regions[d]} for d in regions], [("region",), ("district",)])


def _split(rng: Any, n: int) -> dict[str, str]:
    """Which of some regions each of n districts is in, at least two in the first."""
    return {f"d{at}": f"r{0 if at < 2 else int(rng.integers(0, 3))}" for at in range(n)}


def by_sex(rng: Any) -> Case:
    """Districts and regions, both by sex."""
    regions = _split(rng, 4)
    possible = [{"district": d, "region": regions[d], "sex": s} for d in regions for s in "fm"]
    return _case(rng, possible, [("region", "sex"), ("district", "sex")])


def by_others(rng: Any) -> Case:
    """Regions by sex and districts by age."""
    regions = _split(rng, 3)
    possible = [{"district": d, "region": regions[d], "sex": s, "age": a} for d in regions for s in "fm" for a in "oy"]
    return _case(rng, possible, [("region", "sex"), ("district", "age")])


def three(rng: Any) -> Case:
    """Districts, regions and countries."""
    regions = _split(rng, 6)
    country = {"r0": "n", "r1": "n" if rng.random() < 0.5 else "s", "r2": "s"}
    possible = [{"district": d, "region": r, "country": country[r]} for d, r in regions.items()]
    return _case(rng, possible, [("district",), ("country",), ("region",)])


def partial(rng: Any) -> Case:
    """Districts of which one lies in two regions."""
    regions = _split(rng, 4)
    possible = [{"district": d, "region": r} for d, r in regions.items()]
    possible += [{"district": "d9", "region": r} for r in ("r0", "r1")]
    return _case(rng, possible, [("region",), ("district",)])


def partial_by_sex(rng: Any) -> Case:
    """The same by sex."""
    regions = _split(rng, 3)
    possible = [
        {"district": d, "region": r, "sex": s} for d, r in (*regions.items(), ("d9", "r0"), ("d9", "r1")) for s in "fm"
    ]
    return _case(rng, possible, [("region", "sex"), ("district", "sex")])


def overlapping(rng: Any) -> Case:
    """Old and new districts, of which each lies in one or two of the others."""
    possible = [{"old": f"o{at // 2}", "new": f"n{(at + 1) // 2}"} for at in range(9) if rng.random() < 0.9 or at < 2]
    return _case(rng, possible, [("old",), ("new",)])


def scattered(rng: Any) -> Case:
    """Two codings of which about half the combinations can occur."""
    pairs = [(a, b) for a in range(4) for b in range(4) if a == b or rng.random() < 0.4]
    return _case(rng, [{"one": f"a{a}", "two": f"b{b}"} for a, b in pairs], [("one",), ("two",)])


def partial_three(rng: Any) -> Case:
    """Districts, regions and countries; a district lies in two regions, and a region in two countries."""
    places = [
        ("d0", "r0", "n"),
        ("d1", "r0", "n"),
        ("d2", "r1", "n"),
        ("d2", "r1", "s"),
        ("d3", "r2", "s"),
        ("d4", "r0", "n"),
    ]
    places += [("d4", "r1", "n"), ("d5", "r2", "s")]
    possible = [{"district": d, "region": r, "country": c} for d, r, c in places]
    return _case(rng, possible, [("district",), ("region",), ("country",)])


def apart(rng: Any) -> Case:
    """Three kinds of pensions, of which nobody has two, each in a table of its own."""
    kinds = ["nnn", "ynn", "nyn", "nny"]
    possible = [{"old": one[0], "widow": one[1], "orphan": one[2]} for one in kinds]
    return _case(rng, possible, [("old",), ("widow",), ("orphan",)])


def apart_by_place(rng: Any) -> Case:
    """The same by place."""
    kinds = ["nnn", "ynn", "nyn", "nny"]
    possible = [{"old": one[0], "widow": one[1], "orphan": one[2], "place": p} for one in kinds for p in "ab"]
    return _case(rng, possible, [("old", "place"), ("widow", "place"), ("orphan", "place")])


def four(rng: Any) -> Case:
    """Who works full time, part time or on their own account, and who works at all: four tables that add up together."""
    kinds = ["ynny", "nyny", "nnyy", "nnnn"]
    possible = [{"full": k[0], "part": k[1], "own": k[2], "any": k[3], "sex": s} for k in kinds for s in "fm"]
    return _case(rng, possible, [("full", "sex"), ("part", "sex"), ("own", "sex"), ("any", "sex")])


def classes(rng: Any) -> Case:
    """Two codings of which neither determines the other: classes of some codes of one are classes of some of the other."""
    pairs = [("a", "x"), ("a", "y"), ("b", "x"), ("c", "z"), ("d", "z"), ("d", "w"), ("e", "v")]
    return _case(rng, [{"one": a, "two": b} for a, b in pairs], [("one",), ("two",)])


def missing(rng: Any) -> Case:
    """Districts and regions; of some people the district is not known."""
    regions = _split(rng, 4)
    possible = [{"district": d, "region": r} for d, r in regions.items()]
    possible += [{"district": "", "region": r} for r in sorted(set(regions.values()))]
    return _case(rng, possible, [("region",), ("district",)])


def missing_both(rng: Any) -> Case:
    """Districts and regions; who has no district has no region."""
    regions = _split(rng, 4)
    possible = [{"district": d, "region": r} for d, r in regions.items()] + [{"district": "", "region": ""}]
    return _case(rng, possible, [("region",), ("district",)])


def pair(rng: Any) -> Case:
    """A type that two variables determine together."""
    possible = [{"a": a, "b": b, "type": f"t{(int(a) + 2 * int(b)) % 3}"} for a in "012" for b in "01"]
    return _case(rng, possible, [("a", "b"), ("type",)])


def pair_by_sex(rng: Any) -> Case:
    """The same by sex, where the pairs are crossed with age as well."""
    possible = [{"a": a, "b": b, "type": "x" if a == b else "y", "sex": s} for a in "01" for b in "01" for s in "fm"]
    return _case(rng, possible, [("a", "b", "sex"), ("type", "sex")])


def pair_apart(rng: Any) -> Case:
    """A type that two variables determine together, where no table crosses them."""
    possible = [{"a": a, "b": b, "type": "t" if a == b == "1" else f"u{a}"} for a in "01" for b in "01"]
    return _case(rng, possible, [("a",), ("b",), ("type",)])


def margins(rng: Any) -> Case:
    """Three variables two by two."""
    possible = [{"a": a, "b": b, "c": c} for a in "01" for b in "01" for c in "012"]
    return _case(rng, possible, [("a", "b"), ("b", "c"), ("a", "c")])


def level(rng: Any) -> Case:
    """Districts cut at their first digit, beside zones that add such counties up."""
    zone = {"1": "z", "2": "z", "3": "z" if rng.random() < 0.5 else "w", "4": "w"}
    districts = [f"{c}{d}" for c in "1234" for d in "12"]
    possible = [{"district": d, "zone": zone[d[0]]} for d in districts]
    below = {("district", c): {d for d in districts if d[0] == c} for c in "1234"}
    return _case(rng, possible, [(DimensionSpec("district", digits=(1, 1), level=1),), ("zone",)], below=below)


def product(rng: Any) -> Case:
    """Districts by age and regions by bands of ages."""
    regions, bands = {"d1": "r", "d2": "r", "d3": "s"}, {"1": "y", "2": "y", "3": "o"}
    possible = [{"district": d, "region": r, "age": a, "band": b} for d, r in regions.items() for a, b in bands.items()]
    return _case(rng, possible, [("district", "age"), ("region", "band")])


def flags(rng: Any) -> Case:
    """Who is employed, who is unemployed, and who is either: three variables of which no two add up."""
    kinds = [("y", "n", "y"), ("n", "y", "y"), ("n", "n", "n")]
    possible = [{"employed": e, "unemployed": u, "active": a} for e, u, a in kinds]
    return _case(rng, possible, [("employed",), ("unemployed",), ("active",)])


def flags_by_sex(rng: Any) -> Case:
    """The same by sex."""
    kinds = [("y", "n", "y"), ("n", "y", "y"), ("n", "n", "n")]
    possible = [{"employed": e, "unemployed": u, "active": a, "sex": s} for e, u, a in kinds for s in "fm"]
    return _case(rng, possible, [("employed", "sex"), ("unemployed", "sex"), ("active", "sex")])


def _of_which(many: int) -> list[str]:
    """Flags of which somebody has at most one, and one more that says whether there is any."""
    return ["n" * at + "y" + "n" * (many - 1 - at) + "y" for at in range(many)] + ["n" * (many + 1)]


def five(rng: Any) -> Case:
    """Who works in one of four ways, and who works at all: five tables that add up only together."""
    names = ("full", "part", "own", "family", "any")
    possible = [dict(zip(names, kind, strict=True)) for kind in _of_which(4)]
    return _case(rng, possible, [(name,) for name in names])


def seven_by_sex(rng: Any) -> Case:
    """Seven tables by sex that add up only together."""
    names = ("k1", "k2", "k3", "k4", "k5", "k6", "any")
    possible = [{**dict(zip(names, kind, strict=True)), "sex": s} for kind in _of_which(6) for s in "fm"]
    return _case(rng, possible, [(name, "sex") for name in names])


def apart_five(rng: Any) -> Case:
    """Five benefits of which nobody has two, each in a table of its own."""
    names = ("b1", "b2", "b3", "b4", "b5")
    possible = [dict(zip(names, kind[:-1], strict=True)) for kind in _of_which(5)]
    return _case(rng, possible, [(name,) for name in names])


def wide(rng: Any) -> Case:
    """The industry of employees, of the self-employed, and of all who work: three variables of more than 60 codes."""
    industries = [f"i{at:02}" for at in range(24)]
    possible = [{"employee": i, "own": "none", "any": i} for i in industries]
    possible += [{"employee": "none", "own": i, "any": i} for i in industries]
    possible += [{"employee": "none", "own": "none", "any": "none"}]
    return _case(rng, possible, [("employee",), ("own",), ("any",)])


def together_in_part(rng: Any) -> Case:
    """A district and an age together say the type of some people, each alone says nothing."""
    possible = [{"district": d, "age": a, "type": f"t{(int(d) + int(a)) % 3}"} for d in "012" for a in "012"]
    possible += [{"district": "3", "age": "0", "type": t} for t in ("t0", "t1", "t2")]
    return _case(rng, possible, [("district", "age"), ("type",)])


def together_in_part_by_sex(rng: Any) -> Case:
    """The same by sex."""
    places = [(d, a, f"t{(int(d) + int(a)) % 2}") for d in "01" for a in "01"] + [("2", "0", t) for t in ("t0", "t1")]
    possible = [{"district": d, "age": a, "type": t, "sex": s} for d, a, t in places for s in "fm"]
    return _case(rng, possible, [("district", "age", "sex"), ("type", "sex")])


FAMILIES: dict[str, Callable[[Any], Case]] = {
    one.__name__: one
    for one in (
        nested, by_sex, by_others, three, partial, classes, missing, missing_both, pair, pair_by_sex, pair_apart, margins,
        level, product, flags, flags_by_sex, partial_by_sex, overlapping, scattered, partial_three, apart, apart_by_place, four,
        five, seven_by_sex, apart_five, wide, together_in_part, together_in_part_by_sex,
    )
}  # fmt: skip
METHODS: dict[str, tuple[Any, int]] = {
    "optimal": (methods.Optimal(), 0),
    "heuristic": (methods.Heuristic(), 0),
    "random-rounding": (methods.RandomRounding(base=3), 2),
}


def case_of(family: str, number: int) -> Case:
    """A case of a family by its number."""
    return FAMILIES[family](np.random.default_rng([number, *family.encode()]))


def published(case: Case, method: Any, folder: Path, engine: str | None = None, secret: int = 7) -> list[str] | None:
    """The files that are published; None where the tables are refused."""
    names = [name for name in case.frame.columns if name != "id"]
    frame = case.frame
    if engine is None:
        data: Any = rt.load(frame, keys=names, identifiers=["id"])
    else:
        frame.write_parquet(folder / "people.parquet")
        data = rt.load(folder / "people.parquet", keys=names, identifiers=["id"], engine=engine)
    first, *others = (data.tabulate(*table) for table in case.tables)
    try:
        run = first.linked(*others).protect(
            rules=[rules.Threshold(MINIMUM)], method=method, secret=secret, test_secret=True
        )
        tables = run.release_all()
    except ReticentError:
        return None
    texts = []
    for at, table in enumerate(tables):
        table.write(folder / f"{at}.csv")
        texts.append((folder / f"{at}.csv").read_text())
    return texts


def rate(family: str, name: str, cases: int, engine: str | None = None) -> tuple[int, int, int]:
    """Cases that are published, of these those that give an unsafe count away, and those refused."""
    method, step = METHODS[name]
    out = leaks = refused = 0
    for number in range(cases):
        case = case_of(family, number)
        with tempfile.TemporaryDirectory() as folder:
            texts = published(case, method, Path(folder), engine)
        if texts is None:
            refused += 1
            continue
        out += 1
        leaks += bool(Reader(texts, case, step).found())
    return out, leaks, refused


def main(arguments: Sequence[str]) -> None:
    """Print the rates of families in memory and in an engine."""
    cases = int(arguments[0]) if arguments else 20
    for family, name in itertools.product(arguments[1:] or FAMILIES, METHODS):
        for engine in (None, "duckdb") if family in ("nested", "three") else (None,):
            out, leaks, refused = rate(family, name, cases, engine)
            sys.stdout.write(f"{family:14} {name:16} {engine or 'memory':7} {leaks} of {out} leak, {refused} refused\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
