# SPDX-License-Identifier: Apache-2.0
"""What a protected database is opened with, checked before anything is read or written."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from reticent.base.checks import check_place, kind_of
from reticent.base.errors import ParameterError
from reticent.data.microdata import Microdata
from reticent.data.parameters import Parameters
from reticent.ledger.ledger import Ledger

OWNER = "ProtectedDatabase"


@dataclass(frozen=True)
class CheckedOpening(Parameters):
    """The options of an opening that are texts, numbers or truth values: a text is never taken for true."""

    called: ClassVar[str] = OWNER
    name: str = "data"
    version: str = "1"
    create: bool = True
    test_secret: bool = False
    adopt_anchor: bool = False
    streams: int | None = None

    def __post_init__(self) -> None:
        for option in ("name", "version"):
            if not getattr(self, option).strip():
                raise ParameterError(f"{option} must be a text that is not empty.")


def listed_versions(earlier: Any, *, owner: str = OWNER) -> list[tuple[str, Microdata]]:
    """The earlier versions: pairs of a name and its data."""
    if isinstance(earlier, str) or not isinstance(earlier, Iterable):
        raise ParameterError(f"{owner}: earlier must be a list of pairs (name, data), got {kind_of(earlier)}.")
    pairs = []
    for item in earlier:
        fits = isinstance(item, tuple | list) and len(item) == 2
        if not fits or not isinstance(item[0], str) or not isinstance(item[1], Microdata):
            raise ParameterError(f"{owner}: earlier must be a list of pairs (name, data), the oldest first.")
        pairs.append((item[0], item[1]))
    return pairs


def place_of(value: Any, option: str) -> Path | str:
    """A place that is named by a path or a text, checked."""
    if not isinstance(value, str | Path):
        raise ParameterError(f"{OWNER}: {option} must be the path of a file, got {kind_of(value)}.")
    if not Path(value).name or "\0" in str(value):
        raise ParameterError(f"{OWNER}: {option} must be the path of a file; this is none.")
    if "://" not in str(value):
        check_place(value, owner=f"{OWNER}: {option}")
    return value


def ledger_place(value: Any) -> Ledger | Path | str:
    """The ledger: one that is open, or the place of one."""
    return value if isinstance(value, Ledger) else place_of(value, "ledger")


def anchor_place(value: Any) -> Path | None:
    """The place of the anchor; None: beside the ledger."""
    return None if value is None else Path(place_of(value, "anchor"))
