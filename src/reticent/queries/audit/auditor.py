# SPDX-License-Identifier: Apache-2.0
"""The auditor of one response: would one more released row make anything sensitive inferable?

Sensitive sets are the classes of the current partition, pairs of classes, and the sets of families that the policy names,
each judged by the policy's rules; and no combination of answers at all may rest on fewer respondents than the policy
wants. A row that follows from earlier ones is always released: it reveals nothing new.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Mask
from reticent.kernels.echelon import PRIME
from reticent.queries.audit.common import CommonSquares, Resting
from reticent.queries.audit.digits import Digits
from reticent.queries.audit.few import Found
from reticent.queries.audit.watch import Totals, Watched
from reticent.queries.columns import Columns
from reticent.queries.refusals import StaffReason
from reticent.queries.rules import SetRules
from reticent.releases.rational import reconstruct
from reticent.releases.rows import Certificate, LinearRow, Partition, Proposal, Undecided
from reticent.releases.rowspace import RowSpace


class BoundStage(Protocol):
    """The check against bounds that everybody knows."""

    def check(self, space: RowSpace, proposal: Proposal) -> StaffReason | None:
        """Why a row must not be released, or None."""
        ...

    def interior(self, partition: Partition) -> Mask:
        """Classes whose true total lies strictly within its bounds: the check is quick while the pivots are such."""
        ...


@dataclass(frozen=True)
class Ruling:
    """Whether a row may be released; `reason` is for staff. `implied`: it follows from what is released already."""

    allowed: bool
    implied: bool = False
    reason: StaffReason | None = None


@dataclass
class _Undo:
    partition: Partition
    null: NDArray[np.uint64]
    pivots: list[int]


@dataclass
class Auditor:
    """Everything released of one response, and what must never follow from it."""

    columns: Columns
    rules: SetRules
    rng: np.random.Generator
    unions: int = 2
    families: Iterable[Mask] = ()
    bounds: BoundStage | None = None
    guessed: BoundStage | None = None
    common: CommonSquares | None = None
    digits: tuple[Digits, int] | None = None
    space: RowSpace = field(init=False)
    _releases: list[int] = field(default_factory=list)
    _undo: list[_Undo | None] = field(default_factory=list)
    # classes only shrink, so (class, size) names a set of columns for good once its partition is accepted
    _safe: set[tuple[tuple[int, int], ...]] = field(default_factory=set)
    _pending: set[tuple[tuple[int, int], ...]] = field(default_factory=set)
    _resting: Resting = field(init=False)
    _watched: Watched = field(init=False)
    _totals: Totals = field(init=False)

    def __post_init__(self) -> None:
        self.space = RowSpace(self.columns.n_columns, rng=self.rng)
        self._watched = Watched.of(self.families, self.columns, self.rules)
        self._totals = Totals(self.columns.n_columns)
        self._resting = Resting(self.columns, self.rules.minimum if self.rules.minimum > 1 else 0, self.rng)
        if self.digits is not None:
            self.digits[0].follow(self.digits[1], self.space)

    def know(self, mask: Mask) -> None:
        """Add what outsiders know: the total of some columns, as if it had been released."""
        found = self.space.propose(LinearRow.of(mask))
        if isinstance(found, Proposal):
            self._accept(found, 0)

    def judge(self, row: LinearRow) -> tuple[Ruling, Proposal | None]:
        """Decide on a row without releasing it."""
        try:
            found = self.space.propose(row)
            if isinstance(found, Certificate):
                return Ruling(True, implied=True), None
            reason = self._exposed(found)
            if reason is None and self.digits is not None:
                reason = self.digits[0].check(self.digits[1], found)
        except Undecided:
            return Ruling(False, reason=StaffReason("undecided", "the combination has too large coefficients")), None
        for stage in (self.bounds, self.guessed):
            if reason is None and stage is not None:
                reason = stage.check(self.space, found)
        return Ruling(reason is None, reason=reason), found

    def release(self, row: LinearRow, release: int) -> Ruling:
        """Decide on a row and, where it is safe, remember it under the number of its release."""
        verdict, proposal = self.judge(row)
        if verdict.allowed and proposal is not None:
            self._accept(proposal, release)
        if verdict.allowed:
            self._remember(row)
        return verdict

    def replay(self, row: LinearRow, release: int) -> None:
        """Remember a row that was released earlier; it is not judged again."""
        found = self.space.propose(row)
        if isinstance(found, Proposal):
            self._accept(found, release)
        self._remember(row)

    def _remember(self, row: LinearRow) -> None:
        mask = _plain(row)
        if mask is not None and self.rules.weighs:
            self._totals.add(mask)

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything released so far, for `restore`."""
        own: dict[str, NDArray[Any]] = {
            "releases": np.array(self._releases, dtype=np.int64),
            "answered": self._totals.state(),
        }
        return {**self.space.state(), **own}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take over what was released, as another run has worked it out."""
        self.space.restore(state)
        self._releases = state["releases"].tolist()
        self._totals.restore(state["answered"])
        self._undo.clear()
        self._safe.clear()
        self._resting.back_to(0)
        if self.common is not None:
            self.common.back_to(0)
        if self.digits is not None:
            self.digits[0].back_to(self.digits[1], 0)

    def rank(self) -> int:
        """Number of independent rows released."""
        return self.space.rank

    def mark(self) -> tuple[int, int]:
        """How far the releases have come, for `back_to`."""
        return self.space.rank, len(self._totals)

    def back_to(self, mark: tuple[int, int]) -> None:
        """Take back the rows released after the mark was this."""
        rank, answered = mark
        self._totals.back_to(answered)
        self._safe.clear()
        self._resting.back_to(rank)
        if self.common is not None:
            self.common.back_to(rank)
        if self.digits is not None:
            self.digits[0].back_to(self.digits[1], rank)
        rows = self.space.rank - rank
        if rows > 0:
            undo = self._undo[-rows]
            assert undo is not None  # nothing is taken back to within a decision that was made
            self.space.back_to(rank, undo.partition, undo.null, undo.pivots)
            del self._undo[-rows:], self._releases[rank:]

    def forget_undo(self) -> None:
        """The rows so far are final: nothing needed to take them back is kept."""
        self._undo.clear()

    def all_or_none(self) -> None:
        """The rows since `forget_undo` are taken back together, if at all, for which little is kept."""
        self._undo[1:] = [None] * (len(self._undo) - 1)

    def _accept(self, proposal: Proposal, release: int) -> None:
        self._undo.append(_Undo(self.space.partition, self.space.null_vectors, list(self.space.pivots)))
        prefer = self._crowded(proposal.partition) if self.bounds is None else self.bounds.interior(proposal.partition)
        self.space.accept(proposal, prefer=prefer)
        self._releases.append(release)
        self._safe |= self._pending
        self._pending = set()

    def _crowded(self, partition: Partition) -> Mask:
        """Classes with at least this many records as respondents are wanted: as pivots they keep the search short."""
        units = np.bincount(partition.class_of, weights=self.columns.counts, minlength=partition.n_classes)
        return units >= self.rules.minimum

    def _exposed(self, proposal: Proposal) -> StaffReason | None:
        """The first sensitive set that would follow, with the releases it follows from."""
        partition = proposal.partition
        self._pending = set()
        candidates: list[tuple[int, ...]] = [(int(j),) for j in proposal.unit_candidates()]
        if self.unions > 1:
            candidates += proposal.pair_candidates()
        if self.unions > 2:
            candidates += proposal.triple_candidates()
        for chosen in candidates:
            signature = tuple((j, int(partition.size[j])) for j in chosen)
            if signature in self._safe:
                continue
            rule = self.rules.broken(self.columns, np.isin(partition.class_of, chosen))
            if rule is None:
                self._pending.add(signature)
                continue
            reason = self._proved(chosen, rule, proposal)
            if reason is not None:
                return reason
        return self._exposed_set(proposal) or self._few(proposal)

    def _few(self, proposal: Proposal) -> StaffReason | None:
        """Whether some combination of answers, with any factors, rests on fewer respondents than the policy wants.

        So an insider who has records in several classes cannot compute another respondent, and no total less its visible
        parts, no union of classes and no change from one version of the data to the next is of too few.
        """
        found = self._resting.search(self.space, proposal)
        if found is not None:
            return self._combined(f"minimum: a combination of answers rests on {found.respondents} respondents", found)
        found = None if self.common is None else self.common.search(self.space, proposal)
        if found is None:
            return None
        return self._combined("spread: a combination of answers rests on equal values", found)

    def _combined(self, rule: str, found: Found) -> StaffReason:
        """The rule that a combination breaks, and the combination."""
        factors = [(row, reconstruct(factor, PRIME)) for row, factor in zip(found.rows, found.factors)]
        combination = tuple((row, Fraction(0) if share is None else share) for row, share in factors)
        return self._reason(rule, Certificate(((-1, Fraction(1)), *combination)))

    def _exposed_set(self, proposal: Proposal) -> StaffReason | None:
        """A watched set that would follow, or a total less its parts that is unsafe."""
        for classes in self._watched.candidates(proposal):
            chosen = tuple(classes.tolist())
            rule = self.rules.broken(self.columns, np.isin(proposal.partition.class_of, chosen)) or "watched set"
            reason = self._proved(chosen, rule, proposal)
            if reason is not None:
                return reason
        mask = _plain(proposal.row)
        if mask is None or not self.rules.weighs:
            return None
        for rest in self._totals.rests(mask):
            broken = self.rules.broken(self.columns, rest) if rest.any() else None
            if broken is not None:
                return StaffReason(broken, f"{self.columns.name}: a total less its answered parts")
        return None

    def _proved(self, chosen: tuple[int, ...], rule: str, proposal: Proposal) -> StaffReason | None:
        members = np.zeros(proposal.partition.n_classes, dtype=bool)
        members[list(chosen)] = True
        certificate = self.space.implied(members, proposal)
        return None if certificate is None else self._reason(rule, certificate)

    def _reason(self, rule: str, certificate: Certificate) -> StaffReason:
        """The rule, and the combination of releases that breaks it."""
        releases = sorted({self._releases[row] for row in certificate.rows})
        terms = " ".join(
            f"{'+' if factor > 0 else '-'}{'' if abs(factor) == 1 else f'{abs(factor)}·'}"
            f"{'this' if row < 0 else f'#{self._releases[row]}'}"
            for row, factor in certificate.combination[:12]
        )
        detail = f"{self.columns.name}: it would follow as {terms}"
        return StaffReason(rule, detail, tuple(releases))


def _plain(row: LinearRow) -> Mask | None:
    """The set that a row is the sum of, or a multiple of it; None if it is a weighted one."""
    masks = [mask for _, mask in row.terms if mask.any()]
    return masks[0] if len(masks) == 1 else None
