"""Facts and watches refuse what cannot be a statement, with one sentence."""

from collections.abc import Callable

import numpy as np
import pytest

from reticent.base.errors import DataError
from reticent.data.facts import COUNT, LARGEST, OWN, Fact, Facts, Ground, Term, Watch


def ints(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def ground(**changes: object) -> Ground:
    given: dict[str, object] = {
        "variables": ("region",),
        "categories": (("north", "south"),),
        "codes": ints(0, 1).reshape(2, 1),
        "atom_of_unit": ints(0, 0, 1),
        "entity_of_unit": ints(0, 1, 1),
        "bounds": {"turnover": (0, None)},
        "complete": True,
    }
    return Ground(**{**given, **changes})  # type: ignore[arg-type]


def test_a_ground_knows_its_sizes_and_bounds() -> None:
    own = ground()
    assert (own.size(COUNT), own.size("turnover")) == (2, 3)
    assert (own.bounds_of(COUNT), own.bounds_of("turnover"), own.bounds_of("profit")) == (
        (0, None),
        (0, None),
        (None, None),
    )


BAD: dict[str, tuple[Callable[[], object], str]] = {
    "codes": (lambda: ground(codes=ints(0, 2).reshape(2, 1)), "not among the categories"),
    "columns": (lambda: ground(codes=ints(0, 1)), "one column for each"),
    "units": (lambda: ground(entity_of_unit=ints(0)), "one entry for each unit"),
    "atoms": (lambda: ground(atom_of_unit=ints(0, 0, 2)), "from 0 to 1"),
    "bounds": (lambda: ground(bounds={"turnover": (1, 0)}), "lower end"),
    "twice": (lambda: Term("t", ints(1, 1), ints(1, 1)), "only once"),
    "lengths": (lambda: Term("t", ints(1), ints(1, 1)), "same length"),
    "negative": (lambda: Term("t", ints(-1), ints(1)), "from 0"),
    "floats": (lambda: Term("t", ints(1), np.array([0.5])), "whole numbers"),
    "large": (lambda: Term("t", ints(1), ints(LARGEST)), "fewer decimals"),
    "open": (lambda: Fact((Term.total("t", ints(1)),), None, None), "reveals nothing"),
    "empty": (lambda: Fact((), 0, 0), "at least one term"),
    "ends": (lambda: Fact((Term.total("t", ints(1)),), 2, 1), "lower end"),
    "own watch": (lambda: Watch(OWN, ints(0), ints(1), 0, 1, "a", "T"), "auxiliary"),
    "own places": (lambda: Facts("T", (Fact.exact((Term.total(OWN, ints(1)),), 0),), ((0, 1),)), "from 0 to 0"),
    "nameless": (lambda: Facts("", ()), "needs a name"),
    "beyond": (lambda: Facts("T", (), certified=False), "beyond"),
    "unknown atom": (lambda: Facts("T", (Fact.exact((Term.total(COUNT, ints(2)),), 0),)).check(ground()), "from 0 to 1"),
    "unknown unit": (lambda: Facts("T", (), watches=(Watch("t", ints(9), ints(1), 0, 1, "a", "T"),)).check(ground()), "0 to 2"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_stated_is_refused(case: str) -> None:
    make, words = BAD[case]
    with pytest.raises(DataError, match=words):
        make()
