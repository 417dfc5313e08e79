"""Weights of firms that were drawn by size follow from the turnover: a later top code, noise or rounding is undone by them.

The attacker has the published file: the turnovers that are shown tell how weight and turnover go together, and the weight of a
record at the limit gives its own. Rates of drawing may differ by trade, so that the order shows within each trade only. Weights
by a size class that the file shows tell no more than the class.
`PYTHONPATH=src:tests python -m attacks.test_weights_by_size 10` counts ten files of each.
"""

import hashlib
import sys
from collections import Counter

import numpy as np
import polars as pl
import pytest

from reticent.base.arrays import Floats, Mask
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


RATES = {"a": 1, "b": 6, "c": 36, "d": 216}
"""How much more rarely firms of each trade are drawn."""


def firms_by_trade(seed: int, n: int = 600) -> Microdata:
    """Firms that are drawn by size, and each trade by a rate of its own."""
    data = firms(seed, n=n)
    trade, turnover = data.encoded("trade"), data.numbers(("turnover",))[:, 0]
    rate = np.array([RATES[code] for code in trade.categories])[trade.codes]
    table = {"trade": [trade.categories[code] for code in trade.codes], "turnover": turnover}
    return Microdata.of(pl.DataFrame({**table, "w": np.round(1 + rate * 4000 / turnover, 3)}), data.schema)


def firms_by_class(seed: int, *, nonresponse: float = 0.0, n: int = 600) -> Microdata:
    """Firms whose weights are made by size class and trade, which both stay in the file, and by who did not answer."""
    rng = np.random.default_rng(seed)
    turnover = np.round(rng.lognormal(8, 0.9, n))
    size, trade = np.digitize(turnover, np.quantile(turnover, [0.3, 0.55, 0.75, 0.9])), rng.choice(list("abcd"), n)
    weights = np.array([60, 30, 15, 8, 4])[size] * np.where(trade == "a", 1.2, 1.0)
    table = {
        "trade": trade,
        "size": [f"s{code}" for code in size],
        "turnover": turnover,
        "staff": np.maximum(1, np.round(turnover / 100 * rng.lognormal(0, 0.4, n))),
        "w": np.round(weights * rng.lognormal(0, nonresponse, n), 2),
    }
    variables = (
        Variable("trade", role=Role.KEY),
        Variable("size", role=Role.KEY),
        Variable("turnover", kind=Kind.NUMERIC),
        Variable("staff", kind=Kind.NUMERIC),
        Variable("w", role=Role.WEIGHT, kind=Kind.NUMERIC),
    )
    return Microdata.of(pl.DataFrame(table), Schema(variables))


def protected(data: Microdata, step: MaskingMethod) -> ProtectedFile:
    risk = RiskSection(most=0.9, attacks=("weights",), accept_risk="a test of an attack")
    return protect_data(data, [step], risk=risk, secret=SECRET, keep_order=True)


def found(data: Microdata, run: ProtectedFile, *, within: str | None = None) -> tuple[int, int]:
    """Firms at the limit, and those whose turnover is known within 5 percent from weights and shown turnovers."""
    shown, weights = (run.after.numbers((name,))[:, 0] for name in ("turnover", "w"))
    true, coded = data.numbers(("turnover",))[:, 0], shown == shown.max()
    part = np.zeros(true.size, dtype=np.int64) if within is None else data.encoded(within).codes
    right = 0
    for one in np.unique(part[coded]):
        rows = part == one
        guess = guessed(shown[rows], weights[rows], coded[rows])
        right += int((np.abs(guess - true[rows & coded]) < 0.05 * true[rows & coded]).sum())
    return int(coded.sum()), right


def guessed(shown: Floats, weights: Floats, coded: Mask) -> Floats:
    """Turnovers at the limit, from weights."""
    ways = []
    for less in np.linspace(0.0, weights.min() * 0.999, 400):
        # what the weights have in common, as a curve through the others
        line = np.polyfit(np.log(weights[~coded] - less), np.log(shown[~coded]), 1)
        miss = np.abs(np.polyval(line, np.log(weights[~coded] - less)) - np.log(shown[~coded])).mean()
        ways.append((miss, np.exp(np.polyval(line, np.log(weights[coded] - less)))))
    return np.asarray(min(ways, key=lambda way: way[0])[1])


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


@pytest.mark.parametrize("how", HIDDEN)
def test_weights_by_size_within_a_trade_tell_what_is_hidden(how: str) -> None:
    data = firms_by_trade(1)
    run = protected(data, HIDDEN[how])
    if how == "top":
        coded, right = found(data, run, within="trade")
        assert right > 0.5 * coded > 10
    assert run.verdict["weights"].state is State.NOT_HELD


@pytest.mark.parametrize("nonresponse", [0.0, 0.15])
@pytest.mark.parametrize("how", HIDDEN)
def test_weights_by_a_size_class_that_is_shown_tell_nothing(how: str, nonresponse: float) -> None:
    for seed in range(3):
        run = protected(firms_by_class(seed, nonresponse=nonresponse), HIDDEN[how])
        assert run.verdict["weights"].state is State.HELD


if __name__ == "__main__":
    total: Counter[str] = Counter()
    for seed in range(int(sys.argv[1]) if len(sys.argv) > 1 else 10):
        data = firms(seed)
        coded, right = found(data, protected(data, TOP))
        total.update({"at the limit": coded, "known within 5 percent": right})
        traded = firms_by_trade(seed)
        coded, right = found(traded, protected(traded, TOP), within="trade")
        total.update({"by trade: at the limit": coded, "by trade: known within 5 percent": right})
        for how, step in HIDDEN.items():
            total[f"{how} {protected(data, step).verdict['weights'].state}"] += 1
            total[f"other weights, {protected(firms(seed, by_size=False), step).verdict['weights'].state}"] += 1
            total[f"by trade: {how} {protected(traded, step).verdict['weights'].state}"] += 1
            for share in (0.0, 0.15):
                state = protected(firms_by_class(seed, nonresponse=share), step).verdict["weights"].state
                total[f"by size class: {how} {state}"] += 1
    sys.stdout.write(f"{dict(total)}\n")
