"""The clock of the searches: limits read it, and its owner decides how it moves."""

import math

import pytest

from reticent.base import clock


def test_a_step_clock_moves_only_when_looked_at() -> None:
    mine = clock.StepClock(tick=0.5)
    with clock.using(mine):
        assert [clock.now(), clock.now(), clock.now()] == [0.5, 1.0, 1.5]
    assert mine.steps == 3


def test_the_clock_before_is_back_after_an_error(step_clock: clock.Clock) -> None:
    with pytest.raises(KeyError), clock.using(clock.MachineClock()):
        raise KeyError
    assert clock.current() is step_clock


def test_seconds_become_nodes_only_under_a_step_clock() -> None:
    assert clock.StepClock(nodes_per_second=100).nodes(2.0) == 200
    assert clock.StepClock().nodes(1e-9) == 1
    assert clock.StepClock().nodes(math.inf) is None
    assert clock.MachineClock().nodes(2.0) is None


def test_the_machine_clock_never_goes_back() -> None:
    machine = clock.MachineClock()
    first, second = machine.now(), machine.now()
    assert second >= first
