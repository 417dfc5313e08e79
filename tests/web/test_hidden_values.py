"""Before "show values" somebody who looks on finds no contribution and no unsafe cell: not on a page, and not by arithmetic.

Whoever looks on has each page whole, its source and its address, and can add, subtract, multiply and divide. Whoever edits
rules, steps or codes can find out more; the manual says what.
"""

import html
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from reticent.jobs.protect_table import run_table_plans
from reticent.web.work import Work
from reticent.workbench.table_engine import look_before
from samples import cut_firms
from web.asking import Bench

SHAPE = {"dimensions": ["", "", "industry", "size"], "responses": ["", "", "turnover"], "shape": "1"}
NUMBER = re.compile(r"(?<![\w.#-])\d[\d,]*\.\d+")


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    made = Bench(tmp_path_factory.mktemp("firms"), "firms", cut_firms)
    made.send("/table", SHAPE)
    yield made
    made.site.works.close()


def _cells(page: str) -> dict[str, str]:
    """What is in each cell of the heat map, by its address."""
    found = re.findall(r'<td class="[^"]*"><a href="([^"]*cell=[\d.]+)#attacker"[^>]*>(.*?)</a>', page, re.S)
    return {html.unescape(link): re.sub(r"(?s)<svg.*?</svg>", "", text) for link, text in found}


def _contributions(bench: Bench) -> set[float]:
    rows = [row.split(",") for row in (bench.folder / "firms.csv").read_text(encoding="utf-8").splitlines()]
    return {round(float(row[rows[0].index("turnover")]), 1) for row in rows[1:]}


def test_a_table_that_is_not_protected_shows_no_number(bench: Bench) -> None:
    """A row with its total and all cells but one reveals that one, of values and of respondents alike."""
    page = bench.get("/table?level=9&depth=9")
    cells = _cells(page)
    assert {"unsafe"} < set(cells.values())
    assert all(re.fullmatch(r"unsafe|·", text) for text in cells.values())
    assert not NUMBER.search(re.sub(r"<[^>]*>", " ", page.split('id="cells"')[1].split("</section>")[0]))
    for link in list(cells)[:12]:  # a share, kept in mind until others are published, tells a contribution
        panel = bench.get(link).split('id="attacker"')[1]
        assert "after Show values" in panel
        assert "all others" not in panel
    bench.values(True)
    assert "all others" in bench.get(next(iter(cells)))
    assert all(NUMBER.fullmatch(text) for text in _cells(bench.get("/table?level=9&depth=9")).values())
    bench.values(False)


def test_a_protected_table_shows_what_it_publishes_and_nothing_else(bench: Bench) -> None:
    bench.send("/table", {"method": "heuristic", "m.singletons": "on", "run": "1"})
    (result,) = run_table_plans(bench.folder / "firms.table.toml")
    hidden = {tuple(result.table.cell_codes(int(cell))): float(result.table.values[cell])
              for cell in result.outcome.hidden.nonzero()[0]}  # fmt: skip
    pages = [bench.get("/table?level=9&depth=9"), bench.get("/audit"), bench.send("/table", {"compare": "1"})]
    shown = _cells(pages[0])
    assert sum(text in ("unsafe", "hidden") for text in shown.values()) == len(hidden)
    pages += [bench.get(link) for link, text in shown.items() if text in ("unsafe", "hidden")]
    pages += [
        bench.get(f"{next(link for link in shown if shown[link] == text)}&if=shown") for text in ("unsafe", "hidden")
    ]
    pages += [bench.get(f"/audit?cell={at}") for at in range(0, len(hidden), 3)]
    for page in pages:
        text = html.unescape(page)
        for value in {*hidden.values(), result.outcome.cost, result.outcome.bound}:
            for written in (f"{value:,.1f}", f"{value:.1f}", f"{value:,.6g}", f"{value:g}"):
                assert not re.search(rf"(?<![\d.,]){re.escape(written)}(?![\d.,])", text), written
        assert not re.search(r"[+-]\d+\.\d\s*%", text), "a distance in per cent and a published end tell the value"
        assert 'class="i-attack"' not in text, "nor does a drawing"
        assert "all others" not in text, "shares of a sum that is hidden, and its published parts, tell the other part"
    published = next(link for link, text in shown.items() if NUMBER.fullmatch(text))
    panel = bench.get(published).split('id="attacker"')[1]
    assert "all others" not in panel, "a share of a value that is shown is a contribution"
    assert "The largest contributions appear after Show values" in panel
    bench.values(True)
    assert "all others" in bench.get(published)
    assert 'class="i-attack"' in bench.get("/audit")
    bench.values(False)


def test_a_pattern_that_exposes_cells_shows_no_number(bench: Bench) -> None:
    bench.send("/table", {"method": "primary-only", "run": "1"})
    page = bench.get("/table?level=9&depth=9")
    assert "Not held" in page
    assert not any(NUMBER.search(text) for text in _cells(page).values())
    bench.send("/table", {"to": "undo"})


def test_answers_of_copies_that_forget_wait_for_show_values(bench: Bench) -> None:
    """Two sums, one with and one without somebody, are asked of two copies: no audit sees both."""
    bench.send("/queries", {"begin": "1"})
    asked = "SELECT SUM(turnover) FROM data"
    page = bench.send("/queries", {"question": asked, "all": "on"})
    assert "the answer appears after Show values" in page
    assert not NUMBER.search(re.sub(r"<[^>]*>", " ", page.split('id="try"')[1].split("</section>")[0]))
    address = str(bench.answer.url).removeprefix(str(bench.client.base_url)).split("#")[0]
    assert asked not in address
    bench.values(True)
    assert NUMBER.search(re.sub(r"<[^>]*>", " ", bench.get(f"/{address.lstrip('/')}").split('id="try"')[1]))
    bench.values(False)


@pytest.mark.parametrize(
    "path", ["/data", "/describe?variable=5", "/risk?combination=0", "/hierarchies?variable=5", "/plan"]
)
def test_no_page_says_what_a_respondent_gave(bench: Bench, path: str) -> None:
    said = {float(text.replace(",", "")) for text in NUMBER.findall(re.sub(r"<[^>]*>", " ", bench.get(path)))}
    large = {value for value in _contributions(bench) if value >= 1000}
    assert not said & large


def test_tables_of_one_plan_wait_for_each_other_and_for_a_rule(tmp_path: Path) -> None:
    """A table without an unsafe cell shows its values; not beside one that has some, and not where no rule judges."""
    made = Bench(tmp_path, "firms", cut_firms)
    made.send("/table", {**SHAPE, "dimensions": ["", "", "region"]})
    assert any(NUMBER.fullmatch(text) for text in _cells(made.get("/table")).values())
    made.send(
        "/table?new=1", {"dimensions": ["", "", "industry", "size"], "responses": ["", "", "turnover"], "another": "1"}
    )
    for number in (0, 1):
        assert not any(NUMBER.search(text) for text in _cells(made.get(f"/table?table={number}")).values())
    made.send("/table", {"drop": "1", "number": "1"})
    made.send("/table", {"remove": "0", "number": "0", "rule.0.minimum": "3"})
    page = made.get("/table")
    assert "No rule" in page
    assert not any(NUMBER.search(text) for text in _cells(page).values())
    made.site.works.close()


@pytest.mark.parametrize("responses", [["turnover"], ["turnover", "count"]])
def test_respondents_wait_for_values(tmp_path: Path, responses: list[str]) -> None:
    """Respondents tell which cell has one, and those of a row and its total tell that of the cell left out."""
    made = Bench(tmp_path, "firms", cut_firms)
    made.send("/table", {**SHAPE, "responses": ["", "", *responses]})
    for run in (False, True):
        if run:
            made.send("/table", {"method": "heuristic", "m.singletons": "on", "run": "1"})
        for table in range(len(responses)):
            page = made.get(f"/table?table={table}&level=9&depth=9")
            cells = _cells(page)
            assert not any(text.startswith("n = ") for text in cells.values())
            assert "unsafe" in cells.values()
            for link in list(cells)[:6]:
                panel = re.sub(r"<[^>]*>", " ", made.get(link).split('id="attacker"')[1].split("Set status")[0])
                assert re.search(r"respondents\s+after Show values", panel)
    made.values(True)
    assert re.search(
        r"respondents\s+\d", re.sub(r"<[^>]*>", " ", made.get(next(iter(cells))).split('id="attacker"')[1])
    )
    made.site.works.close()


def test_means_of_what_few_records_have_wait_for_show_values(tmp_path: Path) -> None:
    """The mean of a variable that one record has is that record's value."""
    made = Bench(tmp_path, "firms", cut_firms)
    path = tmp_path / "firms.csv"
    head, *rows = path.read_text(encoding="utf-8").splitlines()
    path.write_text(
        "\n".join([f"{head},bonus", f"{rows[0]},87654.5", *(f"{row}," for row in rows[1:])]), encoding="utf-8"
    )
    schema = tmp_path / "firms.schema.toml"
    extra = '\n[[variable]]\nname = "bonus"\nrole = "sensitive"\nkind = "numeric"\n'
    schema.write_text(schema.read_text(encoding="utf-8") + extra, encoding="utf-8")
    made.send("/plan", {"add": "reorder"})
    page = made.send("/protect", {"run": "1"})
    assert "Numbers, before and after" in page
    for address in (
        "/protect",
        *(f"/protect?attack={one}" for one in ("recount", "linkage", "intervals")),
        "/data",
        "/describe",
    ):
        assert not re.search(r"87,?65\d", made.get(address)), address
    made.values(True)
    assert re.search(r"87,?65\d", made.get("/protect"))
    made.site.works.close()


def test_signs_that_turn_text_are_written_out_on_the_table_page(tmp_path: Path) -> None:
    def renamed(data: Path) -> None:
        cut_firms(data)
        for one in (data, data.with_suffix(".schema.toml")):
            one.write_text(one.read_text(encoding="utf-8").replace("region", "\u202eevil"), encoding="utf-8")

    made = Bench(tmp_path, "firms", renamed)
    made.send("/table", {**SHAPE, "dimensions": ["", "", "\u202eevil"]})
    page = made.get("/table")
    seen = re.sub(r'(?s)<(input|option|select|textarea)[^>]*>|value="[^"]*"', "", page)
    assert "\\u202eevil" in seen
    assert "\u202e" not in seen
    made.site.works.close()


def test_a_cell_that_is_being_looked_up_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is said of its status or of the attacker before it is known."""
    made = Bench(tmp_path, "firms", cut_firms)
    made.send("/table", SHAPE)
    link = next(link for link, text in _cells(made.get("/table?level=9&depth=9")).items() if text == "unsafe")
    ask = made.site.works.ask

    def slow(function: Callable[..., Any], *args: Any, **options: Any) -> Work:
        return Work("Looking") if function is look_before else ask(function, *args, **options)

    monkeypatch.setattr(made.site.works, "ask", slow)
    panel = made.client.get(link).text.split('id="attacker"')[1]
    assert "is being looked up" in panel
    assert "set by hand." not in panel
    assert "is known after" not in panel
    made.site.works.close()
