"""The cell-key mode: one answer a set, noise of the design, totals as their sets, versions, refusals, wrong policies."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from reticent.base.errors import ReticentError
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.database import ProtectedDatabase
from reticent.queries.modes import Setting
from reticent.queries.noise.cell_key import cell_key
from reticent.queries.policy import Policy, read_policy
from reticent.queries.refusals import Answer, Refusal

N = 240
RNG = np.random.default_rng(12)
COLUMNS = {
    "id": [f"r{i}" for i in range(N)],
    "dep": RNG.choice(["a", "b", "c"], N).tolist(),
    "grade": np.where(np.arange(N) == 0, "top", RNG.choice(["low", "mid"], N)).tolist(),
    "pay": RNG.integers(100, 900, N).astype(float).tolist(),
}
SCHEMA = Schema((
    Variable("id", role=Role.IDENTIFIER), Variable("dep", codes=("a", "b", "c", "d")),
    Variable("grade", codes=("low", "mid", "top")), Variable("pay", role=Role.SENSITIVE, kind=Kind.NUMERIC),
))  # fmt: skip
SUMS: dict[str, Any] = {"sums": {"small": 0.1}}


def opened(ledger: Path, options: dict[str, Any] = SUMS, *, secret: int = 1, **changes: Any) -> ProtectedDatabase:
    policy = Policy(mode="cell-key", filters=("dep", "grade"), responses=("pay",), options={"cell-key": options})
    data = Microdata.of(pl.DataFrame({**COLUMNS, **changes.pop("columns", {})}), SCHEMA)
    return ProtectedDatabase(data, policy=policy, secret=secret, test_secret=True, ledger=ledger, **changes)


def value(db: ProtectedDatabase, text: str) -> Any:
    found = db.ask(text, user="ann")
    assert isinstance(found, Answer), found
    return found.value


def test_a_set_has_one_answer_however_it_is_asked_for(tmp_path: Path) -> None:
    db = opened(tmp_path / "a.ledger")
    plain = value(db, "SELECT SUM(pay) FROM data WHERE dep = 'a'")
    for where in ("NOT dep <> 'a'", "dep IN ('a', 'd')", "NOT (dep = 'b' OR dep = 'c')", "dep = 'a' AND 1 = 1"):
        assert value(db, f"SELECT SUM(pay) FROM data WHERE {where}") == plain
    grouped = db.ask("SELECT SUM(pay), COUNT(*) FROM data GROUP BY dep, grade WITH TOTALS", user="bob")
    assert isinstance(grouped, Answer)
    cells = {row.group: row.values for row in grouped.rows}
    assert cells[("a", None)][0] == plain
    assert cells[(None, None)] == (
        value(db, "SELECT SUM(pay) FROM data"), value(db, "SELECT COUNT(*) FROM data"),
    )  # fmt: skip
    assert cells[("d", None)] == (None, 0)
    fresh = opened(tmp_path / "b.ledger")  # another ledger, the questions in another order
    assert value(fresh, "SELECT COUNT(*) FROM data WHERE grade = 'low'") == cells[(None, "low")][1]
    assert value(fresh, "SELECT SUM(pay) FROM data WHERE dep = 'a'") == plain
    other = opened(tmp_path / "c.ledger", secret=2)
    assert value(other, "SELECT SUM(pay) FROM data WHERE dep = 'a'") != plain


@pytest.mark.slow
def test_noise_is_that_of_the_design(tmp_path: Path) -> None:
    """Over many secrets: mean 0 and variance 3 for counts, 0.1·√3 of the largest contribution for sums, never beyond D."""
    counts, sums = [], []
    engine = opened(tmp_path / "a.ledger")._engine
    everyone = engine.universe.record_set(np.ones(engine.universe.current.n_atoms, dtype=bool))
    for secret in range(1000):
        mode = cell_key(Setting(engine.universe, engine.policy, as_secret(secret)))
        counts.append(mode._count(everyone) - N)
        sums.append(mode._total("pay", everyone) - sum(COLUMNS["pay"]))
    noise, largest = np.array(counts), max(COLUMNS["pay"])
    assert np.abs(noise).max() <= 5
    assert abs(noise.mean()) < 0.2
    assert 2.6 < noise.var() < 3.4
    scaled = np.array(sums) / (0.1 * largest)
    assert np.abs(scaled).max() <= 5 + 1e-9
    assert abs(scaled.mean()) < 0.2
    assert 2.6 < scaled.var() < 3.4


def test_small_sets_and_empty_ones(tmp_path: Path) -> None:
    db = opened(tmp_path / "a.ledger")
    assert value(db, "SELECT COUNT(*) FROM data WHERE dep = 'd'") == 0
    assert value(db, "SELECT COUNT(*) FROM data WHERE grade = 'top'") in (0, 3, 4, 5, 6)
    # whether a sum is answered tells no more than the noisy count does
    shown = value(db, "SELECT COUNT(*) FROM data WHERE grade = 'top'")
    top = [db.ask(f"SELECT {s}(pay) FROM data WHERE grade = 'top'", user="ann") for s in ("SUM", "AVG")]
    assert {isinstance(r, Refusal) for r in top} == {shown < 3}
    refused = [db.ask(f"SELECT {s}(pay) FROM data WHERE dep = 'd'", user="ann") for s in ("SUM", "AVG")]
    assert {r.code.value for r in refused if isinstance(r, Refusal)} == {"RISK"}
    assert len({repr(r) for r in refused}) == 1
    number = max(entry["number"] for entry in db.history())
    assert db.explain(number)[0].rule == "minimum"


def test_means_are_noisy_sums_over_noisy_counts(tmp_path: Path) -> None:
    db = opened(tmp_path / "a.ledger")
    total, count = (value(db, f"SELECT {s} FROM data WHERE dep = 'b'") for s in ("SUM(pay)", "COUNT(pay)"))
    assert value(db, "SELECT AVG(pay) FROM data WHERE dep = 'b'") == pytest.approx(total / count)


def test_sums_need_their_noise_in_the_policy(tmp_path: Path) -> None:
    db = opened(tmp_path / "a.ledger", {})
    refused = db.ask("SELECT SUM(pay) FROM data", user="ann")
    assert isinstance(refused, Refusal)
    assert refused.code.value == "NOT_ALLOWED"
    assert "It answers COUNT." in refused.change
    assert isinstance(db.ask("SELECT COUNT(pay) FROM data", user="ann"), Answer)
    assert isinstance(opened(tmp_path / "b.ledger").ask("SELECT MAX(pay) FROM data", user="ann"), Refusal)


def test_a_value_that_changes_between_versions_does_not_show_as_a_difference(tmp_path: Path) -> None:
    """The same records with the same values keep their answers; where a value changed the noise is another."""
    before = opened(tmp_path / "a.ledger", version="1")
    texts = [f"SELECT SUM(pay) FROM data WHERE dep = '{d}'" for d in "abc"]
    first = [value(before, text) for text in texts]
    before.close()
    pay = list(COLUMNS["pay"])
    pay[0] += 50.0
    old = Microdata.of(pl.DataFrame(COLUMNS), SCHEMA)
    after = opened(tmp_path / "a.ledger", version="2", earlier=[("1", old)], columns={"pay": pay})
    for text, earlier, dep in zip(texts, first, "abc", strict=True):
        changed = value(after, text) - earlier
        assert (changed == 0) == (COLUMNS["dep"][0] != dep)
        assert changed != 50.0
    assert value(after, "SELECT COUNT(*) FROM data WHERE dep = 'a'") == value(
        opened(tmp_path / "b.ledger"), "SELECT COUNT(*) FROM data WHERE dep = 'a'"
    )


@pytest.mark.parametrize("magnifier", ["top", "mean", "range", "sum"])
def test_respondents_contribute_not_records(tmp_path: Path, magnifier: str) -> None:
    """A firm with four records counts by its total."""
    schema = Schema((
        Variable("firm", role=Role.ENTITY), Variable("dep", codes=("a",)),
        Variable("pay", role=Role.SENSITIVE, kind=Kind.NUMERIC),
    ))  # fmt: skip
    frame = pl.DataFrame({"firm": ["x"] * 4 + ["y", "z"], "dep": ["a"] * 6, "pay": [10.0, 20, 30, 40, 30, 20]})
    policy = Policy(
        mode="cell-key", filters=("dep",), responses=("pay",),
        options={"cell-key": {"sums": {"small": 0.1, "magnifier": magnifier}}},
    )  # fmt: skip
    db = ProtectedDatabase(
        Microdata.of(frame, schema), policy=policy, secret=1, test_secret=True, ledger=tmp_path / "f.ledger"
    )
    mode = db._engine.mode
    records = db._engine.universe.record_set(np.ones(1, dtype=bool))
    sizes, n, _ = mode._sizes("pay", records, 150)  # type: ignore[attr-defined]
    assert n == 3
    assert sizes.tolist() == {"top": [100.0], "mean": [50.0], "range": [100.0], "sum": [150.0]}[magnifier]
    assert isinstance(db.ask("SELECT SUM(pay) FROM data", user="a"), Answer)


def test_both_ways_to_the_largest_contributions_agree(tmp_path: Path) -> None:
    """Where each respondent has one record, sums over columns give what a pass over the records gives."""
    options = {"sums": {"small": 0.1, "contributions": 3, "shares": [0.5, 0.2]}}
    engine = opened(tmp_path / "a.ledger", options)._engine
    data, universe = engine.universe.current, engine.universe
    pay = np.array(COLUMNS["pay"])
    rng = np.random.default_rng(1)
    for _ in range(20):
        records = universe.record_set(rng.random(data.n_atoms) < 0.5)
        sizes, n, _ = engine.mode._sizes("pay", records, 1)  # type: ignore[attr-defined]
        mine = np.sort(pay[universe.records(records)])[::-1]
        assert n == len(mine) == universe.n_entities(records)
        assert sizes[:n].tolist()[:3] == mine[:3].tolist() or n == 0


@pytest.mark.parametrize(
    "options, words",
    [
        ({"largest": 2, "variance": 9.0}, "row 1 needs a variance"),
        ({"larges": 2}, "unknown option 'larges'"),
        ({"variance": -1}, "variance"),
        ({"sums": {"small": 0.1, "parity": True}}, "no parity, separation or extra"),
        ({"sums": {"small": 0.0}}, "must be above 0"),
        ({"sums": {"small": 0.1, "contributions": 2}}, "shares must be 1 numbers"),
    ],
)
def test_wrong_policies(tmp_path: Path, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ReticentError, match=words):
        opened(tmp_path / "a.ledger", options)


def test_policy_file() -> None:
    policy = read_policy(
        {"mode": "cell-key", "options": {"cell-key": {"largest": 4, "sums": {"small": 0.2}}}}, owner="policy"
    )
    assert policy.options["cell-key"]["sums"] == {"small": 0.2}
