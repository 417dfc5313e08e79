"""Releases from Python are judged together and recorded in a ledger, as those of plans are."""

import hashlib
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent import mask, rules

SECRET = hashlib.sha256(b"a ledger").digest()
RULES = [rules.Threshold(3, protection=20)]


@pytest.fixture
def firms() -> rt.Data:
    few = {("A", "z"): 2, ("B", "w"): 2}
    places = [(ind, size) for ind in "ABC" for size in "xyzw" for _ in range(few.get((ind, size), 5))]
    turnover = 100 + 37 * np.arange(len(places)) % 200
    frame = pl.DataFrame({"industry": [i for i, _ in places], "size": [s for _, s in places], "turnover": turnover})
    return rt.load(frame, keys=["industry", "size"], sensitive=["turnover"])


@pytest.fixture
def ledger(tmp_path: Path) -> rt.ReleaseLedger:
    return rt.open_ledger(tmp_path / "firms.ledger", secret=SECRET)


def by_size(firms: rt.Data, minimum: int = 3) -> rt.TableRun:
    return firms.tabulate("industry", "size", response="turnover").protect(
        rules=[rules.Threshold(minimum, protection=20)] if minimum else []
    )


def test_a_table_is_recorded_and_the_next_is_judged_with_it(firms: rt.Data, ledger: rt.ReleaseLedger) -> None:
    table = by_size(firms).release(ledger=ledger, name="by size")
    assert table.counts()["hidden"] > 0
    with pytest.raises(rt.NotProtectedError, match="hidden by by size"):
        by_size(firms, 0).release(ledger=ledger, name="open")
    coarse = firms.tabulate("industry", response="turnover").protect(rules=RULES)
    coarse.release(ledger=ledger, name="by industry")
    assert [one["name"] for one in ledger.releases()] == ["by size", "by industry"]
    assert ledger.verify()["releases"] == 2


def test_a_file_is_judged_with_a_table(firms: rt.Data, ledger: rt.ReleaseLedger) -> None:
    by_size(firms).release(ledger=ledger, name="by size")
    whole = firms.protect([], most=1.0, secret=SECRET)
    with pytest.raises(rt.NotProtectedError, match="hidden by by size"):
        whole.release(ledger=ledger, name="file", accept_risk="a test")
    assert whole.notes == firms.protect([], most=1.0, secret=SECRET).notes, "what was refused is not accepted"
    coarse = firms.protect([mask.RoundValues(["turnover"], base=1000)], most=1.0, secret=SECRET)
    coarse.release(ledger=ledger, name="file", accept_risk="a test")
    assert ledger.show("file")["accepted risk"] == "a test"


def test_what_is_revoked_stays_known(firms: rt.Data, ledger: rt.ReleaseLedger) -> None:
    by_size(firms).release(ledger=ledger, name="by size")
    ledger.revoke("by size", reason="a wrong footnote")
    assert ledger.releases()[0]["revoked"] == "a wrong footnote"
    with pytest.raises(rt.NotProtectedError):
        by_size(firms, 0).release(ledger=ledger, name="open")


def test_several_tables_are_one_release(firms: rt.Data, ledger: rt.ReleaseLedger) -> None:
    linked = firms.tabulate("industry", response="turnover").linked(firms.tabulate("size", response="turnover"))
    run = linked.protect(rules=RULES)
    with pytest.raises(rt.ParameterError, match="release_all"):
        run.release(ledger=ledger, name="both")
    assert ledger.releases() == [], "nothing was recorded"
    assert len(run.release_all(ledger=ledger, name="both")) == 2
    assert repr(ledger) == "<ReleaseLedger firms.ledger: 1 releases>"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"name": "x"}, "name belongs to a ledger"),
        ({"ledger": "firms.ledger", "name": "x"}, "from open_ledger"),
        ({"ledger": None, "nmae": "x"}, "unknown option 'nmae'"),
    ],
)
def test_bad_calls_get_one_sentence(firms: rt.Data, options: dict[str, str], words: str) -> None:
    with pytest.raises(rt.ParameterError, match=words):
        by_size(firms).release(**options)  # type: ignore[arg-type]


def test_a_release_needs_a_name(firms: rt.Data, ledger: rt.ReleaseLedger) -> None:
    with pytest.raises(rt.ParameterError, match="needs a name"):
        by_size(firms).release(ledger=ledger)


def test_what_the_ledger_would_not_know_of_is_refused(firms: rt.Data, ledger: rt.ReleaseLedger) -> None:
    run = firms.tabulate("industry", response="turnover").protect(rules=RULES, coalition=2)
    with pytest.raises(rt.PlanError, match="leave coalition out"):
        run.release(ledger=ledger, name="x")


def test_bad_ledgers_get_one_sentence(tmp_path: Path, firms: rt.Data, ledger: rt.ReleaseLedger) -> None:
    by_size(firms).release(ledger=ledger, name="by size")
    place = tmp_path / "firms.ledger"
    for wrong, words in (
        ({"secret": 7}, "can be guessed|so that everybody"),
        ({"secret": hashlib.sha256(b"other").digest()}, "secret is another one"),
        ({"secret": SECRET, "dataset": "hospital"}, "another data set"),
        ({"secret": SECRET, "datset": "x"}, "unknown option 'datset'"),
        ({"secret": None}, "secret is missing"),
    ):
        with pytest.raises(rt.ReticentError, match=words):
            rt.open_ledger(place, **wrong)  # type: ignore[arg-type]
    with pytest.raises(rt.ReticentError, match=r"there is no 'none\.ledger'"):
        rt.open_ledger(tmp_path / "none.ledger", secret=SECRET, create=False)


def test_why_a_run_is_refused(firms: rt.Data, ledger: rt.ReleaseLedger) -> None:
    by_size(firms).release(ledger=ledger, name="by size")
    found = ledger.explain(by_size(firms, 0), name="open")
    assert found["outcome"] == "exposed"
    assert found["conflicts"][0]["hidden by"] == "by size"
    assert "(open)" in found["conflicts"][0]["relations"]
    assert ledger.explain("by size")["judged with"] == []
    with pytest.raises(rt.ParameterError, match="give a run"):
        ledger.explain(7)
