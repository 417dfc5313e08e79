"""The command `reticent`: one module per command, errors as one sentence, exit codes from the exception tree."""

import importlib
import sys

import typer

from reticent.base.errors import AdditivityError, ReticentError
from reticent.base.version import VERSION

# Each module in reticent.cli has `register(app)`, which adds its commands.
COMMAND_MODULES: tuple[str, ...] = (
    "argus",
    "ask",
    "attack",
    "delegate",
    "demo",
    "describe",
    "explore",
    "game",
    "link",
    "new",
    "perturb",
    "protect",
    "querylog",
    "risk",
    "suppress",
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
        typer.echo(f"reticent {VERSION}")
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
    """Run the command line; an error is one line on standard error, never a traceback (unless `--debug` asks for it)."""
    debug = "--debug" in sys.argv
    try:
        code = app(standalone_mode=False)
        if code == STOPPED[1]:  # the command-line library has caught Ctrl-C and says nothing
            raise KeyboardInterrupt
    except Exception as err:  # the last place where an error can be told in words
        if debug:
            raise
        sentence, code = _told(err)
        typer.echo(f"reticent: {sentence}", err=True)
        if isinstance(err, AdditivityError):  # whoever must correct them needs all of them
            for line in err.violations:
                typer.echo(f"  {line}", err=True)
    except KeyboardInterrupt:
        sentence, code = STOPPED
        typer.echo(f"reticent: {sentence}", err=True)
    raise SystemExit(code if isinstance(code, int) else 0)


STOPPED = ("stopped; nothing was half-written.", 130)


def _told(err: Exception) -> tuple[str, int]:
    """An error as one line and its exit code. Words of errors that are not ours may show values: they stay inside."""
    if isinstance(err, ReticentError):
        return " ".join(str(err).split()), err.exit_code
    if type(err).__name__ == "Abort":  # Ctrl-C, as the command-line library reports it
        return STOPPED
    format_message = getattr(err, "format_message", None)
    if callable(format_message):  # a mistake in the command itself
        words = " ".join(str(format_message()).split())
        return words + ("" if words.endswith((".", "?")) else ".") + " See reticent --help.", int(
            getattr(err, "exit_code", 2)
        )
    if isinstance(err, MemoryError):
        return "the data do not fit in memory.", 1
    return f"unexpected {type(err).__name__}; this is a mistake in reticent, run again with --debug to see where.", 1
