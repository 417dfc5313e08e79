"""50 random clicks on the plan page: each leaves a plan that says what was clicked; undo and redo lead through all of them."""

import random
import re
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from reticent.workbench.project import Project
from reticent.workbench.server import site

HOST = "http://127.0.0.1:8431"
OWN = {"Origin": HOST, "Sec-Fetch-Site": "same-origin"}
START = '# a plan\n[data]\npath = "a.csv"\nschema = "a.schema.toml"\n\n[output]\nsummary = "a.json" # confidential\n'
SCHEMA = '[[variable]]\nname = "age"\nrole = "key"\nkind = "numeric"\n\n[[variable]]\nname = "sex"\nrole = "key"\n'
NEW: tuple[dict[str, Any], ...] = (
    {"add": "recode", "variable": "age", "bands": "16, 40"},
    {"add": "reorder", "mix_households": "on"},
    {"add": "top-code", "variable": "age", "value": "90", "replacement": "limit", "k": "3", "p": "10"},
    {"add": "remove-identifiers", "variables": ["", "", "sex"]},
)


class Clicks:
    """A person at the plan page, without a browser."""

    def __init__(self, folder: Path) -> None:
        (folder / "a.csv").write_text("age,sex\n30,f\n40,m\n", encoding="utf-8")
        (folder / "a.schema.toml").write_text(SCHEMA, encoding="utf-8")
        self.plan = folder / "a.plan.toml"
        self.plan.write_text(START, encoding="utf-8")
        made = site(Project.open(self.plan), 8431)
        self.client = TestClient(made.app(), base_url=HOST, follow_redirects=False)
        self.client.get(f"/enter?token={made.guard.new_token()}")

    def send(self, **form: Any) -> int:
        """Send a form of the page as it is now."""
        page = self.client.get("/plan").text
        hidden = {name: re.findall(rf'name="{name}" value="(\w+)"', page)[-1] for name in ("form-token", "version")}
        return int(self.client.post("/plan", data={**hidden, **form}, headers=OWN).status_code)

    @property
    def text(self) -> str:
        """The plan file."""
        return self.plan.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("seed", "n"), [(0, 20), *(pytest.param(seed, 50, marks=pytest.mark.deep) for seed in range(8))]
)
def test_undo_and_redo_over_random_clicks(tmp_path: Path, seed: int, n: int) -> None:
    draw, clicks = random.Random(seed), Clicks(tmp_path)
    texts = [clicks.text]
    while len(texts) <= n:
        steps = texts[-1].count("[[step]]")
        at = str(draw.randint(1, max(steps, 1)))
        form = draw.choice([
            {**draw.choice(NEW), "after": str(draw.randint(0, steps))},
            {"remove": at}, {"switch": at}, {"up": at}, {"down": at},
            {"section": "risk", "dimension": str(draw.randint(1, 5)), "threshold": "1", "interval_percent": "5"},
        ])  # fmt: skip
        if "add" not in form and "section" not in form and not steps:
            continue
        assert clicks.send(**form) == 303
        if clicks.text != texts[-1]:
            texts.append(clicks.text)
    assert all("# confidential" in text for text in texts)
    for text in reversed(texts[:-1]):
        assert clicks.send(to="undo") == 303
        assert clicks.text == text
    for text in texts[1:]:
        assert clicks.send(to="redo") == 303
        assert clicks.text == text
