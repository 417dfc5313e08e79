"""Attacks on exact answers, from published answers only; each succeeds on what version 0.1.0 answered (fixtures)."""

from typing import Any

import pytest

from attacks.query_scenarios import SCENARIOS
from attacks.transcripts import stored, value_of


def by_insider(public: dict[str, Any]) -> float | None:
    """Somebody with two records knows both: what is left of {a1} + C, {a2} + D and {b} + E less C + D + E."""
    values = [value_of(entry) for entry in public["transcript"]]
    if None in values:
        return None
    return sum(values[:3]) - values[3] - sum(public["own"])


def by_correlation(public: dict[str, Any]) -> float | None:
    """The sum of ill · pay from count, means, deviations and correlation; one person has ill = 1, as the mean tells."""
    values = [value_of(entry) for entry in public["transcript"]]
    if None in values or round(values[0] * values[2]) != 1:
        return None
    n, pay, ill, pay_spread, ill_spread, both = values
    return both * pay_spread * ill_spread * (n - 1) + n * pay * ill


def by_tie(public: dict[str, Any]) -> float | None:
    """All in one currency less all but one in the other, at the country's rate."""
    everybody, others = (value_of(entry) for entry in public["transcript"])
    return None if everybody is None or others is None else everybody - others / public["rate"]


@pytest.mark.parametrize(
    "name, attack, within",
    [
        ("insider", by_insider, 0.0),
        ("product_with_an_indicator", by_correlation, 1e-6),
        ("tied_by_category", by_tie, 0.01),
    ],
)
def test_a_single_value_followed_from_answers(name: str, attack: Any, within: float) -> None:
    before, now = stored(name), SCENARIOS[name]()
    found = attack(before)
    assert found == pytest.approx(before["truth"], rel=within)
    assert before["truth"] == now["truth"], "the same records"
    assert attack(now) is None


def smallest_rest(public: dict[str, Any]) -> int | None:
    """Respondents in the total less its visible cells, and in each visible set."""
    rows = [row for row in public["transcript"][0]["rows"] if row["age"] is None]
    shown = {row["region"] for row in rows if row["sum(pay)"] is not None}
    rest = sum(size for region, size in public["sizes"].items() if region not in shown)
    return min([rest or 10**9, *(public["sizes"][r] for r in shown if r is not None)]) if None in shown else None


def test_a_total_less_its_visible_cells_is_of_enough_respondents() -> None:
    """0.1.0 hid two regions of 4 and 3 and showed the total: their sum, of 7, followed."""
    before, now = stored("totals_less_parts"), SCENARIOS["totals_less_parts"]()
    assert smallest_rest(before) == 7
    left = smallest_rest(now)
    assert left is not None, "the total is still answered"
    assert left >= now["minimum"]
