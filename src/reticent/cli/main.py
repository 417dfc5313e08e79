# SPDX-License-Identifier: Apache-2.0
"""The command `reticent`: one module per command, errors as one sentence, exit codes from the exception tree."""

import importlib
import sys
from pathlib import Path

import typer

from reticent.base.errors import AdditivityError, DataError, ReticentError
from reticent.base.version import VERSION
from reticent.cli.screen import switches, take_switches

# Each module in reticent.cli has `register(app)`, which adds its commands; help lists them under these headings.
COMMAND_MODULES: dict[str, tuple[str, ...]] = {
    "Files": ("describe", "risk", "plan", "protect", "explore", "link", "querylog"),
    "Tables": ("table", "suppress", "perturb"),
    "Releases": ("release", "ledger"),
    "Queries": ("ask", "attack", "game", "delegate"),
    "Batch": ("argus",),
    "Project": ("new", "open", "demo", "doctor"),
}

app = typer.Typer(
    name="reticent",
    help="Statistical disclosure control: nothing is called safe until it has been attacked.",
    epilog="Begin with: reticent demo. With data of your own: reticent plan DATA, then do what it prints.",
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
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Show nothing but errors."),
    verbose: bool = typer.Option(False, "--verbose", help="Log each stage of the work on standard error."),
    debug: bool = typer.Option(False, "--debug", help="Show the traceback of an error."),
) -> None:
    """Options of every command, before or after its name (`run` takes them before the command is read)."""


def _register(panel: str, module: str) -> None:
    """Add the commands of a module under a heading of the help."""
    before = len(app.registered_commands), len(app.registered_groups)
    importlib.import_module(f"reticent.cli.{module}").register(app)
    for command in app.registered_commands[before[0] :]:
        command.rich_help_panel = panel
    for group in app.registered_groups[before[1] :]:
        group.rich_help_panel = panel


for _panel, _modules in COMMAND_MODULES.items():
    for _module in _modules:
        _register(_panel, _module)


def run() -> None:
    """Run the command line; an error is one line on standard error, never a traceback (unless `--debug` asks for it)."""
    words = take_switches(sys.argv[1:]) or ["--help"]
    try:
        code = app(words, standalone_mode=False)
        if code == STOPPED[1]:  # the command-line library has caught Ctrl-C and says nothing
            raise KeyboardInterrupt
    except Exception as err:  # the last place where an error can be told in words
        if switches.debug:
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
    if isinstance(err, OSError) and err.strerror and isinstance(err.filename, str):
        return f"{Path(err.filename).name[:40]}: the operating system refuses it: {err.strerror}.", DataError.exit_code
    return f"unexpected {type(err).__name__}; this is a mistake in reticent, run again with --debug to see where.", 1
