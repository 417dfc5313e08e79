# SPDX-License-Identifier: Apache-2.0
"""Repeat the experiments of Oganian (SORT 2011) and write docs/explanation/multiplicative-noise.md.

python scripts/make_multiplicative_noise_page.py [REPLICATES]
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
from scipy.spatial import KDTree

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from reticent.base.progress import silent  # noqa: E402
from reticent.base.randomness import as_secret  # noqa: E402
from reticent.data.microdata import Microdata  # noqa: E402
from reticent.data.schema import Kind, Schema, Variable  # noqa: E402
from reticent.microdata.mask.multiplicative import MultiplicativeNoise, Zone  # noqa: E402
from reticent.microdata.perturb.moment_relation import masked_moment  # noqa: E402

PAGE = ROOT / "docs" / "explanation" / "multiplicative-noise.md"
NAMES = ("x", "y", "z")
SCHEMA = Schema(tuple(Variable(name, kind=Kind.NUMERIC) for name in NAMES))
RECORDS, K = 10_000, 0.15
LOG_VARIANCES = np.log1p(np.array([4.0, 8.0, 16.0]) / 4.0)
LINKAGE_REPLICATES = 40
ZONES = (Zone(k=0.15, up_to=15.0), Zone(k=0.01))


def originals(kind: str, replicate: int) -> np.ndarray:
    """Three variables with correlation one half: normal (mean 3.5) or log-normal (mean 2, variances 4, 8, 16)."""
    correlation = np.full((3, 3), 0.5) + 0.5 * np.eye(3)
    normal = np.random.default_rng(replicate).standard_normal((RECORDS, 3)) @ np.linalg.cholesky(correlation).T
    if kind == "normal":
        return 3.5 + normal * np.sqrt([5.0, 7.0, 10.0])
    return np.exp(np.log(2.0) - LOG_VARIANCES / 2 + normal * np.sqrt(LOG_VARIANCES))


def runs(kind: str, method: MultiplicativeNoise, replicates: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Original and masked values of each replicate."""
    for replicate in range(replicates):
        values = originals(kind, replicate)
        data = Microdata.of(pl.DataFrame(dict(zip(NAMES, values.T, strict=True))), SCHEMA)
        applied = method.apply(data, secret=as_secret(replicate), progress=silent)
        yield values, applied.data.numbers(NAMES)


def covariance_row(label: str, kind: str, method: MultiplicativeNoise, replicates: int) -> str:
    """One line of the table of covariance ratios."""
    ratios, means, negative = [], [], 0
    for values, masked in runs(kind, method, replicates):
        ratios.append(np.cov(masked.T) / np.cov(values.T))
        means.append(masked.mean(axis=0) / values.mean(axis=0))
        negative += int((masked[:, values.min(axis=0) >= 0] < 0).sum())
    found = np.array(ratios)
    average = found.mean(axis=0)
    inside = np.abs(found - 1) <= 0.02
    return (
        f"| {label} | {average.min():.4f} to {average.max():.4f} | {found.min():.2f} to {found.max():.2f} "
        f"| {100 * inside.mean():.0f} % | {100 * inside.all(axis=(1, 2)).mean():.0f} % "
        f"| {100 * np.mean(np.abs(found - 1) <= 0.04):.0f} % | {np.mean(means):.5f} | {negative} |"
    )


def moment_rows(replicates: int) -> list[str]:
    """Third and fourth moments of log-normal data: observed inflation and what relation (26) expects."""
    method = MultiplicativeNoise(NAMES, k=K, scheme="z-score")
    powers = [(3, 0, 0), (2, 1, 0), (1, 1, 1), (4, 0, 0), (2, 2, 0), (2, 1, 1)]
    inflation: dict[tuple[int, ...], list[tuple[float, float]]] = {p: [] for p in powers}
    for values, masked in runs("lognormal", method, replicates):

        def truth(p: tuple[int, ...], values: np.ndarray = values) -> float:
            return float(np.prod(values ** np.array(p), axis=1).mean())

        for p in powers:
            observed = float(np.prod(masked ** np.array(p), axis=1).mean())
            inflation[p].append((observed / truth(p), masked_moment(p, truth, k=K) / truth(p)))
    lines = []
    for p, pairs in inflation.items():
        found = np.array(pairs)
        text = "".join(
            f"{name}{'²³⁴'[power - 2] if power > 1 else ''}" for name, power in zip(NAMES, p, strict=True) if power
        )
        lines.append(
            f"| E[{text}] | {100 * (np.mean(found[:, 0]) - 1):+.1f} % | {100 * (np.mean(found[:, 1]) - 1):+.1f} % |"
        )
    return lines


def linkage_row(label: str, kind: str, method: MultiplicativeNoise) -> str:
    """Share of masked records whose nearest original record, on 1, 2 or 3 variables, is their own."""
    found = []
    for values, masked in runs(kind, method, LINKAGE_REPLICATES):
        scale = values.std(axis=0)
        hits = []
        for known in (1, 2, 3):
            nearest = KDTree(values[:, :known] / scale[:known]).query(masked[:, :known] / scale[:known])[1]
            hits.append(float(np.mean(nearest == np.arange(RECORDS))))
        found.append(hits)
    shares = 100 * np.mean(found, axis=0)
    return f"| {label} | {shares[0]:.2f} % | {shares[1]:.2f} % | {shares[2]:.2f} % |"


def page(replicates: int) -> str:
    """The whole page."""
    plain = MultiplicativeNoise(NAMES, k=K, scheme="plain")
    scores = MultiplicativeNoise(NAMES, k=K, scheme="z-score")
    zones = MultiplicativeNoise(NAMES, zones=ZONES, nearest_psd=True)
    covariance = [
        covariance_row("normal, z-score", "normal", scores, replicates),
        covariance_row("log-normal, plain", "lognormal", plain, replicates),
        covariance_row("log-normal, z-score", "lognormal", scores, replicates),
        covariance_row("log-normal, two zones", "lognormal", zones, replicates),
    ]
    moments = moment_rows(replicates)
    linkage = [
        linkage_row("normal, z-score", "normal", scores),
        linkage_row("log-normal, plain", "lognormal", plain),
        linkage_row("log-normal, z-score", "lognormal", scores),
        linkage_row("log-normal, two zones", "lognormal", zones),
    ]
    newline = "\n"
    return TEMPLATE.format(
        replicates=replicates,
        covariance=newline.join(covariance),
        moments=newline.join(moments),
        linkage=newline.join(linkage),
        linkage_replicates=LINKAGE_REPLICATES,
    )


TEMPLATE = """# Multiplicative noise: what it keeps, and what it does not

The step `multiplicative-noise` multiplies each value by log-normal noise with mean 1 and rescales, so that nonnegative
variables stay nonnegative, chains like *income ≥ tax* hold, and means and covariance are kept **in expectation**
(A. Oganian, "Multiplicative noise for masking numerical microdata with constraints", SORT 35, 2011). This page repeats
the experiments of that paper: {replicates} files of 10,000 records, three variables with correlation 0.5, k = 0.15.
Numbers are made by `scripts/make_multiplicative_noise_page.py`; the same version gives the same page.

## Which scheme

With s = √(1 + k), lag = c · mean / deviation and 1 ≤ c ≤ s, all schemes of the paper are one formula:

    masked = ((s − 1) c E[X] + (X + (c − 1) E[X]) · exp(E)) / s − (c − 1) E[X]

c = 1 is the *plain* scheme (its equation 7), c = s the *z-score* scheme (21). `scheme = "auto"` takes the plain one unless
a variable has negative values or condition (10) of the paper leaves it without a noise covariance. The normal files here
have negative values, so only the z-score scheme (after a shift) applies to them.

Two things the paper does not say. The expression under the logarithm of (23) is indeed always positive for
nonnegative data, but the matrix of these logarithms need not be positive semidefinite: for variables that lie along
the axes it is not, and the step then names them (or takes the nearest admissible matrix if `nearest_psd = true`). And
in (9) and (14) the mean of the noise is minus half its *variance*; only then is the mean of the factor 1.

## Means and covariance

Entry by entry, the covariance matrix of the masked file over that of the original file: its mean over the files, its
range, the share of entries within ±2 %, of files with all entries within ±2 %, of entries within ±4 %; then the ratio of
means and the number of negative values where there were none:

| data, scheme | mean | range | in ±2 % | files | in ±4 % | means | negative |
|---|---|---|---|---|---|---|---|
{covariance}

The mean over files is 1, as promised; a single file of skewed data can be off by much more, because a few very large
values carry most of the covariance. A second zone with less noise for these (values above 15 with k = 0.01) helps a lot.

## Higher moments

Third and fourth moments grow. For log-normal data and the z-score scheme:

| moment | observed | expected by the corrected relation (26) |
|---|---|---|
{moments}

`mask.masked_moment` computes the expectation, `mask.original_moments` inverts it (`from reticent import mask`): an
analyst who knows k can correct. Whether k is published is the agency's decision; it never leaves with the file.

## Re-identification

An intruder knows 1, 2 or all 3 variables exactly and links each masked record to the nearest original one
({linkage_replicates} files):

| data, scheme | 1 known | 2 known | 3 known |
|---|---|---|---|
{linkage}

Linkage grows quickly with every further variable that the intruder knows: look at the risk of your own file, with
your own keys, before you rely on a figure like these. The second zone has little noise, so records in it are easy to link;
they are also the ones people look for.
"""


if __name__ == "__main__":
    PAGE.write_text(page(int(sys.argv[1]) if len(sys.argv) > 1 else 500), encoding="utf-8")
    print(PAGE)
