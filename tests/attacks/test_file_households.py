"""Linking back whole households: by the nearest composition of their members, and where no household id is published.

Households were called held when no member fitted exactly (noise, PRAM), although pairing members by distance links them; and
without an id the verdict said that nothing puts members together, although a dwelling code or a household's income does.
"""

import numpy as np
import polars as pl
import pytest
from scipy.optimize import linear_sum_assignment

from reticent.data.microdata import Microdata
from reticent.data.plan import RiskSection
from reticent.data.schema import Schema, Variable
from reticent.microdata.mask import Noise, Pram, RemoveIdentifiers, Reorder
from reticent.microdata.protect import protect_data
from reticent.microdata.result import ProtectedFile

SECRET = bytes.fromhex("8f3a1c77e2b94d0561fa3e9d2c7b8805d4e1f6a3907b5c2d18e4f9a0b6c3d752")
HOMES, SIZE = 60, 4
HOME = np.repeat(np.arange(HOMES), SIZE)


def _linked(distances: np.ndarray) -> float:
    """Share of published households whose own is nearest, members paired one to one; (published, true, member, member)."""
    total = np.array([[pair[linear_sum_assignment(pair)].sum() for pair in row] for row in distances])
    nearest = total <= total.min(axis=1, keepdims=True) * (1 + 1e-9)
    return float((np.diag(nearest) & (nearest.sum(axis=1) == 1)).mean())


def _households(run: ProtectedFile) -> float:
    assert run.attacks.households is not None
    assert run.attacks.households.linkage is not None
    return run.attacks.households.linkage.share


def test_noisy_numbers_of_all_members_link_households() -> None:
    names = ("a", "b", "c")
    true = np.random.default_rng(4).normal(30_000, 8_000, (HOMES * SIZE, 3)).round()
    columns = {name: true[:, at] for at, name in enumerate(names)}
    frame = pl.DataFrame({"hid": HOME.astype(str), "sex": ["f", "m"] * (HOMES * 2), **columns})
    schema = Schema(
        (
            Variable("hid", role="household-id"),
            Variable("sex", role="key"),
            *(Variable(name, role="sensitive", kind="numeric") for name in names),
        )
    )
    run = protect_data(Microdata.of(frame, schema), [Noise(names, k=1.0, kind="uncorrelated")], most=0.1, secret=SECRET)
    scale = true.std(axis=0)
    x, y = ((values / scale).reshape(HOMES, SIZE, 3) for values in (true, run.after.numbers(names)))
    found = _linked(((y[:, None, :, None, :] - x[None, :, None, :, :]) ** 2).sum(axis=-1))
    assert found > 0.3
    assert _households(run) >= 0.8 * found
    assert run.verdict["households"].state == "not held"


def test_changed_codes_of_all_members_link_households() -> None:
    names = [f"k{at}" for at in range(4)]
    codes = np.random.default_rng(5).integers(0, 5, (HOMES * SIZE, 4)).astype(str)
    frame = pl.DataFrame({"hid": HOME.astype(str), **{name: codes[:, at] for at, name in enumerate(names)}})
    schema = Schema((Variable("hid", role="household-id"), *(Variable(name, role="key") for name in names)))
    run = protect_data(Microdata.of(frame, schema), [Pram(tuple(names), keep=0.5)], most=0.1, secret=SECRET)
    shown = run.after.frame.table.select(names).to_numpy().reshape(HOMES, SIZE, 4)
    true = codes.reshape(HOMES, SIZE, 4)
    found = _linked((shown[:, None, :, None, :] != true[None, :, None, :, :]).sum(axis=-1).astype(float))
    assert found > 0.3
    assert _households(run) >= found
    assert run.verdict["households"].state == "not held"


@pytest.mark.parametrize(
    ("variable", "values"),
    [
        (Variable("dwelling"), np.random.default_rng(1).permutation(HOMES).astype(str)),
        (Variable("dwelling", role="sensitive"), np.random.default_rng(1).permutation(HOMES).astype(str)),
        (Variable("income", role="sensitive", kind="numeric"), np.random.default_rng(2).lognormal(10, 1, HOMES)),
    ],
)
def test_any_published_variable_may_put_members_together(variable: Variable, values: np.ndarray) -> None:
    rng = np.random.default_rng(6)
    keys = {name: rng.choice(list("abcd"), HOMES * SIZE) for name in ("edu", "act")}
    frame = pl.DataFrame({"hid": HOME.astype(str), **keys, variable.name: values[HOME]})
    schema = Schema((Variable("hid", role="household-id"), *(Variable(name, role="key") for name in keys), variable))
    run = protect_data(Microdata.of(frame, schema), [RemoveIdentifiers(("hid",))], most=0.2, secret=SECRET)
    released = run.after.frame.table
    assert released.group_by(variable.name).len()["len"].to_list() == [SIZE] * HOMES
    assert run.verdict["households"].state == "not held"
    assert variable.name in run.verdict["households"].text


def test_two_variables_that_members_share_put_them_together() -> None:
    rng = np.random.default_rng(7)
    pairs = {"street": (np.arange(HOMES) // 8).astype(str)[HOME], "number": (np.arange(HOMES) % 8).astype(str)[HOME]}
    keys = {name: rng.choice(list("abcd"), HOMES * SIZE) for name in ("edu", "act")}
    frame = pl.DataFrame({"hid": HOME.astype(str), **keys, **pairs})
    schema = Schema(
        (
            Variable("hid", role="household-id"),
            *(Variable(name, role="key") for name in keys),
            *(Variable(name) for name in pairs),
        )
    )
    run = protect_data(Microdata.of(frame, schema), [RemoveIdentifiers(("hid",))], most=0.2, secret=SECRET)
    assert run.verdict["households"].state == "not held"


def test_values_shared_by_chance_put_nobody_together() -> None:
    rng = np.random.default_rng(8)
    keys = {name: rng.choice(list("ab"), HOMES * SIZE) for name in ("sex", "act")}
    frame = pl.DataFrame({"hid": HOME.astype(str), **keys, "age": rng.integers(0, 90, HOMES * SIZE).astype(str)})
    schema = Schema(
        (Variable("hid", role="household-id"), *(Variable(name, role="key") for name in keys), Variable("age"))
    )
    run = protect_data(Microdata.of(frame, schema), [RemoveIdentifiers(("hid",)), Reorder()], most=0.2, secret=SECRET)
    assert run.verdict["households"].state == "held"
    assert "no household id is published" in run.verdict["households"].text


def _noisy_shared(seed: int, k: float, numbers: int) -> tuple[pl.DataFrame, ProtectedFile]:
    """Households with amounts that all members have, of which nobody knows any: each member's is published with noise."""
    rng = np.random.default_rng(seed)
    keys = {name: rng.choice(list("abcd"), HOMES * SIZE) for name in ("edu", "act")}
    amounts = {f"x{at}": rng.lognormal(10, 1, HOMES)[HOME].round() for at in range(numbers)}
    frame = pl.DataFrame({"hid": HOME.astype(str), **keys, **amounts})
    schema = Schema(
        (
            Variable("hid", role="household-id"),
            *(Variable(name, role="key") for name in keys),
            *(Variable(name, role="sensitive", kind="numeric") for name in amounts),
        )
    )
    steps = [RemoveIdentifiers(("hid",)), Noise(tuple(amounts), k=k)]
    known = RiskSection(most=0.2, known=tuple(keys))
    return frame, protect_data(Microdata.of(frame, schema), steps, risk=known, secret=SECRET)


def _found_by_nearness(frame: pl.DataFrame, run: ProtectedFile) -> tuple[int, int]:
    """Households that are said to be found, and rightly: neighbours in the order of the number whose keys one household has."""
    shown = run.after.frame.table
    values = shown["x0"].to_numpy()
    order = np.argsort(values)
    gaps = np.diff(np.log(values[order].clip(1.0)))
    keys = list(shown.select("edu", "act").rows())
    true = [tuple(sorted(frame.select("edu", "act").rows()[SIZE * home : SIZE * home + SIZE])) for home in range(HOMES)]
    groupings = [
        np.split(order, np.flatnonzero(gaps > limit) + 1) for limit in np.quantile(gaps, np.linspace(0.5, 0.95, 19))
    ]
    groups = max(groupings, key=lambda grouping: sum(len(group) == SIZE for group in grouping))
    said = right = 0
    for group in groups:
        members = tuple(sorted(keys[at] for at in group))
        if true.count(members) == 1:
            said += 1
            right += bool((HOME[group] == true.index(members)).all())
    return said, right


@pytest.mark.parametrize("k", [1e-6, 1e-4])
def test_noisy_amounts_that_members_have_in_common_put_them_together(k: float) -> None:
    found = []
    for seed in range(5):
        frame, run = _noisy_shared(seed, k, 1)
        found.append(_found_by_nearness(frame, run))
        assert run.verdict["households"].state == "not held"
        assert "near values of x0" in run.verdict["households"].text
    said, right = np.sum(found, axis=0)
    assert right >= 0.9 * said >= 18


def test_two_noisy_amounts_put_members_together() -> None:
    for seed in range(5):
        run = _noisy_shared(seed, 1e-3, 2)[1]
        assert run.verdict["households"].state == "not held"
        assert "near values of several numbers" in run.verdict["households"].text


def test_amounts_that_each_member_has_put_nobody_together() -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        keys = {name: rng.choice(list("ab"), HOMES * SIZE) for name in ("sex", "act")}
        pay = rng.lognormal(10, 1, HOMES * SIZE).round()
        schema = Schema(
            (
                Variable("hid", role="household-id"),
                *(Variable(name, role="key") for name in keys),
                Variable("pay", role="sensitive", kind="numeric"),
            )
        )
        frame = pl.DataFrame({"hid": HOME.astype(str), **keys, "pay": pay})
        steps = [RemoveIdentifiers(("hid",)), Noise(("pay",), k=0.1)]
        known = RiskSection(most=0.2, known=tuple(keys))
        run = protect_data(Microdata.of(frame, schema), steps, risk=known, secret=SECRET)
        assert run.verdict["households"].state == "held"
