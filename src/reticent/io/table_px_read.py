# SPDX-License-Identifier: Apache-2.0
"""PC-Axis tables read back: codes, values and symbols; a file whose parts do not fit together is refused in one sentence."""

import math
import re
from itertools import product
from pathlib import Path

import numpy as np

from reticent.base.errors import DataError
from reticent.data.published_table import EMPTY, HIDDEN, PUBLISHED, PublishedTable

STATES = {'"."': EMPTY, '"-"': EMPTY, '".."': None, '"..."': HIDDEN, '"...."': HIDDEN}
"""What a symbol in place of a value says; None: the cell is not in the table."""
KEYWORD = re.compile(r'\s*([A-Z][A-Z0-9-]*)(?:\[[^\]]*\])?(?:\(((?:"[^"]*",?)+)\))?\s*=', re.ASCII)
TEXTS = re.compile(r'"([^"]*)"')
TOKEN = re.compile(r'"[^"]*"|[^\s,;]+')
MOST = 10_000_000
"""This many cells a cube may have."""


def read_px(path: Path) -> PublishedTable:
    """Read a .px file as a published table."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeError):
        raise DataError(f"{path.name}: cannot be read as PC-Axis; save it as UTF-8 text.") from None
    parts = _parts(text, path.name)
    names = [name for word in ("STUB", "HEADING") for name in TEXTS.findall(parts.get((word, ""), ""))]
    if not names or ("DATA", "") not in parts:
        raise DataError(f"{path.name}: a PC-Axis table needs STUB or HEADING, and DATA.")
    if any(word == "CELLNOTE" for word, _ in parts):  # a measure of noise stands there, and an attacker would use it
        raise DataError(f"{path.name}: notes at single cells are not read from PC-Axis; give the table as CSV.")
    codes = [_codes(parts, name, path.name) for name in names]
    tokens = TOKEN.findall(parts["DATA", ""])
    size = math.prod(len(own) for own in codes)
    if size != len(tokens) or size > MOST:
        lengths = " × ".join(str(len(own)) for own in codes)
        raise DataError(
            f"{path.name}: DATA has {len(tokens)} values, its dimensions ask for {lengths} = {size}; correct the file."
        )
    return _table(names, codes, tokens, path.name)


def _parts(text: str, name: str) -> dict[tuple[str, str], str]:
    """The statements of the file by keyword and what is in brackets; a semicolon within quotes ends none."""
    found: dict[tuple[str, str], str] = {}
    for statement in re.findall(r'(?:"[^"]*"|[^";])+;', text):
        head = KEYWORD.match(statement)
        if head is None:
            raise DataError(f"{name}: a statement of the file is not a KEYWORD=value; it is not a PC-Axis file.")
        found[head[1], ",".join(TEXTS.findall(head[2] or ""))] = statement[head.end() : -1].strip()
    return found


def _codes(parts: dict[tuple[str, str], str], name: str, owner: str) -> list[str]:
    listed = TEXTS.findall(parts.get(("CODES", name), parts.get(("VALUES", name), "")))
    if not listed or len(set(listed)) < len(listed):
        raise DataError(f"{owner}: the dimension {name!r} needs CODES or VALUES, all different.")
    return listed


def _table(names: list[str], codes: list[list[str]], tokens: list[str], owner: str) -> PublishedTable:
    kept, values, states, decimals = [], [], [], 0
    for place, (cell, token) in enumerate(zip(product(*codes), tokens, strict=True), start=1):
        state = STATES.get(token, "") if token.startswith('"') else PUBLISHED
        if state is None:
            continue
        value = math.nan
        if state == PUBLISHED:
            value = float(token) if re.fullmatch(r"-?\d+(\.\d+)?", token, re.ASCII) else math.nan
            decimals = max(decimals, len(token.partition(".")[2]))
        if state == "" or (state == PUBLISHED and math.isnan(value)):
            raise DataError(f"{owner}: value {place} of DATA is neither a number nor a known symbol.")
        kept.append(cell)
        values.append(value)
        states.append(state)
    return PublishedTable(tuple(names), tuple(kept), np.array(values), tuple(states), decimals=decimals)
