"""Every masking method of the registry, held to one rule: draws come back only where the result comes back.

A spy notes which keys a run hands out, and to which records. Two runs with one secret (other parameters, a subset, a
corrected value, another column, other steps before, another order) may share a key for a record only if that record's
masked values are the same in both: equal values tell an attacker nothing, different values from one draw tell the truth.
"""

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from conformance.registry_cases import EACH, method_of, run, survey
from reference.perturb_files import file_of
from reticent.base.progress import silent
from reticent.base.randomness import as_secret
from reticent.data import draws as draws_module
from reticent.data.draws import StepDraws
from reticent.data.method import Method
from reticent.data.microdata import Microdata
from reticent.data.schema import Role
from reticent.microdata.mask import METHODS
from reticent.microdata.mask.identifiers import NewIdentifiers
from reticent.microdata.mask.local_suppression import LocalSuppression
from reticent.microdata.mask.massc import Massc
from reticent.microdata.mask.microaggregation import Microaggregate
from reticent.microdata.mask.multiplicative import MultiplicativeNoise
from reticent.microdata.mask.noise import Noise
from reticent.microdata.mask.pram import Pram
from reticent.microdata.mask.rank_swap import RankSwap
from reticent.microdata.mask.record_swap import RecordSwap
from reticent.microdata.mask.reorder import Reorder
from reticent.microdata.mask.resample import Resample
from reticent.microdata.mask.round_values import RoundValues
from reticent.microdata.mask.safe import Safe
from reticent.microdata.mask.sampling import Sample
from reticent.microdata.mask.shuffle import Shuffle
from reticent.microdata.mask.swap import Swap
from reticent.microdata.mask.synthesize import Synthesize
from reticent.microdata.mask.weights_noise import NoiseOnWeights

N = 120
# The registry's own examples are held to the rule on the survey, whatever they are. These are variants of methods that draw,
# on a file of their own: a method, and what to change in it; both parameters give random results.
RANDOM: tuple[tuple[Method, dict[str, Any]], ...] = (
    (Noise(("income",), k=0.1), {"k": 0.4}),
    (Noise(("income",), k=0.1, kind="uncorrelated"), {"kind": "linear"}),
    (Noise(("income", "tax"), k=0.1, kind="correlated", shrink=True), {"shrink": False}),
    (Noise(("income",), k=0.1, kind="nonlinear", strata=("sex",)), {"k": 0.2}),
    (Noise(("income",), k=0.1, exact=True), {"exact": False}),
    (Noise(("income",), k=0.1, outliers=1.0), {"outliers": 1.5}),
    (MultiplicativeNoise(("income",), k=0.1), {"k": 0.2}),
    (MultiplicativeNoise(("income", "tax"), k=0.1, strata=("sex",)), {"scheme": "z-score"}),
    (NoiseOnWeights(5.0), {"percent": 10.0}),
    (NoiseOnWeights(5.0, keep_total=False), {"keep_total": True}),
    (Pram(("job",), keep=0.6), {"keep": 0.7}),
    (Pram(("job",), keep=0.6, controlled=False, strata=("sex",)), {"keep": 0.7}),
    (RankSwap(("income",), window=10.0), {"window": 20.0}),
    (RankSwap(("age",), window=10.0, strata=("sex",)), {"strata": ()}),
    (Swap(("region", "job"), rate=20.0, within=("sex",)), {"rate": 40.0}),
    (Swap(("region",), rate=20.0, keys=("age", "job")), {"threshold": 2}),
    (RecordSwap(("region",), (("sex",),), keys=("age", "job"), k=3, rate=10.0), {"rate": 30.0}),
    (Resample(("income",), t=2, strata=("sex",)), {"t": 3}),
    (RoundValues(("income",), base=0.5, how="random"), {"base": 1.0}),
    (RoundValues(("income",), points=(0.0, 1.0, 4.0), how="random"), {"points": (0.0, 2.0, 5.0)}),
    (Shuffle(("income",), predictors=("age", "job")), {"predictors": ("age",)}),
    (Massc(("age", "job"), calibrate=("sex", "tax")), {"substitute": (60.0, 30.0, 10.0)}),
    (Sample(0.4), {"fraction": 0.5}),
    (Sample(0.4, strata=("sex",)), {"strata": ()}),
    (Reorder(), {"mix_households": True}),
    (NewIdentifiers("case"), {"within": "region"}),
    (Microaggregate(("income", "tax"), partition="best", proposals=40, steps=4, threads=1), {"k": 4}),
    (Microaggregate(("income",), partition="variable", sort_by="income", random_sizes=True), {"k": 4}),
    (Microaggregate(("income",), partition="genetic"), {"k": 4}),
    (Synthesize(("job",)), {"copy": 2}),
    (Synthesize(("income",), model="parametric"), {"copy": 2}),
)  # fmt: skip
# Blanks: draws choose among values to hide and change none. A record keeps its draws in other files on purpose, because two
# different blanks of one record would add up to none.
BLANKS: tuple[Method, ...] = (
    LocalSuppression(k=3, keys=("sex", "age", "job")),
    LocalSuppression(k=2, keys=("age", "job"), strata=("sex",)),
)
# Its file has no identifiers, and it draws for combinations and their counts; held to the rule by a test of its own.
COUNTED = Safe(ways=2, variables=("sex", "age", "job"), steps=40)
IDS = [f"{number}-{method.name}" for number, (method, _) in enumerate(RANDOM)]


def columns() -> dict[str, Any]:
    rng = np.random.default_rng(3)
    tax = np.round(rng.exponential(size=N), 2)
    return {
        "id": np.array([f"p{i * 7919 % 1000:04d}" for i in range(N)]),
        "case": np.array([f"c{i:03d}" for i in rng.permutation(N)]),
        "sex": rng.integers(0, 2, N).astype(str),
        "age": rng.integers(10, 19, N).astype(str),
        "job": np.array(list("abcde"))[rng.integers(0, 5, N)],
        "region": rng.integers(0, 7, N).astype(str),
        "tax": tax,
        "income": np.round(tax + rng.exponential(size=N), 2),
        "w": np.round(rng.uniform(1, 3, N), 1),
    }


def people(values: dict[str, Any] | None = None, rows: Any = slice(None)) -> Microdata:
    chosen = {name: column[rows] for name, column in (values or columns()).items()}
    return file_of(chosen, roles={"id": Role.IDENTIFIER, "w": Role.WEIGHT}, ordinal=("age",))


@dataclass(frozen=True)
class Run:
    """What a run published, by identifier, and the keys of the draws that each record id got."""

    names: tuple[str, ...]
    published: dict[str, tuple[Any, ...]]
    order: tuple[str, ...]
    keys: dict[int, set[Any]]
    id_of: dict[str, int]


def spied(
    monkeypatch: pytest.MonkeyPatch, steps: tuple[Method, ...], data: Microdata, secret: int = 1, name: str = "id"
) -> Run:
    """Run steps as the job does, and note every key handed to the last of them."""
    keys: dict[int, set[Any]] = defaultdict(set)
    of_records, of_part = StepDraws.of_records, StepDraws.of_part

    def spy_records(self: StepDraws, units: Any, *, scale: Any) -> Any:
        made = of_records(self, units, scale=scale)
        for unit, own in zip(units.ids.tolist(), made.ids.tolist(), strict=True):
            keys[unit].add((made.words, own))
        return made

    def spy_part(self: StepDraws, units: Any) -> Any:
        made = of_part(self, units)
        for unit in units.ids.tolist():
            keys[unit].add(made.words("spy"))
        return made

    monkeypatch.setattr(StepDraws, "of_records", spy_records)
    monkeypatch.setattr(StepDraws, "of_part", spy_part)
    id_of = dict(zip(data.texts(name), data.record_ids().tolist(), strict=True))
    for number, step in enumerate(steps):
        if number == len(steps) - 1:
            keys.clear()
        before = data
        data = step.apply(data, secret=as_secret(secret).child(f"{step.name}:0"), progress=silent).data
        for promise in step.promises():
            assert promise.broken(before, data) == 0, promise.text
    monkeypatch.undo()
    table = data.frame.table
    if name not in table.columns:
        return Run(tuple(table.columns), {}, (), dict(keys), id_of)
    order = tuple(str(one) for one in table[name].to_list())
    return Run(tuple(table.columns), dict(zip(order, table.iter_rows(), strict=True)), order, dict(keys), id_of)


@cache
def undisturbed(number: int) -> Run:
    """The run that all others of a variant are compared with."""
    with pytest.MonkeyPatch.context() as patched:
        return spied(patched, (RANDOM[number][0],), people())


def reused(first: Run, second: Run, changed: tuple[str, ...] = ()) -> list[str]:
    """Records that got a draw twice though what was published of them differs (apart from the changed columns)."""
    compared = [i for i, name in enumerate(first.names) if name not in changed]
    found = []
    same_order = [name for name in first.order if name in second.published] == [
        name for name in second.order if name in first.published
    ]
    for name, unit in first.id_of.items():
        if not first.keys.get(unit, set()) & second.keys.get(second.id_of.get(name, -1), set()):
            continue
        left, right = first.published.get(name), second.published.get(name)
        if left is None or right is None:
            differs = left is not right
        else:
            differs = any(left[i] != right[i] for i in compared)
        if differs or not same_order:
            found.append(name)
    return found


def test_no_method_has_its_own_way_to_the_secret() -> None:
    for name, method in METHODS.items():
        assert method.apply is Method.apply, f"{name} has its own apply and so its own way to the secret"


@EACH
def test_examples_of_the_registry_draw_by_the_rule_or_not_at_all(name: str, number: int, monkeypatch: Any) -> None:
    """A method that is added is tried here without another line: a subset, another secret, another order of records."""
    method, data = method_of(name, number), survey()
    first = spied(monkeypatch, (method,), data, name="person")
    if not first.keys:
        one, two = (run(method, data, secret).data.frame.table for secret in (1, 2))
        assert one.equals(two), "what depends on the secret must ask for draws"
        return
    part = data.rows(np.flatnonzero(np.arange(data.n_records) % 10 != 0))
    if not method.blanks_only:  # blanks: two different ones of a record would add up to none
        assert reused(first, spied(monkeypatch, (method,), part, name="person")) == []
    other = spied(monkeypatch, (method,), data, secret=2, name="person")
    assert all(not keys & other.keys.get(unit, set()) for unit, keys in first.keys.items())
    mixed = spied(
        monkeypatch, (method,), data.rows(np.random.default_rng(8).permutation(data.n_records)), name="person"
    )
    assert mixed.keys == first.keys
    assert sorted(mixed.published) == sorted(first.published)


@pytest.mark.parametrize("method", BLANKS, ids=lambda method: repr(method.strata))
def test_blanks_do_not_depend_on_the_order_and_change_no_value(method: Method, monkeypatch: Any) -> None:
    first = spied(monkeypatch, (method,), people())
    second = spied(monkeypatch, (method,), people(rows=np.random.default_rng(8).permutation(N)))
    assert first.published == second.published
    original = {row[0]: row for row in people().frame.table.iter_rows()}
    for name, row in first.published.items():
        assert all(new is None or new == old for new, old in zip(row, original[name], strict=True))


def test_new_counts_come_back_only_for_the_same_counts_and_parameters(monkeypatch: Any) -> None:
    """Not steps and time: they cut one sequence of the search. Nor other variables, which leave the file."""

    def drawn(method: Safe, data: Microdata) -> set[Any]:
        keys: set[Any] = set()
        of_part = StepDraws.of_part

        def spy(self: StepDraws, units: Any) -> Any:
            made = of_part(self, units)
            keys.add(made.words("spy"))
            return made

        monkeypatch.setattr(StepDraws, "of_part", spy)
        method.apply(data, secret=as_secret(1), progress=silent)
        monkeypatch.undo()
        return keys

    data = file_of({name: values for name, values in columns().items() if name != "w"})
    first = drawn(COUNTED, data)
    assert len(first) == 1
    assert drawn(replace(COUNTED, steps=41), data) == first
    assert drawn(COUNTED, data.rows(np.random.default_rng(2).permutation(N))) == first
    for other in (
        replace(COUNTED, ways=1),
        replace(COUNTED, variables=("sex", "age")),
        replace(COUNTED, crossed_bound=99),
    ):
        assert drawn(other, data) != first
    assert drawn(COUNTED, data.rows(np.arange(N - 1))) != first
    changed = {name: values.copy() for name, values in columns().items() if name != "w"}
    changed["job"][0] = "e" if changed["job"][0] != "e" else "a"
    assert drawn(COUNTED, file_of(changed)) != first


@pytest.mark.parametrize(("method", "other"), RANDOM, ids=IDS)
def test_other_parameters_give_other_draws(method: Method, other: dict[str, Any], monkeypatch: Any) -> None:
    first = undisturbed(RANDOM.index((method, other)))
    second = spied(monkeypatch, (replace(method, **other),), people())
    assert first.keys, "a random method must ask for draws"
    for unit, keys in first.keys.items():
        assert not keys & second.keys.get(unit, set())


@pytest.mark.parametrize(("method", "other"), RANDOM, ids=IDS)
def test_a_subset_gets_other_draws_or_the_same_values(method: Method, other: Any, monkeypatch: Any) -> None:
    first = undisturbed(RANDOM.index((method, other)))
    second = spied(monkeypatch, (method,), people(rows=np.arange(N) % 10 != 0))
    assert reused(first, second) == []


@pytest.mark.parametrize("both", [False, pytest.param(True, marks=pytest.mark.deep)], ids=["one way", "both ways"])
@pytest.mark.parametrize(("method", "other"), RANDOM, ids=IDS)
def test_another_column_gives_other_draws_or_the_same_values(
    method: Method, other: Any, both: bool, monkeypatch: Any
) -> None:
    """Each column in turn is mixed again, or corrected in one record; what is published of the others is compared."""
    first = undisturbed(RANDOM.index((method, other)))
    for number, name in enumerate(columns()):
        if name == "id":
            continue
        for count in (N, 1) if both else ((N, 1)[number % 2],):
            values = columns()
            rows = np.arange(N)[:count]
            values[name][rows] = np.roll(values[name], -7)[rows]
            if method.name == "new-identifiers" and name == "case" and count == 1:
                continue
            second = spied(monkeypatch, (method,), people(values))
            assert reused(first, second, (name,)) == [], f"{name}, {count} records"


@pytest.mark.parametrize(("method", "other"), RANDOM, ids=IDS)
def test_other_steps_before_give_other_draws_or_the_same_values(method: Method, other: Any, monkeypatch: Any) -> None:
    first = undisturbed(RANDOM.index((method, other)))
    before = (RoundValues(("income", "tax"), base=0.1), Pram(("region",), keep=0.9))
    for step in before:
        second = spied(monkeypatch, (step, method) if step.name != method.name else (method,), people())
        assert reused(first, second, tuple(step.variables)) == []


@pytest.mark.parametrize(("method", "other"), RANDOM, ids=IDS)
def test_the_order_of_records_changes_no_byte(method: Method, other: Any, monkeypatch: Any) -> None:
    first = undisturbed(RANDOM.index((method, other)))
    second = spied(monkeypatch, (method,), people(rows=np.random.default_rng(8).permutation(N)))
    assert first.published == second.published
    assert first.keys == second.keys
    if method.name == "reorder":
        assert first.order == second.order


@pytest.mark.parametrize(("method", "other"), RANDOM, ids=IDS)
def test_another_reading_of_the_schema_gives_other_draws(method: Method, other: Any, monkeypatch: Any) -> None:
    first = undisturbed(RANDOM.index((method, other)))
    data = people()
    schema = data.schema
    for variable in schema.variables:
        schema = schema.change(variable.name, decimals=3)
    second = spied(monkeypatch, (method,), data.with_schema(schema))
    assert reused(first, second) == []
    if not (isinstance(method, Sample) and not method.strata):  # a plain sample looks at no variable
        for unit, keys in first.keys.items():
            assert not keys & second.keys[unit]


def test_files_without_identifiers_never_share_a_draw_between_records(monkeypatch: Any) -> None:
    """Positions stand in for ids: a shifted file must not give one record's noise to another."""
    for method, _ in RANDOM:
        if method.name in ("reorder", "sample"):
            continue
        values = columns()
        whole, shifted = (file_of({k: v[rows] for k, v in values.items()}, roles={"w": Role.WEIGHT}, ordinal=("age",))
                          for rows in (slice(None), slice(1, None)))  # fmt: skip
        first, second = (spied(monkeypatch, (method,), data) for data in (whole, shifted))
        by_position = [(values["id"][at], values["id"][at + 1], at) for at in range(N - 1)]
        for here, there, at in by_position:
            if first.keys.get(at, set()) & second.keys.get(at, set()):
                for name in method.variables:
                    index = first.names.index(name)
                    assert values[name][at] == values[name][at + 1]
                    assert first.published[here][index] == second.published[there][index]


def test_spellings_of_one_number_are_one_parameter() -> None:
    assert draws_module.parameters_key(Noise(("income",), k=1)) == draws_module.parameters_key(
        Noise(("income",), k=1.0)
    )
    speed = [draws_module.parameters_key(Microaggregate(("a",), threads=threads)) for threads in (1, 2)]
    assert speed[0] == speed[1]
    assert draws_module.parameters_key(Noise(("a", "b"))) != draws_module.parameters_key(Noise(("a, b",)))
