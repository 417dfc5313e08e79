"""Every page of the registry in a real browser: hostile names and codes, axe, narrow screens, no script, hidden values."""

import csv
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reticent.workbench.pages import PAGES
from web.browsing import Server, Watched, open_page, serving

pytestmark = [pytest.mark.browser, pytest.mark.slow]
HOSTILE = (
    "<script>window.hit=1</script>",
    '"><img src=x onerror="window.hit=1">',
    "' onmouseover='window.hit=1",
    "\u202eega \u2066x",
    "{{7*7}}{% raw %}",
    "javascript:alert(1)",
    'comma, semicolon; quote" back\\slash `tick`',
    "long " + "x" * 9_995,
)
TOO_WIDE = """() => document.documentElement.scrollWidth <= 320 ? [] :
  [...document.querySelectorAll("main *, .top *")].filter(e => e.getBoundingClientRect().right > 321)
    .map(e => e.outerHTML.slice(0, 80))"""
HIDDEN = "never-shown-unasked"
ADDRESSES = ("/data", "/data?open=another", "/describe", "/describe?variable=0", "/plan", "/plan?add=recode", "/plan?step=1",
             "/plan?add=local-suppression", "/plan?section=risk", "/plan?edit=text", "/protect")  # fmt: skip


def _hostile_folder(folder: Path) -> Path:
    """Data whose name, variables and codes try to break out; with a step on one of them."""
    draw = random.Random(3)
    data = folder / "<img src=x onerror='window.hit=1'>.csv"
    with data.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow([*HOSTILE, "sex", "age", "weight"])
        for number in range(60):
            codes = [f"{name[:40]}{draw.randint(0, 2)}" for name in HOSTILE]
            out.writerow([*codes, draw.choice("fm"), draw.randint(20, 60), 1 + number % 7])
        out.writerow([HIDDEN for _ in HOSTILE] + ["f", 30, 2])
    return data


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    data = _hostile_folder(tmp_path_factory.mktemp("hostile"))
    with serving(data.parent, data.name) as made:
        yield made


@pytest.fixture(scope="module")
def bench(browser: Any, server: Server) -> Watched:
    made = open_page(browser, server)
    made.page.wait_for_selector(".figures")
    made.go("/plan?add=remove-identifiers")
    made.page.check('#add input[type="checkbox"][name="variables"] >> nth=0')
    made.page.click("text=Add step")
    made.page.wait_for_url("**/plan?step=1*")
    return made


def test_every_page_has_an_address_here() -> None:
    assert {page.name for page in PAGES} <= {address.split("?")[0].strip("/") for address in ADDRESSES} | {
        page.name for page in PAGES if page.name not in ("data", "describe", "plan", "protect")
    }


@pytest.mark.parametrize("path", [*ADDRESSES, *(f"/{page.name}" for page in PAGES if f"/{page.name}" not in ADDRESSES)])
def test_a_page_with_hostile_names(bench: Watched, path: str) -> None:
    """Nothing runs, nothing is fetched elsewhere, the policy holds, axe finds nothing, nothing sticks out at 400 % zoom."""
    page = bench.page
    assert bench.go(path).status == 200
    page.wait_for_selector("h1")
    assert page.evaluate("window.hit") is None
    assert HIDDEN not in page.content()
    assert HIDDEN not in " ".join(bench.addresses)
    assert bench.axe() == []
    page.emulate_media(color_scheme="dark")
    assert [one for one in bench.axe() if one.startswith("color-contrast")] == []
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 320, "height": 640})
    wide = page.evaluate(TOO_WIDE)
    page.set_viewport_size({"width": 1440, "height": 1000})
    assert wide == []
    assert bench.problems == []


def test_values_are_shown_only_when_asked_for(bench: Watched) -> None:
    """After "show values" the first records and frequent values are there, escaped; after "hide values" they are gone."""
    page = bench.page
    bench.go("/data")
    page.click("text=Show values")
    page.wait_for_selector('h2:text-is("First records")')
    assert page.evaluate("window.hit") is None
    assert bench.axe() == []
    bench.go("/describe?variable=0")
    page.wait_for_selector("text=Frequent values")
    page.click("text=Hide values")
    page.wait_for_selector("text=Values hidden")
    bench.go("/data")
    assert page.locator('h2:text-is("First records")').count() == 0
    assert bench.problems == []


def test_pages_read_without_a_script(browser: Any, server: Server, bench: Watched) -> None:
    """Without JavaScript every page shows what it has, and forms work."""
    context = browser.new_context(java_script_enabled=False, viewport={"width": 1440, "height": 1000})
    context.add_cookies(bench.page.context.cookies())
    plain = Watched(context, server)
    for path in ADDRESSES:
        assert plain.go(path).status == 200
        assert plain.page.inner_text("h1")
    plain.go("/plan?add=reorder")
    plain.page.click("text=Add step")
    plain.page.wait_for_url("**/plan?step=2*")
    plain.page.click("text=Undo")
    assert plain.page.locator("article.step").count() == 1
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
