"""Every page of the registry in a real browser: hostile names and codes, axe, narrow screens, no script, hidden values."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reticent.workbench.pages import PAGES
from reticent.workbench.project import Project
from reticent.workbench.server import site
from web.browsing import Server, Watched, open_page
from web.hostile import FILE_ADDRESSES, HIDDEN, TABLE_ADDRESSES, examine, hostile_folder, reads_without_a_script

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def bench(browser: Any, shared_server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    made = open_page(browser, shared_server, hostile_folder(tmp_path_factory.mktemp("hostile")))
    made.go("/plan?add=remove-identifiers")
    made.page.check('#add input[type="checkbox"][name="variables"] >> nth=0')
    made.click("text=Add step")
    made.go("/protect")
    made.click('button:has-text("Run")')
    made.page.wait_for_selector('.outcome, main [role="alert"]')
    yield made
    assert HIDDEN not in shared_server.said
    made.page.context.close()


def test_every_page_and_every_address_of_the_application_is_examined(tmp_path: Path) -> None:
    """A new page, or an address beside the pages, fails here until it is examined too."""
    examined = {address.split("?")[0] for address in (*FILE_ADDRESSES, *TABLE_ADDRESSES)} - {"/nothing"}
    assert examined == {f"/{page.name}" for page in PAGES}
    routes = {getattr(route, "path", "") for route in site(Project(tmp_path), 1).app().routes}
    assert routes == {"/", "/static", "/work/{work_id}", "/work/{work_id}/cancel", "/values", "/{name}"}


@pytest.mark.parametrize("path", FILE_ADDRESSES)
def test_a_page_with_hostile_names(bench: Watched, path: str) -> None:
    examine(bench, path)
    assert HIDDEN not in bench.page.content()


def test_values_are_shown_only_when_asked_for(bench: Watched) -> None:
    """After "show values" the first records and frequent values are there, escaped; after "hide values" they are gone."""
    page = bench.page
    bench.go("/data")
    bench.click("text=Show values")
    page.wait_for_selector('h2:text-is("First records")')
    assert page.evaluate("window.hit") is None
    assert bench.axe() == []
    bench.go("/describe?variable=0")
    page.wait_for_selector("text=Frequent values")
    bench.click("text=Hide values")
    page.wait_for_selector("text=Values hidden")
    bench.go("/data")
    assert page.locator('h2:text-is("First records")').count() == 0
    assert bench.problems == []


def test_pages_read_without_a_script(browser: Any, bench: Watched) -> None:
    """Without JavaScript every page shows what it has, and forms work."""
    plain = reads_without_a_script(browser, bench, FILE_ADDRESSES)
    plain.go("/plan?add=reorder")
    plain.click("text=Add step")
    plain.shows("article.step", 2)
    plain.click("text=Undo")
    plain.shows("article.step", 1)
    plain.page.go_back()
    assert plain.problems == []


def test_the_keyboard_reaches_everything(bench: Watched) -> None:
    """With Tab alone, from the skip link to the form: each stop is seen (it has an outline) and nothing traps."""
    bench.go("/plan?add=recode")
    page = bench.page
    seen = []
    for _ in range(60):
        page.keyboard.press("Tab")
        seen.append(
            page.evaluate("document.activeElement.id || document.activeElement.textContent.trim().slice(0, 20)")
        )
    assert seen[0] == "Skip to content"
    assert {"method", "add-variable", "add-bands"} <= set(seen)
    assert len(set(seen)) > 20
