"""Worked examples of the tau-ARGUS manual that need no data (rows 13, 14 and 16 of the reference list)."""

import numpy as np
import pytest

from reference.tables import crossed, flat
from reticent.tables.attack import audit
from reticent.tables.attack.insiders import insiders
from reticent.tables.perturb.adjustment import adjust
from reticent.tables.problem import SuppressionProblem
from reticent.tables.suppression import SUPPRESSION_METHODS


def test_audit_of_a_hidden_square() -> None:
    """Manual 2.15: a hidden square with row sums 7 and 3 and column sums 6 and 4 leaves X11 in [3, 6]."""
    values, relations = crossed([flat(2), flat(2)], np.array([[5.0, 2], [1, 2]]))
    hidden = np.zeros(9, dtype=bool)
    hidden[[4, 5, 7, 8]] = True
    primary = np.arange(9) == 4
    found = audit(SuppressionProblem.from_values(values, relations, primary=primary), hidden)
    assert values[[3, 6, 1, 2]].tolist() == [7, 3, 6, 4]
    assert (found.low[0], found.high[0]) == (3, 6)
    # whatever the inner values are, the margins decide
    other, _ = crossed([flat(2), flat(2)], np.array([[3.0, 4], [3, 0]]))
    again = audit(SuppressionProblem.from_values(other, relations, primary=primary), hidden)
    assert (again.low[0], again.high[0]) == (3, 6)


@pytest.mark.parametrize("signs", ["up", "down"])
def test_adjustment_of_one_cell(signs: str) -> None:
    """Manual 2.13: a cell of 40 with levels 5 in a 3 × 3 table: four inner cells move by 5, L1 cost 20 either way.

    The other values are ours; the cost does not depend on them.
    """
    inner = np.array([[20.0, 24, 28], [38, 40, 38], [40, 39, 42]])
    values, relations = crossed([flat(3), flat(3)], inner)
    primary = np.arange(16) == 10
    problem = SuppressionProblem.from_values(
        values, relations, primary=primary, lower_protection=5.0, upper_protection=5.0
    )
    totals = np.zeros((4, 4), dtype=bool)
    totals[0] = totals[:, 0] = True
    found = adjust(problem, secret=None, signs=signs, fixed=totals.ravel())
    assert found.distance == pytest.approx(20)
    assert found.values[10] == (45 if signs == "up" else 35)
    assert np.abs(relations.residuals(found.values)).max() < 1e-9


@pytest.mark.parametrize("method", SUPPRESSION_METHODS, ids=lambda m: m.name)
def test_a_singleton_beside_another_unsafe_cell(method: type) -> None:
    """Manual 2.10: 15 and 17 are the unsafe cells of row A, one of a single respondent: their sum 32 must not be known."""
    values, relations = crossed([flat(2), flat(4)], np.array([[20.0, 15, 17, 30], [25, 40, 35, 50]]))
    counts, _ = crossed([flat(2), flat(4)], np.array([[5, 1, 2, 6], [4, 7, 8, 9]]).astype(float))
    primary = np.isin(np.arange(15), [7, 8])
    problem = SuppressionProblem.from_values(values, relations, primary=primary, counts=counts.astype(np.int64))
    open_pattern = np.isin(np.arange(15), [7, 8, 12, 13])  # safe for the public, not from the single respondent
    assert audit(problem, open_pattern).n_exposed == 0
    assert [insider.exposed for insider in insiders(problem, open_pattern)] == [(8,)]
    found = method().protect(problem, time_limit=5).hidden
    assert insiders(problem, found) == []
    assert found[[6, 9]].any() or found[5]
