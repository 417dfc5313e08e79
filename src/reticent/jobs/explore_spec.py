"""Explorations as TOML files: read the candidates and their grids, run, write table, report and the chosen plan."""

import csv
import io
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from reticent.base.errors import PlanError
from reticent.base.progress import Progress, silent
from reticent.base.randomness import as_secret
from reticent.data.method import MaskingMethod, Registry
from reticent.data.parameters import build
from reticent.data.plan import (
    DataSection,
    FileOutputSection,
    Plan,
    check_sections,
    edits_from_table,
    plan_to_toml,
    read_toml,
)
from reticent.jobs.explore import Candidate, Exploration, ExploreSettings, explore

SECTIONS = ("data", "explore", "candidate", "edit", "output")
MOST_CANDIDATES = 2000


@dataclass(frozen=True)
class ExploreOutput:
    """`[output]`: the chosen plan, the table (CSV), the confidential report (HTML), the state to resume from."""

    plan: str | None = None
    table: str | None = None
    report: str | None = None
    state: str | None = None
    masked: str | None = field(default=None, metadata={"help": "[output] path of the plan that is written"})


@dataclass(frozen=True)
class ExploreSpec:
    """A whole exploration: data, settings, candidates, outputs."""

    data: DataSection
    settings: ExploreSettings
    candidates: tuple[Candidate, ...]
    output: ExploreOutput = ExploreOutput()
    edits: tuple[str, ...] = ()
    folder: Path = field(default=Path("."), compare=False)

    def find(self, name: str) -> Path:
        """A file that the spec names, relative to its own folder."""
        path = Path(name)
        return path if path.is_absolute() else self.folder / path


def read_explore_spec(path: Path, registry: Registry) -> ExploreSpec:
    """Read an exploration from TOML."""
    return explore_spec_from_table(read_toml(path), registry, owner=path.name, folder=path.parent)


def explore_spec_from_table(
    table: Mapping[str, Any], registry: Registry, *, owner: str, folder: Path = Path(".")
) -> ExploreSpec:
    """Build an exploration from the tables of a TOML file.

    A `[[candidate]]` has `step`, a list of plan steps, or `method` and its options directly; `vary` lists values:
    `vary = {k = [3, 5, 10]}` makes three candidates. Options of a later step are written "2.k".
    """
    check_sections(table, SECTIONS, owner=owner)
    if "data" not in table:
        raise PlanError(f"{owner}: the section [data] is missing; it says which file to explore.")
    candidates: list[Candidate] = []
    for number, entry in enumerate(table.get("candidate", []), start=1):
        candidates += _expand(entry, registry, f"{owner}: candidate {number}")
        if len(candidates) > MOST_CANDIDATES:
            raise PlanError(f"{owner}: more than {MOST_CANDIDATES} candidates; make the grids coarser.")
    return ExploreSpec(
        data=build(DataSection, table["data"], owner=f"{owner}: [data]"),
        settings=build(ExploreSettings, table.get("explore", {}), owner=f"{owner}: [explore]"),
        candidates=tuple(candidates),
        output=build(ExploreOutput, table.get("output", {}), owner=f"{owner}: [output]"),
        edits=edits_from_table(table, owner=owner),
        folder=folder,
    )


def _expand(entry: Mapping[str, Any], registry: Registry, where: str) -> list[Candidate]:
    """All candidates of one entry."""
    options = dict(entry)
    name, vary, steps = options.pop("name", None), options.pop("vary", {}), options.pop("step", None)
    if steps is None:
        steps = [options]
    elif options:
        raise PlanError(f"{where}: with step, other options ({', '.join(sorted(options))}) belong into the steps.")
    if not isinstance(vary, Mapping) or not all(isinstance(values, list) and values for values in vary.values()):
        raise PlanError(f"{where}: vary must name options with lists of values, as in vary = {{k = [3, 5]}}.")
    if not isinstance(steps, list) or not steps or not all(isinstance(step, Mapping) for step in steps):
        raise PlanError(f"{where}: step must be a list of steps with a method each.")
    out = []
    for values in itertools.product(*vary.values()):
        varied = [dict(step) for step in steps]
        for key, value in zip(vary, values):
            at, option = _place(key, len(varied), where)
            varied[at][option] = value
        label = ", ".join(f"{key} = {_short(value)}" for key, value in zip(vary, values))
        built = tuple(_step(step, registry, where) for step in varied)
        base = name or " + ".join(step.name for step in built)
        out.append(Candidate(f"{base} ({label})" if label else base, built))
    return out


def _place(key: str, count: int, where: str) -> tuple[int, str]:
    """Step and option that a varied name means."""
    number, dot, option = key.partition(".")
    if not dot:
        return 0, key
    if not number.isdigit() or not 1 <= int(number) <= count:
        raise PlanError(f"{where}: vary {key!r} names a step that is not there; steps are numbered 1 to {count}.")
    return int(number) - 1, option


def _short(value: Any) -> str:
    return "/".join(map(str, value)) if isinstance(value, list) else str(value)


def _step(options: Mapping[str, Any], registry: Registry, where: str) -> MaskingMethod:
    plain = dict(options)
    method = plain.pop("method", None)
    if not isinstance(method, str):
        raise PlanError(f"{where} has no method; give one of {', '.join(sorted(registry))}.")
    made: MaskingMethod = build(registry[method], plain, owner=f"{where} ({method})")
    return made


def run_explore_spec(path: Path, *, progress: Progress = silent) -> tuple[ExploreSpec, Exploration]:
    """Read an exploration, run it, write what it asks for. The plan is written only if its risk holds on fresh draws."""
    from reticent.io.places import check_places, inputs_of
    from reticent.io.read import load_microdata
    from reticent.microdata.mask import METHODS

    spec = read_explore_spec(Path(path), METHODS)
    named = (spec.find(name) for name in vars(spec.output).values() if name)
    check_places(named, [Path(path), *inputs_of(spec, spec.folder)])
    source = spec.data
    secret = None if source.secret is None else as_secret(
        spec.find(source.secret) if isinstance(source.secret, str) else source.secret
    )  # fmt: skip
    data = load_microdata(
        source.path, source.schema, folder=spec.folder, format=source.format, query=source.query,
        separator=source.separator, encoding=source.encoding,
    ).data  # fmt: skip
    found = explore(
        data,
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
        raise PlanError("explore: no candidate keeps to most_risk, so there is no plan to write.")
    output = FileOutputSection(path=spec.output.masked or "masked.csv")
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
    writer.writerows(rows)
    return text.getvalue()


def _write(spec: ExploreSpec, found: Exploration) -> None:
    from reticent.io.atomic import write_text
    from reticent.report.explore_report import explore_report

    output = spec.output
    if output.table:
        write_text(spec.find(output.table), table_text(found.rows()))
    if output.report:
        write_text(spec.find(output.report), explore_report(found.rows(), fresh=_fresh_row(found), holds=found.holds))
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
