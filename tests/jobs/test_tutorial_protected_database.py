"""The notebook of the tutorial runs, prints what it shows, and has the cells of the page."""

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import pytest

TUTORIALS = Path(__file__).resolve().parents[2] / "docs" / "tutorials"


def test_the_notebook_prints_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    notebook = json.loads((TUTORIALS / "protected-database.ipynb").read_text(encoding="utf-8"))
    page = (TUTORIALS / "protected-database.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    shown = 0
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        assert source in page
        if cell["cell_type"] != "code":
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(source, names)  # noqa: S102 - the cells of our own notebook
        expected = "".join("".join(output["text"]) for output in cell["outputs"])
        assert printed.getvalue() == expected
        assert expected.strip() in page
        shown += 1
    assert shown >= 5
    assert "777" not in "".join(line for line in page.splitlines() if line.startswith("{'answered'"))
