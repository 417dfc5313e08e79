"""The clock of the searches: limits read it, and its owner decides how it moves."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import sparse

from reticent.base import clock
from reticent.base.errors import OutOfTime
from reticent.base.progress import silent
from reticent.solve.highs import solve
from reticent.solve.model import LinearModel
from reticent.tables.attack.pieces import work_on


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


def test_deadlines_nest_and_the_earliest_counts() -> None:
    mine = clock.StepClock(tick=1.0)
    with clock.using(mine), clock.until(clock.Deadline(3.0, checks=2)) as outer:
        with clock.until(clock.Deadline(9.0, checks=1)) as inner:
            assert (inner.earliest, inner.checks, clock.left()) == (3.0, 3, 3.0)
            outer.bring_forward(2.0)
            outer.bring_forward(5.0)
            assert clock.left() == 2.0
            for _ in range(3):
                clock.now()
            with pytest.raises(OutOfTime):
                clock.check()
        assert clock.deadline() is outer
    assert clock.deadline() is None
    assert clock.left() == math.inf
    clock.check()


def test_work_within_a_moment_is_given_up_without_a_word_unless_the_deadline_around_it_has_passed() -> None:
    done = []
    with clock.using(clock.StepClock(tick=1.0)), clock.until(clock.Deadline(5.0)):
        with clock.within(2.0):
            done.append("started")
            for _ in range(3):
                clock.now()
            clock.check()
            done.append("never")
        done.append("on")
        for _ in range(3):
            clock.now()
        with pytest.raises(OutOfTime), clock.within(4.0):
            clock.check()
    assert done == ["started", "on"]


def test_programs_of_the_solver_end_with_the_deadline() -> None:
    model = LinearModel(
        np.ones(1), np.zeros(1), np.ones(1), sparse.csr_array((0, 1)), np.zeros(0), np.zeros(0), maximise=True
    )
    with clock.using(clock.StepClock(tick=1.0)), clock.until(clock.Deadline(1.0)):
        assert solve(model).objective == 1.0
        clock.now()
        clock.now()
        with pytest.raises(OutOfTime):
            solve(model)


def test_threads_that_work_for_a_run_have_its_deadline() -> None:
    @dataclass
    class Piece:
        weight: float = 1.0

    seen = work_on(
        [Piece(), Piece()], lambda piece, tick: clock.left(), workers=2, progress=silent, words="looking"
    )  # fmt: skip
    assert seen == [math.inf, math.inf]
    with clock.until(clock.Deadline(clock.peek() + 7.0)):
        seen = work_on(
            [Piece(), Piece()], lambda piece, tick: clock.left(), workers=2, progress=silent, words="looking"
        )  # fmt: skip
    assert seen == [7.0, 7.0]
