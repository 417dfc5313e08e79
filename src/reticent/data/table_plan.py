# SPDX-License-Identifier: Apache-2.0
"""Plans of tables: which cells, which rules, what the attacker knows, how to protect, where to write. TOML in and out."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from reticent.base.checks import check_choice, check_unique
from reticent.base.errors import ParameterError, PlanError
from reticent.data.hierarchy import TOTAL
from reticent.data.parameters import Parameters, build
from reticent.data.plan import (
    DataSection,
    LedgerSection,
    OutputSection,
    ledger_from_table,
    read_toml,
    sections_of,
)
from reticent.data.response_relations import COUNT

SECTIONS = ("data", "table", "protect", "attack", "output", "ledger")
PROTECT = ("method", "cost", "time_limit", "search_steps", "accept_exposed", "insiders", "coalition", "hide_empty")

SDMX = ".sdmx.csv"
NEEDED = {"data": "which file to tabulate", "table": "which cells, judged by which rules"}
"""Sections that every plan of a table has."""

Insiders = Literal["exact", "protect"]
"""What sole respondents of a cell are kept from: exact values of other cells, or everything within their levels."""


@dataclass(frozen=True)
class DimensionOptions(Parameters):
    """A dimension in full: `hierarchy` names one file, `hierarchies` several trees over the same codes."""

    variable: str
    hierarchy: str | None = None
    hierarchies: tuple[str, ...] = ()
    lead: str = "@"
    digits: tuple[int, ...] = ()
    total: str = TOTAL
    level: int | None = field(default=None, metadata={"min": 1})

    def files(self) -> tuple[str, ...]:
        """All hierarchy files."""
        return ((self.hierarchy,) if self.hierarchy else ()) + self.hierarchies


@dataclass(frozen=True)
class BoundsOptions(Parameters):
    """What the attacker knows of each hidden cell: a number, "1.5 max", "1.5 min", "50 %" around the value, "none"."""

    lower: float | str | None = None
    upper: float | str | None = None


@dataclass(frozen=True)
class FinishedOptions(Parameters):
    """Columns of a finished table: what each cell's value, count, largest contributions and status are called.

    `path` is the file of this table where several are linked; without it the table is that of `[data]`.
    """

    value: str
    count: str | None = None
    top: tuple[str, ...] = ()
    status: str | None = None
    lower_protection: str | None = None
    upper_protection: str | None = None
    cost: str | None = None
    safe: str = "s"
    unsafe: str = "u"
    hidden: str = "m"
    frozen: str = "z"
    tolerance: float | None = field(default=None, metadata={"min": 0, "help": "how far a total may be from its parts"})
    complete: bool = field(default=False, metadata={"help": "add all totals up from the inner cells"})
    separator: str | None = None
    path: str | None = None


@dataclass(frozen=True)
class RedesignOptions(Parameters):
    """Merge categories at the least loss until at most `at_most` cells are unsafe, before anything is protected."""

    at_most: int = field(default=0, metadata={"min": 0, "help": "this many unsafe cells may stay"})
    dimensions: tuple[str, ...] = field(default=(), metadata={"help": "whose categories may be merged; none: of all"})
    budget: int = field(default=500, metadata={"min": 1, "help": "this many tables may be tried"})


@dataclass(frozen=True)
class TableSection(Parameters):
    """`[table]`: dimensions, response, rules. Several `[[table]]` are linked tables, protected as one system."""

    called: ClassVar[str] = "[table]"
    dimensions: tuple[str | DimensionOptions, ...]
    response: str | None = None
    responses: tuple[str, ...] = field(
        default=(), metadata={"help": "several variables, each added up in a table of its own; count counts records"}
    )
    relations: tuple[str, ...] = field(
        default=(), metadata={"help": "what holds between responses in each record: tot = dom + exp, exp <= tot"}
    )
    find_relations: bool = field(
        default=True, metadata={"help": "relations between responses that the data show are reckoned with too"}
    )
    means: bool = field(
        default=False, metadata={"help": "publish the mean of each response where its sum and the count are published"}
    )
    shares: tuple[str, ...] = field(
        default=(), metadata={"help": "publish each cell in per cent of the published total over these dimensions too"}
    )
    ratios: tuple[str, ...] = field(
        default=(), metadata={"help": "publish ratios of published responses too, as turnover / employees"}
    )
    shadow: str | None = None
    rules: tuple[Mapping[str, Any], ...] = ()
    bounds: BoundsOptions = BoundsOptions()
    weighted: bool = False
    missing_safe: bool = False
    request: str | None = None
    request_codes: tuple[str, ...] = ("1", "2")
    waiver: str | None = None
    waiver_codes: tuple[str, ...] = ("1",)
    a_priori: str | None = None
    separator: str = ";"
    zeros: bool = field(default=False, metadata={"help": "list combinations without records and let rules judge them"})
    redesign: RedesignOptions | None = None
    finished: FinishedOptions | None = None
    released: str | None = field(
        default=None, metadata={"help": "CSV of this table as it was published before; it is not published again"}
    )
    previous: str | None = field(
        default=None, metadata={"help": "CSV of the same table of an earlier period; what it hides is hidden rather"}
    )

    def __post_init__(self) -> None:
        if not self.dimensions:
            raise ParameterError("dimensions must name at least one variable.", option="dimensions")
        check_unique((d.variable for d in self.all_dimensions()), name="dimensions", owner="[table]")
        check_unique(self.responses, name="responses", owner="[table]")
        check_unique(self.shares, name="shares", owner="[table]")
        for name in self.shares:
            check_choice(name, tuple(d.variable for d in self.all_dimensions()), name="shares", owner="[table]")
        self.ratio_parts()
        if self.responses and any((self.response, self.finished, self.released, self.previous)):
            raise ParameterError(
                "responses takes the place of response, and goes with tables made from microdata, without "
                "released or previous.",
                option="responses",
            )

    def ratio_parts(self) -> tuple[tuple[str, str], ...]:
        """What is divided by what."""
        parts = [tuple(side.strip() for side in text.split(" / ")) for text in self.ratios]
        if any(len(part) != 2 or not all(part) or part[0] == part[1] for part in parts):
            raise ParameterError(
                'ratios must be texts of two responses, as in ratios = ["turnover / employees"].', option="ratios"
            )
        check_unique(self.ratios, name="ratios", owner="[table]")
        return tuple((part[0], part[1]) for part in parts)

    def all_dimensions(self) -> tuple[DimensionOptions, ...]:
        """Every dimension in full."""
        return tuple(DimensionOptions(d) if isinstance(d, str) else d for d in self.dimensions)


@dataclass(frozen=True)
class ProtectSection(Parameters):
    """`[protect]`: the method with its own options, what hiding costs, how long it may take.

    Without a `method` a table is protected by `heuristic`, and an audit attacks the pattern that is declared.

    `accept_exposed` lets a table out although the attacker found exposed cells. `insiders` says what sole respondents of
    a cell, or a `coalition` of this many of them, are kept from. How closely they come is reported in any case.
    """

    called: ClassVar[str] = "[protect]"
    method: str | None = field(default=None, metadata={"help": "how to protect; none: heuristic"})
    cost: str = "value"
    time_limit: float = field(default=60.0, metadata={"min": 0, "help": "seconds, the audit included"})
    search_steps: int | None = field(
        default=None,
        metadata={
            "min": 1,
            "help": "take time_limit in this many steps instead of seconds: each run gives the same result",
        },
    )
    accept_exposed: bool = False
    insiders: Insiders = field(
        default="exact",
        metadata={"help": "what sole respondents of a cell are kept from: exact values of others, or their levels too"},
    )
    coalition: int = field(
        default=1, metadata={"min": 1, "max": 4, "help": "this many of them put together what they know"}
    )
    hide_empty: bool = field(
        default=False, metadata={"help": "cells without respondents may be hidden, and look like other hidden cells"}
    )
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class AttackSection(Parameters):
    """`[attack]`: what else an attacker has the tables: respondents that they know, and other releases of their cells.

    `known` asks for the probability that somebody who knows this many respondents empties a cell by subtracting them (SAP).
    `releases` are CSV files of noisy counts of the same data, each with noise or an adjustment of its own: what they determine
    together with the tables of the plan is exposed.
    """

    called: ClassVar[str] = "[attack]"
    known: tuple[int, ...] = field(default=(), metadata={"min": 1, "help": "numbers of respondents that are known"})
    draws: int = field(
        default=2_000, metadata={"min": 100, "max": 1_000_000, "help": "draws where SAP cannot be counted exactly"}
    )
    releases: tuple[str, ...] = field(
        default=(), metadata={"help": "CSV files of other releases of noisy counts of the same cells"}
    )

    def __post_init__(self) -> None:
        check_unique(map(str, self.known), name="known", owner="[attack]")
        check_unique(self.releases, name="releases", owner="[attack]")


@dataclass(frozen=True)
class TablePlan:
    """A plan for one table or several linked ones."""

    data: DataSection
    tables: tuple[TableSection, ...]
    protect: ProtectSection = ProtectSection()
    attack: AttackSection = AttackSection()
    output: OutputSection = field(default_factory=OutputSection)
    ledger: LedgerSection | None = None
    folder: Path = field(default=Path("."), compare=False)
    source: Path | None = field(default=None, compare=False)

    def find(self, name: str) -> Path:
        """A file that the plan names, relative to the plan's own folder."""
        return self.folder / name

    def by_response(self) -> tuple["TablePlan", ...]:
        """A plan for each response, with output names that say which; this one if there is only one."""
        if len({section.finished is None for section in self.tables}) > 1:
            raise PlanError("[table]: linked tables come from microdata or from table files, not from both.")
        sections: dict[str, list[TableSection]] = {}
        for section in self.tables:
            own = section.finished.value if section.finished else None
            for name in section.responses or (section.response or own,):
                response = section.response if name == own else name
                sections.setdefault(name or COUNT, []).append(replace(section, response=response, responses=()))
        if len(sections) == 1 and not any(section.responses for section in self.tables):
            return (self,)
        return tuple(
            replace(self, tables=tuple(chosen), output=_outputs_after(self.output, name))
            for name, chosen in sections.items()
        )

    @property
    def response(self) -> str:
        """What is added up in the (first) table."""
        first = self.tables[0]
        return first.response or (first.finished.value if first.finished else COUNT)

    def of_response(self, response: str | None = None) -> "TablePlan":
        """The plan of one response; which one must be said if there are several."""
        plans = {one.response: one for one in self.by_response()}
        if response is None and len(plans) == 1:
            return next(iter(plans.values()))
        if response is None:
            raise PlanError(f"[table]: the plan has several responses; name one of {', '.join(plans)} (--response).")
        check_choice(response, tuple(plans), name="response", owner="[table]")
        return plans[response]


def _outputs_after(output: OutputSection, response: str) -> OutputSection:
    """The same outputs with the response before the ending: table.csv, table-turnover.csv."""
    changed: dict[str, Any] = {}
    for name in ("path", "public_report", "report", "summary"):
        given = getattr(output, name)
        if given:
            changed[name] = str(named_after(Path(given), response))
    return replace(output, **changed)


def named_after(path: Path, response: str) -> Path:
    """The path with the response before its ending, which for SDMX has two parts."""
    ending = path.name[-len(SDMX) :] if path.name.lower().endswith(SDMX) else path.suffix
    return path.with_name(f"{path.name.removesuffix(ending)}-{response}{ending}")


def read_table_plan(path: Path) -> TablePlan:
    """Read a table plan."""
    path = Path(path)
    return replace(table_plan_from(read_toml(path), owner=path.name, folder=path.parent), source=path)


def table_plan_from(table: Mapping[str, Any], *, owner: str, folder: Path) -> TablePlan:
    """Build a table plan from the tables of a TOML file."""
    if "step" in table:
        raise PlanError(f"{owner}: [[step]] belongs to a plan for a file; run it with `reticent protect`.")
    table = sections_of(table, SECTIONS, owner=owner)
    for name in NEEDED:
        if name not in table:
            raise PlanError(f"{owner}: the section [{name}] is missing; it says {NEEDED[name]}.")
    listed = table["table"] if isinstance(table["table"], list) else [table["table"]]
    sections = [
        build(TableSection, section, owner=f"{owner}: [table]{f' {n}' if len(listed) > 1 else ''}")
        for n, section in enumerate(listed, start=1)
    ]
    return TablePlan(
        data=build(DataSection, table["data"], owner=f"{owner}: [data]"),
        tables=tuple(sections),
        protect=_protect(table.get("protect", {}), owner=f"{owner}: [protect]"),
        attack=build(AttackSection, table.get("attack", {}), owner=f"{owner}: [attack]"),
        output=build(OutputSection, table.get("output", {}), owner=f"{owner}: [output]"),
        ledger=ledger_from_table(table, owner=owner),
        folder=folder,
    )


def _protect(options: Mapping[str, Any], *, owner: str) -> ProtectSection:
    """Known names are ours; the others are the method's own and are checked with the method."""
    own = {name: value for name, value in options.items() if name.replace("-", "_") in PROTECT}
    rest = {name: value for name, value in options.items() if name not in own}
    return replace(build(ProtectSection, own, owner=owner), options=rest)
