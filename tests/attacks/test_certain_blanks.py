"""Blanks of small files whose codes are numbers with gaps, and keys without any value."""

import math

import numpy as np
import polars as pl
import pytest

from reticent.base.errors import DataError
from reticent.data.microdata import Microdata
from reticent.data.plan import RiskSection
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.microdata.mask import Generalize, LocalSuppression
from reticent.microdata.protect import protect_data
from reticent.microdata.suppress.inference import MOST_FILES

SECRET = bytes.fromhex("8f3a1c77e2b94d0561fa3e9d2c7b8805d4e1f6a3907b5c2d18e4f9a0b6c3d752")
KEYS = ("a", "b", "c")
AT_ONCE = 4096
"""Possible truths that are tried together."""


def certain(published: list[tuple[object, ...]], universe: list[list[object]], k: int) -> int:
    """Blanks with one value in each truth for which the published file keeps its promise (k,k): read from the file alone."""
    blanks = [(i, j) for i, row in enumerate(published) for j, value in enumerate(row) if value is None]
    codes = [{value: at for at, value in enumerate(values)} for values in universe]
    shown = np.array([[-1 if value is None else codes[j][value] for j, value in enumerate(row)] for row in published])
    seen: list[set[int]] = [set() for _ in blanks]
    sizes = tuple(len(universe[j]) for _, j in blanks)
    for start in range(0, math.prod(sizes), AT_ONCE):
        if all(len(known) > 1 for known in seen):
            break
        tried = np.stack(np.unravel_index(np.arange(start, min(start + AT_ONCE, math.prod(sizes))), sizes), axis=1)
        truth = np.repeat(shown[None], len(tried), axis=0)
        for place, (i, j) in enumerate(blanks):
            truth[:, i, j] = tried[:, place]
        fits = ((shown == -1)[None, :, None] | (shown[None, :, None] == truth[:, None])).all(axis=3)
        kept = tried[(fits.sum(axis=1).min(axis=1) >= k) & (fits.sum(axis=2).min(axis=1) >= k)]
        for known, values in zip(seen, kept.T, strict=True):
            known.update(values.tolist())
    return sum(len(known) == 1 and len(universe[j]) > 1 for known, (_, j) in zip(seen, blanks, strict=True))


def small_file(seed: int, gap: int) -> Microdata:
    raw = np.random.default_rng(seed).integers(0, 2, (6, 3))
    frame = pl.DataFrame({name: (1 + gap * raw[:, v]).tolist() for v, name in enumerate(KEYS)})
    return Microdata.of(frame, Schema(tuple(Variable(name, role=Role.KEY) for name in KEYS)))


@pytest.mark.parametrize("gap", [1, 3, 39])
def test_no_blank_is_certain_whatever_numbers_the_codes_are(gap: int) -> None:
    """With the codes 1 and 40 each blank counted as 40 values: nothing was enumerated, and certain blanks stayed."""
    blanks = 0
    for seed in range(8):
        data = small_file(seed, gap)
        run = protect_data(data, [LocalSuppression(k=2)], most=1.0, secret=SECRET + bytes([seed]))
        rows = run.after.frame.table.select(KEYS).rows()
        universe = [data.frame.table[name].unique().sort().to_list() for name in KEYS]
        assert certain(rows, universe, 2) == 0
        found = run.result.steps[0].facts["inferred"]
        few = 2 ** found["blanks"] <= MOST_FILES  # each blank has two possible values
        assert found == {"blanks": found["blanks"], "inferred": 0, "kind": "exact" if few else "lower bound"}
        blanks += found["blanks"]
    assert blanks > 20


def test_a_small_file_with_too_many_completions_says_lower_bound() -> None:
    raw = np.random.default_rng(0).integers(0, 5, (8, 3))
    frame = pl.DataFrame({name: [f"c{value}" for value in raw[:, v]] for v, name in enumerate(KEYS)})
    data = Microdata.of(frame, Schema(tuple(Variable(name, role=Role.KEY) for name in KEYS)))
    run = protect_data(data, [LocalSuppression(k=2)], most=1.0, secret=SECRET)
    found = run.result.steps[0].facts["inferred"]
    assert 3 ** found["blanks"] > MOST_FILES
    assert found["kind"] == "lower bound"


@pytest.mark.parametrize("kind", [Kind.NOMINAL, Kind.ORDINAL, Kind.NUMERIC])
@pytest.mark.parametrize("step", [LocalSuppression(k=3), Generalize(k=3), Generalize(k=3, local=True)])
def test_a_key_without_values_is_refused(kind: Kind, step: LocalSuppression | Generalize) -> None:
    column = pl.Series("a", [None] * 20, dtype=pl.Float64 if kind is Kind.NUMERIC else pl.String)
    schema = Schema((Variable("a", role=Role.KEY, kind=kind), Variable("b", role=Role.KEY)))
    data = Microdata.of(pl.DataFrame({"a": column, "b": ["x", "y"] * 10}), schema)
    with pytest.raises(DataError, match="'a' is missing in every record"):
        protect_data(data, [step], risk=RiskSection(most=1.0), secret=SECRET)


def test_a_key_may_be_missing_throughout_a_stratum() -> None:
    values = [None] * 12 + ["p", "q"] * 6
    frame = pl.DataFrame({"a": values, "b": ["x", "y", "z"] * 8, "s": ["1"] * 12 + ["2"] * 12})
    schema = Schema((Variable("a", role=Role.KEY), Variable("b", role=Role.KEY), Variable("s")))
    step = LocalSuppression(keys=("a", "b"), k=3, strata=("s",))
    run = protect_data(Microdata.of(frame, schema), [step], most=1.0, secret=SECRET)
    assert run.after.n_records == 24
