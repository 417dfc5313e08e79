"""Reading transcripts: nothing here knows how answers were protected."""

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "fixtures" / "v010" / "queries"


def stored(name: str) -> dict[str, Any]:
    """A scenario as version 0.1.0 answered it."""
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return found


def value_of(entry: dict[str, Any]) -> Any:
    """The value of an answer with one value; None where it was refused."""
    return entry.get("value") if entry["answered"] else None
