"""Each notebook of the tutorials runs, prints what it shows, and has the cells of its page."""

import contextlib
import io
import json
import shutil
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "docs" / "tutorials").glob("*.ipynb"))


def test_each_tutorial_of_the_three_worlds_has_a_notebook() -> None:
    assert {path.stem for path in NOTEBOOKS} == {"masked-file", "protected-table", "protected-database"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebook_prints_what_it_shows(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(str(files("reticent") / "demo_data"), tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    notebook = json.loads(path.read_text(encoding="utf-8"))
    page = path.with_suffix(".md").read_text(encoding="utf-8")
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
