# SPDX-License-Identifier: Apache-2.0
"""Checks a safe verdict from scratch: facts, watches and points in, yes or no out, in whole numbers.

It shares nothing with the search but the data types: no classes, no programs, no floats.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from reticent.base.arrays import Ints
from reticent.data.facts import OWN, Facts, Ground, Term


@dataclass(frozen=True, eq=False)
class Witness:
    """A point that reaches one end of a watch (by release and number): values per version and response.

    `own` has the auxiliary unknowns, by release and number.
    """

    release: int
    watch: int
    upper: bool
    values: Mapping[tuple[int, str], Ints]
    own: Mapping[tuple[int, int], int]


def verify(
    grounds: Sequence[Ground],
    history: Sequence[tuple[Facts, int]],
    witnesses: Iterable[Witness],
    *,
    responses: Collection[str] | None = None,
) -> bool:
    """Whether the witnesses show both ends of every watch (of some `responses`) possible under all facts of all releases.

    Facts that are about none of these responses are not looked at; no fact may relate one of them to any other.
    """
    left = {
        (release, number, upper)
        for release, (facts, _) in enumerate(history)
        for number, watch in enumerate(facts.watches)
        for upper in (True, False)
        if responses is None or watch.response in responses
    }
    for witness in witnesses:
        if not _within(grounds, witness) or not _true(history, witness, responses) or not _reaches(history, witness):
            return False
        left.discard((witness.release, witness.watch, witness.upper))
    return not left


def _within(grounds: Sequence[Ground], witness: Witness) -> bool:
    for (version, response), values in witness.values.items():
        low, high = grounds[version].bounds_of(response)
        if len(values) != grounds[version].size(response):
            return False
        if any((low is not None and x < low) or (high is not None and x > high) for x in values.tolist()):
            return False
    return True


def _true(history: Sequence[tuple[Facts, int]], witness: Witness, responses: Collection[str] | None) -> bool:
    """Whether all facts hold, and auxiliary unknowns are within their bounds."""
    for release, (facts, version) in enumerate(history):
        for number, (low, high) in enumerate(facts.own):
            if responses is not None and (release, number) not in witness.own:
                continue  # a fact that needs it fails below
            own = witness.own[release, number]
            if own < low or (high is not None and own > high):
                return False
        for fact in facts.facts:
            if responses is not None and not any(_is_about(term, responses, witness, release) for term in fact.terms):
                continue
            total = sum(_sum(term, witness, release, version) for term in fact.terms)
            if (fact.low is not None and total < fact.low) or (fact.high is not None and total > fact.high):
                return False
    return True


def _reaches(history: Sequence[tuple[Facts, int]], witness: Witness) -> bool:
    facts, version = history[witness.release]
    watch = facts.watches[witness.watch]
    total = _sum(Term(watch.response, watch.places, watch.weights), witness, witness.release, version)
    return total >= watch.high if witness.upper else total <= watch.low


def _is_about(term: Term, responses: Collection[str], witness: Witness, release: int) -> bool:
    if term.response == OWN:
        return any((release, place) in witness.own for place in term.places.tolist())
    return term.response in responses


def _sum(term: Term, witness: Witness, release: int, version: int) -> int:
    places, weights = term.places.tolist(), term.weights.tolist()
    if term.response == OWN:
        return sum(w * witness.own[release, p] for p, w in zip(places, weights, strict=True))
    values = witness.values[version, term.response]
    return sum(w * int(values[p]) for p, w in zip(places, weights, strict=True))
