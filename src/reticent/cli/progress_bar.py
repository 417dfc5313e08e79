"""A progress bar that appears only when the work takes longer than two seconds."""

import contextlib
import time
from collections.abc import Iterator

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from reticent.base.progress import Progress as Reporter

PATIENCE = 2.0


@contextlib.contextmanager
def progress_bar(title: str) -> Iterator[Reporter]:
    """Give a `Progress` to a job; the bar goes to standard error and leaves no trace when done."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
    )
    bar = Progress(*columns, console=console, transient=True)
    task = bar.add_task(title, total=1.0)
    started = time.monotonic()
    shown = False

    def report(share: float, what: str = "") -> None:
        nonlocal shown
        if not shown and time.monotonic() - started > PATIENCE and console.is_terminal:
            bar.start()
            shown = True
        bar.update(task, completed=share, description=f"{title}: {what}" if what else title)

    try:
        yield report
    finally:
        if shown:
            bar.stop()
