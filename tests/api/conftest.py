"""Small data that every test of the front door uses."""

import numpy as np
import polars as pl
import pytest

import reticent as rt


@pytest.fixture(scope="session")
def people() -> pl.DataFrame:
    rng = np.random.default_rng(5)
    n = 400
    return pl.DataFrame(
        {
            "id": np.arange(n),
            "home": np.arange(n) // 2,
            "age": rng.integers(16, 90, n),
            "region": rng.choice(["north", "south"], n),
            "sex": rng.choice(["f", "m"], n),
            "income": np.round(rng.lognormal(8, 0.6, n)),
            "weight": np.round(rng.uniform(50, 150, n), 1),
        }
    )


@pytest.fixture(scope="session")
def data(people: pl.DataFrame) -> rt.Data:
    return rt.load(people, keys=["age", "region", "sex"], sensitive=["income"], identifiers=["id"], weight="weight")


@pytest.fixture(scope="session")
def firms() -> pl.DataFrame:
    rng = np.random.default_rng(6)
    n = 120
    return pl.DataFrame(
        {
            "industry": rng.choice(["A1", "A2", "B1", "B2"], n),
            "size": rng.choice(["small", "large"], n, p=[0.8, 0.2]),
            "turnover": np.round(rng.lognormal(4, 1.2, n)),
        }
    )
