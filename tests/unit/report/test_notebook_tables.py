"""Short tables for terminals and notebooks: figures with the digits that matter, texts escaped, long lists cut."""

import pytest

from reticent.report.notebook import MOST_ROWS, facts_html, facts_text, rows_html, short


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "not judged"), (True, "yes"), (False, "no"), (1234567, "1\u00a0234\u00a0567"), (0.123456, "0.123"),
        (12345.678, "12\u00a0346"), (0.0, "0"), ("held", "held"),
    ],
)  # fmt: skip
def test_figures_are_short(value: object, text: str) -> None:
    assert short(value) == text


def test_facts_stand_below_each_other() -> None:
    assert facts_text("Risk", {"records": 10, "largest": 0.5}) == "Risk\n  records  10\n  largest  0.5"
    assert facts_text("Nothing", {}) == "Nothing"


def test_names_and_texts_are_escaped() -> None:
    html = facts_html("<Risk>", {"<b>": "<i>"})
    assert "<b>" not in html
    assert "&lt;b&gt;" in html
    assert "&lt;i&gt;" in html
    assert "<caption>&lt;Risk&gt;</caption>" in html
    assert "<script>" not in rows_html("t", [{"<script>": "<script>"}])


def test_a_list_of_rows_has_a_head_and_is_cut() -> None:
    rows = [{"variable": f"v{i}", "risk": i / 100} for i in range(MOST_ROWS + 5)]
    html = rows_html("Variables", rows)
    assert html.count("<tr>") == MOST_ROWS + 1
    assert "<th scope='col'>variable</th>" in html
    assert html.endswith("<p>and 5 more</p>")
    assert "v39" in html
    assert "v40" not in html


def test_no_rows_are_a_sentence() -> None:
    assert rows_html("Nothing was found.", []) == "<p>Nothing was found.</p>"
