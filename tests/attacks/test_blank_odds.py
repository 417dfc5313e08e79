"""What a published file and the promise themselves tell of blanks: no value is almost certain without the method's odds."""

from attacks.blank_odds import rates


def test_safety_alone_makes_no_value_likely() -> None:
    blanks, _, without = rates(range(2), 0.02)
    assert blanks > 1_000
    assert without == 0
