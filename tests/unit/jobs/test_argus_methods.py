"""What the numbers of a <SUPPRESS> line mean: every one is used, spoken about, or refused."""

import pytest

from reticent.base.errors import PlanError, ReticentError
from reticent.io.argus_batch import Call
from reticent.jobs.argus.methods import DEFAULT_MINUTES, MINUTE, choose, with_minimum
from reticent.tables.rules import Dominance, Threshold


def call(name: str, *numbers: float) -> Call:
    return Call(name, tuple(numbers))


@pytest.mark.parametrize(
    ("name", "numbers", "method"),
    [("GH", (1,), "hypercube"), ("MOD", (1,), "modular"), ("OPT", (1,), "optimal"), ("NET", (1,), "network"),
     ("CTA", (1,), "adjust"), ("RND", (1, 5), "round")],
)  # fmt: skip
def test_each_name_is_one_of_our_methods(name: str, numbers: tuple[float, ...], method: str) -> None:
    found = choose(call(name, *numbers))
    assert method in found.method.name
    assert found.time_limit == DEFAULT_MINUTES * MINUTE


@pytest.mark.parametrize(("name", "numbers"), [("OPT", (1, 3)), ("MOD", (1, 3)), ("RND", (1, 5, 0, 3))])
def test_minutes_are_the_time_limit(name: str, numbers: tuple[float, ...]) -> None:
    assert choose(call(name, *numbers)).time_limit == 180.0


def test_the_hypercube_takes_what_the_attacker_knows_and_says_so() -> None:
    found = choose(call("GH", 1, 75, 1, 0))
    assert found.method.known_within == 75  # type: ignore[attr-defined]
    assert not found.singletons
    assert found.said == (
        "The attacker is taken to know every cell within 75 per cent.",
        "GH: the size is not needed; subtables of any size are taken.",
    )
    assert choose(call("GH", 1, 100)).method.known_within is None  # type: ignore[attr-defined]


def test_modular_guards_singles_together_and_speaks_of_what_it_does_not_need() -> None:
    found = choose(call("MOD", 1, 5, 1, 0, 1, 20000, 10, 10))
    assert found.singletons
    assert found.minimum_frequency == "asked for"
    words = " ".join(found.said)
    for part in ("the whole table, not for each subtable", "guarded together", "not scaled", "margins are not needed"):
        assert part in words
    off = choose(call("MOD", 1, 5, 0, 0, 0))
    assert not off.singletons
    assert off.minimum_frequency == "off"


def test_rounding_has_its_base_steps_and_costs() -> None:
    found = choose(call("RND", 1, 5, 2, 1, 0, 1, 0))
    method = found.method
    assert (method.base, method.steps, method.unit_cost) == (5.0, 2, False)  # type: ignore[attr-defined]
    assert any("partitions are not needed" in line for line in found.said)
    assert any("whatever the stop rule" in line for line in found.said)
    assert choose(call("RND", 1, 5, 0, 1, 0, 2)).said == (
        "RND: partitions are not needed; tables beyond one program are decomposed without being asked.",
    )


@pytest.mark.parametrize(
    ("name", "numbers", "words"),
    [
        ("OPT", (1, 0), "must be more than 0 minutes, got 0"),
        ("MOD", (1, -2), "must be more than 0 minutes"),
        ("GH", (1, 0), "the a-priori bounds of GH must be more than 0 per cent"),
        ("GH", (1, 50, 3), "the size of GH must be 0 or 1 or 2, got 3"),
        ("GH", (1, 50, 0, 7), "the singleton option of GH must be 0 or 1"),
        ("MOD", (1, 5, 2), "the single-single option of MOD must be 0 or 1"),
        ("MOD", (1, 5, 1, 1, 1, 0), "the largest scaled cost of MOD must be above 0"),
        ("RND", (1, 5, -1), "the steps of RND must be a whole number"),
        ("RND", (1, 5, 1.5), "the steps of RND must be a whole number"),
        ("RND", (1, 5, 0, 1, 9), "partitions of RND must be 0 or 1"),
        ("RND", (1, 0), "base"),
    ],
)
def test_wrong_numbers_are_refused(name: str, numbers: tuple[float, ...], words: str) -> None:
    with pytest.raises(ReticentError, match=words) as found:
        choose(call(name, *numbers))
    assert isinstance(found.value, PlanError) or "RND" in str(found.value)


def test_sums_of_small_cells_follow_the_largest_threshold() -> None:
    rules = [Threshold(minimum=3), Threshold(minimum=5), Dominance()]
    found = with_minimum(choose(call("MOD", 1, 5, 1, 1, 1)), rules)
    assert found.method.minimum_together == 5  # type: ignore[attr-defined]


def test_without_a_threshold_the_option_asks_for_nothing_and_says_so() -> None:
    asked = with_minimum(choose(call("MOD", 1, 5, 1, 1, 1)), [Dominance()])
    assert asked.said[-1] == "MOD: the minimum frequency option asks for nothing where no FREQ says what is small."
    silent = with_minimum(choose(call("MOD", 1)), [Dominance()])
    assert not any("minimum frequency" in line for line in silent.said)


def test_switched_off_it_is_still_judged_by_the_rules() -> None:
    off = with_minimum(choose(call("MOD", 1, 5, 1, 1, 0)), [Threshold(minimum=3)])
    assert off.said[-1].startswith("MOD: sums of small cells are judged by the rules")
    assert with_minimum(choose(call("CTA", 1)), [Threshold(minimum=3)]) == choose(call("CTA", 1))
