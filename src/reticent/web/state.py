# SPDX-License-Identifier: Apache-2.0
"""A text file as the state of pages: written in one piece after each change, with undo, redo and a check of versions.

The file is the truth; what undo needs stands beside it (`.NAME.history.json`). A file that somebody else changed meanwhile
is a new version, never an error, and nothing is lost when the server or the machine stops between two writes.
"""

import hashlib
import json
import threading
from dataclasses import dataclass
from pathlib import Path

from reticent.base.errors import PlanError, ReticentError
from reticent.jobs.texts import write_text

MOST_VERSIONS = 200
OUTSIDE = "a change made outside"


class ChangedMeanwhile(ReticentError):
    """The text is another one than the page was made from; nothing was written."""

    exit_code = 2


@dataclass(frozen=True)
class Snapshot:
    """The text as it is now: its version, and what undo and redo would bring back (in words; None: nothing)."""

    text: str
    version: str
    number: int
    undo: str | None
    redo: str | None


@dataclass(frozen=True)
class _Version:
    """A text, and the change that made it."""

    text: str
    what: str


def version_of(text: str) -> str:
    """A short name of a text: equal texts have equal names."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class TextState:
    """One text file with its earlier and undone versions."""

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.path.name

    def read(self) -> Snapshot:
        """The text as the file has it now."""
        with self._lock:
            return self._snapshot(*self._load())

    def change(self, text: str, *, version: str, what: str) -> Snapshot:
        """Put another text in place of the version that the page was made from; `what` says the change in few words."""
        with self._lock:
            versions, at = self._load()
            self._check(versions[at].text, version)
            if text == versions[at].text:
                return self._snapshot(versions, at)
            versions = [*versions[: at + 1], _Version(text, what)][-MOST_VERSIONS:]
            return self._save(versions, len(versions) - 1)

    def step(self, by: int, *, version: str) -> Snapshot:
        """Go back (-1) or forth (1) by one change; at either end the text stays."""
        with self._lock:
            versions, at = self._load()
            self._check(versions[at].text, version)
            to = min(max(at + by, 0), len(versions) - 1)
            return self._snapshot(versions, at) if to == at else self._save(versions, to)

    def require(self, version: str) -> None:
        """Go on only if the text is the one that a page was made from."""
        self._check(self.read().text, version)

    def _check(self, text: str, version: str) -> None:
        if version_of(text) != version:
            raise ChangedMeanwhile(
                f"{self.name}: the file was changed after this page was opened, in another tab or outside; "
                "nothing was written. Look at it as it is now, then make your change again."
            )

    @property
    def _history(self) -> Path:
        return self.path.with_name(f".{self.path.name}.history.json")

    def _load(self) -> tuple[list[_Version], int]:
        """All versions and the place of the current one; a text that the history does not have becomes a new version."""
        text = self._text()
        versions, at = self._kept()
        if not versions:
            return [_Version(text, "")], 0
        if versions[at].text == text:
            return versions, at
        same = [place for place, one in enumerate(versions) if one.text == text]
        if same:  # stopped between the two writes, or put back by hand
            return versions, min(same, key=lambda place: abs(place - at))
        versions = [*versions[: at + 1], _Version(text, OUTSIDE)]
        return versions, len(versions) - 1

    def _text(self) -> str:
        try:
            return self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            raise PlanError(
                f"{self.name}: there is no such file any more; put it back, or open another one on the page Data."
            ) from None
        except UnicodeDecodeError:
            raise PlanError(f"{self.name}: the file is not UTF-8 text; save it as UTF-8.") from None
        except OSError:
            raise PlanError(f"{self.name}: the file cannot be read.") from None

    def _kept(self) -> tuple[list[_Version], int]:
        """What the history has; one that cannot be read is none, since the file itself is the state."""
        try:
            kept = json.loads(self._history.read_text(encoding="utf-8"))
            versions = [_Version(str(one["text"]), str(one["what"])) for one in kept["versions"]]
            at = int(kept["at"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return [], 0
        return (versions, at) if 0 <= at < len(versions) else ([], 0)

    def _save(self, versions: list[_Version], at: int) -> Snapshot:
        kept = {"at": at, "versions": [{"text": one.text, "what": one.what} for one in versions]}
        write_text(self._history, json.dumps(kept))  # first: it has the old text and the new one, whatever comes next
        write_text(self.path, versions[at].text)
        return self._snapshot(versions, at)

    def _snapshot(self, versions: list[_Version], at: int) -> Snapshot:
        return Snapshot(
            versions[at].text,
            version_of(versions[at].text),
            at + 1,
            versions[at].what if at else None,
            versions[at + 1].what if at + 1 < len(versions) else None,
        )
