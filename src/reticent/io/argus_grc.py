"""ARGUS recodings (`.grc`): read into a `Recoding`; what files in the wild get wrong is repaired and noted."""

import re
from collections.abc import Sequence
from pathlib import Path

from reticent.base.errors import DataError
from reticent.data.recoding import Range, Recoding, RecodingRule
from reticent.io.argus_codes import CodeList, read_cdl
from reticent.io.argus_text import Line, Notes, find_file, lines_of, read_text


def read_grc(path: Path, notes: Notes | None = None) -> Recoding:
    """A recoding: lines `new: old, low-high, -high, low-`, then perhaps <MISSING> and <CODELIST>; or <TREERECODE>."""
    notes = notes or Notes()
    lines = lines_of(read_text(path, notes))
    if not lines:
        raise DataError(f"{path.name}: the recoding is empty.")
    if lines[0].keyword == "TREERECODE":
        return Recoding(closed=tuple(line.text for line in lines[1:]), name=path.name)
    rules: list[RecodingRule] = []
    missing: tuple[str, ...] = ()
    listed: CodeList = ((), ())
    for line in lines:
        if line.keyword == "MISSING":
            missing = split_missing(line.tokens[1:], path, notes)
        elif line.keyword == "CODELIST" and len(line.tokens) > 1:
            listed = _code_list(path, line, notes)
        elif line.keyword is not None:
            raise DataError(f"{path.name}: line {line.number} has an unknown keyword <{line.keyword}>.")
        else:
            rules.append(_rule(line, path))
    return Recoding(tuple(rules), missing, listed[0], listed[1], name=path.name)


def _code_list(path: Path, line: Line, notes: Notes) -> CodeList:
    try:
        return read_cdl(find_file(path.parent, line.tokens[1], notes), notes)
    except DataError:
        notes.add(f"{path.name}: the code list {line.tokens[1]} is not there; labels are left out.")
        return (), ()


def split_missing(tokens: Sequence[str], path: Path, notes: Notes) -> tuple[str, ...]:
    """Missing codes, separated by blanks; commas between them are repaired."""
    if any("," in token for token in tokens):
        notes.add(f"{path.name}: missing codes are separated by commas; read as separated by blanks.")
    return tuple(code for token in tokens for code in token.split(",") if code)


def _rule(line: Line, path: Path) -> RecodingRule:
    new, colon, old = line.text.partition(":")
    if not colon or not new.strip():
        raise DataError(f"{path.name}: line {line.number} must read 'new: old, old'; the colon or the code is missing.")
    codes: list[str] = []
    ranges: list[Range] = []
    for part in old.split(","):
        source = part.strip().strip('"')
        if not source:
            continue
        low, dash, high = (piece.strip() for piece in _split_range(source))
        if not dash:
            codes.append(source)
        elif not low and not high:
            raise DataError(f"{path.name}: line {line.number} has a range without a lower or an upper end.")
        else:
            ranges.append((low or None, high or None))
    return RecodingRule(new.strip(), tuple(codes), tuple(ranges))


def _split_range(source: str) -> tuple[str, str, str]:
    found = re.fullmatch(r"(.*?)-(.*)", source)
    return (found[1], "-", found[2]) if found else (source, "", "")
