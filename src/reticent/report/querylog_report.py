# SPDX-License-Identifier: Apache-2.0
"""The confidential report of a protected query log: what stays useful, what an attacker finds, what was taken out."""

import numpy as np

from reticent.base.words import number
from reticent.querylogs.protect import LogResult
from reticent.report.page import HTML, Banner, Block, Facts, Picture, Rows, Section, Text, render_page
from reticent.report.plots import ACCENT, BAD, GOOD, MUTE, data_uri, new_figure, styled, told


def querylog_report(found: LogResult, note: str | None = None, *, form: str = HTML) -> str:
    """The page as HTML text."""
    held = found.risk.own_queries == 0
    words = (
        f"Every pseudo-user stands for at least {found.options.k} users, and no query that fewer than {found.options.guard} "
        "users made is published."
        if held
        else f"{found.risk.own_queries} users are published with a query that only they made: the guard is off."
    )
    first: list[Block] = [Banner(held, words)]
    if note:
        first.append(Text(note))
    first.append(
        Facts(
            (
                ("users", number(found.users)),
                ("pseudo-users", number(found.clusters)),
                ("rows read", number(found.rows)),
                ("rows published", number(len(found.masked.queries))),
                ("rare rows dropped", number(found.dropped)),
                ("users without queries left", number(found.users_left_out)),
            )
        )
    )
    sections = (
        Section("The log", tuple(first)),
        Section("What stays useful", _utility(found)),
        Section("What an attacker finds", _risk(found)),
        Section("What was taken out", _taken(found)),
    )
    return render_page("Query log", sections, public=False, form=form)


def _utility(found: LogResult) -> tuple[Block, ...]:
    rows = tuple(
        (level + 1, f"{found.level_shares[level]:.0%}", f"{kept:.1%}", f"{chance:.1%}", f"{1 / found.options.k:.1%}")
        for level, (kept, chance) in enumerate(zip(found.remaining, found.remaining_random, strict=True))
    )
    columns = ("level", "queries that reach it", "remaining", "with random clusters", "worst case")
    text = (
        "The share of a user's queries whose category is also in the user's pseudo-user, on average. A random partition is "
        "measured with the same aggregation; the worst case is users without any common interest."
    )
    levels = [f"level {level + 1}" for level in range(len(found.remaining))]
    shown = told(levels, found.remaining, found.remaining_random)
    picture = Picture(
        _bars(found), "Categories that remain at each level.", f"Share remaining by meaning and at random: {shown}"
    )
    return picture, Text(text), Rows(columns, rows)


@styled
def _bars(found: LogResult) -> str:
    figure, axes = new_figure(height=2.6)
    place = np.arange(len(found.remaining))
    axes.bar(place - 0.2, found.remaining, width=0.36, color=ACCENT, label="clusters by meaning")
    axes.bar(place + 0.2, found.remaining_random, width=0.36, color=MUTE, label="random clusters")
    axes.axhline(1 / found.options.k, color=BAD, linewidth=1, linestyle="--", label="worst case")
    axes.set_xticks(place, [f"level {level + 1}" for level in place])
    axes.set_ylim(0, 1)
    axes.set_ylabel("share remaining")
    figure.legend(ncols=3, loc="outside lower left")
    return data_uri(figure)


def _risk(found: LogResult) -> tuple[Block, ...]:
    risk = found.risk
    text = (
        f"The attacker knows half of the queries of each of {risk.tried} users and looks for the pseudo-user with the most "
        "of them, rare ones counting more. A query that only one user made identifies that user to whoever knows it."
    )
    rows = (
        ("users with a query that only they made", found.risk_without_guard, risk.own_queries),
        ("found: the right pseudo-user", "", f"{risk.linked_cluster:.1%}"),
        ("found: the right person", f"{risk.linked_before:.1%}", f"{risk.linked_person:.1%}"),
    )
    return (
        Picture(
            _risk_bars(found),
            "The right person found, before and after.",
            f"Share of users found: {risk.linked_before:.1%} before, {risk.linked_person:.1%} after.",
        ),
        Text(text),
        Rows(("", "before", "after"), rows),
    )


@styled
def _risk_bars(found: LogResult) -> str:
    figure, axes = new_figure(height=1.7)
    axes.barh([1, 0], [found.risk.linked_before, found.risk.linked_person], color=[BAD, GOOD], height=0.6)
    axes.set_yticks([1, 0], ["before", "after"])
    axes.set_xlim(0, 1)
    axes.set_xlabel("share of users found by half of their queries")
    return data_uri(figure)


def _taken(found: LogResult) -> tuple[Block, ...]:
    rows = tuple((kind, count) for kind, count in sorted(found.scrubbed.items()))
    scrubbed: Block = (
        Rows(("direct identifier", "different queries"), rows)
        if rows
        else Text("No direct identifier was found in the queries.")
    )
    times = "Times are not published." if found.options.time == "drop" else (
        f"Times are published by {found.options.time}, blank where fewer than {found.options.guard} users asked the same then."
    )  # fmt: skip
    rare = (
        f"Rare queries: {number(found.dropped)} rows dropped, {number(found.generalised)} replaced by their category."
    )
    return scrubbed, Text(rare), Text(times + " Clicks are not read.")
