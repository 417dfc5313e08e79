# SPDX-License-Identifier: Apache-2.0
"""<READTABLE>: finished tables, each from its file as its metadata describe it."""

from dataclasses import replace
from functools import partial
from pathlib import Path

from reticent.base.errors import AdditivityError, DataError
from reticent.io.argus_batch import COST_CODES, Command
from reticent.io.argus_output import COUNT
from reticent.io.argus_table_rda import TableMetadata, read_table_rda
from reticent.io.finished import CellLayout, FinishedFile, read_finished
from reticent.jobs.argus.state import Batch
from reticent.jobs.argus.tables import BatchMetadata, TableJob
from reticent.tables.apriori import EntryGroup
from reticent.tabulation.finished import finished_table


def read_tables(batch: Batch, command: Command) -> None:
    """<READTABLE>: the finished tables that were opened."""
    for number, (job, name) in enumerate(zip(batch.jobs, batch.table_files, strict=True)):
        metadata = read_table_rda(batch.find(batch.metadata[min(number, len(batch.metadata) - 1)]))
        path = batch.find(name)
        found = _read_finished(job, path, metadata)
        speak_of_cost(batch, job)
        try:
            _finish(job, found, command.text)
        except AdditivityError as err:
            for line in err.violations:
                batch.say(f"not additive: {line}")
            err.at(path.name)
            raise
        assert job.finished is not None
        for line in (*found.notes, *metadata.notes, *job.finished.notes):
            batch.notes.add(line)
        batch.say(f"READTABLE: {job.finished.n_cells} cells from {path.name}.")


def _read_finished(job: TableJob, path: Path, metadata: TableMetadata) -> FinishedFile:
    wanted = job.specification
    # our own intermediate file of weighted counts has them beside the respondents
    own = COUNT if COUNT in metadata.names("value") else None
    response = wanted.response or own or next(iter(metadata.names("count")), None)
    if response is None:
        raise DataError("the table has no frequency column to count by.").at(job.where)
    columns = [metadata.column(name) for name in wanted.explanatory]
    shadow = metadata.column(wanted.shadow).name if wanted.shadow else next(iter(metadata.names("shadow")), None)
    priced = wanted.cost or next(iter(metadata.names("cost")), None)
    if priced is not None and priced not in COST_CODES:
        priced = metadata.column(priced).name
    layout = CellLayout(
        [column.name for column in columns], [partial(metadata.trees, column.name) for column in columns],
        [column.total for column in columns], metadata.column(response).name, [column.missing for column in columns],
        shadow, () if priced is None or priced in COST_CODES else (priced,),
    )  # fmt: skip
    options = replace(metadata.options(response), cost=None)
    found = read_finished(path, layout, options, header=metadata.all_names)
    job.specification = replace(wanted, cost=priced)
    job.metadata = BatchMetadata(distances={c.name: c.distance for c in columns if c.distance})
    return found


def _finish(job: TableJob, found: FinishedFile, mode: str) -> None:
    """The finished table and what it declares of its cells. Mode 1 adds totals up, 2 takes them as they are."""
    job.finished = finished_table(
        found.columns, tolerance=float("inf") if mode == "2" else None, complete=mode.startswith("1")
    )
    inner = {tuple(job.finished.cell_codes(int(cell))) for cell in job.finished.is_inner.nonzero()[0]}
    # the file's totals lose what it declares about them only if that is asked for
    entries = tuple(entry for entry in found.entries if mode != "1F" or entry.codes in inner)
    job.groups.append(EntryGroup(entries, expand_trivial=False, declared=True))


def speak_of_cost(batch: Batch, job: TableJob) -> None:
    """Say what the costs by distance of a table that was read come to."""
    if job.specification.cost != "-3":
        return
    names = {name.lower() for name in job.metadata.distances}
    if not names.intersection(name.lower() for name in job.specification.explanatory):
        batch.say("-3: no variable of the table has <DISTANCE>; a cell costs more the higher it stands.")
        job.metadata = replace(job.metadata, distances={})
    elif job.specification.power is not None:
        batch.say("-3: costs by distance are the numbers of <DISTANCE>; λ does not change them.")
