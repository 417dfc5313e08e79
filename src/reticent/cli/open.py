# SPDX-License-Identifier: Apache-2.0
"""`reticent open`: the workbench in a browser, on this machine only."""

import gc
from pathlib import Path

import typer

from reticent.base.optional import need


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("open")(open_workbench)


def open_workbench(
    target: Path | None = typer.Argument(None, help="Data file or plan; without one, an empty project in this folder."),
    port: int = typer.Option(0, "--port", min=0, max=65535, help="Port on this machine (default: a free one)."),
    browser: bool = typer.Option(True, "--browser/--no-browser", help="Open the browser, or print the address only."),
) -> None:
    """Open the workbench: describe, plan, protect and attack in a browser; each click is a line of the plan file."""
    need("fastapi", extra="workbench", purpose="the workbench")
    gc.disable()  # nothing of what modules make is garbage, and finding that out takes a sixth of the start
    from reticent.workbench.server import serve

    gc.enable()
    serve(target, say=typer.echo, port=port, browser=browser)
