"""Weights of firms that were drawn by size follow from the turnover: a later top code, noise or rounding is undone by them.

The attacker has the published file: the turnovers that are shown tell how weight and turnover go together, and the weight of a
record at the limit gives its own. `PYTHONPATH=src:tests python -m attacks.test_weights_by_size 10` counts ten files.
"""

import hashlib
import sys
from collections import Counter

import numpy as np
import polars as pl
import pytest

from reticent.data.method import MaskingMethod
from reticent.data.microdata import Microdata
from reticent.data.plan import RiskSection
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.verdict import State
from reticent.microdata.mask.identifiers import RemoveIdentifiers
from reticent.microdata.mask.noise import Noise
from reticent.microdata.mask.round_values import RoundValues
from reticent.microdata.mask.top_code import TopCode
from reticent.microdata.protect import protect_data
from reticent.microdata.result import ProtectedFile

SECRET = hashlib.sha256(b"weights by size").digest()
TOP = TopCode("turnover", quantile=0.9)
HIDDEN: dict[str, MaskingMethod] = {
    "top": TOP,
    "noise": Noise(("turnover",), k=1.0),
    "rounded": RoundValues(("turnover",), base=5000),
    "dropped": RemoveIdentifiers(("turnover",)),
}


def firms(seed: int, *, by_size: bool = True, n: int = 500) -> Microdata:
    """Firms with turnovers, and weights that are smaller for larger firms (or have nothing to do with their size)."""
    rng = np.random.default_rng(seed)
    turnover = np.round(rng.lognormal(8, 0.9, n))
    drawn_by = turnover if by_size else rng.permutation(turnover)
    table = {"trade": rng.choice(list("abcd"), n), "turnover": turnover, "w": np.round(1 + 40_000 / drawn_by, 3)}
    variables = (
        Variable("trade", role=Role.KEY),
        Variable("turnover", kind=Kind.NUMERIC),
        Variable("w", role=Role.WEIGHT, kind=Kind.NUMERIC),
    )
    return Microdata.of(pl.DataFrame(table), Schema(variables))


def protected(data: Microdata, step: MaskingMethod) -> ProtectedFile:
    risk = RiskSection(most=0.9, attacks=("weights",), accept_risk="a test of an attack")
    return protect_data(data, [step], risk=risk, secret=SECRET, keep_order=True)


def found(data: Microdata, run: ProtectedFile) -> tuple[int, int]:
    """Firms at the limit, and those whose turnover is known within 5 percent from weights and shown turnovers."""
    shown, weights = (run.after.numbers((name,))[:, 0] for name in ("turnover", "w"))
    true, coded = data.numbers(("turnover",))[:, 0], shown == shown.max()
    ways = []
    for less in np.linspace(
        0.0, weights.min() * 0.999, 400
    ):  # what the weights have in common, as a curve through the others
        line = np.polyfit(np.log(weights[~coded] - less), np.log(shown[~coded]), 1)
        miss = np.abs(np.polyval(line, np.log(weights[~coded] - less)) - np.log(shown[~coded])).mean()
        ways.append((miss, np.exp(np.polyval(line, np.log(weights[coded] - less)))))
    guess = min(ways, key=lambda way: way[0])[1]
    return int(coded.sum()), int((np.abs(guess - true[coded]) < 0.05 * true[coded]).sum())


@pytest.mark.parametrize("how", HIDDEN)
def test_weights_by_size_tell_what_is_hidden(how: str) -> None:
    data = firms(1)
    run = protected(data, HIDDEN[how])
    if how == "top":
        coded, right = found(data, run)
        assert right > 0.5 * coded > 10
    assert run.verdict["weights"].state is State.NOT_HELD
    assert "of turnover, which the file shows less finely or changed" in run.verdict["weights"].text


@pytest.mark.parametrize("how", HIDDEN)
def test_other_weights_tell_nothing(how: str) -> None:
    for seed in range(3):
        assert protected(firms(seed, by_size=False), HIDDEN[how]).verdict["weights"].state is State.HELD


if __name__ == "__main__":
    total: Counter[str] = Counter()
    for seed in range(int(sys.argv[1]) if len(sys.argv) > 1 else 10):
        data = firms(seed)
        coded, right = found(data, protected(data, TOP))
        total.update({"at the limit": coded, "known within 5 percent": right})
        for how, step in HIDDEN.items():
            total[f"{how} {protected(data, step).verdict['weights'].state}"] += 1
            total[f"other weights, {protected(firms(seed, by_size=False), step).verdict['weights'].state}"] += 1
    sys.stdout.write(f"{dict(total)}\n")
