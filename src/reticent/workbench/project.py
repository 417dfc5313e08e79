# SPDX-License-Identifier: Apache-2.0
"""What the workbench works on: a folder, and the plans in it. The plan files are the whole state."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reticent.base.errors import PlanError
from reticent.jobs.project import is_data, kind_of_plan
from reticent.jobs.texts import write_text
from reticent.web.state import Snapshot, TextState, version_of
from reticent.web.toml_text import TomlText, literal, parse

ENDINGS = {"file": "plan", "table": "table", "explore": "explore", "queries": "queries"}
"""How the plans of a project are called: `people.plan.toml`, `people.table.toml`, …"""

Stamp = tuple[tuple[str, int, int], ...]


@dataclass
class Project:
    """A folder with data and plans. `waiting` is a data file that was chosen and is not described yet."""

    folder: Path
    plans: dict[str, TextState] = field(default_factory=dict)
    waiting: Path | None = None
    kind: str = "file"
    """The kind of the plan that was opened: it says which data the project has."""
    _before: tuple[Path, dict[str, TextState], str] | None = None
    """What was open when a data file was chosen: it stays if that file cannot be described."""
    asked: list[tuple[str, bool]] = field(default_factory=list)
    """Queries that were tried, each with whether in every mode: a page names them by their number, never by their text."""

    @classmethod
    def open(cls, target: Path | None) -> "Project":
        """An empty project, or one from a data file or a plan."""
        if target is None:
            return cls(Path.cwd())
        project = cls(target.resolve().parent)
        project.choose(target)
        return project

    def choose(self, target: Path) -> None:
        """Turn to a data file (described when its page is shown) or a plan."""
        target = target if target.is_absolute() else self.folder / target
        if not target.exists():
            raise PlanError(f"{target.name}: there is no such file.")
        if target.suffix.lower() == ".toml":
            self.take_plan(target)
            return
        if target.is_dir() or not is_data(target):
            raise PlanError(
                f"{target.name}: this is neither a plan (.toml) nor a data file in a format that can be read."
            )
        if self.waiting is None:
            self._before = self.folder, self.plans, self.kind
        self.folder, self.plans, self.waiting = target.resolve().parent, {}, target.resolve()

    def give_up(self) -> None:
        """Turn back from a data file that cannot be described to what was open before."""
        self.waiting = None
        if self._before is not None:
            (self.folder, self.plans, self.kind), self._before = self._before, None

    def take_plan(self, path: Path) -> None:
        """Turn to a plan; the other plans of its project are found by their names."""
        state = TextState(path.resolve())
        self.kind = kind_of_plan(parse(state.read().text, owner=path.name), owner=path.name)
        self.folder, self.waiting = path.resolve().parent, None
        self.plans, self._before = {self.kind: state}, None
        for kind, ending in ENDINGS.items():
            other = self.folder / f"{self.stem}.{ending}.toml"
            if kind != self.kind and other.is_file():
                self.plans[kind] = TextState(other)

    @property
    def stem(self) -> str:
        """What the names of the project's files begin with."""
        if self.waiting is not None:
            return self.waiting.stem
        name = self.plans[self.kind].name
        return re.sub(rf"(\.({'|'.join(ENDINGS.values())}))?\.toml$", "", name)

    @property
    def ready(self) -> bool:
        """Whether there are described data."""
        return bool(self.plans)

    def mark(self) -> str:
        """What tells this project from another that is opened in its place; empty: nothing is open."""
        return version_of(f"{self.folder}\n{self.stem}") if self.ready or self.waiting is not None else ""

    def plan(self, kind: str = "file") -> TextState | None:
        """The plan of a kind, if the project has one."""
        return self.plans.get(kind)

    def need(self, kind: str = "file") -> TextState:
        """The plan of a kind; one that is missing is begun with the project's `[data]`."""
        if kind not in self.plans:
            path = self.folder / f"{self.stem}.{ENDINGS[kind]}.toml"
            if not path.exists():
                write_text(path, TomlText("version = 1\n").set_section("data", self.source()).text)
            self.plans[kind] = TextState(path)
        return self.plans[kind]

    def table(self, kind: str = "file") -> dict[str, Any]:
        """What the plan of a kind says."""
        state = self.plan(kind)
        return {} if state is None else parse(state.read().text, owner=state.name)

    def source(self) -> dict[str, Any]:
        """The `[data]` section of the project."""
        found = self.table(self.kind).get("data") if self.plans else None
        if not isinstance(found, Mapping) or not isinstance(found.get("path"), str):
            raise PlanError("the plan has no [data] with a path; open a data file, or write it in the plan.")
        return dict(found)

    def schema(self) -> TextState | None:
        """The schema file, if it is one that can be edited."""
        name = self.source().get("schema") if self.plans else None
        path = self.folder / str(name)
        return TextState(path) if name and path.suffix == ".toml" and path.is_file() else None

    def variables(self) -> list[dict[str, Any]]:
        """The variables as the schema file describes them."""
        state = self.schema()
        return [] if state is None else TomlText(state.read().text).entries("variable")

    def names(self, *roles: str) -> list[str]:
        """The names of the variables (with one of the roles)."""
        return [str(one.get("name", "")) for one in self.variables() if not roles or one.get("role", "other") in roles]

    def stamp(self) -> Stamp:
        """What tells one state of data and schema from another, without reading them."""
        source = self.source()
        return tuple(stamp_of(self.folder / str(source[name])) for name in ("path", "schema") if source.get(name))

    def data_question(self) -> tuple[str, str, Stamp]:
        """What a work on the data alone depends on."""
        return json.dumps(self.source(), sort_keys=True, default=str), str(self.folder), self.stamp()

    def plan_question(self, kind: str) -> tuple[str, str, Stamp]:
        """What a work on the plan of a kind depends on."""
        state = self.need(kind)
        return str(state.path), state.read().version, self.stamp()


def stamp_of(path: Path) -> tuple[str, int, int]:
    """What tells one state of a file from another, without reading it."""
    try:
        facts = path.stat()
    except OSError:
        return (str(path), 0, 0)
    return (str(path), facts.st_mtime_ns, facts.st_size)


__all__ = ["ENDINGS", "Project", "Snapshot", "Stamp", "literal", "stamp_of", "version_of"]
