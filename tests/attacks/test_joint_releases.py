"""Attacks on releases that were judged together: whatever got out, alone or together, keeps each unsafe cell unknown.

The attacker has the published files and the plans. What follows from them is computed here from scratch: one unknown per
record and response, an equation per published cell, and the relations that hold in each record.
"""

import csv
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from firms import schema_of
from reticent.base.arrays import Mask
from reticent.base.errors import ReticentError
from reticent.jobs.release import release_plan
from samples import numbers

NUMBERS = ("tot", "dom", "exp")
REGIONS = '[[variable]]\nname = "reg"\ncodes = { "11" = "11", "12" = "12", "21" = "21", "22" = "22" }\n'
SCHEMA = schema_of(NUMBERS, more=REGIONS)
TREES = {"pairs": "xy\n@x\n@y\nzw\n@z\n@w\n", "other": "xz\n@x\n@z\nyw\n@y\n@w\n", "three": "xyz\n@x\n@y\n@z\nw\n"}
BY_SIZE = '["ind", "size"]'
SHARE = 0.2


@dataclass
class Office:
    """A folder with data, plans and a ledger, and what was released there."""

    folder: Path
    rows: list[dict[str, str | int]]
    out: list[tuple[str, str]] = field(default_factory=list)
    required: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    def release(
        self, name: str, dimensions: str = BY_SIZE, response: str = "tot", *, minimum: int = 3, **lines: str
    ) -> str:
        """Release a table, with further `lines` of the sections table, protect and ledger; the refusal, or nothing."""
        table, protect, ledger = (lines.get(section, "") for section in ("table", "protect", "ledger"))
        rules = f'rules = [{{ rule = "threshold", minimum = {minimum}, protection = {SHARE * 100:g} }}]'
        responses = ", ".join(f'"{one}"' for one in response.split())
        path = self.folder / f"{name}.toml"
        path.write_text(
            '[data]\npath = "firms.csv"\nschema = "firms.schema.toml"\nsecret = "secret.key"\n'
            f"[table]\ndimensions = {dimensions}\nresponses = [{responses}]\n{rules if minimum else ''}\n{table}\n"
            f"[protect]\n{protect}\n"
            f'[output]\npath = "{name}.csv"\n[ledger]\npath = "firms.ledger"\nname = "{name}"\n{ledger}\n'
        )
        try:
            release_plan(path)
        except ReticentError as refused:
            assert not list(self.folder.glob(f"{name}-*.csv")), "what is refused is not written"
            return str(refused)
        for one in response.split():
            self.out.append((name, one))
            if minimum:
                self._require(name, one, minimum)
        return ""

    def cells(self, name: str, response: str) -> list[dict[str, str]]:
        """A published table."""
        with (self.folder / f"{name}-{response}.csv").open() as file:
            return list(csv.DictReader(file))

    def members(self, cell: dict[str, str]) -> Mask:
        """The records of a cell: codes of groups are spelled by their members."""
        return np.array([all(_inside(name, cell[name], str(row[name])) for name in ("ind", "size", "reg") if name in cell)
                         for row in self.rows])  # fmt: skip

    def _require(self, name: str, response: str, minimum: int) -> None:
        for cell in self.cells(name, response):
            if 0 < self.members(cell).sum() < minimum:
                self.required.append((response, cell))

    def exposed(self) -> list[str]:
        """The unsafe cells that all releases together give, to anybody within 20 %, to a respondent exactly."""
        attacker = _Attacker(self)
        found = []
        for response, cell in self.required:
            chosen = self.members(cell)
            true = sum(int(row[response]) for row, own in zip(self.rows, chosen, strict=True) if own)
            low, high = attacker.interval(response, chosen)
            if low > true * (1 - SHARE) + 1 or high < true * (1 + SHARE) - 1:
                found.append(f"{response} {cell}: {true} in {low:.0f} to {high:.0f}")
            for unit in range(len(self.rows)):
                if chosen[unit] and chosen.sum() == 1:
                    continue
                low, high = attacker.interval(response, chosen, insider=unit)
                if high - low < 0.5:
                    found.append(f"{response} {cell}: exact for {self.rows[unit]['firm']}")
        return found


class _Attacker:
    """Everything published as equations over the values of records."""

    def __init__(self, office: Office) -> None:
        self.office, n = office, len(office.rows)
        self.n, rows, ends = n, [], []
        for name, response in office.out:
            for cell in office.cells(name, response):
                if cell["status"] == "published":
                    row = np.zeros(3 * n)
                    row[NUMBERS.index(response) * n :][:n] = office.members(cell)
                    rows.append(row)
                    ends.append(float(cell["value"]))
        for unit in range(n):  # tot = dom + exp
            row = np.zeros(3 * n)
            row[[unit, n + unit, 2 * n + unit]] = 1, -1, -1
            rows.append(row)
            ends.append(0.0)
        self.rows, self.ends = np.array(rows), np.array(ends)

    def interval(self, response: str, chosen: Mask, insider: int | None = None) -> tuple[float, float]:
        bounds: list[tuple[float, float | None]] = [(0, None)] * (3 * self.n)
        if insider is not None:
            for at, name in enumerate(NUMBERS):
                own = float(self.office.rows[insider][name])
                bounds[at * self.n + insider] = (own, own)
        goal = np.zeros(3 * self.n)
        goal[NUMBERS.index(response) * self.n :][: self.n] = chosen
        ends = []
        for sign in (1, -1):
            found: Any = linprog(sign * goal, A_eq=self.rows, b_eq=self.ends, bounds=bounds, method="highs")
            assert found.status in (0, 3), found.message
            ends.append(sign * float(found.fun) if found.status == 0 else sign * -np.inf)
        return ends[0], ends[1]


def _inside(name: str, code: str, own: str) -> bool:
    return code in ("Total", own) or (name == "size" and own in code) or (name == "reg" and own.startswith(code))


MakeOffice = Callable[..., Office]


@pytest.fixture
def office(tmp_path: Path) -> MakeOffice:
    def make(seed: int = 1, few: dict[tuple[str, str], int] | None = None) -> Office:
        few = {("A", "z"): 2, ("B", "w"): 1} if few is None else few
        folder, rng = tmp_path / str(seed), random.Random(seed)
        folder.mkdir()
        rows: list[dict[str, str | int]] = []
        for ind in "ABC":
            for size in "xyzw":
                for number in range(few.get((ind, size), 4)):
                    dom, exp = rng.randint(10, 99), rng.randint(10, 99)
                    reg = rng.choice(("11", "12", "21", "22"))
                    names = {"firm": f"f{ind}{size}{number}", "ind": ind, "size": size, "reg": reg}
                    rows.append({**names, "tot": dom + exp, "dom": dom, "exp": exp})
        write(folder, rows)
        (folder / "firms.schema.toml").write_text(SCHEMA)
        (folder / "secret.key").write_text(rng.randbytes(32).hex() + "\n")
        (folder / "secret.key").chmod(0o600)
        for name, tree in TREES.items():
            (folder / f"{name}.hrc").write_text(tree)
        return Office(folder, rows)

    return make


def write(folder: Path, rows: Sequence[dict[str, str | int]]) -> None:
    with (folder / "firms.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_parts_of_a_hidden_total_released_apart(office: MakeOffice) -> None:
    own = office()
    assert not own.release("total")
    assert "relations between responses" in own.release("parts", response="dom exp", minimum=0)
    assert "relations between responses" in own.release("dom", response="dom", minimum=0)
    assert not own.release("coarse", '["ind"]', "dom", minimum=0), "what keeps the total unknown is released"
    assert own.exposed() == []


def test_the_total_after_its_parts(office: MakeOffice) -> None:
    own = office()
    assert not own.release("parts", response="dom exp", minimum=0)
    assert "relations between responses" in own.release("total")


def test_a_respondent_alone_in_a_cell(office: MakeOffice) -> None:
    own = office(few={("B", "w"): 1, ("B", "z"): 2})
    for row in own.rows:  # both small cells of B, and nobody else of B, are in one region
        row["reg"] = (
            "22" if str(row["size"]) in "zw" and row["ind"] == "B" else "11" if row["ind"] == "B" else row["reg"]
        )
    write(own.folder, own.rows)
    assert not own.release("first")
    assert "a respondent who knows their own values" in own.release("second", '["ind", "reg"]', minimum=0)
    assert own.exposed() == []


@pytest.mark.parametrize("seed", numbers(1, 8))
def test_pairs_of_plans(office: MakeOffice, seed: int) -> None:
    attack_at_random(office(seed, _few(seed)), seed)


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(2, 60))
def test_more_pairs_of_plans(office: MakeOffice, seed: int) -> None:
    attack_at_random(office(seed, _few(seed)), seed)


def _few(seed: int) -> dict[tuple[str, str], int]:
    rng = random.Random(seed)
    return {(rng.choice("ABC"), rng.choice("xyzw")): rng.randint(1, 2) for _ in range(4)}


def attack_at_random(own: Office, seed: int) -> None:
    """Release tables of other trees, levels, responses and rules in turn, and attack all that got out together."""
    rng = random.Random(seed)
    sizes = ['"size"', *(f'{{variable = "size", hierarchy = "{tree}.hrc"}}' for tree in TREES)]
    others = ('"ind", ', "", '"reg", ', '{variable = "reg", digits = [1, 1], level = 1}, ')
    for number in range(4):
        own.release(
            f"t{number}",
            f"[{rng.choice(others)}{rng.choice(sizes)}]",
            rng.choice(("tot", "tot", "dom", "exp", "dom exp")),
            minimum=rng.choice((0, 3, 3)),
        )
    assert own.out
    assert own.exposed() == []


def test_groups_that_are_spelled_like_other_codes(office: MakeOffice) -> None:
    own = office()
    # the group 2 has the codes 11 and 12: who reads codes by their first characters takes it for the other half
    (own.folder / "crossed.hrc").write_text("2\n@11\n@12\n1\n@21\n@22\n")
    crossed = '["ind", {variable = "reg", hierarchy = "crossed.hrc", level = 1}]'
    assert "does not hold of these data" in own.release("crossed", crossed, minimum=0)


def test_another_version_of_the_same_records(office: MakeOffice) -> None:
    own = office()
    assert not own.release("first")
    assert "hidden by first" in own.release("again", minimum=0, ledger='version = "2"'), "a new name for the same data"
    write(own.folder, [*own.rows, {**own.rows[0], "firm": "new"}])
    assert "was other data when it was first used" in own.release("second", minimum=0)
    assert "in [[ledger.earlier]]" in own.release("third", minimum=0, ledger='version = "3"')


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"protect": "coalition = 2"}, "leave coalition out"),
        ({"protect": 'method = "primary-only"\naccept_exposed = true'}, "would be known too well"),
    ],
)
def test_what_cannot_be_judged_together_is_refused(office: MakeOffice, more: dict[str, str], words: str) -> None:
    own = office()
    assert words in own.release("first", **more)  # type: ignore[arg-type]
