"""Odd files and names get one sentence; what was forged or damaged is never believed (0.1.0's replies are fixtures)."""

import contextlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from attacks.query_scenarios import SCENARIOS, database_file
from attacks.transcripts import stored, value_of
from reticent.base.errors import ReticentError
from reticent.base.randomness import as_secret
from reticent.history.book import blobs_of
from reticent.jobs.answer_query import answer_query, open_database
from reticent.jobs.ledger import restore
from reticent.ledger.chain import LedgerError
from reticent.ledger.ledger import open_ledger
from reticent.queries.users import LONGEST, normal_user

SECRET = as_secret(7)


def test_odd_inputs_get_one_sentence() -> None:
    """0.1.0 ended with errors of Python, or took them."""
    before, now = stored("odd_inputs")["outcomes"], SCENARIOS["odd_inputs"]()["outcomes"]
    assert sum(outcome != "sentence" for outcome in before.values()) >= 15
    assert set(now) == set(before)
    assert {name: outcome for name, outcome in now.items() if outcome != "sentence"} == {}


def test_an_anchor_made_without_the_secret_opens_nothing() -> None:
    """In 0.1.0 the answers after the older copy were forgotten, so that all less all but one was no longer judged."""

    def one_person(transcript: list[dict[str, Any]]) -> float | None:
        everybody, others = (value_of(entry) for entry in transcript[1:])
        return None if everybody is None or others is None else everybody - others

    assert one_person(stored("forged_anchor")["transcript"]) == 221
    now = SCENARIOS["forged_anchor"]()["transcript"]
    assert one_person(now) is None
    assert now[-1]["code"] == "LedgerError"


def small_ledger(folder: Path) -> Path:
    path = folder / "x.ledger"
    ledger = open_ledger(path, secret=SECRET, dataset="d")
    for number in range(3):
        with ledger.turn() as turn:
            turn.append("decision", {"user": "ann", "value": number})
    ledger.close()
    return path


def entries_of(path: Path) -> list[object] | str:
    """What the ledger says, or the sentence that closes it; any other error is a failure."""
    try:
        ledger = open_ledger(path, secret=SECRET, dataset="d")
    except LedgerError as err:
        return str(err)
    found = ledger.entries()
    ledger.close()
    return list(found)


def changed_copies(path: Path, *, step: int) -> list[tuple[str, bytes]]:
    """The file with a byte flipped, and cut, at every `step` bytes."""
    whole = path.read_bytes()
    flips = [(f"flip {i}", whole[:i] + bytes([whole[i] ^ 0xFF]) + whole[i + 1 :]) for i in range(0, len(whole), step)]
    return [*flips, *((f"cut {i}", whole[:i]) for i in range(0, len(whole), step))]


def try_copies(folder: Path, step: int) -> int:
    path = small_ledger(folder)
    truth, kept = entries_of(path), path.read_bytes()
    closed = 0
    for what, content in changed_copies(path, step=step):
        for beside in ("-wal", "-shm"):
            path.with_name(path.name + beside).unlink(missing_ok=True)
        path.write_bytes(content)
        found = entries_of(path)
        if isinstance(found, str):
            assert "\n" not in found, what
            closed += 1
        else:
            assert found == truth, what
    path.write_bytes(kept)
    return closed


def test_a_damaged_ledger_says_the_truth_or_is_closed(tmp_path: Path) -> None:
    assert try_copies(tmp_path, 97) > 100


@pytest.mark.deep
def test_a_ledger_damaged_at_any_byte_says_the_truth_or_is_closed(tmp_path: Path) -> None:
    assert try_copies(tmp_path, 1) > 10_000


def test_an_anchor_damaged_at_any_byte_closes_the_ledger(tmp_path: Path) -> None:
    path = small_ledger(tmp_path)
    anchor = tmp_path / "x.ledger.anchor"
    whole = anchor.read_bytes()
    copies = changed_copies(anchor, step=1)
    copies += [(f"bit {i}", whole[:i] + bytes([whole[i] ^ 1]) + whole[i + 1 :]) for i in range(len(whole))]
    for what, content in [*copies, ("deep", b"[" * 900), ("long", whole + b" " * 10_000), ("twice", whole * 2)]:
        anchor.write_bytes(content)
        assert isinstance(entries_of(path), str), what
    anchor.write_bytes(whole)
    assert not isinstance(entries_of(path), str)


def test_an_anchor_of_the_first_version_is_adopted_only_on_request(tmp_path: Path) -> None:
    path = small_ledger(tmp_path)
    anchor = tmp_path / "x.ledger.anchor"
    plain = json.loads(anchor.read_text())
    plain.pop("sign")
    anchor.write_text(json.dumps(plain))
    assert "adopt_anchor" in str(entries_of(path))
    open_ledger(path, secret=SECRET, dataset="d", adopt_anchor=True).close()
    assert not isinstance(entries_of(path), str)
    assert "sign" in json.loads(anchor.read_text())


@pytest.mark.parametrize("count", [0, 3, 5])
def test_the_count_of_entries_must_be_theirs(tmp_path: Path, count: int) -> None:
    path = small_ledger(tmp_path)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE progress SET count = ?", (count,))
    assert isinstance(entries_of(path), str)


VALUES = (
    "-1",
    "0",
    "1e999",
    "nan",
    "''",
    "[]",
    "[[]]",
    "{}",
    "true",
    "2020-01-01",
    "'x'",
    "[1, 'a']",
    "{ a = 1 }",
    "1.5",
)
OPTIONS = (
    "mode", "history", "minimum", "dominance", "p_percent", "coalition", "interval", "unions", "leverage", "r_squared",
    "transforms", "cutpoints", "bounds", "known", "families", "tied", "limits", "options", "test", "nonsense",
)  # fmt: skip


@pytest.mark.parametrize("option", OPTIONS)
def test_any_value_of_any_option_opens_or_gets_one_sentence(option: str, tmp_path: Path) -> None:
    for number, value in enumerate(VALUES):
        folder = tmp_path / str(number)
        folder.mkdir()
        path = database_file(folder, f"{option} = {value}")
        with contextlib.suppress(ReticentError):  # any other error fails
            open_database(path).close()


@pytest.mark.parametrize("section", ["data = 5", "ledger = []", "policy = 'x'", "earlier = [1]", "earlier = 3"])
def test_sections_that_are_no_tables_get_one_sentence(section: str, tmp_path: Path) -> None:
    path = database_file(tmp_path)
    name = section.split()[0]
    text = path.read_text().replace(f"[{name}]", f"[other_{name}]")
    path.write_text(f"{section}\n{text}")
    with pytest.raises(ReticentError):
        open_database(path)


LONG = "x" * 5_000
ODD_PLACES = {
    "data": ('"pay.csv"', f'"{LONG}"'),
    "schema": ('"schema.toml"', f'"{LONG}"'),
    "secret": ('"pay.secret"', f'"{LONG}"'),
    "ledger": ('"pay.ledger"', f'"{LONG}"'),
    "anchor": ("[ledger]", f'[ledger]\nanchor = "{LONG}"'),
    "earlier": ("[ledger]", f'[[earlier]]\npath = "{LONG}"\nversion = "0"\n[ledger]'),
    "ledger is the root": ('"pay.ledger"', '"/"'),
    "ledger without a name": ('"pay.ledger"', '"a\\u0000b"'),
    "anchor and ledger in one": ("[ledger]", '[ledger]\nanchor = "pay.ledger"'),
}


@pytest.mark.parametrize("place", ODD_PLACES)
def test_places_that_no_system_has_get_one_sentence(place: str, tmp_path: Path) -> None:
    """An overlong path ended in an error of Python, and a ledger that was its own anchor seemed to be in use."""
    path = database_file(tmp_path)
    path.write_text(path.read_text().replace(*ODD_PLACES[place], 1))
    with pytest.raises(ReticentError) as caught:
        open_database(path)
    assert "another process" not in str(caught.value)


@pytest.mark.parametrize("place", ["/", ".", ""])
def test_a_folder_in_place_of_a_ledger_gets_one_sentence(place: str, tmp_path: Path) -> None:
    """They ended in errors of Python, with `reticent ledger` too."""
    for work in (
        lambda: open_ledger(place, secret=SECRET, dataset="d"),
        lambda: blobs_of(place, None),
        lambda: restore(tmp_path, Path(place)),
    ):
        with pytest.raises(ReticentError, match="path of a file"):
            work()


@pytest.mark.parametrize(
    "more, words",
    [
        ("families = [[]]", "a family must name"),
        ("[policy.options.private]\ntotal = nan", "must be a finite number"),
        ("[policy.options.cell-key.sums]\nsmall = inf", "must be a finite number"),
    ],
)
def test_odd_options_are_told_in_whole_sentences(more: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(ReticentError, match=words):
        open_database(database_file(tmp_path, more))


def test_the_length_of_a_name_is_that_of_its_letters_written_out() -> None:
    """One character of twenty stands for eighteen letters: a name of 360 was remembered."""
    with pytest.raises(ReticentError, match="at most"):
        normal_user("\ufdfa" * 20)
    assert len(normal_user("\ufdfa" * 5)) == 90


def test_users_are_one_however_they_are_typed(tmp_path: Path) -> None:
    """NFC and NFD, wide letters, case and blanks at the ends are one user with one limit; other scripts stay apart."""
    assert len({normal_user(n) for n in ("Zoë", "Zoe\u0308", "ZOË", " zoë\t".strip("\t"), "\uff3aoë")}) == 1
    assert normal_user("\u0430nn") != normal_user("ann")
    path = database_file(tmp_path, "[policy.limits]\nqueries = 1")
    assert answer_query(path, "SELECT COUNT(*) FROM data", user="Ann").as_json()["answered"]
    assert answer_query(path, "SELECT COUNT(*) FROM data", user="ANN ").as_json()["code"] == "LIMIT"
    for bad in ("", " \u3000", "a\tb", "a\u202eb", "x" * (LONGEST + 1)):
        with pytest.raises(ReticentError):
            normal_user(bad)


def test_the_secret_of_another_data_set_opens_nothing(tmp_path: Path) -> None:
    path = small_ledger(tmp_path)
    with pytest.raises(LedgerError, match="secret is another one"):
        open_ledger(path, secret=as_secret(8), dataset="d")
