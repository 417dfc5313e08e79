# SPDX-License-Identifier: Apache-2.0
"""Whom an attack is aimed at and what the attacker knows: generated establishments, or a target found in any data."""

import itertools
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from reticent.base.errors import DataError
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.frames.frame import from_columns
from reticent.queries.policy import Bounds, Policy

Codes = tuple[tuple[str, str], ...]
REGIONS = ("east", "north", "south", "west")
INDUSTRIES = ("food", "metal", "textile", "trade", "transport")
SIZES = ("large", "medium", "small")
RARE, HIDDEN = "special", "P77"
OTHER_VALUE = 0.45


@dataclass(frozen=True)
class Knowledge:
    """What the attacker knows: who is in the data with which filters, never the target's response.

    `target` and `partner` are codes that only one respondent has; `partner_value` is known because the partner is the
    attacker. `codes` lists for each categorical filter of `target` its published codes. `rare` is a single code that only
    the target has; `dominated` a number in which the target is far ahead; `fingerprint` a number that differs for every
    respondent, with the numbers of some others; `hidden` a code that is in no code list.
    """

    response: str
    target: Codes
    codes: dict[str, tuple[str, ...]]
    partner: Codes | None = None
    partner_value: float | None = None
    rare: tuple[str, str] | None = None
    dominated: tuple[str, float] | None = None
    fingerprint: tuple[str, float, tuple[float, ...]] | None = None
    hidden: tuple[str, str] | None = None
    largest: tuple[str, str] | None = None


@dataclass(frozen=True)
class Scenario:
    """Records, their policy, the target's record and what the attacker knows."""

    data: Microdata = field(repr=False)
    policy: Policy
    row: int
    knowledge: Knowledge

    @property
    def truth(self) -> float:
        """The target's value, for judging attacks only."""
        return float(self.data.numbers((self.knowledge.response,))[self.row, 0])

    def with_mode(self, mode: str) -> "Scenario":
        """The same data in another mode."""
        return replace(self, policy=replace(self.policy, mode=mode, test=mode == "open"))

    def twin(self) -> "Scenario":
        """The same data except for the target's value."""
        values = self.data.numbers((self.knowledge.response,))[:, 0].copy()
        values[self.row] = np.floor(values[self.row] * OTHER_VALUE)
        return replace(self, data=self.data.with_numbers(self.knowledge.response, values))


def establishments(*, n: int = 400, mode: str = "exact", own_codes: bool = True) -> Scenario:
    """Generated firms; the first is the target, the second a partner in crime, both unique by region, industry, size.

    Without `own_codes` these three are the only filters: nothing else singles the target out.
    """
    rng = as_secret(2011).stream("establishments")
    region, industry, size = (rng.integers(0, k, n) for k in (len(REGIONS), len(INDUSTRIES), len(SIZES)))
    (region[0], industry[0], size[0]), (region[1], industry[1], size[1]) = (1, 1, 0), (1, 4, 0)
    others = np.arange(n) > 1
    crowded = others & (region == 1) & np.isin(industry, (1, 4)) & (size == 0)
    size[crowded] = 1
    turnover = np.round(np.exp(rng.normal(6.0, 0.6, n) + 0.8 * (2 - size)))
    north = (region == 1) & others
    turnover[0] = np.round(turnover[north].max() * 3.1)
    floor_area = rng.permutation(900)[:n] + 100.0
    floor_area[0] = 2_000_000.0
    weight = np.round(rng.permutation(n) * 3.1271 + 11.0419, 4)
    licence = np.where(rng.random(n) < 0.5, "no", "yes").astype(object)
    permit = np.array([f"P0{k}" for k in rng.integers(1, 6, n)], dtype=object)
    licence[0], permit[0] = RARE, HIDDEN
    columns = {
        "firm": [f"F{i:04d}" for i in range(n)],
        "region": [REGIONS[k] for k in region],
        "industry": [INDUSTRIES[k] for k in industry],
        "size": [SIZES[k] for k in size],
        "licence": licence.tolist(),
        "permit": permit.tolist(),
        "employees": np.round(np.exp(rng.normal(2.0, 1.0, n)) * (1 + 4.0 * (2 - size))).tolist(),
        "floor_area": floor_area.tolist(),
        "weight": weight.tolist(),
        "turnover": turnover.tolist(),
    }
    data = Microdata.of(from_columns(columns), _schema())
    policy, knowledge = _policy(mode, float(turnover.max())), _own_knowledge(data, weight)
    if not own_codes:
        policy = replace(policy, filters=("region", "industry", "size"), cutpoints={})
        knowledge = replace(knowledge, rare=None, dominated=None, fingerprint=None, hidden=None)
    return Scenario(data, policy, 0, knowledge)


def _schema() -> Schema:
    return Schema(
        (
            Variable("firm", role=Role.IDENTIFIER),
            Variable("region", role=Role.KEY, codes=REGIONS),
            Variable("industry", role=Role.KEY, codes=INDUSTRIES),
            Variable("size", role=Role.KEY, codes=SIZES),
            Variable("licence", role=Role.KEY, codes=("no", RARE, "yes")),
            Variable("permit", role=Role.KEY),
            Variable("employees", role=Role.KEY, kind=Kind.NUMERIC),
            Variable("floor_area", role=Role.KEY, kind=Kind.NUMERIC),
            Variable("weight", role=Role.KEY, kind=Kind.NUMERIC),
            Variable("turnover", role=Role.SENSITIVE, kind=Kind.NUMERIC),
        )
    )


def _policy(mode: str, largest: float) -> Policy:
    return Policy(
        mode=mode,
        test=mode == "open",
        filters=("region", "industry", "size", "licence", "permit", "employees", "floor_area", "weight"),
        responses=("turnover",),
        minimum=3,
        dominance=(1, 25),
        cutpoints={"employees": (10.0, 50.0, 250.0)},
        bounds={"turnover": Bounds(0.0, 100.0 * largest)},
        options={
            "analysis": {"strata": ["region"]},
            "camouflage": {"insiders": 1},
            "cell-key": {"sums": {"small": 0.2}},
        },
    )


def _own_knowledge(data: Microdata, weight: NDArray[np.float64]) -> Knowledge:
    return Knowledge(
        response="turnover",
        target=(("region", "north"), ("industry", "metal"), ("size", "large")),
        codes={"region": REGIONS, "industry": INDUSTRIES, "size": SIZES},
        partner=(("region", "north"), ("industry", "transport"), ("size", "large")),
        partner_value=float(data.numbers(("turnover",))[1, 0]),
        rare=("licence", RARE),
        dominated=("floor_area", 2_000_000.0),
        fingerprint=("weight", float(weight[0]), tuple(float(w) for w in weight[2:17])),
        hidden=("permit", HIDDEN),
        largest=("region", "north"),
    )


def scenario_from(data: Microdata, policy: Policy, *, response: str | None = None) -> Scenario:
    """Find a target in any data: a respondent that some categorical filters single out."""
    if not policy.responses:
        raise DataError("attack: the policy has no response to attack; name one in responses.")
    name = response or policy.responses[0]
    values = data.numbers((name,))[:, 0]
    categorical = [f for f in policy.filters if data.schema[f].kind is not Kind.NUMERIC]
    # where no filters single anybody out, attacks that need it report so; others have their own ingredients
    (names, row), *more = _singled_out(data, values, categorical) or [((), int(np.nanargmax(np.abs(values))))]
    target = _codes_of(data, names, row)
    partner = next(((n, r) for n, r in more if n == names and r != row), None)
    knowledge = Knowledge(
        response=name,
        target=target,
        codes={n: data.categories(n) for n in names},
        partner=None if partner is None else _codes_of(data, *partner),
        partner_value=None if partner is None else float(values[partner[1]]),
        rare=target[0] if len(target) == 1 else None,
        dominated=_dominated(data, policy, row),
        fingerprint=_fingerprint(data, policy, row),
        hidden=_own_code(data, target, row),
        largest=_largest(data, values, target, row),
    )
    return Scenario(data, policy, row, knowledge)


def _codes_of(data: Microdata, names: tuple[str, ...], row: int) -> Codes:
    return tuple((n, data.categories(n)[int(data.codes((n,))[row, 0])]) for n in names)


def _own_code(data: Microdata, target: Codes, row: int) -> tuple[str, str] | None:
    """A code in no code list that the target alone has: that it exists is then a fact about one record."""
    for name, code in target:
        codes = data.codes((name,))[:, 0]
        if code not in data.schema[name].codes and int((codes == codes[row]).sum()) == 1:
            return name, code
    return None


def _singled_out(data: Microdata, values: NDArray[np.float64], names: list[str]) -> list[tuple[tuple[str, ...], int]]:
    """Records that are the only ones in a combination of filters and with a value other than 0, the widest combinations first."""
    found = []
    for depth in (3, 2, 1):
        for subset in itertools.combinations(names, depth):
            codes = data.codes(subset)
            _, first, counts = np.unique(codes, axis=0, return_index=True, return_counts=True)
            rows = [int(r) for r in first[counts == 1] if (codes[r] >= 0).all() and values[r] == values[r] != 0]
            found += [(subset, row) for row in sorted(rows, key=lambda r: -abs(values[r]))[:2]]
    return found


def _numeric_filters(data: Microdata, policy: Policy) -> list[str]:
    free = [f for f in policy.filters if data.schema[f].kind is Kind.NUMERIC and f not in policy.cutpoints]
    return [f for f in free if not bool(np.isnan(data.numbers((f,))).any())]


def _dominated(data: Microdata, policy: Policy, row: int) -> tuple[str, float] | None:
    for name in _numeric_filters(data, policy):
        x = data.numbers((name,))[:, 0]
        gap = np.abs(x - np.median(x))
        if gap[row] > 100 * max(float(np.delete(gap, row).max(initial=0.0)), 1e-12):
            return name, float(x[row])
    return None


def _fingerprint(data: Microdata, policy: Policy, row: int) -> tuple[str, float, tuple[float, ...]] | None:
    for name in _numeric_filters(data, policy):
        x = data.numbers((name,))[:, 0]
        distinct, counts = np.unique(x, return_counts=True)
        alone = [float(v) for v in distinct[counts == 1] if v != x[row]]
        if (x == x[row]).sum() == 1 and len(alone) >= 15:
            return name, float(x[row]), tuple(alone[:15])
    return None


def _largest(data: Microdata, values: NDArray[np.float64], target: Codes, row: int) -> tuple[str, str] | None:
    for name, code in target:
        codes = data.codes((name,))[:, 0]
        if values[row] == np.nanmax(values[codes == codes[row]]):
            return name, code
    return None
