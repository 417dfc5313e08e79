"""Data whose name, variables and codes try to break out of a page, and what is looked for on each page."""

import csv
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reticent.workbench.pages import PAGES
from web.browsing import Watched

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
FILE_ADDRESSES = (
    "/data", "/data?open=another", "/describe", "/describe?variable=0", "/hierarchies", "/hierarchies?variable=0", "/risk",
    "/risk?combination=0", "/explore", "/explore?key0=on&key1=on", "/plan", "/plan?add=recode", "/plan?step=1",
    "/plan?add=local-suppression", "/plan?section=risk", "/plan?edit=text", "/protect", "/nothing",
)  # fmt: skip
TABLE_ADDRESSES = (
    "/table", "/table?cell=1.1", "/table?new=1", "/audit", "/audit?cell=0", "/release?plan=file", "/release?plan=table",
    "/ledger", "/ledger?find=%3Cscript%3E", "/queries",
)  # fmt: skip
"""Every page of the workbench in each of its forms; all of them are examined."""
CUT = """() => [...document.querySelectorAll("main *, .top *, aside *, .steps *")].filter(element => {
  const place = element.getBoundingClientRect();
  if (!place.width || element.closest("svg, .unseen, .skip")) return false;
  for (let around = element.parentElement; around; around = around.parentElement) {
    const style = getComputedStyle(around);
    if (style.overflowX === "auto" || style.overflowX === "scroll") return false;  // can be scrolled to
    if (style.overflowX !== "visible" && style.textOverflow !== "ellipsis"
        && place.right > around.getBoundingClientRect().right + 1) return true;
  }
  return place.right > innerWidth + 1;
}).map(element => "cut: " + element.outerHTML.slice(0, 80))
  .concat(document.documentElement.scrollWidth > innerWidth ? ["the page scrolls sideways"] : [])"""
TOUCHING = """() => {
  const all = [...document.querySelectorAll(".button:not(.button-icon)")].map(one => [one, one.getBoundingClientRect()])
    .filter(([_, place]) => place.width);
  const near = (a, b) => a.left < b.right + 3 && b.left < a.right + 3 && a.top < b.bottom + 3 && b.top < a.bottom + 3;
  return all.flatMap(([one, a], at) => all.slice(at + 1).filter(([_, b]) => near(a, b))
    .map(([other]) => `touch: ${one.textContent.trim()} and ${other.textContent.trim()}`));
}"""
HIDDEN = "never-shown-unasked"
"""A code of one record."""
RICH = 87_654_321
"""A number of that record: no page says it unasked, alone or within a sum that one can undo."""


def hostile_folder(folder: Path) -> Path:
    """Data with hostile names and codes."""
    draw = random.Random(3)
    data = folder / "<img src=x onerror='window.hit=1'>.csv"
    with data.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow([*HOSTILE, "sex", "age", "weight", "pay"])
        for number in range(60):
            codes = [f"{name[:40]}{draw.randint(0, 2)}" for name in HOSTILE]
            out.writerow([*codes, draw.choice("fm"), draw.randint(20, 60), 1 + number % 7, draw.randint(1_000, 9_000)])
        out.writerow([HIDDEN for _ in HOSTILE] + ["f", 30, 2, RICH])
    return data


def examine(bench: Watched, path: str) -> None:
    """Nothing runs, nothing is fetched elsewhere, the policy holds, axe finds nothing, nothing is cut at 400 % zoom."""
    page = bench.page
    assert bench.go(path).status == (404 if path == "/nothing" else 200)
    page.wait_for_selector("body:not(:has(progress)) h1")
    assert page.evaluate("window.hit") is None
    assert str(RICH) not in page.content().replace(",", "")
    assert HIDDEN not in " ".join(bench.addresses)
    assert bench.axe() == []
    page.emulate_media(color_scheme="dark")
    assert bench.axe("color-contrast") == []
    page.emulate_media(color_scheme="light")
    assert page.evaluate(TOUCHING) == []
    page.set_viewport_size({"width": 320, "height": 640})
    narrow = [*page.evaluate(CUT), *page.evaluate(TOUCHING)]
    page.set_viewport_size({"width": 1440, "height": 1000})
    assert narrow == []
    assert bench.problems == []


def reads_without_a_script(browser: Any, bench: Watched, paths: Sequence[str]) -> Watched:
    """Each page shows the same heading and the same table cells to a browser without JavaScript."""
    context = browser.new_context(java_script_enabled=False, viewport={"width": 1440, "height": 1000})
    context.add_cookies(bench.page.context.cookies())
    plain = Watched(context, bench.server)
    for path in paths:
        assert plain.go(path).status in (200, 404)
        assert plain.page.inner_text("h1")
        assert plain.page.locator("nav.steps a").count() == len(PAGES)
    assert plain.problems == []
    return plain
