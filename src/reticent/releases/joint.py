# SPDX-License-Identifier: Apache-2.0
"""The joint system: everything released of a data set, and the verdict for one more release."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from reticent.base.arrays import Array, Ints
from reticent.base.errors import DataError, NotProtectedError, ParameterError
from reticent.data.facts import COUNT, OWN, Fact, Facts, Term
from reticent.releases.judging import Inside, Judge
from reticent.releases.part import Part
from reticent.releases.programs import Limits
from reticent.releases.system import Layout, Share, System
from reticent.releases.unknowns import Columns, Version, columns_of, linked
from reticent.releases.verdict import Exposure, JointVerdict, Outcome
from reticent.releases.verifier import Witness, verify

Responses = frozenset[str]
KNOWN = "what was released before"


@dataclass(frozen=True, eq=False)
class _Trial:
    """The parts as they are once it is released."""

    number: int
    parts: dict[Responses, Part]
    facts: Facts
    version: int


class JointSystem:
    """All releases of the versions of a data set; `judge` says whether one more may go out, `accept` takes it in.

    A release is of the last version unless another one is named. What is known between versions comes after them.

    `insiders` says what respondents, who know their own values, are kept from: nothing more than everybody, exact values
    of what is watched, or everything within its required interval ("protect").
    """

    def __init__(self, versions: Sequence[Version], *, limits: Limits | None = None, insiders: Inside = "") -> None:
        if not versions:
            raise ParameterError("JointSystem: at least one version is needed.")
        self.versions, self.limits, self.insiders = tuple(versions), limits or Limits(), insiders
        self.current = len([own for own in versions if own.between is None]) - 1
        self.accepted: list[tuple[Facts, int]] = []
        self.parts: dict[Responses, Part] = {}
        self._columns: dict[str, Columns] = {}
        self._known_groups: set[Responses] = set()  # responses that known releases relate, which have no part yet
        if self.current > 0:
            if len(self.versions) == self.current + 1:
                self.versions = linked(versions)
            between = self.versions[-1].between
            assert between is not None  # it comes after all versions
            self.know(between.histories.facts(), version=self.current + 1)

    def judge(self, new: Facts, *, version: int | None = None, most_exposures: int = 1) -> JointVerdict:
        """Whether a release is safe together with all accepted ones; stops when this many exposures are found."""
        return self._judged(new, version, most_exposures, relax=False)

    def _judged(self, new: Facts, version: int | None, most_exposures: int, *, relax: bool) -> JointVerdict:
        number = self.current if version is None else version
        new.check(self.versions[number].ground)
        parts: dict[Responses, Part] = {}
        exposures: list[Exposure] = []
        for joined, share in _separated(new, self._groups()):
            if joined not in self.parts:
                self._make(joined)
            before = self.parts[joined]
            ruling = self._judge(before, share, number, joined).rule(most_exposures=most_exposures, relax=relax)
            parts[joined] = ruling.part
            exposures += ruling.exposures
        trial = _Trial(len(self.accepted), parts, new, number)
        outcome = Outcome.SAFE
        if exposures:
            outcome = Outcome.EXPOSED if any(one.proved for one in exposures) else Outcome.UNDECIDED
        return JointVerdict(new.release, outcome, tuple(exposures), self._uncertified(new), trial)

    def accept(self, new: Facts | JointVerdict, *, version: int | None = None) -> None:
        """Take a safe release in."""
        verdict = self.judge(new, version=version) if isinstance(new, Facts) else new
        if not verdict.safe:
            raise NotProtectedError(verdict.sentence())
        self._take(verdict)

    def take_published(self, facts: Facts, *, version: int | None = None) -> JointVerdict:
        """Take a release in that was released before, safe or not; returns what it exposes.

        What it exposes stays watched: later releases must leave possible what is possible now.
        """
        verdict = self._judged(facts, version, 10**9, relax=True)
        self._take(verdict)
        return verdict

    def _take(self, verdict: JointVerdict) -> None:
        trial: _Trial = verdict.trial
        if trial.number != len(self.accepted):
            raise ParameterError("JointSystem: other releases were accepted since the verdict; judge it again.")
        self._put(trial.parts)
        self.accepted.append((trial.facts, trial.version))

    def know(self, facts: Facts, *, version: int | None = None) -> None:
        """Take in a release that was judged safe before it was recorded; the work is done when something new is judged."""
        number = self.current if version is None else version
        facts.check(self.versions[number].ground)
        self.accepted.append((facts, number))
        told = {name for responses, _ in _separated(facts) for name in responses}
        self.parts = {own: part for own, part in self.parts.items() if not own & told}
        self._known_groups |= {responses for responses, _ in _separated(facts)}

    def witnesses(self) -> Iterator[Witness]:
        """For each watch and each of its ends a point that satisfies all that is accepted, for the verifier."""
        base = {joined: part.center() for joined, part in self.parts.items()}
        numbers = {id(watch): (release, k) for release, (facts, _) in enumerate(self.accepted)
                   for k, watch in enumerate(facts.watches)}  # fmt: skip
        for joined, part in self.parts.items():
            for sight, upper, point in part.points():
                release, watch = numbers[id(part.system.sights[sight].watch)]
                yield self._witness({**base, joined: point}, release, watch, upper=upper)

    def checked(self) -> int:
        """Prove again, in whole numbers and from nothing, that all that was judged holds; gives how many sums are watched.

        Watches of responses that nothing judged here touches were proved when they were judged, and are not counted.
        """
        responses = frozenset[str]().union(*self.parts)
        grounds = [version.ground for version in self.versions]
        if not verify(grounds, self.accepted, self.witnesses(), responses=responses):
            raise NotProtectedError("the verdict could not be proved again in whole numbers, so it does not count.")
        return sum(watch.response in responses for facts, _ in self.accepted for watch in facts.watches)

    def _witness(self, points: dict[Responses, Ints], release: int, watch: int, *, upper: bool) -> Witness:
        """Values per version and response, and auxiliary unknowns per release, from points of the parts."""
        values: dict[tuple[int, str], Ints] = {}
        own: dict[tuple[int, int], int] = {}
        for joined, point in points.items():
            system = self.parts[joined].system
            for name, columns in zip(system.layout.responses, system.layout.columns, strict=True):
                start = system.layout.starts[name]
                for version in range(len(self.versions)):
                    values[version, name] = columns.values(version, point[start : start + len(columns.low)])
            own.update(zip(system.own, point[system.layout.size :].tolist(), strict=True))
        return Witness(release, watch, upper, values, own)

    def _judge(self, before: Part, share: Share, version: int, joined: Responses) -> Judge:
        system = before.system
        # every part knows all names, so that the number of a release means the same everywhere
        names = tuple(own.release for own, _ in self.accepted)
        before = Part(replace(system, names=names), before.pool)
        told = system.layout.told(share, version, len(self.accepted), system.n_unknowns)
        complete = COUNT not in joined or all(own.ground.complete for own in self.versions)
        complete &= not any(own.assumes and own.responses() & (joined - {COUNT}) for own, _ in self.accepted)
        complete &= not (share.facts.assumes and joined - {COUNT})
        inside = "" if joined == {COUNT} else self.insiders
        return Judge(before, told, self.limits, insiders=inside, complete=complete)

    def state(self) -> dict[str, Array]:
        """What `restore` needs besides the accepted releases."""
        return {f"{number}.{name}": array for number, (joined, part) in enumerate(self.parts.items())
                for name, array in {"responses": np.array(sorted(joined)), **part.state()}.items()}  # fmt: skip

    def restore(self, accepted: Sequence[tuple[Facts, int]], state: Mapping[str, Array]) -> None:
        """Become the system that had accepted these releases (with their versions), without judging them again.

        What the state says is checked in whole numbers: what does not fit is looked for again.
        """
        self.accepted, self.parts = list(accepted), {}
        for number in sorted({name.split(".")[0] for name in state}, key=int):
            joined = frozenset(str(name) for name in state[f"{number}.responses"])
            own = {name.partition(".")[2]: array for name, array in state.items() if name.split(".")[0] == number}
            self.parts[joined] = self._rebuilt(joined).restored(own)

    def recall(self, state: Mapping[str, Array]) -> None:
        """Take over what a system of the same releases had worked out, and work out what is missing of it."""
        self.restore(self.accepted, state)
        for joined, part in list(self.parts.items()):
            self._make(joined, part)

    def _groups(self) -> list[Responses]:
        """Which responses belong together by what is known so far: no two groups overlap."""
        groups: list[Responses] = []
        for own in {*self.parts, *self._known_groups}:
            touched = [group for group in groups if group & own]
            groups = [group for group in groups if not group & own] + [own.union(*touched)]
        return groups

    def _make(self, joined: Responses, known: Part | None = None) -> None:
        """Make the part of some responses, and look for the movements of all that it watches: once, whatever is judged then.

        This is work on what was released before, so its steps are not those of the release that happens to be judged first.
        """
        part = known or self._rebuilt(joined)
        if part.system.sights:
            nothing = Share(Facts(KNOWN, ()), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
            judge = self._judge(part, nothing, self.current, joined)
            judge.budget.left = self.limits.release + self.limits.watch * len(part.system.sights)
            part = replace(part, pool=judge.rule(most_exposures=10**9).part.pool, system=judge.known())
        self._put({joined: part})

    def _put(self, made: dict[Responses, Part]) -> None:
        """Keep these parts, and no others of the same responses; which responses belong together stays known."""
        touched = frozenset[str]().union(*made)
        self._known_groups |= {*self.parts, *made}
        self.parts = {own: part for own, part in self.parts.items() if not own & touched} | made

    def _rebuilt(self, joined: Responses) -> Part:
        """The part of some responses from the accepted releases; movements are looked for when they are needed."""
        names = tuple(sorted(joined))
        system = System.empty(Layout(names, tuple(self._columns_of(name) for name in names)))
        for number, (facts, version) in enumerate(self.accepted):
            for responses, share in _separated(facts):
                if responses & joined:
                    system = system.with_release(system.layout.told(share, version, number, system.n_unknowns))
        return Part(system)

    def _columns_of(self, response: str) -> Columns:
        if response not in self._columns:
            if (
                self.insiders
                and response != COUNT
                and any(response not in own.values for own in self.versions[: self.current + 1])
            ):
                raise ParameterError(
                    f"JointSystem: insiders know their values of {response!r}, so these must be given."
                )
            self._columns[response] = columns_of(self.versions, response)
        return self._columns[response]

    def _uncertified(self, new: Facts) -> tuple[str, ...]:
        every = [*(facts for facts, _ in self.accepted), new]
        return tuple(dict.fromkeys(facts.release for facts in every if not facts.certified))


def _separated(facts: Facts, related: Sequence[Responses] = ()) -> list[tuple[Responses, Share]]:
    """A release as one for each set of responses that its facts relate, also by auxiliary unknowns.

    `related` are sets of responses that are related already: what the release tells of them belongs together.
    """
    groups: list[tuple[set[str | int], list[int]]] = [(set(own), []) for own in related]
    for number, fact in enumerate(facts.facts):
        names: set[str | int] = set()
        for term in fact.terms:
            names |= set(term.places.tolist()) if term.response == OWN else {term.response}
        touched = [group for group in groups if group[0] & names]
        if len(touched) == 1 and names <= touched[0][0]:
            touched[0][1].append(number)
            continue
        members = sorted([number, *(k for _, own in touched for k in own)])
        groups = [group for group in groups if not group[0] & names]
        groups.append((names.union(*(group for group, _ in touched)), members))
    for watch in facts.watches:
        if not any(watch.response in group for group, _ in groups):
            groups.append(({watch.response}, []))
    watched = {watch.response for watch in facts.watches}
    return [_share(facts, group, members) for group, members in groups if members or group & watched]


def _share(facts: Facts, group: set[str | int], members: list[int]) -> tuple[Responses, Share]:
    responses = frozenset(name for name in group if isinstance(name, str))
    if not responses:
        raise DataError(
            f"Facts of {facts.release}: auxiliary unknowns that no fact relates to a response reveal nothing."
        )
    own = np.array(sorted(place for place in group if isinstance(place, int)), dtype=np.int64)
    renamed = []
    for fact in (facts.facts[number] for number in members):
        terms = tuple(
            Term(OWN, np.searchsorted(own, term.places), term.weights) if term.response == OWN else term
            for term in fact.terms
        )
        renamed.append(Fact(terms, fact.low, fact.high))
    watches = tuple(watch for watch in facts.watches if watch.response in responses)
    bounds = tuple(facts.own[place] for place in own.tolist())
    part = replace(facts, facts=tuple(renamed), own=bounds, watches=watches)
    return responses, Share(part, np.array(members, dtype=np.int64), own)
