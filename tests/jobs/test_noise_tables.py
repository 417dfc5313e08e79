"""Noise for tables as jobs and plans: invariant counts, counts that add up, earlier releases, secrets, bad input."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from reticent.base.errors import InfeasibleError, ParameterError, PlanError, ReticentError
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.data.table_plan import read_table_plan
from reticent.jobs.protect_table import protect_table, run_table_plans
from reticent.tables.methods import CellKey, InvariantNoise, RandomRounding, Resample, Round, SmallCounts
from reticent.tables.perturb.invariant import invariant_matrix, lazier
from reticent.tables.rules import Threshold
from reticent.tabulation.equations import relations_of
from reticent.tabulation.tabulate import tabulate

RNG = np.random.default_rng(4)
N = 900
NAMES = ("age", "sex", "town")
COLUMNS = {
    "id": [f"p{n}" for n in range(N)],
    "age": RNG.choice(6, N, p=[0.35, 0.25, 0.2, 0.1, 0.07, 0.03]).astype(str),
    "sex": RNG.choice(2, N).astype(str),
    "town": RNG.choice(8, N, p=[0.3, 0.2, 0.15, 0.12, 0.1, 0.06, 0.04, 0.03]).astype(str),
    "pay": RNG.exponential(100, N).round(),
}
SCHEMA = Schema((
    Variable("id", role=Role.IDENTIFIER), *(Variable(name, role=Role.KEY) for name in NAMES), Variable("pay", kind=Kind.NUMERIC),
))  # fmt: skip
DATA = Microdata.of(pl.DataFrame(COLUMNS), SCHEMA)
RULES = [Threshold(minimum=3)]


def spec(*names: str, response: str | None = None) -> TableSpec:
    return TableSpec(tuple(DimensionSpec(name) for name in names), response=response)


def run(method, *specs: TableSpec, **options):
    chosen = specs or (spec(*NAMES),)
    given = {"accept_exposed": True, "secret": 5, "test_secret": True, **options}
    return protect_table(DATA, chosen[0] if len(chosen) == 1 else chosen, rules=RULES, method=method, **given)


METHODS = [
    CellKey(variance=2.0, add_up="yes"),
    InvariantNoise(add_up="yes"),
    InvariantNoise(add_up="yes", selection="quotas"),
    CellKey(variance=2.0, add_up="kernel", measure=True),
]


@pytest.mark.parametrize("method", METHODS, ids=lambda m: f"{m.name} {m.add_up}")
def test_tables_add_up_and_show_no_small_counts(method) -> None:
    result = run(method)
    table = tabulate(DATA, spec(*NAMES))
    assert result.outcome.additive
    assert np.abs(result.problem.relations.residuals(result.outcome.values)).max() == 0
    assert not np.isin(result.outcome.values, (1, 2)).any()
    assert (result.outcome.values[result.table.values == 0] == 0).all()
    assert relations_of(table).n_rows > 0
    assert result.outcome.facts["largest change by additivity"] >= 1
    assert any("counts above 0 exactly" in note and "published as 0" in note for note in result.notes)
    assert any("adds up" in note or "add up" in note for note in result.notes)


@pytest.mark.parametrize(
    "method", [Resample(), RandomRounding(base=3), SmallCounts(base=3, choice="alternating"), Round(base=3)]
)
def test_pins_and_presence_are_told_of_every_method_that_exchanges_counts(method) -> None:
    result = run(method)
    said = [note for note in result.notes if "counts above 0 exactly" in note]
    assert len(said) == 1
    assert re.search(r"determines \d+ of \d+ .*counts above 0 exactly .*\d+ cells published as 0 are shown", said[0])


def test_the_same_secret_gives_the_same_table_in_any_order_of_records() -> None:
    order = np.random.default_rng(1).permutation(N)
    mixed = Microdata.of(pl.DataFrame({name: np.array(column)[order] for name, column in COLUMNS.items()}), SCHEMA)
    for method in (
        InvariantNoise(),
        InvariantNoise(strata=("sex",), skip=0, selection="quotas"),
        CellKey(variance=2.0, add_up="yes"),
    ):
        first = run(method)
        again = protect_table(
            mixed, spec(*NAMES), rules=RULES, method=method, secret=5, test_secret=True, accept_exposed=True
        )
        assert first.outcome.values.tolist() == again.outcome.values.tolist()
        assert first.outcome.values.tolist() != run(method, secret=6).outcome.values.tolist()


def test_frequencies_are_kept() -> None:
    result = run(InvariantNoise(skip=0, selection="quotas"))
    before = np.bincount(result.table.values.astype(int), minlength=12)
    after = np.bincount(result.outcome.values.astype(int), minlength=12)
    kept = int(np.flatnonzero(before[1:] == 0)[0]) - 2
    assert kept >= 3
    assert after[: kept + 1].tolist() == before[: kept + 1].tolist()
    assert (result.outcome.values != result.table.values).any()


def test_frequencies_of_strata_are_kept() -> None:
    result = run(InvariantNoise(skip=2, strata=("sex",), selection="quotas"))
    codes, values, true = result.table.codes[:, 1], result.outcome.values, result.table.values
    for code in np.unique(codes):
        mine = codes == code
        small = int(((true > 0) & (true < 4) & mine).sum()) + int(((true == 0) & mine).sum())
        assert int((values[mine] < 4).sum()) == small


def test_linked_tables_agree_in_shared_cells() -> None:
    for method in (CellKey(variance=2.0, add_up="yes"), InvariantNoise(add_up="yes")):
        result = run(method, spec("age", "sex"), spec("sex", "town"))
        first, second = result.published
        sexes = {codes[1]: value for codes, value in zip(first.codes, first.values, strict=True) if codes[0] == "Total"}
        shared = {
            codes[0]: value for codes, value in zip(second.codes, second.values, strict=True) if codes[1] == "Total"
        }
        assert sexes == shared
        assert np.abs(result.problem.relations.residuals(result.outcome.values)).max() == 0


def test_the_same_cell_has_the_same_noise_before_additivity() -> None:
    method = InvariantNoise(selection="keys", frequencies=(50, 40, 30, 20, 10, 10, 5, 5))
    wide, narrow = run(method), run(method, spec("sex", "town"))
    in_wide = {
        c[1:]: v for c, v in zip(wide.published[0].codes, wide.published[0].values, strict=True) if c[0] == "Total"
    }
    for codes, value in zip(narrow.published[0].codes, narrow.published[0].values, strict=True):
        assert in_wide[codes] == value


def test_a_later_table_keeps_what_is_out() -> None:
    method = CellKey(variance=2.0, add_up="yes")
    first = run(method, spec("age", "sex")).published[0]
    both = run(method, spec("age", "sex"), spec("sex", "town"), earlier={0: first})
    (second,) = both.published
    sexes = {codes[1]: value for codes, value in zip(first.codes, first.values, strict=True) if codes[0] == "Total"}
    assert all(
        value == sexes[codes[0]]
        for codes, value in zip(second.codes, second.values, strict=True)
        if codes[1] == "Total"
    )


def test_a_later_table_that_cannot_keep_it_is_refused() -> None:
    method = CellKey(variance=2.0, add_up="exact")
    first = run(method, spec("age", "sex")).published[0]
    values = first.values.copy()
    values[np.array([codes == ("Total", "Total") for codes in first.codes])] += 40
    with pytest.raises(InfeasibleError, match="earlier releases fix"):
        run(method, spec("age", "sex"), spec("sex", "town"), earlier={0: replace(first, values=values)})


def test_without_additivity_an_earlier_table_of_another_secret_is_refused() -> None:
    first = run(CellKey(), spec("age", "sex"), secret=9).published[0]
    with pytest.raises(ParameterError, match="Use the secret and design"):
        run(CellKey(), spec("age", "sex"), spec("sex", "town"), earlier={0: first})
    same = run(CellKey(), spec("age", "sex")).published[0]
    assert run(CellKey(), spec("age", "sex"), spec("sex", "town"), earlier={0: same}).published


def test_noise_needs_a_secret() -> None:
    with pytest.raises(PlanError, match="needs a secret that is kept"):
        protect_table(DATA, spec(*NAMES), rules=RULES, method=InvariantNoise())


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: run(InvariantNoise(), spec("age", response="pay")), "needs a table of counts"),
        (lambda: run(CellKey(add_up="yes"), spec("age", response="pay")), "add_up and measure are for counts"),
        (lambda: run(InvariantNoise(strata=("land",))), "strata must be among the dimensions age, sex, town"),
        (lambda: InvariantNoise(spread=0.0), "spread"),
        (lambda: InvariantNoise(mix=1.5), "mix"),
        (lambda: InvariantNoise(frequencies=(1, -2)), "frequencies must be numbers of at least 0"),
        (lambda: InvariantNoise(frequencies=(0.0, 0.0)), "at least one frequency"),
        (
            lambda: run(CellKey(largest=2, variance=2.0, skip=2)),
            "row 3 needs a variance from 0 to 0 .* No variance suits",
        ),
        (
            lambda: run(CellKey(largest=3, variance=1.5, skip=2)),
            "row 1 needs a variance from 2 to 3 .* from 2 to 3 suit all",
        ),
        (
            lambda: run(CellKey(largest=2, variance=2.0, skip=5)),
            "row 1 cannot have mean 0, .* raise largest to at least 5",
        ),
    ],
)
def test_bad_input_is_one_sentence(make, words: str) -> None:
    with pytest.raises(ReticentError, match=words) as caught:
        make()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        ([[0.5, 0.4], [0.0, 1.0]], "row 0 of the transition matrix adds up to 0.9; each row must add up to 1"),
        ([[1.0, 0.0], [-0.5, 1.5]], "row 1 of the transition matrix must hold numbers from 0 to 1"),
        ([[1.0, 0.0], [np.nan, 1.0]], "row 1 of the transition matrix must hold numbers from 0 to 1"),
        ([[1.0, 0.0]], "must be square, got the shape"),
        ([], "must be square"),
    ],
)
def test_a_matrix_that_is_not_stochastic_is_named_by_its_row(matrix: list[list[float]], words: str) -> None:
    for work in (lambda m: invariant_matrix(m, np.ones(2)), lambda m: lazier(m, 0.5)):
        with pytest.raises(ParameterError, match=words) as caught:
            work(np.array(matrix))
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("method", ["invariant", "resample", "cell-key", "small-counts"])
def test_negative_counts_of_a_finished_table_are_refused(method: str, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("age,value\n1,4\n2,-1\nTotal,3\n")
    plan = tmp_path / "plan.toml"
    plan.write_text(
        '[data]\npath = "table.csv"\nsecret = 77\ntest_secret = true\n[table]\ndimensions = ["age"]\n'
        'finished = { value = "value" }\n'
        f'[protect]\nmethod = "{method}"\naccept_exposed = true\n[output]\npath = "out.csv"\n'
    )
    with pytest.raises(ReticentError, match="negative|counts|records") as caught:
        run_table_plans(read_table_plan(plan))
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out.csv").exists()


def test_plans_have_all_of_it(tmp_path: Path) -> None:
    pl.DataFrame(COLUMNS).write_csv(tmp_path / "people.csv")
    (tmp_path / "people.toml").write_text(
        '[[variable]]\nname = "id"\nrole = "identifier"\n'
        + "".join(f'[[variable]]\nname = "{n}"\nrole = "key"\n' for n in NAMES)
        + '[[variable]]\nname = "pay"\nkind = "numeric"\n'
    )  # fmt: skip
    plan = tmp_path / "plan.toml"
    for protect in (
        'method = "invariant"\nskip = 2\nstrata = ["sex"]\nadd_up = "yes"\nmeasure = true',
        'method = "cell-key"\nvariance = 2\nstay = 0.7\ntails = "normal"\nadd_up = "kernel"',
    ):
        plan.write_text(
            '[data]\npath = "people.csv"\nschema = "people.toml"\nsecret = 77\ntest_secret = true\n'
            '[[table]]\ndimensions = ["age", "sex"]\nrules = [{rule = "threshold", minimum = 3}]\n'
            '[[table]]\ndimensions = ["sex", "town"]\n'
            f"[protect]\n{protect}\naccept_exposed = true\n"
            '[output]\npath = "out.csv"\nsummary = "summary.json"\nreport = "report.html"\n'
        )
        (result,) = run_table_plans(read_table_plan(plan))
        assert result.outcome.additive
        assert "shown to have somebody in them" in (tmp_path / "report.html").read_text()
        for number in (1, 2):
            shown = pl.read_csv(tmp_path / f"out-{number}.csv")
            assert not shown["value"].is_in([1, 2]).any()
