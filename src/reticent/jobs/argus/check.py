# SPDX-License-Identifier: Apache-2.0
"""What a batch run cannot do is said before it writes anything: files, tables, methods and output types that do not fit."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from reticent.base.errors import DataError, PlanError
from reticent.base.randomness import Secret
from reticent.io.argus_batch import Call, Command
from reticent.io.argus_rda import read_rda
from reticent.io.places import check_apart
from reticent.jobs.argus.methods import NAMES
from reticent.jobs.argus.rules import rules_of_calls
from reticent.tables.methods import Adjust
from reticent.tables.perturb.secrets import secret_for

READS = ("OPENMICRODATA", "OPENTABLEDATA", "OPENMETADATA", "APRIORI", "RECODE")
METHODS = {**NAMES, "RND": "round", "CKM": "cell-key"}
FORBIDDEN = {("adjust", 4), ("adjust", 5), ("round", 6), ("cell-key", 4), ("cell-key", 5)}
"""Output types that need the true values beside hidden cells; a method that changes values has none."""
Find = Callable[[str], Path]


def check_output(method: str, kind: int) -> None:
    """Refuse an output type that a method does not have."""
    if (method, kind) in FORBIDDEN:
        raise PlanError(f"WRITETABLE: type {kind} cannot be written for a table that was changed by {method!r}.")
    if kind == 7 and method != "cell-key":
        raise PlanError("WRITETABLE: type 7 is for tables made by the cell key method; use <SUPPRESS> CKM first.")


def no_holdings() -> PlanError:
    """The error of HI+ where holdings are not known."""
    return PlanError("WRITETABLE: HI+ needs holdings; no variable of the data has <HOLDING>, or no rule uses records.")


@dataclass
class _State:
    """What has been said so far, as far as later commands depend on it."""

    methods: list[str] = field(default_factory=list)
    calls: list[tuple[Call, ...]] = field(default_factory=list)
    metadata: str | None = None
    finished: bool = False
    microdata: bool = False
    read: bool = False
    written: set[str] = field(default_factory=set)
    inputs: list[Path] = field(default_factory=list)


def check_batch(
    commands: Sequence[Command], find: Find, *, output: Path, secret: Secret | None, batch: Path | None = None
) -> None:
    """Go through all commands without doing them; what a later one cannot do is an error with its line."""
    state = _State(inputs=[] if batch is None else [batch])
    for command in commands:
        if command.name == "GOINTERACTIVE":
            return
        try:
            _look(command, state, find, output, secret)
        except (PlanError, DataError) as err:
            err.at(command.where)
            raise


def _look(command: Command, state: _State, find: Find, output: Path, secret: Secret | None) -> None:
    name = command.name
    if name in READS and command.files and not _out_of_order(name, state):
        _check_there(command.files[0], state, find)
    if name == "CLEAR":
        state.methods, state.calls, state.metadata = [], [], None
        state.finished = state.microdata = state.read = False
    elif name == "OPENMICRODATA":
        state.microdata = True
    elif name in ("READMICRODATA", "READTABLE"):
        state.read = True
    elif name == "OPENMETADATA":
        state.metadata = command.files[0]
    elif name == "OPENTABLEDATA":
        state.finished = True
    elif name == "SPECIFYTABLE":
        state.methods.append("primary-only")
        state.calls.append(())
    elif name == "SAFETYRULE" and state.calls:
        state.calls[-1] = command.calls
    elif name == "SUPPRESS":
        _suppress(command, state, secret)
    elif name == "WRITETABLE":
        _write(command, state, find)
    if name in ("WRITETABLE", "LOGBOOK", "VERSIONINFO"):
        if not output.is_dir():
            raise DataError(f"the folder {str(output)!r} to write to does not exist; make it first.")
        _check_apart(command, state, output)


def _check_apart(command: Command, state: _State, output: Path) -> None:
    """Nothing is written over what was read; types 5 and 7 write metadata beside the table."""
    if not command.files:
        return
    target = output / PurePosixPath(command.files[0].replace("\\", "/")).name
    described = command.name == "WRITETABLE" and int(command.numbers[1]) in (5, 7)
    check_apart([target, *([target.with_suffix(".rda")] if described else [])], state.inputs)


def _out_of_order(name: str, state: _State) -> bool:
    """Whether the run refuses the command for its place, whatever file it names."""
    return (name in ("APRIORI", "RECODE") and not state.read) or (name == "OPENTABLEDATA" and state.microdata)


def _check_there(name: str, state: _State, find: Find) -> None:
    """A file must be there, unless this batch writes it before."""
    if _stem(name) not in state.written:
        state.inputs.append(find(name))


def _stem(name: str) -> str:
    return PurePosixPath(name.replace("\\", "/")).stem.lower()


def _suppress(command: Command, state: _State, secret: Secret | None) -> None:
    call = command.calls[0]
    number = int(call.numbers[0])
    if call.name == "CTA" and secret is None:
        secret_for(Adjust(), None)
    if not 0 <= number <= len(state.methods):
        raise PlanError(f"there is no table {number}; {len(state.methods)} are specified.")
    for at in range(len(state.methods)) if number == 0 else (number - 1,):
        state.methods[at] = METHODS[call.name]


def _write(command: Command, state: _State, find: Find) -> None:
    number, kind = int(command.numbers[0]), int(command.numbers[1])
    if not 1 <= number <= len(state.methods):
        raise PlanError(f"there is no table {number}; {len(state.methods)} are specified.")
    check_output(state.methods[number - 1], kind)
    if kind == 5 and dict(command.options).get("HI", False) and not _has_holdings(state, number, find):
        raise no_holdings()
    state.written.add(_stem(command.files[0]))


def _has_holdings(state: _State, number: int, find: Find) -> bool:
    """Whether the data have holdings and a rule looks at records, so that both are counted."""
    if state.finished or state.metadata is None or _stem(state.metadata) in state.written:
        return False
    holdings = read_rda(find(state.metadata)).schema.entity is not None
    return holdings and any(rule.unit == "record" for rule in rules_of_calls(state.calls[number - 1], holdings=True))
