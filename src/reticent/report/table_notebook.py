"""A protected table in a notebook: small, coloured by status, self-contained. Confidential."""

from html import escape

import numpy as np

from reticent.data.cells import CellStatus
from reticent.data.published_table import plain
from reticent.report.table_report import confidential_table_report
from reticent.tables.result import ProtectedTable

COLOURS = {
    "safe": "#eef2f6", "primary": "#e9a29b", "secondary": "#f6d9a8", "frozen": "#cfe0f3", "empty": "#fafbfc",
    "exposed": "#b3372f",
}  # fmt: skip
MAX_ROWS, MAX_COLUMNS = 40, 20


def notebook_html(result: ProtectedTable) -> str:
    """The table at a glance, and below it the whole confidential report in a frame, so that its style stays inside."""
    page = escape(confidential_table_report(result), quote=True)
    frame = f'<iframe srcdoc="{page}" style="width:100%;height:700px;border:1px solid #ccc"></iframe>'
    return table_html(result) + frame


def table_html(result: ProtectedTable) -> str:
    """The first two dimensions of the (first) table with the colour of each cell's status, and the verdict in words."""
    words = f"<p><b>{escape(repr(result))}</b></p>"
    table, members = result.system.parts[0], result.system.members[0]
    if len(table.dimensions) < 2:
        return words
    rows, columns = table.dimensions[0], table.dimensions[1]
    exposed = np.isin(members, result.exposed)
    status = result.status[members]
    cells: dict[tuple[int, int], str] = {}
    for cell, codes in enumerate(table.codes.tolist()):
        if any(codes[2:]):
            continue
        name = "exposed" if exposed[cell] else CellStatus(int(status[cell])).name.lower()
        ink = "#fff" if name == "exposed" else "#1d2733"
        text = plain(float(table.values[cell]), table.decimals)
        cells[codes[0], codes[1]] = (
            f'<td title="{name}" style="background:{COLOURS[name]};color:{ink};text-align:right">{text}</td>'
        )
    shown = range(min(len(columns), MAX_COLUMNS))
    head = "".join(f"<th>{escape(columns.label(c))}</th>" for c in shown)
    body = "".join(
        f"<tr><th style='text-align:left'>{'&emsp;' * int(rows.levels[r])}{escape(rows.label(r))}</th>"
        + "".join(cells.get((r, c), "<td></td>") for c in shown)
        + "</tr>"
        for r in range(min(len(rows), MAX_ROWS))
    )
    legend = " ".join(
        f'<span style="background:{colour};padding:0 .4em">{name}</span>' for name, colour in COLOURS.items()
    )
    return f"{words}<table><tr><th></th>{head}</tr>{body}</table><p>{legend}</p>"
