"""Releases judged together: the example of a table and a query, a table and a file, responses and versions that relate."""

import numpy as np
import pytest

from reference.joint_worlds import same_unknowns
from reticent.base.errors import DataError, NotProtectedError, ParameterError
from reticent.data.facts import COUNT, OWN, Fact, Facts, Ground, Term, Watch
from reticent.releases.explain import explain
from reticent.releases.joint import JointSystem
from reticent.releases.programs import Limits
from reticent.releases.unknowns import Version
from reticent.releases.verdict import Outcome
from reticent.releases.verifier import verify


def ints(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def total(response: str, *places: int) -> tuple[Term, ...]:
    return (Term.total(response, ints(*places)),)


REGIONS, SECTORS = ("A", "B"), ("x", "y", "z", "w")
TURNOVER = ints(120, 340, 508, 77, 260, 150, 310, 95)


def ground(units: int = 8, *, complete: bool = True, **bounds: tuple[int | None, int | None]) -> Ground:
    """Regions by sectors: one unit per cell, and cell = 4 · region + sector."""
    codes = ints(*(c for r in range(2) for s in range(4) for c in (r, s))).reshape(8, 2)
    atoms = np.arange(units) % 8
    return Ground(("region", "sector"), (REGIONS, SECTORS), codes, atoms, np.arange(units), bounds, complete)


def cells_table(hidden: set[int]) -> Facts:
    """Turnover by region and sector with all margins; hidden cells are watched within 25 %."""
    groups = [[c] for c in range(8)] + [[0, 1, 2, 3], [4, 5, 6, 7], list(range(8))] + [[s, s + 4] for s in range(4)]
    facts = [
        Fact.exact(total("turnover", *group), int(TURNOVER[group].sum()))
        for group in groups
        if set(group) - hidden or len(group) > 1
    ]
    watches = []
    for c in sorted(hidden):
        value, name = int(TURNOVER[c]), f"{REGIONS[c // 4]}×{SECTORS[c % 4]}"
        watches.append(Watch("turnover", ints(c), ints(1), value * 3 // 4, value * 5 // 4, name, "table T"))
    return Facts("table T", tuple(facts), watches=tuple(watches))


def query() -> Facts:
    """SUM(turnover) of region A in the sectors z and w."""
    return Facts("answer 1", (Fact.exact(total("turnover", 2, 3), int(TURNOVER[[2, 3]].sum())),))


def system(**options: object) -> JointSystem:
    own = Version(ground(turnover=(0, None)), None, {"turnover": TURNOVER})
    return JointSystem([own], **options)  # type: ignore[arg-type]


def test_table_then_query_and_query_then_table_are_both_refused() -> None:
    """A×z is hidden with A×y; A×w is published, so the sum of z and w gives the hidden cell."""
    hidden = {1, 2, 5, 6}
    for first, second in ((cells_table(hidden), query()), (query(), cells_table(hidden))):
        joint = system()
        assert joint.judge(second).safe, "each alone is safe"
        joint.accept(first)
        verdict = joint.judge(second)
        assert verdict.outcome is Outcome.EXPOSED
        assert {"table T", "answer 1"} <= set(verdict.exposures[0].releases)
        assert "table T" in verdict.sentence()
        assert "answer 1" in verdict.sentence()
        with pytest.raises(NotProtectedError, match="refused"):
            joint.accept(second)


def test_a_query_that_follows_from_the_table_is_answered() -> None:
    joint = system()
    joint.accept(cells_table({1, 2, 5, 6}))
    both = Facts("answer 2", (Fact.exact(total("turnover", 1, 2), int(TURNOVER[[1, 2]].sum())),))
    assert joint.judge(both).safe
    joint.accept(both)
    assert verify([joint.versions[0].ground], joint.accepted, joint.witnesses())


def counts_table() -> Facts:
    """Counts by region and sector: A×x and A×y, B×x and B×y are hidden, margins are shown; all others are 0."""
    facts = [Fact.exact(total(COUNT, *places), n) for places, n in (((0, 1), 4), ((4, 5), 4), ((0, 4), 4), ((1, 5), 4))]
    facts += [Fact.exact(total(COUNT, c), 0) for c in (2, 3, 6, 7)]
    watch = Watch(COUNT, ints(0), ints(1), 1, 3, "A×x", "table T")
    return Facts("table T", tuple(facts), watches=(watch,))


def file_with_blanks(blanked: int) -> Facts:
    """Keys of eight records, two per cell; this many of A have their sector blanked, half of x, half of y."""
    facts = [Fact.exact((*total(OWN, 0, 1),), blanked)]
    for atom, own in ((0, 0), (1, 1)):
        flow = (Term.total(COUNT, ints(atom)), Term(OWN, ints(own), ints(-1)))
        facts.append(Fact.exact(flow, 2 - blanked // 2))
    return Facts("file F", tuple(facts), ((0, None), (0, None)))


def test_a_table_and_a_file_that_are_safe_alone_but_not_together_and_a_twin_that_is() -> None:
    units = ints(0, 0, 1, 1, 4, 4, 5, 5)
    own = ground(complete=True)
    version = Version(Ground(own.variables, own.categories, own.codes, units, np.arange(8), {}, True))
    watch = Facts("policy", (), watches=(Watch(COUNT, ints(0), ints(1), 1, 3, "A×x", "policy"),))
    for blanked, safe in ((2, True), (4, True)):
        alone = JointSystem([version])
        alone.accept(watch)
        assert alone.judge(file_with_blanks(blanked)).safe is safe
    without = JointSystem([version])
    without.accept(counts_table())
    twin = without.judge(file_with_blanks(4))
    assert twin.safe
    more = Facts("answer 3", (Fact(total(COUNT, 0), 2, None),))
    assert without.judge(more).outcome is Outcome.EXPOSED, "the lower end 1 is excluded"
    without.accept(twin)
    assert verify([version.ground], without.accepted, without.witnesses())
    joint = JointSystem([version])
    joint.accept(counts_table())
    pinned = Facts("file G", (Fact.exact((Term.total(COUNT, ints(0)), Term(OWN, ints(0), ints(-1))), 2),
                              Fact.exact((Term.total(COUNT, ints(1)), Term(OWN, ints(1), ints(-1))), 1),
                              Fact.exact(total(OWN, 0, 1), 1)), ((0, 1), (0, 1)))  # fmt: skip
    alone = JointSystem([version])
    assert alone.judge(pinned).safe
    verdict = joint.judge(pinned)
    assert verdict.outcome is Outcome.EXPOSED
    assert "file G" in verdict.exposures[0].releases


def test_responses_that_a_fact_relates_are_judged_together() -> None:
    """Profit = turnover − costs, stated per unit: exact turnover and costs expose the hidden profit."""
    truth = {"turnover": ints(9, 7), "costs": ints(4, 3), "profit": ints(5, 4)}
    own = Ground(("unit",), (("u", "v"),), ints(0, 1).reshape(2, 1), ints(0, 1), ints(0, 1), {}, True)
    joint = JointSystem([Version(own, None, truth)])
    joint.accept(Facts("policy", (), watches=(Watch("profit", ints(0), ints(1), 3, 7, "profit of u", "policy"),)))
    for name in ("turnover", "costs"):
        joint.accept(Facts(name, (Fact.exact(total(name, 0), int(truth[name][0])),)))
    ties = tuple(
        Fact.exact((Term("turnover", ints(u), ints(1)), Term("costs", ints(u), ints(-1)), Term("profit", ints(u), ints(-1))), 0)
        for u in range(2)
    )  # fmt: skip
    verdict = joint.judge(Facts("relation", ties))
    assert verdict.outcome is Outcome.EXPOSED
    assert set(verdict.exposures[0].releases) == {"turnover", "costs", "relation"}


def versions(second: np.ndarray) -> list[Version]:
    own = Ground(("unit",), (("u",),), ints(0).reshape(1, 1), ints(0, 0, 0), ints(0, 1, 2), {"t": (0, 50)}, True)
    later = Ground(("unit",), (("u",),), ints(0).reshape(1, 1), ints(0, 0), ints(0, 1), {"t": (0, 50)}, True)
    return [Version(own, ints(7, 8, 9), {"t": ints(20, 25, 30)}), Version(later, ints(7, 8), {"t": second})]


@pytest.mark.parametrize(("second", "safe"), [(ints(20, 25), False), (ints(20, 26), True)])
def test_who_leaves_is_known_unless_others_change(second: np.ndarray, safe: bool) -> None:
    """The total of both versions gives the value of the record that left, if no other changed."""
    both = versions(second)
    joint = JointSystem(both)
    watch = Watch("t", ints(2), ints(1), 25, 35, "the third record", "policy")
    joint.accept(Facts("policy", (), watches=(watch,)), version=0)
    joint.accept(Facts("first total", (Fact.exact(total("t", 0, 1, 2), 75),)), version=0)
    verdict = joint.judge(Facts("second total", (Fact.exact(total("t", 0, 1), int(second.sum())),)), version=1)
    assert verdict.safe is safe
    if safe:
        joint.accept(verdict)
        witnesses = list(joint.witnesses())
        assert verify([own.ground for own in joint.versions], joint.accepted, witnesses, responses={"t"})
        marks, truths = [ints(7, 8, 9), ints(7, 8)], [own.values for own in both]
        assert all(same_unknowns(marks, truths, witness) for witness in witnesses)


def counted(first: np.ndarray, second: np.ndarray, marks: np.ndarray) -> JointSystem:
    """Two versions of records in two atoms; those of the first are 0, 1, …, `marks` are those of the second."""
    codes = ints(0, 1).reshape(2, 1)
    grounds = [Ground(("unit",), (("u", "v"),), codes, own, np.arange(len(own)), {}, True) for own in (first, second)]
    return JointSystem([Version(grounds[0], np.arange(len(first))), Version(grounds[1], marks)])


def hidden_count(joint: JointSystem, low: int, high: int, at: int = 0) -> None:
    watch = Watch(COUNT, ints(at), ints(1), low, high, "the first atom", "policy")
    joint.accept(Facts("policy", (), watches=(watch,)), version=0)


def test_a_count_of_those_who_stay_is_the_same_count() -> None:
    """One record of many left, from another atom: a hidden count is shown by the next version, except for that one."""
    for low, high, safe in ((2, 4, False), (2, 3, False), (3, 4, True)):
        joint = counted(ints(0, 0, 0, 1, 1, 1, 1), ints(0, 0, 0, 1, 1, 1), np.arange(6))
        hidden_count(joint, low, high)
        verdict = joint.judge(Facts("second", (Fact.exact(total(COUNT, 0), 3),)), version=1)
        assert verdict.safe is safe, "who left may have been there, and nobody came"
        if safe:
            joint.accept(verdict)
            assert joint.checked() == 1


def test_who_moves_leaves_both_counts_open_by_one() -> None:
    """Somebody moved: where from and where to is open, so that each count differs by one at most."""
    for low, high, safe in ((3, 5, True), (3, 4, True), (2, 4, False), (3, 6, False)):
        joint = counted(ints(0, 0, 0, 1, 1, 1, 1), ints(0, 0, 0, 1, 1, 1, 0), np.arange(7))
        hidden_count(joint, low, high)
        verdict = joint.judge(Facts("second", (Fact.exact(total(COUNT, 0), 4),)), version=1)
        assert verdict.safe is safe
        if safe:
            joint.accept(verdict)
            assert joint.checked() == 1


def test_codes_that_all_change_by_a_rule_are_followed() -> None:
    """Everybody of u is now called v and the other way round: the count of v then is that of u before."""
    joint = counted(ints(0, 0, 0, 1, 1, 1, 1), ints(1, 1, 1, 0, 0, 0, 0), np.arange(7))
    hidden_count(joint, 2, 4)
    assert joint.judge(Facts("second", (Fact.exact(total(COUNT, 0), 4),)), version=1).safe
    verdict = joint.judge(Facts("second", (Fact.exact(total(COUNT, 1), 3),)), version=1)
    assert verdict.outcome is Outcome.EXPOSED
    assert set(verdict.exposures[0].releases) == {"second"}


def test_versions_without_marks_cannot_be_linked() -> None:
    both = [Version(own.ground, None, own.values) for own in versions(ints(20, 25))]
    with pytest.raises(DataError, match="record marks"):
        JointSystem(both).judge(Facts("first", (Fact.exact(total("t", 0), 20),)), version=0)


def test_facts_that_cannot_be_true_together_are_refused_in_a_sentence() -> None:
    joint = system()
    joint.accept(query())
    for wrong in (Fact.exact(total("turnover", 2, 3), 1), Fact.exact(total("turnover", 2), 10_000)):
        with pytest.raises(DataError, match="contradicts"):
            joint.judge(Facts("import", (wrong,)))


def test_what_is_not_settled_within_the_limits_is_refused() -> None:
    joint = system(limits=Limits(steps=1, nodes=1))
    verdict = joint.judge(cells_table({1, 2, 5, 6}))
    assert verdict.outcome is Outcome.UNDECIDED
    assert not verdict.safe
    assert "could not be settled" in verdict.sentence()


def test_a_verdict_is_for_the_releases_it_was_made_with() -> None:
    joint = system()
    verdict = joint.judge(query())
    joint.accept(Facts("other", (Fact.exact(total("turnover", 0), 120),)))
    with pytest.raises(ParameterError, match="judge it again"):
        joint.accept(verdict)


def test_an_incomplete_list_of_atoms_leaves_an_exposure_of_counts_undecided() -> None:
    own = ground(complete=False)
    joint = JointSystem([Version(own)])
    joint.accept(Facts("policy", (), watches=(Watch(COUNT, ints(0), ints(1), 0, 3, "A×x", "policy"),)))
    verdict = joint.judge(Facts("table", (Fact.exact(total(COUNT, 0), 1),)))
    assert verdict.outcome is Outcome.UNDECIDED


def test_what_is_not_certified_is_named_by_every_later_verdict() -> None:
    joint = system()
    joint.accept(Facts("noisy file", (), certified=False, beyond="averages of noise"))
    assert joint.judge(query()).uncertified == ("noisy file",)


def test_what_is_out_already_is_taken_in_and_may_not_become_worse() -> None:
    """An old table that hides too little: its hidden cell keeps the interval that it has."""
    joint = system()
    narrow = Fact(total("turnover", 2), 490, 520)
    watch = Watch("turnover", ints(2), ints(1), 300, 700, "A×z", "old table")
    verdict = joint.take_published(Facts("old table", (narrow,), watches=(watch,)))
    assert verdict.outcome is Outcome.EXPOSED
    assert joint.judge(Facts("answer 1", (Fact(total("turnover", 2), 400, 600),))).safe, "it reveals nothing new"
    for low, high in ((491, 520), (490, 519)):
        assert joint.judge(Facts("answer 2", (Fact(total("turnover", 2), low, high),))).outcome is Outcome.EXPOSED


def test_a_system_restored_from_its_state_judges_the_same_without_new_work() -> None:
    joint = system()
    joint.accept(cells_table({1, 2, 5, 6}))
    joint.accept(Facts("answer 2", (Fact.exact(total("turnover", 1, 2), int(TURNOVER[[1, 2]].sum())),)))
    again = system(limits=Limits(steps=1, nodes=1))
    again.restore(joint.accepted, joint.state())
    assert verify([again.versions[0].ground], again.accepted, again.witnesses())
    implied = Facts("answer 3", (Fact.exact(total("turnover", 5, 6), int(TURNOVER[[5, 6]].sum())),))
    assert again.judge(implied).safe, "kept movements need no program"
    assert again.judge(query()).outcome is Outcome.UNDECIDED, "a program would be needed"
    state = {name: array[:-1] if name.endswith("center") else array for name, array in joint.state().items()}
    with pytest.raises(DataError, match="snapshot"):
        system().restore(joint.accepted, state)


def test_an_explanation_names_relations_in_codes() -> None:
    joint = system()
    joint.accept(cells_table({1, 2, 5, 6}))
    lines = explain(joint, query(), joint.judge(query()))
    assert "answer 1" in lines[0]
    assert "total of turnover where region = A and sector in (z, w) (answer 1)" in lines[1]
