"""Tables of sums whose hidden cells belong together; `python table_sum_cases.py FOLDER` writes what a version publishes.

The fixtures in fixtures/v010/table_sums are what version 0.1.0 wrote for these cases.
"""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

METHODS = ("elimination", "heuristic", "hypercube", "modular", "network", "optimal")
ROWS, COLUMNS = ("a", "b", "c", "d"), ("1", "2", "3", "4")


def cases() -> Iterator[str]:
    """Names of all cases."""
    yield from (f"holding-{method}" for method in METHODS)
    yield "pair"


def firms(case: str) -> list[tuple[str, str, str, int]]:
    """The firms of a case: row, column, holding and turnover; every cell but a few has five firms."""
    kind = case.partition("-")[0]
    small = {
        # one holding is alone in two cells of a row
        "holding": {("a", "1"): [("H", 400)], ("a", "2"): [("H", 300)]},
        # two cells of a row have two firms each, one of them the same: three in all, where five are asked for
        "pair": {("a", "1"): [("P", 90), ("Q", 80)], ("a", "2"): [("P", 70), ("R", 95)]},
    }[kind]
    found = []
    for at, row in enumerate(ROWS):
        for place, column in enumerate(COLUMNS):
            lone = [(f"{row}{column}{n}", 50 + 7 * n + 3 * at + place) for n in range(6)]
            found += [(row, column, name, size) for name, size in small.get((row, column), lone)]
    return found


def family(number: int) -> list[tuple[str, str, str, int]]:
    """The firms of a generated table: one is alone in two cells of a row, others are in several cells, too."""
    rng = np.random.default_rng(number)
    mine = {(str(rng.choice(ROWS)), str(column)) for column in rng.permutation(COLUMNS)[:1]}
    mine |= {(next(iter(mine))[0], str(column)) for column in rng.permutation(COLUMNS)[:2]}
    found = [(row, column, "H", int(rng.integers(100, 400))) for row, column in sorted(mine)]
    for row in ROWS:
        for column in COLUMNS:
            if (row, column) in mine:
                continue
            for _ in range(rng.choice([1, 2, 5, 6, 7], p=[0.15, 0.15, 0.2, 0.25, 0.25])):
                firm = f"H{rng.integers(4)}" if rng.random() < 0.2 else f"F{len(found)}"
                found.append((row, column, firm, int(rng.lognormal(4, 0.7)) + 1))
    return found


def plan_of(case: str) -> str:
    """The plan of a case."""
    method = case.partition("-")[2] or "optimal"
    minimum = 5 if case == "pair" else 3
    return (
        f'[data]\npath = "data.csv"\nschema = "schema.toml"\n[table]\ndimensions = ["row", "col"]\nresponse = "turnover"\n'
        f'rules = [{{ rule = "threshold", minimum = {minimum} }}, {{ rule = "p-percent", p = 10 }}]\n'
        f'[protect]\nmethod = "{method}"\ntime_limit = 20\n[output]\npath = "out.csv"\n'
    )


def publish(case: str, folder: Path) -> str:
    """What is published of a case."""
    return _publish(firms(case), plan_of(case), folder)


def publish_firms(records: list[tuple[str, str, str, int]], folder: Path, *, method: str = "heuristic") -> str:
    """What is published of these firms, nothing where it is refused."""
    from reticent.base.errors import ReticentError

    try:
        return _publish(records, plan_of(f"any-{method}"), folder)
    except ReticentError:
        return ""


def _publish(records: list[tuple[str, str, str, int]], plan: str, folder: Path) -> str:
    from reticent.jobs.protect_table import run_table_plan

    lines = ["row,col,firm,turnover", *(f"{r},{c},{f},{t}" for r, c, f, t in records)]
    (folder / "data.csv").write_text("\n".join(lines) + "\n")
    (folder / "schema.toml").write_text(
        '[[variable]]\nname = "row"\nrole = "key"\n[[variable]]\nname = "col"\nrole = "key"\n'
        '[[variable]]\nname = "firm"\nrole = "entity"\n[[variable]]\nname = "turnover"\nkind = "numeric"\n'
    )
    (folder / "plan.toml").write_text(plan)
    run_table_plan(folder / "plan.toml")
    return (folder / "out.csv").read_text()


if __name__ == "__main__":
    for name in cases():
        with tempfile.TemporaryDirectory() as temporary:
            (Path(sys.argv[1]) / f"{name}.csv").write_text(publish(name, Path(temporary)))
