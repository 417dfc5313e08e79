"""The one road of tables: a plan, a batch file, a call in Python and a request by hand give the same result."""

import json
from pathlib import Path

import polars as pl
import pytest

from reticent.base.errors import InfeasibleError, PlanError
from reticent.base.progress import silent
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.data.table_plan import RedesignOptions, read_table_plan
from reticent.jobs.argus.run import run_batch
from reticent.jobs.protect_table import protect_table
from reticent.jobs.table_request import request_from_plan
from reticent.tables.apriori import Entry, EntryGroup
from reticent.tables.costs import TableCost
from reticent.tables.methods import PrimaryOnly
from reticent.tables.perturb.secrets import NOTHING_DRAWN
from reticent.tables.request import Attacker, TableRequest, WantedTable, table_request
from reticent.tables.responses import judged_responses
from reticent.tables.rules import PPercent, Threshold
from reticent.tables.run import run_request
from reticent.tables.suppression import Optimal

ROWS = [
    ("A", "N", 100), ("A", "N", 3), ("A", "N", 2), ("A", "S", 40), ("A", "S", 30), ("A", "S", 30), ("B", "N", 25),
    ("B", "N", 25), ("B", "N", 30), ("B", "S", 60), ("B", "S", 50), ("B", "S", 40), ("C", "N", 33), ("C", "N", 31),
    ("C", "N", 30), ("C", "S", 20), ("C", "S", 22), ("C", "S", 24),
]  # fmt: skip
RULES = (PPercent(p=15), Threshold(minimum=3, protection=20))
SPEC = TableSpec((DimensionSpec("industry"), DimensionSpec("region")), response="turnover")


def firms() -> Microdata:
    industry, region, turnover = zip(*ROWS, strict=True)
    frame = pl.DataFrame({"industry": industry, "region": region, "turnover": [float(v) for v in turnover]})
    names = (Variable("industry"), Variable("region"), Variable("turnover", kind=Kind.NUMERIC))
    return Microdata.of(frame, Schema(names))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = [f"{industry};{region};{value}" for industry, region, value in ROWS]
    (tmp_path / "firms.asc").write_text("\n".join(lines) + "\n")
    (tmp_path / "firms.rda").write_text(
        '<SEPARATOR> ";"\nindustry 1\n  <RECODEABLE>\nregion 1\n  <RECODEABLE>\nturnover 5\n  <NUMERIC>\n'
    )
    (tmp_path / "plan.toml").write_text(
        '[data]\npath = "firms.asc"\nschema = "firms.rda"\n[table]\ndimensions = ["industry", "region"]\n'
        'response = "turnover"\nrules = [{ rule = "p-percent", p = 15 }, { rule = "threshold", minimum = 3, protection = 20 }]\n'
        '[protect]\nmethod = "optimal"\n'
    )
    (tmp_path / "run.arb").write_text(
        '<OPENMICRODATA> "firms.asc"\n<OPENMETADATA> "firms.rda"\n<SPECIFYTABLE> "industry""region"|"turnover"||\n'
        "<SAFETYRULE> P(15,1)|FREQ(3,20)\n<READMICRODATA>\n<SUPPRESS> OPT(1)\n"
    )
    return tmp_path


def test_all_roads_give_the_same_result(folder: Path) -> None:
    by_call = protect_table(firms(), SPEC, rules=RULES, method=Optimal())
    (by_hand,) = run_request(TableRequest((WantedTable(SPEC, RULES, firms()),), Optimal()))
    (by_plan,) = run_request(request_from_plan(read_table_plan(folder / "plan.toml")))
    by_batch = run_batch(folder / "run.arb").tables[1]
    asked = json.dumps(by_call.summary(), sort_keys=True)
    hidden = [row["cell"] for row in by_call.intervals()]
    assert len(hidden) >= 4
    for other in (by_hand, by_plan, by_batch):
        assert json.dumps(other.summary(), sort_keys=True) == asked
        assert [table.rows() for table in other.published] == [table.rows() for table in by_call.published]


def test_an_error_has_its_cells_as_numbers_and_as_names() -> None:
    frozen = [Entry(codes, "P") for codes in (("A", "S"), ("B", "N"), ("C", "N"), ("Total", "N"), ("A", "Total"))]
    with pytest.raises(InfeasibleError, match="A × N") as caught:
        protect_table(firms(), SPEC, rules=RULES, a_priori=frozen)
    table = protect_table(firms(), SPEC, rules=RULES, method=PrimaryOnly(), accept_exposed=True).table
    assert [table.name_of(cell) for cell in caught.value.cells] == ["A × N"]
    assert "A × S" in str(caught.value)
    assert str(caught.value.named(str)).count(str(caught.value.cells[0]))


def test_a_table_can_have_rules_knowledge_bounds_and_costs_of_its_own() -> None:
    safe = EntryGroup((Entry(("A", "N"), "S"),))
    wanted = WantedTable(SPEC, RULES, firms(), a_priori=(safe,), cost=TableCost("frequency"))
    request = TableRequest((wanted,), PrimaryOnly(), cost="nonsense is not looked at")
    (judged,) = judged_responses(TableRequest((wanted,), PrimaryOnly()), NOTHING_DRAWN, silent).responses.values()
    assert not judged.knowledge.verdict.primary.any()
    assert judged.knowledge.cost.max() == len(ROWS)
    with pytest.raises(PlanError, match="cost must be one of"):
        run_request(request)


def test_responses_without_relation_are_protected_apart_or_as_one() -> None:
    data = firms()
    specs = [SPEC, TableSpec((DimensionSpec("region"),))]
    whole = run_request(table_request(data, specs, rules=RULES, method=PrimaryOnly(), find_relations=False))
    assert len(whole) == 1
    assert [part.response for part in whole[0].by_response()] == ["turnover", "count"]
    wanted = tuple(WantedTable(one, RULES[1:], data) for one in specs)
    apart = run_request(TableRequest(wanted, PrimaryOnly(), find_relations=False, apart=True))
    assert [(one.response, one.joint) for one in apart] == [("turnover", None), ("count", None)]


def test_redesign_is_for_a_single_table() -> None:
    one = WantedTable(SPEC, RULES, firms(), redesign=RedesignOptions(at_most=0))
    (result,) = run_request(TableRequest((one,), PrimaryOnly()))
    assert result.counts()["primary"] == 0
    assert any(note.startswith("redesign: 1 unsafe cells became 0") for note in result.notes)
    with pytest.raises(PlanError, match="single table"):
        run_request(
            TableRequest((one, WantedTable(TableSpec((DimensionSpec("region"),), "turnover"), RULES, one.records)))
        )


def test_who_may_join_is_known_by_name() -> None:
    request = table_request(firms(), SPEC, rules=RULES[1:], attacker=Attacker(coalition=3))
    (judged,) = judged_responses(request, NOTHING_DRAWN, silent).responses.values()
    assert judged.system.table.respondents.measures["turnover"].top.shape[1] == 3


def test_notes_of_reading_stand_with_the_result() -> None:
    wanted = WantedTable(SPEC, RULES, firms(), notes=("one line was repaired.",))
    (result,) = run_request(TableRequest((wanted,), PrimaryOnly()))
    assert result.notes[0] == "one line was repaired."


def test_empty_cells_are_listed_where_they_may_be_hidden() -> None:
    spec = TableSpec((DimensionSpec("industry"), DimensionSpec("turnover_class")), response=None)
    frame = pl.DataFrame({"industry": [row[0] for row in ROWS], "turnover_class": [str(row[2] // 30) for row in ROWS]})
    data = Microdata.of(frame, Schema((Variable("industry"), Variable("turnover_class"))))
    shown = protect_table(data, spec, method=PrimaryOnly())
    listed = protect_table(data, spec, method=PrimaryOnly(), hide_empty=True)
    assert shown.table.n_cells < shown.table.n_possible == listed.table.n_cells
