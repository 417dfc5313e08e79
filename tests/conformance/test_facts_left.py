"""Every masking method says what it tells of the true records, and what it says is true: tried with every example."""

import runpy
from functools import cache
from importlib.resources import files
from pathlib import Path

import polars as pl
import pytest

from fact_worlds import released, satisfied
from reticent.data.facts import COUNT
from reticent.data.microdata import Microdata
from reticent.data.parameters import build
from reticent.io.read import read_microdata
from reticent.microdata.facts.file import DECLARED
from reticent.microdata.mask import METHODS
from reticent.tabulation.ground import GroundedData, ground_of

CASES = [(name, number) for name, method in METHODS.items() for number in range(len(method.examples))]


@cache
def survey() -> tuple[Microdata, GroundedData]:
    folder = files("reticent") / "demo_data"
    data = read_microdata(str(folder / "people.csv"), str(folder / "people.schema.toml"))
    first = data.frame.table["household"].unique(maintain_order=True).head(60).to_list()
    some = Microdata.of(data.frame.table.filter(pl.col("household").is_in(first)), data.schema)
    variables = ("region", "sex", "marital", "education", "occupation", "age")
    return some, ground_of(some, variables, responses=("income", "age"))


def test_every_masking_method_has_a_declaration() -> None:
    """A method that is added without one fails here."""
    assert set(DECLARED) == set(METHODS.values())
    assert all(declared.tells for declared in DECLARED.values())


def test_the_page_of_the_manual_is_up_to_date() -> None:
    script = Path(__file__).resolve().parents[2] / "scripts" / "make_facts_page.py"
    page = runpy.run_path(str(script))
    assert page["PAGE"].read_text(encoding="utf-8") == page["page"](), "run: python scripts/make_facts_page.py"


@pytest.mark.parametrize(("name", "number"), CASES, ids=[f"{name}-{number}" for name, number in CASES])
def test_what_a_method_tells_is_true(name: str, number: int) -> None:
    step = build(METHODS[name], METHODS[name].examples[number], owner=name)
    data, grounded = survey()
    file, facts = released(data, grounded, [step])
    assert facts.facts
    facts.check(grounded.ground)
    told = DECLARED[type(step)]
    if not told.beyond and file.schema.household_id is None:
        assert facts.certified, facts.beyond
    true = {COUNT: grounded.counts, **{name: grounded.whole(name) for name in grounded.decimals}}
    assert satisfied(facts, true, whole=False)
