# SPDX-License-Identifier: Apache-2.0
"""`reticent querylog PLAN.toml`: a search log in which every user is one of k."""

from pathlib import Path

import typer

from reticent.cli.progress_bar import progress_bar
from reticent.cli.screen import JSON, check_answer, give_answer, open_console, tagged


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("querylog")(querylog)


def querylog(
    plan: Path = typer.Argument(..., help="The plan, a TOML file."),
    json_out: Path | None = JSON,
) -> None:
    """Protect a query log: scrub identifiers, cluster users by meaning, publish pseudo-users."""
    from reticent.jobs.protect_querylog import run_log_file

    check_answer(json_out, (plan,))
    with progress_bar("querylog") as progress:
        found, written = run_log_file(plan, progress=progress)
    give_answer(found.summary(), json_out)
    console = open_console()
    console.print(
        f"{found.users} users became {found.clusters} pseudo-users of {found.cluster_sizes[0]} to {found.cluster_sizes[1]}; "
        f"{len(found.masked.queries)} rows are published of {found.rows}.",
        highlight=False,
    )
    pairs = zip(found.remaining, found.remaining_random, strict=True)
    levels = ", ".join(
        f"level {number}: {kept:.0%} ({chance:.0%} at random)" for number, (kept, chance) in enumerate(pairs, 1)
    )
    console.print(f"Categories that remain: {levels}; worst case {1 / found.options.k:.0%}.", highlight=False)
    console.print(
        f"Users with a query that only they made: {found.risk.own_queries} ({found.risk_without_guard} before); the right "
        f"person is found by half of the queries in {found.risk.linked_person:.1%} ({found.risk.linked_before:.1%} before).",
        highlight=False,
    )
    for what, name in written:
        console.print(tagged(what, "green" if what == "publishable" else "dim", f" {name}"))
