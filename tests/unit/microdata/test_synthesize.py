"""Synthetic data: distributions, relations, rules, partial replacement, copies and combining rules."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import stats

from reference.perturb_files import file_of, run
from reticent.base.errors import InfeasibleError, ParameterError, PlanError
from reticent.data.microdata import Microdata
from reticent.data.schema import Role
from reticent.microdata import edits
from reticent.microdata.mask.synthesize import Synthesize
from reticent.microdata.perturb.columns import Column
from reticent.microdata.perturb.combining import combine
from reticent.microdata.perturb.leaves import bounded, shared_step, shared_values, step_of
from reticent.microdata.perturb.synthesis import Source, fit_tree


def survey(n: int = 3000, seed: int = 0):
    rng = np.random.default_rng(seed)
    sex = rng.integers(0, 2, n)
    age = rng.integers(15, 90, n).astype(float)
    job = (rng.random(n) < np.clip((age - 15) / 40, 0.1, 0.9)).astype(int) + (age > 65)
    income = np.exp(8 + 0.3 * sex + 0.4 * job + 0.5 * rng.standard_normal(n))
    income[job == 0] = np.nan
    region = rng.integers(0, 6, n)
    named = pl.Series([None if i % 17 == 0 else f"r{c}" for i, c in enumerate(region)])
    jobs = np.array(["none", "work", "rent"])[np.minimum(job, 2)]
    return file_of({"sex": sex.astype(str), "age": age, "job": jobs, "income": income, "region": named})


def income_gap(data) -> float:
    """Mean log income of the third job category less that of the second."""
    income, job = np.log(data.numbers(("income",))[:, 0]), data.codes(("job",))[:, 0]
    return float(np.nanmean(income[job == 2]) - np.nanmean(income[job == 1]))


ALL = ("sex", "age", "region", "job", "income")


@pytest.mark.parametrize("model", ["tree", "parametric"])
def test_full_synthesis_keeps_distributions_and_relations(model) -> None:
    data = survey()
    synthetic = run(Synthesize(ALL, model=model), data).data
    for name in ("sex", "job", "region"):
        table = [
            np.bincount(d.codes((name,))[:, 0] + 1, minlength=len(data.categories(name)) + 1) for d in (data, synthetic)
        ]
        table = np.array(table)[:, np.array(table).sum(axis=0) > 0]
        assert stats.chi2_contingency(table).pvalue > 1e-4
    for name in ("age", "income"):
        old, new = (d.numbers((name,))[:, 0] for d in (data, synthetic))
        assert stats.ks_2samp(old[~np.isnan(old)], new[~np.isnan(new)]).pvalue > 1e-4
        assert np.isnan(new).mean() == pytest.approx(np.isnan(old).mean(), abs=0.04)
    assert income_gap(synthetic) == pytest.approx(income_gap(data), abs=0.12)
    if model == "tree":
        # Whoever has no job has no income: a rule of the data that the tree finds by itself.
        assert np.isnan(synthetic.numbers(("income",))[synthetic.codes(("job",))[:, 0] == 0]).mean() > 0.99


def test_numbers_are_not_handed_on_and_whole_numbers_stay_whole() -> None:
    data = survey()
    made = run(Synthesize(("income", "age")), data).data
    true, drawn = (d.numbers(("income",))[:, 0] for d in (data, made))
    assert not np.isin(drawn[~np.isnan(drawn)], true).any()
    assert np.nanmean(drawn) == pytest.approx(np.nanmean(true), rel=0.05)
    assert np.nanstd(drawn) == pytest.approx(np.nanstd(true), rel=0.1)
    ages = made.numbers(("age",))[:, 0]
    assert np.array_equal(ages, np.rint(ages))


@pytest.mark.parametrize("model", ["tree", "parametric"])
def test_spikes_that_enough_respondents_share_stay(model) -> None:
    rng = np.random.default_rng(2)
    wage = np.round(np.exp(rng.normal(7, 0.5, 1200)), 2)
    wage[rng.random(1200) < 0.3] = 0.0
    wage[:4] = 777.77  # shared by four: not enough
    data = file_of({"job": rng.choice(["a", "b", "c"], 1200), "wage": wage})
    made = run(Synthesize(("job", "wage"), model=model), data).data.numbers(("wage",))[:, 0]
    assert (made == 0).mean() == pytest.approx(0.3, abs=0.06)
    assert not (made == 777.77).any()
    assert np.isin(made[made > 0], wage).mean() < 0.05
    assert np.allclose(made * 100, np.rint(made * 100))


def atoms_of(values, cells, who):
    """What numbers are drawn from, all records with one weight."""
    return Source(Column(values), np.ones(len(values)), who, 5).drawn(cells).atoms


def test_a_value_counts_by_respondents_not_by_rows() -> None:
    values = np.array([5.0] * 6 + [8.0] * 6)
    who = np.array([0] * 6 + [1, 2, 3, 4, 5, 6])
    assert [part.tolist() for part in shared_values(values, who, 5)] == [[8.0], [6.0]]
    rng = np.random.default_rng(0)
    values = np.append(rng.normal(100, 10, 60), 5000.0 + np.arange(6))
    who = np.append(np.arange(60), np.full(6, 60))  # the six largest are one respondent's
    atoms = atoms_of(values, [[np.arange(66)]], who)
    assert atoms.draw(np.zeros(3000, np.int64), rng.random(3000)).max() < 4900


def test_a_leaf_with_few_numbers_takes_those_of_the_node_above() -> None:
    values = np.append(np.zeros(49), np.arange(1.0, 201.0) + 0.25)
    everybody = np.arange(249)
    atoms = atoms_of(values, [[np.arange(50), everybody], [everybody[49:], everybody]], everybody)
    drawn = atoms.draw(np.zeros(4000, np.int64), np.random.default_rng(1).random(4000))
    assert (drawn == 0).mean() == pytest.approx(0.98, abs=0.01)
    assert drawn[drawn > 0].min() < 50 < 150 < drawn.max()
    assert not np.isin(drawn[drawn > 0], values).all()


def test_no_number_dominates_a_block() -> None:
    even = np.array([10.0, 11.0, 12.0, 13.0, 14.0])
    assert bounded(even, 9.5, 14.5) == (pytest.approx(even), True)
    assert bounded(np.append(even, 900.0), 9.5, None)[0].max() == pytest.approx(14.0)
    assert bounded(np.append(even, -900.0), None, 14.5)[0].min() == pytest.approx(10.0)
    # between blocks there is somebody to join: above a number far up, below one far down
    assert bounded(np.append(even, 900.0), 9.5, 901.0) == (None, True)
    assert bounded(np.append(even, -900.0), -901.0, 14.5) == (None, False)
    assert bounded(1000.0 ** np.arange(5), None, None)[0] is None


def test_numbers_that_all_dominate_the_next_are_refused() -> None:
    with pytest.raises(InfeasibleError, match="top-code"):
        run(Synthesize(("x",)), file_of({"x": [1000.0**i for i in range(6)]}))


def test_the_step_of_a_variable() -> None:
    def step(*values: float, k: int = 1) -> float:
        return shared_step(np.array(values), np.arange(len(values)), k)

    for values, found in (((100.0, 250.0), 50.0), ((0.25, 1.0), 0.25), ((np.pi, 1.0), 0.0)):
        assert step_of(np.array(values)) == step(*values) == found
    most = (100.0, 250.0, 300.0, 0.0, 150.0, 200.0, 700.0)
    # one or two who differ, in digits or in size, change nothing where a step is shared by all but fewer than three
    assert step(*most, 7.31, 2.0**60, k=3) == step(*most, 50.0, 50.0, k=3) == 50.0
    assert step(*most, 7.31, 7.33, 7.37, k=3) == 0.01
    assert step(0.0, 0.0, 3.0, k=2) == 1.0


def test_bootstrap_weights_make_draws_of_one_run_alike() -> None:
    """Both draws of one run share its weights: more often equal than independent draws of 8 codes would be."""
    values, everybody = np.repeat(np.arange(8), 12) % 8, np.arange(96)
    picked = []
    for seed in range(400):
        rng = np.random.default_rng(seed)
        atoms = Source(Column(values, 8), rng.exponential(size=96), everybody, 2).drawn([[everybody]]).atoms
        picked.append(atoms.draw(np.zeros(2, np.int64), rng.random(2)))
    picked = np.array(picked)
    assert stats.chisquare(np.bincount(picked[:, 0].astype(int), minlength=8)).pvalue > 1e-4
    assert stats.binomtest(int((picked[:, 0] == picked[:, 1]).sum()), 400, 1 / 8).pvalue > 1e-4


def test_the_match_of_records_used_and_held_back_is_reported() -> None:
    match = run(Synthesize(ALL), survey(1000)).facts["match"]
    assert match["judged"]
    assert match["records"] == 500
    assert match["excess"] == pytest.approx(match["used"] - match["held_back"])
    assert "not judged" in run(Synthesize(("income",), keys=("age",)), survey(1000)).facts["match"]
    assert "not judged" in run(Synthesize(("income",)), survey(100)).facts["match"]


def test_too_few_respondents_are_refused() -> None:
    data = file_of({"x": [1.0, 2.0, 3.0]})
    with pytest.raises(InfeasibleError, match="at least 5 respondents"):
        run(Synthesize(("x",)), data)
    with pytest.raises(ParameterError, match="minimum_leaf must be at least k"):
        Synthesize(("x",), minimum_leaf=3)


def test_tree_orders_nominal_codes_by_the_response() -> None:
    rng = np.random.default_rng(0)
    code = rng.integers(0, 20, 4000)
    response = np.where(code % 2 == 0, 0.0, 10.0) + 0.01 * rng.standard_normal(4000)
    source = Source(Column(response), rng.exponential(size=4000), np.arange(4000), 5)
    tree = fit_tree(source, [Column(code, 20)], minimum_leaf=150, state=1).model
    drawn = tree.draw([Column(np.arange(20), 20)], rng.random(20))
    assert np.array_equal(drawn > 5, np.arange(20) % 2 == 1)


def test_partial_synthesis_replaces_rare_records_only() -> None:
    data = survey()
    applied = run(Synthesize(("income", "job"), keys=("sex", "age", "region"), threshold=1), data)
    rare = data.sample_counts(("sex", "age", "region")) <= 1
    assert applied.facts["replaced_units"] == rare.sum() > 100
    same = applied.data.codes(("job",))[~rare] == data.codes(("job",))[~rare]
    assert same.all()
    assert (applied.data.codes(("job",))[rare] != data.codes(("job",))[rare]).any()


def test_rules_hold_and_impossible_ones_are_reported() -> None:
    rng = np.random.default_rng(0)
    income = rng.exponential(size=800) * 100
    data = file_of(
        {"income": income, "tax": income * rng.uniform(0, 1, 800), "status": np.where(income > 50, "rich", "poor")}
    )
    rules = ("tax <= income", "status == 'rich' => income > 50")
    free = run(Synthesize(("income", "tax", "status"), minimum_leaf=50), data).data
    assert edits.check(free, edits.read_rules(rules, data.schema))
    held = run(Synthesize(("income", "tax", "status"), minimum_leaf=50, rules=rules), data).data
    assert not edits.check(held, edits.read_rules(rules, data.schema))
    with pytest.raises(InfeasibleError, match="no value of tax satisfies"):
        run(Synthesize(("tax",), rules=("tax > 1e9",)), data)
    with pytest.raises(PlanError, match="contradict"):
        run(Synthesize(("tax",), rules=("tax > 3", "tax < 2")), data)


def copies_of(method: Synthesize, data: Microdata, count: int, *, seed: int) -> list[Microdata]:
    return [run(replace(method, copy=n), data, seed).data for n in range(1, count + 1)]


def test_same_secret_same_values_and_copies_differ() -> None:
    data = survey(500)
    first, second = copies_of(Synthesize(("income", "job")), data, 2, seed=1)
    again = copies_of(Synthesize(("income", "job")), data, 1, seed=1)[0]
    assert np.array_equal(first.numbers(("income",)), again.numbers(("income",)), equal_nan=True)
    assert not np.array_equal(first.numbers(("income",)), second.numbers(("income",)), equal_nan=True)


def test_household_variables_are_drawn_per_household() -> None:
    household = np.repeat(np.arange(80), 2)
    data = file_of({"hh": household.astype(str), "rooms": np.random.default_rng(0).integers(1, 6, 80).astype(float)[household]},
                   roles={"hh": Role.HOUSEHOLD_ID}, household=("rooms",))  # fmt: skip
    rooms = run(Synthesize(("rooms",)), data).data.numbers(("rooms",))[:, 0].reshape(80, 2)
    assert (rooms[:, 0] == rooms[:, 1]).all()


def test_combining_rules_by_hand() -> None:
    partial = combine([10.0, 12.0, 11.0], [1.0, 1.0, 1.0])
    assert (partial.estimate, partial.variance) == pytest.approx((11.0, 1 + 1 / 3))
    full = combine([10.0, 12.0, 11.0], [0.5, 0.5, 0.5], kind="full")
    assert full.variance == pytest.approx(4 / 3 - 0.5)
    assert full.degrees_of_freedom == pytest.approx(2 * (1 - 0.5 / (4 / 3)) ** 2)
    assert combine([10.0, 10.1], [5.0, 5.0], kind="full").variance == 5.0
    assert combine([3.0], [2.0], kind="simple").variance == 4.0
    with pytest.raises(ParameterError, match="at least two copies"):
        combine([3.0], [2.0])
    with pytest.raises(ParameterError, match="Did you mean 'partial'"):
        combine([3.0, 2.0], [2.0, 1.0], kind="partiel")


@pytest.mark.deep
def test_partial_rule_covers_the_truth() -> None:
    """Intervals from three copies cover the mean of the population at about the stated rate."""
    hits = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=300)
        data = file_of({"x": x, "y": 2 * x + rng.normal(size=300)})
        copies = copies_of(Synthesize(("y",), model="parametric"), data, 5, seed=seed)
        values = [copy.numbers(("y",))[:, 0] for copy in copies]
        found = combine([v.mean() for v in values], [v.var(ddof=1) / 300 for v in values])
        hits += abs(found.estimate) <= stats.t.ppf(0.975, found.degrees_of_freedom) * np.sqrt(found.variance)
    assert stats.binomtest(hits, 200, 0.95).pvalue > 1e-3
