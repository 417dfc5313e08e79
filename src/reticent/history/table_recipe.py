# SPDX-License-Identifier: Apache-2.0
"""A released table as the ledger keeps it: what was published, how its method is called, what must stay possible.

From this, the data and the ground the facts are stated again, whatever other releases need the ground to have.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from reticent.base.arrays import Floats, Ints
from reticent.base.plain import as_plain
from reticent.data.facts import Fact, Facts, Term
from reticent.data.parameters import build, to_plain
from reticent.data.published_table import HIDDEN, PUBLISHED, PublishedTable
from reticent.data.response_relations import parse_relation
from reticent.data.table import Dimension, Respondents, Table
from reticent.tables.facts_left import (
    atoms_by_cell,
    facts_by_cell,
    facts_of_table,
    known_bounds,
    shown_parts,
    terms_by_cell,
)
from reticent.tables.methods import TABLE_METHODS, TableMethod
from reticent.tables.result import ProtectedTable
from reticent.tables.rules import Manual, Request, Rule, rule_from_plan
from reticent.tabulation.ground import GroundedData
from reticent.tabulation.near_atoms import HiddenCells

Required = Mapping[tuple[str, ...], tuple[float, float]]


@dataclass(frozen=True, eq=False)
class ShownTable:
    """One published table, its dimensions, what must stay possible of its unsafe cells, what is known beforehand (by codes)."""

    published: PublishedTable
    dimensions: tuple[Dimension, ...] = field(repr=False)
    response: str | None
    weighted: bool
    required: Required = field(repr=False)
    known: Required = field(default_factory=dict, repr=False)

    def frame(self) -> Table:
        """A table of these dimensions without cells: facts need its shape only."""
        none: Floats = np.zeros(0)
        nobody = Respondents(np.zeros(0, dtype=np.int64), none, {}, np.zeros(0, dtype=np.int64), {})
        codes = np.zeros((0, len(self.dimensions)), dtype=np.int32)
        return Table(self.dimensions, codes, none, nobody, response=self.response, weighted=self.weighted)


@dataclass(frozen=True, eq=False)
class TableRecipe:
    """Tables that were released together, the method that made them, and the rules for what other tables leave of them."""

    form = "table"
    tables: tuple[ShownTable, ...]
    method: str
    options: Mapping[str, Any] = field(default_factory=dict)
    relations: tuple[str, ...] = ()
    insiders: str = "exact"
    rules: tuple[Rule, ...] = ()
    shadow: str | None = None

    @classmethod
    def of(
        cls,
        results: Sequence[ProtectedTable],
        method: TableMethod,
        *,
        relations: Sequence[str] = (),
        insiders: str = "exact",
        bounded: bool = False,
        rules: Sequence[Rule] = (),
        shadow: str | None = None,
    ) -> "TableRecipe":
        """The recipe of what a run would publish, with the relations that it declares and what insiders are kept from.

        The rules judge sums by the `shadow` variable. With `bounded` the attacker knows the bounds of the plan, in every later
        release too.
        """
        shown = []
        for result in results:
            for (published, table, required), known in zip(shown_parts(result), known_bounds(result), strict=True):
                own = known if bounded else {}
                shown.append(ShownTable(published, table.dimensions, table.response, table.weighted, required, own))
        # cells that are marked, or asked for, are named one by one, and differences are no cells
        judged = tuple(rule for rule in dict.fromkeys(rules) if not isinstance(rule, (Manual, Request)))
        return cls(tuple(shown), method.name, to_plain(method), tuple(relations), insiders, judged, shadow)

    @property
    def variables(self) -> tuple[str, ...]:
        """Everything that the tables select by."""
        return tuple(dict.fromkeys(name for shown in self.tables for name in shown.published.dimensions))

    @property
    def responses(self) -> tuple[str, ...]:
        """What the tables add up, and what relations relate to it."""
        own = [shown.response for shown in self.tables if shown.response is not None]
        related = [name for text in self.relations for name in parse_relation(text).names]
        return tuple(dict.fromkeys((*own, *related)))

    @property
    def counts(self) -> bool:
        """Whether a table counts records."""
        return any(shown.response is None for shown in self.tables)

    def hidden_counts(self) -> tuple[HiddenCells, ...]:
        """The hidden cells of the tables that count records."""
        found = []
        for shown in self.tables:
            published = shown.published
            if shown.response is None and HIDDEN in published.status:
                cells = zip(published.codes, published.status, strict=True)
                hidden = tuple(codes for codes, status in cells if status == HIDDEN)
                found.append(HiddenCells(tuple(published.dimensions), hidden, frozenset(shown.required)))
        return tuple(found)

    def facts(self, grounded: GroundedData, name: str) -> tuple[Facts, ...]:
        """What each of the tables tells."""
        method = self._method(name)
        many = len(self.tables) > 1
        return tuple(
            facts_of_table(
                grounded,
                shown.published,
                shown.frame(),
                method,
                release=f"{name} ({number})" if many else name,
                required=shown.required,
                known=shown.known,
            )
            for number, shown in enumerate(self.tables, start=1)
        )

    def cell_facts(self, grounded: GroundedData, name: str) -> list[dict[tuple[str, ...], Fact]]:
        """What each published cell of each table tells by itself, by codes."""
        method = self._method(name)
        return [facts_by_cell(grounded, shown.published, shown.frame(), method) for shown in self.tables]

    def cell_terms(self, grounded: GroundedData, name: str) -> list[dict[tuple[str, ...], Term]]:
        """The unknowns that each cell of each table adds up, by codes."""
        method = self._method(name)
        return [terms_by_cell(grounded, shown.published, shown.frame(), method) for shown in self.tables]

    def cell_atoms(self, grounded: GroundedData) -> list[dict[tuple[str, ...], Ints]]:
        """The atoms of each cell of each table, by codes; the ground may be that of another version."""
        return [atoms_by_cell(grounded, shown.published, shown.frame()) for shown in self.tables]

    def hiding(self, cells: Sequence[Collection[tuple[str, ...]]]) -> "TableRecipe":
        """The same tables with further cells hidden, per table by codes."""
        return replace(self, tables=tuple(_hiding(one, own) for one, own in zip(self.tables, cells, strict=True)))

    def _method(self, name: str) -> TableMethod:
        made: TableMethod = build(TABLE_METHODS[self.method], dict(self.options), owner=f"release {name}")
        return made

    def to_plain(self) -> dict[str, Any]:
        """The recipe as plain data."""
        return {
            "form": self.form,
            "method": self.method,
            "options": as_plain(self.options),
            "tables": [_table_to_plain(shown) for shown in self.tables],
            "relations": list(self.relations),
            "insiders": self.insiders,
            **({"rules": [{"rule": rule.name, **to_plain(rule)} for rule in self.rules]} if self.rules else {}),
            **({"shadow": self.shadow} if self.shadow else {}),
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> "TableRecipe":
        """The recipe back from plain data."""
        tables = tuple(_table_from_plain(one) for one in plain["tables"])
        relations, insiders = tuple(plain.get("relations", ())), plain.get("insiders", "exact")
        rules = tuple(rule_from_plan(one, owner="ledger") for one in plain.get("rules", ()))
        return cls(tables, plain["method"], plain["options"], relations, insiders, rules, plain.get("shadow"))


def _hiding(shown: ShownTable, cells: Collection[tuple[str, ...]]) -> ShownTable:
    published = shown.published
    status = tuple(
        HIDDEN if state == PUBLISHED and codes in cells else state
        for codes, state in zip(published.codes, published.status, strict=True)
    )
    values = np.where(np.array(status) == PUBLISHED, published.values, np.nan)
    return replace(shown, published=replace(published, status=status, values=values))


def _table_to_plain(shown: ShownTable) -> dict[str, Any]:
    published = shown.published
    return {
        "dimensions": [_dimension_to_plain(dimension) for dimension in shown.dimensions],
        "codes": [list(codes) for codes in published.codes],
        "values": [published.text(row) for row in range(len(published))],
        "status": list(published.status),
        "response": shown.response,
        "weighted": shown.weighted,
        "shown_as": {
            "response": published.response,
            "decimals": published.decimals,
            "method": published.method,
            "kind": published.kind,
            "hides_empty": published.hides_empty,
            "signed": published.signed,
        },
        "undeclared": {name: sorted(codes) for name, codes in published.undeclared.items()},
        "required": [[list(codes), low, high] for codes, (low, high) in shown.required.items()],
        "known": [[list(codes), _end(low), _end(high)] for codes, (low, high) in shown.known.items()],
    }


def _end(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _table_from_plain(plain: Mapping[str, Any]) -> ShownTable:
    dimensions = tuple(_dimension_from_plain(one) for one in plain["dimensions"])
    values = [float(text) if state == PUBLISHED else np.nan for text, state in zip(plain["values"], plain["status"])]
    published = PublishedTable(
        tuple(dimension.name for dimension in dimensions),
        tuple(tuple(codes) for codes in plain["codes"]),
        np.array(values, dtype=np.float64),
        tuple(plain["status"]),
        undeclared={name: frozenset(codes) for name, codes in plain["undeclared"].items()},
        **plain["shown_as"],
    )
    required = {tuple(codes): (low, high) for codes, low, high in plain["required"]}
    known = {
        tuple(codes): (-math.inf if low is None else low, math.inf if high is None else high)
        for codes, low, high in plain.get("known", ())
    }
    return ShownTable(published, dimensions, plain["response"], plain["weighted"], required, known)


def _dimension_to_plain(dimension: Dimension) -> dict[str, Any]:
    return {
        "name": dimension.name,
        "codes": list(dimension.codes),
        "trees": [tree.tolist() for tree in dimension.trees],
        "missing": dimension.missing,
        "from_records": sorted(dimension.from_records),
    }


def _dimension_from_plain(plain: Mapping[str, Any]) -> Dimension:
    return Dimension(
        plain["name"],
        tuple(plain["codes"]),
        tuple(np.array(tree, dtype=np.int32) for tree in plain["trees"]),
        missing=plain["missing"],
        from_records=frozenset(plain["from_records"]),
    )
