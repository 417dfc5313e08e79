"""Doors: a call that does not fit its signature gets one sentence, and one that fits is not changed."""

import copy
import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import reticent
from reticent.base.doors import door, doors, makers
from reticent.base.errors import NoSuchNameError, ParameterError
from reticent.base.progress import Progress, silent


@door
def ask(first: str, second: int = 1, *, names: Sequence[str] = (), path: Path | str | None = None, share: float = 0.5,
        sure: bool = False, of: Mapping[str, int] | None = None, progress: Progress = silent,
        free: Any = None) -> tuple[Any, ...]:  # fmt: skip
    """Say back what was given."""
    return first, second, tuple(names), path, share, sure, of, free


def call(**options: Any) -> None:
    ask("a", **options)


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda: ask(), "ask: first is missing; give first=…."),
        (lambda: ask(3), "ask: first must be a text, got a whole number."),
        (lambda: ask("a", 1, 2),
         "ask: it takes at most 2 without a name (first, second), got 3; write names=…, path=…, share=…."),
        (lambda: ask("a", first="b"), "ask: option 'first' is given twice."),
        (lambda: call(nmaes=["b"]), "ask: unknown option 'nmaes'. Did you mean 'names'?"),
        (lambda: call(names="b"), "ask: names must be a list of texts, got a text; write ['b']."),
        (lambda: call(names=["b", 3]), "ask: names must be a list of texts, and it holds a whole number."),
        (lambda: call(names={"b": 3}), "ask: names must be a list of texts, got a table."),
        (lambda: call(names=5), "ask: names must be a list of texts, got a whole number."),
        (lambda: call(second=True), "ask: second must be a whole number, got a truth value."),
        (lambda: call(second=1.5), "ask: second must be a whole number, got a number."),
        (lambda: call(path=3), "ask: path must be a path, a text or None, got a whole number."),
        (lambda: call(share="half"), "ask: share must be a number, got a text."),
        (lambda: call(sure=1), "ask: sure must be True or False, got a whole number."),
        (lambda: call(of=[1]), "ask: of must be a mapping or None, got a list."),
        (lambda: call(progress="bar"), "ask: progress must be a function, got a text."),
        (lambda: call(path=Path), "ask: path must be a path, a text or None, got the class Path."),
    ],
)  # fmt: skip
def test_a_wrong_call_gets_one_sentence(made: Callable[[], Any], words: str) -> None:
    with pytest.raises(ParameterError) as caught:
        made()
    assert str(caught.value) == words


def test_a_right_call_is_not_changed() -> None:
    assert ask("a", np.int64(3), names=(n for n in "bc"), share=1, free=object)[:3] == ("a", 3, ("b", "c"))
    assert ask("a", path="b", of={"x": 1}, progress=lambda share, what="": None)[3] == "b"
    assert ask.__doc__ == "Say back what was given."


@doors
@dataclass(frozen=True)
class Room:
    """A class with every kind of way in."""

    size: int

    @classmethod
    def wide(cls, size: int) -> "Room":
        """A room that is twice as large."""
        return cls(2 * size)

    def with_chairs(self, *chairs: str, row: Iterable[int] = ()) -> int:
        """Count chairs."""
        return len(chairs) + self.size

    def _inside(self, count: int) -> int:
        return count


@makers
class Box:
    """A class whose methods are called too often to be checked."""

    def __init__(self, size: int) -> None:
        self.size = size

    def count(self, code: str) -> str:
        """Give the code back."""
        return code


def test_classes_have_doors_where_they_are_public() -> None:
    assert Room.wide(2).with_chairs("a", "b") == 6
    assert Room(1)._inside("not checked") == "not checked"  # type: ignore[arg-type]
    for wrong, words in (
        (lambda: Room("x"), "Room: size must be a whole number, got a text."),  # type: ignore[arg-type]
        (lambda: Room(1, 2), "Room: it takes at most 1 without a name (size), got 2."),  # type: ignore[call-arg]
        (lambda: Room.wide(), "wide: size is missing; give size=…."),  # type: ignore[call-arg]
        (lambda: Room(1).with_chairs("a", 3), "with_chairs: chairs must be a text, got a whole number."),  # type: ignore[arg-type]
    ):
        with pytest.raises(ParameterError) as caught:
            wrong()
        assert str(caught.value) == words


def test_makers_check_how_a_thing_is_made_only() -> None:
    assert Box(1).count(3) == 3  # type: ignore[arg-type, comparison-overlap]
    with pytest.raises(ParameterError, match="Box: size must be a whole number"):
        Box("x")  # type: ignore[arg-type]


def test_names_of_choices_are_left_to_the_class() -> None:
    """A role may be written as a text: the class knows its members, and which of them is near."""
    assert reticent.Variable("firm", role="entity").role is reticent.Role.ENTITY
    with pytest.raises(reticent.ReticentError, match="Did you mean 'entity'"):
        reticent.Variable("firm", role="entty")
    with pytest.raises(reticent.ReticentError, match="role must be a Role, got a whole number"):
        reticent.Variable("firm", role=3)  # type: ignore[arg-type]


@doors
@dataclass(frozen=True)
class Sealed:
    """A class of one world, asked for a verb of the other."""

    instead: ClassVar[Mapping[str, str]] = {"write": " It is confidential: release() it first."}
    size: int = 1

    def release(self) -> int:
        return self.size

    @property
    def failing(self) -> int:
        raise AttributeError("inside")


def test_a_name_that_there_is_not_says_what_to_use() -> None:
    for name, words in (
        ("write", "Sealed: there is no 'write'. It is confidential: release() it first."),
        ("relase", "Sealed: there is no 'relase'. Did you mean 'release'?"),
        ("zzz", "Sealed: there is no 'zzz'. It has failing, instead, release, size"),
    ):
        with pytest.raises(NoSuchNameError) as caught:
            getattr(Sealed(), name)
        assert str(caught.value).startswith(words)
        assert caught.value.option == name


def test_for_python_a_missing_name_is_a_missing_attribute() -> None:
    assert not hasattr(Sealed(), "write")
    assert getattr(Sealed(), "write", None) is None
    assert not hasattr(Sealed, "write")
    assert issubclass(NoSuchNameError, AttributeError)


def test_what_python_looks_for_itself_gets_its_usual_answer() -> None:
    for name in ("_repr_html_", "__array__", "_private"):
        with pytest.raises(AttributeError) as caught:
            getattr(Sealed(), name)
        assert not isinstance(caught.value, NoSuchNameError)
    assert copy.copy(Sealed(3)) == pickle.loads(pickle.dumps(Sealed(3))) == Sealed(3)


def test_a_property_that_fails_is_not_called_missing() -> None:
    with pytest.raises(AttributeError) as caught:
        _ = Sealed().failing
    assert not isinstance(caught.value, NoSuchNameError)


class Answer:
    """A class whose name begins with a vowel."""


@door
def show(answer: Answer) -> None:
    """Take one."""


def test_a_class_has_the_article_of_its_name() -> None:
    with pytest.raises(ParameterError, match="answer must be an Answer, got a text"):
        show("x")  # type: ignore[arg-type]
