"""Respondents with several records, attacked with published values only: the records of one person are no crowd.

Counts and links went by records. A file that shows the twenty visits of each patient with the patient's own keys was called
held (risk 1/20, nobody uniquely linked), although everybody who knows the keys has all twenty.
"""

import numpy as np
import polars as pl
import pytest

from reticent.base.errors import NotProtectedError
from reticent.data.microdata import Microdata
from reticent.data.schema import Schema, Variable
from reticent.jobs.protect_file import protect_file
from reticent.microdata.mask import Noise, Pram, Recode
from reticent.microdata.protect import protect_data

SECRET = bytes.fromhex("8f3a1c77e2b94d0561fa3e9d2c7b8805d4e1f6a3907b5c2d18e4f9a0b6c3d752")
PEOPLE, VISITS = 60, 20


def _visits(seed: int) -> Microdata:
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(PEOPLE), VISITS)
    town, income = rng.integers(0, 30, PEOPLE), rng.integers(10, 99, PEOPLE) * 100.0
    frame = pl.DataFrame(
        {"person": person.astype(str), "town": town[person].astype(str), "income": income[person],
         "ill": rng.integers(0, 2, person.size).astype(str)}
    )  # fmt: skip
    variables = (
        Variable("person", role="entity"),
        Variable("town", role="key"),
        Variable("income", role="sensitive", kind="numeric"),
        Variable("ill", role="sensitive"),
    )
    return Microdata.of(frame, Schema(variables))


def _people_found(published: pl.DataFrame, true: pl.DataFrame) -> float:
    """The share of people whose town and income nobody else has, and who are found in the published file by both."""
    known = true.select("person", "town", "income").unique()
    alone = known.filter(pl.len().over("town", "income") == 1)
    return alone.join(published.select("town", "income").unique(), on=["town", "income"]).height / PEOPLE


@pytest.mark.parametrize("seed", range(3))
def test_visits_of_one_patient_are_no_crowd(seed: int) -> None:
    data = _visits(seed)
    run = protect_data(data, [], most=0.06, secret=SECRET)
    assert _people_found(run.after.frame.table, data.frame.table) > 0.9
    assert run.verdict["linkage"].state == "not held"
    assert run.verdict["recount"].state == "not held"
    with pytest.raises(NotProtectedError):
        protect_file(data, [], most=0.06, secret=SECRET)


def test_the_risk_of_a_record_counts_people() -> None:
    data = _visits(0)
    run = protect_data(data, [], most=0.06, secret=SECRET)
    towns = data.frame.table.group_by("town").agg(pl.col("person").n_unique().alias("people"))
    expected = data.frame.table.join(towns, on="town", maintain_order="left")["people"].to_numpy()
    assert run.attacks.recount is not None
    assert run.attacks.recount.sample_counts.tolist() == expected.tolist()


def test_a_changed_record_does_not_hide_the_others_of_its_respondent() -> None:
    run = protect_data(_visits(1), [Pram(("town",), keep=0.8)], most=0.06, secret=SECRET)
    assert run.verdict["recount"].state == "not held"
    assert run.verdict["linkage"].state == "not held"


def test_groups_of_many_people_are_held() -> None:
    steps = [Recode("town", map={str(code): "all" for code in range(30)}), Noise(("income",), k=50.0)]
    run = protect_data(_visits(2), steps, most=0.06, secret=SECRET)
    assert run.verdict["recount"].state == "held"
    assert run.verdict["linkage"].state == "held"
