# SPDX-License-Identifier: Apache-2.0
"""A progress bar that appears only when the work takes longer than two seconds."""

import contextlib
import time
from collections.abc import Iterator

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from reticent.base.compiled import NOTICE, compiled
from reticent.base.progress import Progress as Reporter
from reticent.cli.screen import log, switches

PATIENCE = 2.0


@contextlib.contextmanager
def progress_bar(title: str) -> Iterator[Reporter]:
    """Give a `Progress` to a job; the bar goes to standard error and leaves no trace when done."""
    console = Console(stderr=True, quiet=switches.quiet)
    if console.is_terminal and not compiled():
        console.print(NOTICE, style="dim", highlight=False)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
    )
    bar = Progress(*columns, console=console, transient=True)
    task = bar.add_task(title, total=1.0)
    started = time.monotonic()
    shown, stage = False, ""

    def report(share: float, what: str = "") -> None:
        nonlocal shown, stage
        if what != stage:
            stage = what
            log(f"{title}: {what}")
        if not shown and time.monotonic() - started > PATIENCE and console.is_terminal:
            bar.start()
            shown = True
        bar.update(task, completed=share, description=f"{title}: {what}" if what else title)

    try:
        yield report
    finally:
        if shown:
            bar.stop()
