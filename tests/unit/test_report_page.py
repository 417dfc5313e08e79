"""Report pages: self-contained, escaped, marked as confidential or public; plots are the same bytes each time."""

import numpy as np

from reticent.report.page import Banner, Facts, Rows, Section, Text, number, render_page
from reticent.report.plots import before_after_bars, heat_map, histogram_pair


def test_page_is_self_contained_and_escaped() -> None:
    blocks = (Text("<script>alert(1)</script>"), Banner(True, "safe"), Facts((("cells", "3"),)), Rows(("a",), ((1,),)))
    html = render_page("Title & more", [Section("One", blocks)], public=False)
    assert "<script>" not in html
    assert "http" not in html
    assert "CONFIDENTIAL" in html
    assert "PUBLIC" in render_page("t", [], public=True)


def test_plots_are_reproducible_and_offline() -> None:
    def draw() -> list[str]:
        return [
            before_after_bars(["a", "b"], [3, 2], [1, 0], title="t", unit="u"),
            histogram_pair(np.zeros(3), np.ones(3), title="t", unit="u", threshold=0.5),
            heat_map(np.eye(3), ["a", "b", "c"], ["x", "y", "z"], title="t", unit="u"),
        ]

    first, second = draw(), draw()
    assert first == second
    assert all(uri.startswith("data:image/svg+xml;base64,") for uri in first)


def test_numbers_for_people() -> None:
    assert [number(1234567), number(0.5), number(float("nan")), number(2.0), number(None)] == [
        "1\u00a0234\u00a0567",
        "0.5",
        "–",
        "2",
        "",
    ]
