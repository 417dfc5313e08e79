"""What do people in a file have, whose keys are known? Look at the records that fit them, suppressed ones among them."""

import itertools
import sys
from collections import defaultdict

import numpy as np
import polars as pl
import pytest

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


def half_answered(seed: int) -> pl.DataFrame:
    """Patients of whom four in ten gave no answer; in each of eight towns one illness is frequent."""
    draw = np.random.default_rng(seed)
    town = draw.integers(0, 8, 240)
    illness = np.where(draw.random(240) < 0.7, town % 3, draw.integers(0, 3, 240))
    columns = {"town": town, "job": draw.integers(0, 4, 240), "illness": illness}
    frame = pl.DataFrame({name: [f"{name}{x}" for x in values] for name, values in columns.items()})
    return frame.with_columns(illness=pl.when(pl.Series(draw.random(240) < 0.4)).then(None).otherwise("illness"))


def answers_learnt(published: list[tuple[str | None, ...]]) -> int:
    """The attack: groups in which everybody who gave an answer gave the same one."""
    values = defaultdict(set)
    for *keys, illness in published:
        values[tuple(keys)].add(illness)
    return sum(len(found - {None}) == 1 for found in values.values())


@pytest.mark.parametrize("diversity", ["distinct", "entropy", "recursive"])
@pytest.mark.parametrize("local", [False, True])
def test_a_missing_value_is_none_of_the_values_of_a_group(diversity: str, local: bool) -> None:
    """It counted as one: of (flu, flu, missing) whoever gave an answer had flu."""
    for seed in range(2):
        assert answers_learnt(generalized(half_answered(seed), local=local, diversity=diversity)) == 0


def test_closeness_of_local_codes_is_to_the_whole_file() -> None:
    """Later rounds compared groups with the records that were left, and the recount refused what they made."""
    for seed in range(3):
        frame = half_answered(seed)
        method = Generalize(("town", "job"), k=2, sensitive=("illness",), t=0.4, local=True)
        made = method.apply(Microdata.of(frame, SCHEMA), secret=as_secret(1), progress=silent).data
        assert all(promise.broken(made, made) == 0 for promise in method.promises())
        groups = made.frame.table.group_by("town", "job").agg(pl.col("illness"))
        whole = frame["illness"].value_counts(normalize=True)
        for group in groups["illness"]:
            share = group.value_counts(normalize=True).rename({"proportion": "here", group.name: "illness"})
            both = whole.join(share, on="illness", how="left", nulls_equal=True).fill_null(0)
            assert 0.5 * (both["proportion"] - both["here"]).abs().sum() <= 0.4 + 1e-9


if __name__ == "__main__":
    for local in (False, True):
        groups = learnt_groups = 0
        for seed in range(20):
            published = generalized(half_answered(seed), local=local)
            groups, learnt_groups = (
                groups + len({row[:-1] for row in published}),
                learnt_groups + answers_learnt(published),
            )
        sys.stdout.write(
            f"local={local}: in {learnt_groups} of {groups} groups all who answered gave the same answer\n"
        )
