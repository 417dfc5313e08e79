"""The plan file as state: undo and redo, two tabs, changes from outside, and a server that is killed at any moment."""

import json
import random
from pathlib import Path

import pytest

from reticent.base.errors import DataError
from reticent.web import state as state_module
from reticent.web.state import ChangedMeanwhile, TextState


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "a.plan.toml"
    path.write_text("n = 0\n", encoding="utf-8")
    return path


def _edit(state: TextState, text: str) -> None:
    state.change(text, version=state.read().version, what="edit")


def test_undo_and_redo_over_50_random_edits_return_the_same_plan(plan: Path) -> None:
    draw, state = random.Random(1), TextState(plan)
    texts = ["n = 0\n"]
    for number in range(50):
        texts.append(f"n = {draw.randint(0, 5)}\nedit = {number}\n")
        _edit(state, texts[-1])
    for text in reversed(texts[:-1]):
        assert state.step(-1, version=state.read().version).text == text == plan.read_text(encoding="utf-8")
    assert state.read().undo is None
    for text in texts[1:]:
        state = TextState(plan)  # a server that starts again knows as much
        assert state.step(1, version=state.read().version).text == text == plan.read_text(encoding="utf-8")
    assert state.read().redo is None


def test_an_edit_after_undo_drops_what_was_undone(plan: Path) -> None:
    state = TextState(plan)
    _edit(state, "n = 1\n")
    state.step(-1, version=state.read().version)
    _edit(state, "n = 2\n")
    assert state.read().redo is None
    assert state.step(-1, version=state.read().version).text == "n = 0\n"


def test_two_tabs_do_not_overwrite_each_other(plan: Path) -> None:
    first, second = TextState(plan), TextState(plan)
    seen = second.read().version
    _edit(first, "n = 1\n")
    with pytest.raises(ChangedMeanwhile, match="nothing was written"):
        second.change("n = 2\n", version=seen, what="late")
    with pytest.raises(ChangedMeanwhile):
        second.step(-1, version=seen)
    assert plan.read_text(encoding="utf-8") == "n = 1\n"


def test_a_change_from_outside_is_a_version_like_others(plan: Path) -> None:
    state = TextState(plan)
    _edit(state, "n = 1\n")
    plan.write_text("n = 9\n", encoding="utf-8")
    assert state.read().undo == state_module.OUTSIDE
    assert state.step(-1, version=state.read().version).text == "n = 1\n"
    assert state.step(1, version=state.read().version).text == "n = 9\n"


def test_a_server_killed_between_any_two_writes_loses_nothing(plan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The n-th write fails, as if the machine had stopped; the file is the old or the new text, and undo leads back."""
    real, left = state_module.write_text, 0

    def dying(path: Path, text: str) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise DataError("the machine stopped")
        real(path, text)

    monkeypatch.setattr(state_module, "write_text", dying)
    known, written = "n = 0\n", []
    for number in range(1, 12):
        left, new = number % 3, f"n = {number}\n"
        try:
            _edit(TextState(plan), new)
            known = new
            written.append(new)
        except DataError:
            assert plan.read_text(encoding="utf-8") in (known, new)
            known = plan.read_text(encoding="utf-8")
    left = 10**9
    again = TextState(plan)
    assert again.read().text == known
    seen = {known}
    while again.read().undo is not None:
        again.step(-1, version=again.read().version)
        seen.add(again.read().text)
    assert seen >= {"n = 0\n", *written}


def test_a_broken_history_is_no_obstacle(plan: Path) -> None:
    state = TextState(plan)
    _edit(state, "n = 1\n")
    for broken in ("", "[]", json.dumps({"at": 7, "versions": []}), '{"at": "x"}'):
        (plan.parent / ".a.plan.toml.history.json").write_text(broken, encoding="utf-8")
        assert TextState(plan).read().text == "n = 1\n"
