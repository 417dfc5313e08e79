"""Relations that some records break, that belong to a code, or that bound a response by its count.

The attack succeeds where relations are not looked for, as none of these were, and fails today; the families and what the
attacker knows are in `partial_tie_families.py`.
"""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

from attacks.partial_tie_families import CENTS, FAMILIES, TAXES, attack, rates
from reticent.base.errors import DataError
from reticent.data.microdata import Microdata
from reticent.data.response_relations import parse_relation
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec
from reticent.tabulation.responses import ties_in_records
from reticent.tabulation.tied_responses import Tie


def ties(frame: pl.DataFrame, *responses: str, relations: tuple[str, ...] = ()) -> list[Tie]:
    kinds = [Variable(n, role=Role.KEY) if n in "ab" else Variable(n, kind=Kind.NUMERIC) for n in frame.columns]
    dimensions = [DimensionSpec(name) for name in "ab"]
    declared = [parse_relation(text) for text in relations]
    return ties_in_records(Microdata.of(frame, Schema(tuple(kinds))), responses, declared, dimensions=dimensions)


@pytest.mark.parametrize("name", FAMILIES)
def test_what_everybody_knows_opens_no_unsafe_cell(name: str) -> None:
    family = FAMILIES[name]
    opened = 0
    rng = np.random.default_rng(5)
    for _ in range(6):
        frame = family.records(rng)
        before = attack(family, frame, find=False)[2]
        opened += before
        if before:
            assert attack(family, frame, find=True)[2] == 0
        if opened > 1:
            break
    assert opened > 1


@pytest.mark.deep
@pytest.mark.parametrize("name", FAMILIES)
def test_no_unsafe_cell_is_opened_in_many_tables(name: str) -> None:
    unsafe, exactly, closely = rates(FAMILIES[name], 40, find=True)
    assert unsafe > 300
    assert (exactly, closely) == (0, 0)


def test_rounded_rates_of_codes_are_found_also_for_a_code_with_one_record() -> None:
    rng = np.random.default_rng(1)
    rate = {"p": 1.0837, "q": 0.0061, "r": 7.4605, "s": 11.2733, "t": 25.04}
    keys = np.append(rng.choice(list("pqrs"), 299), "t")
    sales = np.rint(rng.lognormal(9, 1.3, 300))
    euro = np.round(sales * np.array([rate[code] for code in keys]), 2)
    frame = pl.DataFrame({"a": keys, "b": rng.choice(list("xyz"), 300), "local": sales, "euro": euro})
    found = [tie for tie in ties(frame, "local", "euro") if tie.within is not None]
    assert {tie.within.name for tie in found if tie.within} == set(rate)
    for tie in found:
        coefs = dict(zip(tie.relation.names, tie.relation.coefs, strict=True))
        assert tie.within is not None
        assert float(-Fraction(coefs["local"], coefs["euro"])) == pytest.approx(rate[tie.within.name], rel=2e-4)


def test_a_tax_is_known_by_its_rate_and_not_by_a_rounder_one() -> None:
    """Two unsafe cells of this table were exact: 4 sales = 21 tax fits prices that count as rounded, 19 sales = 100 tax all."""
    family, rng = FAMILIES["a tax rate for each country"], np.random.default_rng(5)
    frame = [family.records(rng) for _ in range(12)][-1]
    found = {tie.within.name: tie for tie in ties(frame, "sales", "tax") if tie.within}
    assert {name: abs(Fraction(*tie.relation.coefs)) for name, tie in found.items()} == TAXES
    assert all(tie.rounding == 0 for tie in found.values())
    assert attack(family, frame, find=True)[1:] == (0, 0)


@pytest.mark.parametrize("digits", [0, 1])
def test_a_rounded_tax_is_known_within_half_a_unit_of_the_tax(digits: int) -> None:
    """Prices are whole, so that a search which takes them for rounded too finds rounder rates that leave more room."""
    rng = np.random.default_rng(3)
    sales = np.rint(rng.lognormal(5 if digits else 8, 0.6, 200)) + 20
    keys = {"a": rng.choice(list("pq"), 200), "b": rng.choice(list("xy"), 200)}
    (tie,) = ties(pl.DataFrame({**keys, "sales": sales, "tax": np.round(0.19 * sales, digits)}), "sales", "tax")
    coefs = dict(zip(tie.relation.names, map(abs, tie.relation.coefs), strict=True))
    assert coefs == {"sales": 19, "tax": 100}
    assert tie.rounding == 0.5 * 10.0**-digits * 100


def test_a_duty_in_cents_of_one_per_cent_of_whole_prices_is_a_limit() -> None:
    """A cent for each euro is 1 for 1 in the steps of both, which was taken for a part that is its whole."""
    family, rng = CENTS, np.random.default_rng(5)
    frame = [family.records(rng) for _ in range(8)][-1]
    assert attack(family, frame, find=False) == (8, 0, 2)
    assert attack(family, frame, find=True) == (8, 0, 0)


def test_unrelated_responses_are_not_tied() -> None:
    rng = np.random.default_rng(2)
    columns = {f"v{at}": np.rint(rng.lognormal(6, 1, 400)) for at in range(4)}
    frame = pl.DataFrame({"a": rng.choice(list("pqrs"), 400), "b": rng.choice(list("xyz"), 400), **columns})
    assert [tie for tie in ties(frame, *columns, "count") if not tie.relation.inequality] == []


def test_a_declared_relation_may_lack_values_but_not_be_wrong() -> None:
    frame = pl.DataFrame({"a": ["p"] * 9, "b": ["x"] * 9, "tot": [3] * 9, "dom": [2] * 9, "exp": [1] * 8 + [None]})
    (tie,) = [tie for tie in ties(frame, "tot", "dom", "exp", relations=("tot = dom + exp",)) if tie.relation.declared]
    assert not tie.everywhere
    with pytest.raises(DataError, match="does not hold in 1 of 9 records"):
        ties(frame.with_columns(tot=pl.Series([3] * 7 + [9, 3])), "tot", "dom", "exp", relations=("tot = dom + exp",))
