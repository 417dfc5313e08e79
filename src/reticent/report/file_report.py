# SPDX-License-Identifier: Apache-2.0
"""The two reports of a protected file: everything for the protector, and for the public only what may be known.

`public_report` takes a `MaskedFile` and nothing else, so that nothing confidential can reach it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reticent.base.words import number
from reticent.data.published import MaskedFile
from reticent.data.schema import Kind, Role
from reticent.data.verdict import State
from reticent.microdata.loss.rows import at_published_detail, correlation_rows, distribution_rows, table_rows
from reticent.microdata.result import FileResult, ProtectedFile
from reticent.report.levels_section import level_blocks
from reticent.report.page import (
    HTML,
    Banner,
    Block,
    Chapter,
    Facts,
    Picture,
    Rows,
    Section,
    Text,
    render_page,
    section,
    sections_of,
)
from reticent.report.plots import before_after_bars, distribution_panels, heat_map, histogram_pair, told
from reticent.report.provenance import Provenance, provenance_sections
from reticent.report.risk_section import model_blocks, model_name
from reticent.report.safe_section import safe_blocks
from reticent.report.step_attacks_section import step_attack_blocks

SHOWN = 15
MOST_BARS = 60
TAILS = 0.005
"""The share of values at each end that a panel shows in its last bar: one large value would leave no room for the others."""
HIDDEN = (Role.IDENTIFIER, Role.ENTITY, Role.HOUSEHOLD_ID)


@dataclass(frozen=True)
class FileRun:
    """What the confidential report is about: the run, and the secret where it was drawn."""

    run: ProtectedFile
    secret: str = ""


def confidential_report(
    run: ProtectedFile, *, secret: str = "", origin: Provenance | None = None, form: str = HTML
) -> str:
    """Everything about a run, for the data protector; with the `secret` only in a file that is kept."""
    subtitle = f"{number(run.result.masked.n_records)} records, {len(run.result.steps)} steps"
    sections = [*sections_of(FileRun(run, secret), FILE_SECTIONS), *provenance_sections(origin or Provenance())]
    return render_page("Protection of a microdata file", sections, public=False, subtitle=subtitle, form=form)


def _secret(secret: str) -> tuple[Block, ...]:
    if not secret:
        return ()
    return (
        Text(
            "It was drawn, because none was given. Whoever has it can undo the draws, and every further release of these "
            "data needs it: keep it as a key file of this one line."
        ),
        Text(secret),
    )


def _short(run: ProtectedFile) -> tuple[Block, ...]:
    before, after = run.risk_before.summary(), run.risk_after.summary()
    verdict = run.result.verdict
    lead = (
        "The file stays within the limits of every attack that the plan asks for"
        if verdict.held
        else "Not to be released"
    )
    blocks: list[Block] = [Banner(verdict.clear, f"{lead}: {verdict.headline}.")]
    if verdict.accepted and not verdict.held:
        blocks.append(Banner(False, f"The risk was accepted, for this reason: {verdict.accepted}"))
    pairs = []
    for name, value in before.items():
        if name in after and (value is None or isinstance(value, int | float)):
            pairs.append((name, f"{_number(value)} → {_number(after[name])}"))
    return (*blocks, Facts(tuple(pairs)), *model_blocks(run), *(Text(note) for note in run.result.notes))


def _number(value: Any) -> str:
    return "not judged" if value is None else number(value)


def _verdict(run: ProtectedFile) -> tuple[Block, ...]:
    verdict = run.result.verdict
    rows = tuple((one.attack, str(one.state), "yes" if one.asked else "no", one.text) for one in verdict.attacks)
    colour = {State.HELD: "good", State.NOT_HELD: "bad", State.NOT_JUDGED: ""}
    blocks: list[Block] = [
        Text(
            "The attacker has the true keys of everybody in the file and the true value of every number, and knows how "
            "values were coarsened. Not judged means that nobody knows: it does not mean safe."
        ),
        Rows(
            ("attack", "state", "asked for", "what it found"), rows,
            classes=tuple(colour[one.state] for one in verdict.attacks),
        ),
    ]  # fmt: skip
    linkage = run.attacks.linkage
    if linkage is not None and linkage.by_attacker:
        shares = tuple((name, f"{share:.2%}") for name, share in linkage.by_attacker)
        caption = (
            f"{number(linkage.published)} published with {number(linkage.originals)} true records, by "
            f"{', '.join(linkage.variables)}; {linkage.seconds:.1f} s."
        )
        blocks.append(Rows(("linkage by", "rightly and uniquely linked"), shares, caption))
    if run.attacks.intervals:
        inside = tuple((name, f"{share:.2%}") for name, share in run.attacks.intervals.items())
        blocks.append(Rows(("number", "true values within the interval"), inside))
    return tuple(blocks)


def _combinations(run: ProtectedFile) -> tuple[Block, ...]:
    before, after = run.risk_before.combinations, run.risk_after.combinations
    if before is None:
        return ()
    now = {} if after is None else {frozenset(row.variables): row for row in after.rows}
    rows = []
    for row in before.rows[:SHOWN]:
        later = now.get(frozenset(row.variables))
        rows.append(
            (" × ".join(row.variables), row.unsafe_cells, row.unsafe_records,
             None if later is None else later.unsafe_cells, None if later is None else later.unsafe_records)
        )  # fmt: skip
    drivers_before = before.by_variable()
    drivers_after = {} if after is None else after.by_variable()
    names = list(drivers_before)
    picture = before_after_bars(
        names, [drivers_before[n] for n in names], [drivers_after.get(n, 0) for n in names],
        title="Unsafe combinations that contain each key", unit="unsafe combinations",
    )  # fmt: skip
    return (
        Text("A combination is unsafe if it occurs, in no more records than the threshold. The worst come first."),
        Rows(("combination", "unsafe before", "records before", "unsafe after", "records after"), tuple(rows)),
        Picture(
            picture,
            "Which keys drive the risk: grey bars before, blue bars after.",
            "Unsafe combinations that contain each key, before and after: "
            + told(names, [drivers_before[n] for n in names], [drivers_after.get(n, 0) for n in names]),
        ),
    )


def _drivers(run: ProtectedFile) -> tuple[Block, ...]:
    before, after = run.risk_before, run.risk_after
    if before.shares is None or before.suda is None:
        return ()
    suda_before = before.suda.key_contributions
    suda_after = {} if after.suda is None else after.suda.key_contributions
    now = {} if after.shares is None else after.shares.shares
    rows = tuple(
        (
            name,
            round(share, 5),
            round(now.get(name, 0.0), 5),
            round(suda_before[name], 4),
            round(suda_after.get(name, 0.0), 4),
        )
        for name, share, _, _ in before.shares.rows()
    )
    sizes = before.suda.counts_by_size
    return (
        Text(
            "Shapley shares divide the average risk of re-identification among the keys; they add up to the rise over knowing "
            "nothing. SUDA contributions are the part of the score in minimal uniques that contain the key."
        ),
        Rows(("key", "risk share before", "risk share after", "SUDA before", "SUDA after"), rows),
        Text(
            "Minimal sample uniques before, by the number of their keys: "
            + "; ".join(f"{size} {'key' if size == 1 else 'keys'} {number(n)}" for size, n in sizes.items())
            + "."
        ),
    )


def _semantics(run: ProtectedFile) -> tuple[Block, ...]:
    before, after = run.risk_before.semantics, run.risk_after.semantics
    if before is None or after is None:
        return ()
    then = {row.semantics: row for row in before.rows}
    rows = tuple(
        (str(row.semantics), then[row.semantics].smallest, then[row.semantics].violating_records, row.smallest,
         row.violating_records) for row in after.rows
    )  # fmt: skip
    columns = (
        "reading",
        "smallest count before",
        f"below {after.k} before",
        "smallest after",
        f"below {after.k} after",
    )
    return (
        Text(
            f"All {len(after.keys)} keys together, under every interpretation of missing values; no single one is right."
        ),
        Rows(columns, rows),
    )


def _record_risk(run: ProtectedFile) -> tuple[Block, ...]:
    before, after = run.risk_before.individual, run.risk_after.individual
    if before is None or after is None:
        return ()
    small = 1e-6
    picture = histogram_pair(
        np.log10(np.maximum(before.risk, small)), np.log10(np.maximum(after.risk, small)),
        title="Risk of re-identification per record", unit="risk (logarithmic)",
    )  # fmt: skip
    shares = []
    for threshold in (0.01, 0.05, 0.1, 0.2, 0.5):
        shares.append((threshold, int((before.risk > threshold).sum()), int((after.risk > threshold).sum())))
    return (
        Picture(
            picture,
            f"Risk of each record by the {model_name(before.model)}: grey before, blue outline after.",
            f"Records by their risk. Median {number(float(np.median(before.risk)))} before and "
            f"{number(float(np.median(after.risk)))} after; largest {number(float(before.risk.max(initial=0.0)))} before and "
            f"{number(float(after.risk.max(initial=0.0)))} after.",
        ),
        Text(
            "The risk of a record is 1 divided by the number of published records that fit its true keys at the published "
            "detail (where chance has changed some of its keys: the others); with weights it is the expected 1/F given these "
            "records and their weights."
        ),
        Rows(("threshold", "records above, before", "records above, after"), tuple(shares)),
    )


def _steps(result: FileResult) -> tuple[Block, ...]:
    rows = []
    for place, step in enumerate(result.steps, start=1):
        changed = ", ".join(f"{name}: {number(count)}" for name, count in step.changed.items() if count) or "nothing"
        rows.append((place, step.method, _parameters(step.parameters), changed, "; ".join(step.promises) or "–"))
    blocks: list[Block] = [Rows(("step", "method", "parameters", "values changed", "promises kept"), tuple(rows))]
    changing = [step for step in result.steps if any(step.changed.values())]
    if len(changing) > 1:
        names = list(dict.fromkeys(name for step in changing for name in step.changed))
        values = np.array([[float(step.changed.get(name, 0)) for name in names] for step in changing])
        uri = heat_map(values, [step.method for step in changing], names, title="Values changed", unit="values")
        shown = told([step.method for step in changing], [sum(step.changed.values()) for step in changing])
        blocks.append(Picture(uri, "Values changed, by step and variable.", f"Values changed by each step: {shown}"))
    return tuple(blocks)


def _parameters(parameters: Mapping[str, Any]) -> str:
    """All options of a step as a plan has them, without brackets and quotes."""
    return "; ".join(f"{name}: {_option(value)}" for name, value in parameters.items())


def _option(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} → {_option(one)}" for name, one in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_option, value))
    return number(value)


def _loss(result: FileResult) -> tuple[Block, ...]:
    blocks: list[Block] = [Text(f"Combined score {number(result.loss['score'])} (0: unchanged, 1: nothing is left).")]
    suppressed = result.loss.get("suppressed values", {})
    if suppressed:
        blocks.append(Rows(("variable", "values suppressed"), tuple(suppressed.items())))
    rows = tuple((name, *facts.values()) for name, facts in result.loss.get("numbers", {}).items() if facts)
    if rows:
        blocks.append(Rows(("variable", "mean before", "mean after", "deviation before", "deviation after"), rows))
    whole = [row for row in result.loss["measures"] if "," in str(row["variables"]) or not row["variables"]]
    rows = tuple((row["measure"], row["value"], row["meaning"]) for row in whole)
    blocks.append(Rows(("measure", "value", "what it is"), rows))
    return tuple(blocks)


def _distributions(run: ProtectedFile) -> tuple[Block, ...]:
    """Small panels of the variables that were changed; recoded ones at the published detail."""
    changed = [name for name in _common(run) if any(step.changed.get(name, 0) for step in run.result.steps)]
    before, after = at_published_detail(run.before, run.after, _coded(run)), run.after
    panels = []
    for name in changed:
        if before.schema[name].kind is after.schema[name].kind:  # others have no common axis
            bars = distribution_rows(before, after, name, tails=TAILS)
            if len(bars) <= MOST_BARS:
                panels.append(
                    (name, [bar.label for bar in bars], [bar.before for bar in bars], [bar.after for bar in bars])
                )
    note = Text(
        "Recoded variables are compared at the published detail, so the differences show what else was changed."
    )
    pictures = tuple(_panels(panels[i : i + 2]) for i in range(0, min(len(panels), 8), 2))
    return (note, *pictures) if pictures else ()


def _common(run: ProtectedFile) -> list[str]:
    """Published variables that the source has too."""
    schema = run.after.schema
    return [name for name in schema.names if name in run.before.schema and schema[name].role not in HIDDEN]


def _coded(run: ProtectedFile) -> list[str]:
    return [name for name in _common(run) if run.after.schema[name].kind is not Kind.NUMERIC]


def _panels(panels: Sequence[tuple[str, Sequence[str], Sequence[float], Sequence[float]]]) -> Picture:
    names = " and ".join(name for name, *_ in panels)
    words = ". ".join(f"{name}: {told(labels, before, after, most=6)}" for name, labels, before, after in panels)
    caption = f"Share of records by {names}, before (grey) and after (blue outline)."
    return Picture(distribution_panels(panels), caption, f"Shares before and after by code. {words}")


def _associations(run: ProtectedFile) -> tuple[Block, ...]:
    """Correlations of the numbers, and the cells of one two-way table of codes that changed most."""
    before, after = run.before, run.after
    numeric = tuple(n for n in _common(run) if before.schema[n].kind is after.schema[n].kind is Kind.NUMERIC)
    blocks: list[Block] = []
    if len(numeric) > 1:
        pairs = correlation_rows(before, after, numeric)
        rows = tuple((f"{p.first}, {p.second}", round(p.before, 3), round(p.after, 3)) for p in pairs[:SHOWN])
        blocks.append(Rows(("correlation of", "before", "after"), rows))
    coded = _coded(run)
    if len(coded) > 1 and before.n_records == after.n_records:
        cells = table_rows(at_published_detail(before, after, coded[:2]), after, coded[0], coded[1])
        worst = sorted(cells, key=lambda cell: -abs(cell.after - cell.before))[:SHOWN]
        rows = tuple((cell.label, cell.before, cell.after) for cell in worst)
        blocks.append(
            Rows((f"{coded[0]} × {coded[1]}", "records before", "records after"), rows, "The most changed cells.")
        )
    return tuple(blocks)


PUBLIC_TITLE = "About this file"


def public_report(file: MaskedFile, *, date: str = "", form: str = HTML) -> str:
    """What users of the file may know: its variables, codes and sizes as published. Built from the published file only."""
    return render_page(PUBLIC_TITLE, public_sections(file), public=True, subtitle=date, form=form)


def public_sections(file: MaskedFile) -> list[Section]:
    """What the public report of a file says."""
    file.require_cleared()
    rows = []
    for variable in file.schema.variables:
        encoded = file.frame.encode(variable.name, missing=variable.missing)
        missing = int((encoded.codes < 0).sum())
        kinds = "number" if variable.kind is Kind.NUMERIC else "code"
        rows.append((variable.name, kinds, len(set(encoded.codes.tolist()) - {-1}), missing))
    blocks: tuple[Block, ...] = (
        Facts((("records", number(file.n_records)), ("variables", str(len(file.schema.variables))))),
        Rows(("variable", "kind", "different values", "not available"), tuple(rows)),
        Text(
            "Values were coarsened, left out or changed to make it harder to recognise persons and firms. No file of single "
            "records can rule that out, and this page does not claim it. What was drawn, and other parameters, are confidential."
        ),
    )
    return [Section("Contents", blocks)]


# One line per section of the confidential report, in the order of the page.
FILE_SECTIONS: list[Chapter[FileRun]] = [
    section("In short", lambda about: _short(about.run)),
    section("What each attack found", lambda about: _verdict(about.run)),
    section("Unsafe combinations of keys", lambda about: _combinations(about.run)),
    section("Which keys drive the risk", lambda about: _drivers(about.run)),
    section("How missing values are interpreted", lambda about: _semantics(about.run)),
    section("Risk of the records", lambda about: _record_risk(about.run)),
    section("What each step did", lambda about: _steps(about.run.result)),
    section("What attackers of single steps find", lambda about: step_attack_blocks(about.run.result)),
    section("Levels that were chosen", lambda about: level_blocks(about.run)),
    section("Tables of the file without small counts", lambda about: safe_blocks(about.run.result)),
    section("What it cost", lambda about: _loss(about.run.result)),
    section("Distributions before and after", lambda about: _distributions(about.run)),
    section("Associations before and after", lambda about: _associations(about.run)),
    section("The secret of this run", lambda about: _secret(about.secret)),
]
