"""Products of two responses: what is answered is safe by the slow and obvious way, and what is refused mostly is not."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest

from reference.audit_oracle import Span
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.audit.mode import exact
from reticent.queries.canonical import Universe, Version
from reticent.queries.language import Query, Statistic
from reticent.queries.modes import Cell, Request, Setting
from reticent.queries.policy import Policy
from reticent.queries.refusals import Answer

Rows = list[list[int]]
POLICY = Policy(filters=("g",), responses=("d", "x"), minimum=3)
SCHEMA = Schema(
    (
        Variable("g", role=Role.KEY),
        *(Variable(name, role=Role.SENSITIVE, kind=Kind.NUMERIC) for name in ("d", "x")),
    )
)


def rests_on_few(rows: Rows, n: int) -> bool:
    """Whether a combination of the rows is 0 for all but two records: without these the rows lose rank."""
    full = len(Span(rows).rows)
    for left_out in combinations(range(n), 2):
        rest = [[v for i, v in enumerate(row) if i not in left_out] for row in rows]
        if len(Span(rest).rows) < full:
            return True
    return False


class History:
    """All sums told so far: those of each response, and those of the products."""

    def __init__(self, x: list[int], d: list[int]) -> None:
        self.values = {"x": x, "d": d}
        self.sums: dict[str, Rows] = {"x": [], "d": [], "xd": []}

    def with_sums(self, told: dict[str, list[int]]) -> "History":
        """The same with one more sum of each kind that a query tells."""
        more = History(self.values["x"], self.values["d"])
        more.sums = {name: [*rows, *([told[name]] if name in told else [])] for name, rows in self.sums.items()}
        return more

    @property
    def unsafe(self) -> bool:
        """Whether sums and products, as sums of one response weighted by the other, rest on fewer than three."""
        n = len(self.values["x"])
        for own, other in (("x", "d"), ("d", "x")):
            weighted = [[v * w for v, w in zip(row, self.values[other])] for row in self.sums["xd"]]
            if rests_on_few([*self.sums[own], *weighted], n):
                return True
        return False


def compare(seed: int) -> tuple[int, int, int]:
    """How many correlations and means were answered, were refused and unsafe, were refused and safe."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(9, 14))
    group = np.arange(n) if rng.random() < 0.5 else np.sort(rng.integers(0, 5, n))
    x = rng.integers(100, 999, n)
    usual = np.full(n, 1) if rng.random() < 0.5 else group % 3
    d = np.where(rng.random(n) < rng.choice([0.2, 0.5]), rng.integers(0, 4, n), usual)
    table = pl.DataFrame({"g": [f"{g:02}" for g in group], "d": d.astype(float), "x": x.astype(float)})
    secret = as_secret(1)
    universe = Universe((Version("1", Microdata.of(table, SCHEMA), POLICY),), POLICY, secret)
    mode, history = exact(Setting(universe, POLICY, secret)), History(x.tolist(), d.tolist())
    found = [0, 0, 0]
    for number in range(5):
        chosen = rng.random(universe.current.n_atoms) < rng.choice([0.5, 0.8, 1.0])
        inside = [int(v) for v in chosen[universe.current.atom]]
        corr = bool(rng.random() < 0.6)
        statistic = Statistic("corr", ("d", "x")) if corr else Statistic("sum", (str(rng.choice(["d", "x"])),))
        told = {"d": inside, "x": inside, "xd": inside} if corr else {statistic.variables[0]: inside}
        after = history.with_sums(told)
        request = Request(Query((statistic,)), (Cell((), universe.record_set(chosen)),), "u", number)
        answered = isinstance(mode.decide(request).result, Answer)
        unsafe = after.unsafe
        assert not (answered and unsafe), f"seed {seed}, query {number}: {statistic}"
        found[0 if answered else 1 if unsafe else 2] += 1
        history = after if answered else history
    return found[0], found[1], found[2]


def test_no_answered_history_rests_on_few() -> None:
    answered, refused, _ = np.sum([compare(seed) for seed in range(60)], axis=0)
    assert answered > 60
    assert refused > 30


@pytest.mark.deep
@pytest.mark.parametrize("first", range(1_000, 6_000, 1_000))
def test_no_answered_history_of_five_thousand_rests_on_few(first: int) -> None:
    for seed in range(first, first + 1_000):
        compare(seed)
