"""The digits of an answer with noise: steps of the noise must not show in them."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.database import ProtectedDatabase
from reticent.queries.policy import Bounds, Policy

STEPS = np.arange(-100, 101)


def test_the_largest_respondent_reads_no_noise_from_digits(tmp_path: Path) -> None:
    """The noise was M · 0.01 · j with whole j, and values are whole: the fraction of an answer told j modulo 100."""
    decoded, answered, odd = 0, 0, []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        values = np.round(rng.lognormal(8, 1, 40))
        largest = int(values.argmax())
        values[largest] += {0: 1, 5: 2}.get(values[largest] % 10, values[largest] % 2 == 0)
        group = ["all"] * 40
        group[(largest + 1) % 40] = "target"
        schema = Schema(
            (Variable("group", codes=("all", "target")), Variable("pay", role=Role.SENSITIVE, kind=Kind.NUMERIC))
        )
        data = Microdata.of(pl.DataFrame({"group": group, "pay": values}), schema)
        policy = Policy(
            filters=("group",),
            responses=("pay",),
            mode="cell-key",
            minimum=3,
            options={"cell-key": {"sums": {"small": 0.2}}},
        )
        database = ProtectedDatabase(
            data, policy=policy, secret=seed, test_secret=True, ledger=tmp_path / f"{seed}.ledger"
        )
        for where in ("", " WHERE group <> 'target'"):
            answer = database.ask(f"SELECT SUM(pay) FROM data{where}", user="ann")
            again = database.ask(f"SELECT SUM(pay) FROM data{where}", user="bob")
            assert answer.rows == again.rows
            total = float(answer.rows[0].values[0])
            rest = total - values[largest] * 0.01 * STEPS
            decoded += bool((np.abs(rest - np.round(rest)) < 1e-5).any())
            answered += 1
            odd.append(total % 1)
        database.close()
    assert answered == 24
    assert decoded <= 3, "by chance 1 in 100 answers to a step or so"
    assert np.std(odd) > 0.15, "fractions are spread out"


@pytest.mark.parametrize("magnifier", ["mean", "sum", "range"])
def test_steps_show_for_no_magnifier(tmp_path: Path, magnifier: str) -> None:
    """Answer = truth + size · j / 100; of ten answers hardly one lies on such a step by chance."""
    rng = np.random.default_rng(3)
    values, group = np.round(rng.lognormal(6, 1, 150)), [f"g{i % 10}" for i in range(150)]
    codes = tuple(sorted(set(group)))
    schema = Schema((Variable("group", codes=codes), Variable("pay", role=Role.SENSITIVE, kind=Kind.NUMERIC)))
    data = Microdata.of(pl.DataFrame({"group": group, "pay": values}), schema)
    options = {"cell-key": {"sums": {"small": 0.2, "magnifier": magnifier}}}
    policy = Policy(filters=("group",), responses=("pay",), mode="cell-key", minimum=3, options=options)
    database = ProtectedDatabase(data, policy=policy, secret=5, test_secret=True, ledger=tmp_path / "l.ledger")
    rows = database.ask("SELECT SUM(pay) FROM data GROUP BY group", user="ann").rows
    steps = []
    for row in rows:
        own = values[[i for i, code in enumerate(group) if (code,) == tuple(row.group)]]
        if not len(own) or row.values[0] is None:
            continue
        size = {"mean": own.mean(), "sum": own.sum(), "range": np.ptp(own)}[magnifier]
        steps.append((row.values[0] - own.sum()) / size * 100)
    away = np.abs(np.array(steps) - np.round(steps))
    assert len(away) >= 8
    assert (away > 0.02).mean() > 0.7


def test_cells_of_whole_numbers_hold_as_many_as_promised(tmp_path: Path) -> None:
    """Twice `least` whole numbers or more, the published ends counted: no single value is named."""
    values = np.random.default_rng(1).integers(0, 30, 30).astype(float)
    codes = [f"p{i:02}" for i in range(30)]
    schema = Schema((Variable("who", codes=tuple(codes)), Variable("x", role=Role.SENSITIVE, kind=Kind.NUMERIC)))
    data = Microdata.of(pl.DataFrame({"who": codes, "x": values}), schema)
    for least in (1, 3):
        policy = Policy(
            filters=("who",),
            responses=("x",),
            mode="camouflage",
            bounds={"x": Bounds(0, 1000, True)},
            options={"camouflage": {"least": least}},
        )
        database = ProtectedDatabase(
            data, policy=policy, secret=2, test_secret=True, ledger=tmp_path / f"{least}.ledger"
        )
        for row in database.ask("SELECT MAX(x) FROM data GROUP BY who", user="ann").rows:
            low, high = row.values[0]
            assert high - low + 1 >= 2 * least
