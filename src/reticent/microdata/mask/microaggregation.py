# SPDX-License-Identifier: Apache-2.0
"""Microaggregation (plan name `microaggregate`): groups of at least k similar records share one value."""

from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints
from reticent.base.errors import DataError, NotProtectedError, ParameterError
from reticent.base.progress import Progress, part
from reticent.base.randomness import Secret
from reticent.data.draws import StepDraws
from reticent.data.method import Applied, Group, Method, Promise
from reticent.data.microdata import Microdata
from reticent.data.parameters import Examples
from reticent.data.schema import Kind, Schema
from reticent.microdata.grouping import (
    PARTITIONS,
    Grouping,
    Partitioning,
    Steps,
    aggregate,
    mixed_columns,
    partition_in_steps,
    partition_mixed,
    take_turns,
)
from reticent.microdata.grouping.entities import join_few_entities
from reticent.microdata.grouping.partition import STARTS
from reticent.microdata.grouping.present import pooled_where_few, respondents_behind
from reticent.microdata.mask.microaggregation_checks import (
    dominated_groups,
    few_alike,
    few_behind,
    means_moved,
    values_few_alike,
)
from reticent.microdata.patience import Patience
from reticent.microdata.perturb.binding import check_variables, differing, slices, strata_of, units

AGGREGATIONS = ("mean", "median", "mode", "medoid", "middle")
ONE_BY_ONE = ("individual-ranking", "exact", "genetic")
"""Partitions that take each variable by itself: a record's values then belong to different groups."""


_ONLY_WITH = {
    "gain": ("v-mdav", "best"),
    "start": ("best",),
    "proposals": ("best",),
    "time_limit": ("best",),
    "steps": ("best",),
    "threads": ("best", "mdav"),
    "block_size": ("best", "mdav"),
}
"""Options that some partitions do not have; giving one there is an error, not silence."""


@dataclass(frozen=True)
class Microaggregate(Method):
    """Replace values by one value per group of k to 2k − 1 similar records.

    `partition` says how records are grouped: `mdav`, `v-mdav`, `cbfs`, `ward`, along one axis (`first-component`,
    `z-scores`, `variable`), `best` (a search that loses least), or one variable at a time (`individual-ranking`,
    `exact`, `genetic`). Ordered and unordered codes, and missing values with `missing = "fill"`, are grouped by MDAV
    with mixed distances. `aggregation` is what stands for a group: with `mean`, ordered codes take the median and
    unordered ones the mode; `middle` gives the mean to the member in the middle only and leaves the others as they are.

    With `missing = "fill"` a missing value gets that of its group. Where fewer than k respondents of a group have a value,
    it takes one together with neighbouring groups: the mean of one value is that value.

    A mean of a group is its sum, and a member who knows its own value knows the rest of it: with k = 2 exactly. The facts
    say in how many groups the second largest respondent places the largest within 10 percent (`dominated_means`);
    `largest_share` refuses groups in which one holds too much.
    """

    name: ClassVar[str] = "microaggregate"
    group: ClassVar[Group] = Group.NUMBERS
    examples: ClassVar[Examples] = (
        {"variables": ["age", "income"]},
        {"variables": ["income"], "partition": "best", "proposals": 200, "k": 1},
        {"variables": ["income"], "partition": "v-mdav", "gain": 0.5},
        {"variables": ["income"], "partition": "variable", "sort_by": "income", "random_sizes": True},
        {"variables": ["marital", "education"], "aggregation": "mode"},
    )
    # searches are drawn, but means with all their digits tell who is in a group to whoever has the values
    repeatable: ClassVar[bool] = True

    variables: tuple[str, ...] = field(metadata={"names": "variables", "help": "variables to mask together"})
    k: int = field(default=3, metadata={"min": 1, "help": "smallest group"})
    partition: str = field(default="mdav", metadata={"choices": PARTITIONS, "help": "how records are grouped"})
    aggregation: str = field(default="mean", metadata={"choices": AGGREGATIONS, "help": "what stands for a group"})
    strata: tuple[str, ...] = field(
        default=(), metadata={"names": "variables", "help": "group only within these variables' combinations"}
    )
    using: tuple[str, ...] = field(
        default=(), metadata={"names": "variables", "help": "variables that decide who is similar (none: the masked)"}
    )
    sort_by: str | None = field(
        default=None, metadata={"names": "variables", "help": "partition `variable`: the variable to sort by"}
    )
    missing: str = field(
        default="refuse", metadata={"choices": ("refuse", "fill"), "help": "what to do with missing values"}
    )
    distance: str = field(
        default="gower",
        metadata={"choices": ("gower", "squares"), "help": "mixed records: sum of distances or of squares"},
    )
    gain: float = field(default=0.2, metadata={"min": 0.0, "help": "v-mdav: how readily groups grow"})
    start: str = field(default="mdav", metadata={"choices": STARTS, "help": "best: where the search starts"})
    random_sizes: bool = field(default=False, metadata={"help": "one-axis partitions: sizes drawn from k to 2k − 1"})
    largest_share: float | None = field(
        default=None, metadata={"min": 0.0, "max": 1.0, "help": "no member may hold more of a group's total"}
    )
    proposals: int | None = field(default=None, metadata={"min": 0, "help": "best: length of the search"})
    time_limit: float | None = field(
        default=None,
        metadata={
            "min": 0.0,
            "keyed": False,
            "help": "best: seconds after which it stops early (facts have the steps)",
        },
    )
    steps: int | None = field(
        default=None,
        metadata={
            "min": 0,
            "keyed": False,
            "help": "best: stop after this many steps, whatever the time; repeats a run",
        },
    )
    threads: int = field(
        default=2, metadata={"min": 1, "keyed": False, "help": "best: threads (the result does not depend on them)"}
    )
    block_size: int | None = field(
        default=None, metadata={"min": 4, "help": "mdav, best: cut the file into blocks of this many records"}
    )

    def __post_init__(self) -> None:
        if self.partition == "variable" and self.sort_by is None:
            raise ParameterError("partition = 'variable' needs sort_by, the variable to sort by.", option="sort_by")
        if self.sort_by is not None and self.partition != "variable":
            raise ParameterError("sort_by goes with partition = 'variable' only. Drop one of them.", option="sort_by")
        if self.using and self.partition in ONE_BY_ONE:
            raise ParameterError(
                f"partition = {self.partition!r} groups by the masked variable itself; drop using.", option="using"
            )
        if self.sort_by is not None and self.sort_by not in (self.using or self.variables):
            raise ParameterError("sort_by must be one of the variables that decide who is similar.", option="sort_by")
        for option, partitions in _ONLY_WITH.items():
            if (
                getattr(self, option) != type(self).__dataclass_fields__[option].default
                and self.partition not in partitions
            ):
                raise ParameterError(
                    f"{option} goes with partition = {' or '.join(partitions)}, got {self.partition!r}. "
                    "Drop one of them.",
                    option=option,
                )
        self._how(None)

    def _how(self, names: tuple[str, ...] | None) -> Partitioning:
        name = "variable" if self.partition == "individual-ranking" else self.partition
        sort_by = names.index(self.sort_by) if names and self.sort_by is not None else 0
        return Partitioning(
            k=self.k, name=name, sort_by=sort_by, gain=self.gain, start=self.start, random_sizes=self.random_sizes,
            proposals=self.proposals, time_limit=self.time_limit, steps=self.steps, threads=self.threads,
            block_size=self.block_size,
        )  # fmt: skip

    def check(self, schema: Schema) -> None:
        """The variables exist and their kinds fit partition and aggregation."""
        check_variables(schema, self.variables, owner=self.name)
        schema.require((*self.strata, *self.using), owner=self.name)
        for name in (*self.variables, *self.using):
            if name in self.strata:
                raise DataError(
                    f"microaggregate: {name} is a stratum and cannot be grouped as well.", variables=(name,)
                )
        codes = [name for name in (*self.variables, *self.using) if schema[name].kind is not Kind.NUMERIC]
        if self.distance != "gower" and not codes and self.missing == "refuse":
            raise ParameterError("microaggregate: distance is for codes and missing values; numbers alone need none.")
        if codes and (self.partition != "mdav" or self.largest_share is not None or self.block_size is not None):
            raise DataError(
                f"microaggregate: {codes[0]} is {schema[codes[0]].kind}; codes are grouped with partition = 'mdav' "
                "and without largest_share or block_size.",
                variables=tuple(codes),
            )
        if self.aggregation == "middle" and any(schema[name].kind is not Kind.NUMERIC for name in self.variables):
            raise DataError("microaggregate: aggregation = 'middle' needs numeric variables.", variables=tuple(codes))

    def mask(self, data: Microdata, *, draws: StepDraws, progress: Progress) -> Applied:
        """Group within strata, then replace; k = 1 changes nothing."""
        self.check(data.schema)
        if self.k == 1:
            return Applied(data, dict.fromkeys(self.variables, 0), {"groups": data.n_records})
        who = units(data, self.variables, owner=self.name, hidden=True)
        columns = _Columns.of(data, self.variables, who.first)
        keys = columns if not self.using else _Columns.of(data, self.using, who.first)
        if self.missing == "refuse":
            keys.refuse_missing()
            columns.refuse_missing()
        strata = strata_of(data, self.strata, first=who.first)
        entity = data.entity()
        entity = None if entity is None else entity[who.first]
        secret = draws.of_file(data, (*self.variables, *self.using, *self.strata), bonds=True)
        work = _Work(self, columns, keys, strata, data.codes(self.strata)[who.first], entity, secret)
        parts = [(position,) for position in range(len(self.variables))] if self.partition in ONE_BY_ONE else [None]
        patience = Patience(self.time_limit, self.steps)
        runs = [
            work.run(only, patience, part(progress, at / len(parts), (at + 1) / len(parts)))
            for at, only in enumerate(parts)
        ]
        masked, changed = data, {}
        for position, name in enumerate(self.variables):
            run = runs[position] if len(runs) > 1 else runs[0]
            masked, changed[name] = columns.put_back(masked, name, run.values[position][who.of])
        facts = {
            "groups": sum(run.groups for run in runs), "sizes": _size_counts(runs), "loss": _mean_loss(runs),
            "finished": all(run.finished for run in runs), "loss bound": _bound(runs),
            "dominated_means": sum(run.dominated for run in runs) if self.aggregation == "mean" else None,
            **patience.to_repeat(),
        }  # fmt: skip
        return Applied(masked, changed, facts)

    def promises(self) -> tuple[Promise, ...]:
        """At least k alike (together, or variable by variable), and means where the mean was used."""
        made = []
        if self.aggregation != "middle":
            check = values_few_alike if self.partition in ONE_BY_ONE else few_alike
            what = "value" if self.partition in ONE_BY_ONE else "combination of the masked variables"
            made.append(
                Promise(
                    f"every {what} occurs at least {self.k} times in its stratum",
                    partial(check, self.variables, self.strata, self.k),
                )
            )
            behind = partial(few_behind, self.variables, self.strata, self.k)
            made.append(Promise(f"every value stands for at least {self.k} respondents who have one", behind))
        if self.aggregation == "mean":
            made.append(Promise("means are kept", partial(means_moved, self.variables)))
        return tuple(made)


@dataclass(frozen=True)
class _Columns:
    """Variables of the units as one float matrix: numbers as they are, codes as code numbers; NaN is missing."""

    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    levels: tuple[int, ...]
    values: Floats

    @classmethod
    def of(cls, data: Microdata, names: tuple[str, ...], first: Ints) -> "_Columns":
        kinds = tuple(data.schema[name].kind for name in names)
        values = np.empty((first.size, len(names)))
        levels = []
        for position, (name, kind) in enumerate(zip(names, kinds)):
            if kind is Kind.NUMERIC:
                values[:, position] = data.numbers((name,))[first, 0]
                levels.append(0)
            else:
                codes = data.codes((name,))[first, 0]
                values[:, position] = np.where(codes < 0, np.nan, codes)
                levels.append(len(data.categories(name)))
        return cls(names, kinds, tuple(levels), values)

    def refuse_missing(self) -> None:
        gone = np.isnan(self.values).sum(axis=0)
        if gone.any():
            at = int(np.argmax(gone))
            raise DataError(
                f"microaggregate: {self.names[at]} has {int(gone[at])} missing values. "
                "Give missing = 'fill' (they get their group's value), or complete the data first.",
                variables=(self.names[at],),
            )

    @property
    def plain(self) -> bool:
        return all(kind is Kind.NUMERIC for kind in self.kinds) and not bool(np.isnan(self.values).any())

    def mixed(self, rows: Ints) -> tuple[Floats, NDArray[np.bool_]]:
        """Scaled columns for the mixed distances, in the order numbers, ordered codes, unordered codes."""
        pick = {kind: [at for at, k in enumerate(self.kinds) if k is kind] for kind in Kind}
        codes = np.where(np.isnan(self.values[rows]), -1, self.values[rows])
        return mixed_columns(
            self.values[rows][:, pick[Kind.NUMERIC]],
            codes[:, pick[Kind.ORDINAL]].astype(np.int32),
            codes[:, pick[Kind.NOMINAL]].astype(np.int32),
            tuple(self.levels[at] for at in pick[Kind.ORDINAL]),
        )

    def put_back(self, data: Microdata, name: str, values: Floats) -> tuple[Microdata, int]:
        """The data with one variable exchanged, and how many values changed."""
        if self.kinds[self.names.index(name)] is Kind.NUMERIC:
            changed = differing(data.numbers((name,))[:, 0], values)
            return (data.with_numbers(name, values), changed) if changed else (data, 0)
        codes = np.where(np.isnan(values), -1, values).astype(np.int32)
        changed = int((data.codes((name,))[:, 0] != codes).sum())
        return (data.with_codes(name, codes, data.categories(name)), changed) if changed else (data, 0)


@dataclass(frozen=True)
class _Run:
    """One grouping of all units: new values per variable position, and what it cost."""

    values: dict[int, Floats]
    sizes: Ints
    within: float
    total: float
    bound: float | None
    finished: bool
    dominated: int

    @property
    def groups(self) -> int:
        return int(self.sizes.size)


@dataclass(frozen=True)
class _Work:
    """Groups the units of each stratum and aggregates."""

    method: Microaggregate
    columns: _Columns
    keys: _Columns
    strata: Ints
    stratum_codes: NDArray[np.int32]
    entity: Ints | None
    secret: Secret

    def run(self, only: tuple[int, ...] | None, patience: Patience, progress: Progress) -> _Run:
        """Group by all keys, or by one variable alone; the searches of all strata share one patience."""
        positions = tuple(range(len(self.columns.names))) if only is None else only
        labels = np.empty(self.strata.size, np.int64)
        offset, within, total, bound, finished = 0, 0.0, 0.0, 0.0, True
        pieces = list(slices(self.strata))
        grouped = take_turns([self._group(rows, only) for rows in pieces], patience, progress)
        for rows, (own, found) in zip(pieces, grouped, strict=True):
            if self.entity is not None:
                own = join_few_entities(self.columns.values[rows], own, self.entity[rows], self.method.k)
            labels[rows] = own + offset
            offset += int(own.max()) + 1
            if found is not None:
                within, total, finished = within + found.within, total + found.total, finished and found.finished
                bound += np.nan if found.lower_bound is None else found.lower_bound
        values = {position: self._aggregate(position, labels, positions) for position in positions}
        self._check_shares(labels, positions)
        proven = bound if total > 0 and not np.isnan(bound) else None
        numeric = [position for position in positions if self.columns.kinds[position] is Kind.NUMERIC]
        columns = self.columns.values
        dominated = sum(dominated_groups(columns[:, position], labels, self.entity) for position in numeric)
        return _Run(values, np.bincount(labels).astype(np.int64), within, total, proven, finished, dominated)

    def _group(self, rows: Ints, only: tuple[int, ...] | None) -> Steps[tuple[Ints, Grouping | None]]:
        method = self.method
        if rows.size < method.k:
            raise DataError(
                f"microaggregate: a stratum has {rows.size} records, fewer than k = {method.k}. "
                "Use fewer strata or recode them first.",
                variables=method.strata,
            )
        if not (self.columns.plain and self.keys.plain):
            columns, nominal = self.keys.mixed(rows)
            return partition_mixed(columns, nominal, method.k, square=method.distance == "squares"), None
        at = list(range(len(self.keys.names))) if only is None else list(only)
        names = tuple(self.keys.names[i] for i in at)
        secret = self.secret.child(f"stratum {self.stratum_codes[rows[0]].tolist()}: {', '.join(names)}")
        found = yield from partition_in_steps(
            self.keys.values[rows][:, at], method._how(names), secret=secret, names=names
        )
        return found.labels, found

    def _aggregate(self, position: int, labels: Ints, positions: tuple[int, ...]) -> Floats:
        """New values of one variable, each from at least k respondents who have one; none where there are fewer."""
        if self.method.aggregation == "middle" or self.method.missing == "refuse":
            return self._standing(position, labels, positions)
        present = ~np.isnan(self.columns.values[:, position])
        who = np.arange(labels.size) if self.entity is None else self.entity
        pooled = pooled_where_few(labels, present, who, self.keys.values, self.strata, k=self.method.k)
        enough = respondents_behind(pooled, present, who) >= self.method.k
        return np.asarray(np.where(enough[pooled], self._standing(position, pooled, positions), np.nan))

    def _standing(self, position: int, labels: Ints, positions: tuple[int, ...]) -> Floats:
        """What stands for the groups in one variable, from the values that are there."""
        values, kind = self.columns.values[:, position], self.columns.kinds[position]
        how = self.method.aggregation
        if how == "medoid":
            return np.asarray(values[self._medoids(labels, positions)][labels])
        if how == "mode" or kind is Kind.NOMINAL:
            return aggregate.group_modes(values, labels)[labels]
        if how == "median" or kind is Kind.ORDINAL:
            return aggregate.group_medians(values, labels, lower=kind is Kind.ORDINAL)[labels]
        means = aggregate.group_means(values, labels)
        if how == "mean":
            return means[labels]
        out = values.copy()
        middle = self._medoids(labels, positions)
        out[middle] = means
        return out

    def _medoids(self, labels: Ints, positions: tuple[int, ...]) -> Ints:
        if self.columns.plain:
            x = self.columns.values[:, positions]
            return aggregate.nearest_to_mean(
                (x - x.mean(axis=0)) / np.where(x.std(axis=0) > 0, x.std(axis=0), 1.0), labels
            )
        columns, nominal = self.columns.mixed(np.arange(labels.size))
        return aggregate.mixed_medoids(columns, nominal, labels, square=self.method.distance == "squares")

    def _check_shares(self, labels: Ints, positions: tuple[int, ...]) -> None:
        """Nobody may hold too much of a group's total (EUSTAT: no individual dominates the group)."""
        limit = self.method.largest_share
        if limit is None:
            return
        for position in positions:
            size = np.abs(self.columns.values[:, position])
            total = np.bincount(labels, weights=size)
            largest = np.zeros_like(total)
            np.maximum.at(largest, labels, size)
            bad = int(np.sum(largest > limit * total))
            if bad:
                raise NotProtectedError(
                    f"microaggregate: in {bad} groups one member holds more than {limit:g} of the total of "
                    f"{self.columns.names[position]}. Top-code it first, or take a larger k.",
                    exposed=bad,
                )


def _size_counts(runs: list[_Run]) -> dict[str, int]:
    sizes, counts = np.unique(np.concatenate([run.sizes for run in runs]), return_counts=True)
    return {str(size): int(count) for size, count in zip(sizes, counts)}


def _bound(runs: list[_Run]) -> Any:
    """A proven lower bound of the loss, or None where no search was made."""
    bounds = [run.bound for run in runs]
    total = sum(run.total for run in runs)
    return None if total == 0 or None in bounds else sum(bound or 0.0 for bound in bounds) / total


def _mean_loss(runs: list[_Run]) -> Any:
    """Within over total sum of squares on standardised numbers; None for mixed records."""
    total = sum(run.total for run in runs)
    return sum(run.within for run in runs) / total if total > 0 else None
