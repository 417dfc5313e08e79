"""SESRIC tables 2.9 and 2.10: controlled rounding to base 5 keeps the margins 20 55 25 35 | 50 35 30 20 | 135."""

import numpy as np

from reticent.tables.perturb.rounding import round_controlled
from table_makers import with_totals

# SESRIC table 2.6 (cf. 2.9): counties Alpha, Beta, Gamma, Delta by education level
INNER = np.array([[15, 1, 3, 1], [20, 10, 10, 15], [3, 10, 10, 2], [12, 14, 7, 2]])


def test_margins_are_kept_where_they_are_multiples() -> None:
    values, relations, ids = with_totals(INNER)
    rounded = round_controlled(values, relations, 5)
    assert rounded.values[ids[:-1, -1]].tolist() == [20, 55, 25, 35]
    assert rounded.values[ids[-1, :-1]].tolist() == [50, 35, 30, 20]
    assert rounded.values[ids[-1, -1]] == 135
    assert np.all(np.abs(rounded.values - values) < 5)
