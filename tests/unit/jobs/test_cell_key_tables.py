"""Tables perturbed by cell keys: plans, linked tables, the attack, what is published, batch lines that are wrong."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from reticent.base.errors import DataError, ParameterError, PlanError, ReticentError
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.jobs.argus.run import run_batch
from reticent.jobs.protect_table import protect_table, run_table_plan
from reticent.tables.methods import CellKey
from reticent.tables.perturb.cell_key import MagnitudeNoise, perturb_counts
from reticent.tables.perturb.ptable_design import Design, design_ptable
from reticent.tables.perturb.record_keys import RecordKeys
from reticent.tables.rules import Threshold
from reticent.tabulation.tabulate import tabulate

RNG = np.random.default_rng(7)
N = 120
FRAME = pl.DataFrame({
    "id": [f"p{i}" for i in range(N)], "sex": RNG.choice(["f", "m"], N), "age": RNG.choice(["1", "2", "3"], N),
    "town": RNG.choice(["a", "b", "c", "d"], N, p=[0.5, 0.3, 0.17, 0.03]), "pay": RNG.integers(0, 400, N),
    "weight": RNG.integers(1, 5, N), "key": np.round(RNG.random(N), 8),
})  # fmt: skip
SCHEMA = Schema((
    Variable("id", role=Role.IDENTIFIER), Variable("sex", codes=("f", "m")), Variable("age", codes=("1", "2", "3")),
    Variable("town", codes=("a", "b", "c", "d")), Variable("pay", role=Role.SENSITIVE, kind=Kind.NUMERIC),
    Variable("weight", role=Role.WEIGHT, kind=Kind.NUMERIC), Variable("key", kind=Kind.NUMERIC, decimals=8),
))  # fmt: skip
DATA = Microdata.of(FRAME, SCHEMA)


def spec(*names: str, response: str | None = None, weighted: bool = False) -> TableSpec:
    return TableSpec(tuple(DimensionSpec(name) for name in names), response=response, weighted=weighted)


@pytest.mark.slow
def test_counts_stay_within_the_design_and_zeros_look_alike() -> None:
    result = protect_table(
        DATA, spec("age", "town"), rules=[Threshold(minimum=2)], method=CellKey(), secret=3, test_secret=True
    )
    values, true = result.outcome.values, result.table.values
    assert values is not None
    assert np.abs(values - true).max() <= 5
    assert not set(values.tolist()) & {1.0, 2.0}
    assert (values[true == 0] == 0).all()
    published = result.published[0]
    assert set(published.status) == {"published"}
    assert published.values.tolist() == values.tolist()
    assert published.method == "cell-key"
    assert result.outcome.facts["additive"] is False
    assert any("do not add up" in note for note in result.notes)
    again = protect_table(
        DATA, spec("age", "town"), rules=[Threshold(minimum=2)], method=CellKey(), secret=3, test_secret=True
    )
    other = protect_table(
        DATA, spec("age", "town"), rules=[Threshold(minimum=2)], method=CellKey(), secret=4, test_secret=True
    )
    assert np.array_equal(values, again.outcome.values)
    assert not np.array_equal(values, other.outcome.values)


def test_a_table_too_large_to_list_shows_no_zeros(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a 0 that noise made would reveal that somebody is there."""
    monkeypatch.setattr("reticent.tables.cell_keys.MOST_EMPTY", 5)
    monkeypatch.setattr("reticent.tables.release.MOST_CELLS", 5)
    result = protect_table(DATA, spec("age", "town", "sex"), method=CellKey(), secret=3, test_secret=True)
    assert result.outcome.values is not None
    assert (result.outcome.values == 0).any()
    published = result.published[0]
    assert (published.values != 0).all()
    assert len(published) == int((result.outcome.values != 0).sum())


def test_linked_tables_give_common_cells_the_same_value() -> None:
    result = protect_table(
        DATA, [spec("age", "town"), spec("sex", "town")], method=CellKey(), secret=3, test_secret=True
    )
    alone = protect_table(DATA, spec("sex", "town"), method=CellKey(), secret=3, test_secret=True)
    first, second = result.published
    towns = {codes[1]: value for codes, value in zip(first.codes, first.values, strict=True) if codes[0] == "Total"}
    for codes, value in zip(second.codes, second.values, strict=True):
        if codes[0] == "Total":
            assert towns[codes[1]] == value
    assert second.values.tolist() == alone.published[0].values.tolist()


def test_the_attack_combines_the_intervals_of_all_cells() -> None:
    """Intervals of the attack lie within those of each cell alone and contain the truth; small noise is seen through."""
    wide = protect_table(DATA, spec("age", "sex"), method=CellKey(largest=5, variance=3), secret=3, test_secret=True)
    narrow = protect_table(
        DATA, spec("age", "sex"), method=CellKey(largest=1, variance=0.5, skip=0), secret=3, test_secret=True
    )
    for result in (wide, narrow):
        low, high = result.outcome.low, result.outcome.high
        assert low is not None
        assert high is not None
        assert (result.audit.low >= low - 1e-9).all()
        assert (result.audit.high <= high + 1e-9).all()
        assert ((result.audit.low <= result.table.values) & (result.table.values <= result.audit.high)).all()
    there = narrow.table.values > 0
    known = int(((narrow.audit.high - narrow.audit.low < 0.5) & there).sum())
    said = f"determines {known} of {int(there.sum())} counts above 0 exactly"
    assert any(said in note for note in narrow.notes)


def test_a_margin_can_give_a_count_away() -> None:
    """Two cells and their total with changes of at most 1: noise 1, 1 and −1 leaves one solution."""
    from reticent.base.progress import silent
    from reticent.data.relations import Relations
    from reticent.tables.methods import Outcome, attack
    from reticent.tables.problem import SuppressionProblem

    true, published = np.array([4.0, 7.0, 11.0]), np.array([5.0, 8.0, 10.0])
    relations = Relations.from_rows(3, [([0, 1, 2], [1, 1, -1])])
    unsafe = np.array([True, False, False])
    problem = SuppressionProblem.from_values(true, relations, primary=unsafe, integral=True, upper_protection=9.0)
    outcome = Outcome(np.zeros(3, dtype=bool), 3.0, values=published, low=published - 1, high=published + 1)
    noisy = replace(outcome, additive=False, levels=False)
    found = attack(problem, noisy, progress=silent)
    assert found.low.tolist() == found.high.tolist() == [4, 7, 11]
    assert found.exposed_cells.tolist() == [0, 1, 2]
    wide = replace(noisy, high=published + 2)
    assert attack(problem, wide, progress=silent).n_exposed == 0
    assert attack(problem, replace(wide, levels=True), progress=silent).n_exposed == 1
    with pytest.raises(ParameterError, match="do not contain the true values"):
        attack(problem, replace(noisy, low=published), progress=silent)


def test_weighted_counts_move_by_the_mean_weight() -> None:
    method = CellKey(record_key="key")
    plain = protect_table(DATA, spec("age"), method=method, secret=0, test_secret=True)
    weighted = protect_table(
        DATA, spec("age", weighted=True), method=method, secret=0, test_secret=True, accept_exposed=True
    )
    assert weighted.state == "not judged"  # the digits of such a product tell more than the audit follows
    assert plain.outcome.values is not None
    expected = plain.outcome.values * weighted.table.values / plain.table.values
    assert weighted.outcome.values == pytest.approx(expected)


@pytest.mark.parametrize("magnifier", ["top", "mean", "range", "sum"])
def test_sums_get_noise_in_proportion(magnifier: str) -> None:
    noise = MagnitudeNoise(magnifier=magnifier, small=0.2)  # type: ignore[arg-type]
    result = protect_table(
        DATA,
        spec("town", "age", response="pay"),
        method=CellKey(noise=noise),
        secret=3,
        test_secret=True,
        accept_exposed=True,
    )
    assert not result.exposed  # the range of one respondent counts as that respondent's contribution
    values, true = result.outcome.values, result.table.values
    assert values is not None
    assert not np.array_equal(values, true)
    assert ((values >= 0) & (values[true == 0].sum() == 0)).all()
    measure = result.table.respondents.measures["pay"]
    counts = np.maximum(result.table.respondents.counts, 1)
    size = {
        "top": measure.top[:, 0],
        "mean": true / counts,
        "range": np.maximum(measure.maximum - measure.minimum, measure.top[:, 0]),
        "sum": true,
    }[magnifier]
    assert (np.abs(values - true) <= 0.2 * size * 5.25 + 1e-9).all()  # D and half a step of the p-table


def test_frozen_cells_keep_their_value() -> None:
    from reticent.tables.apriori import Entry

    result = protect_table(
        DATA, spec("age"), method=CellKey(), a_priori=[Entry(("Total",), "P")], secret=3, test_secret=True
    )
    assert result.outcome.values is not None
    assert result.outcome.values[0] == N


def test_zeros_move_only_when_told() -> None:
    from reticent.tables.perturb.ptable import PerturbationTable, Row

    rows = (
        Row.of(0.0, np.array([0.0, 3.0]), np.array([0.5, 0.5])),
        Row.of(1.0, np.array([-1.0, 1.0]), np.full(2, 0.5)),
    )
    counts, keys = np.array([0, 0, 1]), np.array([0.9, 0.1, 0.9])
    table = PerturbationTable(rows)
    assert perturb_counts(counts, keys, table).values.tolist() == [0, 0, 2]
    assert perturb_counts(counts, keys, table, zeros=True).values.tolist() == [3, 0, 2]


PLAN = """
[data]
path = "people.csv"
schema = "people.toml"
secret = 11
test_secret = true
[table]
dimensions = ["age", "town"]
{response}
rules = [{{ rule = "threshold", minimum = 2 }}]
[protect]
method = "cell-key"
accept_exposed = true
{options}
[output]
path = "table.csv"
report = "report.html"
public_report = "public.html"
summary = "summary.json"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    from reticent.io.schema import write_schema

    FRAME.write_csv(tmp_path / "people.csv")
    write_schema(SCHEMA, tmp_path / "people.toml")
    return tmp_path


@pytest.mark.parametrize(
    "response, options",
    [
        ("", "largest = 4\nvariance = 2.5\nskip = 2"),
        ("", 'ptable = "p.txt"\nrecord_key = "key"'),
        ('response = "pay"', 'noise = { scaling = "flex", contributions = 2, shares = [0.5], turning = 300 }'),
    ],
)
def test_plan(folder: Path, response: str, options: str) -> None:
    from reticent.tables.perturb.ptable import ptable_text

    (folder / "p.txt").write_text(ptable_text(design_ptable(Design(3, 2.0, 2))))
    (folder / "plan.toml").write_text(PLAN.format(response=response, options=options))
    result = run_table_plan(folder / "plan.toml")
    with (folder / "table.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert result.outcome.values is not None
    assert [float(row["value"]) for row in rows] == pytest.approx(result.outcome.values, abs=0.5)
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["method"] == "cell-key"
    assert "do not add up" in (folder / "report.html").read_text()
    assert "totals need not add up" in (folder / "public.html").read_text()


@pytest.mark.parametrize(
    "response, options, words",
    [
        ("", "largest = 0", "largest must be"),
        ("", "largest = 3\nvariance = 9", "row 1 needs a variance from 2 to 3"),
        ("", 'ptable = "absent.txt"', "absent.txt: the p-table file cannot be read"),
        ("", 'record_key = "kee"', "kee"),
        ("", 'record_key = "pay"', "'pay' must be at least 0 and below 1"),
        ("", 'record_key = "sex"', "sex"),
        ('response = "pay"', "noise = { separation = true }", "separation needs small_ptable"),
        ('response = "pay"', "noise = { parity = true }", "parity needs a p-table file"),
        ('response = "pay"', "noise = { contributions = 3 }", "shares must be 2 numbers"),
        ('response = "pay"', 'noise = { magnifier = "sum", contributions = 2, shares = [1] }', "need magnifier top"),
        ('response = "pay"', "noise = { small = 0 }", "must be above 0"),
        ('response = "pay"', 'noise = { scaling = "flexible" }', "must be one of flex, simple"),
    ],
)
def test_wrong_plans(folder: Path, response: str, options: str, words: str) -> None:
    (folder / "plan.toml").write_text(PLAN.format(response=response, options=options))
    with pytest.raises(ReticentError, match=words):
        run_table_plan(folder / "plan.toml")
    assert not (folder / "table.csv").exists()


def test_finished_tables_have_no_keys() -> None:
    table = tabulate(DATA, spec("age"))
    with pytest.raises(DataError, match="cell keys come from records"):
        protect_table(table, method=CellKey(), secret=3, test_secret=True)


def test_record_keys_that_are_none() -> None:
    with pytest.raises(DataError, match="missing in some records"):
        RecordKeys.of_column(np.array([0.1, np.nan]), name="key")
    with pytest.raises(ParameterError, match="1 to 15 decimals"):
        RecordKeys.of_column(np.array([0.1]), name="key", digits=16)
    assert RecordKeys.of_column(np.array([0.25, 0.5]), name="key").digits == 2
    assert "0.25" not in repr(RecordKeys.of_column(np.array([0.25]), name="key"))
    with pytest.raises(DataError, match="counts must not be negative"):
        perturb_counts(np.array([-1]), np.array([0.5]), design_ptable(Design()))
    with pytest.raises(DataError, match="one key"):
        perturb_counts(np.array([1]), np.array([1.0]), design_ptable(Design()))


RDA = """<SEPARATOR> ","
id 5
sex 1
  <RECODEABLE>
age 1
  <RECODEABLE>
town 1
  <RECODEABLE>
pay 5
  <NUMERIC>
{ckm}
weight 2
  <WEIGHT>
key 10
  {key}
  <DECIMALS> 8
  <PFILE> "p.txt"
"""
ARB = """<OPENMICRODATA> "people.txt"
<OPENMETADATA> "people.rda"
<SPECIFYTABLE> "age""town"|{response}||
<SAFETYRULE> FREQ(2,20)
<READMICRODATA>
{suppress}
<WRITETABLE> (1,7,,"out.txt")
"""


@pytest.mark.parametrize(
    "ckm, key, response, suppress, words",
    [
        ("", "", "<FREQ>", "<SUPPRESS> CKM(1)", "line 6: CKM: the metadata must have a variable with <RECORDKEY>"),
        ("", "<RECORDKEY>", '"pay"', "<SUPPRESS> CKM(1)", "line 6: CKM: the metadata must mark pay with <CKM>"),
        ("<CKM> N", "<RECORDKEY>", '"pay"', "<SUPPRESS> CKM(1)", "must mark pay"),
        ("<CKM> V\n<SCALING> N(0.1)", "<RECORDKEY>", '"pay"', "<SUPPRESS> CKM(1)", "<PFILE_CONT>"),
        ("<CKM> T\n<SCALING> N(0.1)", "<RECORDKEY>", '"pay"', "<SUPPRESS> CKM(1)", "<CKM> must be N, T"),
        ("<CKM> T(2)\n<SCALING> N(0.1)", "<RECORDKEY>", '"pay"', "<SUPPRESS> CKM(1)", "followed by 1 further numbers"),
        ("<CKM> M\n<SCALING> N(x)", "<RECORDKEY>", '"pay"', "<SUPPRESS> CKM(1)", "brackets of <SCALING>"),
        ("<CKM> M\n<PARITY> X\n<SCALING> N(1)", "<RECORDKEY>", '"pay"', "<SUPPRESS> CKM(1)", "<PARITY> must be Y or N"),
        ("<PARITY> Y", "<RECORDKEY>", '"pay"', "<SUPPRESS> CKM(1)", "need a <CKM> before"),
        ("<RECORDKEY>", "<RECORDKEY>", "<FREQ>", "<SUPPRESS> CKM(1)", "one <RECORDKEY>, got 2: pay, key"),
        ("", "<RECORDKEY>", "<FREQ>", "<SUPPRESS> CKM(1) nothing", 'only "ptable" may follow'),
        ("", "<RECORDKEY>", "<FREQ>", '<SUPPRESS> CKM(1) "p.txt"|"q.txt"', 'only "ptable" may follow'),
        ("", "<RECORDKEY>", "<FREQ>", '<SUPPRESS> CKM(1) "q.txt"', "q.txt: there is no such file"),
        ("", "<RECORDKEY>", "<FREQ>", "<SUPPRESS> CKM(0)", "line 6: linked tables"),
        (
            "",
            "<RECORDKEY>",
            "<FREQ>",
            "<SUPPRESS> RND(1,5)",
            "line 7: WRITETABLE: type 7 is for tables made by the cell key method",
        ),
        ("<CKM> M\n<SCALING> N(1)", "<RECORDKEY>", '"pay"', '<SUPPRESS> CKM(1) "p.txt"|"q"|1e', "muC must be a number"),
    ],
)
def test_wrong_batch_files(folder: Path, ckm: str, key: str, response: str, suppress: str, words: str) -> None:
    _batch_files(folder, ckm, key)
    (folder / "run.arb").write_text(ARB.format(response=response, suppress=suppress))
    with pytest.raises(ReticentError, match=words):
        run_batch(folder / "run.arb")
    assert not (folder / "out.txt").exists()


def _batch_files(folder: Path, ckm: str, key: str) -> None:
    from reticent.tables.perturb.ptable import ptable_text

    FRAME.write_csv(folder / "people.txt", include_header=False)
    (folder / "people.rda").write_text(RDA.format(ckm=ckm, key=key))
    (folder / "p.txt").write_text(ptable_text(design_ptable(Design(3, 2.0, 2))))
    one = ptable_text({"all": design_ptable(Design(4, 1.0, parts=2), sizes=(1, 4))})
    (folder / "cont.txt").write_text(one)


def test_batch_with_named_files_and_least_noise(folder: Path) -> None:
    _batch_files(folder, "<CKM> M\n<SCALING> N(0.2)", "<RECORDKEY>")
    suppress = '<SUPPRESS> CKM(1) "cont.txt"||0.5'
    (folder / "run.arb").write_text(ARB.format(response='"pay"', suppress=suppress))
    result = run_batch(folder / "run.arb").tables[1]
    lines = (folder / "out.txt").read_text().splitlines()
    assert len(lines) == result.table.n_possible
    assert result.outcome.values is not None
    assert lines[0] == f'"Total";"Total";{result.outcome.values[0]:.0f}'


def test_other_formats_do_not_tell_true_zeros_from_made_ones(folder: Path) -> None:
    _batch_files(folder, "", "<RECORDKEY>")
    text = ARB.format(response="<FREQ>", suppress="<SUPPRESS> CKM(1)").replace("(1,7,,", "(1,3,,")
    (folder / "run.arb").write_text(text)
    result = run_batch(folder / "run.arb").tables[1]
    assert (result.table.values == 0).any()
    assert "-" not in (folder / "out.txt").read_text()


def test_method_needs_its_table() -> None:
    from reticent.base.progress import silent
    from reticent.base.randomness import as_secret

    result = protect_table(DATA, spec("age"), method=CellKey(), secret=1, test_secret=True)
    with pytest.raises(DataError, match="start from microdata"):
        CellKey().protect(result.problem, secret=as_secret(1), time_limit=1.0, progress=silent)
    with pytest.raises(PlanError):
        protect_table(DATA, method=CellKey())
    assert replace(CellKey(), ptable="x").ptable == "x"
