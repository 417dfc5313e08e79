# SPDX-License-Identifier: Apache-2.0
"""A-priori files of tau-ARGUS (`.hst`): what is known about cells beforehand, one per line."""

from pathlib import Path

from reticent.base.errors import DataError
from reticent.io.argus_text import Notes, read_text
from reticent.tables.apriori import NUMBERS, STATUS, Entry


def read_hst(
    path: Path, n_dimensions: int, *, separator: str = ";", notes: Notes | None = None, ignore_errors: bool = False
) -> list[Entry]:  # fmt: skip
    """Read `code1;code2;…;action[;number[;number]]`; an error names the file and the line, or is passed over (noted)."""
    notes = notes or Notes()
    entries = []
    for number, row in enumerate(read_text(path, notes).split("\n"), start=1):
        if not row.strip() or row.lstrip().startswith("//"):
            continue
        try:
            entries.append(_entry(row, n_dimensions, separator, f"{path.name}, line {number}"))
        except DataError as err:
            if not ignore_errors:
                raise
            notes.add(f"passed over: {err}")
    return entries


def _entry(row: str, n_dimensions: int, separator: str, where: str) -> Entry:
    fields = [field.strip().strip('"').strip() for field in row.split(separator)]
    while fields and fields[-1] == "" and len(fields) > n_dimensions + 1:
        fields.pop()
    if len(fields) < n_dimensions + 1:
        raise DataError(
            f"{where}: needs {n_dimensions} codes and an action, separated by {separator!r}; it has {len(fields)} fields."
        )
    action = fields[n_dimensions].upper()
    if action not in STATUS and action not in NUMBERS:
        raise DataError(f"{where}: unknown action {fields[n_dimensions]!r}; it must be S, U, P, M, ML, C, PL or AB.")
    try:
        numbers = tuple(float(field.replace(",", ".")) for field in fields[n_dimensions + 1 :])
    except ValueError:
        raise DataError(f"{where}: what follows the action must be numbers.") from None
    if len(numbers) != NUMBERS.get(action, 0):
        raise DataError(f"{where}: action {action} needs {NUMBERS.get(action, 0)} numbers, got {len(numbers)}.")
    return Entry(tuple(fields[:n_dimensions]), action, numbers, where)
