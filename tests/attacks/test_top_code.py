"""Attacks on top coding, with nothing but the published column and the parameters of the step.

Fixtures: `tops.<name>.csv` is what 0.1.0 made of `tops.true.csv` with `TopCode("income", …)` and the parameters of `STEPS`.
"""

from collections.abc import Callable
from itertools import combinations_with_replacement, permutations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.optimize import brentq

from attacks.tail_gaps import known_exactly as known_in_list
from attacks.tail_gaps import means_published
from reticent.base.errors import NotProtectedError
from reticent.base.progress import silent
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Schema, Variable
from reticent.microdata.mask.tail_sums import told_by_sum
from reticent.microdata.mask.top_code import BottomCode, TopCode

FOLDER = Path(__file__).parent / "fixtures" / "v010" / "files"
STEPS: dict[str, dict[str, Any]] = {
    "mean": {"value": 70000.0, "replacement": "mean"},
    "dominated": {"value": 35000.0, "replacement": "mean"},
    "quantile": {"quantile": 0.98},
    "deviations": {"deviations": 3.0},
}


def _column(name: str) -> np.ndarray:
    return pl.read_csv(FOLDER / f"tops.{name}.csv")["income"].to_numpy()


def _protected(values: np.ndarray, **parameters: Any) -> np.ndarray:
    data = Microdata.of(pl.DataFrame({"income": values}), Schema((Variable("income", kind=Kind.NUMERIC),)))
    done = TopCode("income", **parameters).apply(data, secret=as_secret(1), progress=silent)
    return done.data.numbers(("income",))[:, 0]


def from_mean(published: np.ndarray) -> float:
    """A mean of one is the value."""
    beyond = published[published > STEPS["mean"]["value"]]
    return float(beyond[0]) if len(beyond) == 1 else np.nan


def from_dominated_mean(published: np.ndarray) -> float:
    """The sum of the tail, less the limit for everybody else: what the largest is at most, and nearly is."""
    limit = STEPS["dominated"]["value"]
    beyond = published[published > limit]
    return float(beyond.sum() - (len(beyond) - 1) * limit) if len(beyond) else np.nan


def from_quantile(published: np.ndarray) -> float:
    """The limit lies a known share of the way between the last value that is shown and the first that is not."""
    rank = STEPS["quantile"]["quantile"] * (len(published) - 1)
    share = rank - np.floor(rank)
    limit = published.max()
    last = published[published < limit].max()
    return float(last + (limit - last) / share)


def from_deviations(published: np.ndarray) -> float:
    """All values but one are shown; the limit is mean + 3 deviations of all of them: one equation, one unknown."""
    limit = published.max()
    others = published[published < limit]

    def gap(x: float) -> float:
        everyone = np.append(others, x)
        return float(everyone.mean() + 3.0 * everyone.std() - limit)

    return float(brentq(gap, limit, 1e7)) if gap(limit) * gap(1e7) < 0 else np.nan


ATTACKS: dict[str, tuple[Callable[[np.ndarray], float], float]] = {
    "mean": (from_mean, 412_617.0),
    "dominated": (from_dominated_mean, 412_617.0),
    "quantile": (from_quantile, 65_000.0),
    "deviations": (from_deviations, 412_617.0),
}


@pytest.mark.parametrize("name", list(ATTACKS))
def test_the_hidden_value_is_no_longer_found(name: str) -> None:
    attack, true = ATTACKS[name]
    near = 0.1 if name == "dominated" else 1e-6
    assert attack(_column(name)) == pytest.approx(true, rel=near)
    values = _column("true")
    if STEPS[name].get("replacement") == "mean":
        with pytest.raises(NotProtectedError):
            _protected(values, **STEPS[name])
        published = _protected(values, **{**STEPS[name], "replacement": "limit"})
    else:
        published = _protected(values, **STEPS[name])
    found = attack(published)
    assert np.isnan(found) or abs(found - true) > 0.05 * true


def test_over_generated_files() -> None:
    """200 files: whatever mean is published, the second largest of the tail cannot place the largest within 10 %."""
    generator = np.random.default_rng(3)
    written, refused = 0, 0
    for _ in range(200):
        values = np.round(np.exp(generator.normal(10, generator.uniform(0.2, 1.2), 80)))
        limit = float(np.sort(values)[-int(generator.integers(2, 20))])
        try:
            published = _protected(values, value=limit, replacement="mean")
        except NotProtectedError:
            refused += 1
            continue
        written += 1
        beyond = np.sort(values[values > limit])
        total = float(published[published > limit].sum())
        at_most = total - beyond[-2] - (len(beyond) - 2) * limit
        assert len(beyond) >= 3
        assert at_most >= 1.1 * beyond[-1] * (1 - 1e-9)
    assert min(written, refused) > 20


@pytest.mark.parametrize("deviations", [0.0, 1.0, 2.0, 3.0])
def test_a_limit_says_nothing_about_how_far_the_values_beyond_it_lie(deviations: float) -> None:
    """A member of the tail knew that mean + d deviations is at least the limit and below the own value: bounds for the largest.

    On 20 files each other largest values now give the same file, so that there is nothing to conclude.
    """
    generator = np.random.default_rng(7)
    coded = 0
    for _ in range(20):
        values = np.round(np.exp(generator.normal(10, 1, 80)))
        published = _protected(values, deviations=deviations)
        beyond = np.flatnonzero(values > published.max())
        coded += len(beyond)
        for factor in (1.5, 10.0, 1000.0):
            other = values.copy()
            other[values.argmax()] *= factor if len(beyond) else 1.0
            assert np.array_equal(_protected(other, deviations=deviations), published)
    assert coded > 20


def test_whole_numbers_begin_one_beyond_the_limit() -> None:
    """The tail 1, 1, 5 above 0 was published with its mean: whoever has 5 knew that both others are 1 (476 of 2,721 tails)."""
    published = 0
    for tail in combinations_with_replacement(range(1, 6), 3):
        try:
            _protected(np.array([0.0, 0.0, *tail]), value=0.0, replacement="mean")
        except NotProtectedError:
            continue
        published += 1
        for insider, target in ((0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)):
            most = sum(tail) - tail[insider] - 1
            assert most >= 1.1 * tail[target] - 1e-9
    assert published > 0


def test_a_tail_of_zeros_has_no_mean() -> None:
    """Percent of 0 are nothing: the mean of whole numbers above −1 was published where all of them are 0."""
    with pytest.raises(NotProtectedError):
        _protected(np.array([-3.0, -2.0, 0.0, 0.0, 0.0]), value=-1.0, replacement="mean")


def known_exactly(tail: tuple[int, ...], least: int, most: int) -> bool:
    """Whether somebody in a tail, with the mean and the least and the largest possible value, knows what another one has."""
    unknown = len(tail) - 2
    for own, target in permutations(tail, 2):
        others = sum(tail) - own
        low, high = max(least, others - unknown * most), min(most, others - unknown * least)
        if low == high == target:
            return True
    return False


def below(limit: int) -> tuple[int, int]:
    """Amounts from 0 on, with the mean of those below a limit."""
    step = BottomCode("visits", value=limit, replacement="mean")
    shown = range(limit, limit + 9)
    visits = Variable("visits", kind=Kind.NUMERIC)
    return means_published(step, visits, range(limit), shown, lambda tail: known_exactly(tail, 0, limit - 1))


def above(limit: int) -> tuple[int, int]:
    """Answers from 1 to 5, with the mean of those above a limit."""
    step = TopCode("answer", value=limit, replacement="mean")
    shown = range(1, limit + 1)
    answer = Variable("answer", kind=Kind.ORDINAL, codes=tuple("12345"))
    tails = range(limit + 1, 6)
    return means_published(step, answer, tails, shown, lambda tail: known_exactly(tail, limit + 1, 5))


@pytest.mark.parametrize("limit", [2, 4, 6])
def test_the_mean_of_amounts_near_zero_tells_nobody_the_amount_of_another(limit: int) -> None:
    """Nobody has fewer than 0 visits, so the mean 0 of those below 2 said that each of them has 0."""
    published, known = below(limit)
    assert (published > 0) == (limit > 2)
    assert known == 0


@pytest.mark.parametrize("limit", [1, 2])
def test_the_mean_of_the_last_answers_tells_nobody_the_answer_of_another(limit: int) -> None:
    """Nobody answers more than 5, so the mean 5 of those above 2 said that each of them answered 5."""
    published, known = above(limit)
    assert published > 0
    assert known == 0


@pytest.mark.parametrize(("codes", "limit", "tail"), [
    ("1 2 5 10 20 50", 2, (5, 10, 10)),  # whoever has 5 knows that two others with 20 together have 10 each
    ("1 2 5 10 20 50", 1, (2, 5, 5)),
    ("5 15 25 35 45 55", 5, (15, 15, 25)),
])  # fmt: skip
def test_the_gaps_of_a_list_tell_nobody_the_code_of_another(codes: str, limit: int, tail: tuple[int, ...]) -> None:
    """Of all tails of three to five values of the list 1, 2, 5, …, somebody knew another in 84 of 349 (`attacks.tail_gaps`)."""
    listed = codes.split()
    assert known_in_list(tail, [int(code) for code in listed if int(code) > limit])
    data = Microdata.of(
        pl.DataFrame({"amount": [*(code for code in listed if int(code) <= limit), *map(str, tail)]}),
        Schema((Variable("amount", kind=Kind.ORDINAL, codes=tuple(listed)),)),
    )
    with pytest.raises(NotProtectedError):
        TopCode("amount", value=limit, replacement="mean").apply(data, secret=as_secret(1), progress=silent)


def test_a_list_with_gaps_has_means_that_tell_nothing() -> None:
    """Every tail of three that is published leaves somebody else two codes; many are published."""
    codes, made = [2, 5, 10, 20, 50], 0
    for tail in combinations_with_replacement(codes, 4):
        told = told_by_sum(np.array(tail, dtype=float), np.array(codes, dtype=float), None, 10.0)
        assert told == known_in_list(tail, codes)
        made += not told
    assert made > 20


@pytest.mark.parametrize(("numbers", "limit", "tail"), [
    ((5, 15), 20, (25, 25, 25)), ((5, 15), 20, (25, 25, 35)), ((0.99, 1.99, 2.99), 3.0, (3.99, 3.99, 4.99)),
])  # fmt: skip
def test_numbers_beside_a_step_begin_at_the_first_of_them(
    numbers: tuple[float, ...], limit: float, tail: tuple[float, ...]
) -> None:
    """Of 25, 25 and 35 above 20, whoever has 35 knows that both others have 25: the rule took 25 for 5 more than can be."""
    with pytest.raises(NotProtectedError):
        _protected(np.array([*numbers, *tail], dtype=float), value=limit, replacement="mean")


if __name__ == "__main__":
    import sys

    for limit in (2, 4, 6):
        sys.stdout.write(f"below {limit}: {below(limit)}\n")
    for limit in (1, 2, 3):
        sys.stdout.write(f"answers above {limit}: {above(limit)}\n")
