# SPDX-License-Identifier: Apache-2.0
"""The two reports of a protected table: everything for the protector, and for the public only what may be known.

`public_table_report` takes a `PublishedTable` and nothing else, so that nothing confidential can reach it.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from reticent.base.words import amount, number, span
from reticent.data.cells import CellStatus
from reticent.data.published_table import PublishedTable
from reticent.report.noise_section import noise_blocks
from reticent.report.page import (
    HTML,
    Banner,
    Block,
    Chapter,
    Facts,
    Picture,
    Rows,
    Section,
    Text,
    render_page,
    section,
    sections_of,
)
from reticent.report.plots import told
from reticent.report.provenance import Provenance, provenance_sections
from reticent.report.table_grid import confidential_grid, public_grid
from reticent.report.table_plots import interval_plot, level_plot
from reticent.tables.granularity import table_granularity
from reticent.tables.group_disclosure import group_disclosures
from reticent.tables.insider import insider_bounds
from reticent.tables.result import ProtectedTable
from reticent.tables.rules import RuleCells
from reticent.tables.sap import sap

MAX_UNSAFE = 200
MAX_RELATIONS = 6
NAMES = {status.value: status.name.lower() for status in CellStatus}
INTERVALS = (
    "Exposed cells come first, in red; a diamond is an interval without width: the attacker knows the value exactly."
)

HOW = {
    "suppression": "Hidden cells: some would reveal too much about single respondents, others would allow those to "
    "be calculated. Which are which is not published.",
    "cell-key": "Every value carries a little noise to protect single respondents; totals need not add up.",
    "invariant": "Many values carry a little noise to protect single respondents; totals need not add up.",
    "random-rounding": "Every value was rounded up or down by chance to protect single respondents; totals need not add up.",
    "resample": "Counts were redrawn to protect single respondents; they are not the true ones.",
}


def confidential_table_report(result: ProtectedTable, *, origin: Provenance | None = None, form: str = HTML) -> str:
    """Everything about a protected table, for the data protector."""
    title = " × ".join(result.table.names)
    subtitle = f"{title}, {result.table.response or 'count'}"
    sections = [*sections_of(result, TABLE_SECTIONS), *provenance_sections(origin or Provenance())]
    return render_page("Protection of a table", sections, public=False, subtitle=subtitle, form=form)


def _grids(result: ProtectedTable) -> Iterator[Section]:
    parts = len(result.system.parts)
    for part in range(parts):
        yield Section("The table" if parts == 1 else f"Table {part + 1}", confidential_grid(result, part))


def _short(result: ProtectedTable) -> tuple[Block, ...]:
    counts, exposed = result.counts(), len(result.exposed)
    if exposed:
        cells = "cell" if exposed == 1 else "cells"
        text = f"The attacker recovers {number(exposed)} {cells} more closely than allowed: this table must not leave as it is."
    elif result.audit.unjudged:
        text = f"Not judged: {result.audit.unjudged}. The arithmetic attacker without it recovers no unsafe cell too closely."
    else:
        text = "The arithmetic attacker recovers no unsafe cell more closely than the method promises."
    bound = result.outcome.bound
    facts = [(name, number(count)) for name, count in counts.items()]
    facts += [("exposed", number(exposed)), ("cost", number(float(result.outcome.cost)))]
    facts.append(("proven least cost", "not known" if bound is None else number(float(bound))))
    facts.append(("method", f"{result.method} ({result.outcome.status})"))
    facts.append(("sole respondents of a cell", result.inside.state))
    found = bool(result.inside.cells)
    inside: Block = Banner(False, result.inside.sentence()) if found else Text(result.inside.sentence())
    promised = Text(f"What the method promises if no cell is exposed: {result.guarantee}")
    return (
        Banner(result.state == "held", text),
        inside,
        promised,
        Facts(tuple(facts)),
        *(Text(note) for note in result.notes),
    )


def _attack(result: ProtectedTable) -> tuple[Block, ...]:
    audit, table = result.audit, result.table
    primary = np.flatnonzero(result.problem.primary[audit.cells])
    if len(primary) == 0:
        return (Text("No cell is unsafe, so there is nothing to attack."),)
    cells = audit.cells[primary]
    names = [table.name_of(int(cell)) for cell in cells]
    picture = interval_plot(
        names, table.values[cells], (audit.low[primary], audit.high[primary]),
        (audit.required_low[primary], audit.required_high[primary]), np.isin(cells, result.exposed),
    )  # fmt: skip
    rows: list[tuple[object, ...]] = []
    classes = []
    for place, cell in enumerate(audit.cells.tolist()):
        if len(rows) == MAX_UNSAFE:
            break
        rows.append(
            (table.name_of(cell), "exposed" if cell in result.exposed else NAMES[int(result.status[cell])],
             amount(float(table.values[cell]), table.decimals), span(float(audit.low[place]), float(audit.high[place])),
             _required(float(audit.required_low[place]), float(audit.required_high[place])))
        )  # fmt: skip
        classes.append("bad" if cell in result.exposed else "")
    known, cells_words = "the attacker's bounds", "each hidden cell"
    if result.outcome.values is not None:
        known, cells_words = "what the method says about each true value", "each unsafe cell"
    n = len(result.insiders)
    who = "One sole respondent" if n == 1 else f"{number(n)} sole respondents"
    inside = [Text(f"{who} of a cell can subtract what they know and work out another unsafe cell exactly.")]
    return (
        *(inside if result.insiders else ()),
        Text(
            f"{number(audit.programs)} linear programs over all relations of the table, with every published value and "
            f"{known} known, give the smallest and the largest value that {cells_words} can have."
        ),
        Picture(picture, INTERVALS, _in_words(result, names, cells, primary)),
        Rows(("cell", "status", "value", "attack interval", "required"), tuple(rows), classes=tuple(classes)),
        *_revealed(result),
        *_inside(result),
    )  # fmt: skip


def _required(low: float, high: float) -> str:
    """The interval that a cell must keep; cells that are hidden for others need none."""
    return span(low, high) if high > low else "–"


def _in_words(
    result: ProtectedTable, names: list[str], cells: NDArray[np.integer], primary: NDArray[np.integer]
) -> str:
    """What the plot of intervals shows: how many are exposed, and the first of them."""
    audit, exposed = result.audit, np.flatnonzero(np.isin(cells, result.exposed))
    words = f"Intervals of {number(len(cells))} unsafe cells, {number(len(exposed))} of them exposed"
    shown = [
        f"{names[at]} {span(float(audit.low[primary[at]]), float(audit.high[primary[at]]))}"
        for at in exposed[:5].tolist()
    ]
    return words + (": " + "; ".join(shown) if shown else "") + "."


def _revealed(result: ProtectedTable) -> tuple[Block, ...]:
    """By which sums each exposed cell is found."""
    revealed = result.revealed()
    if not revealed:
        return ()
    rows = tuple((result.table.name_of(cell), len(words), _sums(words)) for cell, words in revealed.items())
    words = "Exposed cells are found from these sums: everything in them that is published is known, the rest follows."
    if len(revealed) < len(result.exposed):
        words += f" The first {number(len(revealed))} of {number(len(result.exposed))} exposed cells are listed."
    return (Text(words), Rows(("exposed cell", "relations", "revealed by"), rows))


def _sums(words: list[str]) -> str:
    if not words:
        return "what is known about the cell alone"
    return "; ".join(words[:MAX_RELATIONS]) + ("; …" if len(words) > MAX_RELATIONS else "")


def _inside(result: ProtectedTable) -> tuple[Block, ...]:
    """What sole respondents of a cell, or coalitions of them, find about others."""
    found = result.inside
    if not found.attacked and not found.findings:
        return (Text(found.sentence()),)
    words = (
        f"{found.sentence()} {number(found.attacked)} attackers were tried, each up to {found.coalition} sole "
        "respondents of a cell, who know its value."
    )
    if result.asked_inside == "exact" and found.findings:
        words += ' Only exact values are kept from them; insiders = "protect" keeps them out of the levels too.'
    rows = tuple(
        (", ".join(result.table.name_of(cell) for cell in item.known[:3]), result.table.name_of(item.cell),
         span(item.low, item.high), span(item.required_low, item.required_high))
        for item in found.findings[:MAX_UNSAFE]
    )  # fmt: skip
    columns = ("knows", "finds", "interval", "required")
    return (Text(words), *((Rows(columns, rows),) if rows else ()))


def _unsafe(result: ProtectedTable) -> tuple[Block, ...]:
    table, verdict = result.table, result.verdict
    cells = np.flatnonzero(verdict.primary)
    view = RuleCells.of(table)
    bounds = insider_bounds(view) if view.top is not None and view.top.shape[1] >= 2 else None
    rows = []
    for cell in cells[:MAX_UNSAFE].tolist():
        value = amount(float(table.values[cell]), table.decimals)
        row: list[object] = [table.name_of(cell), ", ".join(verdict.rules_of(cell)) or "declared", value]
        row.append(int(table.respondents.counts[cell]) if table.counted else None)
        if bounds is not None:
            row += [float(bounds.largest[cell]), float(bounds.upper[cell])]
        row.append(float(verdict.upper_protection[cell]))
        rows.append(tuple(row))
    columns = ["cell", "rule", "value", "respondents"]
    if bounds is not None:
        columns += ["largest contribution", "upper bound of the second largest for it"]
    if not rows:
        return (Text("No cell is unsafe."),)
    words = (
        "The second largest respondent subtracts its own contribution from the total: what is left is its upper bound "
        "for the largest. A dominance rule does not look at this bound, the p % rule does."
    )
    table_block = Rows((*columns, "protection level"), tuple(rows))
    return (Text(words), table_block) if bounds is not None else (table_block,)


def _cost(result: ProtectedTable) -> tuple[Block, ...]:
    table, status = result.table, result.status
    levels = sorted(set(table.levels.tolist()))
    rows, shares = [], []
    for level in levels:
        here = table.levels == level
        primary = here & (status == CellStatus.PRIMARY)
        secondary = here & (status == CellStatus.SECONDARY)
        n = int((here & (status != CellStatus.EMPTY)).sum())
        rows.append((level, n, int(primary.sum()), int(secondary.sum()), float(result.problem.cost[secondary].sum())))
        shares.append(
            [
                100.0 * count / max(n, 1)
                for count in (n - primary.sum() - secondary.sum(), primary.sum(), secondary.sum())
            ]
        )
    picture = level_plot(levels, *(list(share) for share in zip(*shares)))
    return (
        Picture(
            picture,
            "Level 0 is the grand total; the deepest level has the inner cells.",
            "Cells at each level, unsafe and secondary: "
            + told([f"level {row[0]}" for row in rows], [row[2] for row in rows], [row[3] for row in rows]),
        ),
        Rows(("level", "cells", "unsafe", "secondary", "cost of the secondary"), tuple(rows)),
    )


def _totals(result: ProtectedTable) -> tuple[Block, ...]:
    """What is left of the sum of the inner cells, and what exchanged values did to it."""
    table, status = result.table, result.status
    inner = table.is_inner
    hidden = (status == CellStatus.PRIMARY) | (status == CellStatus.SECONDARY)
    values = table.values if result.outcome.values is None else result.outcome.values
    shown = ~hidden if result.outcome.values is None else np.ones(len(hidden), dtype=bool)
    rows: list[tuple[object, ...]] = []
    for name, mask in (("inner cells", inner), ("totals and subtotals", ~inner)):
        before = float(np.abs(table.values[mask]).sum())
        after = float(np.abs(values[mask & shown]).sum())
        rows.append((name, before, after, 100.0 * after / before if before else 100.0))
    blocks: list[Block] = [Rows(("", "sum of values before", "published after", "per cent"), tuple(rows))]
    if result.outcome.values is not None:
        change = np.abs(values - table.values)
        blocks.append(
            Facts(
                (
                    ("largest change", number(float(change.max(initial=0.0)))),
                    ("mean change", number(float(change.mean()))),
                )
            )
        )
    return tuple(blocks)


def _rules(result: ProtectedTable) -> tuple[Block, ...]:
    rows = tuple(
        (rule.name, "; ".join(f"{name}: {number(value)}" for name, value in vars(rule).items()) or "none")
        for rule in result.verdict.rules
    )
    if not rows:
        return ()
    return (
        Text("Parameters of rules are confidential: whoever knows them can undo part of the protection."),
        Rows(("rule", "options"), rows),
    )


def _others(result: ProtectedTable) -> tuple[Block, ...]:
    table = result.table
    if not table.counted or table.n_cells > 20_000 or len(result.system.parts) > 1:
        return ()
    rows = table_granularity(table)
    unsafe = [row for row in rows if row.unsafe]
    groups = group_disclosures(table, minimum=2)
    words = (
        f"{number(len(unsafe))} of {number(len(rows))} rows and columns consist to at least one half of cells with a "
        f"single respondent (granularity). {number(len(groups))} groups of two or more respondents are in one single "
        "part of their total, so that belonging to the group reveals the part (group disclosure)."
    )
    blocks: list[Block] = [Text(words)]
    if table.is_count:
        inner = table.respondents.counts[table.is_inner]
        chances = [(known, sap(inner, known).probability) for known in (1, 2, 5, 10) if known <= int(inner.sum())]
        words = "Probability that somebody who knows this many respondents, and subtracts them, empties a cell (SAP)."
        blocks.append(Rows(("known respondents", "probability"), tuple(chances), words))
    return tuple(blocks)


def public_table_report(table: PublishedTable, *, date: str = "", form: str = HTML) -> str:
    """What anybody may know: the published table and how to read it."""
    subtitle = f"{table.response}, {date}" if date else table.response
    return render_page(
        public_table_title(table), public_table_sections(table), public=True, subtitle=subtitle, form=form
    )


def public_table_title(table: PublishedTable) -> str:
    """What the public report of a table is called."""
    return " × ".join(table.dimensions)


def public_table_sections(table: PublishedTable) -> list[Section]:
    """What the public report of a table says."""
    counts = table.counts()
    changed = "Values were changed slightly to protect single respondents; totals still add up."
    how = HOW.get(table.method, changed)
    if table.method == "suppression" and table.hides_empty:
        how += " Cells with nobody in them may be among the hidden ones."
    return [
        Section("In short", (Facts(tuple((name, number(count)) for name, count in counts.items())), Text(how))),
        Section("The table", public_grid(table)),
    ]


# One line per section of the confidential report, in the order of the page.
TABLE_SECTIONS: list[Chapter[ProtectedTable]] = [
    section("In short", _short),
    Chapter("The table", _grids),
    section("What the attacker knows", _attack),
    section("Unsafe cells and why", _unsafe),
    section("What it cost", _cost),
    section("What the noise did", noise_blocks),
    section("Before and after", _totals),
    section("Rules", _rules),
    section("Other disclosures", _others),
]
