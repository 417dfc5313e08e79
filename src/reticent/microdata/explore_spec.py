# SPDX-License-Identifier: Apache-2.0
"""Explorations as TOML files: the candidates and their grids."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reticent.base.errors import PlanError
from reticent.data.method import MaskingMethod, Registry
from reticent.data.parameters import Parameters, build
from reticent.data.plan import (
    DataSection,
    edits_from_table,
    read_toml,
    sections_of,
)
from reticent.microdata.explore import Candidate, ExploreSettings

SECTIONS = ("data", "explore", "candidate", "edit", "output")
MOST_CANDIDATES = 2000


@dataclass(frozen=True)
class ExploreOutput(Parameters):
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
        return self.folder / name


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
    table = sections_of(table, SECTIONS, owner=owner)
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
