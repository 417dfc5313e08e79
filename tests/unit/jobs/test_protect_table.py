"""The job from plan to files: verdicts, attack, refusal, outputs, finished and linked tables, a-priori knowledge."""

import csv
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from reference.table_plans import table_plan_to_toml
from reticent.base.errors import DataError, NotProtectedError, PlanError, ReticentError
from reticent.data.hierarchy import Hierarchy
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.data.table_plan import read_table_plan, table_plan_from
from reticent.jobs.protect_table import protect_table, run_table_plan
from reticent.report.table_report import confidential_table_report
from reticent.tables.apriori import Entry
from reticent.tables.methods import Adjust, PrimaryOnly, Round
from reticent.tables.rules import PPercent, Rule, RuleCells, Threshold
from reticent.tables.suppression import Heuristic

CSV = "industry,region,turnover\n" + "\n".join(
    f"{industry},{region},{value}"
    for industry, region, values in (
        ("A", "N", (100, 3, 2)), ("A", "S", (40, 30, 30, 20)), ("B", "N", (25, 25, 30)), ("B", "S", (60, 50, 40)),
        ("C", "N", (33, 31, 30)), ("C", "S", (20, 22, 24)),
    )
    for value in values
)  # fmt: skip
SCHEMA = """
[[variable]]
name = "industry"
role = "key"
[[variable]]
name = "region"
role = "key"
[[variable]]
name = "turnover"
role = "sensitive"
kind = "numeric"
"""
PLAN = """
[data]
path = "firms.csv"
schema = "firms.schema.toml"
[table]
dimensions = ["industry", "region"]
response = "turnover"
rules = [{ rule = "p-percent", p = 15 }, { rule = "threshold", minimum = 3, protection = 20 }]
bounds = { lower = 0, upper = "1.5 max" }
[protect]
method = "primary-only"
cost = "value"
time_limit = 60
accept_exposed = true
[output]
path = "table.csv"
public_report = "table.html"
report = "confidential.html"
summary = "confidential.json"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "firms.csv").write_text(CSV)
    (tmp_path / "firms.schema.toml").write_text(SCHEMA)
    (tmp_path / "plan.toml").write_text(PLAN)
    return tmp_path


def firms() -> Microdata:
    """The same data in memory."""
    rows = [line.split(",") for line in CSV.splitlines()[1:]]
    frame = pl.DataFrame(
        {"industry": [r[0] for r in rows], "region": [r[1] for r in rows], "turnover": [float(r[2]) for r in rows]}
    )
    schema = Schema(
        (
            Variable("industry", role=Role.KEY),
            Variable("region", role=Role.KEY),
            Variable("turnover", role=Role.SENSITIVE, kind=Kind.NUMERIC),
        )
    )
    return Microdata.of(frame, schema)


SPEC = TableSpec((DimensionSpec("industry"), DimensionSpec("region")), response="turnover")


def test_a_plan_writes_all_it_names(folder: Path) -> None:
    result = run_table_plan(folder / "plan.toml")
    with (folder / "table.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["industry", "region", "value", "status"]
    assert rows[0] == {"industry": "Total", "region": "Total", "value": "615", "status": "published"}
    assert {"industry": "A", "region": "N", "value": "", "status": "hidden"} in rows
    summary = json.loads((folder / "confidential.json").read_text())
    assert summary["cells"] == {"safe": 11, "primary": 1, "secondary": 0, "frozen": 0, "empty": 0}
    assert [(e["cell"], e["low"], e["high"]) for e in summary["exposed"]] == [(["A", "N"], 105.0, 105.0)]
    assert "1 primary, 0 secondary, 1 exposed" in repr(result)
    assert "primary" in result._repr_html_()


def test_public_files_say_nothing_confidential(folder: Path) -> None:
    run_table_plan(folder / "plan.toml")
    for name in ("table.csv", "table.html"):
        text = (folder / name).read_text().partition("</style>")[2] or (folder / name).read_text()
        for word in ("primary", "secondary", "exposed", "percent", "threshold", "105"):
            assert word not in text, f"{word} in {name}"
    assert "exposed" in (folder / "confidential.html").read_text()


def test_exposed_cells_keep_everything_unwritten(folder: Path) -> None:
    plan = folder / "plan.toml"
    plan.write_text(PLAN.replace("accept_exposed = true\n", ""))
    before = sorted(p.name for p in folder.iterdir())
    with pytest.raises(
        NotProtectedError, match=r"recovers 1 cell too closely \(A × N\), so nothing was written"
    ) as err:
        run_table_plan(plan)
    assert err.value.exposed == 1
    assert sorted(p.name for p in folder.iterdir()) == before


def test_a_plan_survives_its_toml(folder: Path) -> None:
    plan = read_table_plan(folder / "plan.toml")
    (folder / "again.toml").write_text(table_plan_to_toml(plan))
    assert read_table_plan(folder / "again.toml") == plan


@pytest.mark.parametrize(
    "old, new, words",
    [
        ('rule = "p-percent"', 'rule = "p-prcent"', "there is no rule 'p-prcent'. Did you mean 'p-percent'?"),
        ("minimum = 3", "minimun = 3", "unknown option 'minimun'. Did you mean 'minimum'?"),
        ("p = 15", "p = 150", "p must be above 0 and at most 100, got 150.0"),
        ('method = "primary-only"', 'method = "primary-olny"', "no method 'primary-olny'. Did you mean 'primary-only'?"),
        ('method = "primary-only"', 'method = "round"\nbsae = 5', "unknown option 'bsae'. Did you mean 'base'?"),
        ('cost = "value"', 'cost = "valeu"', "got 'valeu'. Did you mean 'value'?"),
        ('upper = "1.5 max"', 'upper = "1.5 mx"', "bounds upper must be a number"),
        ('upper = "1.5 max"', "upper = 3", "cells lie outside the attacker's bounds"),
        ('response = "turnover"', 'response = "turnovr"', "'turnovr' is not in the schema. Did you mean 'turnover'?"),
        ('response = "turnover"', 'response = "region"', "variable 'region' must be numeric"),
        ('["industry", "region"]', '["industry", "industry"]', "dimensions has 'industry' twice"),
        ("[table]", "[tabel]", "unknown section [tabel]. Did you mean [table]?|unknown section"),
        ('{ rule = "threshold", minimum = 3, protection = 20 }', '{ rule = "request" }', "no request variable"),
    ],
)  # fmt: skip
def test_wrong_plans_are_told_in_one_sentence(folder: Path, old: str, new: str, words: str) -> None:
    plan = folder / "plan.toml"
    assert old in PLAN
    plan.write_text(PLAN.replace(old, new))
    before = sorted(p.name for p in folder.iterdir())
    with pytest.raises(ReticentError) as err:
        run_table_plan(plan)
    assert any(part in str(err.value) for part in words.split("|")), str(err.value)
    assert sorted(p.name for p in folder.iterdir()) == before


def test_codes_missing_from_the_hierarchy(folder: Path) -> None:
    (folder / "regions.hrc").write_text("North\n@N\n")
    plan = folder / "plan.toml"
    plan.write_text(PLAN.replace('"region"]', '{ variable = "region", hierarchy = "regions.hrc" }]'))
    with pytest.raises(DataError, match="the data have codes that its hierarchy does not"):
        run_table_plan(plan)


def test_hierarchy_from_a_file_in_the_plan(folder: Path) -> None:
    (folder / "industries.hrc").write_text("goods\n@A\n@B\nservices\n@C\n")
    plan = folder / "plan.toml"
    plan.write_text(PLAN.replace('["industry"', '[{ variable = "industry", hierarchy = "industries.hrc" }'))
    result = run_table_plan(plan)
    assert result.table.find(("goods", "N")) is not None
    assert result.counts()["primary"] == 1


def test_rounding_and_adjustment_through_the_same_door() -> None:
    rules = [PPercent(p=15)]
    rounded = protect_table(
        firms(), SPEC, rules=rules, method=Round(base=50), accept_exposed=True, secret=1, test_secret=True
    )
    values = rounded.published[0].values
    assert np.all(values % 50 == 0)
    assert set(rounded.published[0].status) == {"published"}
    adjusted = protect_table(firms(), SPEC, rules=rules, method=Adjust(), secret=1, test_secret=True)
    cell = adjusted.table.find(("A", "N"))
    level = adjusted.verdict.upper_protection[cell]
    assert abs(adjusted.outcome.values[cell] - 105) >= level - 1e-6
    assert adjusted.exposed == ()


def test_a_priori_knowledge(folder: Path) -> None:
    (folder / "known.hst").write_text("A;N;S\nB;S;U\nB;S;PL;10;12\nC;Total;P\nC;N;C;5\n")
    plan = folder / "plan.toml"
    plan.write_text(PLAN.replace("[protect]", 'a_priori = "known.hst"\n[protect]'))
    result = run_table_plan(plan)
    assert result.counts()["primary"] == 1
    cell = result.table.find(("B", "S"))
    assert result.problem.primary[cell]
    assert (result.problem.lower_protection[cell], result.problem.upper_protection[cell]) == (10, 12)
    assert result.problem.cost[result.table.find(("C", "N"))] == 5
    assert result.counts()["frozen"] == 1


@pytest.mark.parametrize(
    "text, words",
    [
        ("B;S;U\nB;S;S\n", r"known.hst, line 2: the cell B × S is declared safe here and unsafe in known.hst, line 1"),
        ("A;N;P\n", "line 1: the cell A × N is unsafe by a rule and cannot be declared protected"),
        ("A;N;Q\n", "line 1: unknown action 'Q'"),
        ("A;N\n", "line 1: needs 2 codes and an action"),
        ("A;X;S\n", "line 1: Dimension 'region': there is no code 'X'"),
        ("A;N;PL;3\n", "line 1: action PL needs 2 numbers, got 1"),
    ],
)
def test_wrong_a_priori_lines_are_named(folder: Path, text: str, words: str) -> None:
    (folder / "known.hst").write_text(text)
    plan = folder / "plan.toml"
    plan.write_text(PLAN.replace("[protect]", 'a_priori = "known.hst"\n[protect]'))
    with pytest.raises(DataError, match=words):
        run_table_plan(plan)


def test_linked_tables_are_one_system() -> None:
    frame = pl.DataFrame(
        {"a": list("xxyyxy"), "b": list("kkkllk"), "c": list("ppqqpq"), "v": [5.0, 1.0, 9.0, 8.0, 7.0, 6.0]}
    )
    names = [Variable(n, role=Role.KEY) for n in "abc"]
    data = Microdata.of(frame, Schema((*names, Variable("v", kind=Kind.NUMERIC))))
    one = TableSpec((DimensionSpec("a"), DimensionSpec("b")), response="v")
    two = TableSpec((DimensionSpec("a"), DimensionSpec("c")), response="v")
    result = protect_table(data, [one, two], rules=[Threshold(minimum=2)], method=PrimaryOnly(), accept_exposed=True)
    first, second = result.system.parts
    shared_cell = (
        result.system.members[0][first.find(("x", "Total"))],
        result.system.members[1][second.find(("x", "Total"))],
    )
    assert shared_cell[0] == shared_cell[1]
    assert result.table.n_cells < first.n_cells + second.n_cells
    assert np.abs(result.system.relations.residuals(result.table.values)).max() == 0
    assert len(result.published) == 2
    assert result.problem.relations.n_cells == result.table.n_cells


def test_several_trees_are_attacked_together() -> None:
    """A cell that one tree hides is calculated by the other."""
    one = Hierarchy.from_children({"Total": ["A", "B"], "A": ["1", "2"], "B": ["3", "4"]})
    two = Hierarchy.from_children({"Total": ["odd", "even"], "odd": ["1", "3"], "even": ["2", "4"]})
    frame = pl.DataFrame({"p": list("1112222333344441"), "v": [float(i + 1) for i in range(16)]})
    data = Microdata.of(frame, Schema((Variable("p", role=Role.KEY), Variable("v", kind=Kind.NUMERIC))))
    entries = [Entry(("1",), "U"), Entry(("2",), "U")]

    def exposed(trees: tuple[Hierarchy, ...]) -> int:
        spec = TableSpec((DimensionSpec("p", trees=trees),), response="v")
        return len(protect_table(data, spec, a_priori=entries, method=PrimaryOnly(), accept_exposed=True).exposed)

    assert exposed((one,)) == 0
    assert exposed((one, two)) == 2


def test_zeros_can_be_judged() -> None:
    plan = table_plan_from(
        {"data": {"path": "x.csv"}, "table": {"dimensions": ["a"], "rules": [{"rule": "zero", "empty": True}]}},
        owner="plan", folder=Path("."),
    )  # fmt: skip
    from reticent.jobs.table_request import rules_of

    data = Microdata.of(
        pl.DataFrame({"a": list("xxy"), "b": list("klk")}),
        Schema((Variable("a", role=Role.KEY), Variable("b", role=Role.KEY))),
    )
    spec = TableSpec((DimensionSpec("a"), DimensionSpec("b")))
    result = protect_table(data, spec, rules=rules_of(plan), zeros=True, method=PrimaryOnly(), accept_exposed=True)
    assert result.counts()["primary"] == 1
    assert result.table.cell_codes(int(np.flatnonzero(result.problem.primary)[0])) == ("y", "l")


def test_a_plan_for_a_file_is_sent_to_the_right_command() -> None:
    with pytest.raises(PlanError, match="run it with `reticent protect`"):
        table_plan_from({"data": {}, "step": []}, owner="plan.toml", folder=Path("."))


def test_linked_tables_from_a_plan(folder: Path) -> None:
    plan = PLAN.replace(
        "[protect]", '[[table]]\ndimensions = ["region"]\nresponse = "turnover"\n[protect]'
    ).replace("[table]\n", "[[table]]\n", 1)  # fmt: skip
    (folder / "plan.toml").write_text(plan)
    result = run_table_plan(folder / "plan.toml")
    assert (folder / "table-1.csv").exists()
    assert (folder / "table-2.csv").read_text().splitlines()[1] == "Total,615,published"
    assert result.table.n_cells == 12  # the second table adds no cell


def test_levels_are_carried_from_the_shadow_to_the_response() -> None:
    frame = pl.DataFrame({"a": list("xxxyyy"), "v": [100.0, 200, 300, 4, 5, 6], "s": [90.0, 5, 1, 50, 50, 50]})
    schema = Schema((Variable("a", role=Role.KEY), Variable("v", kind=Kind.NUMERIC), Variable("s", kind=Kind.NUMERIC)))
    spec = TableSpec((DimensionSpec("a"),), response="v", shadow="s", cost="s")
    result = protect_table(
        Microdata.of(frame, schema), spec, rules=[PPercent(p=10)], cost="s", method=PrimaryOnly(), accept_exposed=True
    )
    cell = result.table.find(("x",))
    assert result.problem.primary[cell]
    # |response| · distance / total of the shadow, where the distance is 10 % of 90 less the rest 1
    assert result.problem.upper_protection[cell] == pytest.approx(600 * (9 - 1) / 96)
    assert result.problem.cost[result.table.find(("y",))] == 150


def test_a_rule_of_ones_own() -> None:
    class Odd(Rule):
        """Cells with an odd number of respondents."""

        name = "odd"

        def unsafe(self, cells: RuleCells) -> np.ndarray:
            return cells.known_counts(self.name) % 2 == 1

    result = protect_table(firms(), SPEC, rules=[Odd()], method=PrimaryOnly(), accept_exposed=True)
    assert {result.verdict.reason_of(int(c)) for c in np.flatnonzero(result.verdict.primary)} == {"odd"}
    assert result.verdict.upper_protection[result.table.find(("A", "N"))] == pytest.approx(21)


def test_notebook_view_and_notes_on_missing_values() -> None:
    data = firms()
    values = data.numbers(("turnover",))[:, 0]
    values[0] = np.nan
    result = protect_table(data.with_numbers("turnover", values), SPEC, method=PrimaryOnly(), accept_exposed=True)
    assert "turnover: missing in 1 records, which add nothing and are no respondents of its sums." in result.notes
    assert "What the attacker knows" not in result._repr_html_()  # numbers of cells only: a notebook travels
    shown = confidential_table_report(result)
    for part in ("What the attacker knows", "What it cost", "Before and after"):
        assert part in shown


def test_a_respondent_alone_in_a_cell_is_an_attacker() -> None:
    """The public knows only that A and B are 12 together; each of the two firms knows the other exactly."""
    frame = pl.DataFrame({"a": list("ABCCC"), "v": [5.0, 7.0, 30.0, 31.0, 32.0]})
    data = Microdata.of(frame, Schema((Variable("a", role=Role.KEY), Variable("v", kind=Kind.NUMERIC))))
    spec = TableSpec((DimensionSpec("a"),), response="v")
    result = protect_table(
        data, spec, rules=[Threshold(minimum=2, protection=20)], method=PrimaryOnly(), accept_exposed=True
    )
    assert result.audit.n_exposed == 0
    assert {result.table.name_of(cell) for cell in result.exposed} == {"A", "B"}
    assert all(row["to_insider"] for row in result.intervals())
    safe = protect_table(data, spec, rules=[Threshold(minimum=2, protection=20)], method=Heuristic(), time_limit=10)
    assert safe.exposed == ()
    assert safe.outcome.hidden[safe.table.find(("C",))] or safe.outcome.hidden[safe.table.find(("Total",))]


def test_a_count_table_reports_its_sap() -> None:
    spec = TableSpec((DimensionSpec("industry"), DimensionSpec("region")))
    result = protect_table(firms(), spec, rules=[Threshold(minimum=3)], method=PrimaryOnly(), accept_exposed=True)
    page = confidential_table_report(result)
    assert "subtracts them, empties a cell" in page


def test_exposed_cells_come_with_the_relations_that_reveal_them(folder: Path) -> None:
    result = run_table_plan(folder / "plan.toml")
    row = json.loads((folder / "confidential.json").read_text())["exposed"][0]
    assert row["cell"] == ["A", "N"]
    assert row["revealed_by"] in (["A × Total = A × N + A × S"], ["Total × N = A × N + B × N + C × N"])
    assert row["revealed_by"][0] in (folder / "confidential.html").read_text()
    cell = result.table.find(("A", "N"))
    how = result.audit.revelations[cell]
    assert (how.low, how.high) == (105, 105)
    assert how.relations == result.audit.reveal(cell).relations
    assert all(not result.outcome.hidden[c] for c in how.published)
    with pytest.raises(ReticentError, match="was not attacked"):
        result.audit.reveal(result.table.find(("B", "S")))


def test_what_an_insider_finds_is_revealed_too() -> None:
    frame = pl.DataFrame({"a": list("ABCCC"), "v": [5.0, 7.0, 30.0, 31.0, 32.0]})
    data = Microdata.of(frame, Schema((Variable("a", role=Role.KEY), Variable("v", kind=Kind.NUMERIC))))
    spec = TableSpec((DimensionSpec("a"),), response="v")
    result = protect_table(data, spec, rules=[Threshold(minimum=2)], method=PrimaryOnly(), accept_exposed=True)
    assert {tuple(words) for words in result.revealed().values()} == {("Total = A + B + C",)}
