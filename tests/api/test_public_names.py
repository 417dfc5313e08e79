"""What is public is documented, and what is documented is public."""

import importlib
import re
import runpy
from pathlib import Path

import pytest

import reticent

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
FACADES = ("games", "mask", "methods", "rules")
DEEP = re.compile(r"(?:from|import) reticent\.(?!games\b|mask\b|methods\b|rules\b)\w+|`reticent\.\w+\.\w+\.\w+")


def _documented() -> set[str]:
    """Single names, and the facades, of which everything in `__all__` is shown."""
    names = set(re.findall(r"^\.\. auto(?:class|function|exception):: reticent\.([\w.]+)$", PAGE, re.M))
    for facade in re.findall(r"^\.\. automodule:: reticent\.(\w+)$", PAGE, re.M):
        names |= {f"{facade}.{name}" for name in importlib.import_module(f"reticent.{facade}").__all__}
    return names


def _public() -> set[str]:
    names = {name for name in reticent.__all__ if name not in (*FACADES, "__version__")}
    for facade in FACADES:
        module = importlib.import_module(f"reticent.{facade}")
        names |= {f"{facade}.{name}" for name in module.__all__}
    return names


def test_everything_documented_can_be_imported_and_nothing_else_is_public() -> None:
    assert _documented() == _public()


def test_every_name_has_an_example_and_the_page_is_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    """`rules.Rule` is only what other rules derive from."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    made = runpy.run_path(str(ROOT / "scripts" / "make_api_page.py"))
    assert made["page"]() == PAGE, "run: PYTHONPATH=scripts python scripts/make_api_page.py"
    entry = r"^\.\. auto\w+:: reticent\.([\w.]+)\n(?:   :members:\n)?```\n(\n```python)?"
    assert [name for name, example in re.findall(entry, PAGE, re.M) if not example] == ["rules.Rule"]


def test_facades_are_the_registries() -> None:
    from reticent.microdata.mask import METHODS
    from reticent.tables.methods import TABLE_METHODS
    from reticent.tables.rules import RULES

    for facade, registry in (("mask", METHODS), ("methods", TABLE_METHODS), ("rules", RULES)):
        module = importlib.import_module(f"reticent.{facade}")
        assert {getattr(module, one.__name__) for one in registry.values()} == set(registry.values())


def test_the_manual_has_no_deep_imports() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples" / "workflows").glob("*.py")]
    found = [f"{page.name}: {line}" for page in pages if "_build" not in page.parts
             for line in page.read_text(encoding="utf-8").splitlines() if DEEP.search(line)]  # fmt: skip
    assert not found
