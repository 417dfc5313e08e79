# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.joint_ledger [--answers N] [--folder F] [--unlimited]`: what judging releases together costs, on Adult.

Three tables of about 1,500 cells (two of counts, one of sums of age), one file (recoded keys, 5 % of the records with a blank,
years of school rounded) and 300 honest questions (`examples/adult_workload.py`) go through one ledger. Then a fourth table is
judged with all of it, and a new process starts from the ledger. A process is warm once a count and a mean were asked for: the
first of each works out what was released before, which is in the time of the new process. Which cells are hidden is chosen
here, by boxes of cells, because only judging is measured. Times are processor times; steps, not seconds, limit the work. A
folder that is given is kept, and what was released there stays. With `--unlimited` each question that was refused together with
the rest is judged again with ten times the steps (not counted in the times): what is safe then was refused for want of steps.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from itertools import product
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import polars as pl

from reticent.base.randomness import release_secret
from reticent.data.facts import Facts
from reticent.data.microdata import Microdata
from reticent.data.plan import LedgerSection
from reticent.data.published import release_file
from reticent.data.published_table import COUNT, HIDDEN, MAGNITUDE, PUBLISHED, PublishedTable
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.history.answers import Beside
from reticent.history.file_recipe import FileRecipe
from reticent.history.table_recipe import ShownTable, TableRecipe
from reticent.jobs.answer_query import open_database, read_database_file, read_version
from reticent.jobs.release_book import Where, open_book
from reticent.jobs.starter import new_secret
from reticent.microdata.mask.local_suppression import LocalSuppression
from reticent.microdata.mask.recode import Recode
from reticent.microdata.mask.round_values import RoundValues
from reticent.releases.joint import JointSystem
from reticent.releases.programs import Limits
from reticent.releases.verdict import JointVerdict
from reticent.tabulation.tabulate import tabulate

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))
import adult_workload

CODES = (*adult_workload.FILTERS, "band")
TABLES = {
    "T1": (("education", "occupation", "race"), None),
    "T2": (("workclass", "marital", "band"), None),
    "T3": (("marital", "occupation", "education"), "age"),
    "T4": (("sex", "occupation", "band"), None),
}
TOGETHER = {"sex": 1, "race": 1, "marital": 2, "workclass": 3, "education": 4}
NUMBERS = ("age", "rich", "school")
BASE, FEW = 5, 3
FIRST = ("SELECT COUNT(*) FROM data WHERE occupation = '{}'", "SELECT AVG(age) FROM data WHERE occupation = '{}'")
"""What follows from the tables, asked for to make a process warm."""
DATABASE = f"""
[data]
path = "adult.csv"
schema = "adult.schema.toml"
secret = "secret.key"
[ledger]
path = "adult.ledger"
[policy]
filters = {json.dumps(adult_workload.FILTERS)}
responses = ["age", "rich", "school"]
minimum = {FEW}
"""


def main() -> None:
    """Release, ask, judge once more, start again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=300)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--cold", action="store_true", help="only start from the ledger: ask one question")
    parser.add_argument(
        "--unlimited", action="store_true", help="judge what is refused again, with ten times the steps"
    )
    options = parser.parse_args()
    if options.cold:
        ask(options.folder, [], first="Tech-support")
        return
    with tempfile.TemporaryDirectory() as made:
        folder = options.folder or Path(made)
        table = prepare(folder)
        for name in ("T1", "T3", "F", "T2"):
            release(folder, name)
        ask(folder, [text for _, text in adult_workload.questions(table)][: options.answers], again=options.unlimited)
        release(folder, "T4", only_judge=True)
        cold(folder)


def cold(folder: Path) -> None:
    """A new process until its first answer."""
    began = os.times()
    command = [sys.executable, "-m", "benchmarks.joint_ledger", "--cold", "--folder", str(folder)]
    subprocess.run(command, check=True)
    spent = os.times().children_user + os.times().children_system - began.children_user - began.children_system
    print(f"a new process: {spent:.1f} s cpu until it is warm")


def prepare(folder: Path) -> pl.DataFrame:
    """Write records, schema and the database file."""
    shared = os.environ.get("RETICENT_SHARED") or str(Path(__file__).resolve().parents[2] / "shared")
    table = adult_workload.read(Path(shared) / "data" / "microdata" / "adult" / "adult.csv")
    if (folder / "adult.csv").exists():
        return table
    folder.mkdir(exist_ok=True)
    banded = table.with_columns(band=(pl.col("age") // 3).cast(pl.Int64).cast(pl.String).str.zfill(2))
    banded.write_csv(folder / "adult.csv")
    lines = []
    for name in CODES:
        codes = ", ".join(f'"{code}" = "{code}"' for code in sorted(banded[name].unique().to_list()))
        lines.append(f'[[variable]]\nname = "{name}"\nrole = "key"\ncodes = {{ {codes} }}\n')
    lines += [f'[[variable]]\nname = "{name}"\nrole = "sensitive"\nkind = "numeric"\n' for name in NUMBERS]
    (folder / "adult.schema.toml").write_text("".join(lines))
    new_secret(folder / "secret.key")
    (folder / "adult.db.toml").write_text(DATABASE)
    return table


def table_recipe(data: Microdata, name: str, rng: np.random.Generator) -> TableRecipe:
    """All cells with margins; small cells are hidden with the corners of a box of large ones, and must stay unknown."""
    dimensions, response = TABLES[name]
    table = tabulate(data, TableSpec(tuple(DimensionSpec(d) for d in dimensions), response=response))
    inner = np.ones(table.n_cells, dtype=bool)
    for at, dimension in enumerate(table.dimensions):
        inner &= dimension.is_leaf[table.codes[:, at]]
    numbers = dict(zip(map(tuple, table.codes.tolist()), table.respondents.counts.tolist(), strict=True))
    leaves = [np.unique(table.codes[inner, at]) for at in range(len(dimensions))]
    hidden, small = pattern(numbers, [tuple(c) for c in table.codes[inner].tolist()], leaves, rng)
    rows = [tuple(c) for c in table.codes.tolist()]
    codes = tuple(table.cell_codes(cell) for cell in range(table.n_cells))
    status = tuple(HIDDEN if row in hidden else PUBLISHED for row in rows)
    values = np.where([row in hidden for row in rows], np.nan, table.values)
    required = {}
    for cell, row in enumerate(rows):
        if row in small:
            value = float(table.values[cell])
            near = 1.0 if response is None else float(np.ceil(0.02 * value))
            required[codes[cell]] = (max(value - near, 1.0), value + near)
    kind = COUNT if response is None else MAGNITUDE
    shown = PublishedTable(tuple(dimensions), codes, values, status, response=response or "count", kind=kind)
    return TableRecipe((ShownTable(shown, table.dimensions, response, False, required),), "optimal")


Cell = tuple[int, ...]


def pattern(
    numbers: dict[Cell, int], inner: list[Cell], leaves: list[Any], rng: np.random.Generator
) -> tuple[set[Cell], set[Cell]]:
    """Hidden cells, and those of them that are small: each with a box whose other corners are large, if there is one."""
    hidden: set[Cell] = set()
    small: set[Cell] = set()
    for cell in (cell for cell in inner if numbers[cell] <= FEW):
        hidden.add(cell)
        for _ in range(400):
            other = [int(rng.choice(own)) for own in leaves]
            if any(a == b for a, b in zip(cell, other, strict=True)):
                continue
            corners = list(product(*zip(cell, other, strict=True)))
            if all(numbers.get(corner, 0) > FEW or corner == cell for corner in corners):
                hidden |= set(corners)
                small.add(cell)
                break
    return hidden, small


def file_recipe(data: Microdata, rng: np.random.Generator) -> FileRecipe:
    """Codes together by twos to fours, one value blanked in each of 5 % of the records, years of school rounded."""
    frame = pl.DataFrame({name: data.frame.table[name] for name in (*TOGETHER, "school")})
    steps: list[Any] = []
    for name, by in TOGETHER.items():
        codes = sorted(frame[name].unique().to_list())
        new = {code: f"{name} {at // by}" for at, code in enumerate(codes)}
        steps.append(Recode(variable=name, map=new))
        frame = frame.with_columns(pl.col(name).replace_strict(new))
    blank = np.where(rng.random(len(frame)) < 0.05, rng.integers(len(TOGETHER), size=len(frame)), -1)
    for at, name in enumerate(TOGETHER):
        kept = pl.Series(blank != at)
        frame = frame.with_columns(pl.when(kept).then(pl.col(name)).otherwise(None).alias(name))
    frame = frame.with_columns(((pl.col("school") / BASE).round() * BASE).alias("school")).sample(
        fraction=1.0, shuffle=True, seed=1
    )
    steps += [RoundValues(variables=("school",), base=BASE), LocalSuppression(k=FEW, keys=tuple(TOGETHER))]
    keys = [Variable(name, role=Role.KEY) for name in TOGETHER]
    schema = Schema((*keys, Variable("school", role=Role.SENSITIVE, kind=Kind.NUMERIC)))
    return FileRecipe(release_file(Microdata.of(frame, schema)), tuple(steps))


def release(folder: Path, name: str, *, only_judge: bool = False) -> None:
    """Judge and record a release, unless it was, and say what that cost; what is refused is not recorded."""
    source = read_database_file(folder / "adult.db.toml")
    data = read_version(source, source.data)
    begin = time.process_time()
    rng = np.random.default_rng(1)
    recipe = file_recipe(data, rng) if name == "F" else table_recipe(data, name, rng)
    section = LedgerSection(path="adult.ledger", name=name, database="adult.db.toml")
    secret = release_secret(folder / "secret.key", test=False, owner="[data]")
    with open_book(Where(section, secret, folder), data) as book:
        if any(one.name == name for one in book.recorded()):
            return
        with book.turn() as turn:
            judged = book.judge(recipe, name)
            if judged.verdict.safe and not only_judge:
                book.record(turn, recipe, name)
    spent = time.process_time() - begin
    words = f"{len(judged.facts.facts)} facts, {len(judged.facts.own)} auxiliary unknowns, {len(judged.facts.watches)} watches"
    print(f"{name} ({words}): {judged.verdict.outcome.value}, {spent:.1f} s cpu, {memory()}", flush=True)
    for one in judged.verdict.exposures:
        print(f"  {one.sentence()} ({len(one.combination)} facts in a proof)", flush=True)


def ask(folder: Path, queries: list[str], *, again: bool = False, first: str = "Sales") -> None:
    """Ask, and say what each answer cost in a process that keeps the database open."""
    database = open_database(folder / "adult.db.toml")
    for query in FIRST:
        database.ask(query.format(first), user="analyst")
    whole: list[float] = []
    ends: list[str] = []
    settled: list[str] = []
    with timed(Beside, "reason_against") as judging, remembered() as asked:
        for number, query in enumerate(queries, start=1):
            begin = time.process_time()
            judged = len(judging)
            found = database.ask(query, user="analyst").as_json()
            whole.append(time.process_time() - begin)
            ends.append("answered" if found["answered"] else "joint" if len(judging) > judged else "alone")
            if again and ends[-1] == "joint":
                settled.append(judged_again(asked))
                safe = settled.count("safe")
                print(f"  {query}: {settled[-1]} with more steps; {safe} of {len(settled)} safe so far", flush=True)
            if number % 25 == 0 or number == len(queries):
                print(
                    f"{number} questions: {words(whole)}; joint part {words(judging)}; {counted(ends)}, {memory()}",
                    flush=True,
                )
    database.close()


@contextmanager
def remembered() -> Iterator[dict[str, Any]]:
    """The joint system that judged last, and what it judged."""
    last: dict[str, Any] = {}
    original = JointSystem.judge

    def judge(self: JointSystem, new: Facts, **more: Any) -> JointVerdict:
        last.update(system=self, new=new)
        return original(self, new, **more)

    with mock.patch.object(JointSystem, "judge", judge):
        yield last


def judged_again(asked: dict[str, Any]) -> str:
    """The verdict on what was judged last with ten times the steps."""
    system: JointSystem = asked["system"]
    usual = system.limits
    system.limits = Limits(**{own.name: 10 * getattr(usual, own.name) for own in fields(usual)})
    try:
        return system.judge(asked["new"]).outcome.value
    finally:
        system.limits = usual


def counted(ends: list[str]) -> str:
    """How questions ended: answered, refused by the database alone, refused together with the other releases."""
    return ", ".join(f"{ends.count(name)} {name}" for name in ("answered", "alone", "joint"))


def words(seconds: list[float]) -> str:
    """Median, 95 % and largest."""
    own = np.array(seconds or [0.0])
    return f"median {np.median(own):.2f} s, 95 % {np.quantile(own, 0.95):.2f} s, largest {own.max():.2f} s"


@contextmanager
def timed(owner: type[Any], name: str) -> Iterator[list[float]]:
    """The processor time of each call of a method."""
    spent: list[float] = []
    original = getattr(owner, name)

    def measured(*given: Any, **named: Any) -> Any:
        begin = time.process_time()
        try:
            return original(*given, **named)
        finally:
            spent.append(time.process_time() - begin)

    setattr(owner, name, measured)
    try:
        yield spent
    finally:
        setattr(owner, name, original)


def memory() -> str:
    """The largest memory of the process so far."""
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB"


if __name__ == "__main__":
    main()
