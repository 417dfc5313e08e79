"""Rules between variables that records show: which are believed, and which are accidents."""

import numpy as np

from reticent.tabulation.dependence import OPEN_CODE, ranges_of, rules_of

DISTRICT = np.repeat(np.arange(6), 4)
REGION = DISTRICT // 3


def test_a_code_that_another_determines() -> None:
    (rule,) = rules_of([DISTRICT, REGION], [7, 2])
    assert (rule.given, rule.then) == ((0,), 1)
    assert rule.codes.tolist() == [0, 0, 0, 1, 1, 1, OPEN_CODE, OPEN_CODE], "nobody is in the last one, or without one"
    atoms = np.array([[0, 0], [0, 1], [6, 0], [6, 1]])
    assert rule.possible(atoms).tolist() == [True, False, True, True]


def test_a_code_that_two_others_determine() -> None:
    sex, status = np.tile([0, 1], 20), np.repeat([0, 1], 20)
    widow = ((sex == 1) & (status == 1)).astype(np.int64)
    rules = {(rule.given, rule.then): rule for rule in rules_of([sex, status, widow], [2, 2, 2])}
    assert set(rules) == {((0, 1), 2)}
    atoms = np.array([[1, 1, 1], [1, 1, 0], [0, 1, 1], [0, 1, 0], [-1, 1, 1]])
    assert rules[(0, 1), 2].possible(atoms).tolist() == [True, False, False, True, True]


def test_missing_is_a_code() -> None:
    given = np.append(DISTRICT, [-1, -1])
    (rule,) = rules_of([given, np.append(REGION, [-1, -1])], [6, 2])
    assert rule.codes[-1] == -1


def test_a_rule_of_few_records_or_with_an_exception_is_none() -> None:
    assert rules_of([np.arange(8), np.arange(8) % 2], [8, 2]) == [], "each record has a code of its own"
    assert rules_of([DISTRICT, np.where(np.arange(24) == 5, 1, REGION)], [6, 2]) == []
    assert rules_of([DISTRICT, np.zeros(24, dtype=np.int64)], [6, 1]) == [], "that all are alike says nothing"


def test_numbers_that_go_with_codes() -> None:
    years = np.array([3.0, 5.0, 5.0, 8.0, 12.0, 12.0])[DISTRICT]
    found = ranges_of("school", years, "edu", DISTRICT, 6)
    assert found is not None
    assert found.determined
    assert found.low.tolist() == [3.0, 5.0, 5.0, 8.0, 12.0, 12.0, -np.inf]


def test_a_number_that_lies_in_bands() -> None:
    age = np.arange(24.0)
    found = ranges_of("age", age, "band", DISTRICT, 6)
    assert found is not None
    assert not found.determined
    assert (found.low[1], found.high[1]) == (4.0, 7.0)
    mixed = age.copy()
    mixed[[0, 23]] = mixed[[23, 0]]
    assert ranges_of("age", mixed, "band", DISTRICT, 6) is None
    assert ranges_of("age", np.full(24, np.nan), "band", DISTRICT, 6) is None
