"""A cell that breaks several rules names all of them, in one table and in linked ones."""

import polars as pl

from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.tables.methods import TABLE_METHODS
from reticent.tables.request import TableRequest, WantedTable
from reticent.tables.result import ProtectedTable
from reticent.tables.rules import Dominance, PPercent, Rule, Threshold
from reticent.tables.run import run_request

FIRMS = {
    "region": ["N", "N", "N", "S", "S", "S", "S", "S"],
    "size": ["x", "y", "y", "x", "x", "y", "y", "y"],
    "pay": [90.0, 50, 50, 60, 55, 97, 1, 1],
}
SCHEMA = Schema(
    (
        Variable("region", role=Role.KEY, codes=("N", "S")),
        Variable("size", role=Role.KEY, codes=("x", "y")),
        Variable("pay", kind=Kind.NUMERIC),
    )
)
RULES = (Dominance(1, 75), PPercent(15), Threshold(3))


def _protected(*tables: tuple[tuple[str, ...], tuple[Rule, ...]]) -> ProtectedTable:
    data = Microdata.of(pl.DataFrame(FIRMS), SCHEMA)
    wanted = tuple(
        WantedTable(TableSpec(tuple(map(DimensionSpec, names)), response="pay"), rules, data) for names, rules in tables
    )
    (result,) = run_request(TableRequest(wanted, method=TABLE_METHODS["primary-only"]()))
    return result


def _named(result: ProtectedTable) -> dict[tuple[str, ...], str]:
    return {tuple(row["cell"]): row["rule"] for row in result.intervals()}


def test_every_broken_rule_is_named() -> None:
    result = _protected((("region", "size"), RULES))
    assert _named(result) == {
        ("N", "x"): "dominance, p-percent, threshold",
        ("N", "y"): "p-percent, threshold",
        ("S", "x"): "p-percent, threshold",
        ("S", "y"): "dominance, p-percent",
    }
    assert "It breaks the rules dominance and p-percent." in result.why("S", "y")
    assert "It breaks the rule threshold." in _protected((("region", "size"), RULES[2:])).why("N", "y")


def test_linked_tables_name_the_rules_of_each() -> None:
    result = _protected((("region", "size"), (Dominance(1, 75),)), (("region",), (Threshold(4),)))
    named = _named(result)
    assert named["N", "x"] == "dominance"
    assert named["N", "Total"] == "threshold"
