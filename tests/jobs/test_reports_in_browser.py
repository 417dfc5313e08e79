"""Both reports of a file and of a table in a real browser: nothing is fetched, pictures load, the banner is right."""

import shutil
from pathlib import Path

import pytest

import reticent
from reticent.jobs.protect_file import run_file_plan
from reticent.jobs.protect_table import run_table_plan

pytestmark = pytest.mark.browser
BUNDLED = Path(reticent.__file__).parent / "demo_data"


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reports")
    for source in BUNDLED.iterdir():
        shutil.copy(source, folder / source.name)
    plan = folder / "people.plan.toml"
    text = plan.read_text(encoding="utf-8")
    start = text.index("[[step]]                          # what is still rare is blanked")
    text = text[:start] + text[text.index("[output]") :]
    plan.write_text(text.replace("[risk]", '[risk]\naccept_risk = "to see what a report says"'), encoding="utf-8")
    run_file_plan(plan)
    table = folder / "firms.plan.toml"
    table.write_text(
        table.read_text(encoding="utf-8").replace("[protect]", "[protect]\naccept_exposed = true"), encoding="utf-8"
    )
    run_table_plan(table)
    return folder


@pytest.mark.parametrize(
    ("name", "banner"),
    [
        ("people.confidential.html", "CONFIDENTIAL"),
        ("people.public.html", "PUBLIC"),
        ("firms.confidential.html", "CONFIDENTIAL"),
        ("firms.public.html", "PUBLIC"),
    ],
)
def test_report_shows_offline(browser, reports: Path, name: str, banner: str) -> None:
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    asked: list[str] = []
    problems: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto((reports / name).as_uri())
    assert banner in page.inner_text(".banner")
    assert page.inner_text("h1")
    assert not problems
    assert all(url.startswith(("file:", "data:")) for url in asked)
    broken = page.evaluate("[...document.images].filter(i => !i.complete || i.naturalWidth === 0).length")
    assert broken == 0
    too_wide = page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
    assert not too_wide
    assert len(page.screenshot()) > 10_000
    page.close()
