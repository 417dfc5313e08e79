"""Respondents and households after their id was removed: k records of one of them are no k respondents.

Plans remove identifiers first. After that, nothing knew that three members share one household income: three of them were a
tail of three, a group of three, and their mean was the income. And a household's income was pulled back for one member only.
The attacker here has the published values and knows the method.
"""

import hashlib

import numpy as np
import polars as pl
import pytest

from reticent.base.errors import NotProtectedError, ReticentError
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.microdata.mask.identifiers import NewIdentifiers, RemoveIdentifiers
from reticent.microdata.mask.microaggregation import Microaggregate
from reticent.microdata.mask.noise import Noise
from reticent.microdata.mask.top_code import MultivariateTopCode, TopCode
from reticent.microdata.pipeline import apply_steps
from samples import numbers

SECRET = as_secret(hashlib.sha256(b"removed ids").digest())
HOME = Variable("hh", role=Role.HOUSEHOLD_ID)
VISITOR = Variable("hh", role=Role.ENTITY)


def homes(seed: int, identifier: Variable = HOME, n: int = 300) -> Microdata:
    """Households (or respondents) of one to four records that share an income and a rent."""
    rng = np.random.default_rng(seed)
    home = np.repeat(np.arange(n), rng.choice([1, 2, 3, 4], n))
    shared = {name: np.round(np.exp(rng.normal(8, 0.5, n))) for name in ("income", "rent")}
    frame = {"hh": [f"h{at}" for at in home], **{name: column[home] for name, column in shared.items()}}
    together = identifier.role is Role.HOUSEHOLD_ID
    variables = [Variable(n, kind=Kind.NUMERIC, role=Role.SENSITIVE, household=together) for n in ("income", "rent")]
    age = Variable("age", kind=Kind.NUMERIC)
    table = pl.DataFrame(frame | {"age": rng.integers(0, 99, home.size).astype(float)})
    return Microdata.of(table, Schema((identifier, *variables, age)))


REMOVE = RemoveIdentifiers(("hh",))


@pytest.mark.parametrize("identifier", [HOME, VISITOR], ids=["household", "respondent"])
@pytest.mark.parametrize("seed", numbers(2, 30))
def test_a_mean_of_a_tail_stands_for_three_who_answered(seed: int, identifier: Variable) -> None:
    data = homes(seed, identifier)
    true = data.frame.table
    published = 0
    for quantile in (0.95, 0.98, 0.985, 0.99, 0.995):
        step = TopCode("income", quantile=quantile, replacement="mean")
        try:
            after = apply_steps(data, (REMOVE, step), secret=SECRET).data.frame.table
        except NotProtectedError:
            continue
        published += 1
        assert true.filter(true["income"] != after["income"])["hh"].n_unique() >= 3
    assert published < 5


@pytest.mark.parametrize("identifier", [HOME, VISITOR], ids=["household", "respondent"])
def test_a_mean_of_a_group_stands_for_three_who_answered(identifier: Variable) -> None:
    data = homes(1, identifier)
    after = apply_steps(data, (REMOVE, Microaggregate(("income",), k=3)), secret=SECRET).data.frame.table
    shown = data.frame.table.select("hh").with_columns(after["income"])
    assert shown.group_by("income").agg(pl.col("hh").n_unique())["hh"].min() >= 3


@pytest.mark.parametrize("steps", [(), (REMOVE,)], ids=["with the id", "without"])
def test_what_a_household_shares_is_pulled_back_for_all_members(steps: tuple[RemoveIdentifiers, ...]) -> None:
    data = homes(2)
    after = apply_steps(data, (*steps, MultivariateTopCode(("income", "rent"))), secret=SECRET).data.frame.table
    both = data.frame.table.select("hh", "income").with_columns(after["income"].alias("shown"))
    assert (both["income"] != both["shown"]).sum() > 5
    assert both.group_by("hh").agg(pl.col("shown").n_unique())["shown"].max() == 1
    with pytest.raises(ReticentError, match="mix variables of households and of persons"):
        apply_steps(data, (*steps, MultivariateTopCode(("income", "age"))), secret=SECRET)


def test_households_that_are_numbered_within_areas_stay_different() -> None:
    """Numbers that begin again in each area made one household of many: all of them got one income."""
    rng = np.random.default_rng(5)
    home = np.repeat(np.arange(60), 2)
    frame = pl.DataFrame(
        {"hh": home.astype(str), "area": (home % 4).astype(str), "income": rng.permutation(60).astype(float)[home]}
    )
    income = Variable("income", kind=Kind.NUMERIC, household=True)
    data = Microdata.of(frame, Schema((HOME, Variable("area", role=Role.KEY, household=True), income)))
    steps = (NewIdentifiers("hh", within="area"), Noise(("income",), k=0.1))
    after = apply_steps(data, steps, secret=SECRET).data.frame.table
    assert after["hh"].n_unique() == 15
    assert after.select("hh", "area").n_unique() == after["income"].n_unique() == 60
