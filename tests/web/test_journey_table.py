"""The walk through a magnitude table, by keyboard: live counts of rules, why unsafe, recode, suppress, what if, audit, Excel."""

import re
from pathlib import Path
from typing import Any

import pytest

from web.browsing import Watched, open_page, serving
from web.repeating import Again

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PUBLISHED = ("firms.table.xlsx", "firms.table.public.html")


def _make(bench: Watched) -> None:
    """The table, from the page alone."""
    bench.click('.steps a[href="/table"]')
    for name in ("industry", "size"):
        bench.check(f'input[name="dimensions"][value="{name}"]')
    bench.check('input[name="responses"][value="turnover"]')
    bench.click("text=Make the table")
    bench.page.wait_for_selector("#cells")


def _rules(bench: Watched) -> None:
    """Another rule; while its number is typed, the cells that it calls unsafe are counted, and a wrong one is said at once."""
    bench.choose("#new-rule", "p-percent")
    bench.click("text=Add rule")
    bench.page.wait_for_selector("#r-rule-1-p")
    bench.fill("#r-rule-1-p", "300")
    bench.page.wait_for_selector('#rule-1-said:has-text("p must be above 0")')
    bench.fill("#r-rule-1-p", "60")
    bench.page.wait_for_selector('#rules-said:has-text("not saved yet")')
    tried = bench.page.inner_text("#rule-1-said")
    bench.fill("#r-rule-1-p", "1")
    bench.page.wait_for_function("old => document.querySelector('#rule-1-said').textContent !== old", arg=tried)
    bench.fill("#r-rule-1-p", "20")
    bench.click("text=Update")
    bench.page.wait_for_selector("#rules-said:not(:has-text('not saved'))")


def test_the_walk_through_a_table(browser: Any, tmp_path: Path, again: Again) -> None:
    with serving(tmp_path) as server:
        bench = open_page(browser, server, keyboard=True)
        page = bench.page
        bench.click('button:has-text("firms")')
        page.wait_for_selector(".figures")
        bench.clicks = 0
        _make(bench)
        _rules(bench)
        bench.click(".cell-primary a >> nth=0")
        page.wait_for_selector('#attacker:has-text("Why unsafe")')
        before = _unsafe(bench)
        bench.fill("#level-0", "1")
        bench.click("text=Save table")
        page.wait_for_selector("#cells")
        assert _unsafe(bench) < before
        bench.click('button:has-text("Run")')
        page.wait_for_selector(".outcome")
        assert "Held" in page.inner_text(".outcome h2"), page.inner_text("main")
        _look(bench)
        bench.click('.steps a[href="/audit"]')
        page.wait_for_selector('.outcome h2:has-text("Held: nobody outside comes too close to an unsafe cell")')
        bench.click('main a[href="/table"]')
        bench.fill("#o-path", "firms.table.xlsx")
        bench.click("text=Save and write")
        page.wait_for_selector("#output >> text=publishable")
        lines = (tmp_path / "firms.table.toml").read_text(encoding="utf-8").split("[table]")[1].splitlines()
        assert bench.clicks <= 3 * len([line for line in lines if line])
        assert bench.problems == []
        server.stop()
    again.gives_the_same(tmp_path, PUBLISHED, "table", "firms.table.toml")


def _unsafe(bench: Watched) -> int:
    found = re.search(r"([\d,]+) unsafe", bench.page.inner_text(".lead"))
    assert found
    return int(found[1].replace(",", ""))


def _look(bench: Watched) -> None:
    """Sort the table, follow a cell that is hidden for others, ask why and what if, go back."""
    page = bench.page
    bench.click('#cells thead a:has-text("Total")')
    page.wait_for_selector('th[aria-sort="descending"]')
    bench.click(".cell-secondary a >> nth=0")
    page.wait_for_selector('#attacker:has-text("Why hidden")')
    assert page.locator('th[aria-sort="descending"]').count() == 1
    bench.click("text=Try it without saving")
    page.wait_for_selector('#attacker:has-text("To publish cell")')
    with page.expect_event("load"):  # the page is fetched again after the address has changed
        page.go_back()  # the browser's own key: Alt and the left arrow
    page.wait_for_selector("text=Try it without saving")
