"""Versions in which all values rose in one way: the new version less the old one must not single anybody out."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from attacks.query_scenarios import policy_of
from reticent.base.arrays import Floats
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.database import ProtectedDatabase

N, TARGET = 60, 5
KEYS = {"dep": ("a", "b"), "one": ("t", "o")}
SCHEMA = Schema(
    (
        Variable("id", role=Role.IDENTIFIER),
        *(Variable(name, role=Role.KEY, codes=codes) for name, codes in KEYS.items()),
        *(Variable(name, role=Role.SENSITIVE, kind=Kind.NUMERIC) for name in ("pay", "before")),
    )
)
ALL = "SELECT SUM(pay) FROM data"
OTHERS = ALL + " WHERE one = 'o'"


def people(pay: Floats, before: Floats) -> pl.DataFrame:
    """One record for each pay, with that of the year before; the target alone has the code `t`."""
    n = len(pay)
    one = ["t" if k == TARGET else "o" for k in range(n)]
    return pl.DataFrame(
        {"id": [f"p{k}" for k in range(n)], "dep": (["a", "b"] * n)[:n], "one": one, "pay": pay, "before": before}
    )


def two_versions(folder: Path, mode: str, old: Floats, new: Floats, question: str) -> list[float | None]:
    """The total of the first version, and what is asked about the second."""
    last = np.random.default_rng(2).integers(1000, 9000, len(old)).astype(float)
    befores = (last, np.append(old, new[len(old) :]))
    tables = [Microdata.of(people(*pays), SCHEMA) for pays in zip((old, new), befores)]
    policy = policy_of(mode=mode, filters=tuple(KEYS), responses=("pay", "before"))
    found = []
    for number, text in enumerate((ALL, question)):
        db = ProtectedDatabase(
            tables[number], policy=policy, secret=7, ledger=folder / f"{mode}.ledger", test_secret=True,
            version=str(number), earlier=[("0", tables[0])][:number],
        )  # fmt: skip
        found.append(db.ask(text, user="u").as_json().get("value"))
        db.close()
    return found


PAY = np.random.default_rng(1).integers(1000, 9000, N).astype(float)
RAISED = np.round(PAY * 1.02, 2)
SAME = np.arange(N) == TARGET
AGE = np.random.default_rng(4).integers(18, 66, N).astype(float)
RISES = {
    "a factor": (PAY * 1.1, OTHERS),
    "a rounded factor": (np.round(PAY * 1.02), OTHERS),
    "an amount": (PAY + 100, OTHERS),
    "the target had no rise": (np.where(SAME, PAY, RAISED), ALL),
    "the target had another rise": (np.where(SAME, PAY * 1.5, RAISED), ALL),
    "whole numbers of two digits, a year later": (AGE + 1, OTHERS),
    "somebody is new": (np.append(RAISED, 4321.0), ALL),
}


@pytest.mark.parametrize("rise", RISES)
def test_a_rise_for_all_makes_no_new_unknowns(tmp_path: Path, rise: str) -> None:
    """Who knows the rise had the target's pay from the old total and the new one of the others, or the other way round."""
    new, question = RISES[rise]
    old = AGE if "year" in rise else PAY
    old_total, new_total = two_versions(tmp_path, "exact", old, new, question)
    assert old_total is not None
    assert new_total is None


def test_the_attack_succeeds_on_open_answers(tmp_path: Path) -> None:
    old_total, new_total = two_versions(tmp_path, "open", PAY, PAY * 1.1, OTHERS)
    assert old_total is not None
    assert new_total is not None
    assert old_total - new_total / 1.1 == pytest.approx(PAY[TARGET])


def test_the_pay_of_the_year_before_is_no_new_unknown(tmp_path: Path) -> None:
    """A variable of the new version repeats another one of the old version, whose total is known."""
    new = np.round(PAY * np.random.default_rng(3).uniform(0.9, 1.3, N))
    lagged = "SELECT SUM(before) FROM data"
    old_total, others = two_versions(tmp_path, "open", PAY, new, lagged + " WHERE one = 'o'")
    assert old_total is not None
    assert others is not None
    assert old_total - others == PAY[TARGET]
    assert two_versions(tmp_path, "exact", PAY, new, lagged + " WHERE one = 'o'")[1] is None
    (tmp_path / "again").mkdir()
    assert None not in two_versions(tmp_path / "again", "exact", PAY, new, lagged)


@pytest.mark.parametrize(
    "new",
    [
        PAY * 1.1,
        PAY + 1,
        np.append(RAISED, [4321.0, 2000.0, 3000.0, 1234.0]),
        np.where(np.arange(N) < 9, PAY * 1.37, RAISED),
    ],
)
def test_honest_totals_are_answered_after_a_rise(tmp_path: Path, new: Floats) -> None:
    """A rise for all, with four new people, or with nine who had another one."""
    assert None not in two_versions(tmp_path, "exact", PAY, new, ALL)


def test_simulatable_does_not_look_for_repeated_values(tmp_path: Path) -> None:
    """Whether a variable of the new version repeats one of the old must not decide about a refusal."""
    fresh = np.random.default_rng(9).integers(1000, 9000, N).astype(float)
    policy = policy_of(
        mode="simulatable",
        filters=tuple(KEYS),
        responses=("pay", "before"),
        options={"simulatable": {"ties": "declared"}},
    )
    verdicts = []
    for before in (PAY, fresh):
        data = Microdata.of(people(PAY, before), SCHEMA)
        (folder := tmp_path / str(len(verdicts))).mkdir()
        own = []
        for number, text in enumerate((ALL, "SELECT SUM(before) FROM data WHERE one = 'o'")):
            db = ProtectedDatabase(
                data, policy=policy, secret=7, ledger=folder / "l", test_secret=True,
                version=str(number), earlier=[("0", data)][:number],
            )  # fmt: skip
            own.append(db.ask(text, user="u").as_json()["answered"])
            db.close()
        verdicts.append(own)
    assert verdicts[0] == verdicts[1]
