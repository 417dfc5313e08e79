# SPDX-License-Identifier: Apache-2.0
"""The job that protects a file in an engine, and writes it as parts; nothing is written unless the verdict lets it go."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypedDict, Unpack

from reticent.base.errors import PlanError
from reticent.base.progress import Progress, silent
from reticent.base.randomness import Secret, Source, release_secret, secret_note
from reticent.data.large import LargeFile
from reticent.data.method import MaskingMethod
from reticent.data.plan import Plan, RiskSection
from reticent.io.large import open_source
from reticent.io.parts import PartsWriter
from reticent.io.recodings import recodings_text
from reticent.microdata.large_protect import LargeResult, protect_large
from reticent.microdata.protect import DRAWN
from reticent.microdata.recodings import recodings

__all__ = ["LargeResult", "check_large_plan", "protect_parts", "run_large_plan"]

KEPT_NOWHERE = (
    "[output] names no summary, and [data] no secret: the one drawn for this run would be kept nowhere, and every further "
    "release of these data needs it. Name a summary (it is confidential), or a secret."
)
NOT_IN_AN_ENGINE = {
    "public_report": "reports show records in memory; with an engine name a summary",
    "report": "reports show records in memory; with an engine name a summary",
    "schema": "parts hold their schema themselves; drop it",
    "keep_order": "an engine has no order of records; drop it",
    "keep_household_ids": "households are not protected in an engine; drop it",
    "separator": "parts are Parquet; drop it",
    "decimal": "parts are Parquet; drop it",
    "keep_formulas": "parts are Parquet; drop it",
    "date": "it is shown in reports, which show records in memory; drop it",
}


def run_large_plan(plan: Plan, *, notes: Sequence[str] = (), progress: Progress = silent) -> LargeResult:
    """Protect the file that a plan names in the engine that it names, and write its parts and its summary."""
    check_large_plan(plan)
    source = plan.data
    given = plan.find(source.secret) if isinstance(source.secret, str) else source.secret
    secret = release_secret(given, test=source.test_secret, owner="[data]")
    loaded = open_source(source, plan.folder)
    try:
        return protect_parts(
            loaded.data, plan.steps, plan.find(str(plan.output.path)), risk=plan.risk, secret=secret,
            summary=None if plan.output.summary is None else plan.find(plan.output.summary),
            recodings=None if plan.output.recodings is None else plan.find(plan.output.recodings),
            notes=(*notes, *loaded.notes), drawn=source.secret is None, progress=progress,
        )  # fmt: skip
    finally:
        loaded.data.view.connection.close()


def check_large_plan(plan: Plan) -> None:
    """Refuse what a plan with an engine cannot ask for, before any work."""
    if plan.output.path is None:
        raise PlanError("[output]: with an engine give path, a pattern such as part-*.parquet.")
    if plan.data.secret is None and plan.output.summary is None:
        raise PlanError(KEPT_NOWHERE)
    for name, reason in NOT_IN_AN_ENGINE.items():
        if getattr(plan.output, name):
            raise PlanError(f"[output]: {name}: {reason}.")
    if plan.edits:
        raise PlanError("[edit]: edit rules are checked on all records in memory; drop the engine, or the rules.")
    if plan.ledger is not None:
        raise PlanError(
            "[ledger]: a ledger judges releases by their records in memory; drop the engine, or the ledger."
        )
    if plan.data.engine != "duckdb":
        raise PlanError("[data]: protect writes its parts with engine = 'duckdb'.")


class PartsWishes(TypedDict, total=False):
    """Places for the confidential summary and for the recodings, what was noted before, and where the secret comes from."""

    summary: Path | None
    recodings: Path | None
    notes: Sequence[str]
    drawn: bool
    test_secret: bool


def protect_parts(
    file: LargeFile,
    steps: Sequence[MaskingMethod],
    path: Path,
    *,
    risk: RiskSection,
    secret: Source,
    progress: Progress = silent,
    **wishes: Unpack[PartsWishes],
) -> LargeResult:
    """Mask, attack, judge, and write the parts if the verdict lets them go."""
    own: Secret = release_secret(secret, test=wishes.get("test_secret", False), owner="protect")
    drawn = wishes.get("drawn", False) or secret is None
    summary = wishes.get("summary")
    with PartsWriter(path, file.n_records) as writer:
        result = protect_large(file, steps, risk, secret=own, sink=writer.add, progress=progress)
        note = DRAWN if drawn else secret_note(own)
        said = (*(() if note is None else (note,)), *wishes.get("notes", ()), *result.notes)
        result = replace(result, notes=said, secret_hex=own.to_hex() if drawn else "")
        result.verdict.require()
        also = {} if summary is None else {summary: json.dumps(result.summary(), indent=2) + "\n"}
        place = wishes.get("recodings")
        if place is not None:
            chosen = [record.facts for record in result.steps]
            also[place] = recodings_text(recodings(file.schema, steps, chosen, result.schema))
        writer.publish(result.schema, also)
    progress(1.0, "done")
    return result
