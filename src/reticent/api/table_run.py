# SPDX-License-Identifier: Apache-2.0
"""`Tabulation`: a table to be protected; `TableRun`: what that gave, confidential; `PublishedTable`: what may leave."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, TypedDict, Unpack

from reticent.api.arguments import OF_PUBLISHED, OF_RUNS, list_of, marks_of, names_of, refuse_type
from reticent.api.ledger import Recording, ReleaseLedger, record_release
from reticent.base.checks import check_reason
from reticent.base.doors import doors
from reticent.base.errors import NotProtectedError, ParameterError
from reticent.base.plain import as_plain
from reticent.base.progress import Progress, silent
from reticent.base.randomness import Secret
from reticent.base.words import counted
from reticent.data import published_table
from reticent.data.hierarchy import TOTAL
from reticent.data.large import LargeFile
from reticent.data.microdata import Microdata
from reticent.data.parameters import build
from reticent.data.table import DimensionSpec, TableSpec
from reticent.data.table_plan import BoundsOptions, Insiders
from reticent.history.made import Made, made_tables
from reticent.io.atomic import write_text
from reticent.io.published import published_frame
from reticent.io.table_formats import write_published_table
from reticent.jobs.protect_table import protect_table
from reticent.report.notebook import facts_html
from reticent.report.page import form_of
from reticent.report.provenance import Provenance
from reticent.report.table_report import confidential_table_report, public_table_report
from reticent.tables.apriori import Entry
from reticent.tables.attack import Audit
from reticent.tables.derived import ratio_table, share_table
from reticent.tables.methods import TableMethod
from reticent.tables.request import Attacker, TableRequest, table_request
from reticent.tables.result import ProtectedTable
from reticent.tables.rules import Rule


@doors
@dataclass(frozen=True, eq=False, repr=False)
class PublishedTable(published_table.PublishedTable):
    """A protected table that may be published: codes, values, and `published`, `hidden` or `empty`."""

    instead: ClassVar[Mapping[str, str]] = OF_PUBLISHED
    frame_kind: str = field(default="polars", repr=False)

    def to_frame(self) -> Any:
        """One row per cell, as the kind of frame that the data came in; hidden and empty cells have no value."""
        return published_frame(self, kind=self.frame_kind)

    def write(
        self, path: Path | str, *, separator: str | None = None, decimal: str | None = None, keep_formulas: bool = False
    ) -> None:
        """Write the table in the format of the ending: .csv, .sdmx.csv, .xlsx, .px or .parquet.

        A CSV file has the `separator` and `decimal` mark given, else those of the file that was loaded. Codes that a
        spreadsheet would run as formulas get an apostrophe before them in CSV files, unless `keep_formulas`.
        """
        write_published_table(self, path, marks_of(separator, decimal, keep_formulas))

    def share_of(self, dimension: str, *, total: str = TOTAL) -> "PublishedTable":
        """Each cell in per cent of the published total over a dimension: nothing that this table does not say."""
        return self._made(share_table(self, dimension, total=total))

    def per(self, other: published_table.PublishedTable) -> "PublishedTable":
        """Ratios to another published table with the same dimensions, where both show a value; per counts these are means."""
        refuse_type(other, published_table.PublishedTable, "other", "per", "a published table")
        return self._made(ratio_table(self, other))

    def _made(self, table: published_table.PublishedTable) -> "PublishedTable":
        return PublishedTable(**{**vars(table), "frame_kind": self.frame_kind})

    def public_report(self, path: Path | str) -> None:
        """Write the table as a page for the public."""
        write_text(Path(path), public_table_report(self, form=form_of(path)))


class TableFacts(TypedDict, total=False):
    """What may be said of a table besides its variables and its response; the manual of plans says what each means."""

    shadow: str | None
    cost: str | None
    others: Sequence[str]
    weighted: bool
    missing_safe: bool
    request: str | None
    request_codes: Sequence[str]
    waiver: str | None
    waiver_codes: Sequence[str]
    top: int
    by_record: bool


class TableOptions(TypedDict, total=False):
    """What may be said of the protection of a table besides rules and method; `Tabulation.protect` says what each means."""

    bounds: BoundsOptions | None
    cost: str
    time_limit: float
    search_steps: int | None
    insiders: Insiders
    coalition: int
    hide_empty: bool
    relations: Sequence[str]
    a_priori: Sequence[Entry]
    earlier: Mapping[int, published_table.PublishedTable] | None
    previous: Mapping[int, published_table.PublishedTable] | None
    secret: Secret | int | bytes | Path | str | None
    test_secret: bool
    known: Sequence[int]
    draws: int
    releases: Sequence[published_table.PublishedTable]


_OF_ATTACKER = tuple(one.name for one in fields(Attacker))


@doors
@dataclass(frozen=True, eq=False)
class Tabulation:
    """A table of confidential records that is still to be protected, or several that are protected as one system."""

    _data: Microdata | LargeFile = field(repr=False)
    specs: tuple[TableSpec, ...]

    @classmethod
    def of(
        cls, data: Microdata | LargeFile, variables: Sequence[Any], *, response: str | None, options: Mapping[str, Any]
    ) -> "Tabulation":
        """The table of some variables; each must be in the schema."""
        if not variables:
            raise ParameterError('tabulate: name at least one variable, as in tabulate("region", "size").')
        for variable in variables:
            if isinstance(variable, list | tuple):
                raise ParameterError(
                    'tabulate: give variables one by one, as in tabulate("region", "size"), not as a list.'
                )
            refuse_type(variable, (str, DimensionSpec), "each variable", "tabulate", "a name or a DimensionSpec")
        dimensions = tuple(v if isinstance(v, DimensionSpec) else DimensionSpec(v) for v in variables)
        named = [d.variable for d in dimensions] + ([] if response is None else [response])
        data.schema.require(names_of(named, "response", "tabulate"), owner="tabulate")
        spec = build(TableSpec, {"dimensions": dimensions, "response": response, **options}, owner="tabulate")
        return cls(data, (spec,))

    def __repr__(self) -> str:
        tables = "; ".join(
            f"{' × '.join(d.variable for d in spec.dimensions)}: {spec.response or 'count'}" for spec in self.specs
        )
        return f"<Tabulation {tables} of {self._data.n_records} records>"

    def linked(self, *others: "Tabulation") -> "Tabulation":
        """This table and others of the same records, protected as one system: what one shows cannot open another."""
        for other in others:
            refuse_type(other, Tabulation, "each table", "linked", "made by tabulate()")
            if other._data is not self._data:
                raise ParameterError("linked: the tables are made from different data; load the data once.")
        return Tabulation(self._data, (*self.specs, *(spec for other in others for spec in other.specs)))

    def protect(
        self,
        *,
        rules: Sequence[Rule],
        method: TableMethod | None = None,
        progress: Progress = silent,
        **options: Unpack[TableOptions],
    ) -> "TableRun":
        """Judge the cells by the rules, protect them by the method (`heuristic` unless given), and attack the result.

        `bounds` say what the attacker knows of each cell, `insiders` what sole respondents of a cell (or a `coalition` of
        them) are kept from, `cost` what hiding a cell loses. With `hide_empty` cells without respondents may be hidden too.
        `relations` hold between responses in each record ("tot = dom + exp"), `a_priori` is what is known of single cells.
        By the number of a linked table (from 0), `earlier` has what was published of it before, and `previous` the same
        table of an earlier period. Methods that draw need a `secret`. `known` are numbers of respondents that somebody may know
        (SAP, by `draws`), `releases` other releases of noisy counts of the same cells; the notes of the run have what follows.
        A search ends after `time_limit` seconds, or with `search_steps` after this many steps, the same on every machine.
        """
        judged = list_of(rules, Rule, "rules", "protect", "rules")
        if method is not None and (isinstance(method, type) or not isinstance(method, TableMethod)):
            raise ParameterError("protect: method must be one of reticent.methods, as in methods.Heuristic().")
        attacker = Attacker(
            options.get("bounds") or BoundsOptions(), options.get("insiders", "exact"), options.get("coalition", 1),
            tuple(options.get("known", ())), options.get("draws", 2_000),
        )  # fmt: skip
        wishes: dict[str, Any] = {name: given for name, given in options.items() if name not in _OF_ATTACKER}
        wishes["relations"] = names_of(options.get("relations", ()), "relations", "protect")
        request = table_request(self._data, self.specs, rules=judged, method=method, attacker=attacker, **wishes)
        found = protect_table(request, accept_exposed=True, progress=progress)
        return TableRun(found, request, self._data.frame.kind if isinstance(self._data, Microdata) else "polars")


@doors
@dataclass(frozen=True, eq=False)
class TableRun:
    """A protected table with its verdict and what the attacker found. Confidential: only `release` leads out."""

    instead: ClassVar[Mapping[str, str]] = OF_RUNS
    found: ProtectedTable = field(repr=False)
    request: TableRequest = field(repr=False)
    _kind: str = field(default="polars", repr=False)
    _accepted: list[str] = field(default_factory=list, repr=False)

    def __repr__(self) -> str:
        return f"<TableRun {self.found.headline}>"

    def _repr_html_(self) -> str:
        cost = {"exposed": len(self.found.exposed), "cost": float(self.found.outcome.cost), "method": self.found.method}
        return facts_html(repr(self), {**self.found.counts(), **cost})

    @property
    def audit(self) -> Audit:
        """What the attacker concludes about each hidden cell."""
        return self.found.audit

    @property
    def exposed(self) -> tuple[tuple[str, ...], ...]:
        """Codes of the cells that somebody finds too closely."""
        return tuple(self.found.table.cell_codes(cell) for cell in self.found.exposed)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the protector should know as well."""
        return (*self.found.notes, *(f"Released although {self.found.state}: {reason}" for reason in self._accepted))

    def why(self, *codes: str) -> str:
        """What a hidden cell guards, and which relations would reveal it; codes as in the table."""
        return self.found.why(*names_of(codes, "codes", "why"))

    def what_if(self, *codes: str, time_limit: float = 10.0) -> str:
        """What would have to be hidden instead of a hidden cell, and at what cost."""
        return self.found.what_if(*names_of(codes, "codes", "what_if"), time_limit=time_limit)

    def summary(self) -> dict[str, Any]:
        """Everything as plain data."""
        plain: dict[str, Any] = as_plain({**self.found.summary(), "notes": self.notes})
        return plain

    def confidential_report(self, path: Path | str) -> None:
        """Write the whole record of the run."""
        origin = Provenance(seconds=self.found.seconds)
        write_text(Path(path), confidential_table_report(self.found, origin=origin, form=form_of(path)))

    def made(self, risk: str = "") -> Made:
        """What the run would publish, as a ledger takes it."""
        return made_tables(self.request, [self.found], risk=risk)

    def release(
        self, *, accept_risk: str | None = None, ledger: ReleaseLedger | None = None, **recording: Unpack[Recording]
    ) -> PublishedTable:
        """The table that may leave; an error if the attacker found exposed cells, or could not look at all.

        `accept_risk` is the reason for releasing it all the same; the run records it. With a `ledger` (from `open_ledger`) and a
        `name` it is judged together with everything released before, and recorded there before it is given out;
        `accept_uncertified`, `accept_repeat` and `memory` are those of `[ledger]`.
        """
        shown = len(published_of(self.found))
        if shown != 1:
            raise ParameterError(f"release: the run has {shown} tables; release_all() gives all of them.")
        return self.release_all(accept_risk=accept_risk, ledger=ledger, **recording)[0]

    def release_all(
        self, *, accept_risk: str | None = None, ledger: ReleaseLedger | None = None, **recording: Unpack[Recording]
    ) -> tuple[PublishedTable, ...]:
        """Every table that may leave, in the order in which they were given; otherwise as `release`."""
        check_reason(accept_risk, owner="release")
        if self.found.exposed and accept_risk is None:
            named = ", ".join(" × ".join(codes) for codes in self.exposed[:3])
            raise NotProtectedError(
                f"release: the attacker recovers {counted(len(self.exposed), 'cell')} too closely ({named}"
                f"{', …' if len(self.exposed) > 3 else ''}); choose a method that protects them, or give accept_risk.",
                exposed=len(self.exposed),
            )
        if accept_risk is None:
            self.found.require_judged("nothing was released", "give accept_risk")
        made = record_release(ledger, recording, self, accept_risk)
        if self.found.state != "held" and accept_risk is not None:
            self._accepted.append(accept_risk)
        results = (self.found,) if made is None else made.results
        tables = [table for found in results for table in published_of(found)]
        return tuple(PublishedTable(**vars(table), frame_kind=self._kind) for table in tables)


def published_of(found: ProtectedTable) -> list[published_table.PublishedTable]:
    """What may leave of a result, response by response."""
    return [table for part in found.by_response() for table in part.published]
