"""The confidential report has what attackers of single steps find, not only the summary in JSON."""

from dataclasses import replace

import polars as pl

import reticent as rt
from reticent import mask
from reticent.microdata.pipeline import StepRecord
from reticent.report.page import Rows
from reticent.report.step_attacks_section import step_attack_blocks

PEOPLE = pl.DataFrame(
    {"sex": ["f", "m"] * 30, "town": [f"t{i % 7}" for i in range(60)], "job": [f"j{i % 11}" for i in range(60)]}
)
LIMITS = rt.RiskSection(most=1.0, attacks=("recount",))


def said(*steps: StepRecord) -> list[tuple[object, ...]]:
    data = rt.load(PEOPLE, keys=["sex", "town", "job"])
    run = data.protect([mask.LocalSuppression(k=3)], risk=LIMITS, secret=bytes(range(200, 232))[::-1], test_secret=True)
    result = run.found.result
    blocks = step_attack_blocks(replace(result, steps=steps) if steps else result)
    return [row for block in blocks if isinstance(block, Rows) for row in block.rows]


def step(method: str, **facts: object) -> StepRecord:
    return StepRecord(method, {}, {}, facts, (), 0.0)


def test_local_suppression_names_the_register_and_the_lower_bound_of_inferred_blanks() -> None:
    register, method = said()
    assert register[:2] == (1, "local-suppression")
    assert "whole register" in str(register[2])
    assert "with fewer than 3; the fewest candidates of a record are " in str(register[3])
    assert str(method[3]).startswith("at least (a lower bound; nothing is certified) 0 of ")
    large = step("local-suppression", k=3, register={"computed": False, "why": "more than 12 pairs"})
    assert said(large) == [(1, "local-suppression", register[2], "not computed: more than 12 pairs")]


def test_synthesis_shows_how_often_records_are_met() -> None:
    expected = {"used": 0.03, "held_back": 0.02}
    match = {
        "judged": True, "used": 0.05, "held_back": 0.04, "uniques_used": 0.06, "uniques_held_back": 0.03,
        "excess": 0.01, "standard_error": 0.005,
    }  # fmt: skip
    rows = [str(row[3]) for row in said(step("synthesize", expected=expected, match=match))]
    assert rows[0].startswith("meets 0.03 of the records that were used, 0.02 of those that were not")
    assert rows[1].endswith("; difference 0.01, standard error 0.005")
    assert "0.06" in rows[2]
    for untold, words in (
        ({"judged": False, "why": "half is too small"}, "not judged: half"),
        ("not judged: parts", "not judged"),
    ):
        assert said(step("synthesize", expected=expected, match=untold))[1][3].startswith(words)  # type: ignore[attr-defined]


def test_swaps_and_means_name_what_is_told() -> None:
    assert said(step("swap", rare=4, value_told=2))[0][3] == "the true value of 2 records: one other is possible"
    assert (
        said(step("record-swap", at_risk=4, area_told=3))[0][3] == "the true value of 3 records: one other is possible"
    )
    assert said(step("swap", rare=0, value_told=0), step("recode"), step("microaggregate", dominated_means=None)) == []
    assert "in 5 groups" in str(said(step("microaggregate", dominated_means=5))[0][3])
