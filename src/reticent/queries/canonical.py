# SPDX-License-Identifier: Apache-2.0
"""Record sets: what a query is really about, however it is written.

The records of a data set version are grouped by everything a condition may read (filters, and which responses are
missing) into atoms. A condition selects atoms; two texts that select the same atoms select the same records, and are
the same query. Versions of a data set are linked by record id: for one response, a record whose value did not change
between versions is one unknown, a changed value is another.
"""

from collections.abc import Callable, Collection
from dataclasses import replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Mask, Words
from reticent.base.errors import DataError, PlanError
from reticent.base.randomness import Secret
from reticent.data.facts import COUNT
from reticent.data.microdata import Microdata
from reticent.data.record_marks import version_fingerprint, version_marks
from reticent.data.schema import Kind, Schema
from reticent.kernels.draws import record_hashes
from reticent.kernels.grouping import group_columns
from reticent.queries.columns import Columns, RecordSet
from reticent.queries.conditions import truth_of
from reticent.queries.fixed import clamped_sum
from reticent.queries.indexed import AS_BEFORE, Before, Layer, related
from reticent.queries.language import Condition
from reticent.queries.levels import CutpointError, Levels, OrderError, encode
from reticent.queries.linking import Stacked, link_before
from reticent.queries.policy import Bounds, Policy
from reticent.queries.ties import ties_of

__all__ = ["COUNT", "MOST_LEVELS", "CutpointError", "Levels", "OrderError", "RecordSet", "Universe", "Version"]

UNNAMED = "\0"
MOST_LEVELS = 256


class Version:
    """One version of the data: its records, and the atoms they form."""

    def __init__(self, name: str, data: Microdata, policy: Policy, ids: Words | None = None) -> None:
        """Group the records; `ids` mean the same record in all versions (default: those of the identifier)."""
        self.name, self.data = name, data
        self.ids = data.record_ids() if ids is None else ids
        self._by_atom: dict[str, NDArray[np.float64] | None] = {}
        _refuse_infinite(data, (*policy.responses, *policy.filters))
        self.levels: dict[str, Levels] = {}
        columns, sizes = [], []
        for filter_name in policy.filters:
            codes, levels = encode(data, filter_name, policy)
            self.levels[filter_name] = levels
            columns.append(codes)
            sizes.append(len(levels))
        self.filters = policy.filters
        for response in policy.responses:
            absent = data.missing(response)
            if bool(absent.any()):
                columns.append(absent.astype(np.int32))
                sizes.append(2)
        if columns:
            self.atom, self.n_atoms = group_columns(columns, sizes)
        else:
            self.atom, self.n_atoms = np.zeros(data.n_records, dtype=np.int64), 1
        first = np.empty(self.n_atoms, dtype=np.int64)
        first[self.atom[::-1]] = np.arange(data.n_records - 1, -1, -1)
        self.codes = {name: columns[i][first] for i, name in enumerate(policy.filters)}
        self.present = {name: ~data.missing(name)[first] for name in policy.responses}

    @property
    def schema(self) -> Schema:
        """What each variable is for and how it is measured."""
        return self.data.schema

    @cached_property
    def fingerprint(self) -> str:
        """A hash of everything answers depend on, and of the order of the records."""
        return version_fingerprint(self.name, self.data)

    @cached_property
    def marks(self) -> dict[str, str]:
        """What a ledger keeps of the version: another file under the same version name is noticed."""
        return version_marks(self.name, self.data)

    def sums_by_atom(self, draw: Callable[[Words], Words]) -> Words:
        """Σ modulo 2^64 over each atom of words that are drawn for each record from its id, shape (atoms, words)."""
        return _summed(draw(self.data.record_ids()), self)

    def by_atom(self, response: str) -> NDArray[np.float64] | None:
        """The value of a response in each atom (missing: not a number); None if an atom has several, or there are many."""
        if response not in self._by_atom:
            values = self.data.numbers((response,))[:, 0]
            first = np.empty(self.n_atoms, dtype=np.int64)
            first[self.atom] = np.arange(len(values))
            at_atoms = values[first]
            same = len(np.unique(at_atoms)) <= MOST_LEVELS and np.array_equal(
                at_atoms[self.atom], values, equal_nan=True
            )
            self._by_atom[response] = at_atoms if same else None
        return self._by_atom[response]

    def select(self, condition: Condition, *, as_at_first: bool = False) -> Mask:
        """The atoms for which a condition is true (not false, not unknown), today or as version 0.1.0 understood it."""
        levels = self.levels
        if as_at_first:
            levels = {name: own.as_at_first() for name, own in levels.items()}
        return truth_of(condition, self.codes, levels, self.n_atoms)[0]


def _refuse_infinite(data: Microdata, names: tuple[str, ...]) -> None:
    """Sums over what is not a finite number do not exist; the data are refused before anybody asks."""
    for name in names:
        if data.schema[name].kind is Kind.NUMERIC and bool(np.isinf(data.numbers((name,))).any()):
            raise DataError(
                f"data: {name!r} has values that are infinite; correct them or declare them missing in the schema."
            )


class Universe:
    """All versions of a data set, the last one being asked about, and the unknowns of every response."""

    def __init__(self, versions: tuple[Version, ...], policy: Policy, secret: Secret) -> None:
        self.versions, self.policy = versions, policy
        self.answered: tuple[str, ...] = ()
        self._columns: dict[str, Columns] = {}
        self._before: dict[str, Before] | None = None
        self._entities = self._linked_entities()
        self._secret, self._by_ids = secret, frozenset[str]()

    def name_by_ids(self, versions: Collection[str]) -> None:
        """Name sets of some versions by the ids of their records, not by their places: the ledger says of which."""
        self._by_ids = frozenset(versions)

    @cached_property
    def _words(self) -> tuple[Words, ...]:
        return tuple(_atom_words(v, self._secret, by_ids=v.name in self._by_ids) for v in self.versions)

    def _linked_entities(self) -> tuple[NDArray[np.int64], ...]:
        return _link_entities(self.versions)

    @property
    def current(self) -> Version:
        """The version that queries are about."""
        return self.versions[-1]

    def record_set(self, atoms: Mask, *, version: int | None = None) -> RecordSet:
        """Name a set of atoms by what is in it: the sum of secret 128-bit words of its records.

        The name does not depend on how records are grouped into atoms, so it outlives a change of the filters.
        """
        number = len(self.versions) - 1 if version is None else version
        total = self._words[number][atoms].sum(axis=0, dtype=np.uint64)
        return RecordSet(number, atoms, f"{self.versions[number].name}:{int(total[0]):016x}{int(total[1]):016x}")

    def records(self, records: RecordSet) -> NDArray[np.int64]:
        """Positions of the records of a set in its version's data."""
        return np.flatnonzero(records.atoms[self.versions[records.version].atom])

    def entities(self, version: int) -> NDArray[np.int64]:
        """The respondent of each record of a version."""
        return self._entities[version]

    def n_entities(self, records: RecordSet) -> int:
        """Number of respondents in a set."""
        return int(np.count_nonzero(np.bincount(self._entities[records.version][self.records(records)])))

    def columns(self, *names: str) -> Columns:
        """The unknowns of a response, of a product of responses (two names), or of the records themselves (`*`)."""
        label = "*".join(sorted(names)) if names != (COUNT,) else COUNT
        if label not in self._columns:
            self._columns[label] = self._link(label, tuple(sorted(names)))
        return self._columns[label]

    def answerable(self, statistics: Collection[str]) -> Collection[str]:
        """Which statistics of a mode can be worked out from these records."""
        return statistics

    def take_answered(self, names: Collection[str]) -> bool:
        """Take note of responses answered under other policies; whether one is new, so that ties must be found again."""
        schema, own = self.current.schema, (*self.policy.responses, *self.policy.filters, *self.answered)
        fresh = sorted(n for n in set(names) if n not in own and n in schema and schema[n].kind is Kind.NUMERIC)
        if fresh:
            self.answered, self._before = (*self.answered, *fresh), None
            self.versions = self._divided(replace(self.policy, responses=(*self.policy.responses, *self.answered)))
            self._columns.clear()
            for kept in ("linked", "found_ties", "_words"):
                self.__dict__.pop(kept, None)
        return bool(fresh)

    def _divided(self, policy: Policy) -> tuple[Version, ...]:
        """The versions, divided by which of the responses of a policy are missing."""
        return tuple(Version(version.name, version.data, policy, version.ids) for version in self.versions)

    @cached_property
    def linked(self) -> dict[str, tuple[str, ...]]:
        """For each response, the responses that tell about it because they are tied by a linear equation.

        A total and its parts, or an amount in two currencies: who sums one of them sums the others too. The policy may
        name such ties; others are found in the values. Exactness is not needed here: a response linked without need
        only makes the audit stricter. In the mode `simulatable` no value may decide: there ties are a matter of the policy.
        """
        if self.policy.mode == "simulatable":
            every = (*self.policy.responses, *self.answered)
            ties = self.policy.ties_without_values
            return self.linked_by(tuple(every if tied == self.policy.responses else tied for tied in ties))
        return self.linked_by((*self.policy.tied, *self.found_ties))

    @cached_property
    def found_ties(self) -> tuple[tuple[str, ...], ...]:
        """Responses whose values satisfy a linear equation, everywhere or for a code of a filter. This depends on values."""
        names = (*self.policy.responses, *self.answered)
        if len(names) < 2:
            return ()
        found: dict[tuple[str, ...], None] = {}
        for version in self.versions:
            filters = [name for name in self.policy.filters if name not in names]
            public = tuple(name for name in filters if version.levels[name].numbers is not None)
            groups = [version.codes[name][version.atom] for name in filters]
            for tied in ties_of(version.data.numbers(names), groups, version.data.numbers(public)):
                found[tuple(names[i] for i in tied)] = None
        return tuple(found)

    def linked_by(self, ties: tuple[tuple[str, ...], ...]) -> dict[str, tuple[str, ...]]:
        """For each response all that are joined to it by ties, also over several."""
        groups = {name: {name} for name in (*self.policy.responses, *self.answered)}
        for tied in ties:
            together: set[str] = set().union(*(groups[name] for name in tied))
            for name in together:
                groups[name] = together
        return {name: tuple(sorted(group)) for name, group in groups.items()}

    def check_bounds(self) -> None:
        """What everybody is said to know must be true: modes that reason with it start from it."""
        for name, bounds in self.policy.bounds.items():
            wrong = sum(bounds.broken_by(version.data.numbers((name,))[:, 0]) for version in self.versions)
            if wrong:
                raise DataError(
                    f"policy: the bounds of {name!r} do not hold for {wrong} records; widen them or correct the records."
                )

    def told_by_filters(self, response: str) -> bool:
        """Whether the filters determine a response in every version.

        This depends on values, so in the mode `simulatable` nobody may ask: there no response counts as determined.
        """
        if self.policy.mode == "simulatable":
            return False
        return all(version.by_atom(response) is not None for version in self.versions)

    def clamped(self, response: str, records: RecordSet, low: float, high: float) -> tuple[int, Fraction]:
        """How many records of a set have a value, and the exact sum of the values, each moved into some bounds."""
        values = self.versions[records.version].data.numbers((response,))[:, 0]
        return clamped_sum(values[self.records(records)], low, high)

    def is_event(self, response: str) -> bool:
        """Whether a response is 0 or 1 for everybody who has it by its declared bounds."""
        bounds = self.policy.bounds.get(response)
        return bounds is not None and bounds.integer and (bounds.low, bounds.high) == (0, 1)

    def holds_event(self, response: str) -> bool:
        """Whether every value of a response is 0, 1 or missing. This depends on values."""
        return not any(Bounds(0, 1, True).broken_by(v.data.numbers((response,))[:, 0]) for v in self.versions)

    def changed(self, response: str) -> bool:
        """Whether a record that is in several versions has not the same value in all of them."""
        seen: tuple[NDArray[np.uint64], NDArray[np.float64]] | None = None
        for version in self.versions:
            ids, values = version.ids, version.data.numbers((response,))[:, 0]
            if seen is not None:
                _, here, there = np.intersect1d(ids, seen[0], return_indices=True)
                if not np.array_equal(values[here], seen[1][there], equal_nan=True):
                    return True
                fresh = ~np.isin(ids, seen[0])
                ids, values = np.concatenate((seen[0], ids[fresh])), np.concatenate((seen[1], values[fresh]))
            seen = ids, values
        return False

    def known_entities(self) -> frozenset[int]:
        """The respondents whose values the policy calls public knowledge."""
        return frozenset().union(*self._known.values())

    def check_known(self) -> None:
        """Refuse names of known respondents that nobody has: they would protect nobody."""
        lacking = [name for name, found in self._known.items() if not found]
        if lacking:
            raise PlanError(f"policy: known lists {lacking[0]!r}, but no respondent of the data has this name.")

    @cached_property
    def _known(self) -> dict[str, frozenset[int]]:
        """The respondents (or records) that each known name stands for, in any version."""
        found: dict[str, set[int]] = {name: set() for name in self.policy.known}
        for number, version in enumerate(self.versions if found else ()):
            schema = version.data.schema
            variable = schema.entity or next(iter(schema.identifiers), None)
            if variable is None:
                raise PlanError("policy: known respondents need an entity or identifier variable in the schema.")
            for place, text in enumerate(version.data.texts(variable)):
                if text in found:
                    found[text].add(int(self._entities[number][place]))
        return {name: frozenset(own) for name, own in found.items()}

    def cells(self, names: tuple[str, ...], *, version: int | None = None) -> list[RecordSet]:
        """The record sets of all combinations of some filters that occur."""
        number = len(self.versions) - 1 if version is None else version
        here = self.versions[number]
        codes = [here.codes[name].astype(np.int64) for name in names]
        group, n_groups = group_columns(codes, [len(here.levels[name]) for name in names])
        return [self.record_set(group == g, version=number) for g in range(n_groups)]

    def before(self, response: str) -> Before | None:
        """The values of each version as they were before they all changed in one way; None if they never did."""
        # other modes do not judge two responses together
        within = self.policy.mode == "exact" and len(self.numeric) > 1
        if len(self.versions) == 1 and not within:
            return None
        if self._before is None:
            layers = [self._layer(name, v) for name in self.numeric for v in range(len(self.versions))]
            groups = related(layers, within=within)
            parts = [tuple(layer for layer in layers if layer.response in group) for group in groups]
            made = [Before.of(part, within=within) for part in parts]
            shifted = any(any(own.amounts) for own in made)  # sums of products then tell about all responses
            kept = [(group, own) for group, own in zip(groups, made) if shifted or not own.plain]
            self._before = {name: own for group, own in kept for name in group}
        return self._before.get(response)

    @property
    def risen(self) -> dict[str, Before]:
        """Responses of which some values rose by an amount since an earlier version: sums of products then reveal more."""
        found = {name: self.before(name) for name in self.numeric}
        return {name: own for name, own in found.items() if own is not None and any(own.amounts)}

    @property
    def numeric(self) -> list[str]:
        """The responses that are numbers, of earlier policies too."""
        names = dict.fromkeys((*self.policy.responses, *self.answered))
        return [name for name in names if self.current.schema[name].kind is Kind.NUMERIC]

    def _layer(self, name: str, number: int) -> Layer:
        version = self.versions[number]
        groups = [version.codes[own][version.atom] for own in version.filters]
        return Layer(number, name, version.ids, version.data.numbers((name,))[:, 0], groups)

    def _values(self, version: Version, names: tuple[str, ...]) -> Floats:
        if names == (COUNT,):
            return np.ones((version.data.n_records, 1))
        return version.data.numbers(names)

    def _link(self, label: str, names: tuple[str, ...]) -> Columns:
        """Group the units of all versions by the atoms they lie in."""
        old = [name for name in names if name.endswith(AS_BEFORE)]
        before = self.before(old[0].removesuffix(AS_BEFORE)) if old else None
        known = sorted(self.known_entities())
        layers = range(len(self.versions)) if before is None else [layer.version for layer in before.layers]
        stacked = Stacked([self.versions[v] for v in layers], [], [self._entities[v] for v in layers], [])
        if before is not None:
            others = [name for name in names if name not in old]
            more = [self.versions[v].data.numbers((other,))[:, 0] for other in others for v in layers]
            return link_before(label, before, len(old), replace(stacked, values=more), known, self.risen)
        values = [self._values(version, names) for version in self.versions]
        stacked = replace(stacked, values=values, marks=[np.zeros((len(own), 0), dtype=np.int64) for own in values])
        return stacked.columns(label, known, different=len(set(names)) > 1)[0]


def _atom_words(version: Version, secret: Secret, *, by_ids: bool) -> Words:
    """The sums (modulo 2^64) of two secret words of each record, for each atom."""
    purpose = "record set:" + version.name
    if by_ids:
        own = secret.words(purpose)
        return version.sums_by_atom(lambda ids: record_hashes(*own, ids, np.zeros((len(ids), 0), dtype=np.uint64)))
    words = secret.stream(purpose).integers(0, 2**64, size=(version.data.n_records, 2), dtype=np.uint64)
    return _summed(words, version)


def _summed(words: Words, version: Version) -> Words:
    order = np.argsort(version.atom, kind="stable")
    starts = np.searchsorted(version.atom[order], np.arange(version.n_atoms))
    return np.asarray(np.add.reduceat(words[order], starts, axis=0), dtype=np.uint64)


def _link_entities(versions: tuple[Version, ...]) -> tuple[NDArray[np.int64], ...]:
    """A respondent number per record that means the same respondent in every version."""
    numbers: dict[str, int] = {}
    linked = []
    for version in versions:
        entity = version.data.entity()
        if entity is None:
            ids = version.ids
            if len(versions) == 1:
                return (np.arange(len(ids), dtype=np.int64),)
            names = [str(i) for i in ids.tolist()]
        elif len(versions) == 1:
            # a missing respondent id is nobody else's: each such record stands for itself
            own = len(entity) + np.arange(len(entity), dtype=np.int64)
            return (np.where(entity >= 0, entity, own),)
        else:
            categories = version.data.categories(str(version.data.schema.entity))
            names = [UNNAMED if e < 0 else f"{categories[e]}" for e in entity.tolist()]
        linked.append(np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64))
    return _joined_by_records(versions, linked, numbers[UNNAMED]) if UNNAMED in numbers else tuple(linked)


def _joined_by_records(
    versions: tuple[Version, ...], linked: list[NDArray[np.int64]], unnamed: int
) -> tuple[NDArray[np.int64], ...]:
    """Several versions and records without a respondent's id: these count as one respondent, wherever they stand.

    Nobody can say which of them are the same in two versions. A respondent who has, in another version, the record of one of
    them is that respondent too.
    """
    ids = np.concatenate([version.ids for version in versions])
    owner = np.concatenate(linked)
    same = np.unique(owner[np.isin(ids, ids[owner == unnamed])])
    return tuple(np.where(np.isin(own, same), unnamed, own) for own in linked)
