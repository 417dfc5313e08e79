"""The manual in a real browser at two widths: built without warnings, nothing fetched, axe finds nothing, nothing sticks out."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from web.browsing import axe_of

pytestmark = pytest.mark.browser
ROOT = Path(__file__).resolve().parents[2]
MAIN = ("index", "how-to/choose-a-method", "coming-from/sdcmicro", "explanation/gallery", "tutorials/protected-table")


def _build(folder: Path, builder: str, *pages: str) -> Path:
    """Build the manual, in which a warning is an error, or some of its pages, with which the search is not complete."""
    pytest.importorskip("sphinx")
    built = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", *(() if pages else ("-W",)), "-b", builder, "-d", str(folder / "trees"), "docs",
         str(folder / "manual"), *(f"docs/{page}.md" for page in pages)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    return folder / "manual"


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The main pages; all others are read, and what they point to is looked up, but nothing is made of them."""
    folder = tmp_path_factory.mktemp("main")
    _build(folder, "dummy")
    return _build(folder, "html", *MAIN)


@pytest.fixture(scope="module")
def whole_manual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _build(tmp_path_factory.mktemp("whole"), "html")


def _look(manual: Path, browser: Any, names: list[str]) -> list[str]:
    context = browser.new_context()
    page = context.new_page()
    found: list[str] = []
    page.on("request", lambda asked: found.append(asked.url) if not asked.url.startswith(("file:", "data:")) else None)
    for name in names:
        page.goto((manual / f"{name}.html").as_uri())
        for width in (1280, 400):
            page.set_viewport_size({"width": width, "height": 900})
            found += [f"{name}, {width}: {one}" for one in axe_of(page, contrast=width > 400)]
            if page.evaluate("document.documentElement.scrollWidth") > width:
                found.append(f"{name} is wider than {width}")
    context.close()
    return found


def test_main_pages_are_for_everybody(manual: Path, browser: Any) -> None:
    assert _look(manual, browser, list(MAIN)) == []


@pytest.mark.deep
def test_every_page_is_for_everybody(whole_manual: Path, browser: Any) -> None:
    names = [str(page.relative_to(whole_manual).with_suffix("")) for page in sorted(whole_manual.rglob("*.html"))]
    wanted = [name for name in names if not name.startswith(("_", "genindex", "search"))]
    assert _look(whole_manual, browser, wanted) == []
