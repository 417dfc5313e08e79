"""Verdicts where relations connect values with counts, against the enumeration of all worlds; some codes have no record."""

from collections import Counter

import pytest

from reference.tied_worlds import TiedHistory, make_tied
from reticent.releases.verdict import Outcome
from reticent.releases.verifier import verify


def judged(history: TiedHistory, seed: int) -> str:
    """How a history ends."""
    scene = history.scene
    known = scene.told()
    classes = known.classes
    system = scene.system([(known.related, known.last)])
    system.insiders = ""
    for number, release in enumerate(history.releases, start=1):
        told, classes = scene.with_relations(release, classes)
        verdict = system.judge(told)
        if verdict.outcome is Outcome.UNDECIDED:
            return "undecided"
        assert verdict.safe == history.truly_safe(number), f"history {seed}, release {number}: {verdict.sentence()}"
        if not verdict.safe:
            return "exposed"
        system.accept(verdict)
        assert verify([scene.grounded.ground], system.accepted, system.witnesses()), f"history {seed}"
    return "safe"


def shares(seeds: range) -> dict[str, float]:
    ends = Counter(judged(make_tied(seed), seed) for seed in seeds)
    return {end: number / len(seeds) for end, number in ends.items()}


def test_verdicts_are_those_of_enumeration() -> None:
    found = shares(range(60))
    assert found["safe"] >= 0.2
    assert found["exposed"] >= 0.2
    assert found.get("undecided", 0.0) <= 0.02


@pytest.mark.deep
@pytest.mark.parametrize("block", range(5))
def test_five_thousand_histories(block: int) -> None:
    found = shares(range(1_000 * block, 1_000 * (block + 1)))
    assert found["safe"] >= 0.2
    assert found["exposed"] >= 0.2
    assert found.get("undecided", 0.0) <= 0.01
