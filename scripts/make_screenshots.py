# SPDX-License-Identifier: Apache-2.0
"""Pictures of every page of the workbench for the manual: three widths, light and dark, by Debian's chromium.

    python scripts/make_screenshots.py [FOLDER [PAGE …]]        (default: docs/images/workbench, all pages)

Two projects, both with invented data: the first households of the bundled survey with a plan that holds, and the bundled firms
with a table, an earlier release and a query database. What the pages show is run before, from the pages.
"""

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

import reticent
from reticent.workbench.pages import PAGES

ROOT = Path(__file__).resolve().parents[1]
BUNDLED = Path(reticent.__file__).parent / "demo_data"
WIDTHS = {1440: 1000, 1024: 800, 400: 800}
COLOURS = 256
LAST_HOUSEHOLD = 300
PATIENCE = 300_000
IDLE = "main:not(:has(progress))"
STEPS = """
[[step]]
method = "remove-identifiers"
variables = ["person", "household", "occupation", "birthplace"]

[[step]]
method = "recode"
variable = "region"
level = 1

[[step]]
method = "recode"
variable = "age"
bands = [16, 40, 65]

[[step]]
method = "top-code"
variable = "income"
value = 3000

[[step]]
method = "round"
variables = ["income"]
base = 1500

[[step]]
method = "round"
variables = ["weight"]
points = [120]

[[step]]
method = "local-suppression"
k = 3
keys = ["region", "sex", "age", "marital", "education", "income"]

[[step]]
method = "noise-on-weights"
active = false
"""
TABLE = """version = 1

[data]
path = "firms.csv"
schema = "firms.schema.toml"
secret = "firms.secret.key"

[table]
dimensions = {dimensions}
response = "turnover"
rules = [{{ rule = "threshold", minimum = 3 }}, {{ rule = "p-percent", p = 15 }}]

[protect]
time_limit = 600

[output]
path = "{name}.csv"
public_report = "{name}.public.html"
report = "{name}.confidential.html"

[ledger]
path = "firms.ledger"
name = "{title}"
"""


class Desk:
    """A browser in front of one project."""

    def __init__(self, page: Any, address: str, folder: Path) -> None:
        self.page, self.address, self.folder = page, address, folder

    def go(self, path: str) -> None:
        """Open a page and wait until it has nothing more to do."""
        self.page.goto(f"{self.address}{path}")
        self.page.wait_for_selector(IDLE)

    def press(self, what: str, then: str) -> None:
        """Press something, and wait for what comes of it."""
        self.page.click(what)
        self.page.wait_for_selector(then)
        self.page.wait_for_selector(IDLE)


def hierarchies(desk: Desk) -> None:
    """The tree of the occupations, with its codes: the data are invented."""
    desk.go("/hierarchies?variable=7")
    desk.press("text=Show values", "text=Hide values")


def plan(desk: Desk) -> None:
    """A plan with its preview; the third step is open."""
    desk.go("/plan")
    desk.press("text=Preview", "#along table")
    desk.go("/plan?step=3")


def protect(desk: Desk) -> None:
    """A run that holds."""
    desk.go("/protect")
    desk.press('button:has-text("Run")', ".outcome")


def table(desk: Desk) -> None:
    """A protected table with an unsafe cell chosen."""
    desk.go("/table")
    desk.press('button:has-text("Run")', ".outcome")
    desk.page.locator(".cell-primary a").first.click()
    desk.page.wait_for_selector("#attacker h3")
    desk.page.wait_for_selector("body:not(:has(progress))")
    desk.page.evaluate("scrollTo(0, 0)")


def audit(desk: Desk) -> None:
    """The attack on the same run."""
    desk.go("/audit")
    desk.press('main button:has-text("Run"), main button:has-text("Attack"), main .outcome', ".outcome")


def queries(desk: Desk) -> None:
    """A database, attacked."""
    desk.go("/queries")
    desk.press("text=Make a database", "#policy")
    desk.press("text=Attack a copy", "#attacks table")
    desk.go("/queries")


def release(desk: Desk) -> None:
    """A verdict before anything is recorded."""
    desk.go("/release?plan=table")
    desk.press('button:has-text("Judge")', ".outcome")


def ledger(desk: Desk) -> None:
    """The earlier release."""
    desk.go("/ledger")
    desk.page.locator("main tbody a").first.click()
    desk.page.wait_for_selector("#attacker dl")


def at(path: str) -> Callable[[Desk], None]:
    """A page that needs nothing but its address."""
    return lambda desk: desk.go(path)


PEOPLE: dict[str, Callable[[Desk], None]] = {
    "data": at("/data"), "describe": at("/describe?variable=4"), "risk": at("/risk"),
    "explore": at("/explore?key0=on&key2=on&key4=on&k=3"), "plan": plan, "protect": protect,
    "hierarchies": hierarchies,  # the last: it shows values
}  # fmt: skip
FIRMS: dict[str, Callable[[Desk], None]] = {
    "table": table,
    "audit": audit,
    "queries": queries,
    "release": release,
    "ledger": ledger,
}


def main() -> None:
    """Make all pictures."""
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images" / "workbench"
    wanted = set(sys.argv[2:]) or {page.name for page in PAGES}
    assert {page.name for page in PAGES} == {*PEOPLE, *FIRMS}
    target.mkdir(parents=True, exist_ok=True)
    for start, pages, prepare in (("people.csv", PEOPLE, people), ("firms.csv", FIRMS, firms)):
        chosen = {name: show for name, show in pages.items() if name in wanted}
        if chosen:
            with tempfile.TemporaryDirectory() as folder, opened(Path(folder), start, prepare) as desk:
                for name, show in chosen.items():
                    show(desk)
                    pictures(desk.page, target, name)


def people(folder: Path) -> None:
    """The survey, its schema, and the steps of a plan."""
    rows = (BUNDLED / "people.csv").read_text(encoding="utf-8").splitlines()
    kept = [rows[0], *(row for row in rows[1:] if int(row.split(",")[1]) <= LAST_HOUSEHOLD)]
    (folder / "people.csv").write_text("\n".join(kept) + "\n", encoding="utf-8")
    shutil.copy(BUNDLED / "people.schema.toml", folder)


def firms(folder: Path) -> None:
    """The firms, a table that was released, and the plan of the next one."""
    for name in ("firms.csv", "firms.schema.toml"):
        shutil.copy(BUNDLED / name, folder)
    command(folder, "new-secret", "firms.secret.key")
    first = TABLE.format(dimensions='["region"]', name="firms.regions", title="turnover by region")
    (folder / "regions.toml").write_text(first, encoding="utf-8")
    command(folder, "release", "regions.toml")
    own = TABLE.format(dimensions='["industry", "size"]', name="firms.table", title="turnover by industry and size")
    (folder / "firms.table.toml").write_text(own, encoding="utf-8")


def command(folder: Path, *arguments: str) -> None:
    """A command of reticent in a folder."""
    subprocess.run(
        [sys.executable, "-m", "reticent", *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL, env=own_source()
    )  # fmt: skip


def own_source() -> dict[str, str]:
    """The environment in which the library is this one."""
    return {**os.environ, "PYTHONPATH": str(ROOT / "src")}


@contextlib.contextmanager
def opened(folder: Path, start: str, prepare: Callable[[Path], None]) -> Iterator[Desk]:
    """A project in a browser."""
    prepare(folder)
    server = subprocess.Popen(
        [sys.executable, "-m", "reticent", "open", start, "--no-browser"],
        cwd=folder, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, env=own_source(),
    )  # fmt: skip
    try:
        assert server.stdout is not None
        found = re.search(r"(http://[\d.:]+)/enter\S+", server.stdout.readline())
        assert found
        with sync_playwright() as session:
            browser = session.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
            )
            context = browser.new_context(viewport={"width": 1440, "height": 1000}, reduced_motion="reduce")
            context.set_default_timeout(PATIENCE)
            page = context.new_page()
            page.goto(found[0])
            page.wait_for_selector(".figures")
            written = folder / f"{Path(start).stem}.plan.toml"
            text = written.read_text(encoding="utf-8")
            if start == "people.csv":
                written.write_text(text.replace("\n[output]", f"{STEPS}\n[output]"), encoding="utf-8")
            yield Desk(page, found[1], folder)
            browser.close()
    finally:
        server.terminate()
        server.wait()


def pictures(page: Any, target: Path, name: str) -> None:
    """A page in every width, light and dark."""
    for width, height in WIDTHS.items():
        page.set_viewport_size({"width": width, "height": height})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.evaluate("scrollTo(0, 0)")
            save(page, target / f"{name}-{width}-{scheme}.png")
    page.set_viewport_size({"width": 1440, "height": 1000})


def save(page: Any, path: Path) -> None:
    """One picture, with few colours so that it is small."""
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB").quantize(COLOURS)
    picture.save(path, optimize=True)
    print(path.name, path.stat().st_size)


if __name__ == "__main__":
    main()
