# SPDX-License-Identifier: Apache-2.0
"""What each command of a batch needs of those before it: the batch alone tells, so it is said before anything is written."""

from collections.abc import Callable
from dataclasses import dataclass, field

from reticent.base.errors import PlanError
from reticent.io.argus_batch import Command, Specification
from reticent.jobs.argus.methods import choose
from reticent.jobs.argus.rules import rules_of_calls


@dataclass(eq=False)
class SaidTable:
    """One <SPECIFYTABLE>: from where it was read, and the <SUPPRESS> that protected it."""

    specification: Specification
    where: str
    read: str = ""
    protected: Command | None = None


@dataclass
class Said:
    """What has been said so far, as far as the order of commands depends on it; `given` records need not be opened."""

    given: bool = False
    microdata: str | None = None
    table_files: list[str] = field(default_factory=list)
    metadata: list[str] = field(default_factory=list)
    tables: list[SaidTable] = field(default_factory=list)

    def table(self, number: float) -> SaidTable:
        """A table by its number."""
        if not 1 <= int(number) <= len(self.tables):
            raise PlanError(f"there is no table {int(number)}; {len(self.tables)} are specified.")
        return self.tables[int(number) - 1]

    def add(self, command: Command) -> None:
        """Note a command; one that cannot be done in this place is an error."""
        if command.name in _ADD:
            _ADD[command.name](self, command)


def _open_microdata(said: Said, command: Command) -> None:
    if said.given:
        words = "the records are given already; leave out <OPENMICRODATA> and <OPENMETADATA>."
        raise PlanError(f"{command.files[0]}: {words}")
    if said.tables or said.table_files:
        raise PlanError("<OPENMICRODATA> comes before all tables; use <CLEAR> to start again.")
    said.microdata = command.files[0]


def _open_table(said: Said, command: Command) -> None:
    if said.microdata is not None:
        raise PlanError("tables come from microdata or from table files; use <CLEAR> between.")
    said.table_files.append(command.files[0])


def _open_metadata(said: Said, command: Command) -> None:
    if said.microdata is None and not said.table_files:
        raise PlanError("<OPENMETADATA> needs <OPENMICRODATA> or <OPENTABLEDATA> before it.")
    said.metadata.append(command.files[0])


def _specify(said: Said, command: Command) -> None:
    assert command.specification is not None
    said.tables.append(SaidTable(command.specification, command.where))


def _rules(said: Said, command: Command) -> None:
    if not said.tables:
        raise PlanError("<SAFETYRULE> needs a <SPECIFYTABLE> before it.")
    rules_of_calls(command.calls, holdings=False)


def _read_microdata(said: Said, command: Command) -> None:
    if not said.given and (said.microdata is None or not said.metadata):
        raise PlanError("<READMICRODATA> needs <OPENMICRODATA> and <OPENMETADATA> before it.")
    if not said.tables:
        raise PlanError("<READMICRODATA> needs a <SPECIFYTABLE> before it.")
    _read(said, command)


def _read_tables(said: Said, command: Command) -> None:
    if not said.table_files or not said.metadata:
        raise PlanError("<READTABLE> needs <OPENTABLEDATA> and <OPENMETADATA> before it.")
    if len(said.tables) != len(said.table_files):
        raise PlanError(f"{len(said.table_files)} tables are opened, but {len(said.tables)} specified.")
    _read(said, command)


def _read(said: Said, command: Command) -> None:
    for table in said.tables:
        table.read = command.name


def _a_priori(said: Said, command: Command) -> None:
    table = said.table(command.numbers[0])
    if not table.read:
        raise PlanError("<APRIORI> needs <READMICRODATA> or <READTABLE> before it.")
    for other in said.tables:  # what was protected together is to be protected again
        if other is table or (table.protected is not None and other.protected is table.protected):
            other.protected = None


def _recode(said: Said, command: Command) -> None:
    table = said.table(command.numbers[0])
    if table.read != "READMICRODATA":
        raise PlanError("<RECODE> works on microdata that have been read; use <READMICRODATA> first.")
    if table.protected is not None:
        raise PlanError("<RECODE> comes before <SUPPRESS>; this table is protected already.")
    names = table.specification.explanatory
    if command.variable.lower() not in (name.lower() for name in names):
        raise PlanError(
            f"table {int(command.numbers[0])} has no variable {command.variable!r}; it has {', '.join(names)}."
        )


def _suppress(said: Said, command: Command) -> None:
    call = command.calls[0]
    number = int(call.numbers[0])
    if number == 0 and call.name not in ("GH", "MOD"):
        raise PlanError("linked tables (0) are protected by GH or MOD.")
    if number == 0 and not said.tables:
        raise PlanError("there is no table; use <SPECIFYTABLE> first.")
    tables = said.tables if number == 0 else [said.table(number)]
    _check_read(tables)
    if call.name != "CKM":
        choose(call)
    elif tables[0].read == "READTABLE":
        raise PlanError("CKM: cell keys come from records; a finished table has none. Use microdata.")
    for table in tables:
        table.protected = command


def _write(said: Said, command: Command) -> None:
    _check_read([said.table(command.numbers[0])])


def _check_read(tables: list[SaidTable]) -> None:
    for table in tables:
        if not table.read:
            words = "the data of this table have not been read; use <READMICRODATA> or <READTABLE>."
            raise PlanError(words).at(table.where)


_ADD: dict[str, Callable[[Said, Command], None]] = {
    "OPENMICRODATA": _open_microdata, "OPENTABLEDATA": _open_table, "OPENMETADATA": _open_metadata,
    "SPECIFYTABLE": _specify, "SAFETYRULE": _rules, "READMICRODATA": _read_microdata, "READTABLE": _read_tables,
    "APRIORI": _a_priori, "RECODE": _recode, "SUPPRESS": _suppress, "WRITETABLE": _write,
}  # fmt: skip
