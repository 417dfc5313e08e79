"""Tables of counts for attacks on what is published; `python table_count_cases.py FOLDER` writes what a version publishes.

The fixtures in fixtures/v010/table_counts are what version 0.1.0 wrote for these cases.
"""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

METHODS = ("elimination", "heuristic", "hypercube", "modular", "network", "optimal")
SMALLEST = {"a": (1, 1, 1, 0), "b": (5, 7, 6, 9), "c": (6, 8, 4, 3)}
"""A row of three people in three cells and an empty one: whoever knows that nobody hidden is absent knows all three."""


def cases() -> Iterator[str]:
    """Names of all cases."""
    yield from (f"smallest-{method}" for method in METHODS)
    yield from ("weighted", "finished", "linked", "groups")


def publish(case: str, folder: Path, *, options: str = "") -> dict[str, str]:
    """What is published of a case, by file name: a plan is written into the folder and run."""
    from reticent.jobs.protect_table import run_table_plan

    kind, _, method = case.partition("-")
    {"smallest": _smallest, "weighted": _weighted, "finished": _finished, "linked": _linked, "groups": _groups}[kind](
        folder, f'[protect]\nmethod = "{method or "optimal"}"\ntime_limit = 20\n{options}\n[output]\npath = "out.csv"\n'
    )
    run_table_plan(folder / "plan.toml")
    return {path.name: path.read_text() for path in sorted(folder.glob("out*.csv"))}


def _records(counts: dict[str, tuple[int, ...]]) -> list[tuple[str, str]]:
    return [(row, str(at + 1)) for row, line in counts.items() for at, n in enumerate(line) for _ in range(n)]


def _write(folder: Path, names: str, rows: list[tuple[str, ...]], schema: str, tables: str) -> None:
    (folder / "data.csv").write_text("\n".join([names, *(",".join(row) for row in rows)]) + "\n")
    (folder / "schema.toml").write_text(schema)
    (folder / "plan.toml").write_text('[data]\npath = "data.csv"\nschema = "schema.toml"\n' + tables)


def _schema(*names: str) -> str:
    return "".join(f'[[variable]]\nname = "{name}"\nrole = "key"\n' for name in names)


_RULES = 'rules = [{ rule = "threshold", minimum = 3 }]\n'
_TABLE = '[table]\ndimensions = ["row", "col"]\n' + _RULES


def _smallest(folder: Path, protect: str) -> None:
    _write(folder, "row,col", _records(SMALLEST), _schema("row", "col"), _TABLE + protect)


def _weighted(folder: Path, protect: str) -> None:
    """Every weight is 10, as everybody knows who knows the design."""
    rows = [(*pair, "10") for pair in _records(SMALLEST)]
    schema = _schema("row", "col") + '[[variable]]\nname = "w"\nrole = "weight"\nkind = "numeric"\n'
    _write(folder, "row,col,w", rows, schema, _TABLE + "weighted = true\n" + protect)


def _finished(folder: Path, protect: str) -> None:
    lines = ["row,col,people,n"]
    inner = {(row, str(at + 1)): n for row, line in SMALLEST.items() for at, n in enumerate(line)}
    for row in ("Total", *SMALLEST):
        for col in ("Total", "1", "2", "3", "4"):
            n = sum(v for (r, c), v in inner.items() if row in ("Total", r) and col in ("Total", c))
            lines.append(f"{row},{col},{n},{n}")
    (folder / "data.csv").write_text("\n".join(lines) + "\n")
    table = '[table]\ndimensions = ["row", "col"]\nfinished = { value = "people", count = "n" }\n' + _RULES
    (folder / "plan.toml").write_text('[data]\npath = "data.csv"\n' + table + protect)


def _linked(folder: Path, protect: str) -> None:
    rows = [(*pair, "xyz"[at % 3]) for at, pair in enumerate(_records(SMALLEST))]
    tables = "".join(f"[[table]]\ndimensions = [{names}]\n{_RULES}" for names in ('"row", "col"', '"row", "kind"'))
    _write(folder, "row,col,kind", rows, _schema("row", "col", "kind"), tables + protect)


def _groups(folder: Path, protect: str) -> None:
    """Rows in two groups, with subtotals."""
    counts = {"11": (1, 1, 1, 0), "12": (5, 7, 6, 9), "21": (6, 8, 4, 3), "22": (4, 3, 7, 5)}
    tree = "hierarchy = { digits = [1, 1] }\n"
    schema = '[[variable]]\nname = "row"\nrole = "key"\n' + tree + _schema("col")
    _write(folder, "row,col", _records(counts), schema, _TABLE + protect)


def family(number: int) -> dict[str, tuple[int, ...]]:
    """The counts of a generated table: few people in three to five rows and columns, some cells empty."""
    rng = np.random.default_rng(number)
    shape = rng.integers(3, 6, 2)
    return {f"r{at}": tuple(int(n) for n in line) for at, line in enumerate(rng.poisson(rng.uniform(1, 5), shape))}


def publish_counts(counts: dict[str, tuple[int, ...]], folder: Path, *, method: str = "heuristic") -> str:
    """What is published of a table of these counts, nothing where it is refused."""
    from reticent.base.errors import ReticentError
    from reticent.jobs.protect_table import run_table_plan

    protect = f'[protect]\nmethod = "{method}"\ntime_limit = 20\n[output]\npath = "out.csv"\n'
    _write(folder, "row,col", _records(counts), _schema("row", "col"), _TABLE + protect)
    try:
        run_table_plan(folder / "plan.toml")
    except ReticentError:
        return ""
    return (folder / "out.csv").read_text()


if __name__ == "__main__":
    for name in cases():
        with tempfile.TemporaryDirectory() as temporary:
            for file, text in publish(name, Path(temporary)).items():
                (Path(sys.argv[1]) / f"{name}-{file}").write_text(text)
