# SPDX-License-Identifier: Apache-2.0
"""Query databases whose records stay in an engine: classes of records come to the driver, with exact sums over each.

A condition selects classes, so what a mode needs of them is enough to decide as with records in memory: how many records a
class has, exact totals, extremes and largest values, and sums of secret words that name sets and decide noise. What needs
single records (samples, ties found in values, respondents with several records) is refused before anybody asks.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Ints, Mask, Words
from reticent.base.errors import DataError, PlanError
from reticent.base.randomness import Secret
from reticent.data.large import BLOCK, LargeFile
from reticent.data.record_marks import marked_variables, marks_sum, named_sum
from reticent.data.schema import Schema
from reticent.frames.columns import unique_ids
from reticent.frames.engines.classes import EngineClasses
from reticent.frames.engines.seam import CodeMap
from reticent.frames.frame import Frame
from reticent.queries.canonical import COUNT, MOST_LEVELS, RecordSet, Universe, Version
from reticent.queries.columns import Columns
from reticent.queries.fixed import EXACT, Fixed, Whole, exact
from reticent.queries.levels import encode
from reticent.queries.modes import MODES
from reticent.queries.policy import Bounds, Policy
from reticent.tabulation.large import exact_digits

MORE = 2
"""A product of responses asks for one respondent more than the minimum; this many beyond it are listed of each class."""


@dataclass(frozen=True)
class ClassSums:
    """What an engine says of one response, or of a product, in each column: asked for when it is needed."""

    counts: Ints
    total: Callable[[], Whole]
    size: Callable[[], Whole]
    ends: Callable[[], tuple[Whole, Whole]]
    top: Callable[[int], Whole]
    common: Callable[[int], tuple[Whole, Ints]]


@dataclass(frozen=True)
class ClassColumns(Columns):
    """Columns without their units: one class of records each, every respondent with one record.

    `start` and `entity` list at most this many respondents of a column as may be too few.
    """

    own: ClassSums = field(kw_only=True, repr=False, compare=False)

    @property
    def has_units(self) -> bool:
        """The values of single records stay in the engine."""
        return False

    @property
    def n_units(self) -> int:
        """Number of unknowns."""
        return int(self.counts.sum())

    @cached_property
    def counts(self) -> Ints:
        """Number of units of each column."""
        return self.own.counts

    @property
    def one_each(self) -> bool:
        """Every record is its own respondent."""
        return True

    @property
    def n_respondents(self) -> Ints:
        """Number of respondents of each column."""
        return self.counts

    @cached_property
    def totals(self) -> Whole:
        """The exact total of each column."""
        return self.own.total()

    @cached_property
    def sizes(self) -> Whole:
        """The total of absolute values of each column."""
        return self.own.size()

    @cached_property
    def extremes(self) -> tuple[Whole, Whole]:
        """The least and the greatest value of each column."""
        return self.own.ends()

    def largest(self, n: int) -> Whole:
        """The n largest absolute values of each column, filled up with 0."""
        if n not in self._largest:
            self._largest[n] = self.own.top(n)
        return self._largest[n]

    def commonest(self, n: int) -> tuple[Whole, Ints]:
        """At most n different values of all records, those that most have first, and how many have each."""
        return self.own.common(n)

    def units(self, mask: Mask) -> Ints:
        """Single units stay in the engine."""
        needs_records("this question")

    @property
    def by_entity(self) -> Ints:
        """Single units stay in the engine."""
        needs_records("this question")


def needs_records(what: str) -> NoReturn:
    """Refuse what classes of records do not tell."""
    raise DataError(f"{what} needs all records at once, which stay in the engine; open the database without an engine.")


class LargeVersion(Version):
    """One version of the data in an engine: its classes, in the order of their codes."""

    def __init__(self, name: str, file: LargeFile, policy: Policy) -> None:
        self.name, self.file, self.filters = name, file, policy.filters
        self._by_atom: dict[str, NDArray[np.float64] | None] = {}
        self._extremes: dict[str, tuple[Ints, Ints]] = {}
        file.refuse_infinite((*policy.responses, *policy.filters))
        identifier = file.unique_identifier()
        if identifier is None:
            raise DataError(
                "data: an engine knows records by an identifier column; give a variable without missing or repeated values "
                "the role identifier."
            )
        self.identifier, self.levels, maps = identifier, {}, []
        for one in policy.filters:
            codes, self.levels[one] = encode(file.column(one), one, policy)
            maps.append(CodeMap(file.code_map(one).values, codes, len(self.levels[one])))
        absent = {one: self._absent(one) for one in policy.responses}
        marked = [one for one in policy.responses if absent[one]]
        self.classes = EngineClasses(
            file.view,
            tuple(maps),
            tuple(f"CASE WHEN {file.number_text(one)} IS NULL THEN 1 ELSE 0 END" for one in marked),
        )
        self.n_atoms = len(self.classes.counts)
        self.codes = {one: self.classes.codes[:, at] for at, one in enumerate(policy.filters)}
        there = np.ones(self.n_atoms, dtype=bool)
        self.present = {
            one: ~self.classes.marked(marked.index(one)) if one in marked else there for one in policy.responses
        }
        self.digits = {one: self._digits(one) for one in policy.responses}

    def _absent(self, name: str) -> bool:
        text = self.file.number_text(name)
        return bool(self.file.view.facts(n=f"SUM(CASE WHEN {text} IS NULL THEN 1 ELSE 0 END)")["n"])

    def _digits(self, name: str) -> int:
        """The decimals that values of a response have; what an engine cannot hold as whole numbers is refused."""
        digits, facts = exact_digits(self.file, name, owner="data")
        if max(abs(facts["least"]), abs(facts["most"])) * 10.0**digits >= EXACT:
            raise DataError(
                f"data: {name!r} has values of more than 15 digits, which are not exact in an engine; give it in a larger "
                "unit, or with fewer decimals.",
                variables=(name,),
            )
        while digits and not self._has_decimal(name, digits):  # as in memory, whatever the schema declares
            digits -= 1
        return digits

    def _has_decimal(self, name: str, digits: int) -> bool:
        """Whether some value has its last decimal at this place."""
        tested = f"MOD({self._at_scale(name, digits)}, 10) <> 0"
        return bool(self.file.view.facts(n=f"SUM(CASE WHEN {tested} THEN 1 ELSE 0 END)")["n"])

    @property
    def schema(self) -> Schema:
        """What each variable is for and how it is measured."""
        return self.file.schema

    def __getattr__(self, name: str) -> Any:
        if name in ("data", "atom"):  # what holds single records
            needs_records("this question")
        raise AttributeError(name)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of everything answers depend on, whatever the order of the records."""
        numeric, coded = marked_variables(self.schema)
        maps = [self.file.code_map(one) for one in coded]
        sums = np.zeros(2, dtype=np.uint64)
        for codes, block in self.file.coded_blocks(maps, (self.identifier, *numeric), self.identifier):
            sums += marks_sum(block.record_ids(), codes, block.numbers(numeric))
        texts = [self.file.categories(one) for one in coded]
        return named_sum(self.name, self.file.n_records, self.schema, texts, sums)

    @property
    def marks(self) -> dict[str, str]:
        """What a ledger keeps of the version."""
        return {"name": self.name, "ids": self.fingerprint}

    def sums_by_atom(self, draw: Callable[[Words], Words]) -> Words:
        """Σ modulo 2^64 over each class of words that are drawn for each record from its id."""

        def drawn(block: Frame) -> Words:
            ids = unique_ids(block.table[self.identifier])
            assert ids is not None
            return draw(ids)

        return self.classes.words((self.identifier,), drawn, rows=BLOCK)

    def by_atom(self, response: str) -> NDArray[np.float64] | None:
        """The value of a response in each class (missing: not a number); None if a class has several, or there are many."""
        if response not in self._by_atom:
            low, high = self._ends(response)
            values = np.where(self.present[response], low / 10 ** self.digits[response], np.nan)
            same = bool((low == high).all()) and len(np.unique(values)) <= MOST_LEVELS
            self._by_atom[response] = values if same else None
        return self._by_atom[response]

    def whole(self, response: str) -> str:
        """A response as whole multiples of its last decimal, in SQL."""
        return self._at_scale(response, self.digits[response])

    def _at_scale(self, response: str, digits: int) -> str:
        return f"CAST(ROUND(({self.file.number_text(response)}) * {10**digits}) AS BIGINT)"

    def broken(self, response: str, bounds: Bounds) -> int:
        """How many values are not as bounds say."""
        text = self.file.number_text(response)
        wrong = [] if bounds.low is None else [f"{text} < {_number(bounds.low)}"]
        wrong += [] if bounds.high is None else [f"{text} > {_number(bounds.high)}"]
        wrong += [f"{text} <> ROUND({text})"] if bounds.integer else []
        if not wrong:
            return 0
        return int(self.file.view.facts(n=f"SUM(CASE WHEN {' OR '.join(wrong)} THEN 1 ELSE 0 END)")["n"] or 0)

    def columns(self, label: str, names: tuple[str, ...], minimum: int) -> ClassColumns:
        """The unknowns of a response, of a product, or of the records themselves, class by class."""
        there = np.ones(self.n_atoms, dtype=bool)
        for one in names if names != (COUNT,) else ():
            there &= self.present[one]
        atoms = np.flatnonzero(there)
        counts = self.classes.counts[atoms]
        listed = np.minimum(counts, minimum + MORE)
        start = np.concatenate(([0], np.cumsum(listed))).astype(np.int64)
        scale = 1 if names == (COUNT,) else int(np.prod([10 ** self.digits[one] for one in names], dtype=object))
        return ClassColumns(
            label,
            (atoms.astype(np.int64),),
            start,
            np.arange(int(start[-1]), dtype=np.int64),
            Fixed(np.zeros(0, dtype=np.int64), scale),
            own=self._records(counts) if names == (COUNT,) else self._sums(names, atoms, counts),
        )

    def _records(self, counts: Ints) -> ClassSums:
        ones = np.ones(len(counts), dtype=np.int64)
        return ClassSums(
            counts,
            lambda: counts,
            lambda: counts,
            lambda: (ones, ones),
            lambda n: (np.arange(n) < counts[:, None]).astype(np.int64),
            lambda n: (ones[:1], counts.sum(keepdims=True)),
        )

    def _sums(self, names: tuple[str, ...], atoms: Ints, counts: Ints) -> ClassSums:
        wide, size = self.file.view.connection.wide, f"ABS({self.whole(names[0])})"
        text = " * ".join(wide(self.whole(one)) for one in names)

        def single(found: Callable[[], Whole]) -> Whole:
            return needs_records("a product of responses") if len(names) > 1 else found()[atoms]

        return ClassSums(
            counts,
            lambda: self.classes.sums(v=text)["v"][atoms],
            lambda: single(lambda: self.classes.sums(v=size)["v"]),
            lambda: (single(lambda: self._ends(names[0])[0]), single(lambda: self._ends(names[0])[1])),
            lambda n: single(lambda: self.classes.largest(size, n)),
            lambda n: (
                self.classes.commonest(self.whole(names[0]), n) if len(names) == 1 else needs_records("a product")
            ),
        )

    def _ends(self, response: str) -> tuple[Ints, Ints]:
        if response not in self._extremes:
            self._extremes[response] = self.classes.extremes(self.whole(response))
        return self._extremes[response]


def _number(value: float) -> str:
    return f"CAST('{float(value)!r}' AS DOUBLE)"


class LargeUniverse(Universe):
    """One version of a data set in an engine."""

    def __init__(self, name: str, file: LargeFile, policy: Policy, secret: Secret) -> None:
        check_in_engine(policy, file.schema)
        self._large = LargeVersion(name, file, policy)
        self._clamped: dict[str, Mapping[str, Whole]] = {}
        super().__init__((self._large,), policy, secret)
        self.name_by_ids((name,))

    def _linked_entities(self) -> tuple[Ints, ...]:
        return ()

    def _divided(self, policy: Policy) -> tuple[Version, ...]:
        self._large = LargeVersion(self._large.name, self._large.file, policy)
        self._clamped.clear()
        return (self._large,)

    def answerable(self, statistics: Collection[str]) -> Collection[str]:
        """The statistics that classes of records are enough for."""
        return [one for one in statistics if one in MODES[self.policy.mode].in_engine]

    @property
    def found_ties(self) -> tuple[tuple[str, ...], ...]:
        """Equations between responses are found in records; one response alone has none."""
        if len((*self.policy.responses, *self.answered)) > 1 and self.policy.mode == "exact":
            needs_records("policy: the search for equations between several responses (mode exact)")
        return ()

    def check_bounds(self) -> None:
        """What everybody is said to know must be true."""
        for name, bounds in self.policy.bounds.items():
            wrong = self._large.broken(name, bounds)
            if wrong:
                raise DataError(
                    f"policy: the bounds of {name!r} do not hold for {wrong} records; widen them or correct the records."
                )

    def holds_event(self, response: str) -> bool:
        """Whether every value of a response is 0, 1 or missing."""
        return not self._large.broken(response, Bounds(0, 1, True))

    def changed(self, response: str) -> bool:
        """There is one version."""
        return False

    def clamped(self, response: str, records: RecordSet, low: float, high: float) -> tuple[int, Fraction]:
        """How many records of a set have a value, and the exact sum of the values, each moved into some bounds."""
        name = f"{response} {low!r} {high!r}"
        if name not in self._clamped:
            self._clamped[name] = self._clamped_sums(response, low, high)
        found = {one: int(sums[records.atoms].sum()) for one, sums in self._clamped[name].items()}
        ends = found["below"] * exact(low) + found["above"] * exact(high)
        return found["n"], ends + Fraction(found["inside"], 10 ** self._large.digits[response])

    def _clamped_sums(self, response: str, low: float, high: float) -> Mapping[str, Whole]:
        text, least, most = self._large.file.number_text(response), _number(low), _number(high)
        whole = self._large.whole(response)
        return self._large.classes.sums(
            n=f"CASE WHEN {text} IS NULL THEN 0 ELSE 1 END",
            below=f"CASE WHEN {text} < {least} THEN 1 ELSE 0 END",
            above=f"CASE WHEN {text} > {most} THEN 1 ELSE 0 END",
            inside=f"CASE WHEN {text} >= {least} AND {text} <= {most} THEN {whole} ELSE 0 END",
        )

    def known_entities(self) -> frozenset[int]:
        """Nobody: known respondents are refused."""
        return frozenset()

    def check_known(self) -> None:
        """Nobody is known."""

    def _link(self, label: str, names: tuple[str, ...]) -> Columns:
        return self._large.columns(label, names, self.policy.minimum)


def check_in_engine(policy: Policy, schema: Schema) -> None:
    """Refuse what a database in an engine cannot answer or judge, before anything is counted."""
    if not MODES[policy.mode].in_engine:
        able = ", ".join(name for name, mode in MODES.items() if mode.in_engine and name != "open")
        raise PlanError(
            f"policy: the mode {policy.mode} works on single records, which stay in the engine; use one of {able}, or open "
            "the database without an engine."
        )
    if policy.mode == "exact" and len(policy.responses) > 1:
        raise PlanError(
            "policy: the mode exact looks for equations between responses in all records, which stay in the engine; name one "
            "response, or use the mode simulatable."
        )
    if schema.entity is not None:
        raise PlanError(
            f"policy: respondents with several records ({schema.entity!r}) are counted in memory; open the database without "
            "an engine."
        )
    if policy.known:
        raise PlanError("policy: known respondents are looked up in memory; open the database without an engine.")
