"""Versions of random streams and of plans: what was drawn by other streams is never continued without a word."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from conformance.test_masking_methods import method_of, run, survey
from conformance.test_query_modes import database
from conformance.test_table_methods import run as table_run
from reticent.base.errors import ParameterError, PlanError
from reticent.base.randomness import STREAM_VERSION, as_secret
from reticent.data.plan import DataSection, Plan, plan_from_table, plan_to_toml, read_toml, sections_of
from reticent.data.table_plan import read_table_plan, table_plan_from
from reticent.jobs.database_file import read_database_file
from reticent.jobs.delegate import read_delegation
from reticent.jobs.jj import RoundNumbers, change_jj
from reticent.jobs.play_game import run_game
from reticent.jobs.protect_file import protect_file
from reticent.jobs.protect_querylog import read_log_plan, run_log_plan
from reticent.kernels import draws
from reticent.ledger.chain import LedgerError
from reticent.microdata.explore import Candidate, ExploreSettings, explore
from reticent.microdata.explore_spec import read_explore_spec
from reticent.microdata.mask import METHODS
from reticent.queries.engine import STREAMS
from reticent.queries.modes import MODES
from reticent.tables.problem import SuppressionProblem
from table_makers import with_totals

DRAWING = sorted(name for name, mode in MODES.items() if mode.draws)
COUNT = "SELECT COUNT(*) FROM data WHERE dept = 'a'"
OTHER = "SELECT COUNT(*) FROM data WHERE dept = 'b'"

# Digests of what a fixed secret draws. If one changes, two draws of one value can be averaged: raise STREAM_VERSION.
PINNED = {
    "streams": "18ac25186c14e73b",
    "kernels": "5a52178a00250002",
    "sample": "fa3648959cdf5149",
    "reorder": "e3ea55d1dc1d0c15",
    "pram": "c30b61334a01d996",
    "swap": "dd4f60feade07681",
    "round": "b747fb61bff0439e",
}


def digests() -> dict[str, str]:
    secret = as_secret(5)
    numbers = secret.child("a").stream("b").integers(0, 2**62, 50).tobytes()
    ids = np.arange(50, dtype=np.uint64)
    uniforms = np.floor(draws.uniforms(*secret.words("c"), ids, 3) * 2**40).astype(np.int64).tobytes()
    found = {"streams": numbers + secret.digest("d"), "kernels": uniforms}
    for name, number in (("sample", 0), ("reorder", 0), ("pram", 0), ("swap", 0), ("round", 1)):
        found[name] = run(method_of(name, number), survey()).data.frame.table.write_csv().encode()
    return {name: hashlib.blake2b(raw, digest_size=8).hexdigest() for name, raw in found.items()}


def test_the_same_version_draws_the_same() -> None:
    assert STREAM_VERSION == 2
    assert digests() == PINNED, "draws have changed: raise STREAM_VERSION and renew these digests"


def upgrade(monkeypatch: pytest.MonkeyPatch, version: int) -> None:
    """As if this were a program that draws streams of another version."""
    for module in ("reticent.base.randomness", "reticent.queries.engine"):
        monkeypatch.setattr(f"{module}.STREAM_VERSION", version)


@pytest.mark.parametrize("mode", DRAWING)
def test_a_ledger_names_its_streams_before_the_first_answer(tmp_path: Path, mode: str) -> None:
    db = database(tmp_path, mode)
    db.ask(COUNT, user="ann")
    kinds = [entry.kind for entry in db._ledger.entries()]
    assert kinds.count(STREAMS) == 1
    assert kinds.index(STREAMS) < kinds.index("decision")
    db.ask(OTHER, user="ann")
    assert [entry.kind for entry in db._ledger.entries()].count(STREAMS) == 1


@pytest.mark.parametrize("mode", DRAWING)
def test_other_streams_are_refused_until_an_entry_names_them(
    tmp_path: Path, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = database(tmp_path, mode)
    before = db.ask(COUNT, user="ann")
    db.close()
    upgrade(monkeypatch, STREAM_VERSION + 1)
    with pytest.raises(
        LedgerError, match=f"streams of version {STREAM_VERSION}, .* draws version {STREAM_VERSION + 1}"
    ):
        database(tmp_path, mode)
    with pytest.raises(ParameterError, match=f"streams = {STREAM_VERSION} are not"):
        database(tmp_path, mode, streams=STREAM_VERSION)
    later = database(tmp_path, mode, streams=STREAM_VERSION + 1)
    assert later.ask(COUNT, user="bob").rows == before.rows, "what was answered stays as it was"  # type: ignore[union-attr]
    named = [entry.payload["version"] for entry in later._ledger.entries() if entry.kind == STREAMS]
    assert named == [STREAM_VERSION, STREAM_VERSION + 1]
    later.close()
    database(tmp_path, mode).close()  # the entry stays
    monkeypatch.undo()
    with pytest.raises(LedgerError, match=f"streams of version {STREAM_VERSION + 1}"):
        database(tmp_path, mode)


def test_a_ledger_that_names_no_streams_is_of_the_first_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As version 0.1.0 wrote them."""
    with monkeypatch.context() as old:
        old.setattr("reticent.queries.engine.Engine._check_streams", lambda self: setattr(self, "_to_name", False))
        db = database(tmp_path, "cell-key")
        db.ask(COUNT, user="ann")
        assert STREAMS not in [entry.kind for entry in db._ledger.entries()]
        db.close()
    with pytest.raises(LedgerError, match="streams of version 1, and this version of the program draws version 2"):
        database(tmp_path, "cell-key")


def test_a_process_that_meets_an_upgrade_stops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = database(tmp_path, "cell-key")
    old.ask(COUNT, user="ann")
    with monkeypatch.context() as new:
        upgrade(new, STREAM_VERSION + 1)
        other = database(tmp_path, "cell-key", streams=STREAM_VERSION + 1)
        other.ask(OTHER, user="bob")
        other.close()
    with pytest.raises(LedgerError, match="never continues them"):
        old.ask("SELECT COUNT(*) FROM data WHERE dept = 'c'", user="ann")


@pytest.mark.parametrize("mode", sorted(set(MODES) - set(DRAWING)))
def test_modes_without_draws_need_no_version(tmp_path: Path, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    db = database(tmp_path, mode)
    db.ask(COUNT, user="ann")
    assert STREAMS not in [entry.kind for entry in db._ledger.entries()]
    db.close()
    upgrade(monkeypatch, STREAM_VERSION + 1)
    database(tmp_path, mode).ask(OTHER, user="ann")


def test_a_plan_that_names_other_streams_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    table = {"data": {"path": "x.csv", "streams": STREAM_VERSION}}
    assert plan_from_table(table, METHODS, owner="p.toml", folder=Path()).data.streams == STREAM_VERSION
    upgrade(monkeypatch, STREAM_VERSION + 1)
    for build in (
        lambda: plan_from_table(table, METHODS, owner="p.toml", folder=Path()),
        lambda: table_plan_from({**table, "table": {"dimensions": ["a"]}}, owner="p.toml", folder=Path()),
    ):
        with pytest.raises(PlanError, match=r"p\.toml: \[data\]: streams = 2 are not what this version .* draws \(3\)"):
            build()


def test_a_run_records_its_streams() -> None:
    result = protect_file(survey(), (method_of("round", 1),), most=1.0, accept_risk="a test of records")
    plain = json.loads(json.dumps(result.summary()))
    assert plain["streams"] == STREAM_VERSION
    assert len(plain["secret"]) == 64, "a drawn secret is kept in the record"
    again = protect_file(
        survey(),
        (method_of("round", 1),),
        most=1.0,
        accept_risk="a test of records",
        secret=bytes.fromhex(plain["secret"]),
    )
    assert again.file.frame.table.equals(result.file.frame.table), "and repeats the run"
    assert "secret" not in again.summary()
    assert table_run("round", 0).found.summary()["streams"] == STREAM_VERSION


def test_numbers_record_their_streams_where_they_are_drawn() -> None:
    values, relations, _ = with_totals(np.array([[20, 50, 10], [8, 19, 22], [17, 32, 12]]))
    problem = SuppressionProblem.from_values(values, relations, primary=np.zeros(len(values), dtype=bool))
    drawn = change_jj(problem, RoundNumbers(5, "random"), secret=5, test_secret=True)
    assert drawn.summary()["streams"] == STREAM_VERSION
    assert "streams" not in change_jj(problem, RoundNumbers(5)).summary()


def test_an_exploration_of_other_streams_is_not_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its finished draws stay in the file; draws of two versions are not put together."""
    tried, state = (Candidate("rounded", (method_of("round", 1),)),), tmp_path / "state"
    settings = ExploreSettings(draws=1, fresh=1, attacks=("linkage",))
    found = explore(survey(), tried, settings=settings, secret=5, state=state)
    assert explore(survey(), tried, settings=settings, secret=5, state=state).points == found.points
    kept = state.read_text()
    monkeypatch.setattr("reticent.microdata.explore.STREAM_VERSION", STREAM_VERSION + 1)
    with pytest.raises(PlanError, match=r"state belongs to another exploration .* or random streams differ"):
        explore(survey(), tried, settings=settings, secret=5, state=state)
    assert state.read_text() == kept


VERSIONED = {
    "file": lambda path: plan_from_table(read_toml(path), METHODS, owner=path.name, folder=path.parent),
    "table": read_table_plan,
    "query log": read_log_plan,
    "database": read_database_file,
    "game": run_game,
    "explore": lambda path: read_explore_spec(path, METHODS),
    "delegation": read_delegation,
}


@pytest.mark.parametrize("kind", VERSIONED)
@pytest.mark.parametrize("version", ["2", "0", "-1", '"1"', "1.0", "true", "[1]"])
def test_unknown_versions_of_plans_are_one_sentence(tmp_path: Path, kind: str, version: str) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(f'version = {version}\n[data]\npath = "x.csv"\n', encoding="utf-8")
    with pytest.raises(PlanError) as caught:
        VERSIONED[kind](path)
    said = str(caught.value)
    assert said.startswith("plan.toml: version ")
    assert "version 1" in said
    assert "\n" not in said


def test_a_plan_of_version_1_says_the_same_as_one_without() -> None:
    plain = {"data": {"path": "x.csv"}}
    one = plan_from_table({"version": 1, **plain}, METHODS, owner="p", folder=Path())
    assert one == plan_from_table(plain, METHODS, owner="p", folder=Path())
    assert plan_to_toml(one).startswith("version = 1\n")
    assert sections_of({"version": 1, "data": {}}, ("data",), owner="p") == {"data": {}}
    assert plan_to_toml(Plan(DataSection("x.csv"))) == plan_to_toml(one)


def test_a_query_log_without_a_place_for_the_drawn_secret_is_refused(tmp_path: Path) -> None:
    """Version 0.1.0 drew a secret and kept it nowhere."""
    (tmp_path / "plan.toml").write_text(
        '[data]\npath = "log.tsv"\n[taxonomy]\npath = "tree.txt"\n[output]\npath = "safe.tsv"\n', encoding="utf-8"
    )
    with pytest.raises(PlanError, match="name a summary, or give"):
        run_log_plan(read_log_plan(tmp_path / "plan.toml"))


@pytest.mark.parametrize("text", ["sex;age\nf;20\nm;31", "[1]\n", "\n", "", "[" * 50_000 + "\n", "\x00\ud7ff"])
def test_a_file_of_anything_else_is_no_state_file_and_stays_as_it_is(text: str, tmp_path: Path) -> None:
    """Its last line was cut off, and the rest ended in an error of Python."""
    place = tmp_path / "people.csv"
    place.write_text(text, encoding="utf-8")
    with pytest.raises(PlanError, match=r"people\.csv belongs to another exploration .* or is no state file"):
        explore(
            survey(),
            (Candidate("rounded", (method_of("round", 1),)),),
            settings=ExploreSettings(draws=1),
            secret=5,
            state=place,
        )
    assert place.read_text(encoding="utf-8") == text
