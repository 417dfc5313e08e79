"""The mode analysis, from answers only: quantiles, the digits of a regression, and respondents with several records."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

from attacks.query_scenarios import database, people, policy_of
from reticent.base.arrays import Floats, Ints
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.analysis import rounding
from reticent.queries.database import ProtectedDatabase

PLACES, CODES = ("area", "trade", "age"), "abcde"
Means = Callable[[str, str], list[float]]


def families(seed: int) -> pl.DataFrame:
    """160 people with up to three children, most of them alone in their combination of three codes."""
    rng = np.random.default_rng(seed)
    codes = {name: rng.choice(list(CODES), 160) for name in PLACES}
    return pl.DataFrame({**codes, "kids": rng.choice([0.0, 0.0, 1.0, 2.0, 3.0], 160)})


def asked_means(db: ProtectedDatabase) -> Means:
    """What an analyst gets: as many quantiles of a code as it has records in the sample, less four."""

    def of(name: str, code: str) -> list[float]:
        def values(items: str) -> Any:
            return db.ask(f"SELECT {items} FROM data WHERE {name} = '{code}'", user="u").rows[0].values

        (n,) = values("COUNT(kids)")
        return list(values(", ".join(f"QUANTILE(kids, {(place + 2) / (n - 1)!r})" for place in range(n - 4))))

    return of


def overlapping_means(table: pl.DataFrame) -> Means:
    """As it was: the means of the five nearest in a sample, in which each value has its factor."""
    rng = np.random.default_rng(0)
    size = rng.uniform(0.05, 0.1, len(table)) * rng.choice([-1, 1], len(table))
    table = table.with_columns(kids=table["kids"] * (1 + size))

    def of(name: str, code: str) -> list[float]:
        values = np.sort(rng.permutation(table.filter(pl.col(name) == code)["kids"].to_numpy())[3:])
        return [float(values[low : low + 5].mean()) for low in range(len(values) - 4)]

    return of


def sample_of(means: list[float]) -> Floats:
    """The values other than 0 of a sample: neighbouring means of five differ by two values, and the first five are 0."""
    values = [0.0] * 5
    for before, after in itertools.pairwise(means):
        values.append(values[-5] + 5 * (after - before))
    return np.array([value for value in values if value > 0.5])


def located(means: Means) -> dict[tuple[str, ...], int]:
    """Numbers of children with the codes of the person: the factor makes each value other than 0 one of its kind."""
    samples = {(name, code): sample_of(means(name, code)) for name in PLACES for code in CODES}
    found: dict[tuple[str, ...], list[int]] = {}
    for codes in itertools.product(CODES, repeat=3):
        first, *others = (samples[own] for own in zip(PLACES, codes))
        for value in first:
            if all(len(other) and np.abs(other - value).min() < 1e-9 for other in others):
                found.setdefault(codes, []).append(round(value))
    return {codes: values[0] for codes, values in found.items() if len(values) == 1}


def right(table: pl.DataFrame, found: dict[tuple[str, ...], int]) -> tuple[int, int]:
    """Of the people alone with their codes: how many have children, and of how many the number was found."""
    alone = {codes: kids for *codes, kids in table.unique(list(PLACES), keep="none").iter_rows() if kids
             for codes in [tuple(codes)]}  # fmt: skip
    return len(alone), sum(found.get(codes) == kids for codes, kids in alone.items())


def test_quantiles_show_no_single_values() -> None:
    """Means of overlapping neighbours were all values of all samples, and values of three samples belong to one person."""
    table = families(1)
    known, hits = right(table, located(overlapping_means(table)))
    assert known >= 10
    assert hits >= 0.6 * known
    keys = [Variable(name, role=Role.KEY, codes=tuple(CODES)) for name in PLACES]
    schema = Schema((*keys, Variable("kids", role=Role.SENSITIVE, kind=Kind.NUMERIC)))
    db = database(table, schema, policy_of(mode="analysis", filters=PLACES, responses=("kids",)))
    assert right(table, located(asked_means(db)))[1] == 0


def who_is_left(numbers: Floats, fit: dict[str, Any]) -> tuple[Ints, float, float]:
    """The records of a regression on a public number, by the sum of those that were dropped; its mean and spread."""
    n, errors = fit["n"], fit["standard_errors"]
    left = fit["anova"]["residual"] / (n - 2)
    spread = left / errors["size"] ** 2
    mean = float(np.sqrt(max(0.0, (errors["(intercept)"] ** 2 / left - 1 / n) * spread)))
    dropped = np.array(list(itertools.combinations(range(len(numbers)), len(numbers) - n)))
    gone = dropped[np.argmin(np.abs(numbers[dropped].sum(axis=1) - (numbers.sum() - mean * n)))]
    return np.setdiff1d(np.arange(len(numbers)), gone), mean, spread


def bits_left(numbers: Floats, fit: dict[str, Any]) -> tuple[Ints, Ints]:
    """Who is left, and their bits: those whose public numbers add up to what the slope says."""
    kept, mean, spread = who_is_left(numbers, fit)
    slope = fit["coefficients"]["size"]
    ones = round(fit["n"] * (fit["coefficients"]["(intercept)"] + slope * mean))
    wanted = slope * spread + mean * ones
    bits = (np.arange(1 << len(kept))[:, None] >> np.arange(len(kept))) & 1
    bits = bits[bits.sum(axis=1) == ones]
    return kept, bits[np.argmin(np.abs(bits @ numbers[kept] - wanted))] if len(bits) else bits.sum(axis=0)


@pytest.mark.parametrize("rounded", [False, True])
def test_digits_of_a_regression_tell_nobody(monkeypatch: pytest.MonkeyPatch, *, rounded: bool) -> None:
    """One regression of twenty bits on public numbers of seven digits: without rounding all that were not dropped."""
    if not rounded:
        monkeypatch.setattr(rounding, "SHOWN", 1e12)
    all_known = 0
    for seed in range(2):
        rng = np.random.default_rng(seed)
        numbers, bits = rng.integers(10**6, 10**7, 20).astype(float), rng.integers(0, 2, 20)
        table = pl.DataFrame({"size": numbers, "bit": bits.astype(float)})
        kinds = {"size": Role.KEY, "bit": Role.SENSITIVE}
        schema = Schema(tuple(Variable(name, role=role, kind=Kind.NUMERIC) for name, role in kinds.items()))
        options = {"analysis": {"category": 3}}
        policy = policy_of(mode="analysis", filters=("size",), responses=("bit",), options=options)
        fit = database(table, schema, policy).ask("SELECT LINREG(bit, size) FROM data", user="u").as_json()["value"]
        kept, found = bits_left(numbers, fit)
        all_known += bool((found == bits[kept]).all())
    assert all_known == 0 if rounded else all_known == 2


def pairs_about(records: int, companions: int = 0, *, known: bool = False, pads: str = "pqr") -> int:
    """How many pairs of universes are answered whose difference is somebody with some records, and companions."""
    rng = np.random.default_rng(4)
    rows = [("t", "core", "yes")] * records + [(f"x{k}", "core", "yes") for k in range(companions)]
    rows += [(f"c{k}", "core", "no") for k in range(30)] + [(f"o{k}", "other", ("yes", "no")[k % 2]) for k in range(80)]
    rows += [(f"{pad}{k}", pad, ("yes", "no")[k % 2]) for pad in pads for k in range(40)]
    table = pl.DataFrame(dict(zip(("who", "area", "permit"), zip(*rows))))
    table = table.with_columns(bit=rng.integers(0, 2, len(rows)).astype(float))
    public = tuple(f"x{k}" for k in range(companions)) if known else ()
    policy = policy_of(mode="analysis", filters=("area", "permit"), responses=("bit",), known=public)
    db = database(table, people("area", "permit", numbers=("bit",), entity=True), policy)
    told = []
    for pad, which in itertools.product(pads, ("", " AND permit = 'no'")):
        told.append(
            db.ask(f"SELECT SUM(bit) FROM data WHERE (area = 'core'{which}) OR area = '{pad}'", user="u").as_json()[
                "answered"
            ]
        )
    return sum(map(all, zip(told[::2], told[1::2])))


def test_a_respondent_with_many_records_is_not_a_difference() -> None:
    """Twelve records are more than `joint_gamma`, but of one respondent, who stands out of a few dropped records."""
    assert pairs_about(1, companions=2) == 3
    assert pairs_about(12) == 0
    assert pairs_about(12, companions=9) == 0
    assert pairs_about(1, companions=11) == 3, "twelve respondents with a record each are a group"


def test_companions_who_are_known_hide_nobody() -> None:
    """Whose values the policy calls public do not hide the one who is asked for beside them: twelve pairs, of four allowed."""
    assert pairs_about(1, companions=11, pads="pqrstuvwxyz!") == 12
    assert 1 <= pairs_about(1, companions=11, pads="pqrstuvwxyz!", known=True) <= 4


def answered_with_numbers(texts: list[str], *, known: int = 24, public: int = 0) -> int:
    """How many statistics with public numbers about 40 people are answered, asked by one query for each text."""
    rng = np.random.default_rng(3)
    names = tuple(f"z{number}" for number in range(known))
    table = pl.DataFrame({name: rng.integers(0, 2, 40).astype(float) for name in (*names, "bit")})
    numbers = tuple(Variable(name, role=Role.OTHER, kind=Kind.NUMERIC) for name in table.columns)
    table, schema = (
        table.with_columns(pl.Series("who", [f"r{k}" for k in range(40)])),
        Schema((Variable("who", role=Role.IDENTIFIER), *numbers)),
    )
    options = {"known": tuple(f"r{k}" for k in range(public))}
    db = database(table, schema, policy_of(mode="analysis", filters=names, responses=("bit", *names), **options))
    replies = [db.ask(f"SELECT {text} FROM data", user="u").as_json() for text in texts]
    rows = [row for reply in replies if reply["answered"] for row in reply.get("rows", [reply])]
    return sum(value is not None for row in rows for name, value in row.items() if "(" in name or name == "value")


@pytest.mark.parametrize("what", ["CORR(bit, {})", "LINREG({}, bit)", "LOGREG({}, bit)", "LINREG(bit, {})"])
def test_sums_with_public_numbers_are_few_however_they_are_asked(what: str) -> None:
    """Sixty correlations of a bit with public numbers, or regressions of these on it, gave 95 % of 40 bits."""
    every = [what.format(f"z{number}") for number in range(24)]
    assert answered_with_numbers(every) == 4
    assert answered_with_numbers([", ".join(every)]) == 4, "all in one query"


def test_records_that_are_known_are_not_counted_for_public_numbers() -> None:
    """Of forty records thirty are known: one regression is answered about the other ten."""
    every = [f"LINREG(bit, z{number})" for number in range(24)]
    assert answered_with_numbers(every, public=30) == 1
