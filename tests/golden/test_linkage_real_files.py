"""Linkage on public files with known truth: FEBRL 1 and 3, RLdata500."""

import csv
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from reticent.base.randomness import as_secret
from reticent.microdata.risk.linkage_coordinates import Coordinates, string_distances
from reticent.microdata.risk.linkage_distance import distance_linkage
from reticent.microdata.risk.linkage_probabilistic import probabilistic_linkage

FEBRL = ("given_name", "surname", "suburb", "postcode", "date_of_birth", "soc_sec_id", "address_1", "state")
RLDATA = ("fname_c1", "lname_c1", "by", "bm", "bd")


def encode(columns: Iterable[tuple[list[str], list[str]]]) -> tuple[np.ndarray, np.ndarray]:
    sides: tuple[list[list[int]], list[list[int]]] = ([], [])
    for pair in columns:
        place: dict[str, int] = {}
        for side, values in zip(sides, pair):
            side.append([place.setdefault(v, len(place)) if v else -1 for v in values])
    return np.array(sides[0], dtype=np.int32).T.copy(), np.array(sides[1], dtype=np.int32).T.copy()


def febrl(path: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    with path.open() as file:
        rows = list(csv.DictReader(file, skipinitialspace=True))
    number = [row["rec_id"].split("-")[1] for row in rows]
    is_copy = ["dup" in row["rec_id"] for row in rows]
    originals = [i for i, copy in enumerate(is_copy) if not copy]
    copies = [i for i, copy in enumerate(is_copy) if copy]
    place = {number[i]: position for position, i in enumerate(originals)}
    take = lambda name, which: [rows[i][name].strip() for i in which]  # noqa: E731
    left, right = encode((take(name, originals), take(name, copies)) for name in FEBRL)
    return left, right, np.array([place[number[i]] for i in copies])


def test_febrl_1_is_linked_almost_completely(shared_data: Path) -> None:
    """500 originals, 500 copies with typing errors."""
    left, right, own = febrl(shared_data / "linkage" / "febrl_dataset1.csv")
    assert left.shape == right.shape == (500, 8)
    result = probabilistic_linkage(left, right, FEBRL, own=own, secret=as_secret(1))
    assert result.share == 1.0
    assert result.one_to_one is not None
    assert result.one_to_one >= 0.99
    assert 480 < result.model.prior * 500 * 500 <= 500  # EM's own estimate of the number of matches


def test_febrl_3_with_several_copies(shared_data: Path) -> None:
    """2,000 originals, 3,000 copies: each for itself all but one; one to one cannot give five copies one original."""
    left, right, own = febrl(shared_data / "linkage" / "febrl_dataset3.csv")
    result = probabilistic_linkage(left, right, FEBRL, own=own, secret=as_secret(1))
    assert result.share > 0.999
    assert result.one_to_one is not None
    assert result.one_to_one <= np.unique(own).size / own.size


def test_rldata_by_strings_and_by_agreement(shared_data: Path) -> None:
    """50 duplicates among 500 records: letter distances find nearly all, exact agreement most."""
    with (shared_data / "linkage" / "RLdata500.csv").open() as file:
        rows = list(csv.DictReader(file))
    first: dict[str, int] = {}
    copies, own = [], []
    for i, row in enumerate(rows):
        if row["identity"] in first:
            copies.append(i)
            own.append(first[row["identity"]])
        else:
            first[row["identity"]] = i
    originals = sorted(first.values())
    place = {i: position for position, i in enumerate(originals)}
    truth = np.array([place[i] for i in own])
    assert len(copies) == 50
    take = lambda name, which: [rows[i][name] for i in which]  # noqa: E731
    texts = tuple(string_distances(take(name, originals), take(name, copies)) for name in RLDATA)
    points = np.zeros((450, 0)), np.zeros((50, 0)), np.zeros(0, dtype=bool), np.zeros(0)
    assert distance_linkage(Coordinates(RLDATA, *points, texts), own=truth).share >= 0.98
    left, right = encode((take(name, originals), take(name, copies)) for name in RLDATA)
    exact = probabilistic_linkage(left, right, RLDATA, own=truth, secret=as_secret(1))
    assert exact.share >= 0.96
