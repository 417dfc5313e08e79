"""The guard of rare queries: what fewer than t users asked is dropped, or becomes a category that enough of them share."""

import numpy as np
import pytest

from reticent.querylogs.classify import Classified
from reticent.querylogs.guard import guard_rare
from reticent.querylogs.log import QueryLog

# queries 0 and 1 are of one topic below "health", 2 of another there, 3 of none
TEXTS = ("flu", "cold", "broken leg", "asdf")
NAMES = ("health", "infections", "injuries")
NONE = -1
CLASSIFIED = Classified(
    np.array([0, 1, 2, 3, 3]), np.array([0, 0, 1], dtype=np.int32), np.array([[0, 1], [0, 2]], dtype=np.int32), NAMES
)


def log(rows: list[tuple[int, int]]) -> QueryLog:
    users, queries = (np.array(column, dtype=np.int32) for column in zip(*rows, strict=True))
    return QueryLog(users, queries, 4, TEXTS)


def texts(found: QueryLog) -> list[tuple[int, str]]:
    return [(int(user), found.texts[query]) for user, query in zip(found.users, found.queries, strict=True)]


def test_what_enough_users_asked_stays() -> None:
    own = log([(0, 0), (1, 0), (2, 0)])
    found = guard_rare(own, CLASSIFIED, least=3, rare="drop")
    assert found.log is own
    assert found.rows.all()
    assert (found.generalised, found.dropped) == (0, 0)


def test_one_user_asking_often_is_still_one() -> None:
    found = guard_rare(log([(0, 0), (0, 0), (0, 0), (1, 1), (2, 1)]), CLASSIFIED, least=2, rare="drop")
    assert texts(found.log) == [(1, "cold"), (2, "cold")]
    assert found.dropped == 3
    assert found.rows.tolist() == [False, False, False, True, True]


def test_rare_queries_become_the_deepest_category_that_enough_share() -> None:
    """Flu and cold have one user each, together two: they become infections; the leg alone becomes nothing there."""
    found = guard_rare(log([(0, 0), (1, 1), (2, 2)]), CLASSIFIED, least=2, rare="generalise")
    assert texts(found.log) == [(0, "<category: infections>"), (1, "<category: infections>")]
    assert (found.generalised, found.dropped) == (2, 1)


def test_a_higher_level_takes_what_the_lower_could_not() -> None:
    found = guard_rare(log([(0, 0), (1, 2)]), CLASSIFIED, least=2, rare="generalise")
    assert texts(found.log) == [(0, "<category: health>"), (1, "<category: health>")]


def test_queries_of_no_category_are_dropped() -> None:
    found = guard_rare(log([(0, 3), (1, 0), (2, 0)]), CLASSIFIED, least=2, rare="generalise")
    assert texts(found.log) == [(1, "flu"), (2, "flu")]
    assert "asdf" not in {text for _, text in texts(found.log)}


@pytest.mark.parametrize("rare", ["drop", "generalise"])
def test_nothing_rare_is_left(rare: str) -> None:
    rng = np.random.default_rng(5)
    rows = [(int(u), int(q)) for u, q in zip(rng.integers(0, 4, 30), rng.integers(0, 4, 30), strict=True)]
    found = guard_rare(log(rows), CLASSIFIED, least=3, rare=rare)
    users: dict[str, set[int]] = {}
    for user, text in texts(found.log):
        users.setdefault(text, set()).add(user)
    assert all(len(own) >= 3 for own in users.values())
    assert found.generalised + found.dropped <= 30


def test_a_limit_of_one_keeps_everything() -> None:
    own = log([(0, 3)])
    assert guard_rare(own, CLASSIFIED, least=1, rare="drop").log is own
