"""The guarantee of the method is in the confidential report, the summary and the terminal."""

import io

import polars as pl
import pytest
from rich.console import Console

from reticent.cli.table import show_table_result
from reticent.data.microdata import Microdata
from reticent.data.schema import Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.jobs.protect_table import protect_table
from reticent.report.table_report import confidential_table_report
from reticent.tables.methods import TABLE_METHODS
from reticent.tables.result import ProtectedTable
from reticent.tables.rules import Threshold


@pytest.fixture(params=["heuristic", "small-counts"])
def result(request: pytest.FixtureRequest) -> ProtectedTable:
    schema = Schema((Variable("v", role=Role.KEY, codes=("a", "b", "c")),))
    data = Microdata.of(pl.DataFrame({"v": ["a"] * 2 + ["b"] * 7 + ["c"] * 9}), schema)
    method = TABLE_METHODS[request.param]()
    return protect_table(data, TableSpec((DimensionSpec("v"),)), rules=[Threshold(minimum=3)], method=method)


def test_report_and_summary_say_for_which_attacker(result: ProtectedTable) -> None:
    said = TABLE_METHODS[result.method].guarantee
    page = " ".join(confidential_table_report(result).split())
    assert said.arithmetic in page
    assert said.transparent in page
    assert result.summary()["guarantee"] == {"arithmetic": said.arithmetic, "transparent": said.transparent}


def test_the_terminal_says_it_in_one_line(result: ProtectedTable) -> None:
    console = Console(file=io.StringIO(), width=200)
    show_table_result(console, result)
    assert isinstance(console.file, io.StringIO)
    said = console.file.getvalue()
    assert result.guarantee.short() in said
    assert "not for the transparent attacker" in said
