# SPDX-License-Identifier: Apache-2.0
"""The jobs of a delegation: keys, encrypt (owner), evaluate (handler), verify (owner); each reads, calls and writes."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from reticent.base.checks import did_you_mean
from reticent.base.errors import DataError, PlanError
from reticent.base.progress import Progress, silent
from reticent.data.parameters import build
from reticent.data.plan import read_toml, sections_of
from reticent.delegation.columns import whole_values
from reticent.delegation.handler import evaluate_request
from reticent.delegation.owner import (
    Keys,
    Receipt,
    Verified,
    WrongResultError,
    make_keys,
    make_request,
    open_response,
    spent_keys,
)
from reticent.delegation.plan import SECTIONS, DelegationPlan
from reticent.io.atomic import atomic_write, write_text
from reticent.io.places import check_places, inputs_of
from reticent.io.read import load_microdata
from reticent.report.delegation_report import delegation_report
from reticent.report.page import form_of


def read_delegation(path: Path) -> DelegationPlan:
    """The plan, checked: expressions are read, and their depth and bounds judged, before anything else happens."""
    table = read_toml(path)
    table = sections_of(table, SECTIONS, owner=path.name)
    plan = replace(build(DelegationPlan, table, owner=path.name), folder=path.parent, source=path)
    check_files(plan)
    try:
        plan.job.refuse_check(plan.delegation.check)
    except ValueError as err:
        raise PlanError(f"{path.name}: {err}") from err
    return plan


def check_files(plan: DelegationPlan) -> None:
    """Refuse a delegation whose keys, receipt, request, response and results are not each a file of its own."""
    named = (*vars(plan.files).values(), plan.output.report, plan.output.summary)
    own = () if plan.source is None else (plan.source,)
    check_places((plan.folder / name for name in named if name), (*own, *inputs_of(plan, plan.folder)))


def _values(plan: DelegationPlan) -> Mapping[str, Any]:
    data = load_microdata(plan.data.path, plan.data.schema, folder=plan.folder).data
    missing = [name for name in plan.columns if name not in data.schema.names]
    if missing:
        hint = did_you_mean(missing[0], data.schema.names) or f" Columns: {', '.join(data.schema.names)}."
        raise DataError(f"delegate: the data have no column {missing[0]!r}.{hint}", variables=tuple(missing))
    return {name: data.numbers([name])[:, 0] for name in plan.columns}


def _plan(source: DelegationPlan | Path) -> DelegationPlan:
    return source if isinstance(source, DelegationPlan) else read_delegation(source)


def write_keys(source: DelegationPlan | Path) -> Path:
    """Make the owner's keys, for as many rows as the data have."""
    plan = _plan(source)
    values = _values(plan)
    target = plan.file("keys")
    if target.exists() and _read(target) != spent_keys():
        raise PlanError(f"{target.name}: keys are there already; remove them if nothing encrypted with them is needed.")
    data = whole_values(values, plan.columns)
    keys = make_keys(plan.job, len(next(iter(data.values()))))
    _write_keys(target, keys.to_bytes())
    return target


def _write_keys(target: Path, raw: bytes) -> None:
    with atomic_write(target, binary=True) as file:
        file.write(raw)
    target.chmod(0o600)


def write_request(source: DelegationPlan | Path, *, progress: Progress = silent) -> Path:
    """Encrypt the columns and write the request for the handler; the receipt stays with the owner."""
    plan = _plan(source)
    raw, receipt = make_request(plan.job, _keys(plan), _values(plan), progress=progress)
    target = plan.file("request")
    write_text(plan.file("receipt"), receipt.to_text())
    with atomic_write(target, binary=True) as file:
        file.write(raw)
    return target


def write_response(request: Path, output: Path, *, progress: Progress = silent) -> Path:
    """The handler's work: no key, no plan, only the request."""
    check_places([output], [request])
    raw = evaluate_request(_read(request), progress=progress)
    with atomic_write(output, binary=True) as file:
        file.write(raw)
    return output


def verify_response(source: DelegationPlan | Path, *, progress: Progress = silent) -> Verified:
    """Take a response once: decrypt, verify, write the results. By a wrong result the keys are used up, too."""
    plan = _plan(source)
    keys, values = _keys(plan), _values(plan)
    receipt = Receipt.from_text(_read(plan.file("receipt")).decode("utf-8", errors="replace"))
    raw = _read(plan.file("response"))

    def taken() -> None:  # on disk before the verdict: a response is judged once, with primes that are used once
        write_text(plan.file("receipt"), replace(receipt, used=True).to_text())

    try:
        found = open_response(
            plan.job, keys, receipt, raw, values, check=plan.delegation.check, taken=taken, progress=progress
        )
    except WrongResultError:
        _write_keys(plan.file("keys"), spent_keys())
        raise
    if plan.output.summary:
        write_text(plan.folder / plan.output.summary, json.dumps(found.summary(), indent=2) + "\n")
    if plan.output.report:
        write_text(
            plan.folder / plan.output.report,
            delegation_report(found, plan.expressions, form=form_of(plan.output.report)),
        )
    return found


def _keys(plan: DelegationPlan) -> Keys:
    return Keys.from_bytes(_read(plan.file("keys")))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as err:
        raise DataError(f"{path.name}: the file cannot be read ({err.strerror}).") from err
