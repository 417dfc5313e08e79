# SPDX-License-Identifier: Apache-2.0
"""ARGUS recodings (`.grc`): read into a `Recoding`; what files in the wild get wrong is repaired and noted."""

from collections.abc import Sequence
from pathlib import Path

from reticent.base.errors import DataError, PlanError
from reticent.data.recoding import Recoding, parse_rules
from reticent.io.argus_text import Notes, lines_of, read_text


def read_grc(path: Path, notes: Notes | None = None) -> Recoding:
    """A recoding: lines `new: old, low-high, -high, low-`, then perhaps <MISSING> and <CODELIST>; or <TREERECODE>."""
    notes = notes or Notes()
    text = read_text(path, notes)
    lines = lines_of(text)
    if not lines:
        raise DataError(f"{path.name}: the recoding is empty.")
    if lines[0].keyword == "TREERECODE":
        return Recoding(closed=tuple(line.text for line in lines[1:]), name=path.name)
    for line in lines:
        if line.keyword == "MISSING":
            split_missing(line.tokens[1:], path, notes)
    try:
        return parse_rules(text, owner=path.name)
    except PlanError as err:
        raise err.as_kind(DataError) from None


def split_missing(tokens: Sequence[str], path: Path, notes: Notes) -> tuple[str, ...]:
    """Missing codes, separated by blanks; commas between them are repaired."""
    if any("," in token for token in tokens):
        notes.add(f"{path.name}: missing codes are separated by commas; read as separated by blanks.")
    return tuple(code for token in tokens for code in token.split(",") if code)
