"""Runs batch files of tau-ARGUS unchanged: the same commands in the same order, our methods and our attacker behind."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from reticent import __version__
from reticent.base.errors import DataError, NotProtectedError, PlanError, ReticentError
from reticent.base.progress import Progress, part, silent
from reticent.data.microdata import Microdata
from reticent.data.parameters import build
from reticent.data.table import DimensionSpec, Table, TableSpec
from reticent.data.table_plan import BoundsOptions
from reticent.io.argus_batch import Call, Command, Specification, read_batch
from reticent.io.argus_grc import read_grc
from reticent.io.argus_hst import read_hst
from reticent.io.argus_rda import read_rda
from reticent.io.argus_table_rda import TableMetadata, read_table_rda
from reticent.io.argus_text import Notes, find_file
from reticent.io.atomic import write_text
from reticent.io.finished import read_finished
from reticent.io.read import load_microdata
from reticent.jobs.argus_output import write_argus_table
from reticent.jobs.argus_recode import recode
from reticent.jobs.protect_table import ProtectedTable, run_tables
from reticent.tables.apriori import Entry, Knowledge, apply_entries
from reticent.tables.methods import TABLE_METHODS, PrimaryOnly, TableMethod
from reticent.tables.protection import judge_cells
from reticent.tables.rules import PQ, Dominance, Manual, PPercent, Request, Rule, Threshold, Unit, Zero
from reticent.tabulation.finished import finished_table
from reticent.tabulation.linked import link
from reticent.tabulation.tabulate import tabulate

NAMES = {"GH": "hypercube", "MOD": "modular", "OPT": "optimal", "NET": "network", "RND": "round", "CTA": "adjust"}
USED = {"GH": 1, "MOD": 2, "OPT": 2, "NET": 1, "RND": 4, "CTA": 1}
"""How many of the numbers of a call mean something here; the log says so when there are more."""
COSTS = {"-1": "frequency", "-2": "unity", "-3": "distance"}
MINUTE = 60.0


@dataclass
class _Job:
    """One <SPECIFYTABLE> and all that was said about it."""

    specification: Specification
    where: str
    calls: tuple[Call, ...] = ()
    levels: dict[str, int] = field(default_factory=dict)
    data: Microdata | None = None
    finished: Table | None = None
    declared: tuple[Entry, ...] = ()
    entries: list[Entry] = field(default_factory=list)
    ignore_errors: bool = False
    expand: bool = True
    result: ProtectedTable | None = None
    number: int = 0

    def flag(self, name: str) -> bool:
        """Whether WGT(1) or MIS(1) was given."""
        return any(call.name == name and call.numbers[0] > 0 for call in self.calls)


@dataclass(frozen=True)
class BatchResult:
    """What a batch run did: its log, the files it wrote, and the protected tables by number."""

    log: tuple[str, ...]
    files: tuple[Path, ...]
    tables: dict[int, ProtectedTable]

    def __repr__(self) -> str:
        return f"<BatchResult: {len(self.tables)} tables protected, {len(self.files)} files written>"


def run_batch(
    path: Path, *, data: Path | None = None, output: Path | None = None, accept_exposed: bool = False,
    progress: Progress = silent,
) -> BatchResult:  # fmt: skip
    """Run a batch file. Files are read from `data` and written to `output` (default: the batch file's folder).

    A table that the attacker can open is not written in a publishable form, unless `accept_exposed`.
    """
    path = Path(path)
    commands = read_batch(path)
    run = _Run(data or path.parent, output or path.parent, accept_exposed)
    for number, command in enumerate(commands):
        within = part(progress, number / len(commands), (number + 1) / len(commands))
        within(0.0, command.name)
        try:
            if run.step(command, within):
                run.describe()
                break
        except ReticentError as err:
            run.say(f"stopped: {err}")
            run.finish()
            if str(err).startswith(command.where):
                raise
            err.args = (f"{command.where}: {err}", *err.args[1:])
            raise
    return run.finish()


class _Run:
    """The state of a batch run."""

    def __init__(self, folder: Path, output: Path, accept_exposed: bool) -> None:
        self.folder, self.output, self.accept_exposed = folder, output, accept_exposed
        self.notes = Notes()
        self.log: list[str] = []
        self.files: list[Path] = []
        self.microdata_file: str | None = None
        self.table_files: list[str] = []
        self.metadata: list[str] = []
        self.jobs: list[_Job] = []
        self.microdata: Microdata | None = None
        self.requests: dict[str, tuple[str, ...]] = {}
        self.table_metadata: list[TableMetadata] = []
        self.logbook: str | None = None

    def say(self, line: str) -> None:
        """Add a line to the log."""
        self.log.append(line)

    def describe(self) -> None:
        """Say what the tables that were not protected look like."""
        for number, job in enumerate(self.jobs, start=1):
            if job.result is None and (job.data is not None or job.finished is not None):
                table = self._table(job)
                unsafe = int(self._knowledge([job], [table], self._rules(job)).verdict.primary.sum())
                self.say(f"Table {number}: {table!r}, {unsafe} unsafe.".replace("<", "").replace(">", ""))

    def finish(self) -> BatchResult:
        """Write the log and give everything back."""
        for line in self.notes:
            self.say(f"note: {line}")
        if self.logbook:
            target = self.output / Path(self.logbook).name
            write_text(target, "\n".join(self.log) + "\n")
            self.files.append(target)
        done = {number: job.result for number, job in enumerate(self.jobs, start=1) if job.result is not None}
        return BatchResult(tuple(self.log), tuple(self.files), done)

    def step(self, command: Command, progress: Progress) -> bool:
        """Do one command; true if the batch ends here."""
        name = command.name
        if name in ("COMMENT", "SILENT"):
            return False
        if name == "GOINTERACTIVE":
            self.say("GOINTERACTIVE: there is no window; the batch ends here.")
            return True
        if name == "CLEAR":
            self.__init__(self.folder, self.output, self.accept_exposed)  # type: ignore[misc]
            return False
        if name in ("COVER", "ANCO", "JJ"):
            raise PlanError(f"{command.where}: <{name}> is internal to tau-ARGUS and cannot stand in a batch file.")
        action = getattr(self, f"_do_{name.lower()}")
        action(command, progress)
        return False

    def _do_logbook(self, command: Command, progress: Progress) -> None:
        self.logbook = _file(command)

    def _do_versioninfo(self, command: Command, progress: Progress) -> None:
        target = self.output / Path(_file(command)).name
        write_text(target, f"reticent {__version__}\n")
        self.files.append(target)

    def _do_solver(self, command: Command, progress: Progress) -> None:
        self.say(f"SOLVER {command.text}: the built-in solver is used; no licence is needed.")

    def _do_openmicrodata(self, command: Command, progress: Progress) -> None:
        self.microdata_file, self.table_files = _file(command), []

    def _do_opentabledata(self, command: Command, progress: Progress) -> None:
        self.table_files.append(_file(command))

    def _do_openmetadata(self, command: Command, progress: Progress) -> None:
        self.metadata.append(_file(command))

    def _do_specifytable(self, command: Command, progress: Progress) -> None:
        assert command.specification is not None
        self.jobs.append(_Job(command.specification, command.where))

    def _do_safetyrule(self, command: Command, progress: Progress) -> None:
        if not self.jobs:
            raise PlanError(f"{command.where}: <SAFETYRULE> needs a <SPECIFYTABLE> before it.")
        rules_of_calls(command.calls, holdings=False)  # so that a wrong parameter is told with this line
        self.jobs[-1].calls = command.calls

    def _do_readmicrodata(self, command: Command, progress: Progress) -> None:
        if self.microdata_file is None or not self.metadata:
            raise PlanError(f"{command.where}: <READMICRODATA> needs <OPENMICRODATA> and <OPENMETADATA> before it.")
        if not self.jobs:
            raise PlanError(f"{command.where}: <READMICRODATA> needs a <SPECIFYTABLE> before it.")
        rda = find_file(self.folder, self.metadata[-1], self.notes)
        self.requests = read_rda(rda).requests
        loaded = load_microdata(self.microdata_file, rda, folder=self.folder)
        for line in loaded.notes:
            self.notes.add(line)
        self.microdata = loaded.data
        for job in self.jobs:
            job.data = loaded.data
        self.say(f"READMICRODATA: {loaded.data.n_records} records.")

    def _do_readtable(self, command: Command, progress: Progress) -> None:
        if not self.table_files or not self.metadata:
            raise PlanError(f"{command.where}: <READTABLE> needs <OPENTABLEDATA> and <OPENMETADATA> before it.")
        mode = command.text.strip().upper() or "0"
        if mode not in ("0", "1", "1T", "1F", "2"):
            raise PlanError(f"{command.where}: <READTABLE> takes 0, 1, 1T, 1F or 2, got {mode!r}.")
        if len(self.jobs) < len(self.table_files):
            raise PlanError(
                f"{command.where}: {len(self.table_files)} tables are opened, but {len(self.jobs)} specified."
            )
        for number, (job, name) in enumerate(zip(self.jobs, self.table_files, strict=False)):
            rda = find_file(self.folder, self.metadata[min(number, len(self.metadata) - 1)], self.notes)
            self._read_table(job, find_file(self.folder, name, self.notes), read_table_rda(rda), mode)

    def _read_table(self, job: _Job, path: Path, metadata: TableMetadata, mode: str) -> None:
        wanted = job.specification
        response = wanted.response or next(iter(metadata.names("count")), None)
        if response is None:
            raise DataError(f"{job.where}: the table has no frequency column to count by.")
        columns = [metadata.column(name) for name in wanted.explanatory]
        found = read_finished(
            path, [column.name for column in columns], metadata.options(response),
            trees=[metadata.trees(column.name) for column in columns], totals=[column.total for column in columns],
            response=response, header=metadata.all_names, missing=[column.missing for column in columns],
        )  # fmt: skip
        tolerance = float("inf") if mode == "2" else None
        job.finished = finished_table(found.columns, tolerance=tolerance, complete=mode.startswith("1"))
        keep = not (mode.startswith("1") and mode != "1T")
        job.declared = found.entries if keep or mode == "1" else ()
        for line in (*found.notes, *metadata.notes, *job.finished.notes):
            self.notes.add(line)
        self.say(f"READTABLE: {job.finished.n_cells} cells from {path.name}.")

    def _do_apriori(self, command: Command, progress: Progress) -> None:
        job = self._job(int(command.numbers[0]), command)
        flags = command.numbers[1:]
        job.ignore_errors = bool(flags and flags[0])
        job.expand = len(flags) < 2 or bool(flags[1])
        path = find_file(self.folder, command.files[0], self.notes)
        job.entries += read_hst(path, len(job.specification.explanatory), separator=command.files[1], notes=self.notes)

    def _do_recode(self, command: Command, progress: Progress) -> None:
        job = self._job(int(command.numbers[0]), command)
        if job.data is None:
            raise PlanError(
                f"{command.where}: <RECODE> works on microdata that have been read; use <READMICRODATA> first."
            )
        name = _exact(command.variable, job.data.schema.names)
        if len(command.numbers) > 1:
            job.levels[name] = int(command.numbers[1])
        else:
            path = find_file(self.folder, command.files[0], self.notes)
            job.data = recode(job.data, name, read_grc(path, self.notes))
        self.say(f"RECODE: {name} in table {int(command.numbers[0])}.")

    def _do_suppress(self, command: Command, progress: Progress) -> None:
        call = command.calls[0]
        number = int(call.numbers[0])
        if call.name == "CKM":
            raise PlanError(
                f"{command.where}: the cell key method (CKM) is not available; use GH, MOD, OPT, NET, RND or CTA."
            )
        if number == 0 and call.name not in ("GH", "MOD"):
            raise PlanError(f"{command.where}: linked tables (0) are protected by GH or MOD.")
        jobs = self.jobs if number == 0 else [self._job(number, command)]
        method, limit = self._method(call)
        result = self._protect(jobs, method, limit, progress)
        for at, job in enumerate(jobs):
            job.result, job.number = result, at
        self.say(f"SUPPRESS {call.name}: {result!r}"[:-1].replace("<", "") + f", method {result.method}.")

    def _method(self, call: Call) -> tuple[TableMethod, float]:
        """Our method for one of tau-ARGUS, with its time limit in seconds."""
        name, numbers = NAMES[call.name], call.numbers
        if len(numbers) > USED[call.name]:
            self.say(
                f"{call.name}: the options after the first {USED[call.name]} are not used; singletons are always guarded."
            )
        options: dict[str, object] = {}
        limit = 10 * MINUTE
        if call.name == "RND":
            options = {"base": numbers[1], "steps": int(numbers[2]) if len(numbers) > 2 else 0}
            limit = numbers[3] * MINUTE if len(numbers) > 3 and numbers[3] > 0 else limit
        elif call.name in ("OPT", "MOD") and len(numbers) > 1 and numbers[1] > 0:
            limit = numbers[1] * MINUTE
        method: TableMethod = build(TABLE_METHODS[name], options, owner=f"{call.name}")
        return method, limit

    def _protect(self, jobs: Sequence[_Job], method: TableMethod, limit: float, progress: Progress) -> ProtectedTable:
        tables = [self._table(job) for job in jobs]
        rules = tuple(dict.fromkeys(rule for job in jobs for rule in self._rules(job)))
        knowledge = self._knowledge(jobs, tables, rules)
        return run_tables(
            tables, rules=rules, method=method, bounds=BoundsOptions(), cost=_cost(jobs[0], tables[0]),
            knowledge=knowledge, time_limit=limit, secret=0, progress=progress,
        )  # fmt: skip

    def _table(self, job: _Job) -> Table:
        if job.finished is not None:
            return replace(job.finished, missing_safe=job.flag("MIS"))
        if job.data is None:
            raise PlanError(
                f"{job.where}: the data of this table have not been read; use <READMICRODATA> or <READTABLE>."
            )
        data, wanted = job.data, job.specification
        names = data.schema.names
        request = next(iter(self.requests), None) if any(call.name == "REQ" for call in job.calls) else None
        rules = self._rules(job)
        spec = TableSpec(
            tuple(
                DimensionSpec(_exact(name, names), level=job.levels.get(_exact(name, names)))
                for name in wanted.explanatory
            ),
            response=None if wanted.response is None else _exact(wanted.response, names),
            shadow=None if wanted.shadow is None else _exact(wanted.shadow, names),
            cost=_exact(wanted.cost, names) if wanted.cost and wanted.cost not in COSTS else None,
            weighted=job.flag("WGT") and data.schema.weight is not None,
            missing_safe=job.flag("MIS"),
            request=request,
            request_codes=self.requests.get(request or "", ()) or ("1", "2"),
            top=max([2, *(rule.needs_top for rule in rules)]),
            by_record=any(rule.unit == "record" for rule in rules),
        )
        return tabulate(data, spec)

    def _rules(self, job: _Job) -> tuple[Rule, ...]:
        holdings = job.data is not None and job.data.schema.entity is not None
        return rules_of_calls(job.calls, holdings=holdings)

    def _knowledge(self, jobs: Sequence[_Job], tables: Sequence[Table], rules: Sequence[Rule]) -> Knowledge:
        system = link(tables)
        names = system.table.names
        entries = []
        for job, table in zip(jobs, tables, strict=True):
            for entry in (*job.declared, *job.entries):
                given = dict(zip(table.names, entry.codes, strict=True))
                entries.append(replace(entry, codes=tuple(given.get(name, "") for name in names)))
        return apply_entries(
            system.table, system.relations, judge_cells(system.table, rules), entries,
            ignore_errors=any(job.ignore_errors for job in jobs), expand_trivial=all(job.expand for job in jobs),
        )  # fmt: skip

    def _do_writetable(self, command: Command, progress: Progress) -> None:
        job = self._job(int(command.numbers[0]), command)
        if job.result is None:
            job.result, job.number = self._protect([job], PrimaryOnly(), MINUTE, progress), 0
        kind, options = int(command.numbers[1]), dict(command.options)
        confidential = kind in (5, 6) or (kind in (2, 3) and options.get("AS", False)) or kind == 4
        if job.result.exposed and not confidential and not self.accept_exposed:
            raise NotProtectedError(
                f"{command.where}: the attacker recovers {len(job.result.exposed)} cells too closely, so the table was "
                "not written. Add a <SUPPRESS>, or run with --accept-exposed.",
                exposed=len(job.result.exposed),
            )
        written = write_argus_table(job.result, job.number, kind, options, self.output / Path(_file(command)).name)
        self.files += written
        words = "confidential, it has the values of hidden cells" if confidential else "publishable"
        self.say(f"WRITETABLE: {written[0].name} ({words}).")

    def _job(self, number: int, command: Command) -> _Job:
        if not 1 <= number <= len(self.jobs):
            raise PlanError(f"{command.where}: there is no table {number}; {len(self.jobs)} are specified.")
        return self.jobs[number - 1]


def rules_of_calls(calls: Sequence[Call], *, holdings: bool) -> tuple[Rule, ...]:
    """The safety rules of a batch line: the first two P and NK are for records, the next two for holdings."""
    rules: list[Rule] = []
    seen: dict[str, int] = {}
    weighted = any(call.name == "WGT" and call.numbers[0] > 0 for call in calls)
    for call in calls:
        place = seen[call.name] = seen.get(call.name, 0) + 1
        by_holding = place > (2 if call.name in ("P", "NK") else 1)
        unit: Unit = "respondent" if by_holding or not holdings else "record"
        rule = _rule(call, unit, weighted)
        if rule is not None:
            rules.append(rule)
    return tuple(rules)


def _rule(call: Call, unit: Unit, weighted: bool) -> Rule | None:
    numbers = call.numbers
    if call.name == "P" and numbers[0] > 0:
        if len(numbers) == 3:
            return PQ(p=numbers[0], q=numbers[1], coalition=int(numbers[2]), unit=unit)
        return PPercent(p=numbers[0], coalition=int(numbers[1]) if len(numbers) > 1 else 1, unit=unit)
    if call.name == "NK" and numbers[0] > 0 and numbers[1] > 0:
        return Dominance(n=int(numbers[0]), k=numbers[1], unit=unit)
    if call.name == "FREQ" and numbers[0] > 0:
        return Threshold(minimum=int(numbers[0]), protection=numbers[1], weighted=weighted, unit=unit)
    if call.name == "ZERO":
        return Zero(range=numbers[0], unit=unit)
    if call.name == "REQ" and any(numbers[:3]):
        return Request(
            percent1=numbers[0], percent2=numbers[1], minimum=int(numbers[2]), protection=numbers[3], unit=unit
        )
    return Manual(protection=numbers[0]) if call.name == "MAN" else None


def _cost(job: _Job, table: Table) -> str:
    given, power = job.specification.cost, job.specification.power
    name = COSTS.get(given or "", given or "value")
    if name not in table.respondents.measures and given is not None and name not in COSTS.values():
        name = next((m for m in table.respondents.measures if m.lower() == name.lower()), "value")
    return name if power is None or power == 1 else f"{name}^{power:g}"


def _exact(name: str, names: Sequence[str]) -> str:
    """The name as the metadata write it; ARGUS does not mind upper and lower case."""
    return next((known for known in names if known.lower() == name.lower()), name)


def _file(command: Command) -> str:
    if not command.files:
        raise PlanError(f"{command.where}: <{command.name}> needs a file name.")
    return command.files[0].replace("\\", "/")
