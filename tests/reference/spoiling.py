"""Spoiling a small project in many ways, and checking what the command line says to it."""

import contextlib
import resource
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from reticent.cli.main import run

Change = Callable[[Path], None]


def edit(name: str, old: str, new: str) -> Change:
    """Replace a text in a file of the project."""

    def change(folder: Path) -> None:
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new, 1))

    return change


def put(name: str, content: str | bytes) -> Change:
    """Write a file of the project."""

    def change(folder: Path) -> None:
        raw = content.encode() if isinstance(content, str) else content
        (folder / name).write_bytes(raw)

    return change


def drop(name: str) -> Change:
    return lambda folder: (folder / name).unlink()


def both(*changes: Change) -> Change:
    def change(folder: Path) -> None:
        for one in changes:
            one(folder)

    return change


@dataclass(frozen=True)
class Case:
    """A way to spoil the project, the command to run, the exit code, and words that the sentence must have."""

    change: Change
    code: int
    words: str
    command: tuple[str, ...] = ("protect", "plan.toml")


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def call(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["reticent", *words])
    with pytest.raises(SystemExit) as stop:
        run()
    return int(stop.value.code or 0)  # type: ignore[arg-type]


@contextlib.contextmanager
def files_up_to(size: int) -> Iterator[None]:
    """The system refuses larger files, as a full disk or a quota does."""
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)


def check(
    case: Case, project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], *, hidden: str
) -> None:
    """Spoil, run, and see: one sentence, the exit code, nothing written, no value shown."""
    case.change(project)
    before = snapshot(project)
    code = call(monkeypatch, *case.command)
    shown = capfd.readouterr()
    lines = shown.err.strip().splitlines()
    assert len(lines) == 1, shown.err
    assert lines[0].startswith("reticent: ")
    assert lines[0].endswith((".", "?"))
    assert case.words in lines[0]
    assert code == case.code
    assert hidden not in shown.out + shown.err
    assert shown.out.strip() == ""
    assert snapshot(project) == before
