"""Bad input on each page: a wrong file, a wrong value, an impossible rule, a plan edited outside meanwhile.

The library's sentence stands beside the field, what was typed is there again, and no file changes.
"""

import html
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from reticent.workbench.pages import PAGES
from samples import cut_firms
from web.asking import OWN, Bench

Form = dict[str, object]
ALERT = r'(?s)role="alert".*?<span>(.*?)</span>'
NAMES = {page.name for page in PAGES}
TYPED: Form = {"rule.0.minimum": "7", "rules": "1"}
LEDGER: Form = {"plan": "table", "ledger.path": "firms.ledger", "ledger.name": "typed by hand", "save": "1"}

WRONG: dict[str, list[tuple[str, Form | None, str, str]]] = {
    "data": [
        ("/data?open=another", {"path": "nothing.csv"}, "there is no such file", 'value="nothing.csv"'),
        ("/data?open=another", {"path": "firms.schema.toml"}, "firms.schema.toml", 'value="firms.schema.toml"'),
    ],
    "describe": [
        ("/describe", {"role.0": "emperor"}, "emperor", "<option selected>emperor"),
        ("/describe", {"role.0": "entity", "role.1": "entity"}, "only one variable may have the role", "<option selected>entity"),
    ],
    "hierarchies": [("/hierarchies?variable=1", {"variable": "1", "digits": "x", "by-digits": "1"}, "digits", 'value="x"')],
    "risk": [
        ("/risk?dimension=9", None, "must be a whole number from 1 to 6", 'value="9"'),
        ("/risk?threshold=none", None, "must be a whole number from 1 to 1,000,000", 'value="none"'),
    ],
    "explore": [("/explore?k=1", None, "must be a whole number from 2 to 1,000", 'value="1"')],
    "plan": [
        ("/plan", {"add": "top-code", "variable": "turnover", "quantile": "1.2"}, "must be between 0.0 and 1.0", 'value="1.2"'),
        ("/plan", {"section": "risk", "most": "7"}, "most must be between 0.0 and 1.0, got 7", 'value="7"'),
        ("/plan", {"text": "[data\nx"}, "not valid TOML", "[data\nx"),
    ],
    "protect": [("/protect", {"reason": "so"}, "reason", "so</textarea>")],
    "table": [
        ("/table", {"rule.0.minimum": "none", "rules": "1"}, "minimum must be a whole number", 'value="none"'),
        ("/table", {"method": "heuristic", "search_steps": "0", "save": "1"}, "search_steps must be at least 1", 'value="0"'),
    ],
    "audit": [],
    "queries": [("/queries", {"question": " "}, "write a query", "write a query")],
    "release": [("/release?plan=table", {**LEDGER, "ledger.path": ""}, "is missing", 'value="typed by hand"')],
    "ledger": [],
}  # fmt: skip
"""By page: the address, what is sent (None: the address itself is wrong), the sentence, and what was typed."""

MEANWHILE: dict[str, list[tuple[str, Form, str]]] = {
    "data": [], "risk": [], "ledger": [],
    "describe": [("/describe", {"missing.0": "typed"}, "firms.schema.toml")],
    "hierarchies": [("/hierarchies?variable=1", {"variable": "1", "digits": "1", "by-digits": "1"}, "firms.schema.toml")],
    "explore": [("/explore?key0=on&k=3", {"keys": "0", "k": "3", "node": "0"}, "firms.plan.toml")],
    "plan": [
        ("/plan", {"add": "top-code", "variable": "turnover", "quantile": "0.9"}, "firms.plan.toml"),
        ("/plan", {"section": "risk", "most": "0.07"}, "firms.plan.toml"),
    ],
    "protect": [
        ("/protect", {"run": "1"}, "firms.plan.toml"),
        ("/protect", {"write": "1"}, "firms.plan.toml"),
        ("/protect", {"reason": "typed by hand, with a name"}, "firms.plan.toml"),
    ],
    "table": [("/table", TYPED, "firms.table.toml"), ("/table", {"write": "1", "path": "typed.csv"}, "firms.table.toml")],
    "audit": [("/audit", {"run": "1"}, "firms.table.toml")],
    "queries": [("/queries", {"mode": "exact", "minimum": "9", "policy": "1"}, "firms.queries.toml")],
    "release": [("/release?plan=table", LEDGER, "firms.table.toml")],
}  # fmt: skip
"""By page: the address, what is sent although the file was changed after the page was made. The first three change no plan."""


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    made = Bench(tmp_path_factory.mktemp("firms"), "firms")
    made.send("/table", {"dimensions": ["", "", "region", "size"], "response": "", "shape": "1"})
    made.send("/queries", {"begin": "1"})
    made.send("/protect", {"run": "1"})  # the reason for accepting is asked for after a run
    made.get("/protect")
    yield made
    made.site.works.close()


def _texts(folder: Path) -> dict[str, str]:
    return {one.name: one.read_text(encoding="utf-8") for one in folder.glob("*.toml")}


def test_every_page_is_here() -> None:
    assert set(WRONG) == set(MEANWHILE) == NAMES


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_wrong_value_has_its_sentence_and_stays(bench: Bench, name: str) -> None:
    before = _texts(bench.folder)
    for path, form, sentence, typed in WRONG[name]:
        page = html.unescape(bench.get(path, 422) if form is None else bench.send(path, form, 422))
        errors = re.findall(ALERT, page)
        assert any(sentence in error for error in errors), (path, errors)
        assert typed in page, path
    assert _texts(bench.folder) == before


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_plan_edited_outside_meanwhile_is_not_overwritten(bench: Bench, name: str) -> None:
    for path, form, file in MEANWHILE[name]:
        page = bench.get(path)
        hidden = dict(re.findall(r'name="(form-token|version)" value="(\w+)"', page))
        edited = (bench.folder / file).read_text(encoding="utf-8") + "# edited outside\n"
        (bench.folder / file).write_text(edited, encoding="utf-8")
        answer = bench.client.post(path.split("?")[0], data={**hidden, **form}, headers=OWN)
        assert answer.status_code == 409, path
        assert "was changed after this page was opened" in answer.text
        for value in form.values():
            assert html.escape(str(value)) in answer.text, "what was typed is shown"
        assert (bench.folder / file).read_text(encoding="utf-8") == edited


BROKEN = {
    "a plan that is no TOML": ("firms.plan.toml", "[data\n"),
    "a table plan with an impossible rule": ("firms.table.toml", '\nrules = [{ rule = "p-percent", p = 900 }]\n'),
    "a schema that is gone": ("firms.schema.toml", None),
    "data that are something else": ("firms.csv", "\0\0\n1"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_file_that_breaks_outside_is_said_on_every_page(bench: Bench, what: str) -> None:
    """No page fails: each shows what it can, or the sentence that says which file is wrong; put right, all is as before."""
    file, text = BROKEN[what]
    path = bench.folder / file
    good, before = path.read_bytes(), _texts(bench.folder)
    said = []
    try:
        if text is None:
            path.unlink()
        else:
            path.write_text(text if "rules" not in text else _impossible(before[file], text), encoding="utf-8")
        for name in sorted(NAMES):
            page = _settled(bench, f"/{name}")
            assert "error of reticent itself" not in page, name
            said += re.findall(ALERT, html.unescape(page))
    finally:
        path.write_bytes(good)
    assert said, "no page says what is wrong"
    assert "Nothing is called" in bench.get("/plan")
    assert _texts(bench.folder) == before


def _impossible(plan: str, rules: str) -> str:
    return re.sub(r"(?m)^rules = .*\n", rules.lstrip("\n"), plan)


def _settled(bench: Bench, path: str) -> str:
    answer = bench.client.get(path)
    while found := re.search(r'data-work="(\w+)"', answer.text):
        work = bench.site.works.find(found[1])
        if work is not None:
            work.wait(60)
        answer = bench.client.get(path)
    assert answer.status_code in (200, 422), path
    return answer.text


def test_an_impossible_rule_is_said_where_the_table_is_attacked(bench: Bench) -> None:
    """The audit has no field of its own: what its plan asks for is run, and the sentence stands above the page."""
    plan = bench.folder / "firms.table.toml"
    good = plan.read_text(encoding="utf-8")
    plan.write_text(_impossible(good, '\nrules = [{ rule = "p-percent", p = 900 }]\n'), encoding="utf-8")
    page = bench.send("/audit", {"run": "1"})
    page = _settled(bench, "/audit")
    plan.write_text(good, encoding="utf-8")
    assert "p must be" in page


@pytest.mark.parametrize("text", ['"amount\nsecond",b\n1,2\n', ""])
def test_a_file_that_cannot_be_opened_leaves_the_open_project(tmp_path: Path, text: str) -> None:
    """Neither the plan nor the folder changes, and the sentence is that of the library."""
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    bad = tmp_path / "there" / "bad.csv"
    bad.write_text(text, encoding="utf-8")
    made = Bench(tmp_path / "here", "firms", cut_firms)
    before = made.site.state.mark()
    page = made.client.post("/data", data={"form-token": _token(made), "path": str(bad)}, headers=OWN)
    assert page.status_code == 422
    assert "bad.csv: " in page.text
    assert "error of reticent itself" not in page.text
    assert made.site.state.mark() == before
    assert made.site.state.folder == tmp_path / "here"
    assert "firms.csv" in made.get("/data")
    made.site.works.close()


def _token(made: Bench) -> str:
    found = re.search(r'name="form-token" value="(\w+)"', made.get("/data"))
    assert found
    return found[1]
