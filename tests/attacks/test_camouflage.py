"""Camouflage: whoever knows the program must get no more than the hull.

`fixtures/v010/camouflage.csv` holds intervals that version 0.1.0 published (`percent = 20`, `unit = 0.001`) for the database of
`people()`: the answers to `questions()`, one row per group, with the true value beside it to score the attack. It was written
by `published` below, run with that version's code. The attacks read published intervals, the policy and the source code, never a
value and never the secret.
"""

import csv
import hashlib
import itertools
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.canonical import Universe, Version
from reticent.queries.database import ProtectedDatabase
from reticent.queries.modes import Cell, Request, Setting, mode_factory
from reticent.queries.parse import parse
from reticent.queries.policy import Bounds, Limits, Policy
from samples import numbers

FIXTURE = Path(__file__).parent / "fixtures" / "v010" / "camouflage.csv"
SECRET = hashlib.blake2b(b"camouflage").digest()
SIDE = 20
CODES = tuple(f"{i:02}" for i in range(SIDE))
SCHEMA = Schema(
    (
        Variable("id", role=Role.IDENTIFIER),
        Variable("a", codes=CODES),
        Variable("b", codes=CODES),
        Variable("pay", role=Role.SENSITIVE, kind=Kind.NUMERIC),
    )
)


def people() -> dict[str, Any]:
    """400 people whom two filters single out, with whole incomes."""
    pairs = list(itertools.product(CODES, CODES))
    pay = np.random.default_rng(19).lognormal(6, 0.8, len(pairs)).round() + 10
    return {"id": ["".join(p) for p in pairs], "a": [p[0] for p in pairs], "b": [p[1] for p in pairs], "pay": pay}


def questions() -> list[tuple[str, str]]:
    """Forty queries."""
    rows = [(code, f"SELECT MIN(pay) FROM data WHERE a = '{code}' GROUP BY b") for code in CODES]
    return rows + [(code, f"SELECT MAX(pay) FROM data WHERE a = '{code}' GROUP BY b") for code in CODES]


def published(
    folder: Path, options: dict[str, Any], *, pay: Any = None, secret: bytes = SECRET
) -> list[tuple[str, float, float, float]]:
    """What an analyst is given, and the truth beside it."""
    columns = people() if pay is None else {**people(), "pay": pay}
    truth = dict(zip(columns["id"], columns["pay"]))
    policy = Policy(
        mode="camouflage",
        filters=("a", "b"),
        responses=("pay",),
        bounds={"pay": Bounds(low=0)},
        options={"camouflage": options},
    )
    data = Microdata.of(pl.DataFrame(columns), SCHEMA)
    database = ProtectedDatabase(data, policy=policy, secret=secret, ledger=folder / "x.ledger")
    rows = []
    for code, text in questions():
        for row in database.ask(text, user="u").rows:
            rows.append((code + row.group[0], *row.values[0], float(truth[code + row.group[0]])))
    return rows


def intervals(rows: list[tuple[str, float, float, float]]) -> list[tuple[float, float, float]]:
    """One interval for each person."""
    found: dict[str, tuple[float, float, float]] = {}
    for name, low, high, truth in rows:
        before = found.get(name, (-np.inf, np.inf, truth))
        found[name] = (max(low, before[0]), min(high, before[1]), truth)
    return list(found.values())


def both_ends(low: float, high: float) -> list[tuple[float, float, float]]:
    """0.1.0: one end of each interval is the value plus or minus 20 percent, the other is farther away by one of few ratios.

    For either end: how far from whole the value would be, the ratio, and the value."""
    found = []
    for value in (low / 0.8, high / 1.2):
        ratio = max(high - value, value - low) / max(0.2 * value, 1.0)
        found.append((abs(value - round(value)), ratio, float(round(value))))
    return sorted(found)


def ratios(people_: list[tuple[float, float, float]]) -> np.ndarray:
    """The ratios of those for whom only one end gives a whole number."""
    tried = [both_ends(low, high) for low, high, _ in people_]
    return np.array([first[1] for first, second in tried if first[0] < 0.003 and second[0] > 0.02])


def decoder(people_: list[tuple[float, float, float]]) -> Any:
    """The attack: the end that gives a whole number; where both do, the one with a ratio that others have."""
    known = ratios(people_)

    def guess(low: float, high: float) -> list[float]:
        first, second = both_ends(low, high)
        if second[0] > 0.02 or not len(known):
            return [first[2]]
        return [min((first, second), key=lambda end: float(np.abs(known - end[1]).min()))[2]]

    return guess


def decoded(people_: list[tuple[float, float, float]], guess: Any) -> float:
    """The share of people whose income the guess gets to the unit."""
    return float(np.mean([abs(guess(low, high)[0] - truth) < 0.5 for low, high, truth in people_]))


def chance(people_: list[tuple[float, float, float]]) -> float:
    """What guessing a whole number of the interval at random gets."""
    return float(np.mean([1 / (np.floor(high) - np.ceil(low) + 1) for low, high, _ in people_]))


GUESSES = {
    "low": lambda low, high: [np.ceil(low)],
    "high": lambda low, high: [np.floor(high)],
    "middle": lambda low, high: [np.rint((low + high) / 2)],
    "third": lambda low, high: [np.rint(low + (high - low) / 3)],
    "low end over 0.8": lambda low, high: [np.rint(low / 0.8)],
    "high end over 1.2": lambda low, high: [np.rint(high / 1.2)],
    "low end and 20 percent": lambda low, high: [np.rint(low * 1.2)],
    "high end less 20 percent": lambda low, high: [np.rint(high * 0.8)],
}


@pytest.mark.parametrize("insiders", [0, 1])
def test_who_knows_the_program_decodes_nobody(tmp_path: Path, insiders: int) -> None:
    with FIXTURE.open(encoding="utf-8", newline="") as file:
        rows = [(name, float(low), float(high), float(true)) for name, low, high, true in csv.reader(file)]
    before = intervals(rows)
    assert len(before) == SIDE * SIDE
    assert decoded(before, decoder(before)) >= 0.99
    today = intervals(published(tmp_path, {"percent": 20, "unit": 0.001, "insiders": insiders}))
    assert all(low <= truth <= high for low, high, truth in today)
    by_chance = chance(today)
    error = 3 * np.sqrt(by_chance * (1 - by_chance) / len(today))
    for name, guess in {**GUESSES, "one end is the value": decoder(today)}.items():
        assert decoded(today, guess) <= by_chance + error, name


# every database of three people with incomes 0 to 4, and every question about it
TINY = Schema(
    (
        Variable("id", role=Role.IDENTIFIER),
        Variable("x", codes=("0", "1", "2")),
        Variable("pay", role=Role.SENSITIVE, kind=Kind.NUMERIC),
    )
)
SUBSETS = ["0", "1", "2", "01", "02", "12", "012"]
STATISTICS = "SUM(pay), AVG(pay), MIN(pay), MAX(pay), MEDIAN(pay), QUANTILE(pay, 0.3), VARIANCE(pay), STDDEV(pay)"
QUERIES = {
    subset: parse(f"SELECT {STATISTICS} FROM data WHERE x IN ({', '.join(map(repr, subset))})", Limits())
    for subset in SUBSETS
}


def transcript(values: tuple[int, ...], secret: int, insiders: int, x: str = "012") -> tuple[Any, ...]:
    """All that the mode would ever answer about a tiny database."""
    frame = pl.DataFrame({"id": [f"p{i}" for i in range(len(values))], "x": list(x), "pay": [float(v) for v in values]})
    policy = Policy(
        mode="camouflage",
        filters=("x",),
        responses=("pay",),
        bounds={"pay": Bounds(low=0, high=4, integer=True)},
        options={"camouflage": {"percent": 30, "least": 0.5, "insiders": insiders}},
    )
    universe = Universe((Version("1", Microdata.of(frame, TINY), policy),), policy, as_secret(secret))
    mode = mode_factory("camouflage")(Setting(universe, policy, as_secret(secret)))
    cells = []
    for subset in SUBSETS if x == "012" else ["0"]:
        query = QUERIES[subset]
        records = universe.record_set(universe.current.select(query.where))
        cells.append(mode.decide(Request(query, (Cell((), records),), "u")).result.rows[0].values)
    return tuple(cells)


def plain_statistics(values: tuple[int, ...], x: str) -> list[float]:
    """What the questions are about, worked out the plain way."""
    told: list[float] = []
    for subset in SUBSETS if x == "012" else ["0"]:
        own = np.array([v for v, code in zip(values, x) if code in subset], dtype=float)
        told += [own.sum(), own.mean(), own.min(), own.max(), np.median(own), np.quantile(own, 0.3)]
        told += [own.var(ddof=1), own.std(ddof=1)] if len(own) > 1 else [np.nan, np.nan]
    return told


def fitting(answers: tuple[Any, ...], statistics: np.ndarray) -> np.ndarray:
    """The attack: which databases fit everything published?"""
    ends = [(-np.inf, np.inf) if value is None else value for row in answers for value in row]
    low, high = np.array(ends).T
    return np.flatnonzero(((statistics >= low - 1e-9) & (statistics <= high + 1e-9) | np.isnan(statistics)).all(axis=1))


@pytest.mark.parametrize("x, insiders", [("012", 0), ("000", 0), ("000", 1)])
@pytest.mark.parametrize("secret", numbers(1, 3))
def test_every_database_that_fits_the_answers_is_as_likely_as_the_truth(x: str, insiders: int, secret: int) -> None:
    """P(everything public | a) over many secrets, for every a; the ratio is 1 for all databases of the hull."""
    everything = list(itertools.product(range(5), repeat=3))
    statistics = np.array([plain_statistics(values, x) for values in everything])
    by_answers = defaultdict(list)
    for number, values in enumerate(everything):
        by_answers[transcript(values, secret, insiders, x)].append(number)
    # one secret after the other: what fits the answers is what gives them, so any mixture of secrets is flat too
    for answers, databases in by_answers.items():
        fit = fitting(answers, statistics).tolist()
        assert set(databases) <= set(fit)
        if x == "012":
            assert fit == databases, "the hull holds what gives these answers, no more"
        for person in range(3):
            assert len({everything[number][person] for number in databases}) >= 2, "nobody is determined"


def least_variance_shares(vectors: np.ndarray) -> np.ndarray:
    """The combination of k vectors with the least variance: an attacker's guess who knows no value at all."""
    centred = vectors - vectors.mean(axis=1, keepdims=True)
    gram = centred @ centred.T
    weights = np.linalg.solve(gram, np.ones(len(gram)))
    return np.asarray(weights / weights.sum() @ vectors)


def test_why_one_hull_of_few_vectors_for_all_records_is_not_enough() -> None:
    """Displacements that are independent of the values, shares flat on the simplex: every vector of the hull is equally likely,
    and yet the one with the least variance is nearly the truth, because displacements only add variance. So records are
    hidden in cells of their own, and no combination of them is better than another (see the tests above)."""
    rng = np.random.default_rng(0)
    values = rng.lognormal(6, 0.8, 2000)
    moves = rng.normal(0, 100, (4, 2000))
    shares = rng.dirichlet(np.ones(4))
    vectors = values + moves - shares @ moves
    width = float(np.ptp(vectors, axis=0).mean())
    error = float(np.abs(least_variance_shares(vectors) - values).mean())
    assert error < width / 10


def test_cells_do_not_depend_on_values(tmp_path: Path) -> None:
    """Widths, errors and what can be opened are the same for zeros, spikes, values at bounds and whole numbers."""
    rng = np.random.default_rng(5)
    kinds = {
        "zeros": np.zeros(40),
        "spikes": rng.choice([0.0, 1000.0], 40),
        "bounds": rng.choice([0.0, 5000.0], 40),
        "whole": rng.integers(0, 5000, 40).astype(float),
        "fine": rng.uniform(0, 5000, 40),
        "one large": np.append(np.zeros(39), 5000.0),
    }
    for number, (name, pay) in enumerate(kinds.items()):
        folder = tmp_path / str(number)
        folder.mkdir()
        frame = pl.DataFrame(
            {"id": [f"p{i}" for i in range(40)], "a": list(CODES) * 2, "b": [CODES[0]] * 40, "pay": pay}
        )
        policy = Policy(
            mode="camouflage",
            filters=("a",),
            responses=("pay",),
            bounds={"pay": Bounds(0, 5000)},
            options={"camouflage": {"bands": {"pay": [0, 500, 5000]}}},
        )
        database = ProtectedDatabase(
            Microdata.of(frame, SCHEMA), policy=policy, secret=SECRET, ledger=folder / "x.ledger"
        )
        answer = database.ask("SELECT MIN(pay), MAX(pay) FROM data GROUP BY a", user="u")
        for row, low_true, high_true in zip(
            answer.rows, np.minimum(pay[:20], pay[20:]), np.maximum(pay[:20], pay[20:])
        ):
            for (low, high), true in zip(row.values, (low_true, high_true)):
                assert low <= true <= high, name
                assert high - low >= 199, "a cell is at least 2 · 20 percent of its band's end wide"
