# SPDX-License-Identifier: Apache-2.0
"""The table method `invariant`: noise that keeps how often each count occurs."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from reticent.base.arrays import Floats, Ints
from reticent.base.errors import ParameterError
from reticent.base.progress import Progress
from reticent.base.randomness import Secret
from reticent.data.table import Table
from reticent.kernels.draws import uniforms
from reticent.tables.cell_draws import CellDraws
from reticent.tables.guarantee import NOT_FOLLOWED, Guarantee, Rate
from reticent.tables.outcome import Outcome
from reticent.tables.perturb.additivity import Way
from reticent.tables.perturb.cell_numbers import APART, cell_numbers, places
from reticent.tables.perturb.invariant import InvariantDesign, check_frequencies
from reticent.tables.perturb.noisy import ADJUSTED, CountNoise, noisy_outcome
from reticent.tables.perturb.ptable import PerturbationTable, Row
from reticent.tables.perturb.quota_rule import QuotaRule, stratum_matrix
from reticent.tables.perturb.quotas import select_by_quotas
from reticent.tables.problem import SuppressionProblem

OWNER = "invariant"
NOBODY = PerturbationTable((Row.of(0.0, np.zeros(1), np.ones(1)),), "no counts")
OWN_TABLE = (
    "The transition matrix follows the frequencies of this table, so a cell may get other noise in another table: "
    'publish tables that share cells together as linked tables, or give frequencies and selection = "keys".'
)


@dataclass(frozen=True)
class InvariantNoise(CellDraws):
    """Invariant noise: a count changes by at most 2 (a small one to 0 or skip + 1), and each count stays as frequent as it is.

    The matrix is R* = αR + (1 − α)I of Shlomo and Young, from the frequencies of the table or from given `frequencies` (of the
    counts 1, 2, 3, …). The cell key alone decides (`selection = "keys"`), so that frequencies are kept on average, and with
    given frequencies a cell has the same noise in every table. With "quotas" expected frequencies are met exactly where
    they are whole, else within 1; what that tells is judged in small tables, and elsewhere the run is refused unless accepted.
    `strata` names dimensions whose codes have matrices of their own.
    The arithmetic attacker, who knows how far counts move, determines no count exactly; levels are not promised, and what the
    transparent attacker determines is in `guarantee`.
    """

    name: ClassVar[str] = OWNER
    guarantee: ClassVar[Guarantee] = Guarantee(
        "Against the arithmetic attacker, who knows how far counts move, all published values and relations together: no count "
        "with somebody in it is determined exactly. With selection = "
        '"quotas" this also holds for somebody who knows the design and counts how many cells moved from each count to each '
        "other: tables small enough to enumerate all true tables that fit (up to about nine inner cells) are judged for "
        "that, others are called not judged and refused. Levels of counts are not promised." + NOT_FOLLOWED,
        Rate(73, 1461, 2.2, 24),
        "few tables lead to some of the outputs that were seen (further secrets lead more tables to each of them)",
    )
    lists_empty: ClassVar[bool] = True
    spread: float = field(
        default=0.15, metadata={"min": 1e-6, "max": 0.49, "help": "probability of each neighbour in P"}
    )
    mix: float = field(default=0.4, metadata={"min": 1e-6, "max": 1, "help": "α, the share of R in R* = αR + (1 − α)I"})
    skip: int = field(default=2, metadata={"min": 0, "max": 100, "help": "counts from 1 to this are never published"})
    top: int = field(default=20, metadata={"min": 1, "max": 1000, "help": "frequencies are kept up to this count"})
    selection: Literal["quotas", "keys"] = field(default="keys", metadata={"help": "how cells are chosen"})
    frequencies: tuple[float, ...] = field(
        default=(), metadata={"help": "how often 1, 2, 3, … occur; absent: as in the table"}
    )
    strata: tuple[str, ...] = field(default=(), metadata={"help": "dimensions whose codes have their own matrices"})
    record_key: str = field(default="", metadata={"help": "variable with the record keys; absent: drawn"})
    add_up: Way = field(default="no", metadata={"help": "counts are moved until totals add up, and how"})
    measure: bool = field(default=False, metadata={"help": "publish how far each count may be off, itself perturbed"})

    def __post_init__(self) -> None:
        self.design()
        if self.frequencies:
            check_frequencies(np.asarray(self.frequencies, dtype=np.float64))

    def design(self) -> InvariantDesign:
        """The design of the matrix."""
        return InvariantDesign(self.spread, self.mix, self.skip, self.top)

    @property
    def count_caveat(self) -> str:
        """What the notes of a run must say."""
        alike = bool(self.frequencies) and self.selection == "keys"
        notes = ((OWN_TABLE, not alike), (ADJUSTED, self.add_up != "no"))
        return " ".join(text for text, said in notes if said)

    def for_table(self, table: Table) -> "InvariantOnTable":
        """The method bound to a table, whose cells have an identity."""
        return InvariantOnTable(self, table)

    def protect(self, problem: SuppressionProblem, *, secret: Secret, time_limit: float, progress: Progress) -> Outcome:
        """Not without the table: the same cell must be drawn the same wherever it occurs."""
        raise ParameterError(
            f"{OWNER}: cells are known by their records or codes; start from microdata, a table or a plan."
        )


@dataclass(frozen=True, eq=False)
class InvariantOnTable:
    """Invariant noise and the table that gets it."""

    method: InvariantNoise
    table: Table
    name: ClassVar[str] = OWNER

    def protect(self, problem: SuppressionProblem, *, secret: Secret, time_limit: float, progress: Progress) -> Outcome:
        """Draw the noise stratum by stratum, and state what anybody who knows the matrices can conclude."""
        if not self.table.is_count or self.table.weighted:
            raise ParameterError(f"{OWNER}: needs a table of counts without weights; use cell-key for sums.")
        progress(0.0, "drawing the noise")
        method, counts = self.method, np.rint(self.table.values).astype(np.int64)
        if bool((counts < 0).any()):
            raise ParameterError(f"{OWNER}: counts must not be negative.")
        keys = self._keys(secret)
        values = counts.astype(np.float64)
        made: list[tuple[Ints, PerturbationTable]] = []
        for number, cells in enumerate(self._strata()):
            given = np.asarray(method.frequencies, dtype=np.float64)
            found = stratum_matrix(counts[cells], given, method.design(), met=method.selection == "quotas")
            made.append((cells, NOBODY if found is None else found.table))
            if found is None:
                continue
            if method.selection == "keys":
                change = np.where(counts[cells] == 0, 0.0, found.table.changes(counts[cells], keys[cells]))
            else:
                change = select_by_quotas(
                    counts[cells],
                    keys[cells],
                    found.table,
                    rows=found.kept + 2,
                    secret=secret.child(f"stratum {number}"),
                )
            values[cells] += change
        noise = CountNoise(
            made[0][1], values, keys, method.skip, method.add_up, method.measure, "perturbed, frequencies kept", OWNER,
            strata=made, alike=self._alike, quotas=self._rule, within=self._by_keys,
        )  # fmt: skip
        return noisy_outcome(problem, noise, secret=secret, time_limit=time_limit)

    @property
    def _alike(self) -> bool:
        """Whether cells with the same records get the same noise: by their keys alone, and by one matrix."""
        return self._by_keys and (not self.method.strata or bool(self.method.frequencies))

    @property
    def _by_keys(self) -> bool:
        """Whether noise depends on records and matrix alone: then cells of one stratum with the same records have the same."""
        return self.method.selection == "keys" and self.table.cell_keys is not None

    @property
    def _rule(self) -> QuotaRule | None:
        """What everybody knows of the selection, where it is by quotas."""
        if self.method.selection == "keys":
            return None
        given = np.asarray(self.method.frequencies, dtype=np.float64)
        return QuotaRule(self.method.design(), given, tuple(self._strata()))

    def _keys(self, secret: Secret) -> Floats:
        """A number in [0, 1) for each cell: of its records or codes, or for quotas of its place too.

        Cells with the same records must not stand side by side in the order in which quotas are filled: whoever sees
        them published with different values would know where a quota ends.
        """
        if self.method.selection == "quotas":
            numbers = cell_numbers(self.table) ^ (places(self.table.n_cells) * APART)
            return uniforms(*secret.child("order").words("cells"), numbers)
        if self.table.cell_keys is not None:
            return self.table.cell_keys
        return uniforms(*secret.words("cells"), cell_numbers(self.table))

    def _strata(self) -> list[Ints]:
        """The cells of each stratum."""
        names = self.table.names
        unknown = [name for name in self.method.strata if name not in names]
        if unknown:
            raise ParameterError(
                f"{OWNER}: strata must be among the dimensions {', '.join(names)}, got {unknown[0]!r}."
            )
        if not self.method.strata:
            return [np.arange(self.table.n_cells)]
        codes = self.table.codes[:, [names.index(name) for name in self.method.strata]]
        number = np.unique(codes, axis=0, return_inverse=True)[1].ravel()
        return [np.flatnonzero(number == at) for at in range(int(number.max(initial=-1)) + 1)]
