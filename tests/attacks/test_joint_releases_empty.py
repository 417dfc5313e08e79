"""Attacks on hidden counts by sums: where every record has at least so much of a number, a small sum leaves room for few records.

A table hides how many people live in two small places. Sums of pay over each place bound them, because nobody is paid less than
ten. The judge left room for people in combinations of codes that nobody has today, as if they were paid nothing.
"""

import random
from dataclasses import dataclass
from pathlib import Path

import pytest

from reticent.base.errors import ReticentError
from reticent.jobs.answer_query import open_database
from reticent.jobs.release import release_plan

PAY = {
    ("x", "m"): (10, 12, 13),
    ("y", "m"): (11, 12, 16),
    ("v", "m"): (14, 31, 17, 25, 40, 28, 33),
    ("v", "f"): (21, 18, 37, 15, 29, 60, 11),
}
PLAN = """
[data]
path = "people.csv"
schema = "people.schema.toml"
secret = "secret.key"
[table]
dimensions = ["place"]
rules = [{ rule = "threshold", minimum = 4, protection = 30 }]
relations = ["10 count <= pay"]
[output]
path = "table.csv"
[ledger]
path = "people.ledger"
name = "table"
database = "people.db.toml"
"""
DATABASE = """
[data]
path = "people.csv"
schema = "people.schema.toml"
secret = "secret.key"
[ledger]
path = "people.ledger"
[policy]
filters = ["place", "sex"]
responses = ["pay"]
minimum = 3
"""


@dataclass
class Office:
    """A folder with a plan of a table that hides counts, and a database of the same people."""

    folder: Path

    def answered(self, *conditions: str) -> list[bool]:
        """Whether sums of pay under each condition are answered."""
        database = open_database(self.folder / "people.db.toml")
        asked = [f"SELECT SUM(pay) FROM data WHERE {condition}" for condition in conditions]
        found = [bool(database.ask(query, user="a").as_json()["answered"]) for query in asked]
        database.close()
        return found

    def released(self) -> str:
        """Release the table; the refusal, or nothing."""
        try:
            release_plan(self.folder / "table.toml")
        except ReticentError as refused:
            return str(refused)
        return ""


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return opened(tmp_path, PAY, PLAN)


def opened(tmp_path: Path, pays: dict[tuple[str, str], tuple[int, ...]], plan: str) -> Office:
    """An office of these people."""
    rows = [f"{place},{sex},{pay}" for (place, sex), own in pays.items() for pay in own]
    (tmp_path / "people.csv").write_text("\n".join(["place,sex,pay", *rows, ""]))
    schema = '[[variable]]\nname = "place"\nrole = "key"\ncodes = { x = "x", y = "y", v = "v" }\n'
    schema += '[[variable]]\nname = "sex"\nrole = "key"\ncodes = { m = "m", f = "f" }\n'
    schema += '[[variable]]\nname = "pay"\nrole = "sensitive"\nkind = "numeric"\n'
    (tmp_path / "people.schema.toml").write_text(schema)
    (tmp_path / "secret.key").write_text(random.Random(4).randbytes(32).hex() + "\n")
    (tmp_path / "secret.key").chmod(0o600)
    (tmp_path / "table.toml").write_text(plan)
    (tmp_path / "people.db.toml").write_text(DATABASE)
    return Office(tmp_path)


def test_sums_leave_no_room_for_people_where_nobody_is(office: Office) -> None:
    """With 35 in x at most three people are there, women or men; four must stay possible."""
    assert office.answered("place = 'x'", "place = 'y'") == [True, True]
    assert "would be known too well" in office.released()


def test_nor_in_the_other_order(office: Office) -> None:
    assert not office.released()
    assert office.answered("place = 'x'") == [False]


def test_a_sum_that_leaves_room_is_answered(office: Office) -> None:
    """74 over both places leaves room for seven people, of whom everybody knows six."""
    assert office.answered("place IN ('x', 'y')") == [True]
    assert not office.released()


SIX = {(place, sex): tuple(range(20 + k, 20 + k + (7 if place == "v" else 3))) for k, (place, sex) in enumerate(
    [(place, sex) for place in ("x", "y", "v") for sex in ("m", "f")]
)}  # fmt: skip
WIDE = PLAN.replace("minimum = 4, protection = 30", "minimum = 7, protection = 90").replace(
    'relations = ["10 count <= pay"]\n', ""
)


def test_sums_show_that_somebody_is_there(tmp_path: Path) -> None:
    """Six people in x, one must stay possible; sums over its men and over its women show two."""
    office = opened(tmp_path, SIX, WIDE)
    assert office.answered("place = 'x' AND sex = 'm'", "place = 'x' AND sex = 'f'") == [True, True]
    assert "would be known too well" in office.released()


def test_nor_may_they_show_it_afterwards(tmp_path: Path) -> None:
    office = opened(tmp_path, SIX, WIDE)
    assert not office.released()
    wheres = ("place = 'x' AND sex = 'm'", "place = 'x' AND sex = 'f'", "place = 'x'")
    assert office.answered(*wheres) == [True, False, True]


def test_one_sum_shows_no_more_than_the_table(tmp_path: Path) -> None:
    """That nobody is in a hidden cell is excluded by the table itself."""
    office = opened(tmp_path, SIX, WIDE)
    assert office.answered("place = 'x'", "place = 'y'", "sex = 'f'") == [True, True, True]
    assert not office.released()
