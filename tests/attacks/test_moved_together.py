"""Values that go to another record together: the file looks changed record by record, and everybody stands in it.

Found while copies of SAFE were mended: `swap` of all variables publishes the true records in another place. Each "own
record" differs, so that the recount said 0, linkage 0.7 %, and the verdict was *held*. The attacker here looks people up in
the published rows.
"""

import hashlib
from collections import Counter

import numpy as np
import polars as pl
import pytest

from reticent.data.method import MaskingMethod
from reticent.data.microdata import Microdata
from reticent.data.schema import Schema, Variable
from reticent.data.verdict import State
from reticent.microdata.mask.massc import Massc
from reticent.microdata.mask.record_swap import RecordSwap
from reticent.microdata.mask.swap import Swap
from reticent.microdata.protect import protect_data

KEYS = ("region", "sex", "job", "age")
SECRET = hashlib.sha256(b"moved together").digest()
MOST = 0.05


def people(seed: int, n: int = 500) -> Microdata:
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "region": rng.integers(0, 8, n).astype(str),
            "sex": rng.choice(["f", "m"], n),
            "job": rng.choice(list("abcdef"), n),
            "age": rng.integers(1, 9, n).astype(str),
            "illness": rng.choice(["none", "a", "b", "c", "d"], n),
            "weight": rng.integers(20, 40, n).astype(float),
        }
    )
    roles = {**dict.fromkeys(KEYS, "key"), "illness": "sensitive", "weight": "weight"}
    kinds = {"weight": "numeric"}
    return Microdata.of(
        frame, Schema(tuple(Variable(n, role=r, kind=kinds.get(n, "nominal")) for n, r in roles.items()))
    )  # type: ignore[arg-type]


def looked_up(data: Microdata, published: Microdata, known: tuple[str, ...]) -> tuple[int, int]:
    """People alone with the keys that the attacker knows who are found alone, and of them those whose illness is right."""
    before = data.frame.table.select(*known, "illness").rows()
    after = published.frame.table.select(*known, "illness").rows()
    alone, shown = Counter(row[:-1] for row in before), Counter(row[:-1] for row in after)
    found = {row[:-1]: row[-1] for row in after}
    targets = [row for row in before if alone[row[:-1]] == shown[row[:-1]] == 1]
    return len(targets), sum(found[row[:-1]] == row[-1] for row in targets)


BROKEN: dict[str, tuple[MaskingMethod, tuple[str, ...]]] = {
    "everything": (Swap((*KEYS, "illness"), rate=100.0), KEYS),
    "most of it": (Swap(("region", "job", "age", "illness"), rate=100.0), ("region", "job", "age")),
    "with the area": (
        RecordSwap(("region",), profiles=(("sex",),), carry_along=("job", "age", "illness"), rate=95.0),
        KEYS,
    ),
}


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.parametrize("seed", range(3))
def test_who_moved_with_everything_is_found_and_the_verdict_says_so(case: str, seed: int) -> None:
    step, known = BROKEN[case]
    data = people(seed)
    run = protect_data(data, [step], most=MOST, secret=SECRET, accept_risk="a test of an attack")
    targets, right = looked_up(data, run.after, known)
    assert right == targets > 50
    found = run.verdict["recount"]
    assert found.state is State.NOT_HELD
    assert "went to other records together, where they are found" in found.text


@pytest.mark.parametrize("seed", range(3))
def test_keys_that_leave_the_rest_behind_are_judged_as_before(seed: int) -> None:
    """Only keys move: who looks them up finds the illness of somebody else."""
    data = people(seed)
    run = protect_data(data, [Swap(KEYS, rate=100.0)], most=MOST, secret=SECRET, accept_risk="a test of an attack")
    targets, right = looked_up(data, run.after, KEYS)
    assert right < 0.4 * targets
    assert run.attacks.recount is not None
    assert run.attacks.recount.together == ()


def test_ways_of_several_steps_are_followed() -> None:
    """Two exchanges of the same variables are one; a third one takes the region out of them, a fourth the illness."""
    data, all_of_it = people(7), Swap((*KEYS, "illness"), rate=60.0)
    twice = protect_data(data, [all_of_it, all_of_it], most=MOST, secret=SECRET, accept_risk="a test of an attack")
    once = protect_data(data, [all_of_it], most=MOST, secret=SECRET, accept_risk="a test of an attack")
    assert twice.attacks.recount is not None
    assert once.attacks.recount is not None
    assert (twice.attacks.recount.sample_counts == once.attacks.recount.sample_counts).all()
    fitting = Counter(twice.after.frame.table.select(KEYS).rows())
    for person, count in zip(data.frame.table.select(KEYS).rows(), once.attacks.recount.sample_counts, strict=True):
        assert count == fitting[person]
    steps = [all_of_it, Swap(("region",), rate=100.0)]
    apart = protect_data(data, steps, most=MOST, secret=SECRET, accept_risk="a test of an attack")
    assert apart.attacks.recount is not None
    assert apart.attacks.recount.together == ("sex", "job", "age", "illness")
    steps.append(Swap(("illness",), rate=100.0))
    gone = protect_data(data, steps, most=MOST, secret=SECRET, accept_risk="a test of an attack")
    assert gone.attacks.recount is not None
    assert gone.attacks.recount.together == ()


@pytest.mark.parametrize("identifier", [True, False])
def test_a_file_of_keys_that_all_move_is_the_true_file(identifier: bool) -> None:
    """Identifiers are not written, so that they do not say where a record came from."""
    table = people(5).frame.table.select(KEYS).with_columns(pl.int_range(pl.len()).alias("person"))
    variables = [Variable(name, role="key") for name in KEYS] + [Variable("person", role="identifier")]  # type: ignore[arg-type]
    data = Microdata.of(table, Schema(tuple(variables)))
    data = data if identifier else data.without(("person",))
    run = protect_data(data, [Swap(KEYS, rate=100.0)], most=MOST, secret=SECRET, accept_risk="a test of an attack")
    before, after = (Counter(file.frame.table.select(KEYS).rows()) for file in (data, run.after))
    assert before == after
    assert run.verdict["recount"].value == 1.0
    assert run.attacks.recount is not None
    expected = [before[person] for person in data.frame.table.select(KEYS).rows()]
    assert run.attacks.recount.sample_counts.tolist() == expected


def test_massc_takes_over_keys_only() -> None:
    run = protect_data(people(3), [Massc(KEYS)], most=MOST, secret=SECRET, accept_risk="a test of an attack")
    assert run.attacks.recount is not None
    assert run.attacks.recount.together == ()
