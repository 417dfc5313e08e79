"""The pages of tables: choose, judge, protect, look at a cell, set its status, write, audit."""

import html
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from samples import cut_survey
from web.asking import Bench

SHAPE = {"dimensions": ["", "", "industry", "size"], "responses": ["", "", "turnover"], "shape": "1"}
HIDE = {
    "method": "heuristic", "cost": "value", "time_limit": "60", "insiders": "exact", "coalition": "1",
    "m.singletons": "on", "run": "1",
}  # fmt: skip


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path, "firms")
    yield made
    made.site.works.close()


@pytest.fixture
def protected(bench: Bench) -> Bench:
    """A table of turnover that is protected; each test has its own."""
    bench.send("/table", SHAPE)
    bench.send("/table", HIDE)
    return bench


def test_a_table_is_chosen_judged_protected_explained_and_written(bench: Bench) -> None:
    assert "Make the table" in bench.get("/table")
    assert "dimensions must name at least one" in bench.send("/table", {"shape": "1"}, 422)
    bench.send("/table", SHAPE)
    page = bench.get("/table")
    assert re.search(r'id="rule-0-said"[^>]*>[1-9]\d* cells unsafe', page)
    assert "Judged by the rules; not protected yet" in page
    form = {"rule.0.minimum": "3", "rule.0.protection": "20", "new": "p-percent", "add": "1", "number": "0"}
    bench.send("/table", form)
    wrong = bench.send("/table", {**form, "rule.1.p": "500", "rules": "1", "add": "1"}, 422)
    assert "p must be" in wrong
    page = bench.get("/table")
    assert re.search(r'id="rule-1-said"[^>]*>\d+ cells unsafe', page)
    bench.send("/table", HIDE)
    page = bench.get("/table")
    assert "Held: every hidden cell keeps" in page
    link = re.search(r'class="cell-secondary"><a href="(/table[^"#]*)', page)
    assert link
    cell = bench.get(link[1].replace("&amp;", "&"))
    for words in ("Why hidden", "What if shown", "It guards other cells", "respondents"):
        assert words in cell
    _says_no_value(bench, page)
    assert "To publish cell" in bench.get(link[1].replace("&amp;", "&") + "&if=shown")
    bench.send("/table", {"path": "firms.table.xlsx", "summary": "firms.json", "write": "1"})
    bench.get("/table")
    assert (bench.folder / "firms.table.xlsx").read_bytes()[:2] == b"PK"


def _says_no_value(bench: Bench, page: str) -> None:
    """Why cells are hidden is said without what would be known of others, until values are shown."""
    told = []
    for link in re.findall(r'class="cell-secondary"><a href="(/table[^"#]*)', page)[:6]:
        panel = bench.get(link.replace("&amp;", "&")).split("Why hidden")[1].split("What if shown")[0]
        assert not re.search(r"is (between )?-?\d", panel), panel
        told += re.findall("is known exactly|is known within an interval", panel)
    assert told


def test_values_of_unsafe_cells_wait_for_show_values(protected: Bench) -> None:
    page = protected.get("/table?level=9")
    marked = re.findall(r'cell-primary"><a[^>]*>.*?</svg>([^<]*)</a>', page, re.S)
    assert marked
    assert set(marked) == {"unsafe"}
    protected.values(True)
    shown = re.findall(r'cell-primary"><a[^>]*>.*?</svg>([^<]*)</a>', protected.get("/table?level=9"), re.S)
    assert "unsafe" not in shown


def test_a_status_by_hand_is_a_line_of_the_a_priori_file(protected: Bench) -> None:
    page = protected.get("/table")
    link = re.search(r'class="h\d"><a href="/table\?[^"]*cell=([\d.]+)', page)
    assert link
    protected.send(
        f"/table?cell={link[1]}", {"cell": link[1], "status": "unsafe", "reason": "asked for", "number": "0"}
    )
    text = (protected.folder / "firms.table.hst").read_text(encoding="utf-8")
    assert text.startswith("// ")
    assert "asked for" in text
    assert text.rstrip().endswith(";U")
    assert 'a_priori = "firms.table.hst"' in (protected.folder / "firms.table.toml").read_text(encoding="utf-8")
    protected.send(f"/table?cell={link[1]}", {"cell": link[1], "status": "rules", "number": "0"})
    assert (protected.folder / "firms.table.hst").read_text(encoding="utf-8") == ""


def test_the_audit_sets_intervals_side_by_side(protected: Bench) -> None:
    protected.get("/audit")
    protected.send("/audit", {"run": "1"})
    page = protected.get("/audit")
    assert "Held: nobody outside comes too close to an unsafe cell" in page
    first = re.search(r'<th scope="row"[^>]*><a href="(/audit\?cell=\d+)', page)
    assert first
    assert "What the attacker finds reaches at least as far" in protected.get(first[1])
    protected.values(True)
    page = protected.get("/audit")
    assert 'class="i-need"' in page
    assert re.search(r"[\d,.]+ to [\d,.]+", page)
    assert "the attacker finds" in protected.get("/audit?cell=0")


def test_a_pattern_that_reveals_is_shown_with_its_relations(bench: Bench) -> None:
    bench.send("/table", SHAPE)
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


@pytest.fixture
def linked(bench: Bench) -> Bench:
    """A table to which another can be linked."""
    bench.send("/table", {**SHAPE, "dimensions": ["", "", "industry"]})
    return bench


def test_linked_tables_and_several_responses_are_made_by_clicking(linked: Bench) -> None:
    another = {"dimensions": ["", "", "size"], "responses": ["", "", "turnover", "count"], "another": "1"}
    linked.send("/table?new=1", another)
    page, plan = linked.get("/table"), linked.folder / "firms.table.toml"
    said = tomllib.loads(plan.read_text(encoding="utf-8"))["table"]
    assert [one["dimensions"] for one in said] == [["industry"], ["size"]]
    assert [one.get("response") or one["responses"] for one in said] == ["turnover", ["turnover", "count"]]
    assert [text for text in ("Turnover by industry", "Turnover by size", "Count by size") if f">{text}</a>" in page]
    form = {"rule.0.minimum": "4", "rule.0.protection": "20", "rules": "1", "number": "1"}
    linked.send("/table?table=1", form)
    said = tomllib.loads(plan.read_text(encoding="utf-8"))["table"]
    assert said[0]["rules"] == [{"rule": "threshold", "minimum": 4}]
    assert "rules" not in said[1]
    linked.send("/table?table=1", {"drop": "1", "number": "0"})
    said = tomllib.loads(plan.read_text(encoding="utf-8"))["table"]
    assert (said["dimensions"], said["rules"]) == (["size"], [{"rule": "threshold", "minimum": 4}])


def test_bad_input_stays_in_its_field_with_its_sentence(linked: Bench) -> None:
    plan = linked.folder / "firms.table.toml"
    before = plan.read_text(encoding="utf-8")
    wrong = linked.send("/table", {"rule.0.minimum": "none", "rule.0.protection": "20", "rules": "1"}, 422)
    assert "minimum must be" in wrong
    assert 'value="none"' in wrong
    tried = linked.send("/table", {"rule.0.minimum": "0", "rule.0.protection": "20", "try": "1"})
    assert re.search(r'id="rule-0-said" class="small error"[^>]*>[^<]*minimum must be', tried)
    tried = linked.send("/table", {"rule.0.minimum": "9000", "rule.0.protection": "20", "try": "1"})
    assert re.search(r'id="rules-said"[^>]*>[1-9]\d* cells unsafe, not saved yet', tried)
    wrong = linked.send("/table", {"method": "heuristic", "time_limit": "soon", "save": "1"}, 422)
    assert "time_limit must be" in wrong
    assert 'value="soon"' in wrong
    level = {**SHAPE, "dimensions": ["", "", "industry"], "level.0": "-1"}
    wrong = linked.send("/table", level, 422)
    assert "level must be a whole number" in wrong
    assert 'value="-1"' in wrong
    assert plan.read_text(encoding="utf-8") == before


def test_a_table_with_two_further_dimensions_shows_one_slice_at_a_time(tmp_path: Path) -> None:
    """Rows and columns are the first two; of the others one code each is chosen, and every link stays in that slice."""
    bench = Bench(tmp_path, "people", cut_survey)
    names = ["region", "sex", "marital", "education"]
    bench.send("/table", {"dimensions": ["", "", *names], "responses": ["", ""], "shape": "1"})
    bench.values(True)
    page = bench.get("/table")
    assert re.findall(r'name="at(\d)"', page) == ["2", "3"]
    codes = re.findall(r'<option value="([1-9]\d*)"', page.split('name="at2"')[1].split("</select>")[0])
    assert len(codes) >= 2
    slices = [_numbers(bench.get(f"/table?at2={code}&at3=0")) for code in codes]
    assert sum(one[-1] for one in slices) == _numbers(page)[-1], "the slices of a variable add up"
    page = bench.get(f"/table?at2={codes[0]}&at3=1")
    links = [html.unescape(link) for link in re.findall(r'class="[^"]*"><a href="(/table\?[^"]*cell=[^"#]*)', page)]
    assert links
    assert all(re.search(rf"cell=\d+\.\d+\.{codes[0]}\.1$", link) for link in links)
    assert "respondents" in bench.get(links[0]).split('id="attacker"')[1]
    assert f'value="{codes[0]}" selected' in bench.get(links[0])
    for wrong in ("at2=99999&at3=1", "at=0.99999", "cell=1.1", "cell=1.1.1.99999"):
        assert 'id="cells"' in bench.get(f"/table?{wrong}")
    bench.site.works.close()


def _numbers(page: str) -> list[int]:
    """What the cells of the first row (the total over all rows) say."""
    row = page.split('<tr class="total">')[1].split("</tr>")[0]
    cells = re.findall(r"<td[^>]*>(.*?)</td>", row, re.S)
    return [int(re.sub(r"(?s)<svg.*?</svg>|<[^>]*>|[,\s]", "", cell) or 0) for cell in cells]


def test_cells_are_coloured_by_what_can_be_read(bench: Bench) -> None:
    """A shade tells about how large a number is, so before values are shown there is none."""
    bench.send("/table", SHAPE)
    page = bench.get("/table?colour=value")
    assert "on a log scale" not in page
    assert "Colour by" not in page
    bench.values(True)
    by_value, by_count = bench.get("/table"), bench.get("/table?colour=respondents")
    assert "by value on a log scale" in by_value
    assert "by respondents on a log scale" in by_count
    assert re.findall(r'class="h\d"', by_value) != re.findall(r'class="h\d"', by_count)
    assert not re.findall(r'<td class="h\d"', page)
