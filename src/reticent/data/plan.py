"""Plans: what to do to a file, as data. TOML in and out; methods are looked up in a registry given by the caller."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tomli_w

from reticent.base.checks import did_you_mean
from reticent.base.errors import PlanError
from reticent.data.method import MaskingMethod, Registry
from reticent.data.parameters import build, to_plain


@dataclass(frozen=True)
class DataSection:
    """`[data]`: which file, described by which schema (TOML, or an ARGUS `.rda`), with which secret.

    `test_secret` allows a secret that can be guessed, for results that are never released.
    """

    path: str
    schema: str | None = None
    secret: str | int | None = None
    format: str | None = None
    query: str | None = None
    separator: str | None = None
    encoding: str = "utf-8"
    test_secret: bool = False


@dataclass(frozen=True)
class OutputSection:
    """`[output]`: where results go. `path` and `public_report` are publishable, `report` and `summary` confidential."""

    path: str | None = None
    public_report: str | None = None
    report: str | None = None
    summary: str | None = None
    schema: str | None = None


@dataclass(frozen=True)
class RiskSection:
    """`[risk]`: how risk is measured before and after; absent parts take the method's own view."""

    dimension: int = field(default=3, metadata={"min": 1, "help": "largest size of a key combination"})
    threshold: int = field(default=1, metadata={"min": 1, "help": "a combination is unsafe at or below this count"})
    keys: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plan:
    """A masking plan: the steps in their order, the edit rules that must hold, and where data come from and go to."""

    data: DataSection
    steps: tuple[MaskingMethod, ...] = ()
    output: OutputSection = OutputSection()
    risk: RiskSection = RiskSection()
    edits: tuple[str, ...] = ()
    folder: Path = field(default=Path("."), compare=False)

    def find(self, name: str) -> Path:
        """A file that the plan names, relative to the plan's own folder."""
        path = Path(name)
        return path if path.is_absolute() else self.folder / path


SECTIONS = ("data", "step", "output", "risk", "edit")


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file; where it cannot be read, say in which line."""
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except FileNotFoundError:
        raise PlanError(f"{path.name}: there is no such file.") from None
    except IsADirectoryError:
        raise PlanError(f"{path.name}: this is a folder, a TOML file is needed.") from None
    except UnicodeDecodeError:
        raise PlanError(f"{path.name}: the file is not UTF-8 text; save it as UTF-8.") from None
    except tomllib.TOMLDecodeError as err:
        raise PlanError(f"{path.name}: this is not valid TOML: {err}.") from err
    except (ValueError, RecursionError) as err:  # a number of thousands of digits, tables nested without end
        raise PlanError(f"{path.name}: the file is nested too deeply, or a number in it is too long.") from err
    except OSError as err:
        raise PlanError(f"{path.name}: the file cannot be read.") from err


def check_sections(table: Mapping[str, Any], allowed: tuple[str, ...], *, owner: str) -> None:
    """Refuse sections that a file of this kind does not have."""
    for name in table:
        if name not in allowed:
            known = did_you_mean(name, allowed) or f" Known sections: {', '.join(allowed)}."
            raise PlanError(f"{owner}: unknown section [{name}].{known}")


def read_plan(path: Path, registry: Registry) -> Plan:
    """Read a masking plan."""
    return plan_from_table(read_toml(path), registry, owner=path.name, folder=path.parent)


def plan_from_table(table: Mapping[str, Any], registry: Registry, *, owner: str, folder: Path) -> Plan:
    """Build a plan from the tables of a TOML file."""
    check_sections(table, SECTIONS, owner=owner)
    if "data" not in table:
        raise PlanError(f"{owner}: the section [data] is missing; it says which file to protect.")
    steps = []
    for number, step in enumerate(table.get("step", []), start=1):
        options = dict(step)
        method = options.pop("method", None)
        where = f"{owner}: step {number}"
        if not isinstance(method, str):
            raise PlanError(f"{where} has no method; give one of {', '.join(sorted(registry))}.")
        try:
            chosen = registry[method]
        except PlanError as err:
            raise PlanError(f"{where}: {str(err).removeprefix('plan: ')}") from None
        steps.append(build(chosen, options, owner=f"{where} ({method})"))
    return Plan(
        data=build(DataSection, table["data"], owner=f"{owner}: [data]"),
        steps=tuple(steps),
        output=build(OutputSection, table.get("output", {}), owner=f"{owner}: [output]"),
        risk=build(RiskSection, table.get("risk", {}), owner=f"{owner}: [risk]"),
        edits=tuple(
            _edit(edit, f"{owner}: edit {number}") for number, edit in enumerate(table.get("edit", []), start=1)
        ),
        folder=folder,
    )


def _edit(table: Mapping[str, Any], where: str) -> str:
    if set(table) != {"rule"} or not isinstance(table.get("rule"), str):
        raise PlanError(f'{where} must have exactly one option, rule = "…".')
    return str(table["rule"])


def plan_to_toml(plan: Plan) -> str:
    """The plan as TOML text that `read_plan` reads back to an equal plan."""
    table: dict[str, Any] = {"data": to_plain(plan.data)}
    if plan.risk != RiskSection():
        table["risk"] = to_plain(plan.risk)
    if plan.edits:
        table["edit"] = [{"rule": rule} for rule in plan.edits]
    if plan.steps:
        table["step"] = [{"method": step.name, **to_plain(step)} for step in plan.steps]
    if plan.output != OutputSection():
        table["output"] = to_plain(plan.output)
    return tomli_w.dumps(table)
