"""What a ledger holds of a hull: numbers that read back, and a hull that is never drawn with others."""

import json
from dataclasses import replace

import pytest

from reticent.ledger.chain import LedgerError
from reticent.queries.camouflage.record import CamouflageOptions, Drawn, HullRecord, Recorded
from reticent.queries.policy import Bounds, Policy

POLICY = Policy(
    filters=("sex", "age"), responses=("pay",), cutpoints={"age": (30.0, 50.0)}, bounds={"pay": Bounds(0.0, 1e6)}
)
TODAY = Drawn.of(POLICY, CamouflageOptions(), "pay")


def record(digest: str = "abc", **changes: object) -> HullRecord:
    return HullRecord("pay", "1", replace(TODAY, **changes), digest)  # type: ignore[arg-type]


def test_policy_and_options_give_the_numbers() -> None:
    assert (TODAY.low, TODAY.high, TODAY.integer) == (0.0, 1e6, False)
    assert TODAY.filters == ("sex", "age")
    free = Drawn.of(Policy(responses=("pay",)), CamouflageOptions(bands={"pay": (0.0, 10.0)}), "pay")
    assert (free.low, free.high) == (None, None)
    assert free.bands == (0.0, 10.0)


def test_a_record_reads_back_from_text() -> None:
    again = HullRecord.from_json(json.loads(json.dumps(record().as_json())))
    assert again == record()


def test_a_record_of_another_program_is_refused() -> None:
    plain = {**record().as_json(), "format": 99}
    with pytest.raises(LedgerError, match="a hull of another version of the program"):
        HullRecord.from_json(plain)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"percent": 99.0}, "drawn with percent = "),
        ({"least": 123.0}, "drawn with least = "),
        ({"insiders": 5}, "drawn with insiders = "),
        ({"unit": 0.5}, "drawn with unit = "),
        ({"bands": (1.0, 2.0)}, "drawn with bands = "),
        ({"low": None}, "drawn with bounds: low = 0.0, the policy says none"),
        ({"high": 5.0}, "drawn with bounds: high = "),
        ({"integer": True}, "drawn with bounds: integer = false, the policy says true"),
        ({"known": ("p1",)}, "other known respondents"),
    ],
)
def test_a_hull_has_one_width_for_ever(change: dict[str, object], words: str) -> None:
    with pytest.raises(LedgerError, match=words):
        TODAY.refuse_others(replace(TODAY, **change), "pay")  # type: ignore[arg-type]


def test_filters_may_change() -> None:
    other = replace(TODAY, filters=("sex",), cutpoints={})
    TODAY.refuse_others(other, "pay")
    held = Recorded([record().as_json()])
    assert held.drawn(other, "pay") == TODAY  # what the ledger holds decides who shares a block


def test_without_a_record_today_counts() -> None:
    assert Recorded([]).drawn(TODAY, "pay") is TODAY


def test_a_new_hull_is_noted_and_a_known_one_compared() -> None:
    held = Recorded([record().as_json()])
    held.compare(record())
    assert held.fresh == []
    later = replace(record(), version="2", digest="other")
    held.compare(later)
    assert held.fresh == [later]
    with pytest.raises(LedgerError, match="cannot be drawn as it was"):
        held.compare(record(digest="changed"))
