"""Attack on multivariate top coding: who knows the age of somebody pulled back takes the direction, and has the income.

`PYTHONPATH=src:tests python -m attacks.test_pulled_back` prints the rates of the page "What we got wrong".
"""

import sys
from itertools import permutations, product

import numpy as np
import polars as pl
from scipy import special

from reticent.base.arrays import Floats
from reticent.base.progress import silent
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Schema, Variable
from reticent.microdata.mask.ellipse import _coarse_directions, _root, winsorize
from reticent.microdata.mask.top_code import MultivariateTopCode


def people(seed: int) -> Floats:
    """Ages and incomes of 300 people."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, 300)
    return np.column_stack([age, np.round(rng.lognormal(8 + 0.004 * age, 0.6))]).astype(float)


def published(values: Floats) -> Floats:
    schema = Schema((Variable("age", kind=Kind.NUMERIC), Variable("income", kind=Kind.NUMERIC)))
    data = Microdata.of(pl.DataFrame({"age": values[:, 0], "income": values[:, 1]}), schema)
    done = MultivariateTopCode(("age", "income")).apply(data, secret=as_secret(1), progress=silent)
    return done.data.numbers(("age", "income"))


def along_the_line(values: Floats, shown: Floats) -> Floats:
    """What 0.1.0 published: the record itself, moved along the line to the center until it meets the ellipse."""
    center, spread = center_of(values)
    outside = (values != shown).any(axis=1)
    centered = values[outside] - center
    on = shown[outside] - center
    size = np.einsum("ij,ji->i", on, np.linalg.solve(spread, on.T))
    scale = np.sqrt(size / np.einsum("ij,ji->i", centered, np.linalg.solve(spread, centered.T)))
    before = shown.copy()
    before[outside] = center + centered * scale[:, None]
    return before


def center_of(values: Floats) -> tuple[Floats, Floats]:
    """Center and covariance of the half of the records that lies closest, up to a factor: records outside play no part."""
    middle = np.median(values, axis=0)
    distance = (((values - middle) / np.median(np.abs(values - middle), axis=0)) ** 2).sum(axis=1)
    for _ in range(50):
        chosen = np.argsort(distance)[: (len(values) + 3) // 2]
        center, spread = values[chosen].mean(axis=0), np.cov(values[chosen].T)
        distance = np.einsum("ij,ji->i", values - center, np.linalg.solve(spread, (values - center).T))
    return center, spread


def incomes(shown: Floats, ages: Floats) -> Floats:
    """From the published file and true ages: how far the record was pulled is the same for both variables."""
    center, _ = center_of(shown)
    with np.errstate(divide="ignore", invalid="ignore"):
        return center[1] + (shown[:, 1] - center[1]) * (ages - center[0]) / (shown[:, 0] - center[0])


def found(seed: int, *, old: bool) -> tuple[int, int, int]:
    """People outside, and of how many the income is known within a tenth and within one."""
    values = people(seed)
    shown = published(values)
    outside = (values != shown).any(axis=1)
    guess = incomes(along_the_line(values, shown) if old else shown, values[:, 0])[outside]
    error = np.abs(guess - values[outside, 1])
    return int(outside.sum()), int((error < values[outside, 1] / 10).sum()), int((error < 1).sum())


def test_who_knows_the_age_does_not_compute_the_income() -> None:
    before = np.sum([found(seed, old=True) for seed in range(5)], axis=0)
    now = np.sum([found(seed, old=False) for seed in range(5)], axis=0)
    assert before[1] > 0.6 * before[0], "the attack is as strong as it was"
    assert now[1] < 0.1 * now[0]
    assert now[2] <= 1


def test_one_record_outside_shows_one_of_a_few_points() -> None:
    rng = np.random.default_rng(3)
    inside = rng.normal(size=(200, 3)).clip(-1, 1)
    seen = set()
    for _ in range(200):
        pulled, outside = winsorize(np.vstack([inside, 1000 * np.abs(rng.normal(size=3))]), share=1e-9, robust=True)
        assert outside.tolist() == [False] * 200 + [True]
        seen.add(tuple(np.round(pulled[-1], 6)))
    assert len(seen) <= 3**3 - 1


def test_units_do_not_matter() -> None:
    values = people(1)
    one, _ = winsorize(values, share=0.025, robust=True)
    other, _ = winsorize(values * [12.0, 0.01], share=0.025, robust=True)
    np.testing.assert_allclose(other, one * [12.0, 0.01])


SHARE = 0.025
SIZE = float(np.sqrt(2 * special.gammaincinv(1.0, 1.0 - SHARE)))
DIRECTIONS = np.array([u for u in product((-1.0, 0.0, 1.0), repeat=2) if any(u)])
DIRECTIONS /= np.linalg.norm(DIRECTIONS, axis=1, keepdims=True)


def by_all_moments(values: Floats) -> Floats:
    """What was published with the classical estimate: points on the ellipse of all true values, those outside included."""
    center, covariance = values.mean(axis=0), np.cov(values.T)
    centered = values - center
    outside = np.einsum("ij,ji->i", centered, np.linalg.solve(covariance, centered.T)) > SIZE**2
    shown = values.copy()
    shown[outside] = center + SIZE * _coarse_directions(centered[outside], covariance) @ _root(covariance)
    return shown


def sums_outside(values: Floats, shown: Floats) -> list[tuple[float, ...]] | None:
    """Ages and incomes that all people outside have together, from the published file alone; None with fewer than three points.

    Three points are an affine image of three directions, so that they tell the center, which is the mean of all true values.
    The attacker tries which directions they are: sums are whole, and the image is symmetric in scaled variables.
    """
    outside = (values != shown).any(axis=1)
    points = np.unique(np.round(shown[outside], 7), axis=0)[:4]
    if outside.sum() < 3 or len(points) < 3:
        return None
    found = set()
    for chosen in permutations(DIRECTIONS, len(points)):
        sides = np.column_stack([np.ones(len(points)), chosen])
        image, _, rank, _ = np.linalg.lstsq(sides, points, rcond=None)
        sums = len(shown) * image[0] - shown[~outside].sum(axis=0)
        scaled = image[1:].T / np.linalg.norm(image[1:], axis=0)[:, None]
        fits = rank == 3 and np.abs(sides @ image - points).max() < 1e-4 and abs(scaled[0, 1] - scaled[1, 0]) < 1e-6
        if fits and scaled[0, 0] > 0 and np.abs(sums - np.round(sums)).max() < 1e-3:
            found.add(tuple(np.round(sums).tolist()))
    return sorted(found)


def summed(seeds: range, *, old: bool) -> tuple[int, int]:
    """Files with three points, and those of which the sums over everybody outside are known exactly."""
    files = exact = 0
    for seed in seeds:
        values = people(seed)[:120]
        shown = by_all_moments(values) if old else winsorize(values, share=SHARE, robust=False)[0]
        sums = sums_outside(values, shown)
        if sums is not None:
            files += 1
            exact += sums == [tuple(values[(values != shown).any(axis=1)].sum(axis=0).tolist())]
    return files, exact


def test_points_on_the_ellipse_do_not_tell_sums_over_those_outside() -> None:
    files, exact = summed(range(60), old=True)
    assert exact == files >= 3, "the attack is as strong as it was"
    files, exact = summed(range(60), old=False)
    assert files >= 3
    assert exact == 0


def test_the_classical_ellipse_is_that_of_the_published_file() -> None:
    for seed, share in product(range(5), (0.025, 0.1, 0.5)):
        shown, outside = winsorize(people(seed), share=share, robust=False)
        limit = 2 * special.gammaincinv(1.0, 1.0 - share)
        left = special.gammainc(2.0, limit / 2) + limit / 2 * special.gammaincc(1.0, limit / 2)
        on = shown[outside] - shown.mean(axis=0)
        size = np.einsum("ij,ji->i", on, np.linalg.solve(np.cov(shown.T) / left, on.T))
        np.testing.assert_allclose(size, limit, rtol=1e-9)


def test_nobody_outside_enters_a_robust_ellipse() -> None:
    for seed in range(20):
        values = people(seed)[: 120 + seed % 2]
        shown, outside = winsorize(values, share=0.5, robust=True)
        moved = values.copy()
        moved[outside, 1] *= 1 + 1e-5 * np.random.default_rng(seed).normal(size=outside.sum())
        again, same = winsorize(moved, share=0.5, robust=True)
        if (same == outside).all():
            assert set(np.round(shown[outside], 5).ravel()) & set(np.round(again[outside], 5).ravel())


if __name__ == "__main__":
    for name, old in (("along the line", True), ("now", False)):
        total = np.sum([found(seed, old=old) for seed in range(20)], axis=0)
        sys.stdout.write(f"{name}: {total[0]} outside, income within a tenth {total[1]}, within one {total[2]}\n")
    for name, old in (("moments of all", True), ("moments of what is published", False)):
        files, exact = summed(range(300), old=old)
        sys.stdout.write(f"{name}: {files} files with three points, sums over those outside exact in {exact}\n")
