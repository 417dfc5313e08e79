# SPDX-License-Identifier: Apache-2.0
"""ARGUS code lists (`.cdl`) and hierarchies (`.hrc`): read into plain data, repairs noted."""

import csv
from pathlib import Path

from reticent.base.errors import DataError
from reticent.data.hierarchy import TOTAL, Hierarchy
from reticent.io.argus_text import Notes, read_text

CodeList = tuple[tuple[str, ...], tuple[str, ...]]


def read_cdl(path: Path, notes: Notes | None = None) -> CodeList:
    """A code list: `code,label` a line. A code that occurs twice counts once (noted where the labels differ)."""
    notes = notes or Notes()
    found: dict[str, str] = {}
    for row in csv.reader(read_text(path, notes).split("\n"), skipinitialspace=True):
        if not row or not "".join(row).strip():
            continue
        code, label = row[0].strip(), (row[1].strip() if len(row) > 1 else "")
        if code in found and found[code] != label:
            notes.add(f"{path.name}: code {code!r} occurs twice with different labels; the first is kept.")
        found.setdefault(code, label)
    return tuple(found), tuple(label or code for code, label in found.items())


def read_hrc(path: Path, *, lead: str = "@", total: str = TOTAL, notes: Notes | None = None) -> Hierarchy:
    """A hierarchy file: one code a line, as deep as it has leading strings; the total is not in the file."""
    notes = notes or Notes()
    if not lead:
        raise DataError(f"{path.name}: the leading string of a hierarchy file must not be empty.")
    line_of: list[str] = [total]
    children: dict[str, list[str]] = {total: []}
    for number, row in enumerate(read_text(path, notes).split("\n"), start=1):
        if not row.strip():
            continue
        depth, rest = 0, row.strip() if row.lstrip().startswith(lead) else row
        while rest.startswith(lead):
            depth, rest = depth + 1, rest[len(lead) :]
        code = rest.strip()
        if not code:
            raise DataError(f"{path.name}: line {number} has no code after {lead!r}.")
        if depth >= len(line_of):
            raise DataError(f"{path.name}: line {number} is {depth} levels deep, but has no code above it.")
        if code in children:
            raise DataError(f"{path.name}: code {code!r} (line {number}) is in two places; each code has one parent.")
        del line_of[depth + 1 :]
        children[line_of[depth]].append(code)
        children[code] = []
        line_of.append(code)
    if not children[total]:
        raise DataError(f"{path.name}: the file has no codes.")
    return Hierarchy.from_children({code: below for code, below in children.items() if below}, total=total)


def write_hrc(tree: Hierarchy, *, lead: str = "@") -> str:
    """The text of a hierarchy file; the total is left out, as ARGUS wants it."""
    rows: list[str] = []

    def visit(position: int, depth: int) -> None:
        for child in tree.children[position]:
            rows.append(lead * depth + tree.codes[child])
            visit(child, depth + 1)

    visit(0, 0)
    return "\n".join(rows) + "\n"
