# SPDX-License-Identifier: Apache-2.0
"""Protect records that stay in an engine: prepare the steps, mask block by block, attack, judge. Nothing is written here.

Each masked block goes to a sink; whether what the sink holds may leave is said by the verdict at the end.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from reticent.base.arrays import Floats
from reticent.base.errors import DataError, PlanError
from reticent.base.plain import as_plain
from reticent.base.progress import Progress, part, silent
from reticent.base.randomness import STREAM_VERSION, Secret
from reticent.base.words import counted
from reticent.data.draws import parameters_key, scale_key
from reticent.data.large import LargeFile
from reticent.data.method import MaskingMethod
from reticent.data.microdata import Microdata
from reticent.data.plan import RiskSection
from reticent.data.published import published_schema
from reticent.data.schema import Kind, Role, Schema
from reticent.data.verdict import ATTACKS, AttackVerdict, FileVerdict, State
from reticent.kernels.draws import uniforms
from reticent.microdata.large_linkage import SAMPLE, Linker, SampledLinkage
from reticent.microdata.large_outside import outside_in_engine
from reticent.microdata.large_restored import ToldInEngine, told_in_engine
from reticent.microdata.large_risk import refuse_respondents
from reticent.microdata.large_singled import Singled, singled_out
from reticent.microdata.large_steps import LargeSteps, prepare
from reticent.microdata.mask.pram import Pram
from reticent.microdata.pipeline import StepRecord
from reticent.microdata.risk.recount import Recount, recount, recount_as_it_is
from reticent.microdata.verdict import figure, told_texts

Sink = Callable[[Microdata, Floats], None]
"""Takes a masked block without identifiers, and a drawn number for each record that says where it is in the release."""
IN_AN_ENGINE = "is not judged where records stay in an engine"


@dataclass(frozen=True)
class LargeResult:
    """What became of a large file: the verdict, risk before and after, what each step did. Confidential."""

    n_records: int
    schema: Schema
    verdict: FileVerdict
    risk_before: Mapping[str, Any]
    risk_after: Mapping[str, Any]
    linkage: SampledLinkage
    steps: tuple[StepRecord, ...]
    notes: tuple[str, ...] = ()
    secret_hex: str = field(default="", repr=False)

    def __repr__(self) -> str:
        return f"<LargeResult {self.n_records} records, {len(self.steps)} steps: {self.verdict.headline}>"

    def summary(self) -> dict[str, Any]:
        """Everything as plain data for `json.dumps` (with the secret if it was drawn)."""
        facts = {
            **({"secret": self.secret_hex} if self.secret_hex else {}),
            "streams": STREAM_VERSION,
            "records": self.n_records,
            "verdict": self.verdict.summary(),
            "risk": {"before": dict(self.risk_before), "after": dict(self.risk_after)},
            "linkage": {"tried": self.linkage.tried, "linked": self.linkage.linked, "upper limit": self.linkage.upper},
            "steps": [step.summary() for step in self.steps],
            "notes": list(self.notes),
        }
        return {name: as_plain(value) for name, value in facts.items()}


def protect_large(
    file: LargeFile,
    steps: Sequence[MaskingMethod],
    settings: RiskSection,
    *,
    secret: Secret,
    sink: Sink,
    progress: Progress = silent,
) -> LargeResult:
    """Mask every record as the same steps do in memory, and give the blocks to the sink; then judge the whole."""
    keys = _checked(file, steps, settings)
    limit = settings.limit(weighted=file.schema.weight is not None)
    weight = () if file.schema.weight is None else (file.schema.weight,)  # published as it is, it says who somebody is
    known = settings.known or tuple(dict.fromkeys((*keys, *file.schema.keys, *_numbers(file.schema), *weight)))
    ready = prepare(file, steps, keys, known=known, secret=secret, progress=part(progress, 0.0, 0.2))
    progress(0.2, "recount")
    before = recount_as_it_is(ready.combined.trace.original, keys, blanks=False)
    after = recount(ready.combined.trace, ready.combined.data, keys)
    told = told_in_engine(ready, keys, progress=part(progress, 0.2, 0.25))
    told = replace(told, outside=outside_in_engine(file, ready, keys))
    singled = singled_out(ready, known)
    linker, whole = _sampled(ready, known, secret, part(progress, 0.25, 0.35))
    done = 0
    order = _order_words(ready, steps, secret)
    used: dict[str, set[int]] = {
        name: set() for one in ready.late for name in one.variables if isinstance(one.step, Pram)
    }
    for block in ready.blocks():
        linker.look(block)
        for name, codes in used.items():
            codes.update(np.unique(block.shown.encoded(name).codes).tolist())
        sink(block.shown.without(_secret_names(block.shown.schema)), uniforms(*order, block.shown.record_ids()))
        done += block.truth.n_rows
        progress(0.35 + 0.6 * done / file.n_records, "masking")
    linkage = linker.found(whole=whole)
    return LargeResult(
        file.n_records,
        _public_schema(ready, used),
        judge_large(
            after,
            linkage,
            settings,
            limit,
            weights=file.schema.weight is not None,
            told=told,
            singled=singled,
        ),
        _risk_facts(before),
        _risk_facts(after),
        linkage,
        (*ready.records, *(one.record() for one in ready.late)),
        ("Risk before is that of the recoded keys: recodings run in the engine.",),
    )


def _checked(file: LargeFile, steps: Sequence[MaskingMethod], settings: RiskSection) -> tuple[str, ...]:
    """The keys; what an engine cannot protect or judge is refused before any work."""
    schema = file.schema
    keys = settings.keys or schema.keys
    schema.require((*keys, *settings.known), owner="[risk]")
    if not keys:
        raise DataError("protect: the schema has no keys, so nothing can be judged; give variables the role key.")
    refuse_respondents(file, owner="protect")
    if schema.household_id is not None:
        raise DataError(
            f"protect: households ({schema.household_id!r}) are judged together, and an engine gives single records; read the "
            "file without an engine.",
            variables=(schema.household_id,),
        )
    if set(settings.attacks) & {"households"}:
        raise PlanError("[risk]: attacks names households, and the data have no household id; leave households out.")
    for step in steps:
        step.check(schema)
        schema = step.schema_after(schema)
    file.refuse_infinite(file.schema.names)
    return keys


def _numbers(schema: Schema) -> tuple[str, ...]:
    structure = (Role.IDENTIFIER, Role.WEIGHT, Role.ENTITY, Role.HOUSEHOLD_ID)
    return tuple(
        v.name for v in schema.variables if v.kind is Kind.NUMERIC and v.role not in structure and not v.is_key
    )


def _secret_names(schema: Schema) -> tuple[str, ...]:
    return schema.with_role(Role.IDENTIFIER, Role.ENTITY)


def _sampled(ready: LargeSteps, known: Sequence[str], secret: Secret, progress: Progress) -> tuple[Linker, bool]:
    """The records that the attacker tries to link, drawn by the secret and the identifier; whether these are all."""
    file, words = ready.file, secret.child("linkage").words("sample")
    share = SAMPLE / file.n_records
    chosen, done = list[str](), 0
    for _, block in file.coded_blocks((), (ready.identifier,), ready.identifier):
        drawn = np.flatnonzero(uniforms(*words, block.record_ids()) < share)
        chosen += file.literals(ready.identifier, block, drawn)
        done += block.n_rows
        progress(done / file.n_records, "drawing the sample")
    where = "" if share >= 1 else file.is_listed(ready.identifier, chosen)
    found = Linker.of(ready.combined, known, list(ready.blocks(where=where)))
    for late in ready.late:
        late.changed.clear()  # the sample comes again with its block
    return found, share >= 1


def _order_words(ready: LargeSteps, steps: Sequence[MaskingMethod], secret: Secret) -> tuple[int, int]:
    """What keys the order of this release.

    Another release of the same records, by other steps or of corrected data, has an order of its own, because an equal
    one would join the two line by line.
    """
    original = ready.combined.trace.original
    counted = hashlib.blake2b(np.ascontiguousarray(original.codes(ready.keys)).tobytes())
    counted.update(np.ascontiguousarray(original.multiplicity).tobytes())
    seen = (
        [(step.name, parameters_key(step)) for step in steps], ready.file.schema.names,
        [original.categories(name) for name in ready.keys], counted.hexdigest(), [one.facts for one in ready.late],
    )  # fmt: skip
    return secret.child("release").child(f"order of parts: {scale_key(seen)}").words("draws")


def _risk_facts(found: Recount) -> dict[str, Any]:
    individual = found.individual()
    copies = np.ones(len(individual.risk), dtype=np.int64) if found.copies is None else found.copies
    return {
        "combinations of keys": len(copies),
        "records alone with their keys": int(copies[found.sample_counts == 1].sum()),
        "expected re-identifications": round(individual.expected_reidentifications, 3),
        "highest record risk": float(individual.risk.max(initial=0.0)),
    }


def judge_large(
    found: Recount,
    linkage: SampledLinkage,
    settings: RiskSection,
    limit: float,
    *,
    weights: bool,
    told: ToldInEngine | None = None,
    singled: Singled | None = None,
) -> FileVerdict:
    """One verdict for each attack; what needs all records at once is not judged, whatever was asked.

    The recount goes by combinations of keys; where other variables tell what is hidden of these (`told`), or tell it to somebody
    who knows more, it is not judged.
    Linkage goes by the attackers of the sample, or by codes that single out more (`singled`).
    """
    asked = settings.asked(households=False, weights=weights)
    individual = found.individual()
    worst, above = float(individual.risk.max(initial=0.0)), individual.records_above(limit)
    how = "all records" if linkage.whole else f"a sample of {linkage.tried} records"
    sure = "" if linkage.whole else f", at most {linkage.upper:.2%} of the file with 95 % confidence"
    told = told or ToldInEngine()
    outside = told.outside
    unknown = bool(told.told) or (bool(outside.told) and worst <= limit < 1)  # a limit of 1 allows all that they know
    left = f"; {counted(told.pairs_left_out, 'pair')} of variables were not tried" if told.pairs_left_out else ""
    alone = "" if singled is None or singled.share <= linkage.upper else f"{singled.text}; "
    texts: dict[str, tuple[float | None, float, str]] = {
        "recount": (
            None if unknown else worst,
            limit,
            f"{'; '.join([*told_texts(told.told), *(one.text for one in outside.told)])}; a recount that uses this {IN_AN_ENGINE}"
            if unknown
            else f"the largest risk of a record is {figure(worst, limit)}, {limit:g} is allowed ({above} records above){left}"
            f"{outside.text}",
        ),
        "linkage": (
            linkage.upper if singled is None else max(linkage.upper, singled.share),
            limit,
            f"{alone}{linkage.share:.2%} of {how} are rightly and uniquely linked by {len(linkage.variables)} variables "
            f"({linkage.attacker}){sure}; "
            f"{limit:.2%} is allowed",
        ),
        "intervals": (None, limit, f"what lies within intervals of ranks {IN_AN_ENGINE}"),
        "weights": (
            None,
            0.0,
            f"what published weights tell of keys {IN_AN_ENGINE}; drop the weight, or leave weights out of attacks",
        ),
        "order": (0.0, 0.0, "the records are in an order drawn by the secret"),
    }
    made = []
    for name in ATTACKS:
        if name not in texts or (name in ("intervals", "weights") and name not in asked):
            continue
        value, most, text = texts[name]
        state = State.NOT_JUDGED if value is None else State.HELD if value <= most else State.NOT_HELD
        made.append(AttackVerdict(name, state, name in asked, text, value, None if value is None else most))
    return FileVerdict(tuple(made), settings.accept_risk or "")


def _public_schema(ready: LargeSteps, used: Mapping[str, set[int]]) -> Schema:
    """The schema that may leave, with the codes that published records have: `used`, where chance has changed them."""
    file, combined = ready.file, ready.combined
    schema = file.schema
    for name in ready.keys:
        schema = schema.replace(combined.data.schema[name])
    kept = schema.without(_secret_names(schema))

    def holds(name: str) -> Microdata:
        if name in ready.keys:
            return combined.data
        column = file.column(name)
        return column.rows(np.isin(column.encoded(name).codes, list(used[name]))) if name in used else column

    return published_schema(kept, holds)
