"""The tutorial of protected queries runs, and says what the notebook in `examples` says."""

import json
import runpy
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def _printed(cells: list[dict]) -> list[str]:
    return ["".join(output["text"]) for cell in cells for output in cell.get("outputs", ())]


def test_the_notebook_is_what_its_cells_print() -> None:
    made = runpy.run_path(str(ROOT / "scripts" / "make_query_notebook.py"))["run"]()
    kept = json.loads((ROOT / "examples" / "protected_queries.ipynb").read_text(encoding="utf-8"))["cells"]
    assert _printed(made) == _printed(kept)
    assert len(made) == len(kept)
