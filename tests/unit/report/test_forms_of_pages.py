"""What every report has: an origin, a form by its ending, marks beside colours, contrast, folds; and what public ones lack."""

import re
from pathlib import Path

import pytest

import reticent.report
from report_makers import PAGES
from reticent.base.randomness import Secret, as_secret
from reticent.base.words import amount, number, span
from reticent.report.page import MARKS, Facts, Fold, Grid, Picture, Rows, Section, Text, form_of, render_page
from reticent.report.provenance import Provenance, provenance_sections, secret_mark
from reticent.report.table_grid import LEGEND, WHOLE, Axis, folded

TEMPLATE = (Path(reticent.report.__file__).parent / "templates" / "page.html").read_text(encoding="utf-8")
STRONG = bytes.fromhex("9f1c5a7be03d82461c95ea07b8d34f6ca1572e90bd48f36127cc05e98ab4d71f")


def test_the_origin_has_hashes_a_mark_and_a_duration() -> None:
    files = (("data", "a.csv", "0" * 64), ("plan", "a.plan.toml", ""))
    found = Provenance(files, secret_mark(Secret(STRONG)), "2026-11-16", 12.34)
    page = render_page("t", provenance_sections(found), public=False)
    for text in ("a.csv", "0" * 64, "not taken", "2026-11-16", "12.3 s", "fingerprint of the secret"):
        assert text in page


def test_a_secret_that_can_be_guessed_has_no_mark() -> None:
    """The mark of a guessable secret would let anybody who sees it try all of them."""
    assert "none" in secret_mark(as_secret(7))
    mark = secret_mark(Secret(STRONG))
    assert re.fullmatch("[0-9a-f]{16}", mark)
    assert mark not in Secret(STRONG).to_hex()
    assert mark != secret_mark(Secret(STRONG[::-1]))


def test_the_ending_says_the_form() -> None:
    assert [form_of(name) for name in ("a.md", "b/c.MD", "a.html", "a", Path("x.markdown"))] == [
        "markdown", "markdown", "html", "html", "markdown",
    ]  # fmt: skip


@pytest.mark.parametrize("name", list(PAGES))
def test_every_page_is_markdown_too(name: str) -> None:
    page = PAGES[name]("markdown")
    assert page.startswith("**")
    assert "\n# " in page
    assert not re.search(r"(?<!\\)<", page)  # nothing of a name becomes markup
    for block in re.findall(r"(?:^\|.*\n)+", page, re.M):
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
        assert len(widths) == 1, block


def test_markdown_keeps_text_as_text() -> None:
    sections = [Section("# h", (Text("1. *a* | [b](c) <i>"), Rows(("a|b",), (("x\ny",),)), Picture("u", "c", "alt"),
                                Facts((("k", "v"),)), Fold("more", (Text("- in"),))))]  # fmt: skip
    page = render_page("t", sections, public=True, form="markdown")
    assert r"\1. \*a\* \| \[b\](c) \<i\>" in page
    assert r"## \# h" in page
    assert "| x y |" in page
    assert "*Figure: alt*" in page
    assert r"\- in" in page


def test_statuses_differ_without_colour() -> None:
    cells = ((("1", "primary", ""), ("2", "secondary", ""), ("3", "exposed", ""), ("4", "frozen", "")),)
    page = render_page("t", [Section("s", (Grid(tuple("abcd"), ("r",), cells, "", LEGEND),))], public=False)
    for value, status in (("1", "primary"), ("2", "secondary"), ("3", "exposed"), ("4", "frozen")):
        assert f"{value} <b>{MARKS[status]}</b></td>" in page
    assert len({MARKS[s] for s in ("primary", "secondary", "exposed", "frozen", "hidden", "empty")}) == 6
    assert 'scope="col"' in page
    assert 'scope="row"' in page
    assert "never hidden" in page
    assert ">empty<" not in page  # the legend has what occurs


def _light(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one: str, other: str) -> float:
    high, low = sorted((_light(one), _light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_letters_have_contrast() -> None:
    from reticent.report.plots import INK, LETTERS

    colours = dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", TEMPLATE))
    grounds = [
        colours["paper"],
        colours["shade"],
        *re.findall(r"\.c-(?!exposed)[\w-]+ \{[^}]*background: (#\w{6})", TEMPLATE),
    ]
    assert len(grounds) > 5
    for ground in grounds:
        assert _contrast(colours["ink"], ground) >= 4.5
    for letters in (colours["mute"], LETTERS, INK, colours["accent"]):
        assert _contrast(letters, colours["paper"]) >= 4.5
        assert _contrast(letters, colours["shade"]) >= 4.5
    for ground in (colours["good"], colours["bad"]):
        assert _contrast("#ffffff", ground) >= 4.5


def _axis(n: int, *, deep: bool) -> Axis:
    depths = (0, *(2 if deep and at % 20 else 1 for at in range(n - 1)))
    return Axis(tuple(f"code {at}" for at in range(n)), depths)


@pytest.mark.parametrize("deep", [True, False])
def test_large_tables_fold_and_lose_no_row(deep: bool) -> None:
    rows, columns = _axis(401, deep=deep), _axis(3, deep=False)
    blocks = folded(rows, columns, lambda row, column: (f"<{row},{column}>", "safe", ""), LEGEND)
    folds = [block for block in blocks if isinstance(block, Fold)]
    assert len(folds) > 1
    assert isinstance(blocks[0], Grid)
    assert len(blocks[0].heads) <= 50
    seen = {cell[0] for fold in folds for grid in fold.blocks for line in grid.cells for cell in line}
    seen |= {cell[0] for line in blocks[0].cells for cell in line}
    assert seen == {f"<{row},{column}>" for row in range(401) for column in range(3)}
    small = folded(_axis(100, deep=deep), _axis(WHOLE // 100, deep=False), lambda *_: ("", "safe", ""), LEGEND)
    assert len(small) == 1


def test_one_number_format() -> None:
    space = "\u00a0"
    assert [number(15585.8), number(0.0693064), number(150.589), number(0.0001234), number(2e-7), number(123456.0)] == [
        f"15{space}586", "0.0693", "151", "0.000123", "2e-07", f"123{space}456",
    ]  # fmt: skip
    assert [amount(1234.5, 1), amount(-0.0, 2), amount(-0.001, 1)] == [f"1{space}234.5", "0.00", "0.0"]


def test_an_interval_without_width_is_called_exact() -> None:
    assert span(12.0, 12.0) == "exactly 12"
    assert span(6494.5, 6494.5) == "exactly 6\u00a0494.5"
    assert span(151458.0, 151458.4) == "151\u00a0458.00 to 151\u00a0458.40"
    assert span(10.0, 20.0) == "10 to 20"
    assert span(0.0, float("inf")) == "0 to ∞"
