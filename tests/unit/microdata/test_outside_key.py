"""Groups of one code that chance makes so rarely that its probability is no longer a number above 0."""

import numpy as np
import pytest

from reticent.microdata.risk.outside_view import View


@pytest.mark.parametrize("many", [40, 4_000])
def test_groups_that_chance_cannot_make_are_found_whatever_their_size(many: int) -> None:
    group = np.repeat(np.arange(6), many)
    code, ones = group % 3, np.ones(group.size, dtype=np.int64)
    view = View.of(np.arange(group.size), np.zeros(group.size, dtype=np.int64), code, ones, ones.astype(bool))
    assert view.one_code((group,), (), trials=5).all()


@pytest.mark.parametrize("many", [40, 4_000])
def test_groups_of_several_codes_say_nothing(many: int) -> None:
    group = np.repeat(np.arange(6), many)
    code, ones = np.arange(group.size) % 3, np.ones(group.size, dtype=np.int64)
    view = View.of(np.arange(group.size), np.zeros(group.size, dtype=np.int64), code, ones, ones.astype(bool))
    assert not view.one_code((group,), (), trials=5).any()
