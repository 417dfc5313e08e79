"""Runs batch files of tau-ARGUS unchanged: the same commands in the same order, our methods and our attacker behind."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from reticent.base.checks import did_you_mean
from reticent.base.errors import (
    AdditivityError,
    DataError,
    NotProtectedError,
    PlanError,
    ReticentError,
)
from reticent.base.progress import Progress, part, silent
from reticent.base.randomness import Secret, release_secret
from reticent.base.version import VERSION
from reticent.data.microdata import Microdata
from reticent.data.table_plan import BoundsOptions
from reticent.io.argus_batch import COST_CODES, Command, read_batch
from reticent.io.argus_grc import read_grc
from reticent.io.argus_hst import read_hst
from reticent.io.argus_rda import read_rda
from reticent.io.argus_table_rda import TableMetadata, read_table_rda
from reticent.io.argus_text import Notes, find_file
from reticent.io.atomic import write_text
from reticent.io.finished import read_finished
from reticent.io.read import load_microdata
from reticent.jobs.argus_check import check_batch
from reticent.jobs.argus_ckm import ckm_method
from reticent.jobs.argus_methods import Choice, choose, with_minimum
from reticent.jobs.argus_output import MEANING, write_argus_table
from reticent.jobs.argus_recode import recode
from reticent.jobs.argus_release import protect_release
from reticent.jobs.argus_tables import (
    BatchMetadata,
    TableJob,
    exact_name,
    judge_jobs,
    rules_of_calls,
    tables_of,
    with_totals,
)
from reticent.jobs.protect_table import MAX_LISTED, run_tables
from reticent.tables.apriori import EntryGroup
from reticent.tables.methods import PrimaryOnly
from reticent.tables.perturb.secrets import secret_notes
from reticent.tables.result import ProtectedTable
from reticent.tabulation.finished import finished_table

__all__ = ["BatchResult", "rules_of_calls", "run_batch"]


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
    secret: Secret | int | bytes | Path | str | None = None, test_secret: bool = False, progress: Progress = silent,
) -> BatchResult:  # fmt: skip
    """Run a batch file. Files are read from `data` and written to `output` (default: the batch file's folder).

    What cannot be done (a file that is not there, an output type that a method does not have, holdings that nobody
    counted) is an error before anything is written. A table that the attacker can open is not written in a publishable
    form, unless `accept_exposed`. Methods that draw (CTA) need a `secret` that is kept.
    """
    path = Path(path)
    commands = read_batch(path)
    kept = None if secret is None else release_secret(secret, test=test_secret, owner=path.name)
    beside = path.resolve().parent
    run = _Run(Path(data or beside).resolve(), Path(output or beside).resolve(), beside, accept_exposed, kept)
    check_batch(commands, run.find, output=run.output, secret=kept, batch=path)
    for note in () if kept is None else secret_notes(kept):
        run.notes.add(note)
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

    def __init__(self, folder: Path, output: Path, beside: Path, accept_exposed: bool, secret: Secret | None) -> None:
        self.folder, self.output, self.beside = folder, output, beside
        self.accept_exposed, self.secret = accept_exposed, secret
        self.notes = Notes()
        self.log: list[str] = []
        self.files: list[Path] = []
        self.logbook: str | None = None
        self.clear()

    def clear(self) -> None:
        """Forget data, metadata and tables; the log and what was written stay."""
        self.microdata_file: str | None = None
        self.table_files: list[str] = []
        self.metadata: list[str] = []
        self.jobs: list[TableJob] = []
        self.microdata: Microdata | None = None

    def find(self, name: str, near: Path | None = None) -> Path:
        """A file that the batch or its metadata name: near the file that names it, of the data, the batch or written."""
        first = self.folder if near is None else near
        return find_file(first, name, self.notes, also=(self.folder, self.beside, self.output))

    def say(self, line: str) -> None:
        """Add a line to the log."""
        self.log.append(line)

    def describe(self) -> None:
        """Say what the tables that were not protected look like."""
        for number, job in enumerate(self.jobs, start=1):
            if job.result is None and job.is_read:
                tables = tables_of([job])
                unsafe = int(judge_jobs([job], tables)[1].verdict.primary.sum())
                self.say(f"Table {number}: {tables[0]!r}, {unsafe} unsafe.".replace("<", "").replace(">", ""))

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
        if name in ("COVER", "ANCO", "JJ"):
            raise PlanError(f"{command.where}: <{name}> is internal to tau-ARGUS and cannot stand in a batch file.")
        action = getattr(self, f"_do_{name.lower()}")
        action(command, progress)
        return False

    def _do_clear(self, command: Command, progress: Progress) -> None:
        self.clear()
        self.say(
            "CLEAR: data, metadata and tables are forgotten; what is written later is not attacked together with them."
        )

    def _do_logbook(self, command: Command, progress: Progress) -> None:
        self.logbook = _file(command)

    def _do_versioninfo(self, command: Command, progress: Progress) -> None:
        target = self.output / Path(_file(command)).name
        write_text(target, f"reticent {VERSION}\n")
        self.files.append(target)

    def _do_solver(self, command: Command, progress: Progress) -> None:
        self.say(f"SOLVER {command.text}: the built-in solver is used; no licence is needed.")

    def _do_openmicrodata(self, command: Command, progress: Progress) -> None:
        if self.jobs or self.table_files:
            raise PlanError(f"{command.where}: <OPENMICRODATA> comes before all tables; use <CLEAR> to start again.")
        self.microdata_file = _file(command)

    def _do_opentabledata(self, command: Command, progress: Progress) -> None:
        if self.microdata_file is not None:
            raise PlanError(f"{command.where}: tables come from microdata or from table files; use <CLEAR> between.")
        self.table_files.append(_file(command))

    def _do_openmetadata(self, command: Command, progress: Progress) -> None:
        if self.microdata_file is None and not self.table_files:
            raise PlanError(f"{command.where}: <OPENMETADATA> needs <OPENMICRODATA> or <OPENTABLEDATA> before it.")
        self.metadata.append(_file(command))

    def _do_specifytable(self, command: Command, progress: Progress) -> None:
        assert command.specification is not None
        self.jobs.append(TableJob(command.specification, command.where))

    def _do_safetyrule(self, command: Command, progress: Progress) -> None:
        if not self.jobs:
            raise PlanError(f"{command.where}: <SAFETYRULE> needs a <SPECIFYTABLE> before it.")
        rules_of_calls(command.calls, holdings=False)  # so that the error about a wrong parameter names this line
        self.jobs[-1].calls = command.calls

    def _do_readmicrodata(self, command: Command, progress: Progress) -> None:
        if self.microdata_file is None or not self.metadata:
            raise PlanError(f"{command.where}: <READMICRODATA> needs <OPENMICRODATA> and <OPENMETADATA> before it.")
        if not self.jobs:
            raise PlanError(f"{command.where}: <READMICRODATA> needs a <SPECIFYTABLE> before it.")
        rda = self.find(self.metadata[-1])
        described = read_rda(rda)
        loaded = load_microdata(self.find(self.microdata_file), rda)
        for line in loaded.notes:
            self.notes.add(line)
        self.microdata = with_totals(loaded.data, described.totals)
        for job in self.jobs:
            _check_names(job, self.microdata.schema.names)
            job.data = self.microdata
            job.metadata = BatchMetadata(described.requests, described.totals, described.distances, described.ckm)
            self._speak_of_cost(job)
        self.say(f"READMICRODATA: {loaded.data.n_records} records.")

    def _do_readtable(self, command: Command, progress: Progress) -> None:
        if not self.table_files or not self.metadata:
            raise PlanError(f"{command.where}: <READTABLE> needs <OPENTABLEDATA> and <OPENMETADATA> before it.")
        if len(self.jobs) != len(self.table_files):
            raise PlanError(
                f"{command.where}: {len(self.table_files)} tables are opened, but {len(self.jobs)} specified."
            )
        for number, (job, name) in enumerate(zip(self.jobs, self.table_files, strict=True)):
            rda = self.find(self.metadata[min(number, len(self.metadata) - 1)])
            self._read_table(job, self.find(name), read_table_rda(rda), command.text)

    def _read_table(self, job: TableJob, path: Path, metadata: TableMetadata, mode: str) -> None:
        wanted = job.specification
        response = wanted.response or next(iter(metadata.names("count")), None)
        if response is None:
            raise DataError(f"{job.where}: the table has no frequency column to count by.")
        columns = [metadata.column(name) for name in wanted.explanatory]
        shadow = metadata.column(wanted.shadow).name if wanted.shadow else next(iter(metadata.names("shadow")), None)
        priced = wanted.cost or next(iter(metadata.names("cost")), None)
        if priced is not None and priced not in COST_CODES:
            priced = metadata.column(priced).name
        found = read_finished(
            path, [column.name for column in columns], replace(metadata.options(response), cost=None),
            trees=[partial(metadata.trees, column.name) for column in columns],
            totals=[column.total for column in columns], response=metadata.column(response).name,
            header=metadata.all_names, missing=[column.missing for column in columns], shadow=shadow,
            others=() if priced is None or priced in COST_CODES else (priced,),
        )  # fmt: skip
        job.specification = replace(wanted, cost=priced)
        job.metadata = BatchMetadata(distances={c.name: c.distance for c in columns if c.distance})
        self._speak_of_cost(job)
        try:
            job.finished = finished_table(
                found.columns, tolerance=float("inf") if mode == "2" else None, complete=mode.startswith("1")
            )
        except AdditivityError as err:
            for line in err.violations:
                self.say(f"not additive: {line}")
            err.args = (f"{path.name}: {err}", *err.args[1:])
            raise
        inner = {tuple(job.finished.cell_codes(int(cell))) for cell in job.finished.is_inner.nonzero()[0]}
        # the file's totals lose what it declares about them only if that is asked for
        entries = tuple(entry for entry in found.entries if mode != "1F" or entry.codes in inner)
        job.groups.append(EntryGroup(entries, expand_trivial=False, declared=True))
        for line in (*found.notes, *metadata.notes, *job.finished.notes):
            self.notes.add(line)
        self.say(f"READTABLE: {job.finished.n_cells} cells from {path.name}.")

    def _speak_of_cost(self, job: TableJob) -> None:
        if job.specification.cost != "-3":
            return
        names = {name.lower() for name in job.metadata.distances}
        if not names.intersection(name.lower() for name in job.specification.explanatory):
            self.say("-3: no variable of the table has <DISTANCE>; a cell costs more the higher it stands.")
            job.metadata = replace(job.metadata, distances={})
        elif job.specification.power is not None:
            self.say("-3: costs by distance are the numbers of <DISTANCE>; λ does not change them.")

    def _do_apriori(self, command: Command, progress: Progress) -> None:
        job = self._job(int(command.numbers[0]), command)
        if not job.is_read:
            raise PlanError(f"{command.where}: <APRIORI> needs <READMICRODATA> or <READTABLE> before it.")
        ignore, expand = (bool(flag) for flag in (*command.numbers[1:], 0, 0)[:2])
        path = self.find(command.files[0])
        entries = read_hst(
            path, len(job.specification.explanatory), separator=command.files[1], notes=self.notes, ignore_errors=ignore
        )
        job.groups.append(EntryGroup(tuple(entries), ignore, expand))
        self._forget(job)
        judge_jobs([job], tables_of([job]))  # so that the error about a wrong line names this command
        self.say(f"APRIORI: {len(entries)} lines of {path.name} for table {int(command.numbers[0])}.")

    def _do_recode(self, command: Command, progress: Progress) -> None:
        job = self._job(int(command.numbers[0]), command)
        if job.data is None:
            raise PlanError(
                f"{command.where}: <RECODE> works on microdata that have been read; use <READMICRODATA> first."
            )
        if job.protected:
            raise PlanError(f"{command.where}: <RECODE> comes before <SUPPRESS>; this table is protected already.")
        name = exact_name(command.variable, job.data.schema.names)
        if name.lower() not in (known.lower() for known in job.specification.explanatory):
            raise PlanError(f"{command.where}: table {int(command.numbers[0])} has no variable {command.variable!r}.")
        if len(command.numbers) > 1:
            job.levels[name] = int(command.numbers[1])
        else:
            path = self.find(command.files[0])
            recoding = read_grc(path, self.notes)
            job.data = recode(job.data, name, recoding)
            if not recoding.is_tree:
                job.mapped[name] = (*job.mapped.get(name, ()), *recoding.lines())
        job.result = None
        self.say(f"RECODE: {name} in table {int(command.numbers[0])}.")

    def _do_suppress(self, command: Command, progress: Progress) -> None:
        call = command.calls[0]
        number = int(call.numbers[0])
        if number == 0 and call.name not in ("GH", "MOD"):
            raise PlanError(f"{command.where}: linked tables (0) are protected by GH or MOD.")
        if number == 0 and not self.jobs:
            raise PlanError(f"{command.where}: there is no table; use <SPECIFYTABLE> first.")
        jobs = self.jobs if number == 0 else [self._job(number, command)]
        if call.name == "CKM":
            beside = self.find(self.metadata[-1]).parent if self.metadata else None
            choice = Choice(ckm_method(call, jobs[0], partial(self.find, near=beside)))
        else:
            choice = with_minimum(choose(call, command.where), [rule for job in jobs for rule in job.rules])
        for line in choice.said:
            self.say(line)
        placed = protect_release(jobs, self.jobs, choice, self.secret, progress, self.say)
        for job, (found, at) in zip(jobs, placed, strict=True):
            job.result, job.number, job.singletons, job.protected = found, at, choice.singletons, True
            for line in found.knowledge.notes:
                self.notes.add(line)
        result = placed[0][0]
        linked = f", {len(jobs)} linked tables as one system" if len(jobs) > 1 else ""
        self.say(f"SUPPRESS {call.name}: {result!r}"[:-1].replace("<", "") + f", method {result.method}{linked}.")
        self._speak_of_knowledge(result)
        if result.outcome.facts.get("sums"):
            self.say(f"SUPPRESS {call.name}: {len(result.outcome.facts['sums'])} sums of small cells are kept unknown.")
        if not choice.singletons and result.insiders:
            self.say(
                f"SUPPRESS {call.name}: singletons are not guarded, as the line says; {len(result.insiders)} respondents "
                "alone in a cell can work out another unsafe cell."
            )

    def _speak_of_knowledge(self, result: ProtectedTable) -> None:
        """What an attacker who knows every cell roughly cannot be kept from."""
        facts = result.outcome.facts
        if facts.get("widened"):
            self.say(f"{facts['widened']} unsafe cells need wider protection than that; for them the level counts.")
        lowered = facts.get("lowered", ())
        if lowered:
            named = ", ".join(result.table.name_of(cell) for cell in lowered[:MAX_LISTED])
            self.say(
                f"{len(lowered)} unsafe cells cannot be kept as far as their levels from an attacker who knows that much, "
                f"whatever is hidden ({named}); from everybody else they are."
            )

    def _protect(self, jobs: Sequence[TableJob], choice: Choice, progress: Progress) -> ProtectedTable:
        system, knowledge = judge_jobs(jobs, tables_of(jobs, choice.method))
        for line in knowledge.notes:
            self.notes.add(line)
        return run_tables(
            system, knowledge, method=choice.method, bounds=BoundsOptions(), cost="unity", time_limit=choice.time_limit,
            secret=self.secret, progress=progress,
        )  # fmt: skip

    def _forget(self, job: TableJob) -> None:
        """What was done with a table no longer holds, also for those linked with it."""
        for other in self.jobs:
            if other is job or (job.result is not None and other.result is job.result):
                other.result, other.protected = None, False

    def _do_writetable(self, command: Command, progress: Progress) -> None:
        job = self._job(int(command.numbers[0]), command)
        if job.result is None:
            job.result, job.number = self._protect([job], Choice(PrimaryOnly()), progress), 0
        result = job.result
        kind, options = int(command.numbers[1]), dict(command.options)
        confidential = kind in (5, 6) or (kind in (2, 3) and options.get("AS", False)) or kind == 4
        confidential |= kind == 7 and any(options.get(name, False) for name in ("AO", "AD", "AC"))
        exposed = len(result.exposed) if job.singletons else len(result.audit.exposed_cells)
        if exposed and not confidential and not self.accept_exposed:
            advice = {"round": "Use a larger base", "primary-only": "Add a <SUPPRESS>"}.get(
                result.method, "Use MOD or OPT"
            )
            raise NotProtectedError(
                f"{command.where}: the attacker recovers {exposed} cells too closely, so the table was not written. "
                f"{advice}, or run with --accept-exposed.",
                exposed=exposed,
            )
        for option in options:
            if kind not in MEANING[option]:
                self.say(f"WRITETABLE: {option} says nothing about output type {kind}.")
        written = write_argus_table(result, job.number, kind, options, self.output / Path(_file(command)).name)
        self.files += written
        if kind == 6 and len(result.system.parts) > 1:
            self.say("WRITETABLE: the JJ file has all linked tables as one system.")
        words = "confidential, it has the values of hidden cells" if confidential else "publishable"
        self.say(f"WRITETABLE: {written[0].name} ({words}).")

    def _job(self, number: int, command: Command) -> TableJob:
        if not 1 <= number <= len(self.jobs):
            raise PlanError(f"{command.where}: there is no table {number}; {len(self.jobs)} are specified.")
        return self.jobs[number - 1]


def _file(command: Command) -> str:
    return command.files[0].replace("\\", "/")


def _check_names(job: TableJob, names: Sequence[str]) -> None:
    """Every variable that a <SPECIFYTABLE> names must be in the metadata."""
    wanted = job.specification
    cost = None if wanted.cost in COST_CODES else wanted.cost
    for name in (*wanted.explanatory, wanted.response, wanted.shadow, cost):
        if name and exact_name(name, names) not in names:
            raise PlanError(f"{job.where}: the metadata have no variable {name!r}.{did_you_mean(name, names)}")
