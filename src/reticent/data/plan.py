# SPDX-License-Identifier: Apache-2.0
"""Plans: what to do to a file, as data. TOML in and out; methods are looked up in a registry given by the caller."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import tomli_w

from reticent.base.checks import check_reason, did_you_mean
from reticent.base.errors import ParameterError, PlanError
from reticent.base.randomness import check_streams
from reticent.data.method import MaskingMethod, Registry
from reticent.data.parameters import Examples, Parameters, build, to_plain
from reticent.data.verdict import ATTACKS, DEFAULT_MOST
from reticent.frames.marks import DECIMALS, SEPARATORS, Marks


@dataclass(frozen=True, kw_only=True)
class EngineSection(Parameters):
    """The part of `[data]` that says where the records stay, and what an engine may take there."""

    called: ClassVar[str] = "[data]"
    examples: ClassVar[Examples] = ({}, {"engine": "duckdb"})
    engine: str | None = field(
        default=None, metadata={"help": "where the records stay: duckdb or spark (none: in memory)"}
    )
    memory: str | None = field(default=None, metadata={"help": "memory that the engine may take, such as '2GB'"})
    threads: int | None = field(default=None, metadata={"min": 1, "help": "threads that the engine may take"})
    spill: str | None = field(default=None, metadata={"help": "folder for what does not fit the engine's memory"})
    spill_limit: str | None = field(
        default=None, metadata={"help": "disk space that spilling may take, such as '50GB'"}
    )

    def __post_init__(self) -> None:
        for name in ("memory", "threads", "spill", "spill_limit"):
            if self.engine is None and getattr(self, name) is not None:
                raise ParameterError(f"{name} is for an engine; say which one, as in engine = 'duckdb'.", option=name)


@dataclass(frozen=True)
class DataSection(EngineSection):
    """`[data]`: which file, described by which schema (TOML, or an ARGUS `.rda`), with which secret.

    With an `engine` the records stay where they are: `path` may be a pattern (`part-*.parquet`), and only combinations of
    keys, cells of tables and blocks of records come into memory. `test_secret` allows a secret that can be guessed, for
    results that are never released. `streams` names the version of the random streams that releases were drawn with; a
    program that draws others refuses to go on.
    """

    called: ClassVar[str] = "[data]"
    examples: ClassVar[Examples] = ({"path": "people.csv"}, {"path": "part-*.parquet", "engine": "duckdb"})
    path: str
    schema: str | None = None
    secret: str | int | None = None
    format: str | None = None
    query: str | None = None
    separator: str | None = None
    decimal: str | None = field(
        default=None,
        metadata={"choices": DECIMALS, "help": "decimal mark of the numbers in a text file (none: either, as written)"},
    )
    encoding: str = "utf-8"
    test_secret: bool = False
    streams: int | None = field(
        default=None,
        metadata={"help": "version of the random streams that releases of these data are drawn with"},
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_streams(self.streams, owner=self.called)


@dataclass(frozen=True)
class OutputSection(Parameters):
    """`[output]`: where results go. `path` and `public_report` are publishable, `report` and `summary` confidential."""

    called: ClassVar[str] = "[output]"
    path: str | None = None
    public_report: str | None = None
    report: str | None = None
    summary: str | None = None
    schema: str | None = None
    date: str | None = field(
        default=None, metadata={"help": "date that the reports show, as given; without it they show none"}
    )
    separator: str | None = field(
        default=None,
        metadata={
            "choices": SEPARATORS,
            "help": "what separates the values of a .csv file (none: a comma; for a file, as in the input)",
        },
    )
    decimal: str | None = field(
        default=None,
        metadata={
            "choices": DECIMALS,
            "help": "decimal mark of a .csv file (none: a point; for a file, as in the input)",
        },
    )
    keep_formulas: bool = field(
        default=False,
        metadata={"help": "leave texts that a spreadsheet would run as formulas as they are in text files"},
    )

    def __post_init__(self) -> None:
        if (self.separator, self.decimal) == (",", ","):
            raise ParameterError("a decimal comma needs another separator; write separator = ';'.")

    @property
    def marks(self) -> Marks:
        """What is asked of a text file."""
        return Marks(self.separator, self.decimal, self.keep_formulas)


@dataclass(frozen=True)
class FileOutputSection(OutputSection):
    """`[output]` of a file. Records are shuffled and household ids renumbered, both by the secret, unless kept here."""

    examples: ClassVar[Examples] = ({}, {"separator": ";"})

    recodings: str | None = field(
        default=None, metadata={"help": "a .csv file that says which old values each new code stands for; publishable"}
    )
    keep_order: bool = field(default=False, metadata={"help": "leave the records in the order of the file"})
    keep_household_ids: bool = field(default=False, metadata={"help": "publish the household ids as they are"})


@dataclass(frozen=True)
class EarlierData(Parameters):
    """`[[earlier]]`: another version of the records, which something was released of, or which was asked about, before."""

    called: ClassVar[str] = "[[earlier]]"
    path: str = field(metadata={"help": "the file of that version, or the address of a database"})
    version: str = field(metadata={"help": "what the version is called in the ledger"})
    schema: str | None = field(default=None, metadata={"help": "its schema"})
    format: str | None = field(default=None, metadata={"help": "the format, where the ending does not say it"})
    query: str | None = field(default=None, metadata={"help": "what to ask a database, or the sheet of a workbook"})


@dataclass(frozen=True)
class LedgerSection(Parameters):
    """`[ledger]`: releases of these data are judged together, recorded there, and written by `reticent release` only."""

    called: ClassVar[str] = "[ledger]"
    path: str = field(metadata={"help": "the ledger: a file, or a postgresql address"})
    name: str = field(metadata={"help": "what this release is called, in the ledger and in sentences"})
    dataset: str = field(default="data", metadata={"help": "the data set that the ledger is of"})
    version: str = field(default="1", metadata={"help": "the version of the data"})
    anchor: str | None = field(default=None, metadata={"help": "a file that says how far the ledger had come"})
    database: str | None = field(
        default=None, metadata={"help": "the database file, where queries were answered from the same ledger"}
    )
    create: bool = field(default=True, metadata={"help": "make the ledger where there is none"})
    accept_uncertified: str | None = field(
        default=None, metadata={"help": "reason for releasing what may reveal more than can be judged"}
    )
    accept_repeat: bool = field(
        default=False, metadata={"help": "release a further noisy version of the same variable of the same data"}
    )
    memory: bool = field(
        default=False, metadata={"help": "tables hide what they must so that they are safe with everything before"}
    )
    earlier: tuple[EarlierData, ...] = field(
        default=(),
        metadata={"help": "other versions of the data that something was released of; without a schema that of [data]"},
    )

    def __post_init__(self) -> None:
        check_reason(self.accept_uncertified, owner=self.called, name="accept_uncertified")


@dataclass(frozen=True)
class RiskSection(Parameters):
    """`[risk]`: how risk is measured before and after, which attacks must be withstood, and up to which risk.

    `most` limits the largest risk of any record (recount) and household (households), and the share of records rightly
    and uniquely linked (linkage). Without weights it must be stated.
    """

    called: ClassVar[str] = "[risk]"
    dimension: int = field(default=3, metadata={"min": 1, "help": "largest size of a key combination"})
    threshold: int = field(default=1, metadata={"min": 1, "help": "a combination is unsafe at or below this count"})
    keys: tuple[str, ...] = field(
        default=(), metadata={"names": "variables", "help": "keys of the recount (none: those of the schema)"}
    )
    most: float | None = field(
        default=None,
        metadata={"min": 0.0, "max": 1.0, "help": "largest risk allowed (0.05 where the file has weights)"},
    )
    interval_most: float | None = field(
        default=None, metadata={"min": 0.0, "max": 1.0, "help": "largest share of true numbers within their intervals"}
    )
    interval_percent: float = field(
        default=5.0,
        metadata={"min": 0.0, "max": 100.0, "help": "width of the rank intervals, in percent of the records"},
    )
    known: tuple[str, ...] = field(
        default=(),
        metadata={"names": "variables", "help": "what the attacker links by (none: the keys and every number)"},
    )
    attacks: tuple[str, ...] = field(
        default=(),
        metadata={
            "choices": ATTACKS,
            "help": "what must be withstood (none: recount, linkage, and households if there are any)",
        },
    )
    accept_risk: str | None = field(
        default=None, metadata={"help": "reason for writing the file although an attack was not withstood"}
    )

    def __post_init__(self) -> None:
        check_reason(self.accept_risk, owner="[risk]")

    def limit(self, *, weighted: bool) -> float:
        """The largest risk allowed; without weights nobody can say it for the user."""
        if self.most is not None:
            return self.most
        if weighted:
            return DEFAULT_MOST
        raise ParameterError(
            "[risk]: the file has no weights, so the largest risk that is allowed must be stated; "
            f"write most = {DEFAULT_MOST} (or another share) in [risk], or most={DEFAULT_MOST} in Python."
        )

    def asked(self, *, households: bool, weights: bool) -> tuple[str, ...]:
        """The attacks that must be withstood; `households` and `weights` say whether there are ids and published weights."""
        chosen = self.attacks or (
            "recount", "linkage", *(("households",) if households else ()), *(("weights",) if weights else ()),
        )  # fmt: skip
        judged = self.interval_most is not None and "intervals" not in chosen
        return (*chosen, "intervals") if judged else chosen


@dataclass(frozen=True)
class Plan:
    """A masking plan: the steps in their order, the edit rules that must hold, and where data come from and go to."""

    data: DataSection
    steps: tuple[MaskingMethod, ...] = ()
    output: FileOutputSection = FileOutputSection()
    risk: RiskSection = RiskSection()
    edits: tuple[str, ...] = ()
    ledger: LedgerSection | None = None
    folder: Path = field(default=Path("."), compare=False)
    source: Path | None = field(default=None, compare=False)

    def find(self, name: str) -> Path:
        """A file that the plan names, relative to the plan's own folder."""
        return self.folder / name


SECTIONS = ("data", "step", "output", "risk", "edit", "ledger")
PLAN_VERSION = 1
"""Version of the language of plans; a plan that names none is of version 1."""


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file; where it cannot be read, say in which line."""
    try:
        text = path.read_bytes().decode()
        if text.startswith("\ufeff"):  # some editors write it, nobody sees it, and TOML has no place for it
            raise PlanError(f"{path.name}: the file begins with a byte order mark; save it as UTF-8 without one.")
        return tomllib.loads(text)
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


def without_version(table: Mapping[str, Any], *, owner: str) -> dict[str, Any]:
    """A plan without its version; one that this program does not read is refused before anything else is looked at."""
    version = table.get("version", PLAN_VERSION)
    if isinstance(version, bool) or not isinstance(version, int):
        raise PlanError(f"{owner}: version must be a whole number; this program reads plans of version {PLAN_VERSION}.")
    if version != PLAN_VERSION:
        raise PlanError(
            f"{owner}: version {version} of plans is not known here; this program reads version {PLAN_VERSION}. Use the "
            "version of reticent that the plan was written for."
        )
    return {name: value for name, value in table.items() if name != "version"}


def sections_of(table: Mapping[str, Any], allowed: tuple[str, ...], *, owner: str) -> dict[str, Any]:
    """The sections of a plan; a version, or a section, that files of this kind do not have is refused."""
    sections = without_version(table, owner=owner)
    if not sections:
        raise PlanError(f"{owner}: the file is empty; a plan needs sections, and `reticent plan DATA` drafts one.")
    for name in sections:
        if name not in allowed:
            known = did_you_mean(name, allowed) or f" Known sections: {', '.join(allowed)}."
            raise PlanError(f"{owner}: unknown section [{name}].{known}")
    return sections


def plan_from_table(table: Mapping[str, Any], registry: Registry, *, owner: str, folder: Path) -> Plan:
    """Build a plan from the tables of a TOML file; steps that say `active = false` are left out."""
    table = sections_of(table, SECTIONS, owner=owner)
    if "data" not in table:
        raise PlanError(f"{owner}: the section [data] is missing; it says which file to protect.")
    steps = []
    for number, step in enumerate(table.get("step", []), start=1):
        where = f"{owner}: step {number}"
        if not isinstance(step, Mapping):
            raise PlanError(f"{where} must be a table of options; write [[step]] above them.")
        options = dict(step)
        method, active = options.pop("method", None), options.pop("active", True)
        if not isinstance(method, str):
            raise PlanError(f"{where} has no method; give one of {', '.join(sorted(registry))}.")
        try:
            chosen = registry[method]
        except PlanError as err:
            raise err.at(where, instead_of=registry.kind) from None
        if not isinstance(active, bool):
            raise PlanError(f"{where} ({method}): active must be true or false.")
        made = build(chosen, options, owner=f"{where} ({method})")
        if active:  # a step that is switched off must still be right, so that it can be switched on
            steps.append(made)
    return Plan(
        data=build(DataSection, table["data"], owner=f"{owner}: [data]"),
        steps=tuple(steps),
        output=build(FileOutputSection, table.get("output", {}), owner=f"{owner}: [output]"),
        risk=build(RiskSection, table.get("risk", {}), owner=f"{owner}: [risk]"),
        edits=edits_from_table(table, owner=owner),
        ledger=ledger_from_table(table, owner=owner),
        folder=folder,
    )


def ledger_from_table(table: Mapping[str, Any], *, owner: str) -> LedgerSection | None:
    """The section of the ledger, if there is one."""
    return build(LedgerSection, table["ledger"], owner=f"{owner}: [ledger]") if "ledger" in table else None


def edits_from_table(table: Mapping[str, Any], *, owner: str) -> tuple[str, ...]:
    """The rules of the `[[edit]]` entries."""
    return tuple(_edit(edit, f"{owner}: edit {number}") for number, edit in enumerate(table.get("edit", []), start=1))


def _edit(table: Mapping[str, Any], where: str) -> str:
    if set(table) != {"rule"} or not isinstance(table.get("rule"), str):
        raise PlanError(f'{where} must have exactly one option, rule = "…".')
    return str(table["rule"])


def plan_to_toml(plan: Plan) -> str:
    """The plan as TOML text that `read_plan` reads back to an equal plan."""
    table: dict[str, Any] = {"version": PLAN_VERSION, "data": to_plain(plan.data)}
    if plan.risk != RiskSection():
        table["risk"] = to_plain(plan.risk)
    if plan.edits:
        table["edit"] = [{"rule": rule} for rule in plan.edits]
    if plan.steps:
        table["step"] = [{"method": step.name, **to_plain(step)} for step in plan.steps]
    if plan.output != FileOutputSection():
        table["output"] = to_plain(plan.output)
    if plan.ledger is not None:
        table["ledger"] = to_plain(plan.ledger)
    return tomli_w.dumps(table)
