# SPDX-License-Identifier: Apache-2.0
"""Make the notebook of a tutorial from its page: run the Python blocks, put what they print behind them, in page and notebook.

python scripts/make_notebook.py docs/tutorials/masked-file.md …
"""

import contextlib
import io
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

BLOCK = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.S)


@contextlib.contextmanager
def beside_the_data() -> Iterator[None]:
    """A new folder with the bundled data: there a page is followed."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "src" / "reticent" / "demo_data", folder, dirs_exist_ok=True)
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(here)


def printed(source: str, names: dict[str, Any]) -> str:
    """What a block prints."""
    screen = io.StringIO()
    with contextlib.redirect_stdout(screen):
        exec(source, names)  # noqa: S102 - the blocks of our own page
    return screen.getvalue()


def _cell(kind: str, source: str, outputs: str | None = None) -> dict[str, Any]:
    cell: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": source.strip("\n").splitlines(keepends=True)}
    if kind == "code":
        shown = (
            [{"name": "stdout", "output_type": "stream", "text": outputs.splitlines(keepends=True)}] if outputs else []
        )
        cell |= {"execution_count": None, "outputs": shown}
    return cell


def notebook_of(page: str) -> tuple[str, dict[str, Any]]:
    """The page with fresh outputs, and its notebook."""
    cells, pieces, names, at = [], [], {}, 0  # type: list[dict[str, Any]], list[str], dict[str, Any], int
    with beside_the_data():
        for block in BLOCK.finditer(page):
            words, source = page[at : block.start()], block.group(1)
            output = printed(source, names)
            cells += [_cell("markdown", words)] if words.strip() else []
            cells.append(_cell("code", source, output))
            shown = f"\n```text\n{output}```\n" if output else ""
            pieces += [words, f"```python\n{source}```\n{shown}"]
            at = block.end()
    if page[at:].strip():
        cells.append(_cell("markdown", page[at:]))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 4}
    return "".join([*pieces, page[at:]]), whole


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]):
        text, notebook = notebook_of(path.read_text(encoding="utf-8"))
        path.write_text(text, encoding="utf-8")
        body = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
        path.with_suffix(".ipynb").write_text(body, encoding="utf-8")
