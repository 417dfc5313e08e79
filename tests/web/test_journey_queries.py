"""A query database: its policy with what that promises, a query as an analyst, attacks that an open one does not withstand."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from web.browsing import BUNDLED, Server, open_page
from web.repeating import Again, lines_of

pytestmark = [pytest.mark.browser, pytest.mark.slow]
QUESTION = "SELECT SUM(turnover) FROM data"


def test_a_database_is_made_tried_and_attacked(
    browser: Any, shared_server: Server, tmp_path: Path, again: Again
) -> None:
    for name in ("firms.csv", "firms.schema.toml"):
        shutil.copy(BUNDLED / name, tmp_path / name)
    bench = open_page(browser, shared_server, tmp_path / "firms.csv")
    page = bench.page
    bench.click('nav >> text="Queries"')
    bench.click("text=Make a database")
    page.wait_for_selector("#policy")
    page.fill("#q-p_percent", "10")
    page.fill("#q-minimum", "0")
    bench.click("text=Save policy")
    page.wait_for_selector("#policy .error")
    assert page.input_value("#q-p_percent") == "10"
    page.fill("#q-minimum", "4")
    bench.click("text=Save policy")
    page.wait_for_selector('.toml:has-text("minimum = 4")')
    assert "no combination of answers, with any factors, rests on fewer respondents" in page.inner_text("main")
    bench.check('input[name="all"]')
    bench.click(f'#try button:text-is("{QUESTION}")')
    page.wait_for_selector("#try table")
    assert "the answer appears after Show values" in page.inner_text("#try table")
    bench.click("text=Show values")
    page.wait_for_selector("text=Values shown")
    assert page.input_value("#question") == QUESTION
    rows = page.locator("#try tbody tr").all_inner_texts()
    assert {"exact", "simulatable", "camouflage", "cell-key", "private"} <= {row.split()[0] for row in rows}
    exact = next(row for row in rows if row.startswith("exact"))
    bench.click("text=Attack a copy")
    page.wait_for_selector("#attacks table, #attacks [role=alert]")
    assert "Held" in page.inner_text("#attacks .outcome h2")
    tracker = page.inner_text('#attacks tr:has-text("tracker")')
    assert "finds the value" in tracker
    assert "fails" in tracker
    assert bench.clicks <= 3 * lines_of(tmp_path / "firms.queries.toml")
    assert bench.problems == []
    page.context.close()
    ran = again(tmp_path, "ask", "firms.queries.toml", QUESTION, "--user", "ann", "--json", "-")
    assert f"{json.loads(ran.out)['value']:,.10g}" in exact
