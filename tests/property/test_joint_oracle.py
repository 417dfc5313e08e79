"""Verdicts of the joint system against the enumeration of all small worlds; safe ones against the verifier too."""

from collections import Counter

import pytest

from reference.joint_worlds import History, make_history
from reticent.releases import asking
from reticent.releases.joint import JointSystem
from reticent.releases.unknowns import Version
from reticent.releases.verdict import Outcome
from reticent.releases.verifier import verify


def judged(history: History, seed: int) -> str:
    """How a history ends: safe, exposed only jointly, exposed by one release alone, or undecided."""
    version = Version(history.world.ground, None, history.world.values)
    system = JointSystem([version], insiders="protect" if history.insiders else "")
    done = []
    for release in history.releases:
        verdict = system.judge(release.facts)
        if verdict.outcome is Outcome.UNDECIDED:
            return "undecided"
        truth = history.truly_safe([*done, release])
        assert verdict.safe == truth, f"history {seed}: {verdict.sentence()}"
        if not truth:
            assert verdict.exposures[0].releases, "an exposure names the releases it follows from"
            alone = history.each_alone_safe([*done, release])
            return "jointly" if alone else "alone"
        system.accept(verdict)
        done.append(release)
        assert verify([version.ground], system.accepted, system.witnesses()), f"history {seed}"
    return "safe"


def shares(seeds: range) -> dict[str, float]:
    ends = Counter(judged(make_history(seed), seed) for seed in seeds)
    return {end: number / len(seeds) for end, number in ends.items()}


def test_verdicts_are_those_of_enumeration() -> None:
    found = shares(range(40))
    assert found["safe"] >= 0.3
    assert found["jointly"] >= 0.3
    assert found.get("undecided", 0.0) <= 0.01


@pytest.mark.deep
@pytest.mark.parametrize("block", range(10))
def test_ten_thousand_histories(block: int) -> None:
    found = shares(range(1_000 * block, 1_000 * (block + 1)))
    assert found["safe"] >= 0.3
    assert found["jointly"] >= 0.3
    assert found.get("undecided", 0.0) <= 0.01


@pytest.mark.parametrize(
    "seeds", [range(40), pytest.param(range(40, 2_000), marks=pytest.mark.deep)], ids=["few", "many"]
)
def test_short_movements_give_no_other_verdicts(seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there are many classes, programs look for short movements first; here they do so with few."""
    monkeypatch.setattr(asking, "MANY", 0)
    found = shares(seeds)
    assert found["safe"] >= 0.3
    assert found.get("undecided", 0.0) <= 0.05


def test_the_verifier_refuses_what_is_changed() -> None:
    """Each witness of a safe history with one number changed is refused, or was not needed to be exact."""
    refused = tried = 0
    for seed in range(40):
        history = make_history(seed)
        version = Version(history.world.ground, None, history.world.values)
        system = JointSystem([version])
        for release in history.releases:
            verdict = system.judge(release.facts)
            if verdict.safe:
                system.accept(verdict)
        witnesses = list(system.witnesses())
        if not any(fact.is_exact for facts, _ in system.accepted for fact in facts.facts) or not witnesses:
            continue
        assert not verify([version.ground], system.accepted, witnesses[1:]), "each end of each watch needs one"
        values = witnesses[0].values[0, history.world.response]
        fact = next(fact for facts, _ in system.accepted for fact in facts.facts if fact.is_exact)
        term = next((t for t in fact.terms if t.response == history.world.response), None)
        if term is None:
            continue
        tried += 1
        before = values.copy()
        values[term.places[0]] += 1
        refused += not verify([version.ground], system.accepted, witnesses)
        values[:] = before
        assert verify([version.ground], system.accepted, witnesses)
    assert tried >= 10
    assert refused == tried
