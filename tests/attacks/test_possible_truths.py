"""Truths that a published file rules out although it is safe for them: the attacker has all files that each truth can lead to."""

from itertools import combinations_with_replacement, product

import numpy as np

from attacks.test_certain_blanks import certain
from reticent.microdata.risk.individual import record_risk
from reticent.microdata.risk.semantics import Semantics
from reticent.microdata.suppress.engine import Task, solve
from reticent.microdata.suppress.requirement import Prices, Requirement

CODES = (0, 1)
Record = tuple[int, int]


def published(truth: list[Record], seed: int, **options: object) -> np.ndarray:
    """What is published with k = 2; the program sees only codes that occur, numbered anew."""
    codes = np.array(truth, np.int32)
    numbered = np.column_stack([np.unique(c, return_inverse=True)[1] for c in codes.T]).astype(np.int32)
    given = {
        "prices": Prices((1.0, 1.0)),
        "semantics": Semantics.KK,
        "household": None,
        "shared": 0,
        "slack": 1.0,
    } | options
    task = Task(
        codes=numbered, requirement=Requirement(2, ((0b11, 2),)), weights=None, risk_threshold=None, risk=record_risk,
        seed=seed, chance=np.random.default_rng(seed).random((len(codes), 2)), **given,
    )  # fmt: skip
    return np.where(solve(task).published < 0, -1, codes)


def test_a_code_that_nobody_has_makes_no_blank_certain() -> None:
    """All truths of four records and two keys with two codes. Files judged by the codes that occur gave 72 of 1,173 blanks away.

    Where one code occurred, its blanks counted as having nothing to hide; but whoever has the code list learns who has it.
    """
    blanks = sure = 0
    for truth in combinations_with_replacement(list(product(CODES, CODES)), 4):
        for seed in range(3):
            shown = published(list(truth), seed)
            rows = [tuple(None if value < 0 else int(value) for value in row) for row in shown]
            blanks, sure = blanks + int((shown < 0).sum()), sure + certain(rows, [list(CODES), list(CODES)], 2)
    assert blanks > 200
    assert sure == 0


def test_blanks_of_a_household_may_be_others_than_the_cheapest() -> None:
    """The last person's first key is blank, the second one is cheaper: it was blank only where neither was needed."""
    wanted = np.array([(0, 0), (0, 0), (1, 1), (1, 1), (-1, 0)])
    options = {
        "prices": Prices((1.0, 0.9)),
        "semantics": Semantics.K1,
        "household": np.array([0, 0, 1, 1, 2]),
        "shared": 0b10,
    }
    for hidden in CODES:
        truth = [(0, 0), (0, 0), (1, 1), (1, 1), (hidden, 0)]
        assert any((published(truth, seed, **options) == wanted).all() for seed in range(200))
