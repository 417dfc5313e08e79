"""Turnover by classes of turnover beside counts: the limits of a class, times the count, bound a hidden sum.

Until November 2026 a hidden sum of small firms was thought to be able to take up whatever a large one lacks; then this was known
only beside counts, and of limits up to 10,000 units.
"""

from pathlib import Path

import pytest

from attacks.size_class_families import LARGE, exposed, firms, published
from reticent import methods
from samples import numbers


@pytest.mark.parametrize("number", [13, 20, *numbers(1, 13)])
def test_limits_of_classes_do_not_place_an_unsafe_sum(number: int, tmp_path: Path) -> None:
    frame = firms(number)
    texts = published(frame, tmp_path, methods.Heuristic())
    assert texts is not None
    assert not exposed(frame, texts, limits=True)


@pytest.mark.parametrize("number", [20, 22, *numbers(0, 20)])
def test_nor_without_counts_because_somebody_is_in_a_hidden_cell(number: int, tmp_path: Path) -> None:
    frame = firms(number)
    texts = published(frame, tmp_path, methods.Heuristic(), counts=False)
    assert texts is not None
    assert not exposed(frame, texts, limits=True)


@pytest.mark.parametrize("number", [13, 20, *numbers(0, 60)])
def test_nor_where_limits_are_large_numbers(number: int, tmp_path: Path) -> None:
    frame = firms(number, LARGE)
    texts = published(frame, tmp_path, methods.Heuristic())
    assert texts is not None
    assert not exposed(frame, texts, limits=True, scale=LARGE)
