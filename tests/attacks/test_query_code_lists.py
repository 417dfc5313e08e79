"""The modes `private` and `cell-key` must not tell which codes records have: one person's own code was a group of its own.

Where levels follow from the digits of the codes, or a code list or hierarchy was guessed, the list is made from the records.
The number of groups, and which codes can be compared, then said whether the one person is there. No noise hides that.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from attacks.query_scenarios import database, policy_of
from reticent.data.hierarchy import Hierarchy
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.database import ProtectedDatabase
from reticent.queries.modes import MODES
from reticent.queries.policy import Bounds

OWN = "33"
QUESTIONS = (
    "SELECT COUNT(*) FROM data GROUP BY job",
    f"SELECT COUNT(*) FROM data WHERE job <= '{OWN}'",
    "SELECT SUM(pay) FROM data WHERE job <> '11' GROUP BY job WITH TOTALS",
)


def variable(made: str, jobs: list[str]) -> Variable:
    """The filter, with what its owner has of it in the one database or in the other."""
    found = tuple(sorted(set(jobs)))
    facts: dict[str, Any] = {"digits": (1, 1)}
    if made == "codes":
        facts = {"codes": found, "guessed": ("codes",)}
    if made == "hierarchy":
        facts = {"hierarchy": Hierarchy.from_digits(found, (1, 1)), "guessed": ("hierarchy",)}
    return Variable("job", role=Role.KEY, **facts)


def opened(mode: str, own: Variable, jobs: list[str], ledger: Path | None = None) -> ProtectedDatabase:
    pay = Variable("pay", role=Role.SENSITIVE, kind=Kind.NUMERIC)
    policy = policy_of(
        mode=mode,
        filters=("job",),
        responses=("pay",),
        bounds={"pay": Bounds(0, 100)},
        options={"cell-key": {"sums": {"small": 0.2}}},
    )
    table = pl.DataFrame({"job": jobs, "pay": [10.0] * len(jobs)})
    return database(table, Schema((own, pay)), policy, ledger=ledger)


def seen(mode: str, made: str, kind: Kind, person: str) -> list[Any]:
    """For each question the groups, or why it is refused."""
    jobs = ["11", "12", "21", "22"] * 20 + [person]
    db = opened(mode, replace(variable(made, jobs), kind=kind), jobs)
    told = [db.ask(question, user="u").as_json() for question in QUESTIONS]
    return [[row.get("job") for row in own["rows"]] if "rows" in own else (own["code"], own["message"]) for own in told]


@pytest.mark.parametrize("mode", ["private", "cell-key"])
@pytest.mark.parametrize(
    "made, kind",
    [(made, kind) for made in ("digits", "codes", "hierarchy") for kind in (Kind.NOMINAL, Kind.ORDINAL)]
    + [("codes", Kind.NUMERIC)],
)
def test_groups_do_not_tell_who_is_the_only_one_with_a_code(mode: str, made: str, kind: Kind) -> None:
    if mode == "private":
        pytest.importorskip("opendp")
    assert seen(mode, made, kind, OWN) == seen(mode, made, kind, "11")


@pytest.mark.parametrize("facts", [{"codes": ("11", "12", "21", "22")}, {"digits": (1, 1)}])
def test_declared_lists_and_modes_that_hide_no_codes_show_groups(facts: dict[str, Any]) -> None:
    mode = "cell-key" if "codes" in facts else "exact"
    db = opened(mode, Variable("job", role=Role.KEY, **facts), ["11", "12", "21", "22"] * 20)
    assert len(db.ask(QUESTIONS[0], user="u").as_json()["rows"]) == 4


def test_a_ledger_that_showed_such_groups_opens_and_repeats_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its answers count: a new ledger would begin with a new budget."""
    jobs = ["11", "12", "21", "22"] * 20
    with monkeypatch.context() as before:
        before.setitem(MODES, "cell-key", replace(MODES["cell-key"], hides_codes=False))
        db = opened("cell-key", variable("digits", jobs), jobs, tmp_path / "one.ledger")
        told = db.ask(QUESTIONS[0], user="u").as_json()["rows"]
        db.close()
    db = opened("cell-key", variable("digits", jobs), jobs, tmp_path / "one.ledger")
    assert not db.ask(QUESTIONS[0], user="u").as_json()["answered"]
    assert db.ask("SELECT COUNT(*) FROM data WHERE job = '11'", user="u").as_json()["value"] == told[0]["count(*)"]
