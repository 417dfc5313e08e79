"""Pictures of every page of the workbench for the manual: three widths, light and dark, by Debian's chromium.

    python scripts/make_screenshots.py [FOLDER]        (default: docs/images/workbench)

The project is the first households of the bundled survey with a plan that holds; it is previewed and run before.
"""

import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
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
SHOWN = {"plan": "/plan?step=3", "describe": "/describe?variable=4"}
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


def main() -> None:
    """Make all pictures."""
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images" / "workbench"
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        project(Path(folder))
        server = subprocess.Popen(
            [sys.executable, "-m", "reticent", "open", "people.csv", "--no-browser"],
            cwd=folder, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        )  # fmt: skip
        try:
            assert server.stdout is not None
            found = re.search(r"(http://[\d.:]+)/enter\S+", server.stdout.readline())
            assert found
            pictures(found[0], found[1], Path(folder), target)
        finally:
            server.terminate()
            server.wait()


def project(folder: Path) -> None:
    """The survey, its schema, and nothing else."""
    rows = (BUNDLED / "people.csv").read_text(encoding="utf-8").splitlines()
    kept = [rows[0], *(row for row in rows[1:] if int(row.split(",")[1]) <= LAST_HOUSEHOLD)]
    (folder / "people.csv").write_text("\n".join(kept) + "\n", encoding="utf-8")
    shutil.copy(BUNDLED / "people.schema.toml", folder)


def pictures(entrance: str, address: str, folder: Path, target: Path) -> None:
    """Run the plan, then look at every page in every way."""
    with sync_playwright() as session:
        browser = session.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        context = browser.new_context()
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.goto(entrance)
        page.wait_for_selector(".figures")
        plan = folder / "people.plan.toml"
        plan.write_text(plan.read_text(encoding="utf-8").replace("\n[output]", f"{STEPS}\n[output]"), encoding="utf-8")
        page.goto(f"{address}/protect")
        page.click('button:has-text("Run")')
        page.wait_for_selector(".outcome")
        page.goto(f"{address}/plan")
        page.click("text=Preview")
        page.wait_for_selector("#along table")
        for one in PAGES:
            page.goto(address + SHOWN.get(one.name, f"/{one.name}"))
            page.wait_for_selector("main:not(:has(progress))")
            for width, height in WIDTHS.items():
                page.set_viewport_size({"width": width, "height": height})
                for scheme in ("light", "dark"):
                    page.emulate_media(color_scheme=scheme)
                    save(page, target / f"{one.name}-{width}-{scheme}.png")
        browser.close()


def save(page: Any, path: Path) -> None:
    """One picture, with few colours so that it is small."""
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB").quantize(COLOURS)
    picture.save(path, optimize=True)
    print(path.name, path.stat().st_size)


if __name__ == "__main__":
    main()
