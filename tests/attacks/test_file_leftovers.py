"""What else leaves with a masked file: code lists, codes that few records have, and doors around the verdict."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from reticent.base.errors import NotProtectedError, ParameterError
from reticent.base.progress import silent
from reticent.base.randomness import Secret, as_secret, release_secret
from reticent.data.microdata import Microdata
from reticent.data.plan import RiskSection
from reticent.data.schema import Schema, Variable
from reticent.io.write import write_masked
from reticent.jobs.protect_file import protect_file
from reticent.microdata.mask import LocalSuppression, Recode, RemoveIdentifiers, TopCode
from reticent.microdata.protect import protect_data
from reticent.report.file_report import public_report

SECRET = bytes.fromhex("8f3a1c77e2b94d0561fa3e9d2c7b8805d4e1f6a3907b5c2d18e4f9a0b6c3d752")


def _jobs() -> Microdata:
    """Occupations by digits, one of which (97) a single person has."""
    rng = np.random.default_rng(4)
    job = rng.choice(["11", "12", "21", "22"], 60)
    job[17] = "97"
    age = rng.integers(20, 30, 60)
    age[5] = 88
    frame = pl.DataFrame({"job": job, "age": age, "sex": rng.choice(["f", "m"], 60)})
    variables = (
        Variable("job", role="key", digits=(1, 1)),
        Variable("age", role="key", kind="numeric"),
        Variable("sex", role="key"),
    )
    return Microdata.of(frame, Schema(variables))


@pytest.mark.parametrize(
    "steps",
    [
        [LocalSuppression(k=3, keys=("job", "sex"))],
        [Recode("job", level=1), LocalSuppression(k=3, keys=("job", "sex"))],
        [TopCode("age", value=80, label="80+"), LocalSuppression(k=3)],
    ],
)
def test_the_published_schema_lists_no_code_that_no_record_has(steps: list[object], tmp_path: Path) -> None:
    run = protect_data(_jobs(), steps, most=1.0, secret=SECRET)
    write_masked(run.result.file, tmp_path / "safe.csv", schema=tmp_path / "safe.toml")
    values = {str(value) for row in pl.read_csv(tmp_path / "safe.csv", infer_schema=False).rows() for value in row}
    for variable in run.result.file.schema.variables:
        tree = variable.hierarchy.leaves if variable.hierarchy else ()
        assert {*variable.codes, *tree} <= values
    assert "97" not in (tmp_path / "safe.toml").read_text()


def _visits() -> Microdata:
    """A sensitive code that a fifth of the records have alone; keys and nothing else besides."""
    code = [f"rare{at}" if at % 5 == 0 else f"c{at % 3}" for at in range(200)]
    frame = pl.DataFrame({"sex": ["f", "m"] * 100, "drug": code})
    return Microdata.of(frame, Schema((Variable("sex", role="key"), Variable("drug", role="sensitive"))))


def test_codes_that_single_out_fewer_than_half_of_the_records_count() -> None:
    run = protect_data(_visits(), [], most=0.05, secret=SECRET)
    counts = run.after.frame.table["drug"].value_counts()
    alone = counts.filter(pl.col("count") == 1).height / 200
    assert alone == 0.2
    assert run.attacks.linkage is not None
    assert run.attacks.linkage.share >= alone
    assert run.verdict["linkage"].state == "not held"
    assert protect_data(_visits(), [RemoveIdentifiers(("drug",))], most=0.05, secret=SECRET).verdict.held


def test_codes_without_a_role_count_together() -> None:
    rng = np.random.default_rng(1)
    columns = {f"c{at}": rng.integers(0, 4, 300).astype(str) for at in range(4)}
    frame = pl.DataFrame({"sex": ["f", "m"] * 150, **columns})
    data = Microdata.of(frame, Schema((Variable("sex", role="key"), *(Variable(name) for name in columns))))
    run = protect_data(data, [], most=0.05, secret=SECRET)
    alone = frame.filter(pl.struct(list(columns)).is_unique()).height / 300
    assert 0.05 < alone < 0.5
    assert run.attacks.linkage is not None
    assert run.attacks.linkage.share >= alone


def test_a_file_that_is_not_held_has_no_other_door(tmp_path: Path) -> None:
    run = protect_data(_jobs(), [], most=0.05, secret=SECRET)
    assert not run.verdict.held
    with pytest.raises(NotProtectedError):
        write_masked(run.result.masked, tmp_path / "safe.csv")
    with pytest.raises(NotProtectedError):
        public_report(run.result.masked)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("reason", ["", " ", ".", "\u200b", "\u2063\u2063\u2063\u2063", "-- 1 --", "ok"])
def test_a_reason_has_words(reason: str) -> None:
    with pytest.raises(ParameterError, match="reason"):
        RiskSection(most=0.05, accept_risk=reason)
    with pytest.raises(ParameterError, match="reason"):
        protect_file(_jobs(), [], most=0.05, accept_risk=reason, secret=SECRET)


def test_nobody_declares_a_secret_to_be_strong() -> None:
    with pytest.raises(TypeError):
        Secret(b"1", derived=True)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Secret(b"1", weakness=None)  # type: ignore[call-arg]
    weak = Secret(b"1")
    with pytest.raises(AttributeError):
        weak.weakness = None  # type: ignore[misc]
    for secret in (weak, weak.child("a"), as_secret(1).child("a")):
        with pytest.raises(ParameterError):
            release_secret(secret, owner="test")


def _mean_of_tail(values: list[float], who: list[str]) -> np.ndarray:
    frame = pl.DataFrame({"firm": [*who, *(f"o{at}" for at in range(40))], "turnover": [*values, *range(100, 140)]})
    schema = Schema((Variable("firm", role="entity"), Variable("turnover", kind="numeric")))
    step = TopCode("turnover", value=1000.0, replacement="mean", k=3, p=10.0)
    done = step.apply(Microdata.of(frame, schema), secret=as_secret(1), progress=silent)
    return done.data.numbers(("turnover",))[:, 0]


def test_a_respondent_with_many_records_is_judged_by_its_total() -> None:
    # f1 has a hundred records just beyond the limit, 101,000 in all; the others lie farther beyond, with one record each
    values, who = [1010.0] * 100 + [2500.0, 2000.0, 2000.0, 2000.0], ["f1"] * 100 + ["f2", "f3", "f4", "f5"]
    mean = sum(values) / len(values)
    # f2 knows the mean, its own value and the limit: what is left of the sum is f1, within three percent
    left = mean * len(values) - 2500 - 3 * 1000
    assert abs(left / 101_000 - 1) < 0.03
    with pytest.raises(NotProtectedError):
        _mean_of_tail(values, who)


def test_a_tail_without_a_dominant_respondent_is_published() -> None:
    values, who = [2000.0, 2500.0, 3000.0] * 4, [f"f{at}" for at in range(12)]
    assert (_mean_of_tail(values, who)[:12] == 2500.0).all()
