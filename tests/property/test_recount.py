"""The recount of a masked file against an obvious reference: every pair of a person and a published record, in Python."""

from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest

from reticent.base.progress import silent
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Schema, Variable
from reticent.microdata.mask.generalize import Generalize
from reticent.microdata.mask.local_suppression import LocalSuppression
from reticent.microdata.mask.microaggregation import Microaggregate
from reticent.microdata.mask.noise import Noise
from reticent.microdata.mask.pram import Pram
from reticent.microdata.mask.rank_swap import RankSwap
from reticent.microdata.mask.recode import Recode
from reticent.microdata.mask.reorder import Reorder
from reticent.microdata.mask.round_values import RoundValues
from reticent.microdata.mask.sampling import Sample
from reticent.microdata.mask.swap import Swap
from reticent.microdata.mask.top_code import BottomCode, TopCode
from reticent.microdata.pipeline import apply_steps
from reticent.microdata.risk.combinations import KeyCombinations
from reticent.microdata.risk.individual import record_risk
from reticent.microdata.risk.recount import recount

KEYS = ("region", "sex", "age", "job")


def people(seed: int, n: int) -> Microdata:
    rng = np.random.default_rng(seed)
    job = [None if gone else code for code, gone in zip(rng.choice(["11", "12", "21", "22"], n), rng.random(n) < 0.05)]
    frame = pl.DataFrame(
        {
            "region": rng.choice(["N1", "N2", "S1", "S2"], n, p=[0.5, 0.2, 0.2, 0.1]),
            "sex": rng.choice(["f", "m"], n),
            "age": rng.integers(20, 32, n),
            "job": job,
            "w": rng.uniform(1, 9, n).round(1),
        }
    )
    schema = Schema(
        (
            Variable("region", role="key", digits=(1, 1)),  # type: ignore[arg-type]
            Variable("sex", role="key"),  # type: ignore[arg-type]
            Variable("age", role="key", kind="numeric"),  # type: ignore[arg-type]
            Variable("job", role="key", digits=(1, 1)),  # type: ignore[arg-type]
            Variable("w", role="weight", kind="numeric"),  # type: ignore[arg-type]
        )
    )
    return Microdata.of(frame, schema)


BANDS = Recode("age", bands=(20, 24, 28))
REGION = Recode("region", level=1)
BLANKS = LocalSuppression(combinations=KeyCombinations(dimension=2, threshold=2))
PRAM = Pram(("sex", "region"), keep=0.6)
PLANS = {
    "nothing": (),
    "recoded": (BANDS, REGION),
    "to one code": (Recode("region", level=0), Recode("sex", map={"f": "*", "m": "*"})),
    "blanks": (BLANKS,),
    "recoded, blanks": (BANDS, REGION, BLANKS),
    "blanks, recoded": (BLANKS, BANDS, REGION),
    "PRAM": (PRAM,),
    "PRAM, recoded": (PRAM, REGION, BANDS),
    "recoded, PRAM, blanks": (REGION, BANDS, Pram(("sex", "region"), keep=0.6), BLANKS),
    "swapped": (Swap(("region",), rate=40.0),),
    "swapped, recoded": (Swap(("region", "job"), rate=40.0), REGION),
    "sampled": (Sample(0.6),),
    "sampled, recoded, PRAM": (Sample(0.6), REGION, Pram(("region",), keep=0.7)),
    "generalized": (Generalize(k=4, suppression=0.2),),
    "generalized by record": (Generalize(("region", "sex", "job"), k=4, suppression=0.2, local=True),),
    "top and bottom": (TopCode("age", value=28.0), BottomCode("age", value=23.0, replacement="mean")),
    "top with a label": (TopCode("age", value=28.0, label="28+"),),
    "rounded": (RoundValues(("age",), base=5.0),),
    "rounded at random": (RoundValues(("age",), base=5.0, how="random"),),
    "microaggregated": (Microaggregate(("age",), k=5),),
    "microaggregated, recoded": (Microaggregate(("age",), k=5), REGION, BLANKS),
    "noise": (Noise(("age",), k=0.2),),
    "noise, bands": (Noise(("age",), k=0.2), BANDS),
    "rank swapped": (RankSwap(("age",), window=20.0), REGION),
    "another order": (BANDS, Reorder(), PRAM),
}  # fmt: skip


class Reference:
    """The same question, asked pair by pair; it watches the steps from outside and shares no code with the recount."""

    def __init__(self, data: Microdata) -> None:
        self.true = {name: self.column(data, name) for name in KEYS}
        self.ids = data.record_ids().tolist()
        self.weights = data.numbers(("w",))[:, 0].tolist()
        self.shown_for = {name: {v: {v} for v in self.true[name] if v is not None} for name in KEYS}
        self.moved: set[str] = set()
        self.repeated: dict[str, list[object]] = {}
        self.blanked: set[str] = set()

    @staticmethod
    def column(data: Microdata, name: str) -> list[object]:
        texts = data.texts(name)
        if data.schema[name].kind == "numeric":
            return [None if text is None else float(text) for text in texts]
        return list(texts)

    def watch(self, step: object, before: Microdata, after: Microdata) -> None:
        if isinstance(step, LocalSuppression):
            self.blanked |= set(KEYS)
        if isinstance(step, LocalSuppression | Reorder | Sample):
            return
        coarse = isinstance(step, Recode | TopCode | BottomCode | RoundValues | Generalize)
        for name in KEYS:
            old, new = self.column(before, name), self.column(after, name)
            if old == new:
                continue
            if not coarse:
                self.moved.add(name)
                continue
            went: dict[object, set[object]] = {}
            for a, b in zip(old, new):
                if a is not None and b is not None:
                    went.setdefault(a, set()).add(b)
            if name in self.moved and isinstance(step, Recode):
                for value in {v for shown in self.shown_for[name].values() for v in shown}:
                    one = before.rows(np.array([0]))
                    one = self.with_value(one, name, value)
                    went.setdefault(value, set()).add(
                        self.column(step.apply(one, secret=as_secret(0), progress=silent).data, name)[0]
                    )
            self.shown_for[name] = {
                true: {b for a in shown for b in went.get(a, set())} for true, shown in self.shown_for[name].items()
            }
        if isinstance(step, Microaggregate) or (isinstance(step, Generalize) and step.local):
            self.repeat(after)

    def repeat(self, after: Microdata) -> None:
        """What a step that draws nothing made of each person; of whoever it blanked, the finest value it might show."""
        for name in KEYS:
            several = any(len(shown) > 1 for shown in self.shown_for[name].values())
            if not several and name not in self.moved:
                continue
            stands = {b: sum(b in shown for shown in self.shown_for[name].values()) for b in self.values(name)}
            finest = {a: min(shown, key=lambda b: stands[b], default=None) for a, shown in self.shown_for[name].items()}
            self.repeated[name] = [
                finest.get(true) if now is None else now
                for true, now in zip(self.true[name], self.column(after, name), strict=True)
            ]

    def values(self, name: str) -> set[object]:
        return {b for shown in self.shown_for[name].values() for b in shown}

    @staticmethod
    def with_value(one: Microdata, name: str, value: object) -> Microdata:
        if one.schema[name].kind == "numeric":
            return one.with_numbers(name, np.array([value]))
        return one.with_codes(name, np.array([0], dtype=np.int32), [str(value)])

    def candidates(self, masked: Microdata) -> dict[int, list[tuple[int, float]]]:
        """Fitting records of each person, and their weights, for each attacker to whom its own is among them.

        One has all keys or leaves out some that chance has changed; one knows what steps that draw nothing made of each.
        """
        codes = [name for name in KEYS if name in self.moved and masked.schema[name].kind != "numeric"]
        sets = [out for size in range(len(codes) + 1) for out in combinations(codes, size)]
        found: dict[int, list[tuple[int, float]]] = {}
        for left_out in sets:
            for repeats in (False, True) if self.repeated else (False,):
                for person, fitting in self.counts(masked, [n for n in KEYS if n not in left_out], repeats).items():
                    found.setdefault(person, []).append(fitting)
        return found

    def missing_for_all(self, masked: Microdata, name: str, truth: list[Any]) -> bool:
        """Whether a missing value is that of somebody who has none: no step blanks values, and none is blank."""
        own = dict(zip(self.ids, truth, strict=True))
        shown = zip(masked.record_ids().tolist(), self.column(masked, name), strict=True)
        return name not in self.blanked and all(own[number] is None for number, value in shown if value is None)

    def counts(self, masked: Microdata, keys: list[str], repeats: bool) -> dict[int, tuple[int, float]]:
        shown = {name: self.column(masked, name) for name in keys}
        each = self.repeated if repeats else {}
        numeric = {n for n in self.moved if masked.schema[n].kind == "numeric" and n not in each}
        own_value = {n for n in keys if n not in numeric and self.missing_for_all(masked, n, each.get(n, self.true[n]))}
        kept = set(masked.record_ids().tolist())
        left = sum(w for w, number in zip(self.weights, self.ids) if number in kept)
        stands_for = {number: w * sum(self.weights) / left for w, number in zip(self.weights, self.ids)}
        weights = [stands_for[number] for number in masked.record_ids().tolist()]
        found: dict[int, tuple[int, float]] = {}
        at = {number: place for place, number in enumerate(self.ids)}
        published = masked.record_ids().tolist()
        for i, number in enumerate(published):
            person = {name: self.true[name][at[number]] for name in keys}
            made = {name: column[at[number]] for name, column in each.items()}

            def fits(j: int, person: dict[str, Any] = person, made: dict[str, Any] = made, i: int = i) -> bool:
                for name in keys:
                    if shown[name][j] is None:
                        if name in own_value and made.get(name, person[name]) is not None:
                            return False
                        continue
                    if name in made:
                        if shown[name][j] != made[name]:
                            return False
                    elif name in numeric:
                        own = 0.0 if shown[name][i] is None else abs(person[name] - shown[name][i])  # type: ignore[operator]
                        if abs(person[name] - shown[name][j]) > own + 1e-9:  # type: ignore[operator]
                            return False
                    elif shown[name][j] not in self.shown_for[name].get(person[name], set()):
                        return False
                return True

            if fits(i):
                fitting = [j for j in range(len(published)) if fits(j)]
                found[at[number]] = (len(fitting), sum(weights[j] for j in fitting))
        return found


@pytest.mark.parametrize("name", list(PLANS))
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_recount_is_that_of_all_pairs(name: str, seed: int) -> None:
    data = people(seed, 60 + 40 * seed)
    secret = as_secret(seed)
    reference, before = Reference(data), data
    for number, step in enumerate(PLANS[name]):
        again = sum(other.name == step.name for other in PLANS[name][:number])
        after = step.apply(before, secret=secret.child(f"{step.name}:{again}"), progress=silent).data
        reference.watch(step, before, after)
        before = after
    masked = apply_steps(data, PLANS[name], secret=secret)
    assert masked.data.frame.table.equals(before.frame.table)
    found = recount(masked.trace, masked.data, KEYS)
    assert found.population_counts is not None
    risk, counted = found.individual().risk, zip(found.sample_counts.tolist(), found.population_counts.tolist())
    expected = reference.candidates(before)
    for person, (count, total) in enumerate(counted):
        ways = {way: float(record_risk([way[0]], [way[1]])[0]) for way in expected.get(person, [])} or {(0, 0.0): 0.0}
        largest = max(ways.values())
        assert risk[person] == pytest.approx(largest)
        same = [way for way, value in ways.items() if value == pytest.approx(largest)]
        assert any(count == way[0] and total == pytest.approx(way[1]) for way in same)
