# SPDX-License-Identifier: Apache-2.0
"""What a batch run cannot do is said before it writes anything: files, tables, methods and output types that do not fit."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from reticent.base.errors import DataError, ParameterError, PlanError
from reticent.base.randomness import Secret
from reticent.data.microdata import Microdata
from reticent.io.argus_batch import Call, Command
from reticent.io.argus_rda import read_rda
from reticent.io.places import check_apart, check_places
from reticent.jobs.argus.ckm import ckm_method
from reticent.jobs.argus.methods import NAMES
from reticent.jobs.argus.order import Said
from reticent.jobs.argus.reading import check_names
from reticent.jobs.argus.rules import rules_of_calls
from reticent.jobs.argus.tables import TableJob, check_flags
from reticent.tables.methods import Adjust
from reticent.tables.perturb.secrets import secret_for
from reticent.tables.rules import Request

READS = ("OPENMICRODATA", "OPENTABLEDATA", "OPENMETADATA", "APRIORI", "RECODE")
METHODS = {**NAMES, "RND": "round", "CKM": "cell-key"}
FORBIDDEN = {("adjust", 4), ("adjust", 5), ("round", 6), ("cell-key", 4), ("cell-key", 5)}
"""Output types that need the true values beside hidden cells; a method that changes values has none."""
Find = Callable[..., Path]


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

    said: Said
    methods: list[str] = field(default_factory=list)
    calls: list[tuple[Call, ...]] = field(default_factory=list)
    written: set[str] = field(default_factory=set)
    inputs: list[Path] = field(default_factory=list)
    outputs: dict[Path, str] = field(default_factory=dict)
    logs: set[Path] = field(default_factory=set)


def check_batch(
    commands: Sequence[Command],
    find: Find,
    *,
    output: Path,
    secret: Secret | None,
    batch: Path | None = None,
    records: Microdata | None = None,
) -> None:
    """Go through all commands without doing them; what a later one cannot do is an error with its line."""
    state = _State(Said(records is not None), inputs=[] if batch is None else [batch])
    for command in commands:
        if command.name == "GOINTERACTIVE":
            break
        try:
            _look(command, state, find, output, secret)
            if command.name == "READMICRODATA":
                _check_variables(state, find, records)
        except (PlanError, DataError, ParameterError) as err:
            err.at(command.where)
            raise
    _check_apart(state)


def _look(command: Command, state: _State, find: Find, output: Path, secret: Secret | None) -> None:
    name = command.name
    state.said.add(command)
    if name in READS and command.files:
        _check_there(command.files[0], state, find)
    if name == "CLEAR":
        state.methods, state.calls, state.said = [], [], Said(state.said.given)
    elif name == "SPECIFYTABLE":
        state.methods.append("primary-only")
        state.calls.append(())
    elif name == "SAFETYRULE":
        state.calls[-1] = command.calls
    elif name == "SUPPRESS":
        _suppress(command, state, secret, find)
    elif name == "WRITETABLE":
        _write(command, state, find)
    if name in ("WRITETABLE", "LOGBOOK", "VERSIONINFO"):
        if not output.is_dir():
            raise DataError(f"the folder {str(output)!r} to write to does not exist; make it first.")
        _note_outputs(command, state, output)


def _check_variables(state: _State, find: Find, records: Microdata | None) -> None:
    """All that a table needs is in the metadata, unless this batch writes these before."""
    if records is not None:
        for table in state.said.tables:
            check_names(table.specification, table.where, records.schema.names)
    elif _stem(state.said.metadata[-1]) not in state.written:
        described = read_rda(find(state.said.metadata[-1]))
        for table, calls in zip(state.said.tables, state.calls, strict=True):
            check_names(table.specification, table.where, described.schema.names)
            job = TableJob(table.specification, table.where, calls)
            asked = any(isinstance(rule, Request) for rule in job.rules)
            check_flags(job, request=asked, requests=described.requests, weight=described.schema.weight)


def _note_outputs(command: Command, state: _State, output: Path) -> None:
    """Types 5 and 7 write metadata beside the table. Folders of other machines are left out, so two names may be one file."""
    target = output / PurePosixPath(command.files[0].replace("\\", "/")).name
    described = command.name == "WRITETABLE" and int(command.numbers[1]) in (5, 7)
    for path in (target, *([target.with_suffix(".rda")] if described else [])):
        if command.name != "LOGBOOK" or path not in state.logs:
            check_places([*state.outputs, path])
        state.outputs[path] = command.where
    if command.name == "LOGBOOK":
        state.logs.add(target)


def _check_apart(state: _State) -> None:
    """Nothing is written over what is read, also by a log that the batch names before its data."""
    for path, where in state.outputs.items():
        try:
            check_apart([path], state.inputs)
        except ParameterError as err:
            err.at(where)
            raise


def _check_there(name: str, state: _State, find: Find) -> None:
    """A file must be there, unless this batch writes it before."""
    if _stem(name) not in state.written:
        state.inputs.append(find(name))


def _stem(name: str) -> str:
    return PurePosixPath(name.replace("\\", "/")).stem.lower()


def _suppress(command: Command, state: _State, secret: Secret | None, find: Find) -> None:
    call = command.calls[0]
    number = int(call.numbers[0])
    if call.name == "CKM" and not state.said.given and _stem(state.said.metadata[-1]) not in state.written:
        _check_cell_keys(call, state, find)
    if call.name == "CTA" and secret is None:
        secret_for(Adjust(), None)
    for at in range(len(state.methods)) if number == 0 else (number - 1,):
        state.methods[at] = METHODS[call.name]


def _check_cell_keys(call: Call, state: _State, find: Find) -> None:
    """The metadata mark what cell keys need, and the p-tables are there."""
    path = find(state.said.metadata[-1])
    described, wanted = read_rda(path), state.said.table(call.numbers[0]).specification

    def found(name: str) -> Path:
        state.inputs.append(find(name, near=path.parent))
        return state.inputs[-1]

    ckm_method(call, wanted.response, described.schema.names, described.ckm, found)


def _write(command: Command, state: _State, find: Find) -> None:
    number, kind = int(command.numbers[0]), int(command.numbers[1])
    check_output(state.methods[number - 1], kind)
    if kind == 5 and dict(command.options).get("HI", False) and not _has_holdings(state, number, find):
        raise no_holdings()
    state.written.add(_stem(command.files[0]))


def _has_holdings(state: _State, number: int, find: Find) -> bool:
    """Whether the data have holdings and a rule looks at records, so that both are counted."""
    said = state.said
    if said.table_files or not said.metadata or _stem(said.metadata[-1]) in state.written:
        return False
    holdings = read_rda(find(said.metadata[-1])).schema.entity is not None
    return holdings and any(rule.unit == "record" for rule in rules_of_calls(state.calls[number - 1], holdings=True))
