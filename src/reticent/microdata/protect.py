# SPDX-License-Identifier: Apache-2.0
"""Protect a microdata file: measure, mask, attack, judge, compare. Nothing here reads or writes a file."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypedDict, Unpack

from reticent.base import clock
from reticent.base.checks import check_options
from reticent.base.errors import ParameterError
from reticent.base.progress import Progress, part, silent
from reticent.base.randomness import Secret, release_secret, secret_note
from reticent.data.method import MaskingMethod
from reticent.data.microdata import Microdata
from reticent.data.plan import RiskSection
from reticent.data.published import release_file
from reticent.data.verdict import State
from reticent.microdata.attacks import attack_file, recount_keys
from reticent.microdata.edits import check_input, read_rules
from reticent.microdata.loss.compare import compare
from reticent.microdata.measure import measure_loss, measure_risk
from reticent.microdata.pipeline import apply_steps, check_needs, finish
from reticent.microdata.recodings import recodings
from reticent.microdata.result import FileResult, ProtectedFile
from reticent.microdata.risk.known import identifying_variables, singling_codes
from reticent.microdata.risk.linkage_causes import linkage_causes
from reticent.microdata.verdict import judge

DRAWN = (
    "No secret was given, so one was drawn; it is in the confidential report and summary. Every further release of these "
    "data needs it, or what was drawn can be averaged out: put it in a key file and name that in [data] secret."
)

HELD_BACK = (
    "The verdict on this masked file does not let it go, so it is neither written nor reported; `file` of the result "
    "says why."
)


class FileOptions(TypedDict, total=False):
    """What may be said about a run besides the data and the steps.

    `most` limits the largest risk of a record and of a household, and the share of records that can be linked back (0.05
    where the file has weights; without weights it must be given). Other limits and attacks are options of `risk`.

    Without a `secret` one is drawn and kept in the result (`secret_hex`): every further release of the data needs it. A
    secret that can be guessed is refused, unless `test_secret` says that the file is never released.
    """

    most: float | None
    risk: RiskSection | None
    edits: Sequence[str]
    secret: Secret | int | bytes | Path | str | None
    test_secret: bool
    keep_order: bool
    keep_household_ids: bool
    progress: Progress


class FileWishes(FileOptions, total=False):
    """The same, with the reason for releasing a file although an attack was not withstood, and what reading it noted."""

    accept_risk: str | None
    notes: Sequence[str]


def protect_data(data: Microdata, steps: Sequence[MaskingMethod], **wishes: Unpack[FileWishes]) -> ProtectedFile:
    """Mask, attack and judge; with the data before and after for the confidential report, whatever the verdict is.

    The publishable file (`run.result.file`) is given out only if the verdict allows it.
    """
    check_options(wishes, FileWishes.__annotations__, owner="protect")
    started, secret, progress = clock.peek(), wishes.get("secret"), wishes.get("progress", silent)
    keep_order = wishes.get("keep_order", False)
    settings = _settings(wishes.get("risk"), wishes.get("most"), wishes.get("accept_risk"))
    limit = settings.limit(weighted=data.schema.weight is not None)
    check_needs(data, steps)
    rules = read_rules(wishes.get("edits", ()), data.schema)
    check_input(data, rules)
    source = release_secret(secret, test=wishes.get("test_secret", False), owner="protect")
    keys = recount_keys(data, settings)
    data.schema.require(settings.known, owner="[risk] known")
    progress(0.0, "risk before")
    before = measure_risk(data, settings, source=True)
    masked = apply_steps(
        data, steps, secret=source, rules=rules, keys=(*keys, *settings.known), progress=part(progress, 0.2, 0.6)
    )
    progress(0.6, "attack")
    released = finish(
        masked.data, secret=source, keep_order=keep_order, keep_household_ids=wishes.get("keep_household_ids", False)
    )
    attacks = attack_file(masked, released, settings, shuffled=not keep_order, progress=part(progress, 0.7, 0.9))
    after = measure_risk(data, settings, masked=attacks.seen(masked))
    limits = partial(judge, settings=settings, limit=limit, households=data.schema.household_id is not None)
    verdict = limits(attacks)
    if attacks.linkage is not None and verdict["linkage"].state is State.NOT_HELD:
        attacks = replace(attacks, causes=linkage_causes(masked.trace, attacks.seen(masked).data, attacks.linkage))
        verdict = limits(attacks)
    progress(0.9, "loss")
    report = compare(data, masked.data)
    result = FileResult(
        masked=release_file(
            released,
            held_back="" if verdict.lets_go else HELD_BACK,
            recodings=partial(recodings, data.schema, steps, [record.facts for record in masked.steps]),
        ),
        verdict=verdict,
        risk_before=before.summary(),
        risk_after=after.summary(),
        loss={**measure_loss(data, masked.data, masked.steps), "score": report.score, "measures": report.rows()},
        steps=masked.steps,
        notes=(
            *_secret_notes(source, drawn=secret is None),
            *_role_notes(data, masked.data),
            *wishes.get("notes", ()),
            *masked.notes,
        ),
        secret_hex=source.to_hex() if secret is None else "",
    )
    progress(1.0, "done")
    return ProtectedFile(result, data, masked.data, before, after, attacks, report, clock.peek() - started)


def with_drawn_secret(run: ProtectedFile, secret: Secret) -> ProtectedFile:
    """A run whose record has the secret that was drawn for it and for others together."""
    notes = (DRAWN, *run.result.notes)
    return replace(run, result=replace(run.result, notes=notes, secret_hex=secret.to_hex()))


def _settings(risk: RiskSection | None, most: float | None, accept_risk: str | None) -> RiskSection:
    """The risk section, with what was given beside it."""
    settings = risk or RiskSection()
    for name, value in (("most", most), ("accept_risk", accept_risk)):
        if value is not None and getattr(settings, name) is not None:
            raise ParameterError(f"protect: {name} is given twice, directly and in risk; give it once.")
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
