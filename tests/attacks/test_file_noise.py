"""Two releases of one file with one secret: version 0.1.0 used the same draws for other parameters and other records.

The fixtures in `fixtures/v010/file_releases` are what 0.1.0 released (`file_releases.py` made them, and makes today's).
The attacks see released files and public parameters only; identifiers serve to score them.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from attacks.file_releases import STEPS, masked, releases, truth

FOLDER = Path(__file__).parent / "fixtures" / "v010" / "file_releases"
Releases = dict[str, pl.DataFrame]
CASES = ("noise", "linear", "factor", "weights", "subset", "corrected")


def stored() -> Releases:
    return {name: pl.read_csv(FOLDER / f"{name}.csv") for name in STEPS}


def both(first: pl.DataFrame, second: pl.DataFrame) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Persons in both files and their values."""
    joined = first.join(second, on="person", suffix="_second", maintain_order="left")
    return joined["person"].to_list(), joined[:, 1].to_numpy(), joined[:, 2].to_numpy()


def cancel(y1: np.ndarray, y2: np.ndarray, a1: float, a2: float) -> np.ndarray:
    """x from y1 = x + a1 e and y2 = x + a2 e."""
    return (a2 * y1 - a1 * y2) / (a2 - a1)


def attack_noise(made: Releases) -> tuple[list[str], np.ndarray]:
    who, y1, y2 = both(made["noise-01"], made["noise-04"])
    return who, cancel(y1, y2, np.sqrt(0.1), np.sqrt(0.4))


def attack_linear(made: Releases) -> tuple[list[str], np.ndarray]:
    who, y1, y2 = both(made["linear-01"], made["linear-04"])
    mean = y1.mean()
    return who, mean + cancel(np.sqrt(1.1) * (y1 - mean), np.sqrt(1.4) * (y2 - mean), np.sqrt(0.1), np.sqrt(0.4))


def attack_factor(made: Releases) -> tuple[list[str], np.ndarray]:
    """log(x exp(a z − a²/2)) is linear in z, and a follows from k and the published mean and variance."""
    who, y1, y2 = both(made["factor-01"], made["factor-04"])
    mean, ratio = y1.mean(), y1.var() / (y1.var() + y1.mean() ** 2)
    logs, steps = [], []
    for y, k in ((y1, 0.1), (y2, 0.4)):
        a2, root = np.log(1 + k * ratio), np.sqrt(1 + k)
        logs.append(np.log(np.maximum(root * y - (root - 1) * mean, 1.0)) + a2 / 2)
        steps.append(np.sqrt(a2))
    return who, np.exp(cancel(logs[0], logs[1], steps[0], steps[1]))


def attack_weights(made: Releases) -> tuple[list[str], np.ndarray]:
    """Both files were rescaled to the same total: the factor that makes most weights have one decimal is the right one."""
    who, y1, y2 = both(made["weights-5"], made["weights-20"])
    best, found = -1, y1
    for c1 in np.linspace(0.995, 1.005, 101):
        for c2 in np.linspace(0.985, 1.015, 101):
            guess = cancel(y1 * c1, y2 * c2, 5.0, 20.0)
            neat = int((np.abs(guess * 10 - np.rint(guess * 10)) < 0.1).sum())
            if neat > best:
                best, found = neat, guess
    return who, found


def attack_spread(name: str) -> Callable[[Releases], tuple[list[str], np.ndarray]]:
    """Another scale, the same draws: the differences of the two files are the draws, up to one factor."""

    def attack(made: Releases) -> tuple[list[str], np.ndarray]:
        who, y1, y2 = both(made["noise-01"], made[name])
        difference = y1 - y2
        inside = np.abs(difference) < 20 * np.median(np.abs(difference))  # but for the corrected value
        draws = difference / max(difference[inside].std(), 1e-300)
        size = np.sqrt(0.1 / 1.1) * y1.std()
        guesses = [y1 - sign * size * draws for sign in (1, -1)]
        return who, min(guesses, key=lambda guess: float(guess[inside].var()))

    return attack


ATTACKS = {
    "noise": attack_noise,
    "linear": attack_linear,
    "factor": attack_factor,
    "weights": attack_weights,
    "subset": attack_spread("subset"),
    "corrected": attack_spread("corrected"),
}


def gain(case: str, made: Releases, original: pl.DataFrame) -> float:
    """The median error of the attack over the median error of one release: 0 is the truth, 1 is nothing learnt."""
    column = "weight" if case == "weights" else "income"
    one = {"weights": "weights-5", "subset": "noise-01", "corrected": "noise-01"}.get(case, f"{case}-01")
    who, guess = ATTACKS[case](made)
    right = original.join(pl.DataFrame({"person": who, "guess": guess}), on="person")
    alone = original.join(made[one], on="person", suffix="_released")
    error = (right["guess"] - right[column]).abs().median()
    return float(error / (alone[f"{column}_released"] - alone[column]).abs().median())  # type: ignore[operator, arg-type]


@pytest.mark.parametrize("case", CASES)
def test_the_attack_succeeds_on_0_1_0_and_fails_today(case: str) -> None:
    original = pl.read_csv(FOLDER / "truth.csv")
    assert original["income"].equals(truth()["income"])
    assert gain(case, stored(), original) < 0.05
    # Two independent releases of one strength can be averaged, which leaves √½ of the error.
    assert gain(case, releases(), original) > 0.6


def test_what_m_releases_tell_is_what_the_manual_says() -> None:
    """Files of other k, one secret: the noises are uncorrelated, and the best estimate has variance σ²/Σ(1/k)."""
    frame = truth(seed=4, n=20_000)
    income = frame["income"].to_numpy()
    strengths = np.array([0.1, 0.2, 0.3, 0.4])
    noises = np.array(
        [
            masked(frame, "noise", {"variables": ("income",), "k": float(k), "kind": "uncorrelated"})[
                "income"
            ].to_numpy()
            - income
            for k in strengths
        ]
    )
    assert np.abs(np.corrcoef(noises) - np.eye(4)).max() < 4 / np.sqrt(len(income))
    best = (noises / strengths[:, None]).sum(axis=0) / (1 / strengths).sum()
    stated = income.var() / (1 / strengths).sum()
    assert best.var() == pytest.approx(stated, rel=4 * np.sqrt(2 / len(income)))
    # No other combination does better than the stated variance by more than chance.
    weights = np.linalg.solve(np.cov(noises), np.ones(4))
    found = 1 / weights.sum()
    assert found > stated * (1 - 5 * np.sqrt(2 / len(income)))


def test_the_plain_case_was_exact() -> None:
    original = pl.read_csv(FOLDER / "truth.csv")
    for made, least, most in ((stored(), 1.0, 1.0), (releases(), 0.0, 0.02)):
        who, guess = attack_noise(made)
        right = original.join(pl.DataFrame({"person": who, "guess": guess}), on="person")
        share = float((right["guess"].round() == right["income"]).mean())  # type: ignore[arg-type]
        assert least <= share <= most


def rates(seeds: int = 20) -> dict[str, float]:
    """The gain of each attack over generated files, for the version on the path: the median over the files."""
    found: dict[str, list[float]] = {case: [] for case in CASES}
    for seed in range(seeds):
        made, original = releases(seed), truth(seed)
        for case in CASES:
            found[case].append(gain(case, made, original))
    return {case: float(np.median(values)) for case, values in found.items()}


if __name__ == "__main__":
    for case, value in rates().items():
        sys.stdout.write(f"{case:10} {value:.4f}\n")
