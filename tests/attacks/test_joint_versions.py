"""Attacks on releases of two versions of a data set: whatever got out keeps each unsafe cell of each version unknown.

The attacker has the published files, and knows which values did not change and by which rule all of them rose. What follows is
computed here from scratch: one unknown per firm and value, an equation per published cell, and a row per firm whose value rose.
"""

import csv
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

from reticent.base.errors import ReticentError
from reticent.jobs.release import release_plan
from samples import numbers

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
role = "sensitive"
kind = "numeric"
[[variable]]
name = "before"
role = "sensitive"
kind = "numeric"
"""
SHARE = 0.2
Row = dict[str, str | int]
Key = tuple[str, str, int]


@dataclass
class Office:
    """Two versions of firms, and what was released of them."""

    folder: Path
    versions: dict[str, list[Row]]
    rise: float | None = None
    out: list[tuple[str, str, str]] = field(default_factory=list)

    def release(self, name: str, version: str, dimensions: str, response: str, *, minimum: int, memory: bool) -> str:
        """Release a table of a version; the refusal, or nothing."""
        rules = (
            f'rules = [{{ rule = "threshold", minimum = {minimum}, protection = {SHARE * 100:g} }}]' if minimum else ""
        )
        others = {own for _, own, _ in self.out} - {version}
        listed = "".join(f'[[ledger.earlier]]\nversion = "{one}"\npath = "{one}.csv"\n' for one in sorted(others))
        path = self.folder / f"{name}.toml"
        path.write_text(
            f'[data]\npath = "{version}.csv"\nschema = "schema.toml"\nsecret = 12345\ntest_secret = true\n'
            f'[table]\ndimensions = {dimensions}\nresponse = "{response}"\n{rules}\n[output]\npath = "{name}.csv"\n'
            f'[ledger]\npath = "l.ledger"\nname = "{name}"\nversion = "{version}"\nmemory = {str(memory).lower()}\n{listed}'
        )
        try:
            release_plan(path)
        except ReticentError as refused:
            assert not (self.folder / f"{name}.csv").exists(), "what is refused is not written"
            return str(refused)
        self.out.append((name, version, response))
        return ""

    def cells(self, name: str) -> list[dict[str, str]]:
        """A published table."""
        with (self.folder / f"{name}.csv").open() as file:
            return list(csv.DictReader(file))

    def members(self, version: str, cell: dict[str, str]) -> list[Row]:
        """The firms of a cell."""
        keys = [key for key in ("ind", "size") if key in cell and cell[key] != "Total"]
        return [row for row in self.versions[version] if all(row[key] == cell[key] for key in keys)]

    def exposed(self) -> list[str]:
        """The unsafe cells of all released tables that everything together places within 20 percent."""
        unknowns: dict[Key, int] = {}
        for rows in self.versions.values():
            for row in rows:
                for response in ("value", "before"):
                    unknowns.setdefault(self._key(row, response), len(unknowns))
        equal, ends = [], []
        for name, version, response in self.out:
            for cell in self.cells(name):
                if cell["status"] == "published":
                    equal.append(self._row(unknowns, self.members(version, cell), response))
                    ends.append(float(cell["value"]))
        below, most = self._rises(unknowns)
        found = []
        for name, version, response in self.out:
            for cell in self.cells(name):
                members = self.members(version, cell)
                if cell["status"] != "hidden" or not 0 < len(members) < 3:
                    continue
                goal, true = self._row(unknowns, members, response), sum(int(row[response]) for row in members)
                low, high = (
                    sign * linprog(sign * goal, below, most, np.array(equal), ends, bounds=(0, None)).fun
                    for sign in (1, -1)
                )
                if low > true * (1 - SHARE) + 1 or high < true * (1 + SHARE) - 1:
                    found.append(f"{name} {cell}: {true} in {low:.0f} to {high:.0f}")
        return found

    def _key(self, row: Row, response: str) -> Key:
        """What a firm had the year before is the value of that year."""
        if response == "before" and row["year"] == "2026":
            return (str(row["id"]), "value", int(row["before"]))
        return (str(row["id"]), response, int(row[response]))

    def _row(self, unknowns: dict[Key, int], members: list[Row], response: str) -> np.ndarray:
        out = np.zeros(len(unknowns))
        for row in members:
            out[unknowns[self._key(row, response)]] += 1
        return out

    def _rises(self, unknowns: dict[Key, int]) -> tuple[np.ndarray | None, list[float] | None]:
        """The value of the next year is the old one times a factor, rounded."""
        if self.rise is None:
            return None, None
        old = {row["id"]: row for row in self.versions["2025"]}
        rows, most = [], []
        for row in self.versions["2026"]:
            if row["id"] in old and row["value"] != old[row["id"]]["value"]:
                one = np.zeros(len(unknowns))
                one[unknowns[self._key(row, "value")]] = 1
                one[unknowns[self._key(old[row["id"]], "value")]] -= self.rise
                rows += [one, -one]
                most += [0.5, 0.5]
        return np.array(rows), most


def firms(rng: random.Random) -> list[Row]:
    """Four firms in most cells, two in some."""
    rows: list[Row] = []
    for ind in "ABC":
        for size in "xyz":
            for _ in range(2 if (ind, size) in (("A", "z"), ("B", "x")) else rng.choice((3, 4))):
                row: Row = {
                    "id": f"f{len(rows):02d}",
                    "ind": ind,
                    "size": size,
                    "value": rng.randint(80, 400),
                    "year": "2025",
                }
                rows.append({**row, "before": rng.randint(80, 400)})
    return rows


def few(rows: list[Row], rng: random.Random) -> list[Row]:
    """One value is corrected, one firm leaves, one moves, one comes."""
    new = [dict(row) for row in rows]
    rng.shuffle(new)
    new[0]["value"] = int(new[0]["value"]) + rng.randint(10, 90)
    new[1]["ind"] = rng.choice("ABC")
    new[2] = {**new[2], "id": "new", "value": 333}
    return new


def risen(rows: list[Row], rng: random.Random) -> list[Row]:
    """All values rise by 5 percent, and one firm leaves."""
    return [{**row, "value": round(int(row["value"]) * 1.05)} for row in rows[1:]]


def others(rows: list[Row], rng: random.Random) -> list[Row]:
    """All values are others."""
    return [{**row, "value": rng.randint(80, 400)} for row in rows]


Change = Callable[[list[Row], random.Random], list[Row]]


def office_of(folder: Path, seed: int, change: Change) -> Office:
    rng = random.Random(seed)
    old = firms(rng)
    values = {row["id"]: row["value"] for row in old}
    new = [{**row, "year": "2026", "before": values.get(row["id"], 200)} for row in change(old, rng)]
    made = Office(folder, {"2025": old, "2026": new}, 1.05 if change is risen else None)
    for version, rows in made.versions.items():
        lines = [f"{row['id']},{row['ind']},{row['size']},{row['value']},{row['before']}" for row in rows]
        (folder / f"{version}.csv").write_text("\n".join(["id,ind,size,value,before", *lines]) + "\n")
    (folder / "schema.toml").write_text(SCHEMA)
    return made


@pytest.mark.parametrize("change", [few, risen, others])
@pytest.mark.parametrize("seed", numbers(1, 12))
def test_whatever_is_released_of_two_versions(tmp_path: Path, seed: int, change: Change) -> None:
    own, rng = office_of(tmp_path, seed, change), random.Random(seed)
    for number in range(5):
        own.release(
            f"t{number}",
            rng.choice(("2025", "2026")),
            rng.choice(('["ind", "size"]', '["ind", "size"]', '["size"]')),
            rng.choice(("value", "value", "before")),
            minimum=rng.choice((0, 3, 3)),
            memory=rng.random() < 0.5,
        )
    assert own.out
    assert own.exposed() == []


@pytest.mark.parametrize("seed", [1, 8])
def test_a_rise_is_no_new_value(tmp_path: Path, seed: int) -> None:
    """With the second seed rounding is 2 percent of how far the values spread."""
    own = office_of(tmp_path, seed, risen)
    assert not own.release("first", "2025", '["ind", "size"]', "value", minimum=3, memory=False)
    assert "hidden by first" in own.release("second", "2026", '["ind", "size"]', "value", minimum=0, memory=False)


def test_the_value_of_the_year_before_is_the_old_value(tmp_path: Path) -> None:
    own = office_of(tmp_path, 2, others)
    assert not own.release("first", "2025", '["ind", "size"]', "value", minimum=3, memory=False)
    assert "hidden by first" in own.release("second", "2026", '["ind", "size"]', "before", minimum=0, memory=False)


def test_other_values_are_released(tmp_path: Path) -> None:
    own = office_of(tmp_path, 3, others)
    assert not own.release("first", "2025", '["ind", "size"]', "value", minimum=3, memory=False)
    assert not own.release("second", "2026", '["ind", "size"]', "value", minimum=0, memory=False)
