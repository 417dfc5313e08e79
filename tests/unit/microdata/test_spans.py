"""Which numbers a shown number may stand for: each inverse holds exactly the numbers that the step shows there."""

from collections.abc import Callable
from fractions import Fraction
from math import ceil, floor

import pytest

from reticent.microdata.facts.spans import EVERYTHING, NOTHING, Grid, Limit, Span, through

F = Fraction
NUMBERS = [F(n, 4) for n in range(-40, 81)]


def test_a_point_is_its_decimal_text() -> None:
    assert Span.point(0.1) == Span(F(1, 10), F(1, 10))
    assert Span.point(0.1).holds(F(1, 10))
    assert not Span.point(0.1).holds(Fraction(0.1))  # the float itself is a little more


@pytest.mark.parametrize(
    ("span", "scale", "ends"),
    [
        (Span(F(1, 2), F(5, 2)), 1, (1, 2)),
        (Span(F(1), F(2)), 1, (1, 2)),
        (Span(F(1), F(2), low_open=True), 1, (2, 2)),
        (Span(F(1), F(2), high_open=True), 1, (1, 1)),
        (Span(F(1), F(2), low_open=True, high_open=True), 10, (11, 19)),
        (Span(F(-3, 2), None), 1, (-1, None)),
        (Span(None, F(-3, 2)), 1, (None, -2)),
        (EVERYTHING, 100, (None, None)),
    ],
)
def test_whole_numbers_inside(span: Span, scale: int, ends: tuple[int | None, int | None]) -> None:
    assert span.whole(scale) == ends


def test_an_empty_span_has_crossed_ends() -> None:
    low, high = NOTHING.whole(10)
    assert low is not None
    assert high is not None
    assert low > high
    assert not any(NOTHING.holds(number) for number in NUMBERS)


def rounded(number: Fraction, base: Fraction, how: str, up: bool) -> set[Fraction]:
    """All that a number can be rounded to."""
    low, high = base * floor(number / base), base * ceil(number / base)
    if how == "down":
        return {low}
    if how == "up":
        return {high}
    if how == "random":
        return {low, high}
    if number - low == high - number and low != high:
        return {high if up else low}
    return {low if number - low < high - number or low == high else high}


def agrees(inverse: Callable[[Span], Span], shown_for: Callable[[Fraction], set[Fraction]], span: Span) -> None:
    found = inverse(span)
    for number in NUMBERS:
        assert found.holds(number) == any(span.holds(one) for one in shown_for(number)), number


@pytest.mark.parametrize("how", ["nearest", "up", "down", "random"])
@pytest.mark.parametrize("up", [True, False])
@pytest.mark.parametrize(
    "span",
    [
        Span(F(5), F(5)), Span(F(0), F(10)), Span(F(-5), F(5)), Span(F(3), F(12)), Span(F(5), F(10), low_open=True),
        Span(F(5), F(10), high_open=True), Span(F(6), F(9)),
    ],
)  # fmt: skip
def test_multiples_stand_for_the_numbers_that_are_rounded_to_them(how: str, up: bool, span: Span) -> None:
    grid = Grid(F(5), (), how, lambda _: up)
    agrees(grid.inverse, lambda number: rounded(number, F(5), how, up), span)


def test_a_span_without_a_multiple_stands_for_nothing() -> None:
    assert Grid(F(5), (), "nearest", lambda _: True).inverse(Span(F(6), F(9))) == NOTHING


def test_open_spans_of_multiples_stay_open() -> None:
    grid = Grid(F(5), (), "down", lambda _: True)
    assert grid.inverse(Span(F(5), None)).low == F(5)
    assert grid.inverse(Span(F(5), None)).whole(1)[0] == 5
    found = grid.inverse(EVERYTHING)
    assert all(found.holds(number) for number in NUMBERS)


POINTS = (F(0), F(4), F(10))


def to_points(number: Fraction, how: str, up: bool) -> set[Fraction]:
    below = [point for point in POINTS if point <= number] or [POINTS[0]]
    above = [point for point in POINTS if point >= number] or [POINTS[-1]]
    low, high = below[-1], above[0]
    if low > number or high < number or low == high:  # beyond the first or last point
        return {low if low > number else high}
    if how == "down":
        return {low}
    if how == "up":
        return {high}
    if how == "random":
        return {low, high}
    if number - low == high - number:
        return {high if up else low}
    return {low if number - low < high - number else high}


@pytest.mark.parametrize("how", ["nearest", "up", "down", "random"])
@pytest.mark.parametrize("up", [True, False])
@pytest.mark.parametrize(
    "span", [Span(F(4), F(4)), Span(F(0), F(0)), Span(F(10), F(10)), Span(F(0), F(4)), Span(F(1), F(20)), EVERYTHING]
)
def test_given_points_stand_for_the_numbers_that_go_to_them(how: str, up: bool, span: Span) -> None:
    agrees(Grid(None, POINTS, how, lambda _: up).inverse, lambda number: to_points(number, how, up), span)


@pytest.mark.parametrize("replacement", [F(10), F(15)])
@pytest.mark.parametrize(
    "span",
    [
        Span(F(0), F(5)), Span(F(10), F(10)), Span(F(15), F(15)), Span(F(8), F(20)), Span(F(11), F(12)), EVERYTHING,
        Span(F(10), None, low_open=True),
    ],
)  # fmt: skip
def test_a_limit_stands_for_all_beyond_it(replacement: Fraction, span: Span) -> None:
    """Bounds may be wider than the numbers (one interval must hold two pieces), never narrower."""
    limit = Limit(F(10), replacement, 1)
    found = limit.inverse(span)
    for number in NUMBERS:
        shown = number if number <= 10 else replacement
        if span.holds(shown):
            assert found.holds(number), number
    if span.high is not None and span.high < 10:
        assert found == span


def test_the_bottom_is_the_mirror_of_the_top() -> None:
    bottom = Limit(F(-10), F(-12), -1)
    assert bottom.inverse(Span(F(-12), F(-12))) == Span(None, F(-10), False, True)
    assert bottom.beyond == Span(None, F(-10), high_open=True)
    assert Limit(F(10), F(12), 1).beyond == Span(F(10), None, low_open=True)
    assert bottom.inverse(Span(F(0), F(5))) == Span(F(0), F(5))


def test_steps_are_undone_from_the_last() -> None:
    """Limited at 12, then rounded down to fives: 10 is shown for all from 10 on."""
    steps = [Limit(F(12), F(12), 1).inverse, Grid(F(5), (), "down", lambda _: True).inverse]
    assert through(Span(F(10), F(10)), steps) == Span(F(10), None)
    assert through(Span(F(5), F(5)), steps) == Span(F(5), F(10), False, True)
    assert through(Span(F(5), F(5)), []) == Span(F(5), F(5))
