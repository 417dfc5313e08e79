"""What hiding a cell costs: by name and power, by table, and the three distances."""

import numpy as np
import polars as pl
import pytest

from reticent.base.errors import ParameterError, PlanError
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Schema, Variable
from reticent.data.table import DimensionSpec, Table, TableSpec
from reticent.tables.costs import TableCost, cost_by_size, cost_of, costs_by_table, costs_of
from reticent.tables.problem import SuppressionProblem
from reticent.tabulation.linked import link
from reticent.tabulation.tabulate import tabulate


def table(*names: str) -> Table:
    frame = pl.DataFrame({"a": list("xxyy"), "b": list("klkk"), "v": [4.0, 9.0, 16.0, 9.0]})
    data = Microdata.of(frame, Schema((Variable("a"), Variable("b"), Variable("v", kind=Kind.NUMERIC))))
    return tabulate(data, TableSpec(tuple(map(DimensionSpec, names)), response="v"))


@pytest.mark.parametrize(
    ("name", "total", "inner"),
    [
        ("value", 38, 13),
        ("x", 38, 13),
        ("unity", 1, 1),
        ("frequency", 4, 2),
        ("log", np.log(39), np.log(14)),
        ("sqrt", 38**0.5, 13**0.5),
        ("distance", 2, 1),
        ("value^2", 38**2, 13**2),
        ("value^0", np.log(39), np.log(14)),
        ("v", 38, 13),
    ],
)
def test_costs_by_name(name: str, total: float, inner: float) -> None:
    made = table("a")
    found = cost_of(made, name)
    assert found[made.find(("Total",))] == pytest.approx(total)
    assert found[made.find(("x",))] == pytest.approx(inner)


def test_unknown_costs_are_refused_with_the_near_name() -> None:
    with pytest.raises(PlanError, match="Did you mean 'unity'"):
        cost_of(table("a"), "untiy")
    with pytest.raises(PlanError, match="a name, \\^ and a number"):
        cost_of(table("a"), "value^high")


def test_a_cell_costs_what_its_first_table_says() -> None:
    system = link([table("a"), table("b")])
    none = np.zeros(system.table.n_cells, dtype=bool)
    given = costs_by_table([None, TableCost("unity")], system, none)
    assert np.isnan(given[system.members[0][1:]]).all()
    assert (given[system.members[1]] == 1).all()
    both = costs_by_table([TableCost("value"), TableCost("unity")], system, none)
    assert both[system.members[0]].tolist() == system.parts[0].values.tolist()


def test_costs_of_numbers() -> None:
    system = link([table("a", "b")])
    values = system.table.values
    primary = np.zeros(len(values), dtype=bool)
    primary[system.table.find(("x", "k"))] = True
    problem = SuppressionProblem.from_values(values, system.relations, primary=primary)
    assert costs_of(problem, "own").tolist() == values.tolist()
    assert costs_of(problem, "power", power=2.0).tolist() == (values**2).tolist()
    away = costs_of(problem, "distance")
    assert away[system.table.find(("x", "l"))] == 1
    assert away[system.table.find(("y", "Total"))] == 2
    with pytest.raises(ParameterError, match="needs the counts"):
        costs_of(problem, "frequency")


def test_costs_by_size() -> None:
    size = np.array([0.0, 4.0])
    assert cost_by_size(size, "power", power=0.5).tolist() == [0, 2]
    assert cost_by_size(size, "unity").tolist() == [1, 1]
