"""A linked pair of tables beside an earlier release: refused with its name, changed, judged safe, recorded, written."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from samples import cut_firms
from web.browsing import BUNDLED, Server, Watched, open_page
from web.repeating import Again, lines_of

pytestmark = [pytest.mark.browser, pytest.mark.slow]
OUTCOME = '.outcome, main [role="alert"]'


def _judge(bench: Watched) -> str:
    """Judge the plan; gives the verdict."""
    bench.click('button:has-text("Judge")')
    bench.page.wait_for_selector(OUTCOME)
    assert bench.page.locator(".outcome").count(), bench.page.inner_text("main")
    return str(bench.page.inner_text(".outcome"))


def _dimensions(bench: Watched, card: str, *names: str) -> None:
    """Tick just these dimensions in a card of the table page."""
    boxes = bench.page.locator(f'{card} input[type="checkbox"][name="dimensions"]')
    for at in range(boxes.count()):
        if boxes.nth(at).is_checked() != (boxes.nth(at).get_attribute("value") in names):
            bench.clicks += 1
            boxes.nth(at).click()


def _first_release(bench: Watched) -> None:
    """A table of regions and sizes, released."""
    page = bench.page
    bench.click('nav >> text="Table"')
    _dimensions(bench, "main", "region", "size")
    bench.check('input[name="responses"][value="turnover"]')
    bench.click("text=Make the table")
    page.wait_for_selector("#cells")
    bench.click('nav >> text="Release"')
    bench.click('nav.tabs >> text="Table"')
    page.fill('input[name="ledger.name"]', "by size")
    assert "Held" in _judge(bench)
    assert "first release" in page.inner_text("main")
    bench.click("text=Record and write")
    page.wait_for_selector("text=Released: entry")


def _linked_pair(bench: Watched) -> None:
    """Another release: industries by size, and linked to it regions by size."""
    page = bench.page
    bench.click("text=Begin another release")
    page.wait_for_selector("#shape")
    _dimensions(bench, "#shape", "industry", "size")
    bench.click("text=Save table")
    page.wait_for_selector('#cells h2:has-text("industry")')
    bench.click("text=Add a linked table")
    _dimensions(bench, "main", "region", "size")
    bench.check('input[name="responses"][value="turnover"]')
    bench.click("text=Make the table")
    page.wait_for_selector("#cells")


def test_a_linked_pair_and_an_earlier_release(
    browser: Any, shared_server: Server, tmp_path: Path, again: Again
) -> None:
    for name in ("firms.csv", "firms.schema.toml"):
        shutil.copy(BUNDLED / name, tmp_path / name)
    cut_firms(tmp_path / "firms.csv")
    bench = open_page(browser, shared_server, tmp_path / "firms.csv")
    page = bench.page
    _first_release(bench)
    _linked_pair(bench)
    bench.click('nav >> text="Release"')
    bench.click('nav.tabs >> text="Table"')
    refused = _judge(bench)
    assert "Not held" in refused
    assert "from by size and by size 2 together" in refused
    assert page.locator("text=Record and write").count() == 0
    bench.click("text=See by size in the ledger")
    page.wait_for_selector('table:has-text("by size")')
    page.go_back()
    bench.click("text=Change the table")
    page.wait_for_selector('#cells h2:has-text("industry")')
    _dimensions(bench, "#shape", "industry")
    bench.click("text=Save table")
    page.wait_for_selector('h1:text-is("Turnover by industry")')
    bench.click('nav >> text="Release"')
    bench.click('nav.tabs >> text="Table"')
    assert "Held" in _judge(bench)
    said = page.inner_text("main")
    assert re.search(r"\d+ sums must stay unknown", said)
    assert re.search(r"for (\d+) of \1 unsafe cells and sums of cells two possible tables were found", said)
    assert "by size" in page.inner_text(".attacker")
    page.click("summary:has-text('turnover: region')")
    assert "hidden" in page.inner_text("details:has(summary:has-text('turnover: region')) table")
    assert not list(tmp_path.glob("firms.table.2*"))
    bench.click("text=Record and write")
    page.wait_for_selector("text=Released: entry")
    bench.click("text=See the entry")
    bench.click("text=Verify")
    page.wait_for_selector("text=Intact")
    assert bench.clicks <= 3 * lines_of(tmp_path / "firms.table.toml")
    assert bench.problems == []
    page.context.close()
    names = sorted(one.name for one in tmp_path.glob("firms.table*.2*") if one.suffix in (".csv", ".html", ".json"))
    assert len(names) >= 4
    again.gives_the_same(tmp_path, names, "release", "firms.table.toml")
    firms = [row.split(",")[0] for row in (tmp_path / "firms.csv").read_text(encoding="utf-8").splitlines()[1:]]
    assert not [firm for firm in firms if firm in shared_server.said + " ".join(bench.addresses)]
