"""The mode analysis, from answers only: many universes together, values that few have, and new versions of the data."""

import itertools
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from attacks.query_scenarios import database, policy_of
from reticent.base.arrays import Floats
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.database import ProtectedDatabase
from samples import numbers

PADS = [f"p{i}" for i in range(10)]
BIT = Variable("bit", role=Role.SENSITIVE, kind=Kind.NUMERIC)
NUMBER = Variable("id", role=Role.IDENTIFIER)
PLACES = Schema((Variable("area", role=Role.KEY), Variable("permit", role=Role.KEY), BIT))
POLICY = policy_of(mode="analysis", filters=("area", "permit"), responses=("bit",))
Estimate = tuple[float | None, int]


def one_alone(seed: int, share: float) -> tuple[pl.DataFrame, float]:
    """The target, who alone in the core has a permit, forty others there, and ten further areas; the target's bit."""
    rng = np.random.default_rng(seed)
    rows = [("core", "yes"), *[("core", "no")] * 40, *((pad, own) for pad in PADS for own in ["no", "yes"] * 15)]
    bits = (rng.random(len(rows)) < share).astype(float)
    bits[0] = seed % 2
    area, permit = zip(*rows)
    return pl.DataFrame({"area": area, "permit": permit, "bit": bits}), float(bits[0])


def asked(db: ProtectedDatabase, where: str, what: str = "COUNT(*)") -> list[float] | None:
    """The sum and the number of records that it is about, if both are answered."""
    told = db.ask(f"SELECT SUM(bit), {what} FROM data WHERE {where}", user="u").as_json()
    values = [float(v) for v in told["rows"][0].values() if v is not None] if told["answered"] else []
    return values if len(values) == 2 else None


def among(names: Sequence[str]) -> str:
    return "area IN (" + ", ".join(f"'{name}'" for name in names) + ")"


def estimate(measured: list[tuple[float, float]]) -> Estimate:
    """The mean of all measurements, each by how few records its answers lost."""
    if not measured:
        return None, 0
    value, lost = np.array(measured).T
    return float((value / lost).sum() / (1 / lost).sum()), len(measured)


def by_parts(db: ProtectedDatabase, share: float, tries: int) -> Estimate:
    """A universe less two parts that leave the target: no two of the three are nearly the same."""
    rng, measured = np.random.default_rng(1), []
    for _ in range(tries):
        chosen, (a, b) = rng.permutation(PADS).tolist(), rng.integers(1, 4, 2).tolist()
        one, two = chosen[:a], chosen[a : a + b]
        told = [
            asked(db, among(["core", *one, *two])),
            asked(db, f"(area = 'core' AND permit = 'no') OR {among(one)}"),
            asked(db, among(two)),
        ]
        if all(told):
            (all_, n_all), (first, n_first), (second, n_second) = told  # type: ignore[misc]
            lost = 41 + 30 * (a + b) - n_all, 40 + 30 * a - n_first, 30 * b - n_second
            measured.append((all_ - first - second + share * (lost[0] - lost[1] - lost[2]), sum(lost)))
    return estimate(measured)


def by_pairs(db: ProtectedDatabase, share: float, tries: int) -> Estimate:
    """With and without the target, beside one other area."""
    measured = []
    for pad in PADS[:tries]:
        with_, without = (
            asked(db, among(["core", pad])),
            asked(db, f"(area = 'core' AND permit = 'no') OR area = '{pad}'"),
        )
        if with_ and without:
            lost = 71 - with_[1], 70 - without[1]
            measured.append((with_[0] - without[0] + share * (lost[0] - lost[1]), sum(lost)))
    return estimate(measured)


@pytest.mark.parametrize("seed", numbers(2, 20))
def test_a_universe_less_its_parts_is_a_measurement_too(seed: int) -> None:
    """A hundred of them gave 20 of 20 bits; they tell no more together than four pairs do."""
    table, _ = one_alone(seed, 0.5)
    _, answered = by_parts(database(table, PLACES, POLICY, secret=seed + 100), 0.5, 30)
    assert 1 <= answered <= 8


@pytest.mark.parametrize("seed", numbers(2, 40))
def test_where_few_have_a_1_pairs_tell_more_and_are_fewer(seed: int) -> None:
    """Of the few records that are dropped nearly none has a 1: four pairs gave 40 of 40 bits where one in fifty has one."""
    table, _ = one_alone(seed, 0.02)
    assert by_pairs(database(table, PLACES, POLICY, secret=seed + 100), 0.02, 4) == (None, 0)
    table, _ = one_alone(seed, 0.5)
    assert by_pairs(database(table, PLACES, POLICY, secret=seed + 100), 0.5, 10)[1] in (3, 4)


def test_records_without_a_value_hide_nobody() -> None:
    """A response that a quarter have: pairs that differ by the target and many without a value were no near pairs, and hardly
    anybody with a value was dropped. Forty pairs gave 20 of 20 bits.
    """
    rng = np.random.default_rng(3)
    rows = [("core", "no")] * 60 + [("core", "yes")] * 15 + [(pad, "no") for pad in PADS for _ in range(40)]
    there = rng.random(len(rows)) < 0.25
    there[60:75] = [True, *[False] * 14]
    bits = [float(bit) if own else None for bit, own in zip(rng.integers(0, 2, len(rows)), there)]
    area, permit = zip(*rows)
    db = database(pl.DataFrame({"area": area, "permit": permit, "bit": bits}), PLACES, POLICY)
    both = 0
    for pads in list(itertools.combinations(PADS[:5], 2)):
        wheres = f"area = 'core' OR {among(pads)}", f"(area = 'core' AND permit = 'no') OR {among(pads)}"
        both += all(asked(db, where, "COUNT(bit)") for where in wheres)
    assert 1 <= both <= 4


def opened(tables: Sequence[pl.DataFrame], schema: Schema, filters: tuple[str, ...], ledger: Path) -> ProtectedDatabase:
    """The last of some versions."""
    data = [Microdata.of(table, schema) for table in tables]
    earlier = [(str(number), own) for number, own in enumerate(data[:-1])]
    policy = policy_of(mode="analysis", filters=filters, responses=("bit",), options={"analysis": {"category": 3}})
    return ProtectedDatabase(
        data[-1], policy=policy, secret=5, test_secret=True, ledger=ledger, version=str(len(data) - 1), earlier=earlier
    )


def test_a_changed_value_is_drawn_again() -> None:
    """The same records lost the same few in the next version, so that the difference of two answers was the change: 34 of
    40 changes exactly, the others dropped.
    """
    schema, found = Schema((NUMBER, Variable("area", role=Role.KEY), BIT)), []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        bits = rng.integers(0, 2, 160)
        old = pl.DataFrame({"id": [f"{seed}-{i}" for i in range(160)], "area": list("abcd") * 40, "bit": bits})
        new = old.with_columns(bit=pl.Series([1 - bits[0], *bits[1:]]))
        ledger, told = Path(tempfile.mkdtemp()) / "x.ledger", []
        for tables in ([old], [old, new]):
            db = opened(tables, schema, ("area",), ledger)
            told += [
                db.ask(f"SELECT SUM(bit) FROM data WHERE {w}", user="u").as_json()
                for w in ("area = 'a'", "area <> 'b'")
            ]
            db.close()
        assert told[2]["answered"]
        assert not told[3]["answered"], "one universe is as much as the pairs that are allowed"
        found.append(told[2]["value"] - told[0]["value"] == 1 - 2 * bits[0])
    assert sum(found) <= 5


def regressions_answered(public: list[Floats]) -> int:
    """How many versions with other public numbers answer the regression of one response on them."""
    rng = np.random.default_rng(1)
    schema = Schema((NUMBER, Variable("size", role=Role.KEY, kind=Kind.NUMERIC), BIT))
    bits, ledger, answered = rng.integers(0, 2, 40), Path(tempfile.mkdtemp()) / "x.ledger", 0
    tables: list[pl.DataFrame] = []
    for own in public:
        tables.append(pl.DataFrame({"id": [str(i) for i in range(40)], "size": own, "bit": bits}))
        db = opened(tables, schema, ("size",), ledger)
        answered += db.ask("SELECT LINREG(bit, size) FROM data", user="u").as_json()["answered"]
        db.close()
    return answered


def test_other_public_numbers_of_a_new_version_are_counted() -> None:
    """The same column of the same records counted as shown before, although its numbers were others."""
    rng = np.random.default_rng(2)
    assert regressions_answered([rng.integers(10**6, 10**7, 40).astype(float) for _ in range(6)]) == 4
    assert regressions_answered([np.arange(40.0)] * 6) == 6
