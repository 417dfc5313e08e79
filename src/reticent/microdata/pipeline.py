# SPDX-License-Identifier: Apache-2.0
"""Masking as one road: check what every step needs, apply the steps, check their promises, keep what the attacker compares with.

Jobs and explorations take this road alike, so that what a map chooses is what a run measures.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reticent.base.errors import DataError, NotProtectedError, PlanError
from reticent.base.progress import Progress, part, silent
from reticent.base.randomness import Secret
from reticent.data.method import MaskingMethod, Method
from reticent.data.microdata import Microdata
from reticent.data.parameters import to_plain
from reticent.data.schema import Kind
from reticent.microdata.edits import EditRule, check_step
from reticent.microdata.hidden_after import FollowsFromAll
from reticent.microdata.mask.identifiers import NewIdentifiers, RemoveIdentifiers
from reticent.microdata.mask.reorder import Reorder
from reticent.microdata.risk.known import known_variables, other_codes
from reticent.microdata.trace import Trace, alike, positions


@dataclass(frozen=True)
class StepRecord:
    """What one step of a plan did: its parameters, the values it changed per variable, its facts, its promises."""

    method: str
    parameters: Mapping[str, Any]
    changed: Mapping[str, int]
    facts: Mapping[str, Any]
    promises: tuple[str, ...]
    seconds: float

    @property
    def repeat(self) -> Mapping[str, Any]:
        """Options that end the same search at the same place again; none unless a limit ended it."""
        found: Mapping[str, Any] = self.facts.get("repeat", {})
        return found

    def summary(self) -> dict[str, Any]:
        """The record as plain data."""
        return {
            "method": self.method,
            "parameters": dict(self.parameters),
            "changed": dict(self.changed),
            "facts": dict(self.facts),
            "promises kept": list(self.promises),
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True)
class Masked:
    """What the steps made of a file: the data, what each published value may stand for, and the record of each step."""

    data: Microdata
    trace: Trace = field(repr=False)
    steps: tuple[StepRecord, ...]
    notes: tuple[str, ...] = ()


def check_needs(data: Microdata, steps: Sequence[MaskingMethod]) -> None:
    """Check every step's needs against the schema it will meet, before the first one starts; numbers must be finite."""
    schema = data.schema
    _check_numbers(data)
    for number, step in enumerate(steps):
        step.check(schema)
        schema = step.schema_after(schema)
        if getattr(step, "last", False):
            _check_last(step, steps[number + 1 :])


def _check_last(step: MaskingMethod, later: Sequence[MaskingMethod]) -> None:
    """Only what leaves the values as they are may follow a step that must be the last."""
    breaking = [other.name for other in later if not isinstance(other, Reorder | RemoveIdentifiers)]
    if breaking:
        raise PlanError(
            f"{step.name} must be the last step that changes values, but {breaking[0]} follows it; put that before it."
        )


def _check_numbers(data: Microdata) -> None:
    """Refuse numbers that arithmetic cannot hold: what it cannot tell apart, an attacker who reads the file can."""
    for variable in data.schema.variables:
        if variable.kind is not Kind.NUMERIC:
            continue
        name = variable.name
        if np.isinf(data.numbers((name,))).any():
            raise DataError(
                f"Variable {name!r} has infinite values; correct them, or give them a missing code.", variables=(name,)
            )
        if not data.frame.numbers_differ_as_written(name, missing=variable.missing):
            raise DataError(
                f"Variable {name!r} has numbers with too many digits to be distinguished in arithmetic; declare it nominal "
                "(or an identifier), or round it.",
                variables=(name,),
            )


def apply_steps(
    data: Microdata,
    steps: Sequence[MaskingMethod],
    *,
    secret: Secret,
    rules: Sequence[EditRule] = (),
    keys: Sequence[str] = (),
    progress: Progress = silent,
) -> Masked:
    """Apply the steps in their order, each with its own secret; `keys` are followed besides what an attacker may know."""
    check_needs(data, steps)
    records: list[StepRecord] = []
    notes: list[str] = []
    trace = Trace.start(data, (*keys, *known_variables(data), *other_codes(data)))
    times_seen: dict[str, int] = {}
    followed: list[tuple[str, tuple[str, ...], Microdata]] = []
    from_all: list[FollowsFromAll] = []
    for number, step in enumerate(steps):
        occurrence = times_seen.get(step.name, 0)
        times_seen[step.name] = occurrence + 1
        within = part(progress, number / len(steps), (number + 1) / len(steps))
        within(0.0, step.name)
        started = time.perf_counter()
        # named by method and occurrence: another method added before it does not change its draws
        own = secret.child(f"{step.name}:{occurrence}")
        applied = step.apply(data, secret=own, progress=within)
        kept = check_promises(step, data, applied.data)
        lost = check_step(step.name, applied.data, rules)
        rules = [rule for rule in rules if rule.text not in lost]
        notes += [f"After step {step.name}, edit rule {text!r} cannot be checked any more." for text in lost]
        trace = trace.after(step, data, applied.data, secret=own)
        took = time.perf_counter() - started
        records.append(StepRecord(step.name, to_plain(step), applied.changed, applied.facts, kept, took))
        from_all += (
            [FollowsFromAll.of(step.name, names, data, applied.data)] if (names := _from_all(step, data)) else []
        )
        data = applied.data
        followed += [(step.name, names, data)] if (names := _in_weights(step, data)) else []
    for name, names, then in followed:
        _check_followed(name, names, then, data)
    for earlier in from_all:
        earlier.check(data)
    return Masked(data, trace, tuple(records), tuple(notes))


def check_promises(step: MaskingMethod, before: Microdata, after: Microdata) -> tuple[str, ...]:
    """Recount what a step promised of its output; a broken promise ends the run, and so do weights that are none."""
    _check_weights_left(step, after)
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


def _in_weights(step: MaskingMethod, data: Microdata) -> tuple[str, ...]:
    return step.in_weights(data.schema) if isinstance(step, Method) else ()


def _from_all(step: MaskingMethod, data: Microdata) -> tuple[str, ...]:
    return step.follows_from_all(data.schema) if isinstance(step, Method) else ()


def _check_followed(step: str, names: Sequence[str], then: Microdata, data: Microdata) -> None:
    """Weights that follow from values reveal them, also where later steps change these values or leave them out."""
    if data.schema.weight is None:
        return
    place = positions(then, data)
    here = np.flatnonzero(place >= 0)
    rows, now = then.rows(place[here]), data.rows(here)
    changed = [name for name in names if name not in data.schema or not alike(rows, now, name)]
    if changed:
        raise NotProtectedError(
            f"{step}: weights were calibrated to {changed[0]!r}, so that they reveal its values, and a later step changes "
            f"it. Put that step before {step}, or leave {changed[0]!r} out of calibrate.",
            exposed=len(here),
        )


def _check_weights_left(step: MaskingMethod, after: Microdata) -> None:
    """Every published weight is above 0, as of every file that is read: by such weights nothing can be estimated or judged."""
    weights = after.weights()
    if weights is not None and not bool((weights > 0).all()):
        raise DataError(
            f"{step.name}: weights would be missing, 0 or negative; leave {after.schema.weight!r} out of the step, or take "
            "values above 0.",
            variables=(str(after.schema.weight),),
        )


def finish(data: Microdata, *, secret: Secret, keep_order: bool, keep_household_ids: bool) -> Microdata:
    """Renumber households and shuffle the records, both keyed by the secret: neither may lead back to the source file.

    Members stay together only where their household id is published; else they would be known by standing side by side.
    """
    own = secret.child("release")
    household = data.schema.household_id
    if household is not None and not keep_household_ids:
        data = NewIdentifiers(household).apply(data, secret=own, progress=silent).data
    if not keep_order:
        data = Reorder(mix_households=household is None).apply(data, secret=own, progress=silent).data
    return data
