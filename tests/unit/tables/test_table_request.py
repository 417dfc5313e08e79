"""What a request for tables refuses when it is made, and what a call in Python makes of its wishes."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from reticent.base.errors import ParameterError, PlanError
from reticent.data.microdata import Microdata
from reticent.data.published_table import PublishedTable
from reticent.data.schema import Kind, Schema, Variable
from reticent.data.table import DimensionSpec, Table, TableSpec
from reticent.tables.apriori import Entry
from reticent.tables.methods import PrimaryOnly, Round
from reticent.tables.request import (
    DEFAULT_METHOD,
    Attacker,
    TableRequest,
    WantedTable,
    beside_sums,
    hides,
    rules_of_counts,
    table_request,
)
from reticent.tables.rules import Dominance, PPercent, Threshold
from reticent.tables.suppression import Heuristic
from reticent.tabulation.tabulate import tabulate

SPEC = TableSpec((DimensionSpec("a"),), response="v")
COUNTS = TableSpec((DimensionSpec("a"),))
RULES = (PPercent(p=15), Threshold(minimum=3), Dominance(n=1, k=75))


def records() -> Microdata:
    frame = pl.DataFrame({"a": list("xxxyyyz"), "v": [1.0, 2, 3, 4, 5, 6, 7]})
    return Microdata.of(frame, Schema((Variable("a"), Variable("v", kind=Kind.NUMERIC))))


def table() -> Table:
    return tabulate(records(), SPEC)


def published() -> PublishedTable:
    return PublishedTable(("a",), (("Total",),), np.array([28.0]), ("published",))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"coalition": 0}, "coalition"),
        ({"coalition": 5}, "coalition"),
        ({"coalition": "2"}, "coalition"),
        ({"insiders": "protekt"}, "protect"),
        ({"insiders": True}, "insiders"),
        ({"bounds": 3}, "bounds"),
        ({"bound": None}, "bound"),
    ],
)
def test_an_attacker_is_checked_when_made(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        Attacker(**wrong)


def test_a_spec_needs_records_and_a_table_has_none() -> None:
    with pytest.raises(ParameterError, match="needs the records"):
        WantedTable(SPEC)
    with pytest.raises(ParameterError, match="needs the records"):
        WantedTable(table(), records=records())


def test_a_request_needs_tables_of_one_kind() -> None:
    with pytest.raises(ParameterError, match="at least one table"):
        TableRequest(())
    with pytest.raises(PlanError, match="not from both"):
        TableRequest((WantedTable(table()), WantedTable(SPEC, records=records())))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"hide_empty": True}, "hide_empty"),
        ({"attacker": Attacker(insiders="protect")}, "insiders"),
        ({"attacker": Attacker(coalition=2)}, "coalition = 2"),
        ({"previous": {0: published()}}, "previous"),
    ],
)
def test_what_only_suppression_can_do_is_refused_for_other_methods(options: dict[str, Any], words: str) -> None:
    with pytest.raises(PlanError, match=words):
        table_request(records(), SPEC, method=Round(base=5), **options)
    assert table_request(records(), SPEC, method=Heuristic(), **options).method == Heuristic()


def test_primary_only_hides_but_does_not_choose() -> None:
    assert hides(PrimaryOnly())
    assert not hides(Round(base=5))
    with pytest.raises(PlanError, match="does not choose cells"):
        table_request(records(), SPEC, method=PrimaryOnly(), previous={0: published()})


def test_entries_for_several_responses_are_given_table_by_table() -> None:
    entries = [Entry(("x",), "S")]
    assert table_request(records(), SPEC, a_priori=entries).a_priori == tuple(entries)
    for wrong in ({"spec": [SPEC, COUNTS]}, {"spec": SPEC, "relations": ["count <= v"]}):
        with pytest.raises(PlanError, match="one response"):
            table_request(records(), a_priori=entries, **wrong)  # type: ignore[arg-type]


def test_tables_are_named_by_their_number() -> None:
    request = table_request(records(), [SPEC, COUNTS], earlier={1: published()}, previous={0: published()})
    assert [one.earlier is not None for one in request.tables] == [False, True]
    assert [one.previous is not None for one in request.tables] == [True, False]
    for wrong in ({2: published()}, {0: published(), 1: published()}):
        with pytest.raises(ParameterError, match="earlier"):
            table_request(records(), [SPEC, COUNTS], earlier=wrong)
    with pytest.raises(ParameterError, match="there are 1 tables, and no table 1"):
        table_request(records(), SPEC, previous={1: published()})


def test_microdata_need_a_spec() -> None:
    with pytest.raises(PlanError, match="need a spec"):
        table_request(records())


def test_the_default_method_and_finished_tables() -> None:
    request = table_request([table(), table()], rules=RULES, method=None)
    assert request.method.name == DEFAULT_METHOD
    assert [one.rules for one in request.tables] == [RULES, RULES]
    assert all(one.records is None for one in request.tables)


def test_counts_beside_sums_are_judged_by_rules_without_contributions() -> None:
    assert rules_of_counts(RULES) == (Threshold(minimum=3),)
    assert table_request(records(), COUNTS, rules=RULES).tables[0].rules == RULES
    sums, counts = table_request(records(), [SPEC, COUNTS], rules=RULES).tables
    assert (sums.rules, counts.rules) == (RULES, rules_of_counts(RULES))
    assert beside_sums([None], ["count <= v"])
    assert not beside_sums([None], ["v = w + x"])


def test_unknown_wishes_are_refused() -> None:
    wrong: dict[str, Any]
    for wrong, words in (
        ({"bounds": None}, "attacker=Attacker"),
        ({"insiders": "protect"}, "attacker=Attacker"),
        ({"metod": PrimaryOnly()}, "Did you mean 'method'"),
        ({"nothing_like_it": 1}, "Known options"),
    ):
        with pytest.raises(ParameterError, match=words):
            table_request(records(), SPEC, **wrong)
