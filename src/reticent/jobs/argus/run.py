# SPDX-License-Identifier: Apache-2.0
"""Runs batch files of tau-ARGUS unchanged: the same commands in the same order, our methods and our attacker behind."""

from collections.abc import Callable, Sequence
from pathlib import Path

from reticent.base.errors import DataError, PlanError, ReticentError
from reticent.base.progress import Progress, part, silent
from reticent.base.randomness import Source, release_secret
from reticent.base.version import VERSION
from reticent.data.microdata import Microdata
from reticent.io.argus_batch import Command, commands_of, read_batch
from reticent.io.atomic import write_text
from reticent.jobs.argus.check import check_batch
from reticent.jobs.argus.finished import read_tables
from reticent.jobs.argus.protecting import suppress, write_table
from reticent.jobs.argus.reading import (
    open_metadata,
    open_microdata,
    open_table,
    read_a_priori,
    read_microdata,
    recode_variable,
    safety_rule,
    specify_table,
)
from reticent.jobs.argus.state import Batch, BatchResult, Places, file_of
from reticent.tables.perturb.secrets import secret_notes


def run_batch(
    batch: Path | Sequence[str],
    *,
    data: Path | Microdata | None = None,
    output: Path | None = None,
    accept_exposed: bool = False,
    secret: Source = None,
    test_secret: bool = False,
    progress: Progress = silent,
) -> BatchResult:
    """Run a batch file. Files are read from `data` and written to `output` (default: the batch file's folder).

    The batch may also be its lines; it then reads and writes in the folder where the program runs, unless told otherwise.
    `data` may be the records themselves: <READMICRODATA> takes them, and the batch opens no microdata and no metadata.

    What cannot be done (a file that is not there, an output type that a method does not have, holdings that nobody
    counted) is an error before anything is written. A table that the attacker can open is not written in a publishable
    form, unless `accept_exposed`. Methods that draw (CTA) need a `secret` that is kept.
    """
    path = Path(batch) if isinstance(batch, str | Path) else None
    commands = commands_of(batch) if path is None else read_batch(path)  # type: ignore[arg-type]
    owner = "batch" if path is None else path.name
    kept = None if secret is None else release_secret(secret, test=test_secret, owner=owner)
    beside = Path.cwd() if path is None else path.resolve().parent
    records = data if isinstance(data, Microdata) else None
    folder = beside if data is None or isinstance(data, Microdata) else Path(data)
    if not folder.is_dir():  # a misspelt folder must not end in data that lie beside the batch
        raise DataError(f"{owner}: the folder {folder.name!r} to read from does not exist; name one that does.")
    places = Places(folder.resolve(), Path(output or beside).resolve(), beside)
    run = Batch(places, accept_exposed, kept, records=records)
    check_batch(commands, run.find, output=places.output, secret=kept, batch=path, records=records)
    for note in () if kept is None else secret_notes(kept):
        run.notes.add(note)
    for number, command in enumerate(commands):
        within = part(progress, number / len(commands), (number + 1) / len(commands))
        within(0.0, command.name)
        try:
            if _step(run, command, within):
                run.describe()
                break
        except ReticentError as err:
            run.say(f"stopped: {err.at(command.where)}")
            run.finish()
            raise
    return run.finish()


def _step(batch: Batch, command: Command, progress: Progress) -> bool:
    """Do one command; true if the batch ends here."""
    name = command.name
    if name in ("COMMENT", "SILENT"):
        return False
    if name == "GOINTERACTIVE":
        batch.say("GOINTERACTIVE: there is no window; the batch ends here.")
        return True
    if name in ("COVER", "ANCO", "JJ"):
        raise PlanError(f"<{name}> is internal to tau-ARGUS and cannot be in a batch file.")
    if name in _WORK:
        _WORK[name](batch, command, progress)
    else:
        _SAY[name](batch, command)
    return False


def _clear(batch: Batch, command: Command) -> None:
    batch.clear()
    batch.say(
        "CLEAR: data, metadata and tables are forgotten; what is written later is not attacked together with them."
    )


def _logbook(batch: Batch, command: Command) -> None:
    batch.logbook = file_of(command)


def _version(batch: Batch, command: Command) -> None:
    target = batch.target(command)
    write_text(target, f"reticent {VERSION}\n")
    batch.files.append(target)


def _solver(batch: Batch, command: Command) -> None:
    batch.say(f"SOLVER {command.text}: the built-in solver is used; no licence is needed.")


_SAY: dict[str, Callable[[Batch, Command], None]] = {
    "CLEAR": _clear, "LOGBOOK": _logbook, "VERSIONINFO": _version, "SOLVER": _solver, "OPENMICRODATA": open_microdata,
    "OPENTABLEDATA": open_table, "OPENMETADATA": open_metadata, "SPECIFYTABLE": specify_table, "SAFETYRULE": safety_rule,
    "READMICRODATA": read_microdata, "READTABLE": read_tables, "APRIORI": read_a_priori, "RECODE": recode_variable,
}  # fmt: skip
_WORK: dict[str, Callable[[Batch, Command, Progress], None]] = {"SUPPRESS": suppress, "WRITETABLE": write_table}
