"""Linkage by keys and numbers together, against all pairs compared in the open."""

import numpy as np
import polars as pl
import pytest

from reticent.base.randomness import as_secret
from reticent.data.method import MaskingMethod
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.microdata.mask.local_suppression import LocalSuppression
from reticent.microdata.mask.microaggregation import Microaggregate
from reticent.microdata.mask.noise import Noise
from reticent.microdata.mask.pram import Pram
from reticent.microdata.mask.recode import Recode
from reticent.microdata.mask.round_values import RoundValues
from reticent.microdata.mask.sampling import Sample
from reticent.microdata.pipeline import apply_steps
from reticent.microdata.risk.known import known_variables
from reticent.microdata.risk.known_linkage import known_linkage
from reticent.microdata.trace import positions

PLANS: dict[str, tuple[MaskingMethod, ...]] = {
    "nothing": (),
    "recoded": (Recode("age", bands=(0, 30, 60)), RoundValues(("pay",), base=50.0)),
    "noise": (Noise(("pay", "rent"), k=0.2),),
    "groups": (Microaggregate(("pay", "rent"), k=5), Recode("town", map={"a": "x", "b": "x", "c": "y"})),
    "mixed": (Pram(("town",), keep=0.7), Noise(("pay",), k=0.1), Recode("age", bands=(0, 40))),
    "blanks": (LocalSuppression(k=3, keys=("town", "age")), Noise(("rent",), k=0.1)),
    "sampled": (Sample(0.5), Noise(("pay",), k=0.1)),
}


def people(seed: int, n: int = 150) -> Microdata:
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "town": rng.choice(["a", "b", "c"], n),
            "age": rng.integers(0, 90, n),
            "grade": rng.choice(["1", "2", "3", "4"], n),
            "pay": rng.lognormal(5, 0.5, n).round(),
            "rent": rng.normal(60, 20, n).round(),
        }
    )
    schema = Schema(
        (
            Variable("town", role=Role.KEY),
            Variable("age", role=Role.KEY, kind=Kind.NUMERIC),
            Variable("grade", role=Role.KEY, kind=Kind.ORDINAL, codes=("1", "2", "3", "4")),
            Variable("pay", role=Role.SENSITIVE, kind=Kind.NUMERIC),
            Variable("rent", kind=Kind.NUMERIC),
        )
    )
    return Microdata.of(frame, schema)


def all_pairs(true: Microdata, shown: Microdata, names: tuple[str, ...], *, turned: bool) -> np.ndarray:
    """Squared distances, who asks in rows: numbers in deviations, ordered codes by place, others 0 or 1, blanks as said."""
    total = np.zeros((shown.n_records, true.n_records))
    for name in names:
        if shown.schema[name].kind is Kind.NUMERIC:
            x, y = true.numbers((name,))[:, 0], shown.numbers((name,))[:, 0]
            part, absent = ((y[:, None] - x[None, :]) / np.nanstd(x)) ** 2, 2.0
        else:
            order = list(shown.categories(name))
            order += [code for code in true.categories(name) if code not in order]
            x, y = (
                np.array([np.nan if t is None else order.index(t) for t in data.texts(name)]) for data in (true, shown)
            )
            if shown.schema[name].kind is Kind.ORDINAL:
                part, absent = ((y[:, None] - x[None, :]) / max(np.nanmax(x), np.nanmax(y), 1)) ** 2, 1.0
            else:
                part, absent = (y[:, None] != x[None, :]).astype(float), 1.0
        blank = np.isnan(y)[:, None] if not turned else np.isnan(x)[None, :]
        other = np.isnan(x)[None, :] if not turned else np.isnan(y)[:, None]
        total += np.where(blank, 0.0, np.where(other, absent, part))
    return total.T if turned else total


@pytest.mark.parametrize("name", list(PLANS))
@pytest.mark.parametrize("seed", [1, 2])
def test_the_usual_attacker_is_that_of_all_pairs(name: str, seed: int) -> None:
    data = people(seed)
    masked = apply_steps(data, PLANS[name], secret=as_secret(seed))
    known = known_variables(data)
    found = known_linkage(masked.trace, masked.data, known)
    own = positions(data, masked.data)
    published = masked.trace.truth(masked.data)
    if name == "sampled":  # records left out are still in the register
        published = data
    shares = []
    for turned in (False, True):
        distance = all_pairs(published, masked.data, known, turned=turned)
        place = own if name == "sampled" else np.arange(masked.data.n_records)
        if turned:
            distance, at = distance[place], np.arange(masked.data.n_records)
        else:
            at = place
        mine = distance[np.arange(len(at)), at]
        shares.append(float((((distance <= mine[:, None] * (1 + 1e-9)).sum(axis=1)) == 1).mean()))
    assert dict(found.by_attacker)["all variables"] == pytest.approx(max(shares))


def test_who_knows_what_was_left_alone_links_more() -> None:
    """Numbers far off drown exact keys in the usual distance; an attacker who knows better asks for exact keys."""
    rng = np.random.default_rng(0)
    n = 400
    frame = pl.DataFrame({"key": [str(i // 2) for i in range(n)], "pay": rng.normal(0, 1, n)})
    data = Microdata.of(frame, Schema((Variable("key", role=Role.KEY), Variable("pay", kind=Kind.NUMERIC))))
    masked = apply_steps(data, (Noise(("pay",), k=4.0, kind="uncorrelated"),), secret=as_secret(b"x"))
    found = dict(known_linkage(masked.trace, masked.data, ("key", "pay")).by_attacker)
    assert found["knows what was left alone"] > found["all variables"] + 0.1


def test_ties_are_links_to_nobody() -> None:
    frame = pl.DataFrame({"key": ["a", "b"] * 50, "pay": [1.0, 2.0] * 50})
    data = Microdata.of(frame, Schema((Variable("key", role=Role.KEY), Variable("pay", kind=Kind.NUMERIC))))
    masked = apply_steps(data, (), secret=as_secret(b"x"))
    assert known_linkage(masked.trace, masked.data, ("key", "pay")).share == 0.0
