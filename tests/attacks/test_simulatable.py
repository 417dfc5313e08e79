"""The mode `simulatable` tells twin databases apart by nothing but answers: verdicts and errors never depend on a value.

`fixtures/v010/simulatable.json` holds what version 0.1.0 replied (verdict codes and error texts, no answers) to `QUESTIONS` on
the databases of `twins()`, made by running `replies` below with that version's code.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from reticent.base.errors import DataError
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.database import ProtectedDatabase
from reticent.queries.policy import Bounds, Policy
from reticent.queries.refusals import Answer

FIXTURE = Path(__file__).parent / "fixtures" / "v010" / "simulatable.json"
SCHEMA = Schema(
    (
        Variable("dep", codes=("a", "b", "c")),
        Variable("y", role=Role.SENSITIVE, kind=Kind.NUMERIC),
        Variable("z", role=Role.SENSITIVE, kind=Kind.NUMERIC),
    )
)
QUESTIONS = [
    f"SELECT {item} FROM data {where}"
    for item in ("SUM(y)", "AVG(z)", "VARIANCE(y)", "STDDEV(z)", "SUM(y), VARIANCE(z)", "COUNT(y)")
    for where in ("", "WHERE dep = 'a'", "WHERE dep <> 'a'", "WHERE dep = 'c'", "GROUP BY dep WITH TOTALS")
]
DEPARTMENTS = list("aaaaaaabbbbbbbbc")


def twins() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Databases with the same records and other values: every magnitude, outliers, ties, constants, fine fractions."""
    rng = np.random.default_rng(20)
    y, z = rng.uniform(1, 9, 16).round(1), rng.uniform(1, 9, 16).round(1)
    one = np.eye(16)[3]
    made = {f"times 1e{power}": (y * 10.0**power, z) for power in (-320, -300, -30, 0, 7, 8, 15, 30, 150, 160, 306)}
    made |= {f"outlier 1e{power}": (y + one * 10.0**power, z + one * 10.0**power) for power in (9, 18, 100, 307)}
    made |= {"9e9": (y + one * 9e9, z), "tied": (y, 2 * y), "constant": (0 * y + 3, z), "zeros": (0 * y, 0 * z)}
    made |= {"fine": (y + 1e-13, z / 3), "negative": (-y * 1e200, z), "both ends": (one * 1e308, one * 5e-324 + 1e-200)}
    return made


def replies(values: tuple[np.ndarray, np.ndarray], folder: Path) -> list[str]:
    """What an analyst sees apart from answers: verdicts, hidden cells, errors."""
    frame = pl.DataFrame({"dep": DEPARTMENTS, "y": values[0], "z": values[1]})
    policy = Policy(mode="simulatable", filters=("dep",), responses=("y", "z"))
    seen = []
    try:
        database = ProtectedDatabase(
            Microdata.of(frame, SCHEMA), policy=policy, secret=1, test_secret=True, ledger=folder / "twin.ledger"
        )
        for question in QUESTIONS:
            reply = database.ask(question, user="u")
            hidden = [row.hidden for row in reply.rows] if isinstance(reply, Answer) else ""
            seen.append(f"{'OK' if isinstance(reply, Answer) else reply.as_json()} {hidden}")
        database.close()
    except Exception as err:
        return [*seen, f"{type(err).__name__}: {err}"]
    return seen


def told_apart(transcripts: dict[str, list[str]]) -> int:
    """The attack: how many twins are recognised by what is not an answer."""
    usual = transcripts["times 1e0"]
    return sum(seen != usual for seen in transcripts.values())


def test_twins_of_every_magnitude_are_refused_alike(tmp_path: Path) -> None:
    before = json.loads(FIXTURE.read_text(encoding="utf-8"))
    assert told_apart(before) >= 10, "0.1.0 failed on large, small and tied values"
    today = {}
    for number, (name, values) in enumerate(twins().items()):
        folder = tmp_path / str(number)
        folder.mkdir()
        today[name] = replies(values, folder)
    assert set(today) == set(before)
    assert told_apart(today) == 0
    usual = today["times 1e0"]
    assert len(usual) == len(QUESTIONS), "no error"
    assert 5 <= sum(seen.startswith("OK") for seen in usual) < len(QUESTIONS), "some answered, some refused"


def survival(folder: Path, events: list[float]) -> dict[str, Any]:
    """What answers say of an event that is declared to be 0 or 1."""
    keys = (Variable("dep", codes=("a", "b", "c")), Variable("time", codes=("1", "2"), kind=Kind.ORDINAL))
    schema = Schema((*keys, Variable("y", role=Role.SENSITIVE, kind=Kind.NUMERIC)))
    policy = Policy(
        mode="simulatable", filters=("dep", "time"), responses=("y",), bounds={"y": Bounds(0, 1, integer=True)}
    )
    frame = pl.DataFrame({"dep": DEPARTMENTS, "time": ["1", "2"] * 8, "y": events})
    database = ProtectedDatabase(
        Microdata.of(frame, schema), policy=policy, secret=1, test_secret=True, ledger=folder / "events.ledger"
    )
    return database.ask("SELECT KM(time, y) FROM data", user="u").as_json()


@pytest.mark.parametrize("wrong", [5.0, -3.0, 0.5, 1e308])
def test_an_event_beyond_its_bounds_changes_no_verdict_and_no_share_of_survivors_is_impossible(
    wrong: float, tmp_path: Path
) -> None:
    """A database that does not open tells of a value; a share below 0 is a wrong answer."""
    reply = survival(tmp_path, [0.0, 1.0] * 7 + [0.0, wrong])
    assert reply["code"] == "OK"
    assert all(0 <= share <= 1 for share in reply["value"]["survival"].values())


def test_survival_counts_who_has_the_event(tmp_path: Path) -> None:
    assert survival(tmp_path, [1.0, 0.0] * 4 + [0.0] * 8)["value"] == {"survival": {"1": 0.75, "2": 0.75}}


@pytest.mark.parametrize("wrong", [np.inf, -np.inf])
@pytest.mark.parametrize("mode", ["simulatable", "exact", "camouflage"])
def test_infinite_values_are_refused_before_anybody_asks(mode: str, wrong: float, tmp_path: Path) -> None:
    frame = pl.DataFrame({"dep": DEPARTMENTS, "y": [1.0] * 15 + [wrong], "z": [float(i) for i in range(16)]})
    policy = Policy(mode=mode, filters=("dep",), responses=("y", "z"), bounds={"y": Bounds(0, 9), "z": Bounds(0, 16)})
    with pytest.raises(DataError, match="'y' has values that are infinite; correct them or declare them missing"):
        ProtectedDatabase(
            Microdata.of(frame, SCHEMA), policy=policy, secret=1, test_secret=True, ledger=tmp_path / "x.ledger"
        )
