"""Attacks on local suppression, with nothing but published files, a register of the keys, and the manual.

Fixtures: `suppression.published.csv` is what 0.1.0 made of `suppression.true.csv` with `LocalSuppression(k=3)` and its
defaults; `suppression.small.json` has 60 files of five to seven records, true and as 0.1.0 published them with k = 2.
"""

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl

from reticent.base.progress import silent
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Role, Schema, Variable
from reticent.microdata.mask.local_suppression import LocalSuppression

FOLDER = Path(__file__).parent / "fixtures" / "v010" / "files"
KNOWN_OF_010 = 38
Codes = np.ndarray
Explains = Callable[[Codes, Codes], bool]


def _numbered(*frames: pl.DataFrame) -> list[Codes]:
    """The frames as numbers, equal texts alike, −1 for missing."""
    columns = []
    for name in frames[0].columns:
        known = {text: i for i, text in enumerate(sorted(set(frames[0][name].drop_nulls())))}
        columns.append([[-1 if t is None else known[t] for t in frame[name]] for frame in frames])
    return [np.array([column[i] for column in columns]).T for i in range(len(frames))]


def _protected(frame: pl.DataFrame, k: int, secret: int) -> pl.DataFrame:
    """What is published today, with the defaults."""
    data = Microdata.of(frame, Schema(tuple(Variable(name, role=Role.KEY) for name in frame.columns)))
    done = LocalSuppression(k=k).apply(data, secret=as_secret(secret), progress=silent).data
    shown = {n: [None if c < 0 else done.categories(n)[c] for c in done.codes((n,))[:, 0]] for n in frame.columns}
    return pl.DataFrame(shown, schema=dict.fromkeys(frame.columns, pl.String))


def fitting(target: Codes, published: Codes) -> int:
    """The person-to-file attack: published records that the target, known to be in the file, could be."""
    return int(((published == target) | (published < 0)).all(axis=1).sum())


def test_who_is_known_to_be_in_the_file_has_k_candidates() -> None:
    true = pl.read_csv(FOLDER / "suppression.true.csv")
    before = pl.read_csv(FOLDER / "suppression.published.csv")
    truth, old, new = _numbered(true, before, _protected(true, 3, 1))
    uniques = [row for row in truth if (truth == row).all(axis=1).sum() == 1]
    found_before = [fitting(row, old) for row in uniques]
    assert sum(n == 1 for n in found_before) >= 0.2 * len(uniques)
    assert min(fitting(row, new) for row in truth) >= 3
    assert min(int(((truth == row) | (row < 0)).all(axis=1).sum()) for row in new) >= 3


def rule_of_010(truth: Codes, k: int) -> Codes:
    """What 0.1.0 published: for each record on its own the fewest blanks, the first variables among equals."""
    n, q = truth.shape
    out = truth.copy()
    for i in range(n):
        for mask in sorted(range(1 << q), key=lambda m: (m.bit_count(), m)):
            left = [v for v in range(q) if not mask >> v & 1]
            if (truth[:, left] == truth[i, left]).all(axis=1).sum() >= k:
                out[i, [v for v in range(q) if mask >> v & 1]] = -1
                break
    return out


def keeps_its_promise(truth: Codes, published: Codes, k: int) -> bool:
    """(k,k) by all pairs: the only thing today's method says about the file it publishes."""
    there = ((published[:, None] == truth[None]) | (published[:, None] < 0)).all(axis=2)
    return bool(there.sum(axis=1).min() >= k and there.sum(axis=0).min() >= k)


def inferred(published: Codes, values: list[int], explains: Explains) -> dict[tuple[int, int], int]:
    """The transparent attack: blanks that have one value in all truths from which the published file can come."""
    places = [(int(i), int(v)) for i, v in np.argwhere(published < 0)]
    seen: dict[tuple[int, int], set[int]] = {place: set() for place in places}
    for guess in product(*(range(values[v]) for _, v in places)):
        if all(g in seen[place] for g, place in zip(guess, places, strict=True)):
            continue
        truth = published.copy()
        for (i, v), g in zip(places, guess, strict=True):
            truth[i, v] = g
        if explains(truth, published):
            for place, g in zip(places, guess, strict=True):
                seen[place].add(g)
    return {place: next(iter(known)) for place, known in seen.items() if len(known) == 1}


def _two_columns(codes: Codes) -> pl.DataFrame:
    return pl.DataFrame({"a": [f"a{x}" for x in codes[:, 0]], "b": [f"b{x}" for x in codes[:, 1]]})


def test_no_blank_of_a_small_file_follows_from_the_method() -> None:
    """60 files of at most seven records: 0.1.0 gave blanks away for certain, today none is."""
    known_before, blanks_before, blanks_now = 0, 0, 0
    for number, case in enumerate(json.loads((FOLDER / "suppression.small.json").read_text())):
        frame = _two_columns(np.array(case["true"]))
        truth, today = _numbered(frame, _protected(frame, 2, number))
        values = [len(set(column)) for column in truth.T.tolist()]
        old = np.where(np.array(case["published"]) < 0, -1, truth)
        found = inferred(old, values, lambda t, p: bool((rule_of_010(t, 2) == p).all()))
        found = {place: value for place, value in found.items() if values[place[1]] > 1}
        assert all(truth[place] == value for place, value in found.items())
        known_before, blanks_before = known_before + len(found), blanks_before + int((old < 0).sum())
        now = inferred(today, values, lambda t, p: keeps_its_promise(t, p, 2))
        assert not {place for place in now if values[place[1]] > 1}
        blanks_now += int((today < 0).sum())
    assert (known_before, blanks_before) == (KNOWN_OF_010, 137)
    assert blanks_now > blanks_before


def claims_from_minimality(published: Codes, values: list[int], k: int) -> dict[tuple[int, int], int]:
    """In a larger file: a value under which enough others show the same record needs no blank; one may be left."""
    claims = {}
    for i in np.flatnonzero((published < 0).sum(axis=1) == 1).tolist():
        v = int(np.flatnonzero(published[i] < 0)[0])
        others = [u for u in range(published.shape[1]) if u != v]
        alike = published[(published[:, others] == published[i, others]).all(axis=1) & (published[:, v] >= 0)]
        left = np.flatnonzero(np.bincount(alike[:, v], minlength=values[v]) < k - 1)
        if len(left) == 1:
            claims[i, v] = int(left[0])
    return claims


def test_claims_from_minimality_are_no_longer_certain() -> None:
    """Every claim is right about what the rule of 0.1.0 publishes; about today's files some are wrong, so none is sure."""
    generator = np.random.default_rng(5)
    before, today = [], []
    for number in range(20):
        first, second = generator.choice(3, 60, p=[0.6, 0.3, 0.1]), generator.choice(2, 60, p=[0.85, 0.15])
        frame = _two_columns(np.column_stack([first, second]))
        truth, published = _numbered(frame, _protected(frame, 4, number))
        values = [len(set(column)) for column in truth.T.tolist()]
        before += [truth[p] == c for p, c in claims_from_minimality(rule_of_010(truth, 4), values, 4).items()]
        today += [truth[p] == c for p, c in claims_from_minimality(published, values, 4).items()]
    assert len(before) > 10
    assert all(before)
    assert not all(today)
