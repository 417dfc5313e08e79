"""A tab that was left open: what it sends is about the file, the version and the cell that it showed, or nothing is done."""

import html
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from samples import cut_firms
from web.asking import OWN, Bench

TABLE = {"dimensions": ["", "", "region", "size"], "responses": ["", "", "turnover"], "shape": "1"}


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    (tmp_path / "here").mkdir()
    made = Bench(tmp_path / "here", "firms", cut_firms)
    made.send("/table", TABLE)
    yield made
    made.site.works.close()


def _form(page: str) -> dict[str, str]:
    return dict(re.findall(r'name="(form-token|site-about|version)" value="(\w+)"', page))


def _files(folder: Path) -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in folder.iterdir() if one.is_file()}


def test_another_file_in_its_place_is_left_alone(bench: Bench) -> None:
    """Even one that has the same texts: a copy of the project in another folder."""
    stale = {
        path: _form(bench.get(path)) for path in ("/plan", "/table", "/describe", "/release", "/queries", "/ledger")
    }
    other = bench.folder.parent / "there"
    shutil.copytree(bench.folder, other)
    bench.site.state.choose(other / "firms.csv")
    bench.get("/data")
    before = _files(other)
    sent = {
        "/plan": {"add": "reorder"}, "/table": {"rule.0.minimum": "9", "rules": "1"}, "/describe": {"role.0": "other"},
        "/release": {"plan": "table", "ledger.path": "a.ledger", "ledger.name": "typed here", "save": "1"},
        "/queries": {"begin": "1"}, "/ledger": {"number": "1", "reason": "typed here, a mistake"},
    }  # fmt: skip
    for path, form in sent.items():
        answer = bench.client.post(path, data={**stale[path], **form}, headers=OWN)
        assert answer.status_code == 409, path
        assert "Another file was opened after this page" in answer.text
        for value in form.values():
            assert html.escape(value) in answer.text, "what was typed is shown"
    assert _files(other) == before
    assert (
        bench.client.post("/plan", data={**_form(bench.get("/plan")), "add": "reorder"}, headers=OWN).status_code == 200
    )


def test_a_release_is_that_of_the_page(bench: Bench) -> None:
    """Judged and held in one tab, changed, judged and held in another: the first tab releases nothing."""
    section = {"ledger.path": "firms.ledger", "ledger.name": "first", "ledger.create": "on"}
    bench.send("/release?plan=table", {"plan": "table", **section, "judge": "1"})
    page = bench.get("/release?plan=table")
    assert "Record and write" in page
    stale = _form(page)
    bench.send("/table", {"rule.0.minimum": "4", "rules": "1"})
    bench.send("/release?plan=table", {"plan": "table", "judge": "1"})
    assert "Record and write" in bench.get("/release?plan=table")
    for what in ("release", "judge"):
        answer = bench.client.post("/release", data={**stale, "plan": "table", what: "1"}, headers=OWN)
        assert answer.status_code == 409, what
    assert not (bench.folder / "firms.table.csv").exists()


def test_a_status_by_hand_is_that_of_the_cell_on_the_page(bench: Bench) -> None:
    """A cell is named by its place; in a table that was turned meanwhile another one stands there."""
    stale = _form(bench.get("/table?cell=1.2"))
    bench.send("/table", {"swap": "1", "number": "0"})
    form = {"cell": "1.2", "status": "frozen", "reason": "asked for", "number": "0"}
    answer = bench.client.post("/table", data={**stale, **form}, headers=OWN)
    assert answer.status_code == 409
    assert not list(bench.folder.glob("*.hst"))
