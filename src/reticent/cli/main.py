"""The command `reticent`: one module per command, errors as one sentence, exit codes from the exception tree."""

import importlib
import sys

import typer

from reticent import __version__
from reticent.base.errors import ReticentError

# Each module in reticent.cli has `register(app)`, which adds its commands.
COMMAND_MODULES: tuple[str, ...] = (
    "describe",
    "new",
    "explore",
    "perturb",
    "protect",
    "risk",
    "table",
)

app = typer.Typer(
    name="reticent",
    help="Statistical disclosure control: nothing is called safe until it has been attacked.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"reticent {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Show the version."),
    debug: bool = typer.Option(False, "--debug", help="Show the traceback of an error."),
) -> None:
    """Options of every command (`--debug` is read by `run`, which sees the errors)."""


for _module in COMMAND_MODULES:
    importlib.import_module(f"reticent.cli.{_module}").register(app)


def run() -> None:
    """Run the command line; a user's error is one line on standard error, never a traceback."""
    debug = "--debug" in sys.argv
    try:
        app(standalone_mode=True)
    except ReticentError as err:
        if debug:
            raise
        typer.echo(f"reticent: {err}", err=True)
        raise SystemExit(err.exit_code) from None
    except Exception as err:
        if debug:
            raise
        typer.echo(
            f"reticent: internal error ({type(err).__name__}); nothing was written. Report it with --debug.", err=True
        )
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        typer.echo("reticent: stopped; nothing was half-written.", err=True)
        raise SystemExit(130) from None
