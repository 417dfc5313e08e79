# SPDX-License-Identifier: Apache-2.0
"""Commands that open, describe and read: what a batch file says about its data and tables."""

from collections.abc import Sequence

from reticent.base.checks import did_you_mean
from reticent.base.errors import PlanError
from reticent.data.microdata import Microdata
from reticent.io.argus_batch import COST_CODES, Command, Specification
from reticent.io.argus_grc import read_grc
from reticent.io.argus_hst import read_hst
from reticent.io.argus_rda import read_rda
from reticent.io.read import load_microdata
from reticent.jobs.argus.finished import speak_of_cost
from reticent.jobs.argus.state import Batch, file_of, forget, judged
from reticent.jobs.argus.tables import BatchMetadata, TableJob, exact_name, with_totals
from reticent.tables.apriori import EntryGroup
from reticent.tabulation.recoded import recode


def open_microdata(batch: Batch, command: Command) -> None:
    """<OPENMICRODATA>: the records of all tables that follow."""
    batch.microdata_file = file_of(command)


def open_table(batch: Batch, command: Command) -> None:
    """<OPENTABLEDATA>: the file of a finished table."""
    batch.table_files.append(file_of(command))


def open_metadata(batch: Batch, command: Command) -> None:
    """<OPENMETADATA>: what describes the records, or the next table."""
    batch.metadata.append(file_of(command))


def specify_table(batch: Batch, command: Command) -> None:
    """<SPECIFYTABLE>: one more table."""
    assert command.specification is not None
    batch.jobs.append(TableJob(command.specification, command.where))


def safety_rule(batch: Batch, command: Command) -> None:
    """<SAFETYRULE>: the rules of the last table."""
    batch.jobs[-1].calls = command.calls


def read_microdata(batch: Batch, command: Command) -> None:
    """<READMICRODATA>: the records of all tables."""
    data, metadata = (batch.records, BatchMetadata()) if batch.records is not None else _opened(batch)
    for job in batch.jobs:
        job.data = data
        job.metadata = metadata
        speak_of_cost(batch, job)
        if data.schema.weight is not None and not job.flag("WGT"):
            batch.notes.add(
                f"the weight {data.schema.weight} is in the metadata and not used: records count once. WGT(1) in "
                "<SAFETYRULE> uses it."
            )
    batch.say(f"READMICRODATA: {data.n_records} records.")


def _opened(batch: Batch) -> tuple[Microdata, BatchMetadata]:
    """The records that were opened, and what their metadata say beside the schema."""
    assert batch.microdata_file is not None
    rda = batch.find(batch.metadata[-1])
    described = read_rda(rda)
    loaded = load_microdata(batch.find(batch.microdata_file), rda)
    for line in loaded.notes:
        batch.notes.add(line)
    metadata = BatchMetadata(described.requests, described.totals, described.distances, described.ckm)
    return with_totals(loaded.data, described.totals), metadata


def check_names(wanted: Specification, where: str, names: Sequence[str]) -> None:
    """Every variable that a <SPECIFYTABLE> names must be in the metadata."""
    cost = None if wanted.cost in COST_CODES else wanted.cost
    for name in (*wanted.explanatory, wanted.response, wanted.shadow, cost):
        if name and exact_name(name, names) not in names:
            raise PlanError(f"the metadata have no variable {name!r}.{did_you_mean(name, names)}").at(where)


def read_a_priori(batch: Batch, command: Command) -> None:
    """<APRIORI>: what is known of the cells of a table."""
    job = batch.job(int(command.numbers[0]))
    ignore, expand = (bool(flag) for flag in (*command.numbers[1:], 0, 0)[:2])
    path, n_codes = batch.find(command.files[0]), len(job.specification.explanatory)
    entries = read_hst(path, n_codes, separator=command.files[1], notes=batch.notes, ignore_errors=ignore)
    job.groups.append(EntryGroup(tuple(entries), ignore, expand))
    forget(batch.jobs, job)
    judged(job)  # so that the error about a wrong line names this command
    batch.say(f"APRIORI: {len(entries)} lines of {path.name} for table {int(command.numbers[0])}.")


def recode_variable(batch: Batch, command: Command) -> None:
    """<RECODE>: another code list, a closed tree or a level, for one variable of one table."""
    number = int(command.numbers[0])
    job = batch.job(number)
    assert job.data is not None
    name = exact_name(command.variable, job.data.schema.names)
    if len(command.numbers) > 1:
        job.levels[name] = int(command.numbers[1])
    else:
        recoding = read_grc(batch.find(command.files[0]), batch.notes)
        job.data = recode(job.data, name, recoding)
        if not recoding.is_tree:
            job.mapped[name] = (*job.mapped.get(name, ()), *recoding.lines())
    job.result = None
    batch.say(f"RECODE: {name} in table {number}.")
