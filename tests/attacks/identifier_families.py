"""Versions of a data set whose identifiers do not mean the same record: replaced, exchanged, repeated, missing.

`PYTHONPATH=src:tests python -m attacks.identifier_families 10` counts, for each way, how many of some ledgers and query databases
give away what they hide.
"""

import hashlib
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

import reticent as rt
from reticent.base.errors import ReticentError
from reticent.jobs.release import release_plan

Row = dict[str, Any]
Change = Callable[[list[Row], random.Random], list[Row]]
SECRET = hashlib.sha256(b"identifiers").digest()
SCHEMA = """
[[variable]]
name = "id"
role = "identifier"
[[variable]]
name = "ind"
codes = { A = "A", B = "B", C = "C" }
[[variable]]
name = "size"
codes = { x = "x", y = "y", z = "z" }
[[variable]]
name = "value"
kind = "numeric"
[[variable]]
name = "staff"
kind = "numeric"
"""
DATABASE = rt.Schema(
    (
        rt.Variable("id", role=rt.Role.IDENTIFIER),
        rt.Variable("ind"),
        rt.Variable("size"),
        rt.Variable("value", kind=rt.Kind.NUMERIC),
        rt.Variable("staff", kind=rt.Kind.NUMERIC),
    )
)


def firms(rng: random.Random, each: int = 4) -> list[Row]:
    """Two firms in two cells, some more in the others."""
    rows: list[Row] = []
    for ind in "ABC":
        for size in "xyz":
            for _ in range(2 if (ind, size) in (("A", "z"), ("B", "x")) else rng.choice((each - 1, each))):
                own = {"value": rng.randint(80, 400), "staff": rng.randint(5, 90)}
                rows.append({"id": f"f{len(rows):03d}", "ind": ind, "size": size, **own})
    return rows


def renumbered(rows: list[Row], rng: random.Random) -> list[Row]:
    """All records but one have another identifier."""
    return [row if at == 0 else {**row, "id": f"n{at}"} for at, row in enumerate(rows)]


def partly(rows: list[Row], rng: random.Random) -> list[Row]:
    """Three of five have another identifier."""
    return [row if at % 5 in (0, 3) else {**row, "id": f"n{at}"} for at, row in enumerate(rows)]


def written(rows: list[Row], rng: random.Random) -> list[Row]:
    """Most identifiers are written in capitals."""
    return [row if at < 3 else {**row, "id": row["id"].upper()} for at, row in enumerate(rows)]


def exchanged(rows: list[Row], rng: random.Random) -> list[Row]:
    """The identifiers are those of before, given to others."""
    ids = [row["id"] for row in rows]
    rng.shuffle(ids)
    return [{**row, "id": own} for row, own in zip(rows, ids, strict=True)]


def thousands(rows: list[Row], rng: random.Random) -> list[Row]:
    """Other identifiers, and amounts in other units."""
    return [{**row, "value": 1000 * row["value"]} for row in renumbered(rows, rng)]


def corrected(rows: list[Row], rng: random.Random) -> list[Row]:
    """Other identifiers, and one value in ten corrected."""
    return [{**row, "value": row["value"] + 5 * (at % 10 == 3)} for at, row in enumerate(renumbered(rows, rng))]


def recoded(rows: list[Row], rng: random.Random) -> list[Row]:
    """Other identifiers, and other codes of industries."""
    return [{**row, "ind": {"A": "B", "B": "C", "C": "A"}[row["ind"]]} for row in renumbered(rows, rng)]


def repeated(rows: list[Row], rng: random.Random) -> list[Row]:
    """Two records have the same identifier."""
    return [{**row, "id": rows[0]["id"]} if at == 1 else row for at, row in enumerate(rows)]


def missing(rows: list[Row], rng: random.Random) -> list[Row]:
    """A record has no identifier."""
    return [{**row, "id": None} if at == 1 else row for at, row in enumerate(rows)]


CHANGES: dict[str, Change] = {
    own.__name__: own
    for own in (renumbered, partly, written, exchanged, thousands, corrected, recoded, repeated, missing)
}


def ledger_gives(folder: Path, seed: int, change: Change, *, counts: bool = False) -> bool:
    """Whether the table of the next version shows what that of the first hides: the firms are the same."""
    rng = random.Random(seed)
    old = firms(rng, 30 if counts else 4)
    for version, rows in {"2025": old, "2026": change(old, rng)}.items():
        shown = [{name: row[name] for name in ("id", "ind", "size")} for row in rows] if counts else rows
        pl.DataFrame(shown).write_csv(folder / f"{version}.csv")
    parts = SCHEMA.split("[[variable]]")
    (folder / "schema.toml").write_text("[[variable]]".join(parts[:4]) if counts else SCHEMA)
    for version, minimum in (("2025", 3), ("2026", 0)):
        rules = f'rules = [{{ rule = "threshold", minimum = {minimum}, protection = 20 }}]' if minimum else ""
        earlier = '[[ledger.earlier]]\nversion = "2025"\npath = "2025.csv"\n' if version == "2026" else ""
        response = "" if counts else 'response = "value"\n'
        (folder / f"{version}.toml").write_text(
            f'[data]\npath = "{version}.csv"\nschema = "schema.toml"\nsecret = 12345\ntest_secret = true\n'
            f'[table]\ndimensions = ["ind", "size"]\n{response}{rules}\n[output]\npath = "table-{version}.csv"\n'
            f'[ledger]\npath = "l.ledger"\nname = "{version}"\nversion = "{version}"\n{earlier}'
        )
        try:
            release_plan(folder / f"{version}.toml")
        except ReticentError:
            return False
    return (folder / "table-2026.csv").exists()


def database_gives(folder: Path, seed: int, change: Change, mode: str = "exact") -> bool:
    """Whether two totals of one group differ by the value of a firm that left."""
    rng = random.Random(seed)
    old = firms(rng, 8)
    gone = rng.choice(old[10:])
    new = [dict(row) for row in old if row is not gone]
    rng.shuffle(new)
    versions = [rt.load(pl.DataFrame(rows), schema=DATABASE) for rows in (old, change(new, rng))]
    policy = rt.Policy(mode=mode, filters=("ind", "size"), responses=("value",), minimum=3)  # type: ignore[arg-type]
    found = []
    try:
        for number, data in enumerate(versions, start=1):
            earlier = [("1", versions[0])] if number == 2 else []
            opened = rt.open_database(
                data, policy=policy, ledger=folder / "l", secret=SECRET, version=str(number), earlier=earlier
            )
            found.append(opened.ask(f"SELECT SUM(value) FROM data WHERE ind = '{gone['ind']}'", user="ann"))
            opened.close()
    except ReticentError:
        return False
    values = [getattr(one, "value", None) for one in found]
    return None not in values and abs(values[0] - values[1]) == gone["value"] * (1000 if change is thousands else 1)


if __name__ == "__main__":
    times = int(sys.argv[1])
    for name, own in CHANGES.items():
        with tempfile.TemporaryDirectory() as place:
            folders = [Path(place, str(at)) for at in range(3 * times)]
            for one in folders:
                one.mkdir()
            rates = [
                sum(ledger_gives(folders[at], at, own) for at in range(times)),
                sum(ledger_gives(folders[times + at], at, own, counts=True) for at in range(times)),
                sum(database_gives(folders[2 * times + at], at, own) for at in range(times)),
            ]
        print(f"{name:12} of {times}: sums {rates[0]}, counts {rates[1]}, queries {rates[2]}")  # noqa: T201
