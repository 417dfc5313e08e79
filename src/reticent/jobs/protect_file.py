"""The job that protects a microdata file: check every step's needs, apply, attack, compare, release.

Nothing is written before the whole plan has run and every promise has been checked by code that did not make it.
"""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reticent.base.errors import NotProtectedError, PlanError
from reticent.base.progress import Progress, part, silent
from reticent.base.randomness import Secret, as_secret
from reticent.data.method import MaskingMethod
from reticent.data.microdata import Microdata
from reticent.data.parameters import to_plain
from reticent.data.plan import Plan, RiskSection
from reticent.data.published import release_file
from reticent.data.results import FileResult, StepRecord
from reticent.jobs.measure import FileRisk, measure_loss, measure_risk
from reticent.microdata.edits import EditRule, check_input, check_step, read_rules
from reticent.microdata.loss.compare import compare
from reticent.microdata.loss.measure import LossReport


@dataclass(frozen=True)
class FileRun:
    """Everything a run found, with the confidential data before and after (for the confidential report)."""

    result: FileResult
    before: Microdata
    after: Microdata
    risk_before: FileRisk
    risk_after: FileRisk
    loss: LossReport

    def __repr__(self) -> str:
        return repr(self.result)

    def _repr_html_(self) -> str:
        """The whole confidential report, in a frame of its own so that its style stays inside."""
        from html import escape

        from reticent.report.file_report import confidential_report

        page = escape(confidential_report(self), quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:700px;border:1px solid #ccc"></iframe>'


def protect_file(
    data: Microdata,
    steps: Sequence[MaskingMethod],
    *,
    risk: RiskSection | None = None,
    edits: Sequence[str] = (),
    secret: Secret | int | bytes | Path | str | None = None,
    progress: Progress = silent,
) -> FileResult:
    """Mask a file step by step and attack the result.

    Every step's needs are checked before the first step starts; each step has its own random stream of the secret;
    its promises are checked on its output; risk is measured before and after in the same way.
    """
    return run_steps(data, steps, risk=risk, edits=edits, secret=secret, progress=progress).result


def run_steps(
    data: Microdata,
    steps: Sequence[MaskingMethod],
    *,
    risk: RiskSection | None = None,
    edits: Sequence[str] = (),
    secret: Secret | int | bytes | Path | str | None = None,
    notes: Sequence[str] = (),
    progress: Progress = silent,
) -> FileRun:
    """As `protect_file`, with the data before and after for the confidential report."""
    _check_needs(data, steps)
    rules = read_rules(edits, data.schema)
    check_input(data, rules)
    source = as_secret(secret)
    settings = risk or RiskSection()
    progress(0.0, "risk before")
    before = measure_risk(data, settings)
    masked, truth, records, ended = _apply_all(data, steps, source, part(progress, 0.2, 0.7), rules=rules)
    progress(0.75, "attack")
    after = measure_risk(masked, settings, truth=truth)
    progress(0.9, "loss")
    report = compare(data, masked)
    result = FileResult(
        file=release_file(masked),
        risk_before=before.summary(),
        risk_after=after.summary(),
        loss={**measure_loss(data, masked, records), "score": report.score, "measures": report.rows()},
        steps=tuple(records),
        notes=(*notes, *ended),
        secret_hex=source.to_hex(),
    )
    progress(1.0, "done")
    return FileRun(result, data, masked, before, after, report)


def _check_needs(data: Microdata, steps: Sequence[MaskingMethod]) -> None:
    schema = data.schema
    for step in steps:
        step.check(schema)
        schema = step.schema_after(schema)


def _apply_all(
    data: Microdata,
    steps: Sequence[MaskingMethod],
    secret: Secret,
    progress: Progress,
    *,
    rules: Sequence[EditRule] = (),
) -> tuple[Microdata, Microdata, list[StepRecord], list[str]]:
    """The masked data, and the same without the blanks: what an attacker who knows the records would compare with."""
    records: list[StepRecord] = []
    truth, hides = data, False
    ended: list[str] = []
    times_seen: dict[str, int] = {}
    for number, step in enumerate(steps):
        occurrence = times_seen.get(step.name, 0)
        times_seen[step.name] = occurrence + 1
        within = part(progress, number / len(steps), (number + 1) / len(steps))
        within(0.0, step.name)
        started = time.perf_counter()
        # named by method and occurrence: another method added before it does not change its draws
        own = secret.child(f"{step.name}:{occurrence}")
        applied = step.apply(data, secret=own, progress=within)
        if not getattr(step, "blanks_only", False):
            truth = step.apply(truth, secret=own, progress=silent).data if hides else applied.data
        else:
            hides = True
        kept = _check_promises(step, data, applied.data)
        lost = check_step(step.name, applied.data, rules)
        rules = [rule for rule in rules if rule.text not in lost]
        ended += [f"After step {step.name}, edit rule {text!r} cannot be checked any more." for text in lost]
        parameters = to_plain(step)
        records.append(
            StepRecord(step.name, parameters, applied.changed, applied.facts, kept, time.perf_counter() - started)
        )
        data = applied.data
    return data, truth, records, ended


def _check_promises(step: MaskingMethod, before: Microdata, after: Microdata) -> tuple[str, ...]:
    kept = []
    for promise in step.promises():
        broken = promise.broken(before, after)
        if broken:
            raise NotProtectedError(
                f"{step.name}: the step promised that {promise.text}, but a recount finds {broken} violations; "
                "nothing was written.",
                exposed=broken,
            )
        kept.append(promise.text)
    return tuple(kept)


def run_file_plan(path: Path, *, progress: Progress = silent) -> FileRun:
    """Read a plan, protect the file it names, and write what it asks for (all or nothing of each file)."""
    from reticent.io.plan import load_plan
    from reticent.io.read import load_microdata
    from reticent.microdata.mask import METHODS

    file = load_plan(Path(path), METHODS)
    plan = file.plan
    _check_outputs(plan)
    secret = as_secret(plan.find(plan.data.secret) if isinstance(plan.data.secret, str) else plan.data.secret)
    source = plan.data
    loaded = load_microdata(
        source.path, source.schema, folder=plan.folder, format=source.format, query=source.query,
        separator=source.separator, encoding=source.encoding,
    )  # fmt: skip
    run = run_steps(
        loaded.data,
        plan.steps,
        risk=plan.risk,
        edits=plan.edits,
        secret=secret,
        notes=(*file.notes, *loaded.notes),
        progress=progress,
    )
    write_outputs(plan, run)
    return run


def write_outputs(plan: Plan, run: FileRun) -> None:
    """Write the publishable file and the reports that the plan names, all or none."""
    from reticent.io.write import write_masked, write_texts
    from reticent.report.file_report import confidential_report, public_report

    output = plan.output
    texts: dict[Path, str] = {}
    if output.public_report:
        texts[plan.find(output.public_report)] = public_report(run.result.file)
    if output.report:
        texts[plan.find(output.report)] = confidential_report(run)
    if output.summary:
        texts[plan.find(output.summary)] = json.dumps(_jsonable(run.result.summary()), indent=2) + "\n"
    if output.path:
        schema = plan.find(output.schema) if output.schema else None
        write_masked(run.result.file, plan.find(output.path), schema=schema, also=texts)
    else:
        write_texts(texts)


def _check_outputs(plan: Plan) -> None:
    """What could keep a result from being written is found before the work starts."""
    from reticent.io.write import check_places, writer_for

    output = plan.output
    names = [output.path, output.public_report, output.report, output.summary, output.schema]
    if not any(names[:4]):
        raise PlanError("[output] names no file; give at least path, report or summary.")
    if output.path:
        writer_for(output.path)
    check_places(plan.find(name) for name in names if name)


def _jsonable(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(item) for item in value]
    if hasattr(value, "tolist"):
        return value.tolist()
    return value if isinstance(value, str | int | float | bool | type(None)) else str(value)
