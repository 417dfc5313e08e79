"""The pages of tables: choose, judge, protect, look at a cell, set its status, write, audit."""

import re
from collections.abc import Iterator

import pytest

from web.asking import OWN, Bench


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    made = Bench(tmp_path_factory.mktemp("firms"), "firms")
    yield made
    made.site.works.close()


def test_a_table_is_chosen_judged_protected_explained_and_written(bench: Bench) -> None:
    assert "Make the table" in bench.get("/table")
    assert "dimensions must name at least one" in bench.send("/table", {"shape": "1"}, 422)
    bench.send("/table", {"dimensions": ["", "", "industry", "size"], "response": "turnover", "shape": "1"})
    page = bench.get("/table")
    assert re.search(r"threshold: [1-9]\d* cells unsafe", page)
    assert "Judged by the rules; not protected yet" in page
    form = {"rule.0.minimum": "3", "rule.0.protection": "20", "new": "p-percent", "add": "1", "number": "0"}
    bench.send("/table", form)
    wrong = bench.send("/table", {**form, "rule.1.p": "500", "rules": "1", "add": "1"}, 422)
    assert "p must be" in wrong
    page = bench.get("/table")
    assert re.search(r"p-percent: \d+ cells unsafe", page)
    bench.send(
        "/table",
        {
            "method": "heuristic",
            "cost": "value",
            "time_limit": "60",
            "insiders": "exact",
            "coalition": "1",
            "m.singletons": "on",
            "run": "1",
        },
    )
    page = bench.get("/table")
    assert "Held: every hidden cell keeps" in page
    link = re.search(r'class="cell-secondary"><a href="(/table[^"#]*)', page)
    assert link
    cell = bench.get(link[1].replace("&amp;", "&"))
    for words in ("Why hidden", "What if shown", "attack interval", "second", "respondents"):
        assert words in cell
    assert "To publish cell" in bench.get(link[1].replace("&amp;", "&") + "&if=shown")
    bench.send("/table", {"path": "firms.table.xlsx", "summary": "firms.json", "write": "1"})
    bench.get("/table")
    assert (bench.folder / "firms.table.xlsx").read_bytes()[:2] == b"PK"


def test_values_of_unsafe_cells_wait_for_show_values(bench: Bench) -> None:
    page = bench.get("/table?level=9")
    marked = re.findall(r'cell-primary"><a[^>]*>.*?</svg>([^<]*)</a>', page, re.S)
    assert marked
    assert set(marked) == {"hidden"}
    token = re.search(r'name="form-token" value="(\w+)"', page)
    assert token
    bench.client.post("/values", data={"form-token": token[1], "show": "on", "back": "/table"}, headers=OWN)
    shown = re.findall(r'cell-primary"><a[^>]*>.*?</svg>([^<]*)</a>', bench.get("/table?level=9"), re.S)
    assert "hidden" not in shown
    bench.client.post("/values", data={"form-token": token[1], "show": "off", "back": "/table"}, headers=OWN)


def test_a_status_by_hand_is_a_line_of_the_a_priori_file(bench: Bench) -> None:
    page = bench.get("/table")
    link = re.search(r'class="h\d"><a href="/table\?[^"]*cell=([\d.]+)', page)
    assert link
    bench.send(f"/table?cell={link[1]}", {"cell": link[1], "status": "unsafe", "reason": "asked for", "number": "0"})
    text = (bench.folder / "firms.table.hst").read_text(encoding="utf-8")
    assert text.startswith("// ")
    assert "asked for" in text
    assert text.rstrip().endswith(";U")
    assert 'a_priori = "firms.table.hst"' in (bench.folder / "firms.table.toml").read_text(encoding="utf-8")
    bench.send(f"/table?cell={link[1]}", {"cell": link[1], "status": "rules", "number": "0"})
    assert (bench.folder / "firms.table.hst").read_text(encoding="utf-8") == ""


def test_the_audit_sets_intervals_side_by_side(bench: Bench) -> None:
    bench.get("/audit")
    bench.send("/audit", {"run": "1"})
    page = bench.get("/audit")
    assert "Held: no unsafe cell is found too closely" in page
    assert 'class="i-need"' in page
    assert re.search(r"[+-]\d+\.\d % to [+-]\d", page)
    assert "the attacker finds" in bench.get("/audit?cell=0")


def test_a_pattern_that_reveals_is_shown_with_its_relations(bench: Bench) -> None:
    bench.send(
        "/table", {"method": "primary-only", "cost": "value", "time_limit": "60", "insiders": "exact", "run": "1"}
    )
    assert "Not held" in bench.get("/table")
    page = bench.get("/audit")
    assert "exposed" in page
    assert "<code>" in page.split("Exposed cells")[1]
    refused = bench.send("/table", {"path": "x.csv", "write": "1"})
    assert "recovers" in refused + bench.get("/table")
    assert not (bench.folder / "x.csv").exists()
