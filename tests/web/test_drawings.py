"""Drawings as SVG: well-formed, geometry inside the picture, titles escaped, the same facts in words."""

import re
from xml.etree import ElementTree

import pytest

pytest.importorskip("markupsafe")

from reticent.web.figures import Limit, Point, histogram, intervals, nice_top, scatter, span_bars, sparkbars
from reticent.web.lattice import LatticeNode, lattice_figure

HOSTILE = "<script>alert('x')</script> & \"quotes\""


def parsed(drawing: str) -> ElementTree.Element:
    return ElementTree.fromstring(str(drawing))


def numbers(text: str) -> list[float]:
    return [float(found) for found in re.findall(r"-?\d+\.?\d*", text)]


@pytest.mark.parametrize(
    ("value", "top"), [(0, 1.0), (-5, 1.0), (1, 1.0), (1.2, 1.5), (7, 8.0), (99, 100.0), (0.031, 0.04), (1234, 1500.0)]
)
def test_an_axis_ends_at_the_next_round_number(value: float, top: float) -> None:
    assert nice_top(value) == pytest.approx(top)
    assert nice_top(value) >= value


def test_a_histogram_has_a_bar_for_each_count_above_zero() -> None:
    drawing = parsed(histogram("Risk", [3, 0, 6], ["0", "1"], unit="records", axis="risk"))
    bars = drawing.find(".//path[@class='g-now']")
    assert bars is not None
    assert bars.get("d", "").count("M") == 2
    assert drawing.find(".//desc").text == "3 bars, the highest 6 records."  # type: ignore[union-attr]
    heights = [174 - float(y) for y in re.findall(r"V(\d+\.\d)H", bars.get("d", ""))]
    assert heights[1] == pytest.approx(2 * heights[0])


def test_bars_beyond_the_limit_are_hatched_and_the_limit_is_named() -> None:
    drawing = parsed(
        histogram("Risk", [1, 1, 1, 1], ["0", "1"], unit="records", axis="risk", limit=Limit(0.5, "limit 0.5"))
    )
    over = drawing.find(".//path[@class='g-over']")
    assert over is not None
    assert over.get("d", "").count("M") == 2
    assert any(text.text == "limit 0.5" for text in drawing.iter("text"))
    assert drawing.find(".//pattern") is not None


def test_an_empty_histogram_draws_axes_only() -> None:
    drawing = parsed(histogram("Nothing", [], [], unit="records", axis="risk"))
    assert drawing.find(".//path[@class='g-now']") is None
    assert drawing.find(".//path[@class='g-axis']") is not None


def test_small_bars_are_shares_of_the_highest() -> None:
    bars = list(parsed(sparkbars("ages", [1, 2, 0])).iter("rect"))
    assert [bar.get("height") for bar in bars] == ["50.0%", "100.0%", "0.0%"]


def test_intervals_stand_in_order_and_inside_the_picture() -> None:
    drawing = parsed(
        intervals("Cell", [("attacker", 10.0, 30.0, "i-attack"), ("needed", 15.0, 25.0, "i-need")], value=20.0)
    )
    attack, need = (drawing.find(f".//rect[@class='{name}']") for name in ("i-attack", "i-need"))
    assert attack is not None
    assert need is not None
    start, width = float(attack.get("x", "0")), float(attack.get("width", "0"))
    assert 0 <= start < float(need.get("x", "0"))
    assert float(need.get("width", "0")) == pytest.approx(width / 2, abs=0.2)
    assert start + width <= 400


def test_an_interval_of_one_value_can_still_be_seen() -> None:
    drawing = parsed(intervals("Cell", [("exact", 5.0, 5.0, "i-attack")]))
    assert float(drawing.find(".//rect").get("width", "0")) >= 2.0  # type: ignore[union-attr]


def test_points_can_be_followed_and_the_chosen_one_is_said() -> None:
    points = [Point(0.1, 0.2, "first", href="?c=1", safe=True), Point(0.5, 0.9, "second", chosen=True)]
    drawing = parsed(scatter("Map", points, x="loss", y="risk", limit=0.5, front=((0.1, 0.2), (0.5, 0.9))))
    assert drawing.find(".//a").get("href") == "?c=1"  # type: ignore[union-attr]
    assert drawing.find(".//circle[@class='p-safe']") is not None
    assert drawing.find(".//circle[@class='n-ring']") is not None
    assert drawing.find(".//path[@class='g-limit']") is not None
    assert drawing.find(".//path[@class='g-plan']") is not None
    assert drawing.find(".//desc").text == "2 points, 1 of them within the limit."  # type: ignore[union-attr]


def test_spans_share_one_scale() -> None:
    bars = list(parsed(span_bars("levels", [(0.0, 10.0, "i-need"), (5.0, 10.0, "i-attack")])).iter("rect"))
    assert [bar.get("x") for bar in bars] == ["0.0%", "50.0%"]
    assert [bar.get("width") for bar in bars] == ["100.0%", "50.0%"]


def lattice() -> list[LatticeNode]:
    return [
        LatticeNode((a, b), a + b >= 2, (a, b) == (1, 1), f"?node={a}{b}", f"loss {a + b}")
        for a in range(3)
        for b in range(2)
    ]


def test_a_lattice_has_all_nodes_and_an_edge_for_each_step_up() -> None:
    drawing = parsed(lattice_figure("Generalisations", lattice()))
    links = list(drawing.iter("a"))
    assert len(links) == 6
    edges = drawing.find(".//path[@class='g-edge']")
    assert edges is not None
    assert edges.get("d", "").count("L") == 2 * 2 + 3 * 1  # a up: 2 steps at 2 levels of b; b up: at 3 levels of a
    chosen = [link for link in links if link.get("aria-current")]
    assert [link.get("aria-label") for link in chosen] == ["1·1: safe, loss 2"]


def test_detail_is_at_the_bottom_and_the_top_is_one_group() -> None:
    drawing = parsed(lattice_figure("Generalisations", lattice()))
    heights = {link.get("href"): numbers(link.get("transform", ""))[1] for link in drawing.iter("a")}
    assert heights["?node=00"] == max(heights.values())
    assert heights["?node=21"] == min(heights.values())
    assert heights["?node=10"] == heights["?node=01"]


@pytest.mark.parametrize(
    "drawing",
    [
        lambda: histogram(HOSTILE, [1.0], [HOSTILE], unit=HOSTILE, axis=HOSTILE, limit=Limit(0.2, HOSTILE)),
        lambda: sparkbars(HOSTILE, [1.0]),
        lambda: intervals(HOSTILE, [(HOSTILE, 0.0, 1.0, "i-need")]),
        lambda: scatter(HOSTILE, [Point(1.0, 1.0, HOSTILE, href=HOSTILE)], x=HOSTILE, y=HOSTILE),
        lambda: span_bars(HOSTILE, [(0.0, 1.0, "i-need")]),
        lambda: lattice_figure(HOSTILE, [LatticeNode((0,), True, True, HOSTILE, HOSTILE)]),
    ],
)
def test_names_from_files_stay_text(drawing: object) -> None:
    made = str(drawing())  # type: ignore[operator]
    assert "<script" not in made
    found = parsed(made)
    assert not list(found.iter("script"))
    assert "style=" not in made
