"""Relations of records that belong together are found in their sums; where cells have parts of them, cell by cell."""

import numpy as np
import polars as pl
import pytest

from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec
from reticent.tabulation.responses import ties_in_records
from reticent.tabulation.tied_responses import Tie

HOME = np.repeat(np.arange(40), 3)


def people(role: Role, **changed: object) -> Microdata:
    """Households of three: what they earn stands with the head, and what each member earns with each of them."""
    rng = np.random.default_rng(3)
    pay = np.rint(rng.lognormal(6, 1, len(HOME))).astype(int)
    columns = {
        "home": HOME, "a": rng.choice(list("pqr"), 40)[HOME], "w": rng.choice([1.5, 2.0], 40)[HOME],
        "earned": [int(pay[at : at + 3].sum()) if at % 3 == 0 else 0 for at in range(len(HOME))], "pay": pay,
    }  # fmt: skip
    variables = (
        Variable("home", role=role), Variable("a", role=Role.KEY), Variable("w", role=Role.WEIGHT, kind=Kind.NUMERIC),
        Variable("earned", kind=Kind.NUMERIC), Variable("pay", kind=Kind.NUMERIC),
    )  # fmt: skip
    return Microdata.of(pl.DataFrame({**columns, **changed}), Schema(variables))


def found(data: Microdata) -> list[Tie]:
    ties = ties_in_records(data, ("earned", "pay"), [], dimensions=[DimensionSpec("a")], cells=True)
    return [tie for tie in ties if tie.together and not tie.relation.inequality]


@pytest.mark.parametrize(("role", "word"), [(Role.ENTITY, "respondent"), (Role.HOUSEHOLD_ID, "household")])
def test_a_sum_that_stands_with_the_head_is_found(role: Role, word: str) -> None:
    (tie,) = found(people(role))
    assert set(tie.relation.names) == {"earned", "pay"}
    assert sorted(tie.relation.coefs) == [-1, 1]
    assert (tie.everywhere, tie.together) == (True, word)
    assert f"for the records of a {word} together" in str(tie)


@pytest.mark.parametrize(
    "changed", [{"a": np.random.default_rng(4).choice(list("pqr"), len(HOME))}, {"w": np.arange(1.0, len(HOME) + 1)}]
)
def test_where_cells_have_parts_it_is_used_cell_by_cell(changed: dict[str, object]) -> None:
    (tie,) = found(people(Role.HOUSEHOLD_ID, **changed))
    assert not tie.everywhere


def test_members_without_a_value_count_as_nothing() -> None:
    earned = [value if at % 3 == 0 else None for at, value in enumerate(people(Role.ENTITY).numbers(("earned",))[:, 0])]
    (tie,) = found(people(Role.ENTITY, earned=earned))
    assert tie.everywhere


def test_a_wrong_household_is_an_exception() -> None:
    earned = people(Role.ENTITY).numbers(("earned",))[:, 0].copy()
    earned[0] += 7
    (tie,) = found(people(Role.ENTITY, earned=earned))
    assert not tie.everywhere


def test_numbers_that_have_nothing_to_do_with_each_other_are_not_tied() -> None:
    other = np.random.default_rng(9).integers(1, 5000, len(HOME))
    assert found(people(Role.ENTITY, earned=other)) == []


def test_what_each_record_shows_is_not_said_again() -> None:
    assert found(people(Role.ENTITY, earned=people(Role.ENTITY).numbers(("pay",))[:, 0] * 2)) == []
