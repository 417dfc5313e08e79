"""What do people in a file have, whose keys are known? Look at the records that fit them, suppressed ones among them."""

import itertools
from collections import defaultdict

import numpy as np
import polars as pl

from reticent.base.progress import silent
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Role, Schema, Variable
from reticent.microdata.mask.generalize import Generalize

SCHEMA = Schema((Variable("town", role=Role.KEY), Variable("job", role=Role.KEY), Variable("illness")))


def clinic(seed: int) -> pl.DataFrame:
    """Patients of four towns; in the smallest everybody has the same illness."""
    draw = np.random.default_rng(seed)
    town = draw.choice(4, 200, p=[0.4, 0.35, 0.23, 0.02])
    illness = np.where(town == 3, seed % 5, draw.integers(0, 5, 200))
    columns = {"town": town, "job": draw.integers(0, 2, 200), "illness": illness}
    return pl.DataFrame({name: [f"{name}{x}" for x in values] for name, values in columns.items()})


def generalized(frame: pl.DataFrame, **options: object) -> list[tuple[str | None, ...]]:
    method = Generalize(("town", "job"), k=2, sensitive=("illness",), l=2, **options)
    made = method.apply(Microdata.of(frame, SCHEMA), secret=as_secret(1), progress=silent).data
    return list(zip(*(made.texts(name) for name in frame.columns), strict=True))


def learnt(frame: pl.DataFrame, published: list[tuple[str | None, ...]]) -> int:
    """The attack: people all of whose fitting records have one illness. Who fits a group that is shown is in it."""
    raised = [all(row[at] in (None, "*") for row in published) for at in range(2)]
    values = defaultdict(set)
    for *keys, illness in published:
        values[tuple(keys)].add(illness)
    found = 0
    for *keys, _ in frame.rows():
        shown = tuple("*" if up else key for key, up in zip(keys, raised, strict=True))
        found += len(values.get(shown, values[None, None])) == 1
    return found


def test_suppressed_records_do_not_say_what_they_have() -> None:
    """The suppressed records of a file often had one illness, and who was in no group that is shown was one of them."""
    for seed in range(12):
        frame = clinic(seed)
        assert learnt(frame, generalized(frame, suppression=0.05)) == 0


def test_who_knows_the_method_excludes_what_would_have_been_safe() -> None:
    """The guarantee says that it does not hold for the transparent attacker: the smallest case."""
    towns, safe_as_it_is = "aabbb", []
    outputs = defaultdict(list)
    for illness in itertools.permutations("HHFGI"):
        frame = pl.DataFrame({"town": list(towns), "job": ["x"] * 5, "illness": list(illness)})
        published = generalized(frame)
        outputs[tuple(sorted(published))].append(illness)
        safe_as_it_is.append(published[0][0] == "a")
    raised = next(cases for rows, cases in outputs.items() if rows[0][0] == "*")
    assert {case[:2] for case in raised} == {("H", "H")}
    assert any(safe_as_it_is)
