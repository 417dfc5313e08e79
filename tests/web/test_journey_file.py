"""The walk through a file as the EUSTAT manual takes it, by keyboard: recode, suppress, top-code, weights, safe file."""

from pathlib import Path
from typing import Any

import pytest

from web.browsing import Watched, open_page, serving
from web.repeating import Again, lines_of

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PUBLISHED = ("people.safe.csv", "people.safe.schema.toml", "people.public.html")


def _add(bench: Watched, method: str, fields: dict[str, str | list[str]]) -> None:
    """Add a step as a person does: choose the method, fill in its form, add."""
    bench.choose("#method", method)
    bench.click("text=Choose")
    for name, value in fields.items():
        if isinstance(value, list):
            for one in value:
                bench.check(f'#add input[name="{name}"][value="{one}"]')
        elif bench.page.locator(f"select#add-{name}").count():
            bench.choose(f"#add-{name}", value)
        else:
            bench.fill(f"#add-{name}", value)
    bench.click("text=Add step")


STEPS: tuple[tuple[str, dict[str, str | list[str]]], ...] = (
    ("remove-identifiers", {"variables": ["person", "household", "occupation", "birthplace"]}),
    ("recode", {"variable": "region", "level": "1"}),
    ("recode", {"variable": "age", "bands": "16, 40, 65"}),
    ("top-code", {"variable": "income", "value": "3000"}),
    ("round", {"variables": ["income"], "base": "1500"}),
    ("noise-on-weights", {"percent": "5"}),
    ("round", {"variables": ["weight"], "points": "120"}),
    ("local-suppression", {"k": "3", "keys": ["region", "sex", "age", "marital", "education", "income"]}),
)  # fmt: skip


def test_the_walk_through_a_file(browser: Any, survey: Path, again: Again) -> None:
    with serving(survey) as server:
        bench = open_page(browser, server, keyboard=True)
        bench.click('button:has-text("people.csv")')
        bench.page.wait_for_selector(".figures")
        assert "676" in bench.page.inner_text(".figures")
        bench.click("main >> text=Describe")
        assert bench.page.input_value('select[name="role.3"]') == "key"
        bench.click(".page-head >> text=Plan")
        before, bench.clicks = lines_of(survey / "people.plan.toml"), 0
        for method, fields in STEPS:
            _add(bench, method, fields)
        assert bench.clicks <= 3 * (lines_of(survey / "people.plan.toml") - before)
        bench.click(".page-head >> text=Protect")
        bench.click('button:has-text("Run")')
        bench.page.wait_for_selector('.outcome, main [role="alert"]')
        assert bench.page.locator(".outcome").count(), bench.page.inner_text("main")
        assert "Held" in bench.page.inner_text(".outcome h2")
        assert not (survey / "people.safe.csv").exists()
        bench.click("text=Write the safe file")
        bench.page.wait_for_selector("text=publishable")
        assert bench.problems == []
        said = server.stop()
    again.gives_the_same(survey, PUBLISHED, "protect", "people.plan.toml")
    _no_values(survey, said + " ".join(bench.addresses))


def _no_values(folder: Path, said: str) -> None:
    """Nothing that only records have is in what the server printed, or in an address."""
    persons = [row.split(",")[0] for row in (folder / "people.csv").read_text(encoding="utf-8").splitlines()[1:]]
    assert not [person for person in persons if person in said]
