"""Keys that chance has changed are left out: whoever is alone with the others is found, whatever became of these.

The risk of a record was 0 where its own published record did not fit all true keys. If every area is exchanged, no record
fits, and the verdict was *held* with people who have their nationality and age to themselves. The attacker here
looks people up in the published rows, and repeats a microaggregation that draws nothing.
"""

import hashlib
from collections import Counter

import numpy as np
import polars as pl
import pytest

from reticent.base.randomness import as_secret
from reticent.data.method import MaskingMethod
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.verdict import State
from reticent.microdata.mask.identifiers import RemoveIdentifiers
from reticent.microdata.mask.microaggregation import Microaggregate
from reticent.microdata.mask.pram import Pram
from reticent.microdata.mask.recode import Recode
from reticent.microdata.mask.swap import Swap
from reticent.microdata.pipeline import apply_steps
from reticent.microdata.protect import protect_data
from reticent.microdata.risk.household_recount import household_recount
from reticent.microdata.risk.recount import changed_keys, recount
from samples import numbers

KEY = Role.KEY
SECRET = hashlib.sha256(b"left out").digest()
MOST = 0.34
NATIONS = [f"n{x:02d}" for x in range(1, 15)]


def people(seed: int, n: int = 2000) -> Microdata:
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "id": [f"p{at}" for at in range(n)],
            "area": [f"r{x}" for x in rng.integers(0, 8, n)],
            "nation": [NATIONS[x - 1] for x in np.minimum(rng.geometric(0.45, n), len(NATIONS))],
            "age": [f"a{x}" for x in rng.integers(0, 3, n)],
            "illness": [f"i{x}" for x in rng.integers(0, 8, n)],
        }
    )
    roles = {"id": Role.IDENTIFIER, "area": KEY, "nation": KEY, "age": KEY, "illness": Role.SENSITIVE}
    return Microdata.of(frame, Schema(tuple(Variable(name, role=role) for name, role in roles.items())))


def looked_up(true: Microdata, published: Microdata, known: tuple[str, ...]) -> tuple[int, int]:
    """People whom one published record fits by what the attacker knows, and of them those whose illness is right."""
    before, after = (data.frame.table.select(*known, "illness").rows() for data in (true, published))
    shown, found = Counter(row[:-1] for row in after), {row[:-1]: row[-1] for row in after}
    targets = [row for row in before if shown[row[:-1]] == 1]
    return len(targets), sum(found[row[:-1]] == row[-1] for row in targets)


COMMON = Recode("nation", map={name: "other" if name > "n03" else name for name in NATIONS})


@pytest.mark.parametrize("seed", numbers(2, 20))
def test_who_is_alone_with_the_other_keys_is_found_and_counted(seed: int) -> None:
    data = people(seed)
    swap = Swap(("area",), rate=100.0)
    run = protect_data(data, (swap,), most=MOST, secret=SECRET)
    found, right = looked_up(data, run.after, ("nation", "age"))
    assert found == right > 0
    counted = run.attacks.recount
    assert counted is not None
    assert counted.left_out == ("area",)
    assert (counted.individual().risk == 1).sum() >= found
    assert run.result.verdict["recount"].state is State.NOT_HELD
    assert "who leaves out area" in run.result.verdict["recount"].text
    common = protect_data(data, (COMMON, swap), most=MOST, secret=SECRET)
    assert looked_up(data, common.after, ("nation", "age"))[0] == 0
    assert common.result.verdict["recount"].state is State.HELD


def test_one_of_two_changed_keys_may_be_left_out() -> None:
    data = people(3)
    steps: tuple[MaskingMethod, ...] = (Swap(("area",), rate=100.0), Pram(("age",), keep=0.95))
    masked = apply_steps(data, steps, secret=as_secret(1))
    keys = ("area", "nation", "age")
    assert {("area",), ("area", "age")} <= set(changed_keys(masked.trace, masked.data, keys))
    found, right = looked_up(data, masked.data, ("nation", "age"))
    assert 0 < found <= right + 1
    assert (recount(masked.trace, masked.data, keys).sample_risk == 1).sum() >= right


def test_households_are_found_by_the_keys_that_stay() -> None:
    rng = np.random.default_rng(4)
    size = rng.choice([1, 2, 3], 300)
    home = np.repeat(np.arange(300), size)
    columns = {
        "hh": home.astype(str),
        "town": np.repeat(rng.choice(list("abcdefgh"), 300), size),
        "sex": rng.choice(["f", "m"], home.size),
        "age": rng.choice(list("1234"), home.size),
    }
    variables = (
        Variable("hh", role=Role.HOUSEHOLD_ID), Variable("town", role=KEY, household=True), Variable("sex", role=KEY),
        Variable("age", role=KEY),
    )  # fmt: skip
    data = Microdata.of(pl.DataFrame(columns), Schema(variables))
    masked = apply_steps(data, (Swap(("town",), rate=100.0),), secret=as_secret(2))
    published = masked.data.frame.table.group_by("hh").agg(pl.concat_str("sex", "age").sort().alias("who"))
    alone = {who for who, many in Counter(map(tuple, published["who"].to_list())).items() if many == 1}
    found = household_recount(masked.trace, masked.data, data.schema.keys)
    assert len(alone) > 40
    assert (found.risk == 1).sum() >= len(alone)
    gone = apply_steps(data, (RemoveIdentifiers(("hh",)), Swap(("town",), rate=100.0)), secret=as_secret(2))
    assert household_recount(gone.trace, gone.data, data.schema.keys).risk.max(initial=0.0) == 0


@pytest.mark.parametrize("seed", [3, 5, 11])
def test_codes_that_were_microaggregated_are_found_by_repeating_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {"sex": rng.choice(["f", "m"], 300), "age": rng.integers(20, 60, 300), "edu": rng.integers(0, 4, 300)}
    )
    names = ("sex", "age", "edu")
    ordered = [Variable(name, role=KEY, kind=Kind.ORDINAL) for name in names[1:]]
    data = Microdata.of(frame, Schema((Variable("sex", role=KEY), *ordered)))
    step = Microaggregate(("age", "edu"), k=10)
    masked = apply_steps(data, (step,), secret=as_secret(seed))
    published = masked.data.frame.table.select(names).rows()
    # who has all true values makes the groups again, and knows the row of each person
    again = step.apply(data, secret=as_secret(seed + 100), progress=lambda *_: None).data.frame.table.select(names)
    crowd = Counter(published)
    candidates = min(crowd[row] for row in again.rows())
    assert recount(masked.trace, masked.data, names).sample_risk.max() >= 1 / candidates
