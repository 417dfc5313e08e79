"""Every example of every masking method, and the demonstration survey that they are for."""

from functools import cache
from importlib.resources import files

import polars as pl
import pytest

from reticent.base.progress import silent
from reticent.base.randomness import as_secret
from reticent.data.method import Applied, Method
from reticent.data.microdata import Microdata
from reticent.data.parameters import build
from reticent.io.read import read_microdata
from reticent.microdata.mask import METHODS

HOUSEHOLDS = 60
CASES = [(name, number) for name, method in METHODS.items() for number in range(len(method.examples))]
EACH = pytest.mark.parametrize(("name", "number"), CASES, ids=[f"{name}-{number}" for name, number in CASES])


@cache
def survey() -> Microdata:
    """The first households of the survey that the demonstration protects."""
    folder = files("reticent") / "demo_data"
    data = read_microdata(str(folder / "people.csv"), str(folder / "people.schema.toml"))
    first = data.frame.table["household"].unique(maintain_order=True).head(HOUSEHOLDS).to_list()
    return Microdata.of(data.frame.table.filter(pl.col("household").is_in(first)), data.schema)


def method_of(name: str, number: int) -> Method:
    """One example of a method."""
    made: Method = build(METHODS[name], METHODS[name].examples[number], owner=name)
    return made


def run(method: Method, data: Microdata, secret: int = 1) -> Applied:
    """Mask as the first step of a plan."""
    return method.apply(data, secret=as_secret(secret).child(f"{method.name}:0"), progress=silent)
