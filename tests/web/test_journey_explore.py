"""The walk through a file with hierarchies: the lattice, a recoding, local recoding, the map of risk and loss, the safe file."""

from pathlib import Path
from typing import Any

import pytest

from web.browsing import Server, Watched, open_page
from web.repeating import Again, lines_of

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PUBLISHED = ("people.safe.csv", "people.safe.schema.toml", "people.public.html")
KEYS = ("region", "sex", "marital", "occupation")


def _prepare(bench: Watched) -> None:
    """Leave out what is not explored, and make the weights alike."""
    bench.click('.steps a[href="/plan"]')
    bench.choose("#method", "remove-identifiers")
    bench.click("text=Choose")
    for name in ("person", "household", "age", "education", "birthplace", "income"):
        bench.check(f'#add input[name="variables"][value="{name}"]')
    bench.click("text=Add step")
    bench.choose("#method", "round")
    bench.click("text=Choose")
    bench.check('#add input[name="variables"][value="weight"]')
    bench.page.fill("#add-points", "120")
    bench.click("text=Add step")


def _lattice(bench: Watched) -> None:
    """Choose keys, look at recodings in the lattice and beside it."""
    page = bench.page
    bench.click('.steps a[href="/explore"]')
    for name in KEYS:
        bench.check(f'label:has-text("{name}") input')
    page.fill("#k", "10")
    bench.click('main button:has-text("Show")')
    page.wait_for_selector(".nodes")
    bench.click('.nodes a[aria-label^="1·0·0·1"]')
    page.wait_for_selector('#attacker:has-text("Recoding 1·0·0·1")')
    assert "unsafe" in page.inner_text("#attacker .verdict")
    bench.click("#attacker >> text=region coarser")
    page.wait_for_selector('#attacker:has-text("Recoding 2·0·0·1")')


def test_the_walk_through_a_lattice(browser: Any, shared_server: Server, survey: Path, again: Again) -> None:
    bench = open_page(browser, shared_server, survey / "people.csv")
    page, plan = bench.page, survey / "people.plan.toml"
    before, bench.clicks = lines_of(plan), 0
    _prepare(bench)
    _lattice(bench)
    bench.click("text=Measure the best")
    page.wait_for_selector('#map table, main [role="alert"]')
    bench.click('#map table a:has-text("local recoding")')
    page.wait_for_selector('#map h3:has-text("local recoding")')
    bench.click("text=Take this candidate")
    assert 'method = "generalize"' in plan.read_text(encoding="utf-8")
    assert bench.clicks <= 3 * (lines_of(plan) - before + lines_of(survey / "people.explore.toml"))
    bench.click('.page-head a[href="/protect"]')
    bench.click('button:has-text("Run")')
    page.wait_for_selector('.outcome, main [role="alert"]')
    assert "Held" in page.inner_text(".outcome h2"), page.inner_text("main")
    bench.click("text=Write the safe file")
    page.wait_for_selector("text=publishable")
    assert bench.problems == []
    page.context.close()
    again.gives_the_same(survey, PUBLISHED, "protect", "people.plan.toml")
