"""The command line as a user meets it: exit code, standard output, standard error; in this process, to be quick."""

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from reticent.cli.main import run


@dataclass(frozen=True)
class Ran:
    """How a command ended and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def sentence(self) -> str:
        """The error, without the lines that may follow it."""
        return self.err.splitlines()[0] if self.err else ""


class CommandLine:
    """Runs `reticent …`."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.capsys, self.monkeypatch = capsys, monkeypatch

    def __call__(self, *words: str | Path) -> Ran:
        self.capsys.readouterr()
        self.monkeypatch.setattr(sys, "argv", ["reticent", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            run()
        out, err = self.capsys.readouterr()
        return Ran(int(ended.value.code or 0), out, err)
