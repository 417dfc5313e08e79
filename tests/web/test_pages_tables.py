"""Pages about a table, its release, its ledger and a database, with hostile names and codes: as safe as the others."""

from collections.abc import Iterator
from typing import Any

import pytest

from web.browsing import Server, Watched, open_page
from web.hostile import HIDDEN, HOSTILE, RICH, TABLE_ADDRESSES, examine, hostile_folder, reads_without_a_script

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def bench(browser: Any, shared_server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    """A protected table of two hostile variables, released under a hostile name; a database."""
    made = open_page(browser, shared_server, hostile_folder(tmp_path_factory.mktemp("tables")))
    page = made.page
    made.go("/table")
    for place in (0, 1):
        page.check(f'main input[name="dimensions"][type="checkbox"] >> nth={place}')
    page.check('main input[name="responses"][value="pay"]')
    made.click("text=Make the table")
    page.wait_for_selector('#cells, main [role="alert"]')
    assert page.locator("#cells").count(), page.inner_text("main")
    made.click('button:has-text("Run")')
    page.wait_for_selector('.outcome, main [role="alert"]')
    assert page.locator(".outcome").count(), page.inner_text("main")
    made.go("/release?plan=table")
    page.fill('input[name="ledger.name"]', HOSTILE[0])
    made.click('button:has-text("Judge")')
    page.wait_for_selector('.outcome, main [role="alert"]')
    assert "Preview of the public report" in page.inner_text("main")
    examine(made, "/release?plan=table")
    made.click("text=Record and write")
    page.wait_for_selector("text=Released: entry")
    made.go("/queries")
    made.click("text=Make a database")
    page.wait_for_selector("#policy")
    yield made
    assert HIDDEN not in shared_server.said
    assert str(RICH) not in shared_server.said
    made.page.context.close()


@pytest.mark.parametrize("path", TABLE_ADDRESSES)
def test_a_page_with_hostile_names(bench: Watched, path: str) -> None:
    examine(bench, path)


def test_an_entry_with_hostile_names(bench: Watched) -> None:
    """What is found by following a link: the entry of the ledger."""
    page = bench.page
    bench.go("/ledger")
    bench.click("main tbody a >> nth=0")
    page.wait_for_selector("#attacker dl")
    examine(bench, page.url.removeprefix(bench.server.address).split("#")[0])


def test_tables_read_without_a_script(browser: Any, bench: Watched) -> None:
    """Without JavaScript every page shows what it has, and a form works."""
    plain = reads_without_a_script(browser, bench, TABLE_ADDRESSES)
    plain.page.fill("#question", "SELECT COUNT(*) FROM data")
    plain.click('button:text-is("Ask")')
    plain.page.wait_for_selector("#try table")
    plain.click("text=Show values")
    plain.page.wait_for_selector("text=Values shown")
    assert "61" in plain.page.inner_text("#try table")
    plain.click("text=Hide values")
    assert plain.problems == []


def test_wrong_input_is_said_beside_its_field_and_stays(bench: Watched) -> None:
    """On each page: the library's sentence stands beside the field, and nothing that was typed is lost."""
    page = bench.page
    for path, field, text, press, words in (
        ("/data?open=another", "#path", "not-there.csv", 'button:text-is("Open")', "there is no such file"),
        ("/release?plan=table", 'input[name="ledger.name"]', "", 'button:text-is("Save")', "is missing"),
        ("/queries", "#q-minimum", "none", "text=Save policy", "minimum"),
        ("/queries", "#q-dominance", "5", "text=Save policy", "dominance must be two numbers"),
        ("/queries", "#question", "", 'button:text-is("Ask")', "write a query"),
    ):
        bench.go(path)
        page.fill(field, text)
        bench.click(press)
        page.wait_for_selector(f".field:has({field}) .error")
        assert words in page.inner_text(f".field:has({field}) .error"), path
        assert page.input_value(field) == text
        assert page.get_attribute(field, "aria-invalid") == "true", path
    bench.go("/queries")
    page.select_option("#q-mode", "open")
    bench.click("text=Save policy")
    page.wait_for_selector(".field:has(#q-test) .error")
    assert page.input_value("#q-mode") == "open"
    assert bench.problems == []
