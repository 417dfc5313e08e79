# SPDX-License-Identifier: Apache-2.0
"""What a key group reveals about sensitive values: l-diversity, t-closeness and their kin.

For each key group j of n_j records and each sensitive value s: q_js is the value's share in the group, p_s its share in
the file, r_1 ≥ r_2 ≥ … the counts of the group's values. A missing sensitive value is a value of its own (except where
values are ordered or form a tree: there it is left out). A missing key is a code of its own.

| measure | per group | of the file | source |
|---|---|---|---|
| distinct l | number of values | min | Machanavajjhala et al. 2007 |
| entropy l | exp(−Σ q ln q) | min | the same; not truncated to a whole number as pyCANON does |
| recursive (c,l) | largest l with r_1 < c (r_l + r_{l+1} + …), 1 if there is none | min | the same; pyCANON sorts the wrong way |
| α of (α,k) | max_s q_js | max | Wong et al. 2006 |
| t, equal | ½ Σ_s abs(q_js − p_s) | max | Li, Li and Venkatasubramanian 2007 |
| t, ordered | Σ_i abs(Σ_{s≤i} (q_js − p_s)) / (m − 1) | max | the same |
| t, hierarchical | Σ over inner nodes (height/H) · min(surplus, deficit of its children) | max | the same |
| β, basic | max over q > p of (q − p)/p | max | Cao and Karras 2012 |
| β, enhanced | the same where every (q − p)/p ≤ −ln p_s, else ∞ | max | the same |
| δ | max over q > 0 of abs(log(q/p)), base explicit | max | Brickell and Shmatikov 2008 |
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats
from reticent.base.checks import check_between
from reticent.base.errors import DataError, ParameterError
from reticent.data.hierarchy import Hierarchy
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind
from reticent.kernels.grouping import group_columns
from reticent.microdata.risk.semantics import keys_of

CHUNK = 4_096
"""Groups that are compared with a tree at a time."""


@dataclass(frozen=True)
class ValueTable:
    """Counts of sensitive values in key groups, sparse: entry e is `count[e]` records of `group[e]` with `value[e]`."""

    group: NDArray[np.int64]
    value: NDArray[np.int64]
    count: NDArray[np.int64]
    sizes: NDArray[np.int64]
    totals: NDArray[np.int64]

    @classmethod
    def of(cls, group: NDArray[np.int64], n_groups: int, values: NDArray[np.int64], n_values: int) -> "ValueTable":
        """Cross groups with values (0 … n_values − 1)."""
        pair, n_pairs = group_columns((group, values), (n_groups, n_values))
        first = np.empty(n_pairs, np.int64)
        first[pair[::-1]] = np.arange(len(pair))[::-1]
        order = np.lexsort((values[first], group[first]))
        count = np.bincount(pair, minlength=n_pairs)[order]
        return cls(
            group[first][order],
            values[first][order],
            count,
            np.bincount(group, minlength=n_groups),
            np.bincount(values, minlength=n_values),
        )

    @property
    def q(self) -> Floats:
        """Share of each entry in its group."""
        return self.count / self.sizes[self.group]

    @property
    def p(self) -> Floats:
        """Share of each value in the file."""
        return np.asarray(self.totals / self.totals.sum())

    def largest(self, entries: Floats) -> Floats:
        """The largest of `entries` in each group (−inf where it has none)."""
        out = np.full(len(self.sizes), -np.inf)
        np.maximum.at(out, self.group, entries)
        return out

    def sums(self, entries: Floats) -> Floats:
        """The sum of `entries` in each group."""
        return np.bincount(self.group, weights=entries, minlength=len(self.sizes)).astype(np.float64)


def distinct_l(table: ValueTable) -> Floats:
    """Number of different values per group."""
    return np.bincount(table.group, minlength=len(table.sizes)).astype(np.float64)


def entropy_l(table: ValueTable) -> Floats:
    """exp of the entropy per group: the number of equally frequent values that would be as diverse."""
    q = table.q
    return np.asarray(np.exp(table.sums(-q * np.log(q))))


def recursive_l(table: ValueTable, *, c: float) -> Floats:
    """Largest l per group with r_1 < c · (r_l + r_{l+1} + …); 1 where even l = 2 fails (l = 1 holds for c > 1 only)."""
    order = np.lexsort((-table.count, table.group))
    group, count = table.group[order], table.count[order]
    starts = np.searchsorted(group, np.arange(len(table.sizes)))
    rank = np.arange(len(group)) - starts[group]
    cumulated = np.cumsum(count) - count  # records of all entries before this one
    before = cumulated - cumulated[starts[group]]
    tail = table.sizes[group] - before  # r_l + r_{l+1} + … with l = rank + 1
    holds = count[starts[group]] < c * tail
    out = np.ones(len(table.sizes))
    np.maximum.at(out, group[holds], rank[holds] + 1.0)
    return out


def alpha(table: ValueTable) -> Floats:
    """Share of the most frequent value per group."""
    return table.largest(table.q)


def t_equal(table: ValueTable) -> Floats:
    """Variational distance of each group from the file: ½ Σ |q − p|, summed over the values that occur in the group."""
    p = table.p[table.value]
    # values that the group lacks add their whole share: Σ_absent p = 1 − Σ_present p
    return 0.5 * (table.sums(np.abs(table.q - p)) + 1 - table.sums(p))


def t_ordered(table: ValueTable) -> Floats:
    """Earth mover's distance over values in their order, normalised by m − 1 (m values that occur in the file)."""
    present = np.flatnonzero(table.totals)
    m = len(present)
    if m <= 1:
        return np.zeros(len(table.sizes))
    place = np.searchsorted(present, table.value)
    below = np.cumsum(table.p[present])
    area = np.concatenate(([0.0], np.cumsum(below)))
    # the cumulated share Q of a group is constant from each of its values to the next: Σ |Q − P_i| in closed form
    starts = np.searchsorted(table.group, np.arange(len(table.sizes)))
    running = np.cumsum(table.count)
    upto = (running - (running - table.count)[starts[table.group]]) / table.sizes[table.group]
    last = np.append(table.group[1:] != table.group[:-1], True)
    end = np.where(last, m, np.append(place[1:], m))
    cross = np.clip(np.searchsorted(below, upto), place, end)
    rising = upto * (cross - place) - (area[cross] - area[place])
    falling = (area[end] - area[cross]) - upto * (end - cross)
    return np.asarray((table.sums(rising + falling) + area[place[starts]]) / (m - 1))


def t_hierarchical(table: ValueTable, parents: NDArray[np.int64], leaf: NDArray[np.int64]) -> Floats:
    """Earth mover's distance over a tree: moving a share between leaves costs height of their meeting point / tree height.

    `parents` has every parent before its children (−1 at the root); `leaf` is the node of each value.
    """
    height = np.zeros(len(parents), np.int64)
    for node in range(len(parents) - 1, 0, -1):
        height[parents[node]] = max(height[parents[node]], height[node] + 1)
    out = np.zeros(len(table.sizes))
    whole = np.bincount(leaf, weights=table.p, minlength=len(parents))
    for begin in range(0, len(table.sizes), CHUNK):
        inside = (table.group >= begin) & (table.group < begin + CHUNK)
        extra = np.tile(-whole, (min(CHUNK, len(table.sizes) - begin), 1))
        np.add.at(extra, (table.group[inside] - begin, leaf[table.value[inside]]), table.q[inside])
        surplus, deficit = np.zeros_like(extra), np.zeros_like(extra)
        for node in range(len(parents) - 1, 0, -1):
            up = parents[node]
            extra[:, up] += extra[:, node]
            surplus[:, up] += np.maximum(extra[:, node], 0.0)
            deficit[:, up] += np.maximum(-extra[:, node], 0.0)
        moved = np.minimum(surplus, deficit) @ (height / max(int(height[0]), 1))
        out[begin : begin + CHUNK] = moved
    return out


def beta_basic(table: ValueTable) -> Floats:
    """Largest relative gain of a value per group: max (q − p)/p over q > p (0 where none gains)."""
    p = table.p[table.value]
    return np.maximum(table.largest((table.q - p) / p), 0.0)


def beta_enhanced(table: ValueTable) -> Floats:
    """Smallest β with (q − p)/p ≤ min(β, −ln p) for every value of the group; ∞ where −ln p itself is passed."""
    p = table.p[table.value]
    gain = (table.q - p) / p
    return np.maximum(table.largest(np.where(gain > -np.log(p) + 1e-12, np.inf, gain)), 0.0)


def delta_disclosure(table: ValueTable, *, base: float) -> Floats:
    """max |log_base(q/p)| over the values that occur in the group."""
    p = table.p[table.value]
    return table.largest(np.abs(np.log(table.q / p)) / math.log(base))


@dataclass(frozen=True)
class AttributeRisk:
    """All measures of one sensitive variable; each is the worst over the key groups."""

    keys: tuple[str, ...]
    sensitive: str
    c: float
    log_base: float
    distinct_l: int
    entropy_l: float
    recursive_l: int
    alpha: float
    k: int
    t_equal: float
    t_ordered: float | None
    t_hierarchical: float | None
    beta_basic: float
    beta_enhanced: float
    delta: float
    record_distinct_l: NDArray[np.int64] = field(repr=False, compare=False)

    def summary(self) -> str:
        """The short form."""
        parts = [
            f"distinct l = {self.distinct_l}, entropy l = {self.entropy_l:.3g}, "
            f"recursive l = {self.recursive_l} (c = {self.c:g})",
            f"(α, k) = ({self.alpha:.3g}, {self.k})",
            f"t = {self.t_equal:.3g} (equal)"
            + (f", {self.t_ordered:.3g} (ordered)" if self.t_ordered is not None else "")
            + (f", {self.t_hierarchical:.3g} (hierarchical)" if self.t_hierarchical is not None else ""),
            f"β = {self.beta_basic:.3g} (basic), {self.beta_enhanced:.3g} (enhanced); "
            f"δ = {self.delta:.3g} (log base {self.log_base:.4g})",
        ]
        return f"{self.sensitive} given {', '.join(self.keys)}:\n  " + "\n  ".join(parts)


def attribute_risk(
    data: Microdata,
    sensitive: str,
    keys: Sequence[str] = (),
    *,
    c: float = 2.0,
    log_base: float = math.e,
    given: Sequence[str] = (),
) -> AttributeRisk:
    """Every measure of one sensitive variable.

    `log_base` is that of δ-disclosure (ARX takes 2, pyCANON e; the same δ then means different protection). `given` are
    further variables that split the key groups: the other sensitive ones for diversity with several of them.
    """
    check_between(c, 1e-9, math.inf, name="c", owner="attribute_risk")
    if not log_base > 1:
        raise ParameterError(f"attribute_risk: log_base must be above 1, got {log_base!r}.")
    names = keys_of(data, keys, owner="attribute_risk")
    data.schema.require((sensitive, *given), owner="attribute_risk")
    if sensitive in names or sensitive in given:
        raise DataError(f"attribute_risk: {sensitive!r} cannot be key and sensitive at once.", variables=(sensitive,))
    patterns = data.patterns((*names, *given))
    codes = data.codes((sensitive,))[:, 0].astype(np.int64)
    n_values = len(data.categories(sensitive)) + 1
    table = ValueTable.of(patterns.group, len(patterns), np.where(codes < 0, n_values - 1, codes), n_values)
    distinct, by_entropy = distinct_l(table), entropy_l(table)
    ordered, tree = _closeness(data, sensitive, patterns.group, len(patterns), codes)
    return AttributeRisk(
        names,
        sensitive,
        c,
        log_base,
        int(distinct.min()),
        float(by_entropy.min()),
        int(recursive_l(table, c=c).min()),
        float(alpha(table).max()),
        int(table.sizes.min()),
        float(t_equal(table).max()),
        ordered,
        tree,
        float(beta_basic(table).max()),
        float(beta_enhanced(table).max()),
        float(delta_disclosure(table, base=log_base).max()),
        distinct[patterns.group].astype(np.int64),
    )


def _closeness(
    data: Microdata, name: str, group: NDArray[np.int64], n_groups: int, codes: NDArray[np.int64]
) -> tuple[float | None, float | None]:
    """t with order (numeric and ordinal variables) and over the tree (variables with a hierarchy), else None."""
    variable, categories = data.schema[name], data.categories(name)
    known = codes >= 0
    if not known.any() or (variable.kind is Kind.NOMINAL and variable.hierarchy is None):
        return None, None
    used, inside = np.unique(group[known], return_inverse=True)
    ordered = tree = None
    if variable.kind is not Kind.NOMINAL:
        rank = np.arange(len(categories))
        if variable.kind is Kind.NUMERIC:
            values = data.numbers((name,))[:, 0]
            _, place = np.unique(values[known], return_inverse=True)
            rank = np.zeros(len(categories), np.int64)
            rank[codes[known]] = place
        table = ValueTable.of(inside.ravel(), len(used), rank[codes[known]], int(rank.max()) + 1)
        ordered = float(t_ordered(table).max())
    if variable.hierarchy is not None:
        table = ValueTable.of(inside.ravel(), len(used), codes[known], len(categories))
        leaf = _leaves(variable.hierarchy, categories, codes[known], name)
        tree = float(t_hierarchical(table, np.array(variable.hierarchy.parents), leaf).max())
    return ordered, tree


def _leaves(
    hierarchy: Hierarchy, categories: tuple[str, ...], codes: NDArray[np.int64], name: str
) -> NDArray[np.int64]:
    present = {categories[code] for code in np.unique(codes)}
    absent = hierarchy.missing_from(present)
    if absent:
        raise DataError(
            f"attribute_risk: the hierarchy of {name!r} lacks {len(absent)} codes that occur; add them.",
            variables=(name,),
        )
    return np.array([hierarchy.index.get(category, 0) for category in categories], np.int64)


@dataclass(frozen=True)
class JointDiversity:
    """l-diversity of several sensitive variables at once: each one within key groups split by all the others."""

    keys: tuple[str, ...]
    single: tuple[AttributeRisk, ...]
    distinct_l: int
    entropy_l: float
    recursive_l: int

    def summary(self) -> str:
        """The short form."""
        head = f"jointly: distinct l = {self.distinct_l}, entropy l = {self.entropy_l:.3g}, recursive l = {self.recursive_l}"
        return "\n".join([head, *(risk.summary() for risk in self.single)])


def joint_diversity(
    data: Microdata, sensitive: Sequence[str], keys: Sequence[str] = (), *, c: float = 2.0
) -> JointDiversity:
    """Several sensitive variables (Machanavajjhala et al. 2007, section 4.3): knowing all but one must not give it away.

    For each sensitive variable the key groups are split by all the others; the measures are the smallest over variables
    and sub-groups.
    """
    names = keys_of(data, keys, owner="joint_diversity")
    if not sensitive:
        raise ParameterError("joint_diversity: sensitive must name at least one variable, got none.")
    split = [
        attribute_risk(data, name, names, c=c, given=[other for other in sensitive if other != name])
        for name in sensitive
    ]
    return JointDiversity(
        names,
        tuple(attribute_risk(data, name, names, c=c) for name in sensitive),
        min(risk.distinct_l for risk in split),
        min(risk.entropy_l for risk in split),
        min(risk.recursive_l for risk in split),
    )
