"""The job that protects a microdata file: fetch, mask, attack, judge, compare, write.

Nothing is written before the whole plan has run, every promise has been checked by code that did not make it, and every
attack that the plan asks for was tried and withstood (or the plan says why the risk is accepted).
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from reticent.base.errors import ParameterError, PlanError
from reticent.base.progress import Progress, part, silent
from reticent.base.randomness import Secret, release_secret, secret_note
from reticent.data.method import MaskingMethod
from reticent.data.microdata import Microdata
from reticent.data.plan import Plan, RiskSection
from reticent.data.published import release_file
from reticent.data.results import FileResult
from reticent.data.verdict import FileVerdict
from reticent.microdata.attacks import FileAttacks, attack_file, recount_keys
from reticent.microdata.edits import check_input, read_rules
from reticent.microdata.loss.compare import compare
from reticent.microdata.loss.measure import LossReport
from reticent.microdata.measure import FileRisk, measure_loss, measure_risk
from reticent.microdata.pipeline import apply_steps, check_needs, finish
from reticent.microdata.risk.known import identifying_variables, singling_codes
from reticent.microdata.verdict import judge

DRAWN = (
    "No secret was given, so one was drawn; it is in the confidential report and summary. Every further release of these "
    "data needs it, or what was drawn can be averaged out: put it in a key file and name that in [data] secret."
)
KEPT_NOWHERE = (
    "The secret that was drawn is kept nowhere, because [output] names neither report nor summary; "
    "make no further release of these data, or run again with one of them."
)


@dataclass(frozen=True)
class FileRun:
    """Everything a run found, with the confidential data before and after masking (records in the order of the source)."""

    result: FileResult
    before: Microdata
    after: Microdata
    risk_before: FileRisk
    risk_after: FileRisk
    attacks: FileAttacks
    loss: LossReport

    def __repr__(self) -> str:
        return repr(self.result)

    @property
    def verdict(self) -> FileVerdict:
        """What the attacks left of the plan's promises."""
        return self.result.verdict

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
    most: float | None = None,
    accept_risk: str | None = None,
    risk: RiskSection | None = None,
    edits: Sequence[str] = (),
    secret: Secret | int | bytes | Path | str | None = None,
    test_secret: bool = False,
    keep_order: bool = False,
    keep_household_ids: bool = False,
    progress: Progress = silent,
) -> FileResult:
    """Mask a file step by step, attack the result and judge it; a file that is not protected is an error.

    `most` limits the largest risk of a record and of a household, and the share of records that can be linked back (0.05
    where the file has weights; without weights it must be given). `accept_risk` is the reason for releasing a file
    although an attack was not withstood; it is recorded. Other limits and attacks are options of `risk`.

    Without a `secret` one is drawn and kept in the result (`secret_hex`): every further release of the data needs it. A
    secret that can be guessed is refused, unless `test_secret` says that the file is never released.
    """
    run = run_steps(
        data, steps, most=most, accept_risk=accept_risk, risk=risk, edits=edits, secret=secret, test_secret=test_secret,
        keep_order=keep_order, keep_household_ids=keep_household_ids, progress=progress,
    )  # fmt: skip
    run.verdict.require()
    return run.result


def run_steps(
    data: Microdata,
    steps: Sequence[MaskingMethod],
    *,
    most: float | None = None,
    accept_risk: str | None = None,
    risk: RiskSection | None = None,
    edits: Sequence[str] = (),
    secret: Secret | int | bytes | Path | str | None = None,
    test_secret: bool = False,
    keep_order: bool = False,
    keep_household_ids: bool = False,
    notes: Sequence[str] = (),
    progress: Progress = silent,
) -> FileRun:
    """As `protect_file`, with the data before and after for the confidential report, whatever the verdict is.

    The publishable file (`run.result.file`) is given out only if the verdict allows it.
    """
    settings = _settings(risk, most, accept_risk)
    limit = settings.limit(weighted=data.schema.weight is not None)
    check_needs(data, steps)
    rules = read_rules(edits, data.schema)
    check_input(data, rules)
    source = release_secret(secret, test=test_secret, owner="protect_file")
    keys = recount_keys(data, settings)
    data.schema.require(settings.known, owner="[risk] known")
    progress(0.0, "risk before")
    before = measure_risk(data, settings)
    masked = apply_steps(
        data, steps, secret=source, rules=rules, keys=(*keys, *settings.known), progress=part(progress, 0.2, 0.6)
    )
    progress(0.6, "attack")
    after = measure_risk(data, settings, masked=masked)
    released = finish(masked.data, secret=source, keep_order=keep_order, keep_household_ids=keep_household_ids)
    attacks = attack_file(masked, released, settings, shuffled=not keep_order, progress=part(progress, 0.7, 0.9))
    verdict = judge(attacks, settings, limit=limit, households=data.schema.household_id is not None)
    progress(0.9, "loss")
    report = compare(data, masked.data)
    result = FileResult(
        masked=release_file(released),
        verdict=verdict,
        risk_before=before.summary(),
        risk_after=after.summary(),
        loss={**measure_loss(data, masked.data, masked.steps), "score": report.score, "measures": report.rows()},
        steps=masked.steps,
        notes=(*_secret_notes(source, drawn=secret is None), *_role_notes(data, masked.data), *notes, *masked.notes),
        secret_hex=source.to_hex() if secret is None else "",
    )
    progress(1.0, "done")
    return FileRun(result, data, masked.data, before, after, attacks, report)


def _settings(risk: RiskSection | None, most: float | None, accept_risk: str | None) -> RiskSection:
    """The risk section, with what was given beside it."""
    settings = risk or RiskSection()
    for name, value in (("most", most), ("accept_risk", accept_risk)):
        if value is not None and getattr(settings, name) is not None:
            raise ParameterError(f"protect_file: {name} is given twice, directly and in risk; give it once.")
    if most is not None:
        settings = replace(settings, most=most)
    return settings if accept_risk is None else replace(settings, accept_risk=accept_risk)


def _role_notes(data: Microdata, masked: Microdata) -> tuple[str, ...]:
    """Which published variables count as known to an attacker although they are neither keys nor numbers."""
    codes = tuple(dict.fromkeys((*singling_codes(data), *identifying_variables(data))))
    names = [name for name in codes if name in masked.schema]
    return (
        (f"No keys, but counted as known to an attacker, because alone or together they single records out: "
         f"{', '.join(names)}. Give them a role, or remove them.",)
        if names else ()
    )  # fmt: skip


def _secret_notes(secret: Secret, *, drawn: bool) -> tuple[str, ...]:
    """What the record of a run says of its secret, without telling it."""
    note = secret_note(secret)
    return (DRAWN,) if drawn else () if note is None else (note,)


def run_file_plan(path: Path, *, progress: Progress = silent) -> FileRun:
    """Read a plan, protect the file it names, and write what it asks for (all or nothing of each file)."""
    from reticent.io.plan import load_plan
    from reticent.io.read import load_microdata
    from reticent.microdata.mask import METHODS

    file = load_plan(Path(path), METHODS)
    plan = file.plan
    _check_outputs(plan, Path(path))
    source = plan.data
    secret: Secret | None = None
    if source.secret is not None:
        given = plan.find(source.secret) if isinstance(source.secret, str) else source.secret
        secret = release_secret(given, test=source.test_secret, owner=f"{Path(path).name}: [data]")
    kept = secret is not None or plan.output.report or plan.output.summary
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
        test_secret=source.test_secret,
        keep_order=plan.output.keep_order,
        keep_household_ids=plan.output.keep_household_ids,
        notes=(*(() if kept else (KEPT_NOWHERE,)), *file.notes, *loaded.notes),
        progress=progress,
    )
    run.verdict.require()
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
        texts[plan.find(output.report)] = confidential_report(run, secret=run.result.secret_hex)
    if output.summary:
        texts[plan.find(output.summary)] = json.dumps(_jsonable(run.result.summary()), indent=2) + "\n"
    if output.path:
        schema = plan.find(output.schema) if output.schema else None
        write_masked(run.result.file, plan.find(output.path), schema=schema, also=texts)
    else:
        write_texts(texts)


def _check_outputs(plan: Plan, path: Path) -> None:
    """What could keep a result from being written is found before the work starts."""
    from reticent.io.places import check_places, inputs_of
    from reticent.io.write import writer_for

    output = plan.output
    names = [output.path, output.public_report, output.report, output.summary, output.schema]
    if not any(names[:4]):
        raise PlanError("[output] names no file; give at least path, report or summary.")
    if output.path:
        writer_for(output.path)
    check_places([plan.find(name) for name in names if name], [path, *inputs_of(plan, plan.folder)])


def _jsonable(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(item) for item in value]
    if hasattr(value, "tolist"):
        return value.tolist()
    return value if isinstance(value, str | int | float | bool | type(None)) else str(value)
