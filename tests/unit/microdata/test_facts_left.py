"""What each masking method leaves: a world agrees with its facts just if the method can show this file for it."""

import math
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest

from fact_worlds import (
    Record,
    can_come,
    check_counts,
    check_values,
    count_worlds,
    counts_in,
    data_of,
    records_of,
    released,
    satisfied,
)
from reticent.base.errors import DataError
from reticent.base.randomness import as_secret
from reticent.data.facts import COUNT
from reticent.data.microdata import Microdata
from reticent.data.parameters import build
from reticent.data.published import release_file
from reticent.data.schema import Role, Schema, Variable
from reticent.microdata.facts.file import facts_left, seen_of
from reticent.microdata.mask import METHODS
from reticent.microdata.mask.generalize import Generalize
from reticent.microdata.mask.local_suppression import LocalSuppression
from reticent.microdata.mask.microaggregation import Microaggregate
from reticent.microdata.mask.recode import Recode
from reticent.microdata.mask.reorder import Reorder
from reticent.microdata.mask.round_values import RoundValues
from reticent.microdata.mask.sampling import Sample
from reticent.microdata.mask.top_code import BottomCode, TopCode
from reticent.microdata.pipeline import apply_steps
from reticent.microdata.protect import protect_data
from reticent.tabulation.ground import ground_of
from reticent.tabulation.tied_facts import classes_of

PEOPLE: list[list[Record]] = [
    [("a1", "b1", 0), ("a1", "b1", 3), ("a2", "b2", 4), ("a3", "b1", 1)],
    [("a1", "b2", 2), ("a2", "b2", 2), ("a3", "b2", 0), ("a3", "b1", 4)],
    [("a1", "b1", 1), ("a1", "b2", 3), ("a2", "b1", 3), ("a2", "b1", 0)],
]
JOIN = {"a1": "low", "a2": "low", "a3": "high"}


def _joined(record: Record) -> list[Record]:
    return [(JOIN[record[0]], *record[1:])]


def _blanked(record: Record) -> list[Record]:
    return [(a, b, *record[2:]) for a in (record[0], None) for b in (record[1], None)]


def _rounded(how: str, base: int) -> Any:
    def images(record: Record) -> list[Record]:
        if len(record) < 3:
            return [record]
        low, value = record[2] // base * base, record[2]
        high = low if low == value else low + base
        near = high if value - low >= base / 2 else low
        shown = {"down": [low], "up": [high], "random": [low, high], "nearest": [near]}[how]
        return [(*record[:2], float(one)) for one in shown]

    return images


def _coded(limit: int, new: float, sign: int = 1) -> Any:
    def images(record: Record) -> list[Record]:
        if len(record) < 3:
            return [record]
        return [(*record[:2], float(new if sign * (record[2] - limit) > 0 else record[2]))]

    return images


@pytest.mark.parametrize("people", PEOPLE)
def test_an_untouched_file_tells_every_count_and_every_value(people: list[Record]) -> None:
    data, grounded = data_of(people)
    file, facts = released(data, grounded, [Reorder()])
    assert facts.certified
    assert not facts.own
    assert check_counts(grounded, file, facts, lambda record: [record])[0] == 1
    assert check_values(grounded, file, facts, lambda record: [record])[0] == 1


@pytest.mark.parametrize("people", PEOPLE)
def test_recoding_tells_unions_of_codes_and_which_values_they_share(people: list[Record]) -> None:
    data, grounded = data_of(people)
    file, facts = released(data, grounded, [Recode("a", map=JOIN)])
    assert facts.certified
    yes, no = check_counts(grounded, file, facts, _joined)
    assert yes > 1
    assert no
    check_values(grounded, file, facts, _joined)


def test_a_code_that_the_recoding_does_not_cover_cannot_have_been_there() -> None:
    people = [("a1", "b1", 0), ("a2", "b1", 3), ("a2", "b2", 4)]
    data, grounded = data_of(people)
    file, facts = released(data, grounded, [Recode("a", map={"a1": "low", "a2": "low"})])
    check_counts(grounded, file, facts, lambda r: [("low", *r[1:])] if r[0] in ("a1", "a2") else [])


@pytest.mark.slow
@pytest.mark.parametrize("people", PEOPLE)
def test_blanks_are_a_transport_problem(people: list[Record]) -> None:
    data, grounded = data_of(people)
    file, facts = released(data, grounded, [LocalSuppression(k=2)])
    assert any(None in record for record in records_of(file))
    assert facts.certified
    yes, no = check_counts(grounded, file, facts, _blanked)
    assert yes > 1
    assert no
    check_values(grounded, file, facts, _blanked)


def test_recoding_and_blanks_together() -> None:
    data, grounded = data_of(PEOPLE[1])
    file, facts = released(data, grounded, [Recode("a", map=JOIN), LocalSuppression(k=2)])

    def images(record: Record) -> list[Record]:
        return [shown for joined in _joined(record) for shown in _blanked(joined)]

    check_counts(grounded, file, facts, images)
    check_values(grounded, file, facts, images)


@pytest.mark.parametrize("how", ["nearest", "random", "down", "up"])
@pytest.mark.parametrize("base", [2, 3])
def test_rounding_tells_an_interval_per_record(how: str, base: int) -> None:
    for seed, people in enumerate(PEOPLE):
        data, grounded = data_of(people)
        file, facts = released(data, grounded, [RoundValues(("v",), base=base, how=how)], seed)
        assert facts.certified
        yes, no = check_values(grounded, file, facts, _rounded(how, base))
        assert yes > 1
        assert no


def test_rounding_to_listed_points() -> None:
    data, grounded = data_of(PEOPLE[0])
    file, facts = released(data, grounded, [RoundValues(("v",), points=(1.0, 3.0))])

    def images(record: Record) -> list[Record]:
        return [(*record[:2], 1.0 if record[2] < 2 else 3.0)]

    yes, no = check_values(grounded, file, facts, images)
    assert yes > 1
    assert no


def test_rounding_and_top_coding_after_each_other() -> None:
    data, grounded = data_of(PEOPLE[0])
    steps = [RoundValues(("v",), base=2), TopCode("v", value=3)]
    file, facts = released(data, grounded, steps)

    def images(record: Record) -> list[Record]:
        return [shown for one in _rounded("nearest", 2)(record) for shown in _coded(3, 3)(one)]

    check_values(grounded, file, facts, images)


@pytest.mark.parametrize("people", PEOPLE)
@pytest.mark.parametrize("limit", [1, 2])
def test_top_and_bottom_coding(people: list[Record], limit: int) -> None:
    for step, sign in ((TopCode("v", value=limit), 1), (BottomCode("v", value=limit), -1)):
        data, grounded = data_of(people)
        file, facts = released(data, grounded, [step])
        assert facts.certified
        yes, _ = check_values(grounded, file, facts, _coded(limit, limit, sign))
        assert yes > 1
    data, grounded = data_of(people)
    file, facts = released(data, grounded, [TopCode("v", value=limit, replacement=9)])
    check_values(grounded, file, facts, _coded(limit, 9))


def test_a_tail_replaced_by_its_mean_tells_its_sum() -> None:
    people = [("a1", "b1", 1), ("a1", "b2", 3), ("a2", "b1", 2), ("a2", "b2", 4)]
    data, grounded = data_of(people)
    file, facts = released(data, grounded, [TopCode("v", value=1, replacement="mean", k=2, p=0)])
    assert facts.certified

    def comes(world: list[Record]) -> bool:
        tail = [value for *_, value in world if value > 1]
        mean = math.fsum(tail) / len(tail) if tail else 0.0
        shown = [(*key, mean if value > 1 else float(value)) for *key, value in world]
        return sorted(shown) == sorted(records_of(file))

    yes, no = check_values(grounded, file, facts, lambda record: [record], true=comes)
    assert yes > 1
    assert no


def test_a_computed_limit_is_not_certified() -> None:
    data, grounded = data_of(PEOPLE[0])
    _, facts = released(data, grounded, [TopCode("v", quantile=0.5)])
    assert not facts.certified
    assert "limit" in facts.beyond


@pytest.mark.parametrize("people", PEOPLE)
def test_generalisation_tells_what_recoding_does(people: list[Record]) -> None:
    data, grounded = data_of(people)
    file, facts = released(data, grounded, [Generalize(("a", "b"), k=2, suppression=0.5)])
    total = "*"
    seen = records_of(file)

    def images(record: Record) -> list[Record]:
        # a file has one level for each key, which the published codes show
        levels = []
        for at in (0, 1):
            coarse = all(one[at] is None or one[at] not in {r[at] for r in people} for one in seen)
            levels.append(next((one[at] for one in seen if one[at] is not None), total) if coarse else record[at])
        return [(*levels, *record[2:]), (None, None, *record[2:])]

    assert facts.certified
    check_counts(grounded, file, facts, images)
    check_values(grounded, file, facts, images)


@pytest.mark.parametrize("fraction", [0.5, 0.75])
def test_a_sample_tells_its_records_and_the_size(fraction: float) -> None:
    people = [("a1", "b1", 0), ("a1", "b1", 3), ("a2", "b2", 4), ("a3", "b1", 1)]
    for seed in (1, 2, 3):
        data, grounded = data_of(people)
        file, facts = released(data, grounded, [Sample(fraction)], seed)
        n = file.n_records
        assert facts.certified

        def fits(size: int, n: int = n) -> bool:
            return bool(max(1, np.round(fraction * size)) == n)

        yes, no = check_counts(grounded, file, facts, lambda record: [record], more=2, fits=fits)
        assert yes > 1
        assert no
        check_values(grounded, file, facts, lambda record: [record])


def test_a_stratified_sample_shows_which_strata_are_empty() -> None:
    people = [("a1", "b1", 0), ("a1", "b1", 3), ("a2", "b2", 4), ("a2", "b1", 1)]
    data, grounded = data_of(people)
    file, facts = released(data, grounded, [Sample(0.5, strata=("a",))])
    assert facts.certified
    shown = [record[:2] for record in records_of(file)]
    for size in (0, 1, 2, 3):
        for world in count_worlds(2 + size):
            there = {a: sum(r[0] == a for r in world) for a in ("a1", "a2", "a3")}
            wanted = {a: max(1, np.round(0.5 * n)) if n else 0 for a, n in there.items()}
            drawn = all(wanted[a] == sum(r[0] == a for r in shown) for a in there)
            true = bool(drawn and can_come(world, shown, lambda record: [record]))
            assert satisfied(facts, {"*": counts_in(grounded, world)}) == true


def _partitions(members: list[int], least: int) -> Iterator[list[list[int]]]:
    """All ways to put some members into groups of at least this many."""
    if not members:
        yield []
        return
    first, rest = members[0], members[1:]
    for size in range(least - 1, len(rest) + 1):
        for others in combinations(rest, size):
            left = [one for one in rest if one not in others]
            for more in _partitions(left, least):
                yield [[first, *others], *more]


@pytest.mark.slow
@pytest.mark.parametrize(
    "people",
    [
        [("a1", "b1", 0), ("a1", "b1", 1), ("a2", "b2", 4), ("a3", "b1", 3)],
        [("a1", "b1", 0), ("a1", "b2", 1), ("a1", "b2", 3), ("a3", "b1", 4), ("a3", "b2", 1)],
        [("a1", "b1", 2), ("a1", "b1", 2), ("a1", "b1", 0), ("a2", "b1", 4)],
    ],
)
def test_microaggregation_tells_the_sums_of_its_groups(people: list[Record]) -> None:
    data, grounded = data_of(people)
    file, facts = released(data, grounded, [Microaggregate(("v",), k=2)])
    assert facts.certified
    shown = sorted((a, b, round(v, 9)) for a, b, v in records_of(file))

    def comes(world: list[Record]) -> bool:
        for groups in _partitions(list(range(len(world))), 2):
            means = {who: math.fsum(world[i][2] for i in group) / len(group) for group in groups for who in group}
            if sorted((*world[i][:2], round(means[i], 9)) for i in range(len(world))) == shown:
                return True
        return False

    yes, no = check_values(grounded, file, facts, lambda record: [record], true=comes)
    assert yes > 1
    assert no
    check_counts(grounded, file, facts, lambda record: [record])


@pytest.mark.slow
def test_blanks_and_microaggregation_together() -> None:
    people = [("a1", "b1", 0), ("a2", "b1", 1), ("a2", "b2", 4), ("a1", "b2", 3)]
    data, grounded = data_of(people)
    file, facts = released(data, grounded, [LocalSuppression(k=2), Microaggregate(("v",), k=2)])
    shown = [(a, b, None if v is None else round(v, 9)) for a, b, v in records_of(file)]

    def comes(world: list[Record]) -> bool:
        for groups in _partitions(list(range(len(world))), 2):
            means = {who: math.fsum(world[i][2] for i in group) / len(group) for group in groups for who in group}
            known = [(*world[i][:2], round(means[i], 9)) for i in range(len(world))]
            if can_come(known, shown, _blanked):
                return True
        return False

    yes, no = check_values(grounded, file, facts, _blanked, true=comes)
    assert yes > 1
    assert no


def test_missing_values_and_blanks_are_told_apart_where_the_file_does() -> None:
    people = [("a1", "b1", 0), ("a2", "b1", None), ("a2", None, 4), ("a1", "b2", 3)]
    data, grounded = data_of(people)
    _, facts = released(data, grounded, [Reorder()])
    assert facts.certified
    assert "v is missing" in grounded.ground.variables
    told = {tuple(t.places.tolist()): f.low for f in facts.facts for t in f.terms if t.response == "v" and f.is_exact}
    assert told == {(0,): 0, (2,): 4, (3,): 3}
    _, facts = released(data, grounded, [LocalSuppression(k=2, keys=("a", "b"))])
    true = {COUNT: grounded.counts, "v": grounded.whole("v")}
    assert satisfied(facts, true)


def test_the_facts_of_a_run_follow_from_its_record() -> None:
    people = [(a, b, v) for a in ("a1", "a2") for b in ("b1", "b2") for v in (0, 1, 2, 3)]
    data, grounded = data_of(people)
    steps = [Recode("a", map=JOIN), RoundValues(("v",), base=2)]
    run = protect_data(data, steps, most=1.0, secret=5, test_secret=True)
    recorded = [build(METHODS[record.method], record.parameters, owner=record.method) for record in run.result.steps]
    assert recorded == steps
    seen = seen_of(grounded, recorded, [record.facts for record in run.result.steps])
    facts = facts_left(grounded, run.result.masked, seen, release="file F")
    assert facts.certified
    assert satisfied(facts, {COUNT: grounded.counts, **grounded.values})
    coarse = facts_left(
        grounded, run.result.masked, seen, release="file F", classes=classes_of(grounded.ground, [facts])
    )
    assert len(coarse.own) <= len(facts.own)
    whole = np.zeros(grounded.ground.n_atoms, dtype=np.int64)
    assert len(facts_left(grounded, run.result.masked, seen, release="file F", classes=whole).own) < len(facts.own)


def test_a_file_that_the_plan_cannot_have_made_is_refused() -> None:
    data, grounded = data_of(PEOPLE[0])
    masked = apply_steps(data, [Recode("a", map=JOIN)], secret=as_secret(1))
    file = release_file(masked.data)
    with pytest.raises(DataError, match="the file or the plan was changed"):
        facts_left(grounded, file, seen_of(grounded, [Reorder()]), release="file F")


def test_several_codes_for_missing_values_look_alike_after_blanks() -> None:
    frame = pl.DataFrame({"a": ["a1", "a2", "8", "9", "a1"], "b": ["b1", "b2", "b1", "b1", "b2"]})
    missing = Variable("a", role=Role.KEY, codes=("a1", "a2"), missing=("9", "8"))
    data = Microdata.of(frame, Schema((missing, Variable("b", role=Role.KEY, codes=("b1", "b2")))))
    grounded = ground_of(data, ("a", "b"))
    _, plain = released(data, grounded, [Reorder()])
    assert plain.certified
    _, facts = released(data, grounded, [LocalSuppression(k=2)])
    assert facts.certified
    assert satisfied(facts, {COUNT: grounded.counts})
    links = seen_of(grounded, [LocalSuppression(k=2, frozen=("a",))]).views[0].links
    assert not links["a"].may_blank
    assert links["b"].may_blank
