# SPDX-License-Identifier: Apache-2.0
"""What became of a table: the verdict, the protection, what the attacker found, and what may leave. Confidential."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.base.errors import NotProtectedError, ParameterError, PlanError
from reticent.base.plain import finite
from reticent.base.randomness import STREAM_VERSION
from reticent.base.words import counted
from reticent.data.cells import CellStatus
from reticent.data.published_table import PublishedTable
from reticent.data.table import Table
from reticent.tables.apriori import Knowledge
from reticent.tables.attack import Audit
from reticent.tables.attack.audit import MAX_REVEALED
from reticent.tables.attack.certificate import Certificate, make_certificate
from reticent.tables.attack.inside import InsideAudit
from reticent.tables.attack.insiders import Insider
from reticent.tables.attack.reveal import reveal
from reticent.tables.guarantee import Guarantee
from reticent.tables.joint import Joint, Judged, audit_of, outcome_of
from reticent.tables.methods import TABLE_METHODS
from reticent.tables.outcome import Outcome
from reticent.tables.problem import SuppressionProblem
from reticent.tables.protection import Judgement
from reticent.tables.reconcile import reconciled
from reticent.tables.release import as_published, public_floor, release_table
from reticent.tables.suppression.explain import what_if, why
from reticent.tables.suppression.sums import with_sums
from reticent.tabulation.linked import System

NOBODY = InsideAudit(1, True, 0, 0, (), judged=False)
STATUS_NAMES = {status: status.name.lower() for status in CellStatus}


@dataclass(frozen=True, eq=False)
class ProtectedTable:
    """A table (or linked tables) with its verdict, its protection and what the attacker found. Confidential.

    `status` is final: primary, secondary, frozen, safe, empty. `published` holds what may leave, one per table.
    Related responses are `joint`: their cells are in one system, and `by_response` gives the part of each, whose `whole`
    is this. `shown` has the tables that are published, by their numbers (None: all but the `earlier` ones). `sums` are
    groups of hidden cells whose sum everybody knows although the rules call it unsafe.
    """

    system: System = field(repr=False)
    knowledge: Knowledge = field(repr=False)
    problem: SuppressionProblem = field(repr=False)
    outcome: Outcome = field(repr=False)
    audit: Audit = field(repr=False)
    method: str = "primary-only"
    notes: tuple[str, ...] = ()
    insiders: tuple[Insider, ...] = ()
    inside: InsideAudit = NOBODY
    earlier: frozenset[int] = frozenset()
    joint: Joint | None = field(default=None, repr=False)
    whole: "ProtectedTable | None" = field(default=None, repr=False)
    number: int = 0
    shown: tuple[int, ...] | None = None
    sums: tuple[tuple[int, ...], ...] = ()
    asked_inside: str = "exact"
    seconds: float | None = field(default=None, repr=False)

    @property
    def guarantee(self) -> Guarantee:
        """What the method promises to which attacker where no cell is exposed."""
        found: Guarantee = TABLE_METHODS[self.method].guarantee
        return found

    @property
    def table(self) -> Table:
        """All cells with their true values."""
        return self.system.table

    @property
    def response(self) -> str:
        """What is added up; records are counted where nothing is."""
        return self.table.response or "count"

    @property
    def verdict(self) -> Judgement:
        """What the rules and the a-priori knowledge say."""
        return self.knowledge.verdict

    @property
    def status(self) -> NDArray[np.int8]:
        """Final status of every cell."""
        status = self.problem.status.copy()
        unsafe = (status == CellStatus.PRIMARY) & (self.verdict.status == CellStatus.PRIMARY)
        status[self.outcome.hidden & ~unsafe] = CellStatus.SECONDARY
        return status

    @property
    def exposed(self) -> tuple[int, ...]:
        """Cells that the attacker recovers too closely, that sole respondents of a cell find, that are in an unsafe sum
        that is known, or whose difference is known and unsafe.
        """
        summed = {cell for group in self.sums for cell in group if self.problem.primary[cell]}
        found = {int(cell) for cell in self.audit.exposed_cells}
        return tuple(sorted(found | self._lost_inside | summed | self._subtracted))

    @property
    def _subtracted(self) -> set[int]:
        """Cells of this response that leave an unsafe rest which everybody knows, or a sole respondent of a cell finds."""
        whole = self.whole
        if whole is None or whole.joint is None:
            return set()
        rests = {int(cell) for cell in whole.audit.exposed_cells} | whole._lost_inside
        behind = {cell for rest in rests for cell in whole.joint.behind(rest)}
        return set(_within(sorted(behind), whole.joint.span(self.number)))

    @property
    def _lost_inside(self) -> set[int]:
        """Cells that respondents may not find as closely as they do: exactly, or within their levels where that is asked."""
        exactly = {cell for insider in self.insiders for cell in insider.exposed}
        closely = {found.cell for found in self.inside.findings if found.exact or self.asked_inside == "protect"}
        return exactly | closely

    @property
    def state(self) -> str:
        """`held`, `not held` (some cell is exposed) or `not judged` (something that tells of cells was not attacked)."""
        if self.exposed:
            return "not held"
        return "not judged" if self.audit.unjudged else "held"

    def require(self, *, accept_exposed: bool = False) -> None:
        """Raise if the attacker found exposed cells, or could not look at all, and that was not accepted beforehand."""
        whole = self.whole or self
        exposed = whole.exposed
        if accept_exposed:
            return
        if not exposed:
            whole.require_judged("nothing was written", "say accept_exposed = true")
            return
        named = ", ".join(whole.name_of(cell) for cell in exposed[:3])
        more = f" and {len(exposed) - 3} more" if len(exposed) > 3 else ""
        raise NotProtectedError(
            f"table: the attacker recovers {counted(len(exposed), 'cell')} too closely ({named}{more}), so nothing was written. "
            "Choose a method that protects them, or say accept_exposed = true.",
            exposed=len(exposed),
        )

    def name_of(self, cell: int) -> str:
        """A cell, or a difference of cells, in words."""
        return self.table.name_of(cell) if self.joint is None else self.joint.name_of(cell)

    def require_judged(self, consequence: str, way_out: str) -> None:
        """Raise if something that the published table tells was not attacked."""
        if self.audit.unjudged:
            raise NotProtectedError(f"table: {self.audit.unjudged}. So {consequence}; choose that, or {way_out}.")

    @property
    def published(self) -> tuple[PublishedTable, ...]:
        """What may leave: one per table (earlier releases have left already), without any reference to this."""
        return tuple(
            release_table(self.system, number, self.outcome, self.method, self.problem)
            for number in self.published_numbers
        )

    @property
    def published_numbers(self) -> list[int]:
        """The tables that are published, by their numbers in the system."""
        if self.shown is not None:
            return list(self.shown)
        return [number for number in range(len(self.system.parts)) if number not in self.earlier]

    @property
    def parts(self) -> tuple[Judged, ...]:
        """What was judged, response by response."""
        alone = (Judged(self.system, self.knowledge, self.problem),)
        return alone if self.joint is None else self.joint.parts

    def by_response(self) -> tuple["ProtectedTable", ...]:
        """The part of each response; this itself where there is only one."""
        if self.joint is None:
            return (self,)
        return tuple(response_part(self, self.joint, number) for number in range(len(self.joint.parts)))

    def counts(self) -> dict[str, int]:
        """How many cells of the tables have each status; empty ones of the whole cross-product included."""
        tables = sorted({*self.published_numbers, *self.earlier})
        there = np.unique(np.concatenate([self.system.members[number] for number in tables]))
        status = self.status[there]
        found = {name: int((status == code).sum()) for code, name in STATUS_NAMES.items()}
        found["empty"] += sum(
            self.system.parts[number].n_possible - self.system.parts[number].n_cells for number in tables
        )
        return found

    def __repr__(self) -> str:
        return f"<ProtectedTable {self.headline}>"

    @property
    def headline(self) -> str:
        """The result in a line: how many cells are unsafe, hidden and exposed, and at what cost."""
        counts, open_ = self.counts(), ", not judged" if self.state == "not judged" else ""
        return (
            f"{sum(counts.values())} cells: {counts['primary']} primary, {counts['secondary']} secondary, "
            f"{len(self.exposed)} exposed{open_}; cost {self.outcome.cost:g} ({self.outcome.status})"
        )

    def intervals(self) -> list[dict[str, Any]]:
        """What the attacker can conclude about each hidden (or exchanged) cell."""
        found, exposed = self.audit, set(self.exposed)
        inside = self._lost_inside
        rows = []
        status = self.status
        revealed = self.revealed()
        for place, cell in enumerate(found.cells.tolist()):
            rows.append(
                {
                    "cell": list(self.table.cell_codes(cell)),
                    "status": STATUS_NAMES[CellStatus(int(status[cell]))],
                    "rule": ", ".join(self.verdict.rules_of(cell)),
                    "value": float(self.table.values[cell]),
                    "low": finite(found.low[place]),
                    "high": finite(found.high[place]),
                    "required_low": finite(found.required_low[place]),
                    "required_high": finite(found.required_high[place]),
                    "exposed": cell in exposed,
                    "to_insider": cell in inside,
                    **({"revealed_by": revealed[cell]} if cell in revealed else {}),
                }
            )
        return rows

    def revealed(self) -> dict[int, list[str]]:
        """For exposed cells (the first of very many) the relations that reveal them, as sums of codes."""
        if self.whole is not None and self.whole.joint is not None:
            span = self.whole.joint.span(self.number)
            told = self.whole.revealed()
            return {cell - span.start: words for cell, words in told.items() if span.start <= cell < span.stop}
        relations, name = self.problem.relations, self.table.name_of
        found = {cell: how.in_words(relations, name) for cell, how in self.audit.revelations.items()}
        for insider in self.insiders[:MAX_REVEALED]:
            hidden = self.outcome.hidden.copy()
            hidden[list(insider.known)] = False
            for cell in insider.exposed:
                if cell not in found:
                    found[cell] = reveal(self.problem, hidden, cell).in_words(relations, name)
        return found

    def why(self, *codes: str, values: bool = True) -> str:
        """What a hidden cell guards, and by which relations its publication would reveal it; codes as in the table.

        In a joint result the response stands behind the other codes. Without `values` nobody reads what would be revealed.
        """
        if self.whole is not None:
            return self.whole.why(*self._in_whole(codes), values=values)
        cell = self._hidden_cell(codes)
        found, name = why(self.problem, self.outcome.hidden, cell), self.table.name_of
        words, how = [found.sentence(name, values=values)], next(iter(found.revelations), None)
        if rules := self.verdict.rules_of(cell):
            words[0] += f" It breaks the {'rules' if len(rules) > 1 else 'rule'} {' and '.join(rules)}."
        if found.primary and cell in self.audit.exposed_cells:
            how = self.audit.reveal(cell)
            words.append(f"It does not help to hide it: {how.sentence(name, values=values)}")
        rows = how.in_words(self.problem.relations, name) if how else []
        return "\n".join([*words, *(f"  {row}" for row in rows)])

    def what_if(self, *codes: str, time_limit: float = 10.0, values: bool = True) -> str:
        """What would have to be hidden instead of a hidden cell, and with `values` at what cost."""
        if self.whole is not None:
            return self.whole.what_if(*self._in_whole(codes), time_limit=time_limit, values=values)
        cell = self._hidden_cell(codes)
        found = what_if(self.problem, self.outcome.hidden, cell, time_limit=time_limit)
        return found.sentence(self.table.name_of, values=values)

    def _in_whole(self, codes: tuple[str, ...]) -> tuple[str, ...]:
        """The codes of a cell of one response in the system of all."""
        assert self.whole is not None
        if len(codes) != len(self.table.names):
            raise ParameterError(f"explain: a cell of this table has {len(self.table.names)} codes, got {len(codes)}.")
        given = dict(zip(self.table.names, codes, strict=True))
        return (*(given.get(name, "") for name in self.whole.table.names[:-1]), self.table.response or "count")

    def _hidden_cell(self, codes: tuple[str, ...]) -> int:
        cell = self.table.find(codes)
        if cell is None or not self.outcome.hidden[cell]:
            raise ParameterError(
                f"explain: the cell {' × '.join(codes)} is not hidden; only hidden cells have a reason. "
                "The published table marks them."
            )
        return cell

    def summary(self) -> dict[str, Any]:
        """Everything as plain data (confidential)."""
        intervals = self.intervals()
        return {
            "cells": self.counts(),
            "cost": self.outcome.cost,
            "bound": self.outcome.bound,
            "status": self.outcome.status,
            "method": self.method,
            "state": self.state,
            "streams": STREAM_VERSION,
            "exposed": [row for row in intervals if row["exposed"]],
            "intervals": intervals,
            "sums": [[list(self.table.cell_codes(cell)) for cell in group] for group in self.sums],
            "notes": list(self.notes),
            **({"noise": dict(self.outcome.facts)} if self.outcome.noise else {}),
            "inside": self._inside(self.inside),
            "guarantee": {"arithmetic": self.guarantee.arithmetic, "transparent": self.guarantee.transparent},
        }

    def certificate(self) -> Certificate:
        """A proof of the pattern in integers, for `reticent verify`; it says which unsafe cells it could not prove."""
        if self.whole is not None:
            return self.whole.certificate()
        if self.outcome.values is not None:
            raise PlanError("certificate: only hidden cells are proved; the method exchanged values instead.")
        groups = list(self.outcome.facts.get("sums", ()))
        hidden = np.append(self.outcome.hidden, np.ones(len(groups), dtype=bool))
        told = (self.system, self.outcome, self.method, self.problem)
        seen = with_sums(as_published(*told), groups)
        behind = self.joint is not None and self.joint.n_cells < self.problem.n_cells
        cells = self.joint.n_cells if self.joint is not None and behind else None
        return make_certificate(reconciled(seen, hidden), hidden, least=public_floor(*told), cells=cells)

    def _inside(self, found: InsideAudit) -> dict[str, Any]:
        name = self.table.cell_codes
        rows = [
            {
                "cell": list(name(item.cell)),
                "known": [list(name(cell)) for cell in item.known],
                "respondents": len(item.respondents),
                "low": finite(item.low),
                "high": finite(item.high),
                "required_low": finite(item.required_low),
                "required_high": finite(item.required_high),
            }
            for item in found.findings
        ]
        facts = {
            "asked": self.asked_inside,
            "state": found.state,
            "cells": len(found.cells),
            "coalition": found.coalition,
        }
        facts |= {"attacked": found.attacked}
        return {**facts, "left_out": found.left_out, "found": rows, "differences": found.differences}

    def _repr_html_(self) -> str:
        """Numbers of cells only: a notebook is a file that travels."""
        shown = {**self.counts(), "exposed": len(self.exposed), "cost": f"{self.outcome.cost:g}"}
        head = "".join(f"<th>{name}</th>" for name in shown)
        body = "".join(f"<td>{value}</td>" for value in shown.values())
        words = f"<p>{escape(str(self.guarantee))}</p>"
        return f"<p><b>{escape(repr(self))}</b></p><table><tr>{head}</tr><tr>{body}</tr></table>{words}"


def response_part(whole: ProtectedTable, joint: Joint, number: int) -> ProtectedTable:
    """What a joint result says of one response."""
    one, span = joint.parts[number], joint.span(number)
    first = sum(len(before.system.parts) for before in joint.parts[:number])
    mine = range(first, first + len(one.system.parts))
    alone = tuple(
        Insider(who.respondent, _within(who.known, span), _within(who.exposed, span))
        for who in whole.insiders
        if _within(who.exposed, span)
    )
    moved = [
        replace(item, known=_within(item.known, span), cell=item.cell - span.start)
        for item in whole.inside.findings
        if span.start <= item.cell < span.stop
    ]
    differences = sum(bool(_within(joint.behind(cell), span)) for cell in whole._lost_inside)
    inside = replace(whole.inside, findings=tuple(moved), differences=differences)
    shown = tuple(at - first for at in whole.published_numbers if at in mine)
    return ProtectedTable(
        one.system, one.knowledge, one.problem, outcome_of(whole.outcome, joint, number),
        audit_of(whole.audit, joint, number), whole.method, whole.notes, alone, inside,
        frozenset(at - first for at in whole.earlier if at in mine), whole=whole, number=number, shown=shown,
        sums=tuple(_within(group, span) for group in whole.sums if _within(group, span)),
        asked_inside=whole.asked_inside,
    )  # fmt: skip


def _within(cells: Sequence[int], span: slice) -> tuple[int, ...]:
    return tuple(cell - span.start for cell in cells if span.start <= cell < span.stop)
