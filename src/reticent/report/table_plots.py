# SPDX-License-Identifier: Apache-2.0
"""Pictures of a protected table: attack intervals against required ones, and what hiding cost at each level."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats
from reticent.report.plots import ACCENT, BAD, GOOD, INK, MUTE, WARM, data_uri, new_figure, powers, styled

SHOWN = 40


@styled
def interval_plot(
    names: Sequence[str],
    values: Floats,
    attack: tuple[Floats, Floats],
    required: tuple[Floats, Floats],
    exposed: NDArray[np.bool_],
) -> str:
    """Each unsafe cell's attack interval (thick) over the interval it needs (thin), in per cent of its value."""
    shown = np.argsort(~exposed, kind="stable")[:SHOWN]
    size = np.maximum(np.abs(values[shown]), 1e-12)
    low = np.clip(100 * (attack[0][shown] - values[shown]) / size, -160, 260)
    high = np.clip(100 * (attack[1][shown] - values[shown]) / size, -160, 260)
    need_low = np.clip(100 * (required[0][shown] - values[shown]) / size, -160, 260)
    need_high = np.clip(100 * (required[1][shown] - values[shown]) / size, -160, 260)
    figure, axes = new_figure(height=max(1.8, 0.22 * len(shown) + 1.0))
    place = np.arange(len(shown))
    colours = np.where(exposed[shown], BAD, GOOD).tolist()
    point = (attack[1] - attack[0])[shown] <= 1e-9 * size  # an interval without width is drawn as a diamond
    axes.hlines(place, low, high, color=colours, linewidth=5, alpha=0.85)
    axes.scatter(low[point], place[point], marker="D", s=34, color=np.asarray(colours)[point], zorder=4)
    axes.hlines(place, need_low, need_high, color=INK, linewidth=1.2)
    axes.plot(need_low, place, "|", color=INK)
    axes.plot(need_high, place, "|", color=INK)
    axes.axvline(0, color=MUTE, linewidth=0.8)
    axes.set_yticks(place, [names[i][:36] for i in shown])
    axes.invert_yaxis()
    axes.set_xlabel("distance from the true value, per cent (cut off at −160 and 260)")
    axes.set_title("What the attacker knows (thick) and what each unsafe cell needs (thin)")
    return data_uri(figure)


@styled
def level_plot(
    levels: Sequence[int], published: Sequence[float], primary: Sequence[float], secondary: Sequence[float]
) -> str:
    """Share of the cells at each level that is published, unsafe, or hidden to protect others."""
    figure, axes = new_figure(height=max(1.6, 0.4 * len(levels) + 0.9))
    place = np.arange(len(levels))
    left = np.zeros(len(levels))
    for share, colour, label in (
        (published, ACCENT, "published"),
        (primary, BAD, "unsafe"),
        (secondary, WARM, "secondary"),
    ):
        axes.barh(place, share, left=left, color=colour, label=label, height=0.7)
        left = left + np.asarray(share, dtype=np.float64)
    axes.set_yticks(place, ["grand total" if level == 0 else f"level {level}" for level in levels])
    axes.invert_yaxis()
    axes.set_xlabel("per cent of the non-empty cells")
    axes.set_title("What is hidden at each level of detail")
    figure.legend(loc="outside lower left", ncols=3)
    return data_uri(figure)


MARKS = {"primary": ("X", BAD), "secondary": ("o", WARM), "exposed": ("D", BAD), "frozen": ("s", ACCENT)}


@styled
def heat_plot(values: Floats, marks: Sequence[Sequence[str]], rows: Sequence[str], columns: Sequence[str]) -> str:
    """The table as a heat map of |value| (logarithmic), with a mark on every cell that is unsafe, hidden or frozen.

    Empty cells (NaN) stay white.
    """
    figure, axes = new_figure(height=min(9.0, max(2.0, 0.22 * len(rows) + 1.2)))
    image = axes.imshow(np.log10(np.abs(values) + 1.0), aspect="auto", cmap="Blues")
    for name, (symbol, colour) in MARKS.items():
        found = [(column, row) for row, line in enumerate(marks) for column, mark in enumerate(line) if mark == name]
        if found:
            axes.scatter(
                *zip(*found, strict=True),
                marker=symbol,
                c=colour,
                s=46,
                linewidths=0.9,
                edgecolors="white",
                label=name,
                zorder=3,
            )
    axes.set_xticks(range(len(columns)), [c[:18] for c in columns], rotation=40, ha="right")
    axes.set_yticks(range(len(rows)), [r[:28] for r in rows])
    axes.tick_params(labelsize=7)
    bar = figure.colorbar(image, ax=axes, label="value (logarithmic)")
    places, labels = powers(*bar.ax.get_ylim())
    bar.set_ticks(places, labels=labels)
    if any(mark in MARKS for line in marks for mark in line):
        figure.legend(loc="outside lower left", ncols=4)
    axes.set_title("Where the value is, and where the risk")
    return data_uri(figure)
