# SPDX-License-Identifier: Apache-2.0
"""`reticent round FILE.jj` and `reticent adjust FILE.jj`: change the numbers of a table instead of hiding them."""

from pathlib import Path
from typing import Any

import typer

from reticent.cli.progress_bar import progress_bar
from reticent.cli.screen import JSON, check_answer, give_answer, open_console, tagged

ACCEPT = typer.Option(False, "--accept-exposed", help="Write the result although unsafe cells are exposed.")
TEST_SECRET = typer.Option(False, "--test-secret", help="Allow a secret that can be guessed; the result is a test.")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("round")(round_table)
    app.command("adjust")(adjust_table)


def round_table(
    file: Path = typer.Argument(..., help="The table, a JJ file."),
    base: float = typer.Option(..., "--base", "-b", help="Cells become multiples of this number."),
    kind: str = typer.Option("controlled", "--kind", help="controlled, random or rapid."),
    steps: int = typer.Option(
        0, "--steps", min=0, help="Further multiples allowed where rounding to a neighbour is impossible."
    ),
    protect: bool = typer.Option(False, "--protect", help="Respect the protection levels of primary cells."),
    fallback: bool = typer.Option(False, "--fallback", help="Round rapidly if controlled rounding finds nothing."),
    time_limit: float = typer.Option(60.0, "--time-limit", help="Seconds."),
    secret: str | None = typer.Option(None, "--secret", help="A key file, or an integer for tests (random rounding)."),
    test_secret: bool = TEST_SECRET,
    accept_exposed: bool = ACCEPT,
    json_out: Path | None = JSON,
) -> None:
    """Round a table so that it stays additive (controlled), or cell by cell (random)."""
    from reticent.jobs.jj import RoundNumbers

    how = RoundNumbers(base, kind, steps, protect, fallback)  # type: ignore[arg-type]
    limits = {"time_limit": time_limit, "test_secret": test_secret}
    _run("round", file, how, secret=secret, json_out=json_out, accept_exposed=accept_exposed, **limits)


def adjust_table(
    file: Path = typer.Argument(..., help="The table, a JJ file."),
    norm: str = typer.Option("l1", "--norm", help="l1, l2 or linf."),
    weights: str = typer.Option("value", "--weights", help="What a unit of change costs: unity, value or root."),
    signs: str = typer.Option("free", "--signs", help="Directions of sensitive cells: free, up, down or random."),
    integers: bool = typer.Option(False, "--integers", help="Keep whole numbers."),
    fix_total: bool = typer.Option(False, "--fix-total", help="The largest total keeps its value."),
    largest_change: float | None = typer.Option(
        None, "--largest-change", help="Largest change of other cells as a share of their value, e.g. 0.1."
    ),
    spread: float = typer.Option(1.0, "--spread", help="Mean movement beyond the level, in levels; it is drawn."),
    time_limit: float = typer.Option(60.0, "--time-limit", help="Seconds."),
    secret: str | None = typer.Option(
        None, "--secret", help="Needed: a key file, or an integer for tests; movements are drawn from it."
    ),
    test_secret: bool = TEST_SECRET,
    accept_exposed: bool = ACCEPT,
    json_out: Path | None = JSON,
) -> None:
    """Move sensitive cells out of their protection intervals and everything else as little as possible."""
    from reticent.jobs.jj import AdjustNumbers

    how = AdjustNumbers(norm, weights, signs, integers, fix_total, largest_change, spread)  # type: ignore[arg-type]
    limits = {"time_limit": time_limit, "test_secret": test_secret}
    _run("adjust", file, how, secret=secret, json_out=json_out, accept_exposed=accept_exposed, **limits)


def _run(
    word: str, file: Path, how: Any, *, secret: str | None, json_out: Path | None, accept_exposed: bool, **limits: Any
) -> None:
    """Change the numbers, refuse what is exposed, show the rest; the result goes neither over the table nor over the key."""
    from reticent.jobs.jj import change_jj

    check_answer(json_out, (file, None if secret is None else Path(secret)))
    with progress_bar(word) as progress:
        found = change_jj(file, how, secret=_secret(secret), progress=progress, **limits)
    found.require(accept_exposed=accept_exposed)
    _show(found.summary(), json_out)


def _secret(text: str | None) -> int | Path | None:
    """A whole number or a key file; the job judges it."""
    if text is None:
        return None
    return int(text) if text.removeprefix("-").isdecimal() else Path(text)


def _show(found: dict[str, Any], json_out: Path | None) -> None:
    from reticent.base.words import number

    console = open_console()
    for name, value in found.items():
        if name not in ("values", "intervals", "exposed", "exact"):
            console.print(f"{name:>10}  {number(value)}", soft_wrap=True)
    attacked, exposed = len(found["intervals"]), len(found["exposed"])
    if exposed:
        console.print(
            f"{exposed} of {attacked} attacked cells are exposed: do not publish this table.", style="bold red"
        )
    else:
        console.print(f"{attacked} cells attacked with all relations, none exposed.", style="green")
    if json_out:
        give_answer(found, json_out)
        console.print(tagged("written", "dim", f" {json_out.name}"))
