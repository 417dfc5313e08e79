# SPDX-License-Identifier: Apache-2.0
"""Plots as SVG data URIs: the same data give the same bytes (fixed hash salt, no date), and nothing is fetched.

matplotlib is imported here only, and only when a plot is drawn.
"""

import base64
import io
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from reticent.base.words import number

INK, MUTE, ACCENT, GOOD, BAD, WARM = "#1d2733", "#8a949f", "#2c5d8f", "#1b7f5c", "#b3372f", "#d9902f"
LETTERS = "#52606d"
"""Letters of axes: 4.5 to 1 and more on white, which the grey of bars (`MUTE`) is not."""
MOST_TICKS = 8
STYLE = {
    "svg.hashsalt": "reticent",
    "svg.fonttype": "path",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": MUTE,
    "axes.labelcolor": INK,
    "xtick.color": LETTERS,
    "ytick.color": LETTERS,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
}


P = ParamSpec("P")
R = TypeVar("R")


def styled(draw: Callable[P, R]) -> Callable[P, R]:
    """Run a drawing function under the house style (matplotlib reads it while drawing, not when saving)."""

    @wraps(draw)
    def within(*args: P.args, **kwargs: P.kwargs) -> R:
        import matplotlib

        with matplotlib.rc_context(STYLE):
            return draw(*args, **kwargs)

    return within


def new_figure(*, width: float = 7.2, height: float = 3.0, panels: int = 1) -> tuple[Any, Any]:
    """A figure without a window, and its axes (an array if there are several panels); call it in a `styled` function."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    return figure, figure.subplots(1, panels)


def thousands(axis: Any) -> None:
    """Numbers along an axis (or a colour bar) as everywhere else: thousands apart."""
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(lambda value, _: number(float(value))))


def powers(low: float, high: float) -> tuple[list[float], list[str]]:
    """Places and labels of ticks on an axis of decimal logarithms: 1, 3 and 10 times each power.

    >>> powers(-2.1, -0.9)
    ([-2.0, -1.5228787452803376, -1.0], ['0.01', '0.03', '0.1'])
    """
    exponents = range(int(np.floor(low)) - 1, int(np.ceil(high)) + 1)
    values = [factor * 10.0**exponent for exponent in exponents for factor in (1, 3)]
    shown = [value for value in values if low <= np.log10(value) <= high]
    if len(shown) > MOST_TICKS:
        shown = [value for value in shown if round(float(np.log10(value)), 9).is_integer()]
    return [float(np.log10(value)) for value in shown], [number(float(f"{value:.1g}")) for value in shown]


def told(names: Sequence[str], *values: Sequence[float], most: int = 12) -> str:
    """What bars show, in words for those who do not see them: `age 12, 3; sex 4, 0; and 5 more`."""
    parts = [
        f"{name} {', '.join(number(round(float(one), 6)) for one in group)}"
        for name, *group in zip(names, *values, strict=True)
    ]
    more = [f"and {len(parts) - most} more"] if len(parts) > most else []
    return "; ".join([*parts[:most], *more])


def data_uri(figure: Any) -> str:
    """The figure as a `data:` address that an `img` element shows without any file."""
    import matplotlib

    buffer = io.BytesIO()
    with matplotlib.rc_context(STYLE):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return "data:image/svg+xml;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")


@styled
def before_after_bars(
    labels: Sequence[str], before: Sequence[float], after: Sequence[float], *, title: str, unit: str
) -> str:
    """Horizontal bars before and after, one pair a label."""
    figure, axes = new_figure(height=max(1.6, 0.34 * len(labels) + 0.9))
    place = np.arange(len(labels))
    axes.barh(place - 0.19, before, height=0.36, color=MUTE, label="before")
    axes.barh(place + 0.19, after, height=0.36, color=ACCENT, label="after")
    axes.set_yticks(place, labels)
    axes.invert_yaxis()
    axes.set_xlabel(unit)
    thousands(axes.xaxis)
    axes.set_title(title)
    figure.legend(loc="outside lower left", ncols=2)
    return data_uri(figure)


@styled
def histogram_pair(
    before: NDArray[np.float64], after: NDArray[np.float64], *, title: str, unit: str, threshold: float | None = None
) -> str:
    """Two histograms of decimal logarithms over the same bins; the threshold as a line."""
    figure, axes = new_figure()
    both = np.concatenate([before, after])
    bins = np.linspace(float(both.min()), float(both.max()) or 1.0, 31)
    if bins[0] == bins[-1]:
        bins = np.linspace(bins[0] - 0.5, bins[0] + 0.5, 31)
    axes.hist(before, bins=bins.tolist(), color=MUTE, alpha=0.75, label="before")
    axes.hist(after, bins=bins.tolist(), histtype="step", linewidth=1.6, color=ACCENT, label="after")
    if threshold is not None:
        axes.axvline(threshold, color=BAD, linewidth=1, linestyle="--", label="threshold")
    axes.set_yscale("symlog")
    thousands(axes.yaxis)
    axes.set_xticks(*powers(float(bins[0]), float(bins[-1])))
    axes.set_xlabel(unit)
    axes.set_ylabel("records")
    axes.set_title(title)
    axes.legend()
    return data_uri(figure)


@styled
def heat_map(values: NDArray[np.float64], rows: Sequence[str], columns: Sequence[str], *, title: str, unit: str) -> str:
    """A matrix as colours with its numbers in the cells (numbers only where they fit)."""
    figure, axes = new_figure(height=max(1.8, 0.3 * len(rows) + 1.2))
    image = axes.imshow(values, aspect="auto", cmap="Blues")
    axes.set_xticks(range(len(columns)), columns, rotation=35, ha="right")
    axes.set_yticks(range(len(rows)), rows)
    if values.size <= 150:
        limit = float(np.nanmax(values)) / 2 if values.size else 0.0
        for (row, column), value in np.ndenumerate(values):
            axes.text(
                column, row, number(float(value)), ha="center", va="center", color="white" if value > limit else INK
            )
    thousands(figure.colorbar(image, ax=axes, label=unit).ax.yaxis)
    axes.set_title(title)
    return data_uri(figure)


@styled
def distribution_panels(panels: Sequence[tuple[str, Sequence[str], Sequence[float], Sequence[float]]]) -> str:
    """One panel a variable: shares before as grey bars, after as blue outlines."""
    figure, axes = new_figure(height=2.6, panels=max(2, len(panels)))
    for axis in axes[len(panels) :]:
        axis.set_visible(False)
    for axis, (name, labels, before, after) in zip(axes, panels):
        place = np.arange(len(labels))
        axis.bar(place, before, width=0.9, color="#c3c9cf")
        axis.bar(place, after, width=0.9, fill=False, edgecolor=ACCENT, linewidth=1.1)
        step = max(1, len(labels) // 8)
        shown = [
            str(label).partition(" to ")[0][:14] for label in labels[::step]
        ]  # of a class of numbers where it begins
        axis.set_xticks(place[::step], shown, rotation=35, ha="right")
        axis.set_title(name)
    return data_uri(figure)
