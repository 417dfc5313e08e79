"""Verdicts over two versions of a data set against the enumeration of all small worlds; safe ones against the verifier too."""

from collections import Counter

import pytest

from reference.version_worlds import Case, Told, make_case, ways_of
from reticent.data.facts import COUNT
from reticent.releases.joint import JointSystem
from reticent.releases.verdict import Outcome


def judged(case: Case, seed: int) -> str:
    """How the releases of a case end: safe, exposed over versions, exposed within one version, undecided, or not comparable."""
    if case.response == COUNT:
        sizes = sorted((len(own) for own in ways_of(case).values()), reverse=True)
        if len(sizes) > 1 and sizes[0] == sizes[1]:
            return "no commonest way"
    system = JointSystem(case.given(), insiders="protect" if case.insiders else "")
    done: list[Told] = []
    for told in case.releases:
        verdict = system.judge(told.facts, version=told.version)
        if verdict.outcome is Outcome.UNDECIDED:
            return "undecided"
        truth = case.safe([*done, told])
        assert verdict.safe == truth, f"case {seed}: {verdict.sentence()}"
        if not truth:
            within = [one for one in [*done, told] if one.version == told.version]
            return "over versions" if case.safe(within) else "within one"
        system.accept(verdict)
        done.append(told)
        assert system.checked() >= 0
    return "safe"


def ends(seeds: range) -> Counter[str]:
    return Counter(judged(make_case(seed), seed) for seed in seeds)


def test_verdicts_over_versions_are_those_of_enumeration() -> None:
    found = ends(range(60))
    assert found["safe"] >= 15
    assert found["over versions"] >= 5
    assert found["undecided"] <= 1


@pytest.mark.deep
@pytest.mark.parametrize("block", range(10))
def test_many_cases(block: int) -> None:
    found = ends(range(500 * block, 500 * (block + 1)))
    assert found["safe"] >= 100
    assert found["over versions"] >= 40
    assert found["undecided"] <= 5
