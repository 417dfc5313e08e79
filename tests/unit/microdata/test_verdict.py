"""A verdict judges what attacks found by the limits of the plan; what was not tried never reads as held."""

from typing import Any

import numpy as np
import pytest

from reticent.base.errors import NotProtectedError
from reticent.data.plan import RiskSection
from reticent.data.verdict import State
from reticent.microdata.attacks import FileAttacks
from reticent.microdata.risk.household_linkage import HouseholdLinkage
from reticent.microdata.risk.household_recount import HouseholdRecount
from reticent.microdata.risk.known_linkage import KnownLinkage
from reticent.microdata.risk.restored import Told
from reticent.microdata.risk.traces_left import OrderLeft, WeightsLeft
from reticent.microdata.verdict import figure, judge, restored_text, risk_of, told_texts

NOTHING = {"recount": "there are no keys", "linkage": "nothing is known", "households": "there are none"}


def linked(*by_attacker: tuple[str, float], variables: tuple[str, ...] = ("age",)) -> KnownLinkage:
    return KnownLinkage(variables, 10, 10, by_attacker, np.zeros(10, dtype=bool))


def households(
    counts: list[int], *, complete: bool = True, linkage: HouseholdLinkage | None = None
) -> HouseholdRecount:
    return HouseholdRecount(len(counts), np.array(counts), None, "their id", complete, linkage)


def judged(limit: float = 0.2, *, settings: RiskSection | None = None, homes: bool = False, **found: Any) -> Any:
    return judge(FileAttacks(not_tried=NOTHING, **found), settings or RiskSection(), limit=limit, households=homes)


def test_what_could_not_be_tried_is_not_judged_and_says_why() -> None:
    verdict = judged()
    assert [one.attack for one in verdict.attacks] == ["recount", "linkage", "intervals", "order"]
    assert {one.state for one in verdict.attacks} == {State.NOT_JUDGED}
    assert verdict["recount"].text == "there are no keys"
    assert not verdict.held
    with pytest.raises(NotProtectedError):
        verdict.require()


@pytest.mark.parametrize(("share", "state"), [(0.0, State.HELD), (0.2, State.HELD), (0.2000001, State.NOT_HELD)])
def test_a_limit_is_allowed_and_nothing_above_it(share: float, state: State) -> None:
    verdict = judged(linkage=linked(("by distance", share), ("by rank", 0.0)))
    assert verdict["linkage"].state is state
    assert verdict["linkage"].value == share
    assert "by distance" in verdict["linkage"].text


def test_linkage_by_nothing_says_so() -> None:
    assert "nothing that is still published" in judged(linkage=linked(variables=()))["linkage"].text


def test_households_are_asked_for_where_there_are_some() -> None:
    assert "households" not in judged()
    verdict = judged(homes=True)
    assert verdict["households"].asked
    assert verdict["households"].state is State.NOT_JUDGED
    held = judged(homes=True, households=households([5, 6, 9]))
    assert held["households"].state is State.HELD
    assert held["households"].value == pytest.approx(0.2)


def test_households_that_nobody_can_put_together_are_held() -> None:
    one = judged(homes=True, households=households([]))["households"]
    assert one.state is State.HELD
    assert "no household id is published" in one.text


def test_the_nearest_members_count_where_they_link_more_than_the_count_says() -> None:
    link = HouseholdLinkage(0.5, "knows numbers", 3)
    one = judged(homes=True, households=households([9, 9, 9], linkage=link))["households"]
    assert one.state is State.NOT_HELD
    assert one.value == 0.5
    assert "50.00% of the households" in one.text
    few = HouseholdLinkage(0.1, "knows numbers", 2)
    one = judged(homes=True, households=households([9, 9, 9], complete=False, linkage=few))["households"]
    assert "2 households that were tried" in one.text
    assert "keep an upper bound" in one.text


def test_intervals_have_a_limit_only_if_one_is_given() -> None:
    found = {"income": 0.4, "age": 0.1}
    without = judged(intervals=found)["intervals"]
    assert without.state is State.NOT_JUDGED
    assert "no interval_most is given" in without.text
    allowed = RiskSection(interval_most=0.5)
    assert judged(intervals=found, settings=allowed)["intervals"].state is State.HELD
    narrow = RiskSection(interval_most=0.3, attacks=("intervals",))
    one = judged(intervals=found, settings=narrow)["intervals"]
    assert one.state is State.NOT_HELD
    assert one.asked
    assert "true values of income" in one.text
    assert "no numbers" in judged(intervals={})["intervals"].text


def test_weights_may_tell_no_record() -> None:
    assert judged(weights=WeightsLeft(0, None))["weights"].state is State.HELD
    one = judged(weights=WeightsLeft(3, "region"))["weights"]
    assert one.state is State.NOT_HELD
    assert "the weights of 3 records" in one.text
    assert "region" in one.text


def test_an_order_that_is_drawn_is_gone() -> None:
    assert judged(order=OrderLeft(True, 0.9, 0.9, 100))["order"].state is State.HELD
    kept = judged(order=OrderLeft(False, 1.0, 1.0, 100))["order"]
    assert kept.state is State.NOT_HELD
    assert kept.value == 1.0
    assert "not shuffled" in kept.text


def test_the_risk_is_the_largest_of_what_is_asked_for() -> None:
    found = {"linkage": linked(("a", 0.3)), "households": households([2])}
    asked = RiskSection(attacks=("linkage", "households"))
    assert risk_of(judged(settings=asked, homes=True, **found)) == 0.5
    assert risk_of(judged(settings=RiskSection(attacks=("linkage",)), **found)) == 0.3
    assert risk_of(judged(**found)) is None, "the recount is asked for and could not be judged"
    assert risk_of(judged(settings=RiskSection(attacks=("order",)), **found)) is None


@pytest.mark.parametrize(
    ("value", "limit", "shown"),
    [(0.0123456, 0.05, "0.0123"), (0.0500001, 0.05, "0.0500001"), (0.05, 0.05, "0.05"), (0.0, 0.1, "0"), (1, 0.2, "1")],
)
def test_a_figure_lies_on_the_side_of_the_limit_that_the_value_lies_on(value: float, limit: float, shown: str) -> None:
    assert figure(value, limit) == shown
    assert (float(shown) > limit) == (value > limit)


def test_what_tells_a_hidden_key_is_named_with_what_to_do() -> None:
    one, two = Told("age", ("school",), 3), Told("age", ("job", "car"), 5)
    assert told_texts([one]) == ["3 hidden values of age follow from school: declare it as a key, or drop it"]
    (both,) = told_texts([one, two])
    assert "8 hidden values of age follow from job with car (5 of them) and others" in both
    assert both.endswith("declare both as keys, or drop one")
    assert told_texts([Told("age", ("school",), 1)])[0].startswith("1 hidden value of age follows from school")
    assert restored_text(None) == ""
