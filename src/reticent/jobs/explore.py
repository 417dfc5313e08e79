# SPDX-License-Identifier: Apache-2.0
"""The job that explores: read candidates from a TOML file, measure them, write table, report and the chosen plan."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from reticent.base.errors import PlanError
from reticent.base.progress import Progress, silent
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.plan import DataSection, FileOutputSection, Plan, plan_to_toml
from reticent.io.formulas import defused
from reticent.microdata.explore import Exploration, explore
from reticent.microdata.explore_spec import ExploreSpec, read_explore_spec


def run_explore_spec(
    given: ExploreSpec | Path, *, data: Microdata | None = None, progress: Progress = silent
) -> tuple[ExploreSpec, Exploration]:
    """Run an exploration, of a file or read already, and write what it asks for; `data` stand for those that it names.

    The plan is written only if `protect` would let it go on every fresh draw.
    """
    from reticent.io.places import check_places, inputs_of
    from reticent.io.read import load_source
    from reticent.microdata.mask import METHODS

    spec = given if isinstance(given, ExploreSpec) else read_explore_spec(Path(given), METHODS)
    named = (spec.find(name) for name in vars(spec.output).values() if name)
    own = () if isinstance(given, ExploreSpec) else (Path(given),)
    check_places(named, [*own, *inputs_of(spec, spec.folder)])
    source = spec.data
    secret = None if source.secret is None else as_secret(
        spec.find(source.secret) if isinstance(source.secret, str) else source.secret
    )  # fmt: skip
    records = load_source(source, spec.folder).data if data is None else data
    if spec.output.plan:
        spec.settings.risk.limit(weighted=records.schema.weight is not None)  # else no plan could be called held
    found = explore(
        records,
        spec.candidates,
        settings=spec.settings,
        secret=secret,
        edits=spec.edits,
        state=spec.find(spec.output.state) if spec.output.state else None,
        progress=progress,
    )
    _write(spec, found)
    return spec, found


def chosen_plan(spec: ExploreSpec, found: Exploration) -> Plan:
    """The plan of the chosen candidate."""
    if found.chosen is None:
        raise PlanError(
            "explore: no candidate can be released on every draw, so there is no plan to write; "
            "add candidates that mask more, or raise most_risk."
        )
    # a secret that the plan draws must be kept: without one of its own it names a confidential report
    report = None if spec.data.secret is not None else "confidential.html"
    output = FileOutputSection(path=spec.output.masked or "masked.csv", report=report)
    return Plan(
        data=spec.data,
        steps=found.chosen.steps,
        output=output,
        risk=spec.settings.risk,
        edits=spec.edits,
        folder=spec.folder,
    )


def table_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """The table of all candidates as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({k: defused(v) if isinstance(v, str) else v for k, v in row.items()} for row in rows)
    return text.getvalue()


def _write(spec: ExploreSpec, found: Exploration) -> None:
    from reticent.io.atomic import write_text
    from reticent.report.explore_report import explore_report
    from reticent.report.page import form_of

    output = spec.output
    if output.table:
        write_text(spec.find(output.table), table_text(found.rows()))
    if output.report:
        form = form_of(output.report)
        page = explore_report(found.rows(), fresh=_fresh_row(found), state=found.state, form=form)
        write_text(spec.find(output.report), page)
    if output.plan and found.holds:
        plan = chosen_plan(spec, found)
        # A plan elsewhere still finds its data: paths are written as seen from the plan's own folder.
        target = spec.find(output.plan)
        if target.parent.resolve() != spec.folder.resolve():
            plan = replace(plan, data=_absolute(spec, plan.data))
        write_text(target, plan_to_toml(plan))


def _absolute(spec: ExploreSpec, data: DataSection) -> DataSection:
    schema = None if data.schema is None else str(spec.find(data.schema).resolve())
    secret = str(spec.find(data.secret).resolve()) if isinstance(data.secret, str) else data.secret
    return replace(data, path=str(spec.find(data.path).resolve()), schema=schema, secret=secret)


def _fresh_row(found: Exploration) -> dict[str, Any] | None:
    return None if found.fresh is None else dict(found.fresh.row())
