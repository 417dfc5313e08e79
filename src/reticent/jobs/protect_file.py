# SPDX-License-Identifier: Apache-2.0
"""The job that protects a microdata file: fetch, mask, attack, judge, compare, write.

Nothing is written before the whole plan has run, every promise has been checked by code that did not make it, and every
attack that the plan asks for was tried and withstood (or the plan says why the risk is accepted).
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from reticent.base.errors import PlanError
from reticent.base.progress import Progress, silent
from reticent.base.randomness import Secret, release_secret
from reticent.data.method import MaskingMethod
from reticent.data.microdata import Microdata
from reticent.data.plan import Plan
from reticent.data.verdict import FileVerdict
from reticent.io.formats import FORMATS
from reticent.io.places import check_places, inputs_of
from reticent.io.plan import PlanFile, load_plan
from reticent.io.read import Loaded, load_source
from reticent.io.recodings import check_recodings_path, recodings_text
from reticent.io.write import text_writer, write_contents, write_masked
from reticent.jobs.protect_large import LargeResult, run_large_plan
from reticent.jobs.provenance import provenance_of
from reticent.jobs.streams import check_recorded_streams, streams_note
from reticent.microdata.along import Along, along_steps
from reticent.microdata.mask import METHODS
from reticent.microdata.protect import FileWishes, protect_data
from reticent.microdata.result import FileResult, ProtectedFile
from reticent.report.file_report import confidential_report, public_report
from reticent.report.page import form_of

__all__ = [
    "FileResult", "FileVerdict", "judge_plan", "preview_plan", "protect_file", "protect_plan", "read_file_plan", "run_file_plan",
    "run_here",
    "run_plan", "write_outputs", "written_names",
]  # fmt: skip

KEPT_NOWHERE = (
    "[output] names neither report nor summary, and [data] no secret: the one drawn for this run would be kept nowhere, and "
    "every further release of these data needs it. Name a report or a summary (they are confidential), or a secret."
)


def protect_file(data: Microdata, steps: Sequence[MaskingMethod], **wishes: Unpack[FileWishes]) -> FileResult:
    """Mask a file step by step, attack the result and judge it; a file that is not protected is an error."""
    run = protect_data(data, steps, **wishes)
    run.verdict.require()
    return run.result


def run_file_plan(path: Path, *, progress: Progress = silent) -> ProtectedFile:
    """Read a plan, protect the file it names, and write what it asks for (all or nothing of each file)."""
    return run_plan(read_file_plan(Path(path)), progress=progress)


def read_file_plan(path: Path, *, recodings: Path | None = None) -> PlanFile:
    """Read a plan; what could keep its results from being written is found here, before any work.

    `recodings` is a place for the mapping of recodings, whatever the plan says.
    """
    file = load_plan(path, METHODS)
    if recodings is not None:
        if file.plan.ledger is not None:
            raise PlanError(
                "[ledger]: only `reticent release` writes what this plan makes; name the file in [output] recodings."
            )
        output = replace(file.plan.output, recodings=str(recodings.absolute()))
        file = replace(file, plan=replace(file.plan, output=output))
    _check_outputs(file.plan, path)
    return replace(file, notes=(*file.notes, *streams_note(file.plan.data, file.plan.output.summary)))


def run_here(file: PlanFile, *, progress: Progress = silent) -> FileResult | LargeResult:
    """Run a plan where it asks for: in memory, or in the engine that it names."""
    if file.plan.data.engine is not None:
        return run_large_plan(file.plan, notes=file.notes, progress=progress)
    return run_plan(file, progress=progress).result


def run_plan(file: PlanFile, *, progress: Progress = silent) -> ProtectedFile:
    """Protect the file that a plan names, and write what it asks for (all or nothing of each file)."""
    run = judge_plan(file, progress=progress)
    run.verdict.require()
    if file.plan.ledger is None:  # with a ledger only `release` writes
        write_outputs(file.plan, run)
    return run


def preview_plan(file: PlanFile, *, progress: Progress = silent) -> tuple[Along, ...]:
    """Count unsafe combinations and the detail given up after each step of a plan; nothing is written, nothing is judged."""
    plan = file.plan
    source = plan.data
    given = plan.find(source.secret) if isinstance(source.secret, str) else source.secret
    secret = release_secret(given, test=source.test_secret, owner=f"{file.name}: [data]")
    data = load_source(source, plan.folder).data
    return along_steps(data, plan.steps, plan.risk, secret=secret, progress=progress)


def judge_plan(file: PlanFile, *, progress: Progress = silent) -> ProtectedFile:
    """Protect and attack the file that a plan names, whatever the verdict is; nothing is written."""
    plan = file.plan
    _check_record(plan)
    return protect_plan(plan, load_source(plan.data, plan.folder), notes=file.notes, progress=progress)


def protect_plan(
    plan: Plan, loaded: Loaded, *, notes: tuple[str, ...] = (), progress: Progress = silent
) -> ProtectedFile:
    """Protect records as a plan says; nothing is judged or written yet."""
    source = plan.data
    secret: Secret | None = None
    if source.secret is not None:
        given = plan.find(source.secret) if isinstance(source.secret, str) else source.secret
        secret = release_secret(given, test=source.test_secret, owner="[data]")
    return protect_data(
        loaded.data,
        plan.steps,
        risk=plan.risk,
        edits=plan.edits,
        secret=secret,
        test_secret=source.test_secret,
        keep_order=plan.output.keep_order,
        keep_household_ids=plan.output.keep_household_ids,
        notes=(*notes, *loaded.notes),
        progress=progress,
    )


def write_outputs(plan: Plan, run: ProtectedFile) -> None:
    """Write the publishable file and the reports that the plan names, all or none."""
    output = plan.output
    texts: dict[Path, str] = {}
    if output.public_report:
        form = form_of(output.public_report)
        texts[plan.find(output.public_report)] = public_report(run.result.file, date=output.date or "", form=form)
    if output.report:
        drawn = run.result.secret_hex
        origin = provenance_of(plan, seconds=run.seconds, drawn=drawn)
        page = confidential_report(run, secret=drawn, origin=origin, form=form_of(output.report))
        texts[plan.find(output.report)] = page
    if output.summary:
        texts[plan.find(output.summary)] = json.dumps(run.result.summary(), indent=2) + "\n"
    if output.recodings:
        texts[plan.find(output.recodings)] = recodings_text(run.result.file.recodings, output.marks)
    if output.path:
        schema = plan.find(output.schema) if output.schema else None
        write_masked(run.result.file, plan.find(output.path), schema=schema, also=texts, marks=output.marks)
    else:
        write_contents(texts)


def _check_outputs(plan: Plan, path: Path) -> None:
    """What could keep a result from being written is found before the work starts."""
    output = plan.output
    names = [output.path, output.public_report, output.report, output.summary, output.schema, output.recodings]
    if not any(names[:4]):
        raise PlanError("[output] names no file; give at least path, report or summary.")
    _check_record(plan)
    check_recorded_streams(plan.data, plan.find(output.summary) if output.summary else None)
    check_recodings_path(output.recodings)
    if output.path:
        text_writer(FORMATS.of_target(Path(output.path)), output.marks)
    check_places([plan.find(name) for name in names if name], [path, *inputs_of(plan, plan.folder)])


def _check_record(plan: Plan) -> None:
    """A secret that is drawn must be kept in the confidential record of the run."""
    if plan.data.secret is None and not (plan.output.report or plan.output.summary):
        raise PlanError(KEPT_NOWHERE)


def written_names(file: PlanFile) -> list[tuple[str, str]]:
    """What a plan writes: whether a file may leave, and its name as the plan has it."""
    output = file.plan.output
    leave = (output.path, output.schema, output.recodings, output.public_report)
    names = [
        *(("publishable", name) for name in leave),
        ("confidential", output.report),
        ("confidential", output.summary),
    ]
    return [(what, name) for what, name in names if name]
