# SPDX-License-Identifier: Apache-2.0
"""Commands that protect and write: <SUPPRESS> becomes a request, <WRITETABLE> a file in a format of tau-ARGUS."""

from functools import partial

from reticent.base.errors import NotProtectedError
from reticent.base.progress import Progress
from reticent.base.words import counted
from reticent.io.argus_batch import Command
from reticent.jobs.argus.ckm import ckm_method
from reticent.jobs.argus.methods import Choice, choose, with_minimum
from reticent.jobs.argus.output import MEANING, write_argus_table
from reticent.jobs.argus.release import Release, protect_release, request_of_jobs
from reticent.jobs.argus.state import Batch
from reticent.jobs.argus.tables import TableJob
from reticent.tables.methods import PrimaryOnly
from reticent.tables.result import ProtectedTable
from reticent.tables.run import run_request

MOST_NAMED = 10


def suppress(batch: Batch, command: Command, progress: Progress) -> None:
    """<SUPPRESS>: protect one table, or with 0 all of them as linked tables."""
    call = command.calls[0]
    number = int(call.numbers[0])
    jobs = batch.jobs if number == 0 else [batch.job(number)]
    choice = _choice(batch, command, jobs)
    for line in choice.said:
        batch.say(line)
    placed = protect_release(jobs, Release(batch.jobs, batch.secret, batch.say), choice, progress)
    for job, (found, at) in zip(jobs, placed, strict=True):
        job.result, job.number, job.singletons, job.protected = found, at, choice.singletons, True
        for line in found.knowledge.notes:
            batch.notes.add(line)
    result = placed[0][0]
    linked = f", {len(jobs)} linked tables as one system" if len(jobs) > 1 else ""
    batch.say(f"SUPPRESS {call.name}: ProtectedTable {result.headline}, method {result.method}{linked}.")
    _speak_of_knowledge(batch, result)
    if result.outcome.facts.get("sums"):
        batch.say(f"SUPPRESS {call.name}: {len(result.outcome.facts['sums'])} sums of small cells are kept unknown.")
    if not choice.singletons and result.insiders:
        batch.say(
            f"SUPPRESS {call.name}: singletons are not guarded, as the line says; {len(result.insiders)} sole "
            "respondents of a cell can work out another unsafe cell."
        )


def _choice(batch: Batch, command: Command, jobs: list[TableJob]) -> Choice:
    call = command.calls[0]
    if call.name == "CKM":
        beside = batch.find(batch.metadata[-1]).parent if batch.metadata else None
        job = jobs[0]
        names = () if job.data is None else job.data.schema.names
        near = partial(batch.find, near=beside)
        return Choice(ckm_method(call, job.specification.response, names, job.metadata.ckm, near))
    return with_minimum(choose(call), [rule for job in jobs for rule in job.rules])


def _as_judged(batch: Batch, job: TableJob, progress: Progress) -> ProtectedTable:
    """The table with its unsafe cells hidden and nothing else."""
    (result,) = run_request(request_of_jobs([job], Choice(PrimaryOnly()), batch.secret), progress=progress)
    for line in result.knowledge.notes:
        batch.notes.add(line)
    return result


def _speak_of_knowledge(batch: Batch, result: ProtectedTable) -> None:
    """What an attacker who knows every cell roughly cannot be kept from."""
    facts = result.outcome.facts
    if facts.get("widened"):
        batch.say(f"{facts['widened']} unsafe cells need wider protection than that; for them the level counts.")
    lowered = facts.get("lowered", ())
    if lowered:
        named = ", ".join(result.table.name_of(cell) for cell in lowered[:MOST_NAMED])
        batch.say(
            f"{len(lowered)} unsafe cells cannot be kept as far as their levels from an attacker who knows that much, "
            f"whatever is hidden ({named}); from everybody else they are."
        )


def write_table(batch: Batch, command: Command, progress: Progress) -> None:
    """<WRITETABLE>: what the attacker can open is not written in a publishable form, unless that is accepted."""
    job = batch.job(int(command.numbers[0]))
    if job.result is None:
        job.result, job.number = _as_judged(batch, job, progress), 0
    result = job.result
    kind, options = int(command.numbers[1]), dict(command.options)
    confidential = _confidential(kind, options)
    exposed = len(result.exposed) if job.singletons else len(result.audit.exposed_cells)
    if exposed and not confidential and not batch.accept_exposed:
        advice = {"round": "Use a larger base", "primary-only": "Add a <SUPPRESS>"}.get(result.method, "Use MOD or OPT")
        raise NotProtectedError(
            f"the attacker recovers {counted(exposed, 'cell')} too closely, so the table was not written. {advice}, or run with "
            "--accept-exposed.",
            exposed=exposed,
        )
    for option in options:
        if kind not in MEANING[option]:
            batch.say(f"WRITETABLE: {option} says nothing about output type {kind}.")
    written = write_argus_table(result, job.number, kind, options, batch.target(command))
    batch.files += written
    if kind == 6 and len(result.system.parts) > 1:
        batch.say("WRITETABLE: the JJ file has all linked tables as one system.")
    words = "confidential, it has the values of hidden cells" if confidential else "publishable"
    batch.say(f"WRITETABLE: {written[0].name} ({words}).")


def _confidential(kind: int, options: dict[str, bool]) -> bool:
    """Whether an output type has the values of hidden cells, or which of them are unsafe."""
    if kind == 7:
        return any(options.get(name, False) for name in ("AO", "AD", "AC"))
    return kind in (4, 5, 6) or (kind in (2, 3) and options.get("AS", False))
