"""Errors carry what they are about: cells, places and advice; the text is put together when it is shown."""

import pytest

from reticent.base.errors import DataError, InfeasibleError, ParameterError, PlanError, ReticentError


def test_places_stand_before_the_message_from_the_outside_in() -> None:
    err = PlanError("there is no table 3.").at("batch.arb, line 6").at("batch.arb, line 8")
    assert err.places == ("batch.arb, line 8", "batch.arb, line 6")
    assert str(err) == "batch.arb, line 8: batch.arb, line 6: there is no table 3."


def test_the_same_place_is_said_once() -> None:
    assert str(DataError("wrong.").at("a.arb, line 1").at("a.arb, line 1")) == "a.arb, line 1: wrong."


def test_advice_stands_behind_the_message() -> None:
    assert str(InfeasibleError("No pattern.").advise("Or use MOD(0).")) == "No pattern. Or use MOD(0)."


def test_cells_are_numbers_until_somebody_names_them() -> None:
    err = InfeasibleError("lost: {cells}; blocking: {blocking}.", cells=(3, 5), blocking=())
    assert str(err) == "lost: 3, 5; blocking: none."
    assert str(err.named({3: "A × N", 5: "B × N"}.__getitem__)) == "lost: A × N, B × N; blocking: none."
    assert err.cells == (3, 5)


def test_long_lists_are_cut() -> None:
    shown = str(InfeasibleError("{cells}", cells=tuple(range(99))))
    assert shown.split(", ") == [str(cell) for cell in range(InfeasibleError.shown)]


@pytest.mark.parametrize("kind", [ReticentError, PlanError, DataError, InfeasibleError])
def test_an_error_without_place_is_its_message(kind: type[ReticentError]) -> None:
    assert str(kind("as it is.")) == "as it is."
    assert kind("as it is.").places == ()


def test_a_place_may_take_that_of_the_class_that_noticed() -> None:
    err = DataError("a code occurs twice.").at("variable 'sex'")
    assert (
        str(err.at("s.toml: variable 3 (sex)", instead_of="variable 'sex'"))
        == "s.toml: variable 3 (sex): a code occurs twice."
    )
    assert str(err.at("p.toml", instead_of="Schema")) == "p.toml: s.toml: variable 3 (sex): a code occurs twice."


def test_another_kind_keeps_everything_that_the_error_carries() -> None:
    err = ParameterError("k must be at least 2, got 1.", option="k").at("noise").advise("Or drop the step.")
    made = err.as_kind(PlanError)
    assert type(made) is PlanError
    assert (str(made), made.option, made.places, made.advice) == (str(err), "k", ("noise",), ("Or drop the step.",))
