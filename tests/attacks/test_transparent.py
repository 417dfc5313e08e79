"""What the transparent attacker determines on all small tables is what each method's guarantee says."""

import pytest

from attacks.transparent import SECRETS, rates
from reticent.queries.modes import MODES, mode_class
from reticent.tables.methods import TABLE_METHODS
from reticent.tables.perturb.secrets import draws


@pytest.mark.parametrize("method", list(TABLE_METHODS))
def test_every_guarantee_speaks_of_both_attackers(method: str) -> None:
    said = TABLE_METHODS[method].guarantee
    assert said.arithmetic.startswith("Against the arithmetic attacker")
    assert "Not covered: " in said.arithmetic
    assert ("Not for the transparent attacker" in str(said)) == (said.rate.determined > 0 or said.rate.secrets == 0)
    assert str(said.rate) in said.transparent
    assert said.rate.left in said.transparent
    assert said.rate.secrets == (SECRETS if draws(TABLE_METHODS[method]()) else 0)
    assert said.rate.unsafe > 0
    assert TABLE_METHODS[method].__doc__ is not None


@pytest.mark.parametrize("mode", [name for name in MODES if name != "open"])  # which promises nothing
def test_every_mode_says_for_whom_and_what_is_not_covered(mode: str) -> None:
    said = mode_class(mode).guarantee
    assert "arithmetic attacker" in said.attackers
    assert "transparent attacker" in said.attackers
    assert said.holds
    assert said.not_covered


@pytest.mark.deep
@pytest.mark.parametrize("method", list(TABLE_METHODS))
def test_no_more_is_determined_than_the_guarantee_says(method: str) -> None:
    said = TABLE_METHODS[method].guarantee.rate
    found = rates(method, seeds=said.secrets or 1)
    assert found.unsafe >= 0.95 * said.unsafe
    assert found.determined <= said.determined
    assert found.width >= said.width - 0.05
