"""Every kind of report in a real browser at 1280 and 400 pixels: nothing is fetched, axe finds nothing, nothing sticks out."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import reticent
from report_makers import PAGES
from reticent.jobs.protect_file import run_file_plan
from reticent.jobs.protect_table import run_table_plan
from web.browsing import axe_of

pytestmark = pytest.mark.browser
BUNDLED = Path(reticent.__file__).parent / "demo_data"
KINDS = {
    "people.confidential": "CONFIDENTIAL", "people.public": "PUBLIC", "firms.confidential": "CONFIDENTIAL",
    "firms.public": "PUBLIC", "folded": "CONFIDENTIAL", "exploration": "CONFIDENTIAL", "game": "PUBLIC", "peers": "PUBLIC",
    "query-log": "CONFIDENTIAL", "delegation": "CONFIDENTIAL",
}  # fmt: skip
WIDE = """() => [...document.querySelectorAll("body *")].filter(one => !one.closest(".scroll")
  && one.getBoundingClientRect().right > innerWidth + 1).map(one => one.outerHTML.slice(0, 80))"""


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reports")
    for source in BUNDLED.iterdir():
        if source.is_file():
            shutil.copy(source, folder / source.name)
    plan = folder / "people.plan.toml"
    text = plan.read_text(encoding="utf-8")
    start = text.index("[[step]]                          # what is still rare is blanked")
    text = text[:start] + text[text.index("[output]") :]
    plan.write_text(text.replace("[risk]", '[risk]\naccept_risk = "to see what a report says"'), encoding="utf-8")
    run_file_plan(plan)
    table = folder / "firms.plan.toml"
    table.write_text(
        table.read_text(encoding="utf-8").replace("[protect]", "[protect]\naccept_exposed = true"), encoding="utf-8"
    )
    run_table_plan(table)
    for name, make in {**PAGES, "folded": folded_page}.items():
        (folder / f"{name}.html").write_text(make(), encoding="utf-8")
    return folder


def folded_page() -> str:
    from reticent.report.page import Section, render_page
    from reticent.report.table_grid import LEGEND, Axis, folded

    rows = Axis(tuple(f"row {at}" for at in range(26)), (0, *(1 if at % 10 == 0 else 2 for at in range(25))))
    columns = Axis(tuple(f"column {at}" for at in range(40)), (0, *(1 if at % 8 == 0 else 2 for at in range(39))))
    statuses = ("safe", "primary", "secondary", "exposed", "frozen", "empty")
    blocks = folded(rows, columns, lambda row, column: (f"{row * column}", statuses[(row + column) % 6], ""), LEGEND)
    return render_page("A large table", [Section("The table", tuple(blocks))], public=False)


@pytest.fixture(scope="module")
def page(browser: Any) -> Iterator[Any]:
    """One page that looks at one report after the other: a new one takes as long as what is looked for."""
    made = browser.new_page()
    yield made
    made.close()


@pytest.mark.parametrize("name", list(KINDS))
def test_report_shows_offline(page: Any, reports: Path, name: str) -> None:
    asked: list[str] = []
    problems: list[str] = []
    page.set_viewport_size({"width": 1280, "height": 900})
    with watching(page, request=lambda one: asked.append(one.url), pageerror=lambda one: problems.append(str(one))):
        page.goto((reports / f"{name}.html").as_uri())
        assert KINDS[name] in page.inner_text(".banner")
        assert page.inner_text("h1")
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        for width in (1280, 400):
            page.set_viewport_size({"width": width, "height": 900})
            assert axe_of(page, contrast=width > 400) == []
            assert page.evaluate(WIDE) == []
            assert not page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
        says_something(page)
    assert not problems
    assert asked
    assert all(url.startswith(("file:", "data:")) for url in asked)


@contextmanager
def watching(page: Any, **listeners: Callable[[Any], None]) -> Iterator[None]:
    """Hear of what a page does for a while."""
    for event, listener in listeners.items():
        page.on(event, listener)
    yield
    for event, listener in listeners.items():
        page.remove_listener(event, listener)


def says_something(page: Any) -> None:
    """Every image is there, every text beside one says something of its own, every link leads somewhere."""
    assert page.evaluate("[...document.images].filter(i => !i.complete || i.naturalWidth === 0).length") == 0
    alts = page.evaluate("[...document.images].map(i => i.alt)")
    captions = page.evaluate("[...document.querySelectorAll('figcaption')].map(c => c.innerText)")
    assert len({*alts, *captions}) == len(alts) + len(captions)
    links = page.evaluate("[...document.querySelectorAll('nav a')].filter(a => !document.querySelector(a.hash)).length")
    assert links == 0
