# SPDX-License-Identifier: Apache-2.0
"""What single sources tell of a key among the records that show one published code of it: one code, parts, sets, stretches.

`OutsideKey` asks for these and keeps them; here is what counts as told, and what chance does.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import sparse, special
from scipy.sparse import csgraph

from reticent.base.arrays import Floats, Ints, Mask
from reticent.kernels.grouping import group_columns
from reticent.microdata.risk.restored import LUCK, MOSTLY

UNSEEN = 0.01
"""The share of records that nobody of the set shares the code with, up to which it is believed: so many would show new codes."""
HALF = 0.5
"""The share of moved numbers that must have stayed among the owners, of those that chance does not bring there."""
Shares = tuple[Floats, Floats]
"""For each record how often its code, and the most frequent code, occurs among those with which it shares something."""


@dataclass(frozen=True)
class Moved:
    """What each record shows of a variable that chance has changed (−1: nothing that anybody has), and who has it.

    `elsewhere` are records that do not show their own value, or all where everybody with one value has one code of the key;
    `owners` are pairs of a value and a code. `near` says that the value is the nearest one that somebody has, so that a little
    noise brings some values nearer to those of others.
    """

    value: Ints
    elsewhere: Mask
    owners: Ints
    near: bool

    @classmethod
    def of(cls, value: Ints, has: Ints, own: Ints, codes: Ints, *, near: bool, trials: int) -> "Moved":
        """`has` and `codes` are those of each original record, `own` is which of these a published one is."""
        there = (has >= 0) & (codes >= 0)
        owners, count = np.unique(np.column_stack((has, codes))[there], axis=0, return_counts=True)
        alike = _one_code_each(
            owners, count, np.bincount(codes[there]).max(initial=0) / max(int(there.sum()), 1), trials
        )
        return cls(value, (own >= 0) & (alike | (value != has[own])), owners, near)


def _one_code_each(owners: Ints, count: Ints, most: float, trials: int) -> bool:
    """Whether people with one value nearly always have one code, more often than chance: a step worked inside of each code."""
    size, codes = np.bincount(owners[:, 0], weights=count), np.bincount(owners[:, 0])
    several = size > 1
    n_one, expected = float((several & (codes == 1)).sum()), max(float((most ** (size[several] - 1)).sum()), 1e-300)
    by_chance = n_one - expected - n_one * np.log(n_one / expected) if n_one > expected else 0.0
    return bool(n_one >= MOSTLY * several.sum() and by_chance <= np.log(LUCK / trials))


@dataclass(frozen=True)
class Sets:
    """The set of codes that a variable leaves to each record (−1: all), and the codes (`node` of the view) of each set.

    `wrong` has the one code that is left to records of which it is not the true one (−1: to others).
    """

    of: Ints
    codes: tuple[Ints, ...] = ()
    gain: float = 0.0
    wrong: Ints | None = None

    @property
    def told(self) -> bool:
        """Whether anything is left out."""
        return bool(self.codes)


@dataclass(eq=False)
class View:
    """Records that are looked at inside strata: their places, strata, true codes, and how many each stands for.

    `node` numbers codes in strata, `share` is the share of each record's code in its stratum, `most` the largest of each stratum.
    `asked` are the records in question. `part` is the part of its stratum that each record is known to be in, `sets` what the
    variable that leaves the fewest codes says beside that; `owned` is what moved values say together.
    """

    rows: Ints
    stratum: Ints
    true: Ints
    amounts: Ints
    node: Ints
    share: Floats
    most: Floats
    asked: Mask
    part: Ints
    sets: Sets
    owned: Sets
    alone: dict[str, Shares] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Ints, stratum: Ints, true: Ints, amounts: Ints, asked: Mask) -> "View":
        """Count the codes of each stratum."""
        stratum = np.unique(stratum, return_inverse=True)[1].ravel()
        own, many = true[rows], amounts[rows]
        node, n_nodes = group_columns([stratum, own], [int(stratum.max()) + 1, int(own.max()) + 1])
        counts, sizes = np.bincount(node, weights=many, minlength=n_nodes), np.bincount(stratum, weights=many)
        share = counts[node] / sizes[stratum]
        most = np.zeros(sizes.size)
        np.maximum.at(most, stratum, share)
        none = Sets(np.full(rows.size, -1))
        return cls(rows, stratum, own, many, node, share, most, asked, stratum, none, none)

    def take_parts(self, told: Ints) -> bool:
        """Tell codes apart that are in other parts; whether that says anything new. Who hides the source counts as known, too."""
        before = int(self.part.max(initial=-1)) + 1
        part, after = group_columns([self.part, told], [before, int(told.max(initial=0)) + 1])
        if after == before:
            return False
        self.part = part
        return True

    def left(self, sets: Sets) -> tuple[Ints, list[Ints]]:
        """For each record the codes that its part and its set have in common: a number, and the codes for each number."""
        size = int(self.part.max(initial=0)) + 1
        cell, n_cells = group_columns([self.part, sets.of + 1], [size, len(sets.codes) + 1])
        first = np.zeros(n_cells, dtype=np.int64)
        first[cell] = np.arange(cell.size)
        part_of, nodes = np.unique(np.column_stack((self.part, self.node)), axis=0).T
        ends = np.searchsorted(part_of, np.arange(size + 1))
        own = [nodes[ends[part] : ends[part + 1]] for part in self.part[first].tolist()]
        told = sets.of[first].tolist()
        return cell, [
            some if at < 0 else np.intersect1d(some, sets.codes[at]) for some, at in zip(own, told, strict=True)
        ]

    def take_sets(self, sets: Sets) -> Mask:
        """Keep the sets of the variable that leaves the fewest codes; the records of which it says something new."""
        if sets.gain <= self.sets.gain:
            return np.zeros(self.rows.size, dtype=bool)
        codes = np.bincount(np.unique(np.column_stack((self.part, self.node)), axis=0)[:, 0])
        cell, nodes = self.left(sets)
        new = np.array([own.size for own in nodes])[cell] < codes[self.part]
        if new.any():
            self.sets = sets
        return np.asarray(new)

    def sets_of(self, group: Ints, trials: int) -> Sets:
        """The codes that occur with each value of a variable, where chance hardly leaves the others out.

        Chance puts a records into s of N codes with probability C(N, s) pᵃ at most, p being the share of the s most frequent.
        Codes that one record of a set has count against all sets: so often the next record would have a new code (Good 1953).
        """
        value, n_values = self._inside((group,))
        cell, n_cells = group_columns([value, self.node], [n_values, int(self.node.max()) + 1])
        count = np.bincount(cell, weights=self.amounts, minlength=n_cells)
        value_of, node_of, stratum_of = (np.zeros(n, dtype=np.int64) for n in (n_cells, n_cells, n_values))
        value_of[cell], node_of[cell], stratum_of[value] = value, self.node, self.stratum
        size, codes = np.bincount(value, weights=self.amounts), np.bincount(value_of, minlength=n_values)
        share, all_codes = self._most_frequent(stratum_of, codes)
        luck = _log_choose(all_codes, codes) + size * np.log(share)
        believed = (codes < all_codes) & (luck <= np.log(LUCK / (trials * n_values)))
        alone = np.bincount(value_of, weights=count * (count == 1), minlength=n_values)
        if 2 * size[believed].sum() >= size.sum() and alone.sum() <= UNSEEN * size.sum():
            believed = codes < all_codes  # what holds for most people is known of the others, too
        use = np.flatnonzero(believed[value_of])
        if not use.size or alone[believed].sum() > UNSEEN * size[believed].sum():
            return Sets(np.full(self.rows.size, -1))
        use = use[np.lexsort((node_of[use], value_of[use]))]
        ends = np.flatnonzero(np.diff(value_of[use])) + 1
        numbers: dict[tuple[int, ...], int] = {}
        number = np.full(n_values, -1, dtype=np.int64)
        for own, nodes in zip(value_of[use][np.append(0, ends)], np.split(node_of[use], ends), strict=True):
            number[own] = numbers.setdefault(tuple(nodes.tolist()), len(numbers))
        asked = self.asked[self.rows] & believed[value]
        gain = float((self.amounts * np.log(all_codes / codes)[value])[asked].sum())
        return Sets(number[value], tuple(np.array(nodes) for nodes in numbers), gain)

    def sets_of_owners(self, moved: Moved, trials: int) -> Sets:
        """The codes of those who truly have the value that a record shows, where moved values mostly stayed among these.

        A value that went anywhere comes from somebody with the code of the record as often as the codes of its owners occur.
        Of numbers half must have stayed; the attacker is wrong about the others.
        """
        shown = moved.value[self.rows]
        use = np.flatnonzero(shown >= 0)
        kinds, kind = np.unique(np.column_stack((shown[use], self.stratum[use])), axis=0, return_inverse=True)
        kind, n_kinds = kind.ravel(), len(kinds)
        kind_of, node_of = self._nodes_of_owners(kinds, moved.owners)
        size, total = np.bincount(self.node, weights=self.amounts), np.bincount(self.stratum, weights=self.amounts)
        share = np.bincount(kind_of, weights=size[node_of], minlength=n_kinds) / total[kinds[:, 1]]
        n_nodes = size.size
        fits = np.isin(kind * n_nodes + self.node[use], kind_of * n_nodes + node_of)
        many = self.amounts[use] * (moved.elsewhere[self.rows[use]] & (share[kind] < 1.0))
        hits, expected = float(many[fits].sum()), max(float((many * share[kind]).sum()), 1e-300)
        by_chance = hits - expected - hits * np.log(hits / expected) if hits > expected else 0.0  # Chernoff's bound
        rest = float(many.sum())
        stayed = hits - expected >= HALF * (rest - expected) if moved.near else hits >= MOSTLY * rest
        if not stayed or by_chance > np.log(LUCK / trials):
            return Sets(np.full(self.rows.size, -1))
        few = np.bincount(kind_of, minlength=n_kinds)
        codes = np.bincount(np.unique(np.column_stack((self.stratum, self.node)), axis=0)[:, 0])
        told = fits & (few < codes[kinds[:, 1]])[kind]
        numbers: dict[tuple[int, ...], int] = {}
        number = np.full(n_kinds, -1, dtype=np.int64)
        ends = np.searchsorted(kind_of, np.arange(n_kinds + 1))
        for at in np.unique(kind[told]).tolist():
            nodes = tuple(node_of[ends[at] : ends[at + 1]].tolist())
            number[at] = numbers.setdefault(nodes, len(numbers))
        of = np.full(self.rows.size, -1)
        of[use[told]] = number[kind[told]]
        code, wrong = np.zeros(n_nodes, dtype=np.int64), np.full(self.rows.size, -1)
        code[self.node] = self.true
        off = ~fits & (few == 1)[kind]
        wrong[use[off]] = code[node_of[ends[kind[off]]]]
        return Sets(of, tuple(np.array(nodes) for nodes in numbers), wrong=wrong)

    def together(self, one: Sets, other: Sets) -> Sets:
        """The codes that two sources leave together."""
        pairs, of = np.unique(np.column_stack((one.of, other.of)), axis=0, return_inverse=True)
        everything, of = np.arange(int(self.node.max()) + 1), of.ravel()
        codes = [
            np.intersect1d(one.codes[a] if a >= 0 else everything, other.codes[b] if b >= 0 else everything)
            for a, b in pairs.tolist()
        ]
        of = np.where((one.of < 0) & (other.of < 0), -1, of)
        all_codes = np.bincount(np.unique(np.column_stack((self.stratum, self.node)), axis=0)[:, 0])
        use = np.flatnonzero((of >= 0) & self.asked[self.rows])
        if not use.size:
            return Sets(np.full(of.size, -1))
        few = np.array([own.size for own in codes])[of[use]]
        gain = float((self.amounts[use] * np.log(all_codes[self.stratum[use]] / few)).sum())
        return Sets(of, tuple(codes), gain)

    def _nodes_of_owners(self, kinds: Ints, owners: Ints) -> tuple[Ints, Ints]:
        """Pairs of a kind (a value in a stratum) and a node that somebody who truly has the value is in, in their order."""
        n_codes = int(max(self.true.max(), owners[:, 1].max(initial=0))) + 1
        place = np.full(self.most.size * n_codes, -1, dtype=np.int64)
        place[self.stratum * n_codes + self.true] = self.node
        first = np.searchsorted(owners[:, 0], kinds[:, 0], "left")
        many = np.searchsorted(owners[:, 0], kinds[:, 0], "right") - first
        kind = np.repeat(np.arange(len(kinds)), many)
        start = np.repeat(first - np.append(0, np.cumsum(many)[:-1]), many)
        node = place[kinds[kind, 1] * n_codes + owners[start + np.arange(kind.size), 1]]
        pairs = np.column_stack((kind, node))[node >= 0]
        return tuple(pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))].T)  # type: ignore[return-value]

    def _most_frequent(self, stratum: Ints, many: Ints) -> Shares:
        """The share of this number of the most frequent codes in some strata, and how many codes these have."""
        node_stratum = np.zeros(int(self.node.max()) + 1, dtype=np.int64)
        node_stratum[self.node] = self.stratum
        count = np.bincount(self.node, weights=self.amounts)
        order = np.lexsort((-count, node_stratum))
        begins = np.searchsorted(node_stratum[order], np.arange(self.most.size + 1))
        total = np.append(0.0, np.cumsum(count[order]))
        first, last = begins[stratum], begins[stratum + 1]
        share = (total[first + many] - total[first]) / (total[last] - total[first])
        return np.asarray(share), (last - first).astype(np.float64)

    def one_code(self, groups: Sequence[Ints], alone: Sequence[Shares], trials: int) -> Mask:
        """Records of groups of one code, which chance hardly makes: this group, or as many groups of the source.

        Groups are by one variable, or by two with what each of them tells by itself (`alone`): chance brings codes together as
        often as the published code of the key, or one of the two, does.
        """
        group, n_groups = self._inside(groups)
        size = np.bincount(group, weights=self.amounts, minlength=n_groups)
        some = np.zeros(n_groups, dtype=np.int64)
        some[group] = self.true
        one = np.ones(n_groups, dtype=bool)
        one[group[some[group] != self.true]] = False
        share, most = np.zeros(n_groups), np.zeros(n_groups)
        own = [(self.share, self.most[self.stratum]), *alone]
        share[group] = np.maximum.reduce([first for first, _ in own])  # of the only code, where it matters
        most[group] = np.maximum.reduce([second for _, second in own])
        several = (size > 1) & (most < 1.0)
        if not (several & one).any():
            return np.zeros(self.rows.size, dtype=bool)
        luck = np.log(LUCK / trials)
        long = (size - 1) * np.log(np.maximum(share, 1e-300)) <= luck - np.log(several.sum())
        n_one, expected = float((several & one).sum()), max(float((most[several] ** (size[several] - 1)).sum()), 1e-300)
        # Chernoff's bound on this many groups of one code, each of which chance makes with probability Σ p^m ≤ max p^(m−1)
        by_chance = n_one - expected - n_one * np.log(n_one / expected) if n_one > expected else 0.0
        whole = n_one >= MOSTLY * several.sum() and by_chance <= luck
        return np.asarray((one & ((several & long) | (whole & (most < 1.0))))[group])

    def beside(self, name: str, group: Ints) -> Shares:
        """How often codes occur among the records that share the value of a variable, counted once for each variable."""
        if name not in self.alone:
            own, n_groups = self._inside((group,))
            cell, _ = group_columns([own, self.true], [n_groups, int(self.true.max()) + 1])
            share = np.bincount(cell, weights=self.amounts)[cell] / np.bincount(own, weights=self.amounts)[own]
            most = np.zeros(n_groups)
            np.maximum.at(most, own, share)
            self.alone[name] = share, most[own]
        return self.alone[name]

    def inside(self, name: str, group: Ints) -> "View":
        """The same records inside the values of a variable, whose share of each code is the larger of both."""
        share, most = self.beside(name, group)
        stratum, n_strata = self._inside((group,))
        largest = np.zeros(n_strata)
        np.maximum.at(largest, stratum, np.maximum(most, self.most[self.stratum]))
        return replace(self, stratum=stratum, share=np.maximum(self.share, share), most=largest)

    def _inside(self, groups: Sequence[Ints]) -> tuple[Ints, int]:
        columns, sizes = [group[self.rows] for group in groups], [int(group.max(initial=0)) + 1 for group in groups]
        return group_columns([*columns, self.stratum], [*sizes, self.most.size])

    def apart(self, group: Ints, known: Mask, trials: int) -> Ints:
        """For each record the part of its stratum that shares no value with the rest, where chance hardly makes it (else 0).

        Of N records, those a that have some values have just the a that have some codes with probability 1 / C(N, a).
        """
        use = np.flatnonzero(known[self.rows])
        if not use.size:  # nobody here shows a value
            return np.zeros(self.rows.size, dtype=np.int64)
        value, n_values = self._inside((group,))
        value, n_values = group_columns([value[use]], [n_values])
        code, n_codes = group_columns([self.node[use]], [int(self.node.max()) + 1])
        edges = sparse.coo_matrix((np.ones(use.size), (value, n_values + code)), shape=(n_values + n_codes,) * 2)
        n_parts, part = csgraph.connected_components(edges, directed=False)
        n_strata, stratum = self.most.size, np.zeros(n_parts, dtype=np.int64)
        stratum[part[value]] = self.stratum[use]
        size = np.bincount(part[value], weights=self.amounts[use], minlength=n_parts)
        codes, values = (np.bincount(one, minlength=n_parts) for one in (part[n_values:], part[:n_values]))
        all_size, all_codes, all_values = (
            np.bincount(stratum, weights=one, minlength=n_strata).astype(np.float64)[stratum]
            for one in (size, codes, values)
        )
        luck = _log_choose(all_codes, codes) + _log_choose(all_values, values) - _log_choose(all_size, size)
        believed = (size < all_size) & (luck <= np.log(LUCK / (trials * n_parts)))
        found = np.zeros(int(self.node.max()) + 1, dtype=np.int64)
        found[self.node[use]] = np.where(believed, np.arange(n_parts) + 1, 0)[part[value]]
        return np.asarray(found[self.node])

    def stretches(self, number: Floats, trials: int) -> Mask:
        """Records in stretches of one code, longer than chance makes them, or where each code has one stretch only."""
        found = np.zeros(number.size, dtype=bool)
        there = np.flatnonzero(~np.isnan(number[self.rows]))
        if there.size < 2:
            return found
        order = there[np.lexsort((self.true[there], number[self.rows[there]], self.stratum[there]))]
        place, code = self.stratum[order], self.true[order]
        value = number[self.rows[order]]
        ends = np.append(True, (np.diff(code) != 0) | (np.diff(place) != 0))
        # equal numbers with several codes say nothing: all of their stretches are broken
        same = np.append(False, (np.diff(value) == 0) & (np.diff(place) == 0))
        run = np.cumsum(ends) - 1
        mixed = np.zeros(int(run[-1]) + 1, dtype=bool)
        broken = np.flatnonzero(same & ends)
        mixed[run[broken]] = mixed[run[broken - 1]] = True
        size = np.bincount(run, weights=self.amounts[order])
        share = self.share[order[ends]]
        with np.errstate(divide="ignore"):
            long = (size - 1) * np.log(np.maximum(share, 1e-300)) <= np.log(LUCK / trials) - np.log(run[-1] + 1)
        told = ~mixed & (size > 1) & long & (share < 1.0)
        told |= ~mixed & self._once(place, code, ends, trials)[place[ends]] & (share < 1.0)
        found[self.rows[order[told[run]]]] = True
        return found

    def _once(self, place: Ints, code: Ints, ends: Mask, trials: int) -> Mask:
        """Strata in which each code has one stretch only, which chance hardly makes."""
        n = self.most.size
        runs = np.bincount(place[ends], minlength=n)
        pair = np.unique(np.column_stack((place, code)), axis=0, return_counts=True)
        codes = np.bincount(pair[0][:, 0], minlength=n)
        log = special.gammaln
        luck = log(codes + 1.0) - log(np.bincount(place, minlength=n) + 1.0)
        luck += np.bincount(pair[0][:, 0], weights=log(pair[1] + 1.0), minlength=n)
        return np.asarray((codes > 1) & (runs == codes) & (luck <= np.log(LUCK / (trials * n))))


def _log_choose(n: Floats, k: Floats | Ints) -> Floats:
    log = special.gammaln
    return np.asarray(log(n + 1.0) - log(k + 1.0) - log(n - k + 1.0), dtype=np.float64)
