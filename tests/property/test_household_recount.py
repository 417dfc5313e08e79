"""Households by their members, against a search over all ways to pair members."""

from itertools import permutations

import numpy as np
import polars as pl
import pytest

from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Schema, Variable
from reticent.microdata.mask.identifiers import RemoveIdentifiers
from reticent.microdata.mask.local_suppression import LocalSuppression
from reticent.microdata.mask.noise import Noise
from reticent.microdata.mask.pram import Pram
from reticent.microdata.mask.recode import Recode
from reticent.microdata.mask.sampling import Sample
from reticent.microdata.pipeline import apply_steps
from reticent.microdata.risk.combinations import KeyCombinations
from reticent.microdata.risk.household_recount import household_recount
from reticent.microdata.risk.recount import Fit, changed_keys, weighted_risk

KEYS = ("sex", "age", "town")


def homes(seed: int, n: int = 30) -> Microdata:
    rng = np.random.default_rng(seed)
    size = rng.choice([1, 2, 3], n)
    household = np.repeat(np.arange(n), size)
    frame = pl.DataFrame(
        {
            "hh": household,
            "sex": rng.choice(["f", "m"], household.size),
            "age": rng.choice([10, 20, 30, 40], household.size),
            "town": np.repeat(rng.choice(["a", "b"], n), size),
            "w": np.repeat(rng.integers(2, 30, n), size).astype(float),
        }
    )
    schema = Schema(
        (
            Variable("hh", role="household-id"),  # type: ignore[arg-type]
            Variable("sex", role="key"),  # type: ignore[arg-type]
            Variable("age", role="key", kind="numeric"),  # type: ignore[arg-type]
            Variable("town", role="key", household=True),  # type: ignore[arg-type]
            Variable("w", role="weight", kind="numeric"),  # type: ignore[arg-type]
        )
    )
    return Microdata.of(frame, schema)


BLANKS = LocalSuppression(combinations=KeyCombinations(dimension=2, threshold=2))
PLANS = {
    "as it is": (),
    "recoded": (Recode("age", bands=(0, 25)),),
    "blanks": (Recode("age", bands=(0, 25)), BLANKS),
    "PRAM": (Pram(("sex",), keep=0.7),),
    "noise": (Noise(("age",), k=0.1),),
    "persons sampled": (Sample(0.7), Recode("age", bands=(0, 25))),
}


def expected(fit: Fit, groups: dict[int, list[int]], weights: list[float]) -> list[tuple[int, float]]:
    near_true, near_shown, radii = fit.radii()

    def fits(i: int, j: int) -> bool:
        for v, layers in enumerate(fit.maps):
            code = int(fit.shown[j, v])
            if code >= 0 and (fit.true[i, v] < 0 or int(layers[int(fit.detail[j, v])][fit.true[i, v]]) != code):
                return False
        gaps = (near_true[i] - near_shown[j]) ** 2
        return float(np.nansum(gaps)) <= radii[i] * (1 + 1e-9)

    def can_be(h: list[int], g: list[int]) -> bool:
        return len(h) == len(g) and any(all(fits(i, j) for i, j in zip(h, order)) for order in permutations(g))

    found = []
    for home in groups.values():
        if not can_be(home, home):
            found.append((0, 0.0))
            continue
        fitting = [other for other in groups.values() if can_be(home, other)]
        found.append((len(fitting), sum(float(np.mean([weights[j] for j in g])) for g in fitting)))
    return found


@pytest.mark.parametrize("name", list(PLANS))
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_households_are_those_of_all_pairings(name: str, seed: int) -> None:
    data = homes(seed)
    masked = apply_steps(data, PLANS[name], secret=as_secret(seed))
    found = household_recount(masked.trace, masked.data, KEYS)
    groups: dict[int, list[int]] = {}
    ids = masked.data.household()
    assert ids is not None
    for at, number in enumerate(ids.tolist()):
        groups.setdefault(number, []).append(at)
    groups = dict(sorted(groups.items()))
    true = data.numbers(("w",))[:, 0]
    kept = true[np.searchsorted(data.record_ids(), masked.data.record_ids())]
    weights = (kept * true.sum() / kept.sum()).tolist()
    # who leaves out a key that chance has changed finds households that do not fit by all keys
    sets = [KEYS, *(tuple(n for n in KEYS if n not in out) for out in changed_keys(masked.trace, masked.data, KEYS))]
    ways = [expected(Fit.of(masked.trace, masked.data, keys), groups, weights) for keys in sets]
    reference = [max(home, key=lambda way: float(weighted_risk(*map(np.array, zip(way)))[0])) for home in zip(*ways)]
    assert found.by == "their id"
    assert found.complete
    assert found.sample_counts.tolist() == [count for count, _ in reference]
    assert found.population_counts is not None
    assert np.allclose(found.population_counts, [total for _, total in reference])


def test_without_an_id_members_are_put_together_by_weight_and_town() -> None:
    data = homes(1)
    masked = apply_steps(data, (RemoveIdentifiers(("hh",)),), secret=as_secret(1))
    found = household_recount(masked.trace, masked.data, KEYS)
    table = data.frame.table
    alone = table.group_by("w", "town").agg(pl.col("hh").n_unique().alias("homes"), pl.len().alias("members"))
    assert found.by != "their id"
    assert found.households == alone.filter((pl.col("homes") == 1) & (pl.col("members") > 1)).height > 0
    gone = apply_steps(data, (RemoveIdentifiers(("hh", "w", "town")),), secret=as_secret(1))
    assert household_recount(gone.trace, gone.data, ("sex", "age")).households == 0
