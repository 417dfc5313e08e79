"""What clicking left, run on the command line: it must give the same bytes."""

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from command_line import CommandLine, Ran


class Again:
    """The command line in a folder; in this process, because to load the library again takes longer than what it does."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch, self._run = monkeypatch, CommandLine(capsys, monkeypatch)

    def __call__(self, folder: Path, *words: str) -> Ran:
        """Run a command as somebody would who stands in the folder."""
        with self._monkeypatch.context() as here:
            here.chdir(folder)
            ran = self._run(*words)
        assert ran.code == 0, ran.err
        return ran

    def gives_the_same(self, folder: Path, names: Iterable[str], *words: str) -> None:
        """Take the written files away and have the command write them: they are the same."""
        clicked = {name: _lasting(folder / name) for name in names}
        for name in clicked:
            (folder / name).unlink()
        self(folder, *words)
        assert {name: _lasting(folder / name) for name in clicked} == clicked


def _lasting(path: Path) -> bytes:
    """What a file says, except how long the run took."""
    return re.sub(rb"(duration\s*</[^>]+>\s*<[^>]+>)[^<]*", rb"\1", path.read_bytes())


def lines_of(path: Path) -> int:
    """The lines of a plan that say something."""
    return len([line for line in path.read_text(encoding="utf-8").splitlines() if line])
