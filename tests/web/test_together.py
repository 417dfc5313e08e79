"""Two tabs, a killed server, plans edited outside, and wrong input: nothing is lost, and the library's sentence is shown."""

import contextlib
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from web.browsing import Server, follow, open_page, serving

pytestmark = [pytest.mark.browser, pytest.mark.slow]
WRONG_STEP = '\n[[step]]\nmethod = "recode"\nvariable = "agee"\nlevel = 1\n'
ENDLESS_STEP = """
[[step]]
method = "microaggregate"
variables = ["age", "income"]
partition = "best"
proposals = 1_000_000_000
"""
"""It runs for hours, so that there is time to cancel it."""


@pytest.fixture
def server(survey: Path) -> Iterator[Server]:
    with serving(survey, "people.csv") as made:
        yield made


def test_two_tabs_a_killed_server_and_a_plan_edited_outside(browser: Any, survey: Path, server: Server) -> None:
    plan = survey / "people.plan.toml"
    bench = open_page(browser, server)
    bench.page.wait_for_selector(".figures")
    first, second = bench.page, bench.page.context.new_page()
    for page in (first, second):
        page.goto(f"{server.address}/plan?add=recode")
        page.select_option("#add-variable", "age")
    first.fill("#add-bands", "16, 40")
    follow(first, "text=Add step")
    second.fill("#add-bands", "17, 41")
    follow(second, "text=Add step")
    second.wait_for_selector("text=Changed meanwhile")
    assert "17, 41" in second.inner_text("main")
    assert "bands = [16, 40]" in plan.read_text(encoding="utf-8")
    assert "17" not in plan.read_text(encoding="utf-8")
    # a step edited outside is seen at once, and undo leads behind it
    plan.write_text(plan.read_text(encoding="utf-8").replace("[16, 40]", "[16, 50]"), encoding="utf-8")
    first.goto(f"{server.address}/plan?step=1")
    assert first.input_value("#s1-bands") == "16, 50"
    follow(first, 'button:has-text("Undo")')
    first.wait_for_url("**/plan")
    assert "bands = [16, 40]" in plan.read_text(encoding="utf-8")
    # a plan that cannot be read is shown as text with the line that is wrong
    whole = plan.read_text(encoding="utf-8")
    plan.write_text(whole + "\nthis is = = no TOML\n", encoding="utf-8")
    first.goto(f"{server.address}/plan")
    assert "not valid TOML" in first.inner_text("#text-error")
    first.fill("#plan-text", whole)
    follow(first, "text=Save text")
    first.wait_for_selector("article.step")
    # the browser dies with something half typed, then the server: the plan is there, undo too
    first.goto(f"{server.address}/plan?add=recode")
    first.fill("#add-bands", "1, 2")
    with first.expect_event("crash"), contextlib.suppress(Exception):
        first.goto("chrome://crash")
    assert plan.read_text(encoding="utf-8") == whole
    server.stop(signal.SIGKILL)
    with serving(survey, "people.plan.toml") as again:
        later = open_page(browser, again)
        later.go("/plan")
        later.shows("article.step", 1)
        later.click('button:has-text("Undo")')
        assert "not valid TOML" in later.page.inner_text("#text-error")


def test_wrong_input_has_its_sentence_beside_the_field(browser: Any, survey: Path, shared_server: Server) -> None:
    bench = open_page(browser, shared_server, survey / "people.csv")
    page, plan = bench.page, survey / "people.plan.toml"
    before = plan.read_text(encoding="utf-8")
    bench.go("/plan?add=top-code")
    page.select_option("#add-variable", "income")
    page.fill("#add-quantile", "1.2")
    page.fill("#add-k", "none")
    bench.click("text=Add step")
    page.wait_for_selector("#add-quantile-error")
    assert "quantile must be between 0.0 and 1.0, got 1.2" in page.inner_text("#add-quantile-error")
    assert "k must be a whole number, got a text" in page.inner_text("#add-k-error")
    assert page.input_value("#add-quantile") == "1.2"
    assert page.input_value("#add-variable") == "income"
    assert bench.axe() == []
    page.fill("#add-quantile", "0.9")
    page.fill("#add-k", "3")
    page.fill("#add-value", "5000")
    bench.click("text=Add step")
    page.wait_for_selector('#add .error:has-text("top-code")')
    bench.go("/plan?section=risk")
    page.fill("#risk-most", "7")
    bench.click("#risk >> text=Save")
    page.wait_for_selector("#risk-most-error")
    assert "most must be between 0.0 and 1.0, got 7" in page.inner_text("#risk-most-error")
    bench.go("/plan?edit=text")
    page.fill("#plan-text", "[data\n")
    bench.click("text=Save text")
    page.wait_for_selector("#text-error")
    assert "not valid TOML" in page.inner_text("#text-error")
    assert page.input_value("#plan-text") == "[data\n"
    bench.go("/data?open=another")
    for name in ("nothing.csv", "people.secret.key", "people.schema.toml", "."):
        page.fill("#path", name)
        bench.click('button:has-text("Open") >> nth=0')
        page.wait_for_selector(f'#path[value="{name}"] ~ #path-error')
        assert page.inner_text("#path-error")
    bench.go("/describe")
    page.select_option('select[name="role.3"]', "weight")
    bench.click('button:text-is("Save")')
    page.wait_for_selector("#variable-3 .error")
    assert "weight" in page.inner_text("#variable-3 .error")
    assert page.input_value('select[name="role.3"]') == "weight"
    assert plan.read_text(encoding="utf-8") == before
    assert bench.problems == []


def test_a_step_that_cannot_run_says_so_on_its_card_and_a_run_can_be_cancelled(
    browser: Any, survey: Path, shared_server: Server
) -> None:
    bench = open_page(browser, shared_server, survey / "people.csv")
    page = bench.page
    bench.go("/plan?edit=text")
    text = page.input_value("#plan-text")
    page.fill("#plan-text", text + WRONG_STEP + ENDLESS_STEP)
    bench.click("text=Save text")
    page.wait_for_selector("article.step")
    assert "'agee' is not in the schema" in page.inner_text("#step-1 .error")
    bench.go("/plan?step=1")
    bench.click('button:has-text("Switch off")')
    page.wait_for_url("**/plan#step-1")
    bench.shows("#step-1 .error", 0)
    assert "active = false" in (survey / "people.plan.toml").read_text(encoding="utf-8")
    bench.go("/protect")
    bench.click('button:has-text("Run")')
    page.wait_for_selector("progress")
    bench.click("text=Cancel")
    page.wait_for_selector("text=The run was cancelled")
    assert not (survey / "people.safe.csv").exists()
    assert bench.problems == []
