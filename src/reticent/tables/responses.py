# SPDX-License-Identifier: Apache-2.0
"""The responses of a request: what relates them, the tables that only the attacker thinks of, and each response judged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from reticent.base.errors import PlanError
from reticent.base.progress import Progress, part
from reticent.base.randomness import Secret
from reticent.data.large import LargeFile
from reticent.data.microdata import Microdata
from reticent.data.published_table import PublishedTable
from reticent.data.response_relations import COUNT, ResponseRelation, parse_relation
from reticent.data.table import TableSpec
from reticent.tables.apriori import Knowledge
from reticent.tables.bounds import CellBounds, cell_bounds
from reticent.tables.combinations import combinations_of
from reticent.tables.crossed import crossed
from reticent.tables.judge import LinkedTable, judge_linked
from reticent.tables.make import Making, make_tables
from reticent.tables.memory import Memory
from reticent.tables.of_one import ends_of_one, limits_note, limits_of_tables
from reticent.tables.presence import NOTHING, Implied, implied_by, not_empty, with_people
from reticent.tables.request import TableRequest, WantedTable, hides, rules_of_counts
from reticent.tables.rests import with_rests
from reticent.tabulation.code_columns import CodeColumns
from reticent.tabulation.codings import Coding, Row, codings_of, rows_within
from reticent.tabulation.coinciding import coinciding
from reticent.tabulation.joint import Combinations, Left
from reticent.tabulation.linked import System
from reticent.tabulation.responses import lacking, name_of_response, related, ties_in_cells, ties_in_records
from reticent.tabulation.tied_responses import Tie


@dataclass(frozen=True, eq=False)
class ResponseTables:
    """The judged tables of one response, what was published of them earlier, and those that only the attacker thinks of.

    `numbers` are those of its tables in the request; `earlier`, `previous`, `latent` and `memory` name tables by their place
    among those of the response.
    """

    system: System
    knowledge: Knowledge
    numbers: tuple[int, ...]
    bounds: CellBounds
    earlier: Mapping[int, PublishedTable] = field(default_factory=dict)
    previous: Mapping[int, PublishedTable] = field(default_factory=dict)
    latent: frozenset[int] = frozenset()
    notes: tuple[str, ...] = ()
    memory: Mapping[int, Memory] = field(default_factory=dict)
    limits: tuple[Row, ...] = ()
    """Sums of cells that are not below 0, because some codes lie within others."""
    rests: tuple[Left, ...] = ()
    """Who is left of each of them."""
    combinations: tuple[Combinations, ...] = ()
    """Combinations of codes that no table shows, of which none is below 0."""

    @property
    def beyond_its_cells(self) -> bool:
        """Whether more is known of the response than what relates the cells that are published."""
        return bool(self.limits or self.latent or self.combinations)

    @property
    def published(self) -> list[int]:
        """The tables that are to be published, by their numbers in the request."""
        skipped = {*self.earlier, *self.latent}
        return [number for at, number in enumerate(self.numbers) if at not in skipped]


@dataclass(frozen=True, eq=False)
class JudgedRequest:
    """Every response of a request by its name, those that are asked for (`names`), and what relates them."""

    responses: Mapping[str, ResponseTables]
    names: tuple[str, ...]
    ties: tuple[Tie, ...]

    def groups(self) -> list[list[str]]:
        """Responses that are protected together: related ones, and all where the tables of some are out already."""
        found = related(self.names, self.ties)
        to_do = [any(self.responses[name].published for name in group) for group in found]
        return found if all(to_do) else [list(self.names)]


def judged_responses(request: TableRequest, secret: Secret, progress: Progress) -> JudgedRequest:
    """Make and judge the tables of each response. Ties of records are found before, those of finished tables after."""
    names = tuple(dict.fromkeys(_name(one) for one in request.tables))
    declared = [parse_relation(text) for text in request.relations]
    related, data = len(names) > 1 or bool(declared), request.tables[0].records
    wanted, ties = list(request.tables), []
    if related and data is not None:  # records may be recoded from table to table, responses are the same in all
        ties = _ties(request, data, names, declared)
        if ties and any(one.redesign is not None for one in wanted):
            raise PlanError("[table]: redesign works on a single response; related responses must keep the same codes.")
        wanted += _latent(wanted, ties, data)
        if hides(request.method) and not request.hide_empty:
            wanted += crossed(wanted)
    groups: dict[str, list[int]] = {}
    for number, one in enumerate(wanted):
        groups.setdefault(_name(one), []).append(number)
    how = Making(request.method, secret, request.hide_empty, request.attacker.coalition)
    found = {}
    for at, (name, numbers) in enumerate(groups.items()):
        share = part(progress, at / len(groups), (at + 1) / len(groups))
        found[name] = _judged(request, [wanted[number] for number in numbers], tuple(numbers), how, share)
    if hides(request.method) and not request.hide_empty:
        implied = _implied(wanted) if len(found) > 1 else NOTHING
        found = {
            name: _beside(one, [other for other in found.values() if other is not one], implied)
            for name, one in found.items()
        }
    if related and data is None:
        ties = ties_in_cells([one.system for one in found.values()], declared, find=request.find_relations)
    return JudgedRequest(found, names, tuple(ties))


def _ties(
    request: TableRequest, data: Microdata | LargeFile, names: Sequence[str], declared: Sequence[ResponseRelation]
) -> list[Tie]:
    """What relates the responses record by record."""
    if not isinstance(data, LargeFile):
        specs = [one.source for one in request.tables if one.records is data and isinstance(one.source, TableSpec)]
        dimensions = [dimension for spec in specs for dimension in spec.dimensions]
        return ties_in_records(data, names, declared, find=request.find_relations, dimensions=dimensions, cells=True)
    if declared or request.find_relations:
        raise PlanError(
            "[table]: relations between responses are looked for in all records at once, which stay in the engine; give each "
            "response a plan of its own, or, if nothing relates them, say find_relations = false."
        )
    return []


def _judged(
    request: TableRequest, wanted: Sequence[WantedTable], numbers: tuple[int, ...], how: Making, progress: Progress
) -> ResponseTables:
    tables, notes = make_tables(wanted, how, progress)
    codings, said = _codings(wanted, tables)
    system, knowledge = judge_linked(tables, request.a_priori, codings, hide_empty=request.hide_empty)
    limits = limits_of_tables(wanted) if request.find_relations else []
    knowledge = replace(knowledge, of_one=ends_of_one(system.table, limits))
    within = rows_within(system, codings)
    limits_of_codes, rests = with_rests(wanted, system, within) if hides(request.method) else (tuple(within), ())
    together: tuple[Combinations, ...] = ()
    if hides(request.method):
        together, left = combinations_of(wanted, system, knowledge.verdict, hide_empty=request.hide_empty)
        notes += left
    return ResponseTables(
        system,
        knowledge,
        numbers,
        cell_bounds(system, [one.bounds or request.attacker.bounds for one in wanted]),
        {at: one.earlier for at, one in enumerate(wanted) if one.earlier is not None},
        {at: one.previous for at, one in enumerate(wanted) if one.previous is not None},
        frozenset(at for at, number in enumerate(numbers) if number >= len(request.tables)),
        (*notes, *said, *limits_note(_name(wanted[0]), limits)),
        {at: one.memory for at, one in enumerate(wanted) if one.memory != Memory()},
        limits_of_codes,
        rests,
        together,
    )


def _beside(one: ResponseTables, others: Sequence[ResponseTables], implied: Implied) -> ResponseTables:
    """The tables of a response beside those of others, which show by their empty cells where somebody is."""
    told = [not_empty(other.system, other.latent) for other in others]
    return replace(one, knowledge=with_people(one.knowledge, one.system.table, told, implied)) if told else one


def _implied(wanted: Sequence[WantedTable]) -> Implied:
    """Which codes say those of other variables, as far as records show it."""
    sources = [
        (one.records, one.source)
        for one in wanted
        if one.records is not None and isinstance(one.source, TableSpec) and one.redesign is None
    ]
    return implied_by(CodeColumns.of(sources)) if len(sources) == len(wanted) else NOTHING


def _codings(
    wanted: Sequence[WantedTable], tables: Sequence[LinkedTable]
) -> tuple[tuple[Coding, ...], tuple[str, ...]]:
    """How codes of different tables add up to the same, as far as records or finished tables show it; and what is not judged."""
    if len(wanted) < 2:
        return (), ()
    if wanted[0].records is None:
        return coinciding([one.table for one in tables])
    sources = [
        (one.records, one.source)
        for one in wanted
        if one.records is not None and isinstance(one.source, TableSpec) and one.redesign is None
    ]
    return codings_of(CodeColumns.of(sources)) if len(sources) == len(wanted) else (), ()


def _name(one: WantedTable) -> str:
    return name_of_response(one.source.response)


def _latent(wanted: Sequence[WantedTable], ties: Sequence[Tie], data: Microdata | LargeFile) -> list[WantedTable]:
    """Tables that nobody publishes but everybody can calculate with: related responses that a table of another lacks."""
    found = []
    for name, number in lacking([(_name(one), _shape(one)) for one in wanted], ties):
        like = wanted[number]
        assert isinstance(like.source, TableSpec)
        response = None if name == COUNT and COUNT not in data.schema else name
        source = replace(like.source, response=response, shadow=None)
        rules = like.rules if response is not None else rules_of_counts(like.rules)
        found.append(
            replace(
                like,
                source=source,
                rules=rules,
                a_priori=(),
                earlier=None,
                previous=None,
                bounds=None,
                notes=(),
                memory=Memory(),
            )
        )
    return found


def _shape(one: WantedTable) -> object:
    """What two tables of different responses have in common if they have the same cells."""
    assert isinstance(one.source, TableSpec)
    return (one.source.dimensions, one.source.weighted, one.source.missing_safe, one.zeros)
