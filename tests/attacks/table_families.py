"""Generated families of tables for attacks from the file: records, a plan, and the truth by code of its own.

Nothing here comes from the protecting code: unsafe cells and their levels are worked out from the records again.
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from attacks.file_reader import TOTAL, Cell

FAMILIES = (
    "counts",
    "zeros",
    "magnitudes",
    "weights",
    "linked",
    "hierarchy",
    "responses",
    "small",
    "small-magnitudes",
    "linked-counts",
    "sums-and-counts",
)
COUNTS = ("counts", "zeros", "weights", "hierarchy", "small", "linked-counts")
MINIMUM, PERCENT, P = 3, 20.0, 15.0
RULES = {
    True: f'[{{ rule = "threshold", minimum = {MINIMUM}, protection = {PERCENT:g} }}]',
    False: f'[{{ rule = "p-percent", p = {P:g} }}, {{ rule = "threshold", minimum = {MINIMUM}, protection = {PERCENT:g} }}]',
}


@dataclass(frozen=True)
class Records:
    """One generated file: codes by dimension, numbers by response, a weight for each record."""

    family: str
    tables: tuple[tuple[str, ...], ...]
    codes: Mapping[str, tuple[str, ...]]
    numbers: Mapping[str, tuple[int, ...]]
    weights: tuple[float, ...] = ()
    listed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    parents: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def responses(self) -> tuple[str, ...]:
        """What is published: the numbers, a count, or both."""
        return (*self.numbers, "count") if self.family == "sums-and-counts" else tuple(self.numbers) or ("count",)

    @property
    def n(self) -> int:
        """Number of records."""
        return len(next(iter(self.codes.values())))


@dataclass(frozen=True)
class Truth:
    """A true cell: value, respondents, and for unsafe cells the levels below and above (else nothing)."""

    value: float
    count: int
    levels: tuple[float, float] | None
    alone: int = -1


def generate(family: str, number: int) -> Records:
    """The table of that number in a family; small ones have at most 8 cells."""
    rng = np.random.default_rng([FAMILIES.index(family), number])
    if family == "small":
        return _small(rng, magnitudes=False)
    if family == "small-magnitudes":
        return _small(rng, magnitudes=True)
    shape = (int(rng.integers(2, 5)), int(rng.integers(2, 4)))
    mean = {"counts": 3.0, "zeros": 0.9, "hierarchy": 2.0}.get(family, 2.5)
    regions = (
        [f"{1 + r % 2}{r}" for r in range(shape[0])] if family == "hierarchy" else [f"r{r}" for r in range(shape[0])]
    )
    sizes = [f"s{s}" for s in range(shape[1])]
    pairs = [
        pair
        for place, pair in zip(np.ndindex(shape), itertools.product(regions, sizes))
        for _ in range(rng.poisson(mean * (1 + (sum(place) % 3))))
    ] or [(regions[0], sizes[0])]
    codes = {"region": tuple(r for r, _ in pairs), "size": tuple(s for _, s in pairs)}
    listed = {"region": tuple(regions), "size": tuple(sizes)}
    tables: tuple[tuple[str, ...], ...] = (("region", "size"),)
    if family.startswith("linked"):
        kinds = ("k0", "k1", "k2")
        codes["kind"] = tuple(kinds[k] for k in rng.integers(0, 3, len(pairs)))
        listed["kind"], tables = kinds, (("region", "size"), ("region", "kind"))
    numbers: dict[str, tuple[int, ...]] = {}
    if family in ("magnitudes", "linked", "responses", "sums-and-counts"):
        numbers["turnover"] = tuple(int(x) + 1 for x in rng.lognormal(3, 1.2, len(pairs)))
    if family == "responses":
        share = rng.random(len(pairs))
        home = tuple(int(t * s) for t, s in zip(numbers["turnover"], share, strict=True))
        numbers |= {"home": home, "abroad": tuple(t - h for t, h in zip(numbers["turnover"], home, strict=True))}
    weights = tuple(float(w) for w in rng.integers(2, 9, len(pairs)) / 2) if family == "weights" else ()
    parents = {"region": {region: region[0] for region in regions}} if family == "hierarchy" else {}
    return Records(family, tables, codes, numbers, weights, listed, parents)


def _small(rng: np.random.Generator, *, magnitudes: bool) -> Records:
    """A row of parts and its total: at most 8 cells."""
    parts = int(rng.integers(2, 8))
    codes = [f"c{part}" for part in range(parts)]
    sizes = rng.poisson(rng.choice([0.8, 1.5, 3.0, 6.0]), parts)
    sizes[0] = max(1, sizes[0])
    column = tuple(code for code, size in zip(codes, sizes, strict=True) for _ in range(size))
    numbers = {"turnover": tuple(int(x) + 1 for x in rng.lognormal(3, 1.2, len(column)))} if magnitudes else {}
    family = "small-magnitudes" if magnitudes else "small"
    return Records(family, (("part",),), {"part": column}, numbers, (), {"part": tuple(codes)})


def members_of(records: Records) -> dict[frozenset[tuple[str, str]], set[int]]:
    """The records of every cell that the tables show; cells without records are left out."""
    members: dict[frozenset[tuple[str, str]], set[int]] = {}
    for names in records.tables:
        for record in range(records.n):
            paths = [_path(records, name, record) for name in names]
            for codes in itertools.product(*paths):
                place = frozenset((n, c) for n, c in zip(names, codes, strict=True) if c != TOTAL)
                members.setdefault(place, set()).add(record)
    return members


def truth_of(records: Records) -> dict[Cell, Truth]:
    """Every true cell with records, judged by the rules of the plan."""
    members = members_of(records).items()
    return {
        (response, place): judged(records, response, rows) for response in records.responses for place, rows in members
    }


def _path(records: Records, name: str, record: int) -> list[str]:
    """A record's code in a dimension and everything above it."""
    path = [records.codes[name][record]]
    above = records.parents.get(name, {})
    while path[-1] in above:
        path.append(above[path[-1]])
    return [*path, TOTAL]


def judged(records: Records, response: str, rows: set[int]) -> Truth:
    """The sum over a set of records, and its levels if it is unsafe."""
    alone = next(iter(rows)) if len(rows) == 1 else -1
    if response == "count":
        value = sum(records.weights[row] for row in rows) if records.weights else float(len(rows))
        level = max(value * PERCENT / 100, 0.5 if records.weights else 1.0) if len(rows) < MINIMUM else None
        # an interval must also reach the smallest count that is safe
        return Truth(value, len(rows), None if level is None else (level, max(level, MINIMUM - value)), alone)
    sizes = sorted((records.numbers[response][row] for row in rows), reverse=True)
    value = float(sum(sizes))
    rest = value - sum(sizes[:2])
    if sizes[0] > 0 and P * sizes[0] > 100 * rest:
        level = max(P / 100 * sizes[0] - rest, 1.0)
    elif len(rows) < MINIMUM:
        level = max(value * PERCENT / 100, 1.0) if value else 1.0
    else:
        return Truth(value, len(rows), None, alone)
    return Truth(value, len(rows), (min(level, value), level), alone)


def write_inputs(records: Records, folder: Path, protect: Mapping[str, object]) -> Path:
    """Records, schema and plan as files; the path of the plan."""
    folder.mkdir(parents=True, exist_ok=True)
    columns = {"id": tuple(f"f{n:04d}" for n in range(records.n)), **records.codes, **records.numbers}
    if records.weights:
        columns["w"] = records.weights
    lines = [",".join(columns), *(",".join(str(item) for item in row) for row in zip(*columns.values(), strict=True))]
    (folder / "data.csv").write_text("\n".join(lines) + "\n")
    (folder / "schema.toml").write_text(_schema(records))
    (folder / "secret.key").write_text("8f3a61d20c5be94717aa90e4c86f2b53d1097e3cb8254f60a97d1ce2305b84f6\n")
    (folder / "plan.toml").write_text(_plan(records, protect))
    return folder / "plan.toml"


def _schema(records: Records) -> str:
    parts = ['[[variable]]\nname = "id"\nrole = "identifier"\n']
    for name in records.codes:
        codes = ", ".join(f'"{code}"' for code in records.listed[name])
        tree = "hierarchy = { digits = [1, 1] }\n" if name in records.parents else ""
        parts.append(f'[[variable]]\nname = "{name}"\nrole = "key"\ncodes = [{codes}]\n{tree}')
    parts += [f'[[variable]]\nname = "{name}"\nkind = "numeric"\ndecimals = 0\n' for name in records.numbers]
    if records.weights:
        parts.append('[[variable]]\nname = "w"\nrole = "weight"\nkind = "numeric"\n')
    return "\n".join(parts)


def _plan(records: Records, protect: Mapping[str, object]) -> str:
    response = ""
    if len(records.responses) > 1:
        response = f"responses = [{', '.join(repr(name) for name in records.responses)}]\n".replace("'", '"')
    elif records.numbers:
        response = 'response = "turnover"\n'
    weighted = "weighted = true\n" if records.weights else ""
    tables = [
        f"[[table]]\ndimensions = [{', '.join(chr(34) + name + chr(34) for name in names)}]\n{response}{weighted}"
        f"rules = {RULES[not records.numbers]}\n"
        for names in records.tables
    ]
    options = "\n".join(f"{name} = {_toml(value)}" for name, value in protect.items())
    return (
        '[data]\npath = "data.csv"\nschema = "schema.toml"\nsecret = "secret.key"\n\n' + "\n".join(tables) +
        f'\n[protect]\n{options}\n\n[output]\npath = "table.csv"\npublic_report = "public.html"\nsummary = "summary.json"\n'
    )  # fmt: skip


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{value}"' if isinstance(value, str) else f"{value}"


def output_files(records: Records, folder: Path) -> list[tuple[str, Path]]:
    """The CSV files that the plan writes, with their response."""
    found = []
    for response in records.responses:
        stem = f"table-{response}" if len(records.responses) > 1 else "table"
        if len(records.tables) == 1:
            found.append((response, folder / f"{stem}.csv"))
        else:
            found += [(response, folder / f"{stem}-{n}.csv") for n in range(1, len(records.tables) + 1)]
    return found


def summary_files(records: Records, folder: Path) -> list[tuple[str, Path]]:
    """The confidential summaries, with their response."""
    if len(records.responses) == 1:
        return [(records.responses[0], folder / "summary.json")]
    return [(response, folder / f"summary-{response}.json") for response in records.responses]
