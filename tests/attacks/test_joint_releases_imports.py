"""Attacks on releases after an import: what an import reveals to one respondent gives nothing more away to others.

The attacker has the published tables and knows who is in which cell. All worlds in whole numbers that agree with them are
enumerated here: one value per firm, none below 0.
"""

import csv
import itertools
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from reticent.base.arrays import Ints, Mask
from reticent.base.errors import ReticentError
from reticent.jobs.ledger_import import import_plan
from reticent.jobs.release import release_plan
from samples import numbers

NAMES = ("firm", "all", "ind", "reg", "area")
CODES = {"all": "k", "ind": "AB", "reg": "ns", "area": "vw"}
Firm = tuple[str, str, str, str, str, int]
RULES = 'rules = [{ rule = "threshold", minimum = 3, protection = 20 }]'


@dataclass
class Office:
    """A folder with data and a ledger, all worlds that are still possible, and the cells that must stay unknown."""

    folder: Path
    firms: Sequence[Firm]
    worlds: Ints
    watched: list[Mask] = field(default_factory=list)
    inside: str = "exact"

    def release(self, name: str, dimensions: Sequence[str], *, ruled: bool = False, insiders: str = "exact") -> str:
        """Release a table; the refusal, or nothing. What gets out leaves all that was possible and is required."""
        plan = self._plan(name, dimensions, ruled=ruled, insiders=insiders)
        try:
            release_plan(plan)
        except ReticentError as refused:
            return str(refused)
        before = self.worlds
        self._read(name, dimensions)
        cells = {tuple(own) for own in self._cells(dimensions) if 0 < sum(own) < 3} if ruled else set()
        self.watched += [np.array(own) for own in sorted(cells)]
        self.inside = "protect" if ruled and insiders == "protect" else self.inside
        for chosen in self.watched:
            for knows in (None, *range(len(self.firms))):
                assert self._left(self.worlds, chosen, knows) == self._left(before, chosen, knows), (name, knows)
        return ""

    def bring(self, name: str, dimensions: Sequence[str]) -> str:
        """Import an open table, whatever it reveals."""
        plan = self._plan(name, dimensions)
        with (self.folder / f"{name}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([*dimensions, "value"])
            for codes, own in zip(_codes(dimensions), self._cells(dimensions), strict=True):
                if any(own):
                    writer.writerow([*codes, int(np.array(own) @ self._true())])
        found = import_plan(plan).found.sentence()
        self._read(name, dimensions, status="published")
        return found

    def _left(self, worlds: Ints, chosen: Mask, knows: int | None) -> tuple[int, int] | bool:
        """What is possible of a cell, as far as it is required: for anybody within 20 %, for a respondent whether it is known."""
        true = int(self._true()[chosen].sum())
        if knows is not None:
            if chosen[knows] and chosen.sum() == 1:
                return True
            worlds = worlds[worlds[:, knows] == self._true()[knows]]
        sums = worlds[:, chosen].sum(axis=1)
        low, high = int(sums.min()), int(sums.max())
        if knows is not None and self.inside == "exact":
            return low < high
        known = 0 if knows is None or not chosen[knows] else int(self._true()[knows])
        return max(low, known, math.floor(true * 0.8 + 1e-9)), min(high, math.ceil(true * 1.2 - 1e-9))

    def _true(self) -> Ints:
        return np.array([firm[-1] for firm in self.firms])

    def _cells(self, dimensions: Sequence[str]) -> list[list[bool]]:
        return [self._members(dimensions, codes) for codes in _codes(dimensions)]

    def _members(self, dimensions: Sequence[str], codes: Sequence[str]) -> list[bool]:
        return [all(code in ("Total", firm[NAMES.index(name)]) for name, code in zip(dimensions, codes, strict=True))
                for firm in self.firms]  # fmt: skip

    def _read(self, name: str, dimensions: Sequence[str], status: str = "") -> None:
        """Keep the worlds that agree with a published table."""
        with (self.folder / f"{name}.csv").open() as file:
            for line in csv.DictReader(file):
                if line.get("status", status) == "published":
                    chosen = np.array(self._members(dimensions, [line[one] for one in dimensions]))
                    self.worlds = self.worlds[self.worlds[:, chosen].sum(axis=1) == int(line["value"])]

    def _plan(self, name: str, dimensions: Sequence[str], *, ruled: bool = False, insiders: str = "exact") -> Path:
        path = self.folder / f"{name}.toml"
        path.write_text(
            '[data]\npath = "firms.csv"\nschema = "firms.schema.toml"\nsecret = "secret.key"\n'
            f'[table]\ndimensions = {list(dimensions)}\nresponse = "tot"\n{RULES if ruled else ""}\n'
            f'[protect]\ninsiders = "{insiders}"\n[output]\npath = "{name}.csv"\n'
            f'[ledger]\npath = "firms.ledger"\nname = "{name}"\n'
        )
        return path


def _codes(dimensions: Sequence[str]) -> list[tuple[str, ...]]:
    return list(itertools.product(*(("Total", *CODES[name]) for name in dimensions)))


def _worlds(n: int, total: int) -> Ints:
    """All ways to divide a total among firms."""
    bars = np.array(list(itertools.combinations(range(total + n - 1), n - 1)))
    ends = np.column_stack((np.full(len(bars), -1), bars, np.full(len(bars), total + n - 1)))
    return np.diff(ends, axis=1) - 1


MakeOffice = Callable[[Sequence[Firm]], Office]


@pytest.fixture
def office(tmp_path: Path) -> MakeOffice:
    def make(firms: Sequence[Firm]) -> Office:
        with (tmp_path / "firms.csv").open("w", newline="") as file:
            csv.writer(file).writerows([(*NAMES, "tot"), *firms])
        lines = '[[variable]]\nname = "firm"\nrole = "entity"\n'
        for name, codes in CODES.items():
            lines += f'[[variable]]\nname = "{name}"\ncodes = {{ {", ".join(f"{c} = {c!r}" for c in codes)} }}\n'
        (tmp_path / "firms.schema.toml").write_text(
            lines + '[[variable]]\nname = "tot"\nrole = "sensitive"\nkind = "numeric"\n'
        )
        (tmp_path / "secret.key").write_text(random.Random(3).randbytes(32).hex() + "\n")
        (tmp_path / "secret.key").chmod(0o600)
        own = Office(tmp_path, firms, _worlds(len(firms), sum(firm[-1] for firm in firms)))
        assert not own.release("all", ["all"]), "the total is known: there are finitely many worlds"
        return own

    return make


PAIR: list[Firm] = [("a", "k", "A", "n", "v", 2), ("b", "k", "A", "n", "v", 3)]
OTHERS: list[Firm] = [("c", "k", "B", "s", "w", 4), ("d", "k", "B", "n", "w", 3), ("e", "k", "B", "s", "v", 4)]


@pytest.mark.parametrize("insiders", ["exact", "protect"])
def test_what_one_respondent_knows_is_kept_from_everybody_else(office: MakeOffice, insiders: str) -> None:
    own = office([*PAIR, *OTHERS])
    assert not own.release("first", ["ind"], ruled=True, insiders=insiders)
    assert "a respondent who knows their own values" in own.bring("old", ["reg"]), "d knows A from the region n"
    assert "a respondent who knows their own values" in own.release("area", ["area"]), "e would know A from the area v"
    assert "anybody" in own.release("open", ["ind"])


def test_an_end_between_two_whole_numbers_is_the_next_one_outside(office: MakeOffice) -> None:
    firms: list[Firm] = [(*PAIR[0][:-1], 3), (*PAIR[1][:-1], 4), OTHERS[0], (*OTHERS[1][:-1], 1), OTHERS[2]]
    own = office([*firms, ("f", "k", "B", "n", "w", 0)])
    assert not own.release("first", ["ind"], ruled=True), "A is 7, and 5.6 to 8.4 must stay possible"
    assert "exclude the upper end" in own.release("reg", ["reg"]), "A is at most the 8 of the region n"


@pytest.mark.parametrize("seed", numbers(1, 8))
def test_histories(office: MakeOffice, seed: int) -> None:
    history(office, seed)


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(2, 80))
def test_more_histories(office: MakeOffice, seed: int) -> None:
    history(office, seed)


def history(office: MakeOffice, seed: int) -> None:
    """Release and import tables in turn; each release is attacked with all that was released."""
    rng = random.Random(seed)
    firms: list[Firm] = [(f"f{k}", "k", rng.choice("AB"), rng.choice("ns"), rng.choice("vw"), rng.randint(0, 5))
                         for k in range(6)]  # fmt: skip
    own = office(firms)
    insiders = rng.choice(("exact", "protect"))
    kinds = [["ind"], ["reg"], ["area"], ["ind", "reg"], ["reg", "area"]]
    rng.shuffle(kinds)
    own.release("t0", kinds[0], ruled=True, insiders=insiders)
    for number, dimensions in enumerate(kinds[1:], start=1):
        if rng.random() < 0.3:
            own.bring(f"t{number}", dimensions)
        else:
            own.release(f"t{number}", dimensions, ruled=rng.random() < 0.3, insiders=insiders)
