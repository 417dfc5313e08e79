# SPDX-License-Identifier: Apache-2.0
"""The table method `cell-key`: options, and the outcome that the attacker judges."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np

from reticent.base.arrays import Floats
from reticent.base.errors import DataError, ParameterError
from reticent.base.progress import Progress
from reticent.base.randomness import Secret
from reticent.data.microdata import Microdata
from reticent.data.parameters import Examples, Parameters, to_plain
from reticent.data.table import Measure, Table
from reticent.kernels.draws import uniforms
from reticent.tables.guarantee import NOT_FOLLOWED, Guarantee, Rate
from reticent.tables.outcome import Outcome, changed_values
from reticent.tables.perturb.additivity import Way
from reticent.tables.perturb.cell_key import (
    KeyedValues,
    MagnitudeCells,
    MagnitudeNoise,
    perturb_counts,
    perturb_magnitudes,
)
from reticent.tables.perturb.noisy import ADJUSTED, CountNoise, noisy_outcome
from reticent.tables.perturb.ptable import PerturbationTable, read_ptables
from reticent.tables.perturb.ptable_design import Design, design_ptable
from reticent.tables.perturb.ptable_nearest import exact_row
from reticent.tables.perturb.record_keys import BITS, DRAWN_DIGITS, RecordKeys, contributing_keys
from reticent.tables.problem import SuppressionProblem

OWNER = "cell-key"
MAGNITUDE_PARTS = 2
STORED_KEYS = (
    "With stored record keys (record_key) sums get the steps of the p-table and nothing between them, the same for all "
    "responses: whoever knows the p-table has a list of candidates for each value, which the audit does not judge, and ratios of "
    "responses of one respondent are the true ones. Without record_key noise is continuous and drawn for each response."
)


@dataclass(frozen=True)
class CellKey(Parameters):
    """Cell keys: every cell gets noise that depends on its set of records and the secret; totals need not add up.

    The p-table is designed from `largest` (D), `variance` (V), `skip`, `stay` and `monotone`, or read from the file
    `ptable` (with separation also from `small_ptable`). Record keys are drawn from the secret by record id, or are in
    the variable `record_key`. Sums get noise in proportion to their largest contributions (`noise`): with drawn keys
    continuous, a step of the p-table and up to half a step more, and by itself for each response; with stored keys as in
    tau-ARGUS the steps alone, alike for all responses, which the audit does not judge (`caveat`). Weighted counts are the
    changed number of respondents times their mean weight; where weights differ, drawn keys move that number by up to a half.
    The arithmetic attacker, who knows the p-table, determines no count exactly, and sums keep their levels; levels of
    counts are not promised, and what the transparent attacker determines is in `guarantee`.
    """

    name: ClassVar[str] = "cell-key"
    guarantee: ClassVar[Guarantee] = Guarantee(
        "Against the arithmetic attacker, who knows the p-table, all published values and relations together: no count with "
        "somebody in it is determined exactly, and the largest noise takes every unsafe sum out of its protection levels. "
        "Levels of counts are not promised." + NOT_FOLLOWED,
        Rate(202, 2434, 2.3, 24),
        "a small table has many outputs, some of which few tables give (further secrets lead more tables to each of them)",
    )
    lists_empty: ClassVar[bool] = True
    examples: ClassVar[Examples] = ({}, {"ptable": "ptable.txt"})
    largest: int = field(default=5, metadata={"min": 1, "max": 100, "help": "largest change of a count"})
    variance: float = field(default=3.0, metadata={"min": 1e-9, "max": 1e4, "help": "variance of the change"})
    skip: int = field(default=2, metadata={"min": 0, "max": 100, "help": "counts from 1 to this are never published"})
    stay: float = field(default=0.0, metadata={"min": 0, "max": 1, "help": "least probability of no change"})
    monotone: bool = field(default=False, metadata={"help": "probabilities do not fall up to no change"})
    ptable: str = field(default="", metadata={"help": "p-table file instead of a designed one"})
    small_ptable: str = field(default="", metadata={"help": "p-table file for values below separation"})
    record_key: str = field(default="", metadata={"help": "variable with the record keys; absent: drawn"})
    noise: MagnitudeNoise = field(default_factory=MagnitudeNoise, metadata={"help": "how large the noise of sums is"})
    tails: Literal["entropy", "normal"] = field(default="entropy", metadata={"help": "shape of designed rows"})
    held: Mapping[str, float] = field(
        default_factory=dict,
        hash=False,
        metadata={"min": 0, "max": 1, "help": 'probabilities of designed rows given in advance: "3 to 6" = 0.027'},
    )
    add_up: Way = field(default="no", metadata={"help": "counts are moved until totals add up, and how"})
    measure: bool = field(default=False, metadata={"help": "publish how far each count may be off, itself perturbed"})
    printed: float = field(
        default=0.0,
        metadata={
            "min": 0,
            "max": 1e4,
            "help": "variance of a ptable with rounded rows, made exact; 0: taken as it is",
        },
    )

    def __post_init__(self) -> None:
        if not self.ptable:
            self._design(counts=True)
        self._check_file()
        if self.noise.separation and not self.small_ptable:
            raise ParameterError(
                "separation needs small_ptable, the p-table file for small values.", option="small_ptable"
            )
        if self.noise.parity and not self.ptable:
            raise ParameterError("parity needs a p-table file with rows of the types even and odd.", option="ptable")

    def _check_file(self) -> None:
        """What designs a p-table says nothing about one from a file, and the other way round."""
        designing = ("largest", "variance", "skip", "stay", "monotone", "tails", "held")
        given = [name for name in to_plain(self) if name in designing]
        if self.ptable and given:
            raise ParameterError(
                f"ptable takes the noise from a file, so {' and '.join(given)} cannot be asked for; leave out either.",
                option="ptable",
            )
        if self.printed and not self.ptable:
            raise ParameterError(
                "printed is the variance of a ptable file; give ptable, or leave it out.", option="printed"
            )

    def _design(self, *, counts: bool) -> Design:
        if counts:
            return Design(
                self.largest, self.variance, self.skip, self.stay, self.monotone, tails=self.tails, held=self.held
            )
        return Design(self.largest, self.variance, 0, self.stay, self.monotone, parts=MAGNITUDE_PARTS)

    def with_files(self, find: Callable[[str], Path]) -> "CellKey":
        """The same with its files where `find` says."""
        files = (self.ptable, self.small_ptable)
        ptable, small = (str(find(name)) if name else "" for name in files)
        return replace(self, ptable=ptable, small_ptable=small)

    @property
    def caveat(self) -> str:
        """What the audit of sums does not judge."""
        return STORED_KEYS if self.record_key else ""

    @property
    def count_caveat(self) -> str:
        """What the notes of a table of counts must say."""
        return "" if self.add_up == "no" else ADJUSTED

    @property
    def draws(self) -> bool:
        """Record keys are drawn from the secret, unless the data have them."""
        return not self.record_key

    def needs_top(self, response: str | None) -> int:
        """How many of the largest contributions the noise looks at."""
        return 0 if response is None else self.noise.contributions

    def record_keys(self, data: Microdata, response: str | None, secret: Secret) -> RecordKeys:
        """The keys of all records; for sums, records that contribute 0 may stay out.

        Each response has its own keys: with one noise for all, the ratio of two published sums would be the true one.
        """
        zeros = self.noise.include_zeros
        own = secret if response is None else secret.child(f"response {response}")
        return contributing_keys(data, self.record_key, response, own, owner=OWNER, zeros=zeros)

    def tables(self, *, counts: bool) -> dict[str, PerturbationTable]:
        """The perturbation tables by kind."""
        if self.ptable:
            mend = partial(exact_row, variance=self.printed) if self.printed else None
            return read_ptables(Path(self.ptable), mend)
        made = design_ptable(self._design(counts=counts), sizes=None if counts else (1, self.largest))
        return {"all": made}

    def for_table(self, table: Table) -> "KeyedTable":
        """The method bound to a table that has cell keys."""
        if table.cell_keys is None:
            raise DataError(f"{OWNER}: cell keys come from records; a finished table has none. Start from microdata.")
        return KeyedTable(self, table)

    def protect(self, problem: SuppressionProblem, *, secret: Secret, time_limit: float, progress: Progress) -> Outcome:
        """Not without the table: cell keys are part of it."""
        raise DataError(f"{OWNER}: cell keys come from records; start from microdata or a plan.")


@dataclass(frozen=True, eq=False)
class KeyedTable:
    """The cell-key method and the table that it is to perturb."""

    method: CellKey
    table: Table
    name: ClassVar[str] = "cell-key"

    def protect(self, problem: SuppressionProblem, *, secret: Secret, time_limit: float, progress: Progress) -> Outcome:
        """Add the noise, and state what anybody who knows the p-table can conclude from each value alone."""
        progress(0.0, "adding the noise")
        if self.table.is_count and not self.table.weighted:
            return noisy_outcome(problem, self._count_noise(), secret=secret, time_limit=time_limit)
        if self.method.add_up != "no" or self.method.measure:
            raise ParameterError(f"{OWNER}: add_up and measure are for counts without weights; leave them out.")
        found = self._weighted(secret) if self.table.is_count else self._magnitudes(problem, secret)
        true = problem.values
        untouched = problem.frozen
        values = np.where(untouched, true, found.values)
        low = np.minimum(np.where(untouched, true, found.low), true)
        high = np.maximum(np.where(untouched, true, found.high), true)
        return changed_values(
            true,
            values,
            status="perturbed by cell keys",
            low=np.maximum(low, problem.lower_bound),
            high=np.minimum(high, problem.upper_bound),
            levels=not self.table.is_count,  # a count above 0 shows that somebody is there, whatever the noise
            noise=True,
            changes=self._ptable().for_counts() if self.table.is_count else None,
        )

    @cached_property
    def _keys(self) -> Floats:
        assert self.table.cell_keys is not None
        return self.table.cell_keys

    def _ptable(self) -> PerturbationTable:
        made = self.method.tables(counts=True)
        if "all" not in made:
            raise DataError(f"{OWNER}: counts need a p-table of type all.")
        return made["all"]

    def _count_noise(self) -> CountNoise:
        table, method = self._ptable(), self.method
        counts = np.rint(self.table.values).astype(np.int64)
        values = perturb_counts(counts, self._keys, table).values
        skip = method.skip if not method.ptable else table.skipped
        return CountNoise(
            table, values, self._keys, skip, method.add_up, method.measure, "perturbed by cell keys", OWNER, alike=True
        )  # fmt: skip

    def _weighted(self, secret: Secret) -> KeyedValues:
        table = self.table
        spread = (
            None if table.least == table.most else self._spread(secret)
        )  # of one weight they are counts: no digits to hide
        counts = table.respondents.counts
        found = perturb_counts(counts, self._keys, self._ptable(), weights=table.values, spread=spread)
        # what is above 0 is not written as 0, which would look as if nobody was there
        return replace(found, values=np.where(found.values > 0, np.maximum(found.values, 10.0**-table.decimals), 0.0))

    def _spread(self, secret: Secret) -> Floats | None:
        """A uniform number for each cell, by its key and the secret; none for stored keys, whose noise the p-table fixes."""
        if not self.method.draws:
            return None
        words = secret.child(f"spread {self.table.response}").words("cells")
        return uniforms(*words, np.floor(self._keys * 2.0**BITS).astype(np.uint64))

    def _magnitudes(self, problem: SuppressionProblem, secret: Secret) -> KeyedValues:
        method, table = self.method, self.table
        assert table.response is not None
        if method.held:
            raise ParameterError(f"{OWNER}: held is for counts; leave it out of tables of sums.")
        small = read_ptables(Path(method.small_ptable)).get("all") if method.small_ptable else None
        cells = MagnitudeCells(
            table.values,
            magnified(table, table.respondents.measures[table.response], method.noise),
            table.respondents.counts,
            self._keys,
            problem.primary,
        )
        digits = DRAWN_DIGITS if table.key_digits == 0 else table.key_digits
        return perturb_magnitudes(
            cells, method.noise, method.tables(counts=False), small_table=small, digits=digits,
            spread=self._spread(secret),
        )  # fmt: skip


def magnified(table: Table, measure: Measure, noise: MagnitudeNoise) -> Floats:
    """|x_j|, what the noise of each cell is in proportion to: top contributions, mean, range or the value.

    A range counts as no less than the largest contribution: that of one respondent, or of equal ones, is 0, and a cell
    without noise would be published as it is.
    """
    weights = 1.0 if measure.top_weights is None else measure.top_weights
    if noise.magnifier == "top":
        return np.asarray(measure.top * weights)
    if noise.magnifier == "sum":
        return np.abs(table.values)[:, None]
    if noise.magnifier == "range":
        largest = np.asarray(measure.top * weights).max(axis=1, initial=0.0)
        return np.asarray(np.maximum(measure.maximum - measure.minimum, largest)[:, None])
    size = table.respondents.weighted_counts if table.weighted else table.respondents.counts.astype(np.float64)
    return np.abs(np.divide(table.values, size, out=np.zeros(table.n_cells), where=size > 0))[:, None]
