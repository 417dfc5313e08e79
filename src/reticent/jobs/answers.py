# SPDX-License-Identifier: Apache-2.0
"""What a command writes besides the screen: the numbers of a result as JSON, in a place that was checked beforehand."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from reticent.base.plain import as_plain
from reticent.io.atomic import write_text
from reticent.io.places import check_places


def check_answer(path: Path | None, inputs: Iterable[Path | None] = ()) -> None:
    """Refuse a place for the answer that cannot be written, or that the same work reads; before the work starts."""
    check_places(() if path is None else (path,), (one for one in inputs if one is not None))


def write_answer(answer: Any, path: Path | None) -> None:
    """Write the answer as JSON, if a place is given."""
    if path is not None:
        write_text(path, json.dumps(as_plain(answer), indent=2, ensure_ascii=False) + "\n")
