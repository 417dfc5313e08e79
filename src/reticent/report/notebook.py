# SPDX-License-Identifier: Apache-2.0
"""Short tables for terminals and notebooks: aggregates only, because a notebook is a file that travels."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from reticent.base.words import number

MOST_ROWS = 40


def short(value: Any) -> str:
    """A figure as in reports; nothing reads as "not judged"."""
    return "not judged" if value is None else number(value)


def facts_text(title: str, facts: Mapping[str, Any]) -> str:
    """A title and one line per fact."""
    width = max((len(name) for name in facts), default=0)
    return "\n".join([title, *(f"  {name:<{width}}  {short(value)}" for name, value in facts.items())])


def facts_html(title: str, facts: Mapping[str, Any]) -> str:
    """The same as a table."""
    rows = "".join(
        f"<tr><th scope='row' style='text-align:left'>{escape(name)}</th><td>{escape(short(value))}</td></tr>"
        for name, value in facts.items()
    )
    return f"<table><caption>{escape(title)}</caption>{rows}</table>"


def rows_html(title: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """A title and one line per row."""
    if not rows:
        return f"<p>{escape(title)}</p>"
    head = "".join(f"<th scope='col'>{escape(str(name))}</th>" for name in rows[0])
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(short(value))}</td>" for value in row.values()) + "</tr>"
        for row in rows[:MOST_ROWS]
    )
    more = f"<p>and {number(len(rows) - MOST_ROWS)} more</p>" if len(rows) > MOST_ROWS else ""
    return f"<table><caption>{escape(title)}</caption><tr>{head}</tr>{body}</table>{more}"
