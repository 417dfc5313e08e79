# SPDX-License-Identifier: Apache-2.0
"""The exact auditor: decisions against rank and classes, and the stated workload of 10,000 queries on a million records.

    python -m benchmarks.bench_auditor [queries] [records]     the whole workload, with percentiles by rank
    python -m benchmarks.bench_auditor growth                  one decision against rank and against classes
    python -m benchmarks.bench_auditor bounds                  the stage of known bounds apart (LP and ILP)
    python -m benchmarks.bench_auditor reopen [answers]        opening a database with so many audited answers
    python -m benchmarks.bench_auditor ledger                  opening a ledger of 100,000 entries
    python -m benchmarks.bench_auditor adult [queries]         honest questions about Adult (real data), then opened again

Workload: conjunctions (one to three of five key variables, one to half of the codes each) and group-bys (every cell of
one or two variables), on sums, minimum 3 and dominance (2, 85), each respondent one record.
"""

import itertools
import os
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.harness import Entry
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.ledger.ledger import open_ledger
from reticent.queries.audit.auditor import Auditor, BoundStage
from reticent.queries.audit.bounds import bound_stage
from reticent.queries.columns import Columns
from reticent.queries.database import ProtectedDatabase
from reticent.queries.fixed import Fixed
from reticent.queries.policy import Bounds, Policy
from reticent.queries.refusals import Answer, StaffReason
from reticent.queries.rules import SetRules
from reticent.releases.rowspace import LinearRow, Partition, Proposal, RowSpace

ROOT = Path(__file__).resolve().parents[1]
CARDS = (10, 12, 6, 9, 4)
POLICY = Policy(minimum=3, dominance=(2, 85))
RANK = 2_000


def _records(n: int) -> tuple[np.ndarray, Columns]:
    """Patterns of five keys with uneven frequencies, and the unknowns of one response."""
    rng = np.random.default_rng(1)
    keys = np.column_stack([(rng.beta(1.1, 1.6, n) * card).astype(np.int64) for card in CARDS])
    patterns, atom = np.unique(keys, axis=0, return_inverse=True)
    order = np.argsort(atom, kind="stable")
    start = np.concatenate(([0], np.cumsum(np.bincount(atom)))).astype(np.int64)
    values = np.exp(rng.normal(8, 1, n)).astype(np.int64)
    return patterns, Columns("x", (np.arange(len(patterns)),), start, order.astype(np.int64), Fixed(values, 1))


def _queries(patterns: np.ndarray, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """An endless stream of record sets."""
    while True:
        if rng.random() < 0.01:
            chosen = rng.choice(len(CARDS), size=int(rng.integers(1, 3)), replace=False)
            for cell in np.unique(patterns[:, chosen], axis=0):
                yield (patterns[:, chosen] == cell).all(axis=1)
            continue
        mask = np.ones(len(patterns), dtype=bool)
        for variable in rng.choice(len(CARDS), size=int(rng.integers(1, 4)), replace=False):
            n_codes = int(rng.integers(1, max(2, CARDS[variable] // 2)))
            mask &= np.isin(patterns[:, variable], rng.choice(CARDS[variable], size=n_codes, replace=False))
        yield mask


def _auditor(columns: Columns) -> Auditor:
    return Auditor(columns, SetRules.of(POLICY, by_value=True), np.random.default_rng(0))


def workload(n_queries: int = 10_000, n_records: int = 1_000_000) -> None:
    """Run the stated workload and print times of decisions by rank."""
    patterns, columns = _records(n_records)
    auditor = _auditor(columns)
    rng = np.random.default_rng(2)
    warm = _auditor(columns)
    for mask in (columns.start[:-1] >= 0, np.arange(columns.n_columns) % 2 == 0, np.arange(columns.n_columns) % 3 == 0):
        warm.release(LinearRow.of(mask), 0)
    seconds, ranks = [], []
    outcome = {"unsafe itself": 0, "implied": 0, "answered": 0, "denied": 0}
    for number, mask in zip(range(n_queries), _queries(patterns, rng)):
        before = time.perf_counter()
        if auditor.rules.broken(columns, mask) is not None:
            kind = "unsafe itself"
        else:
            verdict = auditor.release(LinearRow.of(mask), number)
            kind = "implied" if verdict.implied else "answered" if verdict.allowed else "denied"
        auditor.forget_undo()
        seconds.append(time.perf_counter() - before)
        ranks.append(auditor.rank())
        outcome[kind] += 1
    times, at = 1_000 * np.array(seconds), np.array(ranks)
    print(f"{n_records:,} records, {columns.n_columns:,} patterns, {len(times):,} queries: {outcome}")
    print(f"classes {auditor.space.partition.n_classes:,}, rank {auditor.rank():,}")
    for name, inside in (("all decisions", times), ("rank below 2,000", times[at < RANK])):
        print(f"{name}: {len(inside):,}, median {np.median(inside):.1f} ms, 95th percentile "
              f"{np.quantile(inside, 0.95):.1f} ms, longest {inside.max():.0f} ms")  # fmt: skip
    for low in range(0, int(at.max()) + 1, 500):
        inside = times[(at >= low) & (at < low + 500)]
        if len(inside):
            print(f"rank {low:>5}–{low + 499:<5} {len(inside):>6} decisions: median {np.median(inside):6.1f} ms, "
                  f"95th percentile {np.quantile(inside, 0.95):6.1f} ms")  # fmt: skip
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")


def growth(n_decisions: int = 60) -> None:
    """Process time of a decision at growing rank (all classes), and at growing numbers of classes (rank 200)."""
    rng = np.random.default_rng(5)
    patterns, columns = _records(200_000)
    auditor, stream = _auditor(columns), _queries(patterns, rng)
    for rank in (100, 200, 400, 800, 1_600):
        while auditor.rank() < rank:
            auditor.replay(LinearRow.of(next(stream)), 0)
            auditor.forget_undo()
        _print_growth(auditor, stream, n_decisions)
    for share in (0.1, 0.3, 1.0):
        kept = np.sort(rng.choice(len(patterns), int(share * len(patterns)), replace=False))
        _, some = _records(200_000)
        start = np.arange(len(kept) + 1, dtype=np.int64) * 8  # eight respondents for each pattern
        few = Columns(
            "x", (np.arange(len(kept)),), start, np.arange(start[-1]), Fixed(some.values.integers[: start[-1]], 1)
        )
        auditor, stream = _auditor(few), _queries(patterns[kept], rng)
        while auditor.rank() < 200:
            auditor.replay(LinearRow.of(next(stream)), 0)
            auditor.forget_undo()
        _print_growth(auditor, stream, n_decisions)


def _print_growth(auditor: Auditor, stream: Iterator[np.ndarray], n_decisions: int) -> None:
    seconds = []
    for mask in itertools.islice(stream, n_decisions):
        before = time.process_time()
        auditor.judge(LinearRow.of(mask))
        seconds.append(time.process_time() - before)
    print(f"rank {auditor.rank():>5}, classes {auditor.space.partition.n_classes:>6,}: median "
          f"{1_000 * np.median(seconds):6.1f} ms, 95th percentile {1_000 * np.quantile(seconds, 0.95):6.1f} ms")  # fmt: skip


def reopen_workload(n_answers: int = 10_000, n_records: int = 100_000) -> None:
    """Open a database that has given many audited answers, without and with its snapshot."""
    patterns, columns = _records(n_records)
    atom = np.empty(n_records, dtype=np.int64)
    atom[columns.entity] = np.repeat(np.arange(columns.n_columns), columns.counts)
    frame: dict[str, np.ndarray] = {f"k{i}": patterns[atom, i].astype(str) for i in range(len(CARDS))}
    frame["x"] = columns.values.integers[np.argsort(columns.entity)].astype(float)
    keys = tuple(f"k{i}" for i in range(len(CARDS)))
    coded = [Variable(name, codes=tuple(map(str, range(card)))) for name, card in zip(keys, CARDS)]
    schema = Schema((*coded, Variable("x", role=Role.SENSITIVE, kind=Kind.NUMERIC)))
    data = Microdata.of(pl.DataFrame(frame), schema)
    policy = replace(POLICY, filters=keys, responses=("x",))
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "long.ledger"
        database = ProtectedDatabase(data, policy=policy, secret=1, test_secret=True, ledger=place)
        rng, answered = np.random.default_rng(2), 0
        before = time.perf_counter()
        while answered < n_answers:
            answered += isinstance(database.ask(_question(rng), user="u"), Answer)
        print(f"{answered:,} answers on {n_records:,} records in {time.perf_counter() - before:.0f} s")
        database.close()
        state = next(Path(folder).glob("*.state"), None)
        for name in ("with its snapshot", "without"):
            size = "" if state is None or name == "without" else f", snapshot {state.stat().st_size / 2**20:.0f} MB"
            if name == "without" and state is not None:
                state.unlink()
            before = time.perf_counter()
            ProtectedDatabase(data, policy=policy, secret=1, test_secret=True, ledger=place).close()
            print(f"opened {name} in {time.perf_counter() - before:.1f} s{size}", flush=True)


def adult_workload(n_queries: int = 300) -> None:
    """Honest questions about Adult: processor time of each, what is written, and the replay without a snapshot."""
    folder = Path(os.environ.get("RETICENT_SHARED", ROOT.parent / "shared")) / "data" / "microdata" / "adult"
    frame = pl.read_csv(folder / "adult.csv", separator=";")
    keys = tuple(name for name in frame.columns if name != "age")
    codes = {name: sorted(frame[name].unique().to_list()) for name in keys}
    schema = Schema(
        (*(Variable(name) for name in keys), Variable("age", role=Role.SENSITIVE, kind=Kind.NUMERIC))
    )  # fmt: skip
    data = Microdata.of(frame, schema)
    policy = replace(POLICY, filters=keys, responses=("age",))
    rng, seconds, answered = np.random.default_rng(4), [], 0
    with tempfile.TemporaryDirectory() as place:
        ledger = Path(place) / "adult.ledger"
        database = ProtectedDatabase(data, policy=policy, secret=1, test_secret=True, ledger=ledger)
        before = _written()
        for _ in range(n_queries):
            question = _adult_question(codes, rng)
            start = time.process_time()
            answered += isinstance(database.ask(question, user="u"), Answer)
            seconds.append(time.process_time() - start)
        database.close()
        times = np.array(seconds)
        print(f"{n_queries} questions, {answered} answered: median {np.median(times):.3f} s, 95th percentile "
              f"{np.quantile(times, 0.95):.3f} s, longest {times.max():.2f} s; {(_written() - before) / 2**20:.1f} MB written, "
              f"{sum(file.stat().st_size for file in Path(place).iterdir()) / 2**20:.1f} MB kept", flush=True)  # fmt: skip
        for state in Path(place).glob("*.state"):
            state.unlink()
        start = time.process_time()
        ProtectedDatabase(data, policy=policy, secret=1, test_secret=True, ledger=ledger).close()
        print(f"opened without its snapshot in {time.process_time() - start:.2f} s")


def _adult_question(codes: dict[str, list[str]], rng: np.random.Generator) -> str:
    """A mean, a sum or a number of people under one to three conditions, sometimes by groups of one variable."""
    names = rng.choice(list(codes), size=int(rng.integers(1, 4)), replace=False).tolist()
    what = ("AVG(age)", "SUM(age)", "COUNT(*)")[int(rng.integers(3))]
    parts = []
    for name in names[1:]:
        some = rng.choice(codes[name], size=int(rng.integers(1, max(2, len(codes[name]) // 2))), replace=False)
        parts.append(f'"{name}" IN ({", ".join(repr(str(code)) for code in some)})')
    where = f" WHERE {' AND '.join(parts)}" if parts else ""
    if rng.random() < 0.2:
        return f'SELECT {what} FROM data{where} GROUP BY "{names[0]}"'
    code = str(rng.choice(codes[names[0]]))
    return f'SELECT {what} FROM data{where or " WHERE "}{" AND " if parts else ""}"{names[0]}" = {code!r}'


def _written() -> int:
    """Bytes that this process has written so far."""
    with open("/proc/self/io", encoding="ascii") as file:
        return int(next(line for line in file if line.startswith("wchar")).split()[1])


def _question(rng: np.random.Generator) -> str:
    """A conjunction as in the workload, as text."""
    parts = []
    for variable in rng.choice(len(CARDS), size=int(rng.integers(1, 4)), replace=False):
        n_codes = int(rng.integers(1, max(2, CARDS[variable] // 2)))
        codes = rng.choice(CARDS[variable], size=n_codes, replace=False)
        parts.append(f"k{variable} IN ({', '.join(repr(str(code)) for code in codes)})")
    return f"SELECT SUM(x) FROM data WHERE {' AND '.join(parts)}"


@dataclass(frozen=True)
class _Timed:
    """A stage of bounds that notes how long each check took."""

    stage: BoundStage
    seconds: list[float]

    def check(self, space: RowSpace, proposal: Proposal) -> StaffReason | None:
        before = time.perf_counter()
        reason = self.stage.check(space, proposal)
        self.seconds.append(time.perf_counter() - before)
        return reason

    def interior(self, partition: Partition) -> np.ndarray:
        return self.stage.interior(partition)


def bounds_workload(n_queries: int = 100) -> None:
    """The stage of known bounds: the pivots at hand, one program over directions, and programs with whole numbers."""
    for name, n_records, zeros, bounds, interval in (
        ("half are 0, x >= 0", 100_000, 0.5, Bounds(0), 0.0),
        ("95 percent are 0, x >= 0", 5_000, 0.95, Bounds(0), 0.0),
        ("half are 0, interval of 5 percent (LP)", 300, 0.5, Bounds(0), 5.0),
        ("0 or 1, whole (ILP)", 300, 0.5, Bounds(0, 1, True), 0.0),
    ):
        patterns, plain = _records(n_records)
        rng = np.random.default_rng(3)
        whole = np.ones_like(plain.values.integers) if bounds.integer else plain.values.integers
        amounts = np.where(rng.random(n_records) < zeros, 0, whole)
        columns = Columns("x", plain.atom_of, plain.start, plain.entity, Fixed(amounts, 1))
        policy = replace(POLICY, bounds={"x": bounds}, interval=interval)
        rules = SetRules.of(policy, by_value=True)
        stage = bound_stage(columns, policy.bounds.get("x"), policy.interval, rules)
        assert stage is not None
        seconds: list[float] = []
        auditor = Auditor(columns, rules, rng, bounds=_Timed(stage, seconds))
        refused = 0
        for number, mask in zip(range(n_queries), _queries(patterns, rng)):
            if rules.broken(columns, mask) is None:
                refused += not auditor.release(LinearRow.of(mask), number).allowed
                auditor.forget_undo()
        times = 1_000 * np.array(seconds)
        print(f"{name}: {columns.n_columns:,} patterns, {n_queries} queries, rank {auditor.rank()}, {refused} refused; "
              f"stage of bounds {len(times)} times, median {np.median(times):.0f} ms, 95th percentile "
              f"{np.quantile(times, 0.95):.0f} ms, longest {times.max():.0f} ms", flush=True)  # fmt: skip


def ledger_workload(n_entries: int = 100_000) -> None:
    """Verify and read a long ledger."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "long.ledger"
        ledger = open_ledger(path, secret=as_secret(1), dataset="d")
        with ledger.turn():
            ledger._append([("decision", {"query": "x" * 300, "user": "u", "i": i}) for i in range(n_entries)])
        ledger.close()
        before = time.perf_counter()
        opened = open_ledger(path, secret=as_secret(1), dataset="d")
        verified = time.perf_counter()
        n_read = len(opened.entries())
        print(f"{n_read:,} entries: verified in {verified - before:.2f} s, read in {time.perf_counter() - verified:.2f} s, "
              f"file {path.stat().st_size / 2**20:.0f} MB")  # fmt: skip
        opened.close()


def _space_of_rank(rank: int) -> tuple[RowSpace, list[LinearRow]]:
    rng = np.random.default_rng(3)
    patterns, columns = _records(200_000)
    space = RowSpace(columns.n_columns, rng=rng)
    stream = _queries(patterns, rng)
    while space.rank < rank:
        found = space.propose(LinearRow.of(next(stream)))
        if isinstance(found, Proposal):
            space.accept(found)
    return space, [LinearRow.of(next(stream)) for _ in range(10)]


def _decide(prepared: tuple[RowSpace, list[LinearRow]]) -> None:
    space, rows = prepared
    for row in rows:
        found = space.propose(row)
        if isinstance(found, Proposal):
            found.unit_candidates()
            found.pair_candidates()


def _decide_by_rank(prepared: tuple[RowSpace, list[LinearRow]]) -> None:
    """The usual way: the rank of all queries with and without the new one, in python-flint modulo a prime."""
    import flint

    space, rows = prepared
    places = space.partition.representative
    table = [row.coefficients(places).tolist() for row in (*space.rows(), rows[0])]
    flint.nmod_mat(len(table), len(table[0]), [v for line in table for v in line], 2**61 - 1).rank()


def entries() -> list[Entry]:
    """For the harness: ten decisions at growing rank against one rank computation."""
    return [
        Entry(
            name="auditor: 10 decisions (ours) against 1 rank computation",
            sizes=(125, 250, 500),
            prepare=_space_of_rank,
            ours=_decide,
            yardstick=_decide_by_rank,
            yardstick_name="python-flint rank modulo 2^61 − 1",
            size_unit="rank",
            repeat=2,
        )
    ]


if __name__ == "__main__":
    if sys.argv[1:2] == ["bounds"]:
        bounds_workload()
    elif sys.argv[1:2] == ["growth"]:
        growth()
    elif sys.argv[1:2] == ["reopen"]:
        reopen_workload(*(int(argument) for argument in sys.argv[2:]))
    elif sys.argv[1:2] == ["adult"]:
        adult_workload(*(int(argument) for argument in sys.argv[2:]))
    elif sys.argv[1:2] == ["ledger"]:
        ledger_workload()
    else:
        workload(*(int(argument) for argument in sys.argv[1:]))
