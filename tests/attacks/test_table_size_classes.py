"""Turnover by classes of turnover beside counts: the limits of a class, times the count, bound a hidden sum.

Until November 2026 a hidden sum of small firms was thought to be able to take up whatever a large one lacks.
"""

from pathlib import Path

import pytest

from attacks.size_class_families import exposed, firms, published
from reticent import methods
from samples import numbers


@pytest.mark.parametrize("number", [13, 20, *numbers(1, 13)])
def test_limits_of_classes_do_not_place_an_unsafe_sum(number: int, tmp_path: Path) -> None:
    frame = firms(number)
    texts = published(frame, tmp_path, methods.Heuristic())
    assert texts is not None
    assert not exposed(frame, texts, limits=True)
