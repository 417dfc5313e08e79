# SPDX-License-Identifier: Apache-2.0
"""Drawings as SVG made here: geometry in attributes, colour in classes, a title, and the same facts in words nearby."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

WIDTH, HEIGHT, NARROW = 400, 214, 288
LEFT, RIGHT, TOP, BOTTOM = 42, 398, 28, 174
_ids = itertools.count(1)


@dataclass(frozen=True)
class Point:
    """A point of a map: where it is, whether it is safe, chosen or on the front, and the address that picks it."""

    x: float
    y: float
    title: str
    href: str = ""
    safe: bool = False
    chosen: bool = False


def nice_top(value: float) -> float:
    """The next round number above a value, for the end of an axis."""
    if value <= 0:
        return 1.0
    power = _power(value)
    return next(step * power for step in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if step * power >= value * (1 - 1e-12))


def _parts(top: float, *, whole: bool = False) -> int:
    """Into how many equal parts an axis falls whose ends are round; with `whole` they are whole numbers."""
    lead = round(top / _power(top), 6)
    parts = {1.0: 4, 1.5: 3, 2.0: 4, 3.0: 3, 4.0: 4, 5.0: 5, 6.0: 3, 8.0: 4, 10.0: 4}.get(lead, 4)
    return {1.0: 1, 1.5: 1, 2.0: 2}.get(lead, parts) if whole and top < 10 else parts


def _svg(title: str, description: str, inside: str, *, height: int = HEIGHT, width: int = WIDTH) -> Markup:
    role = "group" if "<a " in inside else "img"  # what has links is no picture
    name = f"figure-{next(_ids)}"
    return Markup(
        f'<div class="chart-wrap" tabindex="0" role="group" aria-label="{escape(title)}">'
        f'<svg class="chart" viewBox="0 0 {width} {height}" role="{role}" aria-labelledby="{name}-t {name}-d">'
        f'<title id="{name}-t">{escape(title)}</title><desc id="{name}-d">{escape(description)}</desc>{inside}</svg></div>'
    )


def _text(x: float, y: float, text: str, anchor: str = "start", cls: str = "") -> str:
    kind = f' class="{cls}"' if cls else ""
    return f'<text{kind} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _grid(top: float, unit: str, *, whole: bool = False) -> str:
    """The axis of heights with three to five lines at round numbers."""
    lines = []
    parts = _parts(top, whole=whole)
    for step in range(parts + 1):
        y = BOTTOM - (BOTTOM - TOP) * step / parts
        value = top * step / parts
        lines.append(_text(LEFT - 6, y + 4, f"{value:,.0f}" if whole or top >= 100 else f"{value:.3g}", "end"))
        if step:
            lines.append(f'<path class="g-grid" d="M{LEFT} {y:.1f}H{RIGHT}"/>')
    return "".join(lines) + _text(0, 10, unit)


@dataclass(frozen=True)
class Limit:
    """A line across a drawing: its place in [0, 1] along the axis, and its words."""

    place: float
    text: str


def histogram(
    title: str,
    counts: Sequence[float],
    edges: Sequence[str],
    *,
    unit: str,
    axis: str,
    limit: Limit | None = None,
    top: float | None = None,
) -> Markup:
    """Bars side by side; `edges` are texts under them (empty: none); bars beyond the limit are hatched."""
    highest = nice_top(max([*counts, 0.0])) if top is None else top
    width = (RIGHT - LEFT) / max(1, len(counts))
    low: list[str] = []
    high: list[str] = []
    for at, count in enumerate(counts):
        if count <= 0:
            continue
        x, y = LEFT + at * width, BOTTOM - max(1.0, (BOTTOM - TOP) * count / highest)
        over = limit is not None and (at + 0.5) / len(counts) > limit.place
        (high if over else low).append(f"M{x + 0.8:.1f} {BOTTOM}V{y:.1f}H{x + width - 0.8:.1f}V{BOTTOM}z")
    hatch = f"hatch-{next(_ids)}"
    inside = _grid(highest, unit, whole=True)
    inside += f'<path class="g-now" d="{"".join(low)}"/>' if low else ""
    if high:
        inside += (
            f'<pattern id="{hatch}" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
            f'<path class="g-hatch" d="M0 0v5"/></pattern><path class="g-over" d="{"".join(high)}"/>'
            f'<path fill="url(#{hatch})" d="{"".join(high)}"/>'
        )
    inside += f'<path class="g-axis" d="M{LEFT} {BOTTOM}H{RIGHT}"/>'
    for at, text in enumerate(edges):
        if text:
            anchor = "end" if at == len(edges) - 1 else "middle"
            inside += _text(LEFT + at * (RIGHT - LEFT) / max(1, len(edges) - 1), 190, text, anchor)
    if limit is not None:
        x = LEFT + limit.place * (RIGHT - LEFT)
        side = ("end", -6) if limit.place > 0.5 else ("start", 6)
        inside += f'<path class="g-limit" d="M{x:.1f} 14V{BOTTOM}"/>' + _text(
            x + side[1], 23, limit.text, side[0], "strong"
        )
    inside += _text(RIGHT, 208, axis, "end")
    return _svg(title, f"{len(counts)} bars, the highest {max([*counts, 0]):,.0f} {unit}.", inside)


def sparkbars(title: str, counts: Sequence[float]) -> Markup:
    """A very small histogram for a row of a table."""
    top, width = max([*counts, 1e-9]), 100 / max(1, len(counts))
    bars = "".join(
        f'<rect class="g-now" x="{at * width:.1f}%" y="{100 - 100 * count / top:.1f}%" width="{max(width - 1, 0.5):.1f}%" '
        f'height="{100 * count / top:.1f}%"/>'
        for at, count in enumerate(counts)
    )
    return Markup(f'<svg class="spark" role="img" aria-label="{escape(title)}">{bars}</svg>')


def intervals(title: str, rows: Sequence[tuple[str, float, float, str]], *, value: float | None = None) -> Markup:
    """Intervals one below the other, each with its label and its class (`i-need`, `i-attack`), and the true value."""
    ends = [end for _, low, high, _ in rows for end in (low, high)] + ([] if value is None else [value])
    low, high = min(ends), max(ends)
    room = (high - low) * 0.08 or 1.0
    low, high = low - room, high + room

    def place(number: float) -> float:
        return 8 + (number - low) / (high - low) * (NARROW - 16)

    inside, y = "", 16
    for label, start, end, cls in rows:
        x, width = place(start), max(2.0, place(end) - place(start))
        inside += _text(min(x, NARROW - 7.0 * len(label)), y, label)
        inside += f'<rect class="{cls}" x="{x:.1f}" y="{y + 5}" width="{width:.1f}" height="10" rx="2"/>'
        if value is not None:
            inside += f'<path class="i-value" d="M{place(value):.1f} {y + 2}v16"/>'
        y += 34
    inside += f'<path class="g-axis" d="M0 {y - 8}H{NARROW}"/>'
    for number in _round_ticks(low, high):
        inside += _text(place(number), y + 8, f"{number:,.4g}" if abs(number) < 1000 else f"{number:,.0f}", "middle")
    if value is not None:
        inside += _text(min(place(value), NARROW - 100), y + 26, f"value {value:,.6g}", "start", "strong")
    words = "; ".join(f"{label} {start:,.6g} to {end:,.6g}" for label, start, end, _ in rows)
    return _svg(title, words, inside, height=y + 32, width=NARROW)


def _round_ticks(low: float, high: float) -> list[float]:
    """Two to five round numbers between two ends, not too near to them."""
    step = nice_top((high - low) / 5)
    step = next(one for one in (1, 2, 2.5, 5, 10) if one * _power(step) >= step * (1 - 1e-9)) * _power(step)
    margin = 0.08 * (high - low)
    first, last = math.ceil((low + margin) / step), math.floor((high - margin) / step)
    return [number * step for number in range(first, last + 1)]


def _power(value: float) -> float:
    return float(10.0 ** math.floor(math.log10(value)))


def scatter(
    title: str,
    points: Sequence[Point],
    *,
    x: str,
    y: str,
    front: Sequence[tuple[float, float]] = (),
    limit: float | None = None,
) -> Markup:
    """A map of points that can be picked; `front` is a line through the best ones, `limit` a height not to be passed."""
    top_x = nice_top(max([p.x for p in points], default=1.0))
    top_y = nice_top(max([p.y for p in points] + ([limit] if limit else []), default=1.0))

    def place(px: float, py: float) -> tuple[float, float]:
        return LEFT + px / top_x * (RIGHT - LEFT - 8), BOTTOM - py / top_y * (BOTTOM - TOP)

    inside = _grid(top_y, y) + f'<path class="g-axis" d="M{LEFT} {BOTTOM}H{RIGHT}"/>'
    parts = _parts(top_x)
    for step in range(1, parts + 1):
        inside += _text(place(top_x * step / parts, 0)[0], 190, f"{top_x * step / parts:.2g}", "middle")
    if limit is not None:
        height = place(0, limit)[1]
        inside += f'<path class="g-limit" d="M{LEFT} {height:.1f}H{RIGHT}"/>' + _text(
            RIGHT, height - 5, "limit", "end", "strong"
        )
    if len(front) > 1:
        path = "L".join(f"{a:.1f} {b:.1f}" for a, b in (place(*one) for one in front))
        inside += f'<path class="g-plan" d="M{path}"/>'
    for point in points:
        a, b = place(point.x, point.y)
        shape = f'<circle class="{"p-safe" if point.safe else "p-unsafe"}" cx="{a:.1f}" cy="{b:.1f}" r="5"/>'
        shape += f'<circle class="n-ring" cx="{a:.1f}" cy="{b:.1f}" r="8"/>' if point.chosen else ""
        shape = f"<title>{escape(point.title)}</title>{shape}"
        current = ' aria-current="true"' if point.chosen else ""
        inside += f'<a href="{escape(point.href)}"{current}>{shape}</a>' if point.href else f"<g>{shape}</g>"
    inside += _text(RIGHT, 208, x, "end")
    return _svg(title, f"{len(points)} points, {sum(p.safe for p in points)} of them within the limit.", inside)


def span_bars(title: str, rows: Sequence[tuple[float, float, str]]) -> Markup:
    """Very small intervals one below the other on one scale, for a row of a table."""
    low, high = min(start for start, _, _ in rows), max(end for _, end, _ in rows)
    scale = 100 / ((high - low) or 1.0)
    bars = "".join(
        f'<rect class="{kind}" x="{(start - low) * scale:.1f}%" y="{5 + 90 * at / len(rows):.0f}%" '
        f'width="{max((end - start) * scale, 1.0):.1f}%" height="{75 / len(rows):.0f}%"/>'
        for at, (start, end, kind) in enumerate(rows)
    )
    return Markup(f'<svg class="spark" role="img" aria-label="{escape(title)}">{bars}</svg>')
