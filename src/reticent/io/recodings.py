# SPDX-License-Identifier: Apache-2.0
"""The mapping of recodings on disk: one line per old value and the new code that stands for it."""

import csv
import io
from collections.abc import Iterable
from pathlib import Path

from reticent.base.errors import ParameterError
from reticent.data.mapping import Mapped
from reticent.frames.marks import NO_MARKS, Marks
from reticent.io.formulas import defused


def recodings_text(rows: Iterable[Mapped], marks: Marks = NO_MARKS) -> str:
    """A mapping as CSV text: variable, what the old value is given by, the old value, the new code."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=marks.separator or ",", lineterminator="\n")
    writer.writerow(Mapped._fields)
    writer.writerows(row if marks.keep_formulas else map(defused, row) for row in rows)
    return text.getvalue()


def check_recodings_path(path: Path | str | None) -> None:
    """Refuse a name with another ending, before any work."""
    if path is not None and Path(path).suffix.lower() != ".csv":
        raise ParameterError(f"[output]: recodings are written as .csv, got a name ending in {Path(path).suffix!r}.")
