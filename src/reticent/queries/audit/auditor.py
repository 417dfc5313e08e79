"""The auditor of one response: would one more released row make anything sensitive inferable?

Sensitive sets are the classes of the current partition, pairs of classes, and the sets of families that the policy names,
each judged by the policy's rules. A row that follows from earlier ones is always released: it tells nothing new.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from reticent.queries.audit.rowspace import Certificate, LinearRow, Partition, Proposal, RowSpace, Undecided
from reticent.queries.columns import Columns
from reticent.queries.refusals import StaffReason
from reticent.queries.rules import SetRules

Mask = NDArray[np.bool_]


class BoundStage(Protocol):
    """The check against bounds that everybody knows."""

    def check(self, space: RowSpace, proposal: Proposal) -> StaffReason | None:
        """Why a row must not be released, or None."""
        ...

    def interior(self, partition: Partition) -> Mask:
        """Classes whose true total lies strictly within its bounds: the check is quick while the pivots are such."""
        ...


@dataclass(frozen=True)
class Verdict:
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
    families: Sequence[Mask] = ()
    bounds: BoundStage | None = None
    space: RowSpace = field(init=False)
    _releases: list[int] = field(default_factory=list)
    _undo: list[_Undo] = field(default_factory=list)
    # classes only shrink, so (class, size) names a set of columns for good once its partition is accepted
    _safe: set[tuple[tuple[int, int], ...]] = field(default_factory=set)
    _pending: set[tuple[tuple[int, int], ...]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.space = RowSpace(self.columns.n_columns, rng=self.rng)
        # a family is watched only where its sets are unsafe by themselves
        self.families = [mask for mask in self.families if mask.any() and self.rules.broken(self.columns, mask)]

    def know(self, mask: Mask) -> None:
        """Add what outsiders know: the total of some columns, as if it had been released."""
        found = self.space.propose(LinearRow.of(mask))
        if isinstance(found, Proposal):
            self._accept(found, 0)

    def judge(self, row: LinearRow) -> tuple[Verdict, Proposal | None]:
        """Decide on a row without releasing it."""
        try:
            found = self.space.propose(row)
            if isinstance(found, Certificate):
                return Verdict(True, implied=True), None
            reason = self._exposed(found)
        except Undecided:
            return Verdict(False, reason=StaffReason("undecided", "the combination has too large coefficients")), None
        if reason is None and self.bounds is not None:
            reason = self.bounds.check(self.space, found)
        return Verdict(reason is None, reason=reason), found

    def release(self, row: LinearRow, release: int) -> Verdict:
        """Decide on a row and, where it is safe, remember it under the number of its release."""
        verdict, proposal = self.judge(row)
        if verdict.allowed and proposal is not None:
            self._accept(proposal, release)
        return verdict

    def replay(self, row: LinearRow, release: int) -> None:
        """Remember a row that was released earlier; it is not judged again."""
        found = self.space.propose(row)
        if isinstance(found, Proposal):
            self._accept(found, release)

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything released so far, for `restore`."""
        return {**self.space.state(), "releases": np.array(self._releases, dtype=np.int64)}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take over what was released, as another run has worked it out."""
        self.space.restore(state)
        self._releases = state["releases"].tolist()
        self._undo.clear()
        self._safe.clear()

    def rank(self) -> int:
        """Number of independent rows released."""
        return self.space.rank

    def back_to(self, rank: int) -> None:
        """Take back the rows released after the rank was this."""
        self._safe.clear()
        while self.space.rank > rank:
            undo = self._undo.pop()
            self._releases.pop()
            self.space.forget_last(undo.partition, undo.null, undo.pivots)

    def forget_undo(self) -> None:
        """The rows so far are final: nothing needed to take them back is kept."""
        self._undo.clear()

    def _accept(self, proposal: Proposal, release: int) -> None:
        self._undo.append(_Undo(self.space.partition, self.space.null_vectors, list(self.space.pivots)))
        prefer = None if self.bounds is None else self.bounds.interior(proposal.partition)
        self.space.accept(proposal, prefer=prefer)
        self._releases.append(release)
        self._safe |= self._pending
        self._pending = set()

    def _exposed(self, proposal: Proposal) -> StaffReason | None:
        """The first sensitive set that would follow, with the releases it follows from."""
        partition = proposal.partition
        self._pending = set()
        candidates: list[tuple[int, ...]] = [(int(j),) for j in proposal.unit_candidates()]
        if self.unions > 1:
            candidates += proposal.pair_candidates()
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
        return self._exposed_combination(proposal) or self._exposed_family(proposal)

    def _exposed_combination(self, proposal: Proposal) -> StaffReason | None:
        """Whether two classes have an implied combination, with any factors, that exposes somebody.

        Sums of two classes are among the pairs already. Here: a respondent who is a class alone could compute the total
        of another class that is too small; or the combination is of too few respondents who have values in both
        classes, as the change of a value from one version of the data to the next.
        """
        insiders = self.rules.coalition >= 1 and self.rules.minimum >= 3  # below three, two respondents are a safe set
        if not insiders and self.columns.one_each:
            return None
        groups = proposal.proportional(self._few(proposal.partition))
        for group in groups:
            respondents = {c: self._respondents(proposal.partition, c) for c in group.tolist()}
            for i, j in combinations(respondents, 2):
                one, other = respondents[i], respondents[j]
                fewer, more = sorted((len(one), len(other)))
                together = len(one | other)
                to_insider = insiders and fewer == 1 and more <= self.rules.minimum - 2 and together == fewer + more
                change = together < min(fewer + more, self.rules.minimum)
                if not (to_insider or change):
                    continue
                certificate = self.space.implied_combination(proposal.weights(i, j), proposal)
                if certificate is None:  # the screen found it, but with factors too large to be recovered
                    raise Undecided("The audit cannot prove whether a combination of two classes is implied.")
                rule = "insider: one respondent could compute another" if to_insider else "few respondents' change"
                return self._reason(rule, 2, certificate)
        return None

    def _few(self, partition: Partition) -> NDArray[np.int64]:
        """Classes that may have fewer than the minimum of respondents (each of their columns has)."""
        if self.columns.one_each:
            units = np.bincount(partition.class_of, weights=self.columns.counts, minlength=partition.n_classes)
            return np.flatnonzero(units < self.rules.minimum)
        most = np.zeros(partition.n_classes, dtype=np.int64)
        np.maximum.at(most, partition.class_of, self.columns.n_respondents)
        return np.flatnonzero(most < self.rules.minimum)

    def _respondents(self, partition: Partition, chosen: int) -> frozenset[int]:
        """The respondents of a class."""
        return frozenset(np.unique(self.columns.entity[self.columns.units(partition.class_of == chosen)]).tolist())

    def _exposed_family(self, proposal: Proposal) -> StaffReason | None:
        partition = proposal.partition
        for mask in self.families:
            inside = np.bincount(partition.class_of[mask], minlength=partition.n_classes)
            if bool(((inside > 0) & (inside < partition.size)).any()):
                continue  # not a union of classes, so it cannot follow
            members = inside > 0
            if proposal.set_candidate(members):
                rule = self.rules.broken(self.columns, mask) or "family"
                reason = self._proved(tuple(np.flatnonzero(members).tolist()), rule, proposal)
                if reason is not None:
                    return reason
        return None

    def _proved(self, chosen: tuple[int, ...], rule: str, proposal: Proposal) -> StaffReason | None:
        members = np.zeros(proposal.partition.n_classes, dtype=bool)
        members[list(chosen)] = True
        certificate = self.space.implied(members, proposal)
        return None if certificate is None else self._reason(rule, len(chosen), certificate)

    def _reason(self, rule: str, n_classes: int, certificate: Certificate) -> StaffReason:
        """The rule, and the combination of releases that breaks it."""
        releases = sorted({self._releases[row] for row in certificate.rows})
        terms = " ".join(
            f"{'+' if factor > 0 else '-'}{'' if abs(factor) == 1 else f'{abs(factor)}·'}"
            f"{'this' if row < 0 else f'#{self._releases[row]}'}"
            for row, factor in certificate.combination[:12]
        )
        detail = f"{self.columns.name}: a set of {n_classes} classes would follow as {terms}"
        return StaffReason(rule, detail, tuple(releases))
