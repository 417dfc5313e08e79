"""The method safe: bad input, what leaves the file, bounds, limits of the search, and what its record says."""

import json

import numpy as np
import polars as pl
import pytest

from reference.perturb_files import file_of, run
from reticent.base import clock
from reticent.base.errors import Cancelled, DataError, InfeasibleError, ParameterError, PlanError, ReticentError
from reticent.base.progress import silent
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.parameters import build
from reticent.data.schema import Role, Schema, Variable
from reticent.microdata.mask import METHODS
from reticent.microdata.mask.pram import Pram
from reticent.microdata.mask.reorder import Reorder
from reticent.microdata.mask.safe import Safe
from reticent.microdata.pipeline import check_needs

N = 300


def columns(n: int = N) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    return {
        "id": np.array([f"p{i:03d}" for i in range(n)]),
        "region": rng.integers(0, 8, n).astype(str),
        "sex": rng.integers(0, 2, n).astype(str),
        "job": np.array(list("abcde"))[rng.integers(0, 5, n)],
        "income": np.round(rng.exponential(size=n), 2),
    }


def people(n: int = N) -> Microdata:
    return file_of(columns(n), roles={"id": Role.IDENTIFIER})


CODES = ("region", "sex", "job")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "nothing is controlled"),
        ({"tables": []}, "nothing is controlled"),
        ({"tables": [[]]}, "names no variable"),
        ({"tables": [["sex", "sex"]]}, "twice"),
        ({"tables": [["sex", "job"], ["job", "sex"]]}, "controlled twice"),
        ({"tables": "sex"}, "list"),
        ({"tables": ["sex"]}, "list"),
        ({"ways": 9}, "ways must be between 0 and 4"),
        ({"ways": 1, "single_bound": 4, "crossed_bound": 2}, "exchange them"),
        ({"ways": 1, "single_bound": -1}, "at least 0"),
        ({"ways": 1, "steps": 0}, "at least 1"),
        ({"ways": 1, "time_limit": -1.0}, "at least 0"),
        ({"ways": 1, "variables": ["sex", "sex"]}, "twice"),
        ({"ways": 1, "control": ["sex"]}, "unknown option"),
    ],
)
def test_options_that_cannot_be_are_refused_with_one_sentence(options: dict[str, object], words: str) -> None:
    with pytest.raises(PlanError, match=words):
        build(METHODS["safe"], options, owner="step 1")


@pytest.mark.parametrize(
    ("method", "words"),
    [
        (Safe(tables=(("sexe",),)), "sexe"),
        (Safe(ways=1, variables=("nothing",)), "nothing"),
        (Safe(tables=(("id",),)), "id is an identifier"),
        (Safe(tables=(("job",),), variables=("sex",)), "job is not among variables"),
    ],
)
def test_variables_that_cannot_be_counted_by_are_refused(method: Safe, words: str) -> None:
    with pytest.raises(ReticentError, match=words):
        method.check(people().schema)


@pytest.mark.parametrize(
    ("role", "words"),
    [(Role.WEIGHT, "weighted tables"), (Role.HOUSEHOLD_ID, "stay whole"), (Role.ENTITY, "one respondent")],
)
def test_weights_households_and_respondents_are_refused(role: Role, words: str) -> None:
    data = file_of({**columns(), "extra": np.arange(1, N + 1)}, roles={"extra": role})
    with pytest.raises(DataError, match=words):
        Safe(ways=1).check(data.schema)
    if role is Role.ENTITY:
        with pytest.raises(DataError, match=words):
            Safe(ways=1, variables=CODES).check(data.schema)
    else:  # who names what stays leaves it out on purpose
        assert run(Safe(ways=1, variables=CODES, steps=20), data).data.schema.names == CODES


def test_too_many_tables_are_refused() -> None:
    schema = Schema(tuple(Variable(f"v{i}") for i in range(30)))
    with pytest.raises(ParameterError, match="lower ways"):
        Safe(ways=4).check(schema)


def test_a_file_of_two_records_is_refused_and_three_records_become_one_combination() -> None:
    with pytest.raises(DataError, match="fewer than 3 records"):
        run(Safe(ways=1), file_of({"sex": np.array(["f", "m"])}))
    after = run(Safe(ways=1), file_of({"sex": np.array(["f", "m", "m"])})).data
    assert after.frame.table["sex"].n_unique() == 1
    assert after.n_records == 3


def test_only_what_keeps_values_may_follow() -> None:
    method = Safe(ways=1, variables=CODES)
    check_needs(people(), (method, Reorder()))
    check_needs(people(), (Pram(("job",)), method))
    with pytest.raises(PlanError, match="pram follows it"):
        check_needs(people(), (method, Pram(("job",))))


def test_identifiers_and_variables_that_are_not_named_leave_the_file() -> None:
    method = Safe(ways=2, variables=CODES, steps=40)
    applied = run(method, people())
    assert applied.data.schema.names == CODES
    assert applied.data.frame.names == CODES
    assert method.schema_after(people().schema).names == CODES
    assert applied.facts["removed"] == ["id", "income"]


def test_missing_codes_are_values_and_blanks_of_a_kind_are_written_alike() -> None:
    texts = np.array(["98", "99", "a", "b"])[np.random.default_rng(2).integers(0, 4, 200)]
    frame = pl.DataFrame({"answer": texts, "x": [float("nan"), None, 1.0, 2.0] * 50})
    schema = Schema((Variable("answer", missing=("98", "99")), Variable("x")))
    after = run(Safe(ways=1), Microdata.of(frame, schema)).data.frame.table
    assert after.group_by(["answer", pl.col("x").cast(pl.String)]).len()["len"].min() >= 3


def test_bounds_stop_the_search_or_are_an_error() -> None:
    easy = run(Safe(ways=2, variables=CODES, single_bound=50, crossed_bound=50), people())
    assert easy.facts["search"]["steps"] == 1
    assert easy.facts["search"]["ended"] == "nothing better was asked for"
    with pytest.raises(InfeasibleError, match="raise single_bound or crossed_bound"):
        run(Safe(ways=3, variables=CODES, single_bound=0, crossed_bound=0, steps=50), people())


def test_a_search_cut_by_time_says_so_and_its_steps_repeat_it() -> None:
    with clock.using(clock.StepClock(tick=1.0)):
        cut = run(Safe(ways=2, variables=CODES, time_limit=25.0), people())
    facts = cut.facts["search"]
    assert facts["cut by time"]
    assert facts["to repeat"] == "steps = 25"
    again = run(Safe(ways=2, variables=CODES, steps=facts["steps"]), people())
    assert not again.facts["search"]["cut by time"]
    assert again.data.frame.table.equals(cut.data.frame.table)


def test_progress_grows_and_an_interruption_leaves_nothing_behind() -> None:
    seen: list[float] = []

    def watch(share: float, what: str = "") -> None:
        seen.append(share)
        if len(seen) == 20:
            raise Cancelled("stopped")

    data = people()
    before = data.frame.table.clone()
    with pytest.raises(Cancelled):
        Safe(ways=2, variables=CODES).apply(data, secret=as_secret(1), progress=watch)
    assert seen == sorted(seen)
    assert data.frame.table.equals(before)


def test_the_record_has_tables_certificate_attack_and_guarantee() -> None:
    data = people()
    applied = run(Safe(tables=(("region",), ("region", "sex")), variables=CODES, steps=60), data)
    facts = applied.facts
    json.dumps(facts)
    truth, shown = data.frame.table, applied.data.frame.table
    for row in facts["tables"]:
        names = row["variables"]
        joined = (
            truth.group_by(names).len()
            .join(shown.group_by(names).len(), on=names, how="left", suffix="_new")
            .select((pl.col("len_new").fill_null(0).cast(pl.Int64) - pl.col("len").cast(pl.Int64)).abs().alias("d"))
        )["d"]  # fmt: skip
        assert row["largest"] == joined.max()
        assert row["mean"] == pytest.approx(joined.mean(), abs=1e-4)
        assert row["controlled"] == (names in (["region"], ["region", "sex"]))
    assert len(facts["tables"]) == 7
    largest = [row["largest"] for row in facts["tables"] if row["controlled"]]
    assert facts["largest deviation"] == {"single": largest[0], "crossed": largest[1]}
    assert facts["certificate"]["counts of 1 or 2"] == 0
    assert facts["certificate"]["records"] == N
    assert facts["certificate"]["largest deviation"] == facts["largest deviation"]
    assert "Not for the transparent attacker" in facts["guarantee"]


def test_values_changed_are_counted_by_record() -> None:
    data = people()
    applied = run(Safe(ways=1, variables=CODES, steps=40), data)
    for name in CODES:
        assert applied.changed[name] == (data.frame.table[name] != applied.data.frame.table[name]).sum()
    assert applied.data.record_ids().tolist() == data.record_ids().tolist()


def test_many_variables_and_codes_beyond_64_bits_are_sorted_too() -> None:
    rng = np.random.default_rng(4)
    wide = {f"v{i:02d}": rng.integers(0, 40, 120).astype(str) for i in range(14)}
    applied = run(Safe(ways=1, steps=20), file_of(wide))
    assert applied.data.frame.table.group_by(pl.all()).len()["len"].min() >= 3


def test_one_constant_variable_stays_as_it_is() -> None:
    data = file_of({"sex": np.array(["f"] * 5)})
    applied = Safe(ways=1).apply(data, secret=as_secret(1), progress=silent)
    assert applied.data.frame.table.equals(data.frame.table)
    assert applied.facts["largest deviation"] == {"single": 0, "crossed": 0}
