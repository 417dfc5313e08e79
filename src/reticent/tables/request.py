# SPDX-License-Identifier: Apache-2.0
"""What is asked of tables: the same request, whether a plan, a batch file, a problem file or Python asks it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, TypedDict, Unpack

from reticent.base.checks import check_integer, did_you_mean, kind_of
from reticent.base.errors import ParameterError, PlanError
from reticent.base.randomness import Source
from reticent.data.large import LargeFile
from reticent.data.microdata import Microdata
from reticent.data.parameters import Parameters
from reticent.data.published_table import PublishedTable
from reticent.data.response_relations import COUNT, parse_relation
from reticent.data.table import Table, TableSpec
from reticent.data.table_plan import BoundsOptions, Insiders, RedesignOptions
from reticent.tables.apriori import Entry, EntryGroup
from reticent.tables.costs import TableCost
from reticent.tables.earlier import check_earlier
from reticent.tables.memory import Memory
from reticent.tables.methods import TABLE_METHODS, PrimaryOnly, TableMethod
from reticent.tables.problem import SuppressionProblem
from reticent.tables.rules import Rule
from reticent.tables.suppression.method import SuppressionMethod

DEFAULT_METHOD = "heuristic"


@dataclass(frozen=True)
class Attacker(Parameters):
    """Whom tables are kept from: what everybody knows of hidden cells, and what sole respondents of a cell are kept from.

    With `insiders="exact"` no such respondent, nor a `coalition` of this many, finds another unsafe cell exactly; with
    "protect" none comes closer to it than its levels. `known` are numbers of respondents that somebody may know, for the
    probability that subtracting them empties a cell (SAP; by this many `draws` where it cannot be counted).
    """

    called: ClassVar[str] = "attacker"
    bounds: BoundsOptions = field(default_factory=BoundsOptions)
    insiders: Insiders = "exact"
    coalition: int = field(default=1, metadata={"min": 1, "max": 4})
    known: tuple[int, ...] = field(default=(), metadata={"min": 1})
    draws: int = field(default=2_000, metadata={"min": 100, "max": 1_000_000})


@dataclass(frozen=True, eq=False)
class WantedTable:
    """One table of a request: finished, or a spec with the `records` that it is made from.

    `a_priori` is known of its cells, `earlier` was published of it before, `previous` is the same table of an earlier
    period. `bounds` and `cost` take the place of those of the request. `zeros` lists combinations without records. `memory` is
    what other releases of the same data ask of its cells.
    """

    source: Table | TableSpec
    rules: tuple[Rule, ...] = ()
    records: Microdata | LargeFile | None = field(default=None, repr=False)
    a_priori: tuple[EntryGroup, ...] = ()
    earlier: PublishedTable | None = None
    previous: PublishedTable | None = None
    bounds: BoundsOptions | None = None
    cost: TableCost | None = None
    zeros: bool = False
    redesign: RedesignOptions | None = None
    notes: tuple[str, ...] = ()
    memory: Memory = field(default_factory=Memory)

    def __post_init__(self) -> None:
        if isinstance(self.source, TableSpec) != (self.records is not None):
            raise ParameterError("table: a spec needs the records that it is made from, a finished table has none.")


@dataclass(frozen=True, eq=False)
class TableRequest:
    """Tables to be protected as one, by which method, and from whom.

    Tables of several responses are one system if something relates these: what `relations` say ("tot = dom + exp",
    "exp <= tot"), and what the data show by themselves (unless `find_relations` is false). With `apart` responses that
    nothing relates are protected one by one. `a_priori` names cells by the codes of all dimensions of the linked tables. With
    `hide_empty` a suppression method may also hide cells without respondents, and nobody can tell them from the others. A
    `secret` that can be guessed is refused, unless `test_secret` says that the result is never released. `releases` are other
    releases of noisy counts of the same cells, which the attacker has as well. With `search_steps` the time limit passes in this
    many steps of the search instead of seconds, so that it ends the same on every machine.

    In place of tables it may have `numbers`: cells and relations without codes, rules or records, as JJ files have them. They are
    judged already, and all that can be said beside them is the method, its limits and its secret.
    """

    tables: tuple[WantedTable, ...] = ()
    method: TableMethod = field(default_factory=lambda: TABLE_METHODS[DEFAULT_METHOD]())
    attacker: Attacker = Attacker()
    cost: str = "value"
    a_priori: tuple[Entry, ...] = ()
    relations: tuple[str, ...] = ()
    find_relations: bool = True
    apart: bool = False
    hide_empty: bool = False
    time_limit: float = 60.0
    search_steps: int | None = None
    secret: Source = field(default=None, repr=False)
    test_secret: bool = False
    releases: tuple[PublishedTable, ...] = ()
    numbers: SuppressionProblem | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.numbers is not None:
            self._check_numbers()
        elif not self.tables:
            raise ParameterError("tables: a request needs at least one table.")
        if len({table.records is None for table in self.tables}) > 1:
            raise PlanError("[table]: linked tables come from microdata or from table files, not from both.")
        if self.a_priori and (self.relations or len({table.source.response for table in self.tables}) > 1):
            raise PlanError("a_priori: entries name cells of one response; with several give them table by table.")
        if self.search_steps is not None:
            check_integer(self.search_steps, minimum=1, name="search_steps", owner="[protect]")
            if not 0 < self.time_limit < math.inf:
                raise ParameterError("[protect]: search_steps divide the time_limit; give one above 0 that ends.")
        self._check_method()

    def _check_numbers(self) -> None:
        """What needs the codes, rules or records of tables cannot be asked of numbers."""
        known = {"numbers", "method", "time_limit", "search_steps", "secret", "test_secret"}
        for one in fields(self):
            if one.name not in known and getattr(self, one.name) != one.default:
                raise ParameterError(f"numbers: they have neither codes nor records, so {one.name} must be left out.")

    def _check_method(self) -> None:
        """What only methods that hide cells can do."""
        method, attacker = self.method, self.attacker
        if self.hide_empty and not hides(method):
            raise PlanError(f"hide_empty: the method {method.name} hides no cells; use a suppression method.")
        if (attacker.insiders == "protect" or attacker.coalition > 1) and not hides(method):
            asked = 'insiders = "protect"' if attacker.insiders == "protect" else f"coalition = {attacker.coalition}"
            raise PlanError(
                f"{asked}: the method {method.name} hides no cells and keeps nothing from insiders; use a suppression "
                "method."
            )
        if any(table.previous is not None for table in self.tables) and not isinstance(method, SuppressionMethod):
            raise PlanError(
                f"previous: the method {method.name} does not choose cells to hide; use a suppression method."
            )


def hides(method: TableMethod) -> bool:
    """Whether the method hides cells; the others publish other values instead."""
    return isinstance(method, SuppressionMethod | PrimaryOnly)


def rules_of_counts(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """The rules that judge counts beside sums: those that need no contributions."""
    return tuple(rule for rule in rules if rule.needs_top == 0)


def beside_sums(responses: Sequence[str | None], relations: Sequence[str]) -> bool:
    """Whether counts stand beside sums: among the responses of a request, or in what relates them."""
    return len(set(responses)) > 1 or any(COUNT in parse_relation(text).names for text in relations)


class Wishes(TypedDict, total=False):
    """What a call in Python may say beside its tables: fields of `TableRequest`, and some that hold for all its tables."""

    rules: Sequence[Rule]
    method: TableMethod | None
    attacker: Attacker
    cost: str
    a_priori: Sequence[Entry]
    relations: Sequence[str]
    find_relations: bool
    hide_empty: bool
    zeros: bool
    earlier: Mapping[int, PublishedTable] | None
    previous: Mapping[int, PublishedTable] | None
    time_limit: float
    search_steps: int | None
    secret: Source
    test_secret: bool
    releases: Sequence[PublishedTable]


def table_request(
    data: Microdata | LargeFile | Table | Sequence[Table],
    spec: TableSpec | Sequence[TableSpec] | None = None,
    **wishes: Unpack[Wishes],
) -> TableRequest:
    """The request of a call in Python: microdata with a spec (or several), or finished tables, all judged by the same rules.

    Tables published before are given with the others, and in `earlier`, by their number, what was published of them.
    `previous` has, by number, the same tables of an earlier period: what was hidden then is preferred now.
    """
    _check_wishes(wishes)
    sources: list[Table | TableSpec]
    if isinstance(data, Microdata | LargeFile):
        if spec is None:
            raise PlanError("protect_table: microdata need a spec that says which table to make.")
        sources = [spec] if isinstance(spec, TableSpec) else list(spec)
    else:
        sources = [data] if isinstance(data, Table) else list(data)
    earlier, previous = wishes.get("earlier") or {}, wishes.get("previous") or {}
    check_earlier(earlier, len(sources))
    for number in previous:
        if not 0 <= number < len(sources):
            raise ParameterError(f"previous: there are {len(sources)} tables, and no table {number}.")
    rules = tuple(wishes.get("rules", ()))
    counted = rules
    if isinstance(data, Microdata | LargeFile) and beside_sums(
        [one.response for one in sources], wishes.get("relations", ())
    ):
        counted = rules_of_counts(rules)
    tables = tuple(
        WantedTable(
            source,
            counted if source.response is None else rules,
            data if isinstance(data, Microdata | LargeFile) else None,
            earlier=earlier.get(number),
            previous=previous.get(number),
            zeros=wishes.get("zeros", False),
        )
        for number, source in enumerate(sources)
    )
    own: dict[str, Any] = {name: value for name, value in wishes.items() if name in _FIELDS and value is not None}
    listed = {name: tuple(own.get(name, ())) for name in ("a_priori", "relations", "releases")}
    return TableRequest(tables, **{**own, **listed})


def _check_wishes(wishes: Mapping[str, object]) -> None:
    known, attacker = tuple(Wishes.__annotations__), {one.name for one in fields(Attacker)}
    for name in wishes:
        if name in attacker:
            raise ParameterError(f"protect_table: {name} belongs to the attacker; write attacker=Attacker({name}=...).")
        if name not in known:
            hint = did_you_mean(name, known) or f" Known options: {', '.join(known)}."
            raise ParameterError(f"protect_table: unknown option {name!r}.{hint}")
    _check_kinds(wishes)


def _check_kinds(wishes: Mapping[str, Any]) -> None:
    """Refuse what is of another kind than asked for: a text "no" would count as yes, and other things fail later."""
    owner = "protect_table"
    for name in ("hide_empty", "zeros", "find_relations", "test_secret"):
        if not isinstance(wishes.get(name, False), bool):
            raise ParameterError(f"{owner}: {name} must be True or False, got {kind_of(wishes[name])}.")
    for name, kind in (("rules", Rule), ("a_priori", Entry), ("releases", PublishedTable)):
        items = wishes.get(name, ())
        if not isinstance(items, Sequence) or not all(isinstance(item, kind) for item in items):
            raise ParameterError(f"{owner}: {name} must be a list of {kind.__name__} objects.")
    for name in ("earlier", "previous"):
        tables = wishes.get(name) or {}
        if not isinstance(tables, Mapping) or not all(
            isinstance(number, int) and isinstance(table, PublishedTable) for number, table in tables.items()
        ):
            raise ParameterError(
                f"{owner}: {name} must give published tables by the numbers of the tables they belong to, as in "
                "{0: published}."
            )


_FIELDS = {one.name for one in fields(TableRequest)}
