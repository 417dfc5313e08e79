"""Blanks that nobody needs, and values that the members of a household share."""

import numpy as np
import pytest

from reticent.microdata.suppress.requirement import Prices
from reticent.microdata.suppress.slack import Costs, with_slack
from reticent.microdata.suppress.ties import first_with, for_all_members, spread

PRICES = Prices((1.0, 2.0, 1.5))
KNOWN = np.ones((20, 3), dtype=bool)


def test_a_mask_costs_its_known_values() -> None:
    known = KNOWN.copy()
    known[0, 1] = False
    costs = Costs(known, PRICES)
    assert costs.of(0, 0b111) == 2.5
    assert costs.of(1, 0b111) == 4.5
    assert costs.of(1, 0) == 0.0
    assert costs.of_file(np.array([0b111, 0b010] + [0] * 18)) == 2.5 + 2.0


def test_a_shared_variable_is_paid_for_each_member() -> None:
    costs = Costs(KNOWN, PRICES, shared=0b010, members=np.full(20, 3))
    assert costs.of(0, 0b011) == 1.0 + 3 * 2.0


@pytest.mark.parametrize("seed", range(8))
def test_slack_only_adds_and_stays_within_its_budget(seed: int) -> None:
    masks = np.zeros(20, np.int64)
    masks[:10] = 0b001
    costs = Costs(KNOWN, PRICES)
    found = with_slack(masks, costs, 0.5, np.random.default_rng(seed), rare=None)
    assert bool(((found & masks) == masks).all())  # without families nothing is exchanged
    assert costs.of_file(found) <= costs.of_file(masks) * 1.5 + 1e-9


def test_without_slack_nothing_is_added() -> None:
    masks = np.ones(20, np.int64)
    assert with_slack(masks, Costs(KNOWN, PRICES), 0.0, np.random.default_rng(1), rare=None).tolist() == masks.tolist()


def test_a_file_that_needs_no_blank_may_still_have_one() -> None:
    """Otherwise a blank would prove that one was needed."""
    costs = Costs(KNOWN, PRICES)
    found = [with_slack(np.zeros(20, np.int64), costs, 0.9, np.random.default_rng(s), rare=None) for s in range(200)]
    some = sum(bool(one.any()) for one in found)
    assert 0 < some < 200
    spent = np.mean([costs.of_file(one) for one in found])
    assert spent <= 0.9 * 1.2  # the expected cost stays near the budget of one blank


def test_frozen_variables_are_never_blanked() -> None:
    prices = Prices((1.0, 2.0, 1.5), frozen=0b110)
    found = with_slack(np.ones(20, np.int64), Costs(KNOWN, prices), 1.0, np.random.default_rng(3), rare=None)
    assert not (found & 0b110).any()


HOUSEHOLD = np.array([5, 7, 5, 7, 9])


def test_shared_values_belong_to_the_first_member() -> None:
    same = first_with(HOUSEHOLD, 0b10, (5, 2))
    assert same[:, 0].tolist() == [0, 1, 2, 3, 4]
    assert same[:, 1].tolist() == [0, 1, 0, 1, 4]
    assert first_with(None, 0b10, (5, 2)).tolist() == [[i, i] for i in range(5)]


def test_a_shared_blank_is_a_blank_of_all_members() -> None:
    same = first_with(HOUSEHOLD, 0b10, (5, 2))
    published = np.array([[0, 1], [0, 2], [-1, -1], [0, 2], [0, 3]], dtype=np.int32)
    found = spread(published, same)
    assert found[:, 1].tolist() == [-1, 2, -1, 2, 3]
    assert found[:, 0].tolist() == [0, 0, -1, 0, 0]  # not shared
    assert published[0, 1] == 1  # what was given is left alone


def test_marks_reach_the_whole_household() -> None:
    marked = np.array([False, False, True, False, False])
    assert for_all_members(HOUSEHOLD, marked).tolist() == [True, False, True, False, False]
    assert for_all_members(None, marked) is marked
