"""The verdict on a masked file: three states that are never confused, and what lets a file go."""

import json

import pytest

from reticent.base.errors import NotProtectedError
from reticent.data.verdict import AttackVerdict, FileVerdict, State

HELD, NOT_HELD, OPEN = State.HELD, State.NOT_HELD, State.NOT_JUDGED


def verdict(*attacks: tuple[str, State, bool], accepted: str = "") -> FileVerdict:
    return FileVerdict(
        tuple(AttackVerdict(name, state, asked, f"text of {name}") for name, state, asked in attacks), accepted
    )


@pytest.mark.parametrize(
    ("attacks", "state"),
    [
        ([("recount", HELD, True), ("linkage", HELD, True)], HELD),
        ([("recount", HELD, True), ("linkage", NOT_HELD, True)], NOT_HELD),
        ([("recount", OPEN, True), ("linkage", NOT_HELD, True)], NOT_HELD),
        ([("recount", OPEN, True), ("linkage", HELD, True)], OPEN),
        ([("recount", HELD, True), ("linkage", NOT_HELD, False)], HELD),
        ([("recount", HELD, False)], OPEN),
        ([], OPEN),
    ],
)
def test_the_worst_of_what_is_asked_decides(attacks: list[tuple[str, State, bool]], state: State) -> None:
    found = verdict(*attacks)
    assert found.state is state
    assert found.held == (state is HELD)
    assert found.lets_go == found.held


def test_an_accepted_risk_lets_a_file_go_and_stays_not_held() -> None:
    found = verdict(("recount", NOT_HELD, True), accepted="a test file")
    assert found.lets_go
    assert not found.held
    found.require()
    assert found.summary()["accepted risk"] == "a test file"


def test_a_refusal_names_each_attack_and_the_way_out() -> None:
    found = verdict(("recount", NOT_HELD, True), ("linkage", OPEN, True), ("order", NOT_HELD, False))
    with pytest.raises(NotProtectedError) as refused:
        found.require()
    text = str(refused.value)
    assert "recount is not held: text of recount." in text
    assert "linkage is not judged: text of linkage." in text
    assert "order" not in text
    assert "accept_risk" in text
    assert refused.value.exposed == 2


def test_the_headline_of_a_refusal_says_which_attack_succeeds() -> None:
    found = verdict(("recount", HELD, True), ("linkage", NOT_HELD, True), ("weights", OPEN, True))
    assert found.headline == "not held (asked for: recount held, linkage not held, weights not judged)"


def test_held_is_not_clear_while_another_attack_gets_through() -> None:
    found = verdict(("recount", HELD, True), ("linkage", NOT_HELD, False))
    assert found.held
    assert not found.clear
    assert found.failing_unasked == ("linkage",)
    assert found.headline == "held (asked for: recount; not asked for and not held: linkage)"


def test_what_every_file_should_withstand_is_named_while_it_is_open() -> None:
    found = verdict(("recount", HELD, True), ("linkage", OPEN, False), ("order", OPEN, False))
    assert not found.clear
    assert found.headline == "held (asked for: recount; not judged: linkage)"
    assert verdict(("recount", HELD, True), ("linkage", HELD, False)).clear


def test_attacks_are_found_by_their_name_and_the_summary_is_plain() -> None:
    found = verdict(("recount", HELD, True), ("order", OPEN, False))
    assert "recount" in found
    assert "households" not in found
    assert found["order"].state is OPEN
    assert [row["state"] for row in json.loads(json.dumps(found.summary()))["attacks"]] == ["held", "not judged"]
    assert repr(found) == "<FileVerdict held: recount held; order not judged>"
