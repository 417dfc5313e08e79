"""Versions in which values rose: what bounds of the new values say of the old ones, and what squares and products add.

The attacks have answers only, and know by how much values rose; each succeeds first on the mode `open`.
"""

from collections.abc import Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import polars as pl
import pytest

from reticent.base.arrays import Floats
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.database import ProtectedDatabase
from reticent.queries.policy import Bounds, Policy
from samples import numbers

RESPONSES = ("pay", "hours")
N, RISE = 60, 100


def asked_in_turn(
    folder: Path, tables: Sequence[dict[str, Any]], questions: Sequence[Sequence[str]], **policy: Any
) -> list[list[Any]]:
    """The replies to the questions about each version; variables that are not responses are filters."""
    own = Path(mkdtemp(dir=folder))
    names = [name for name in tables[0] if name != "id"]
    schema = Schema(
        (
            Variable("id", role=Role.IDENTIFIER),
            *(
                Variable(name, role=Role.SENSITIVE if name in RESPONSES else Role.KEY, kind=Kind.NUMERIC)
                for name in names
            ),
        )
    )
    data = [Microdata.of(pl.DataFrame(table), schema) for table in tables]
    rules = Policy(
        filters=tuple(name for name in names if name not in RESPONSES),
        responses=tuple(name for name in names if name in RESPONSES),
        minimum=3,
        test=policy["mode"] == "open",
        **policy,
    )
    found = []
    for number, texts in enumerate(questions):
        base = ProtectedDatabase(
            data[number], policy=rules, secret=7, ledger=own / "it.ledger", test_secret=True,
            version=str(number), earlier=[(str(v), data[v]) for v in range(number)],
        )  # fmt: skip
        found.append([base.ask(text, user="u").as_json() for text in texts])
        base.close()
    return found


def version(pay: Floats, **others: Any) -> dict[str, Any]:
    """Records of one version."""
    columns = {name: np.asarray(values, dtype=float) for name, values in (others | {"pay": pay}).items()}
    return {"id": [f"p{k}" for k in range(len(pay))], **columns}


class Ends:
    """Groups of which one had, before the rise, the greatest pay that the new bounds allow, and another the least.

    The last one is by itself.
    """

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.high, self.rise = int(rng.integers(7, 12)), int(rng.choice([1, 2, -1, -2]))
        self.first, self.last = max(0, -self.rise), min(self.high, self.high - self.rise)
        self.sizes = rng.integers(3, 5, 4)
        self.group = np.repeat(np.arange(4), self.sizes)
        self.old = np.arange(self.sizes.sum()) % (self.last - self.first + 1) + self.first
        self.old[self.group == 0], self.old[self.group == 1] = self.last, self.first
        self.old[0] -= seed % 2  # then somebody alone is not at the end
        self.sets = [[0, 2], [1, 2], [3], [2], [1], [0]]

    def answered(self, folder: Path, mode: str) -> list[list[int]]:
        """The sets of groups whose sums are answered: of the first in the old version, of the others in the new one."""
        wheres = [f"group_ IN ({', '.join(map(str, own))})" for own in self.sets]
        texts = [f"SELECT SUM(pay) FROM data WHERE {where}" for where in wheres]
        tables = [version(self.old + rise, group_=self.group) for rise in (0, self.rise)]
        bounds = {"pay": Bounds(0, self.high, True)}
        replies = asked_in_turn(folder, tables, [texts[:1], texts[1:]], mode=mode, bounds=bounds)
        return [own for own, reply in zip(self.sets, replies[0] + replies[1], strict=True) if reply["answered"]]

    def known(self, sets: list[list[int]]) -> set[tuple[int, int]]:
        """Whose values follow: (who looks, −1 for anybody; the group), by all totals that fit the sums and the bounds."""
        truth = np.array([self.old[self.group == k].sum() for k in range(3)])
        found = set()
        for who in range(-1, int(self.sizes[:3].sum())):
            low, high = self.sizes[:3] * self.first, self.sizes[:3] * self.last
            if who >= 0:
                low[self.group[who]] += self.old[who] - self.first
                high[self.group[who]] -= self.last - self.old[who]
            worlds = np.indices(high - low + 1).reshape(3, -1).T + low
            for own in (own for own in sets if own != [3]):
                worlds = worlds[worlds[:, own].sum(axis=1) == truth[own].sum()]
            pinned = (worlds == truth).all(axis=0) & ((truth == low) | (truth == high))
            found |= {(who, int(k)) for k in np.flatnonzero(pinned)}
        return found


@pytest.mark.parametrize("seed", numbers(4, 60))
def test_the_bounds_of_new_values_fix_no_old_ones(tmp_path: Path, seed: int) -> None:
    case = Ends(seed)
    before = case.known([case.sets[0]])  # no refusal can undo what the first answer says once there is a new version
    assert case.known(case.answered(tmp_path, "open")) - before
    told = case.answered(tmp_path, "exact")
    assert len(told) >= 2
    assert case.known(told) <= before


def moments(row: dict[str, Any]) -> tuple[float, float, float]:
    """Σ pay, Σ pay² and Σ pay·hours, from a mean, a variance, and a correlation with the same of the hours."""
    n, pay, spread = row["count(*)"], row["avg(pay)"], row["variance(pay)"]
    products = 0.0
    if "corr(hours, pay)" in row:
        scale = np.sqrt(spread * row["variance(hours)"])
        products = (n - 1) * scale * row["corr(hours, pay)"] + n * pay * row["avg(hours)"]
    return n * pay, (n - 1) * spread + n * pay**2, products


@pytest.mark.parametrize("seed", range(2))
def test_variances_do_not_tell_who_had_no_rise(tmp_path: Path, seed: int) -> None:
    """If all but one person's pay rose by 100, the sum of squares rose by 200 times the pay of all but one."""
    rng = np.random.default_rng(seed)
    pay, target = rng.integers(1000, 9000, N), int(rng.integers(N))
    tables = [version(own, part=np.arange(N) % 2) for own in (pay, np.where(np.arange(N) == target, pay, pay + RISE))]
    text = "SELECT COUNT(*), AVG(pay), VARIANCE(pay) FROM data"
    first, second = (
        moments(replies[0]["rows"][0]) for replies in asked_in_turn(tmp_path, tables, [[text]] * 2, mode="open")
    )
    others = (second[1] - first[1] - RISE**2 * (N - 1)) / (2 * RISE)
    assert first[0] - others == pytest.approx(pay[target])
    replies = asked_in_turn(tmp_path, tables, [[text]] * 2, mode="exact")
    assert None not in replies[0][0]["rows"][0].values()
    assert replies[1][0]["rows"][0]["variance(pay)"] is None
    assert replies[1][0]["rows"][0]["avg(pay)"] is not None


@pytest.mark.parametrize("rise, answered", [(RISE, True), (0, True)])
def test_variances_are_answered_after_a_rise_for_all(tmp_path: Path, rise: int, answered: bool) -> None:
    pay = np.random.default_rng(1).integers(1000, 9000, N)
    tables = [version(own, part=np.arange(N) % 2) for own in (pay, pay + rise)]
    replies = asked_in_turn(tmp_path, tables, [["SELECT VARIANCE(pay) FROM data"]] * 2, mode="exact")
    assert [own[0]["answered"] for own in replies] == [True, answered]


@pytest.mark.parametrize("seed", range(2))
def test_correlations_do_not_tell_a_total_of_those_who_rose(tmp_path: Path, seed: int) -> None:
    """If the pay of one part rose by 100, the sum of pay times hours rose by 100 times the hours of that part."""
    rng = np.random.default_rng(seed)
    pay, hours = rng.integers(1000, 9000, N), rng.integers(10, 60, N)
    part, one = np.arange(N) % 2, np.arange(N) == 8
    tables = [version(own, part=part, one=one, hours=hours) for own in (pay, np.where(part == 0, pay + RISE, pay))]
    others = "SELECT SUM(hours) FROM data WHERE part = 0 AND one = 0"
    text = "SELECT COUNT(*), AVG(pay), VARIANCE(pay), AVG(hours), VARIANCE(hours), CORR(pay, hours) FROM data"
    replies = asked_in_turn(tmp_path, tables, [[text, others], [text]], mode="open")
    first, second = (moments(own[0]["rows"][0]) for own in replies)
    assert (second[2] - first[2]) / RISE - replies[0][1]["value"] == pytest.approx(hours[8])
    replies = asked_in_turn(tmp_path, tables, [[text, others], [text]], mode="exact")
    assert replies[0][1]["answered"]
    assert None not in replies[0][0]["rows"][0].values()
    assert [name for name, value in replies[1][0]["rows"][0].items() if value is None] == ["corr(hours, pay)"]
