"""The whole road of a file with an identifier: another order of the records changes no byte of what is written."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from reticent.jobs.protect_file import run_file_plan

N = 400
SCHEMA = (
    '[[variable]]\nname = "person"\nrole = "identifier"\n[[variable]]\nname = "household"\nrole = "household-id"\n'
    '[[variable]]\nname = "region"\nrole = "household-variable"\nlevel = 1\n[[variable]]\nname = "age"\nrole = "key"\n'
    'kind = "ordinal"\n[[variable]]\nname = "job"\nrole = "key"\n[[variable]]\nname = "income"\nkind = "numeric"\n'
    '[[variable]]\nname = "wealth"\nkind = "numeric"\n[[variable]]\nname = "weight"\nkind = "numeric"\nrole = "weight"\n'
)
PLAN = """
[data]
path = "d.csv"
schema = "s.toml"
secret = "some.key"
[risk]
accept_risk = "a test of bytes"
[[step]]
method = "remove-identifiers"
[[step]]
method = "swap"
variables = ["region"]
rate = 20
[[step]]
method = "pram"
variables = ["job"]
keep = 0.7
[[step]]
method = "noise"
variables = ["income", "wealth"]
strata = ["age"]
shrink = true
[[step]]
method = "rank-swap"
variables = ["age"]
window = 10
[[step]]
method = "noise-on-weights"
[[step]]
method = "sample"
fraction = 0.8
households = true
[output]
path = "out.csv"
"""


def people() -> pl.DataFrame:
    rng = np.random.default_rng(2)
    household = np.repeat(np.arange(N // 2), 2)
    region = rng.integers(0, 4, N // 2)[household]
    return pl.DataFrame(
        {
            "person": [f"q{i:05d}" for i in rng.permutation(N)],
            "household": [f"h{h}" for h in household],
            "region": [f"r{r}" for r in region],
            "age": rng.integers(1, 6, N).astype(str),
            "job": np.array(list("abcd"))[rng.integers(0, 4, N)],
            "income": np.round(np.exp(rng.normal(8, 1, N)), 2),
            "wealth": np.round(np.exp(rng.normal(9, 2, N)), 2),
            "weight": np.round(rng.uniform(10, 90, N // 2), 1)[household],
        }
    )


@pytest.mark.parametrize("keep", [False, True])
def test_no_byte_depends_on_the_order(keep: bool, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(SCHEMA)
    (tmp_path / "some.key").write_text("8f3a61d20c5be94717aa90e4c86f2b53d1097e3cb8254f60a97d1ce2305b84f6")
    (tmp_path / "plan.toml").write_text(PLAN + ("keep_household_ids = true\n" if keep else ""))
    written = []
    for seed in range(3):
        frame = people()
        order = np.random.default_rng(seed).permutation(N) if seed else np.arange(N)
        frame[order].write_csv(tmp_path / "d.csv")
        run_file_plan(tmp_path / "plan.toml")
        written.append((tmp_path / "out.csv").read_bytes())
    assert written[0] == written[1] == written[2]
