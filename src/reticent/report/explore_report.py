# SPDX-License-Identifier: Apache-2.0
"""The confidential report of an exploration: the risk–utility map, the table, the chosen candidate on fresh draws."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from reticent.base.words import number
from reticent.data.verdict import State
from reticent.report.page import HTML, Banner, Facts, Picture, Rows, Section, Text, render_page
from reticent.report.plots import ACCENT, GOOD, INK, MUTE, data_uri, new_figure, styled, told

SHOWN = (
    "candidate",
    "risk",
    "highest risk",
    "loss",
    "score",
    "recount",
    "linkage",
    "households",
    "interval",
    "il1s",
    "correlations",
    "pmse",
)


LISTED = 30

JUDGED = {
    State.HELD: "Every fresh draw, none of which was used for choosing it, withstands what protect asks for.",
    State.NOT_HELD: "Not every fresh draw withstands what protect asks for; no plan was written.",
    State.NOT_JUDGED: "Not judged: the file has no weights and no most_risk is stated, so nothing says which risk is allowed.",
}


@styled
def risk_utility_map(rows: Sequence[Mapping[str, Any]], *, title: str = "Risk against loss") -> str:
    """Every candidate as a numbered dot, the Pareto front as a line, the chosen one ringed, the names beside it.

    With more than LISTED candidates only those on the front and the chosen one are named.
    """
    figure, axes = new_figure(height=4.6, width=8.2)
    usable = sorted(
        (r for r in rows if not r["failed"] and math.isfinite(r["risk"])), key=lambda r: (r["loss"], r["risk"])
    )
    named = [r for r in usable if len(usable) <= LISTED or r["front"] or r["chosen"]]
    front = [row for row in usable if row["front"]]
    axes.plot([r["loss"] for r in front], [r["risk"] for r in front], color=GOOD, linewidth=1.2, zorder=2)
    for row in usable:
        axes.scatter(row["loss"], row["risk"], s=26, color=GOOD if row["front"] else MUTE, zorder=3)
        if row["chosen"]:
            axes.scatter(
                row["loss"], row["risk"], s=130, facecolors="none", edgecolors=ACCENT, linewidths=1.8, zorder=4
            )
    for number_, row in enumerate(named, start=1):
        # Alternating sides keep most numbers of close neighbours apart.
        shift = (5, 5) if number_ % 2 else (-5, -11)
        axes.annotate(str(number_), (row["loss"], row["risk"]), xytext=shift, textcoords="offset points", fontsize=7,
                      color=INK, ha="left" if number_ % 2 else "right")  # fmt: skip
        axes.annotate(f"{number_}  {row['candidate']}", (1.02, 1.0 - (number_ - 1) / max(len(named), 24)),
                      xycoords="axes fraction", fontsize=7, va="top", color=GOOD if row["front"] else INK)  # fmt: skip
    axes.set_xlabel("information loss")
    axes.set_ylabel("disclosure risk")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.set_title(title)
    return data_uri(figure)


def explore_report(
    rows: Sequence[Mapping[str, Any]], *, fresh: Mapping[str, Any] | None, state: State, form: str = HTML
) -> str:
    """The page as HTML text."""
    chosen = next((row for row in rows if row["chosen"]), None)
    blocks: list[Any] = []
    if chosen is None or fresh is None:
        blocks.append(Banner(False, "No candidate can be released on every draw; no plan was written."))
    else:
        blocks.append(Banner(state is State.HELD, f"Chosen: {chosen['candidate']}. {JUDGED[state]}"))
        blocks.append(
            Facts(
                (
                    ("risk when choosing", number(round(chosen["risk"], 4))),
                    ("risk on fresh draws", number(round(fresh["risk"], 4))),
                    ("highest risk of a fresh draw", number(round(fresh["highest risk"], 4))),
                    ("loss on fresh draws", number(round(fresh["loss"], 4))),
                    ("candidates", number(len(rows))),
                )
            )
        )
    blocks.append(
        Picture(
            risk_utility_map(rows),
            "Green: no other candidate has both less risk and less loss; the ring is the chosen one.",
            "Risk and loss of the candidates on the front: " + _front(rows),
        )
    )
    ordered = sorted(rows, key=lambda row: (bool(row["failed"]), row["score"] if not row["failed"] else 0.0))
    blocks.append(
        Rows(
            SHOWN,
            tuple(tuple(_cell(row.get(name)) for name in SHOWN) for row in ordered),
            caption="All candidates, best score first",
            classes=tuple("bad" if row["failed"] else "good" if row["front"] else "" for row in ordered),
        )
    )
    open_rows = [row for row in rows if row["not held"]]
    if open_rows:
        blocks.append(Text("Not held: " + "; ".join(f"{row['candidate']}: {row['not held']}" for row in open_rows)))
    failures = [row for row in rows if row["failed"]]
    if failures:
        blocks.append(Text("Failed: " + "; ".join(f"{row['candidate']}: {row['failed']}" for row in failures)))
    return render_page("Exploration", (Section("Risk and loss", tuple(blocks)),), public=False, form=form)


def _front(rows: Sequence[Mapping[str, Any]]) -> str:
    front = [row for row in rows if row["front"] and not row["failed"]]
    names = [row["candidate"] + (" (chosen)" if row["chosen"] else "") for row in front]
    return told(names, [row["risk"] for row in front], [row["loss"] for row in front])


def _cell(value: Any) -> Any:
    if isinstance(value, float):
        return "–" if math.isnan(value) else round(value, 4)
    return value
