# SPDX-License-Identifier: Apache-2.0
"""From a question to an answer that is on record: check, resolve, decide, write down, and only then answer.

Nothing leaves before its decision is in the ledger. All processes that serve a data set take turns; each first catches up
with what the others have released. A value that was once released is given again for ever, from the ledger.
"""

import hashlib
import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from reticent.base.errors import ParameterError, SolverError
from reticent.base.randomness import FIRST_STREAMS, STREAM_VERSION, Secret
from reticent.ledger.chain import Entry, LedgerError
from reticent.ledger.ledger import RELEASE, Ledger, Turn
from reticent.queries.admission import Admission, no_labels
from reticent.queries.canonical import CutpointError, Levels, OrderError, Universe
from reticent.queries.given import Given, Key
from reticent.queries.language import Query
from reticent.queries.large import LargeUniverse
from reticent.queries.modes import (
    ANSWERED,
    MODES,
    Cell,
    Decision,
    Mode,
    Recording,
    Request,
    Restorable,
    Setting,
    Undoing,
    mode_factory,
)
from reticent.queries.parse import parse
from reticent.queries.policy import Policy
from reticent.queries.recorded import (
    DECISION,
    HULL,
    UNREADABLE,
    Together,
    answer_of,
    check_hulls,
    drawn,
    is_new_answer,
    policy_changed,
    responses_of,
)
from reticent.queries.refusals import RISK, Answer, Code, Refusal, Row, StaffReason
from reticent.queries.users import normal_user
from reticent.queries.versions import write_versions
from reticent.queries.wire import query_from_json, query_to_json, value_from_json, value_to_json
from reticent.queries.written import written_name

EVERYBODY = "*"
STREAMS = "streams"
SNAPSHOT_FORMAT = 10
WORTH_STORING = 200


class Engine:
    """Answers queries on one universe under one policy, remembering everything in one ledger."""

    def __init__(
        self, universe: Universe, policy: Policy, secret: Secret, ledger: Ledger, *, beside: Together | None = None
    ) -> None:
        self.universe, self.policy, self.ledger, self._beside = universe, policy, ledger, beside
        self._secret = secret
        self._factory = mode_factory(policy.mode)
        self._modes: dict[str, Mode] = {}
        self._recorded: tuple[Mapping[str, Any], ...] = ()
        self._given = Given()
        self._asked: dict[str, int] = {}
        self._stale = False
        universe.take_answered(responses_of(ledger.entries()))
        self._take_recorded()
        self._admission = Admission(universe, policy, self.mode.statistics)
        self._check_recorded(ledger.entries())
        self._check_streams()
        self._check_releases(ledger.entries())
        self._stored = 0
        self._read()

    def begin(self) -> None:
        """Write down the versions of the data; until it can be asked, a database leaves its owner free to correct them."""
        with self.ledger.turn() as turn:
            self._catch_up(turn)
            write_versions(turn, self.ledger, self.universe)

    @property
    def mode(self) -> Mode:
        """The mode of the whole database (in a per-user history: a fresh one)."""
        return self._mode_of(EVERYBODY)

    def ask(self, question: str | Query, *, user: str) -> Answer | Refusal:
        """Answer a query or refuse it; when this returns an answer, its decision is on disk."""
        user = normal_user(user)
        if not isinstance(question, str | Query):
            raise ParameterError("ask: the question must be a query, as text or built with ask_for.")
        query = parse(question, self.policy.limits) if isinstance(question, str) else question
        if isinstance(query, Refusal):
            return query
        refusal = self._admission.check(query)
        if refusal is not None:
            return refusal
        cells = self._resolve(query, len(self.universe.versions) - 1)
        if isinstance(cells, Refusal):
            return cells
        with self.ledger.turn() as turn:
            self._catch_up(turn)
            self._record(turn)
            limit = self.policy.limits.queries
            if limit and self._asked.get(user, 0) >= limit:
                return Refusal(Code.LIMIT, "You have asked as many queries as this database allows.")
            return self._decide(Request(query, cells, user, len(self.ledger) + 1), turn)

    def _resolve(self, query: Query, version: int, *, as_at_first: bool = False) -> tuple[Cell, ...] | Refusal:
        """The record set of each cell, today or as version 0.1.0 would have answered."""
        here = self.universe.versions[version]
        try:
            base = here.select(query.where, as_at_first=as_at_first)
        except CutpointError as err:
            return Refusal(Code.CUTPOINT, str(err), "Use a cutpoint.")
        except OrderError as err:
            return Refusal(Code.UNSUPPORTED, str(err))
        except RecursionError:
            return Refusal(Code.TOO_LONG, "The query is nested too deeply.", "Write it with fewer levels.")
        if not query.by:
            return (Cell((), self.universe.record_set(base, version=version)),)
        levels = [here.levels[name].as_at_first() if as_at_first else here.levels[name] for name in query.by]
        refusal = self._check_groups(query, levels)
        if refusal is not None:
            return refusal
        choices = [[*level.shown, *([None] if query.totals else [])] for level in levels]
        cells = []
        for combination in itertools.product(*choices):
            mask = base.copy()
            for name, code in zip(query.by, combination):
                if code is not None:
                    mask &= here.codes[name] == code
            group = tuple(None if c is None else level.texts[c] for level, c in zip(levels, combination))
            cells.append(Cell(group, self.universe.record_set(mask, version=version)))
        return tuple(cells)

    def _check_groups(self, query: Query, levels: list[Levels]) -> Refusal | None:
        for name, level in zip(query.by, levels):
            if not level.shown:
                return no_labels(name)
        n_cells = int(np.prod([len(level.shown) + query.totals for level in levels], dtype=np.float64))
        if n_cells * len(query.statistics) > self.policy.limits.cells:
            return Refusal(Code.LIMIT, "The table has too many cells.", "Group by fewer variables.")
        return None

    def _owner(self, user: str) -> str:
        """Whose history a user's queries belong to; the data set as a whole has one privacy budget."""
        apart = self.policy.history == "user" and self.policy.mode != "private"
        return "user:" + user if apart else EVERYBODY

    def _mode_of(self, user: str) -> Mode:
        owner = self._owner(user)
        if owner not in self._modes:
            setting = Setting(self.universe, self.policy, self._secret.child("mode"), self._recorded)
            self._modes[owner] = self._factory(setting)
        return self._modes[owner]

    def _check_recorded(self, entries: Iterable[Entry]) -> None:
        """Refuse what must not be on this ledger beside a hull."""
        hulled = {str(payload.get("response")) for payload in self._recorded}
        check_hulls(hulled, entries, self.policy, draws_hulls=isinstance(self.mode, Recording))

    def _take_recorded(self) -> None:
        """What the ledger holds of hulls; the modes are made from it."""
        self._recorded = tuple(entry.payload for entry in self.ledger.entries() if entry.kind == HULL)
        self._modes.clear()

    def _check_streams(self) -> None:
        """Refuse a mode that draws where the ledger was drawn from other streams and no entry names those of today."""
        entries = self.ledger.entries()
        named = [int(entry.payload["version"]) for entry in entries if entry.kind == STREAMS]
        draws = MODES[self.policy.mode].draws
        self._to_name = draws and not named
        if not named and any(map(drawn, entries)):
            named = [FIRST_STREAMS]  # version 0.1.0 did not write it down
        if draws and named and named[-1] != STREAM_VERSION:
            raise LedgerError(
                f"ledger: its answers were drawn from streams of version {named[-1]}, and this version of the program draws "
                f"version {STREAM_VERSION}, which never continues them. What was answered stays on record; to answer more, "
                f"write streams = {STREAM_VERSION} in [ledger], which is recorded, or use the version that drew them."
            )

    def _record(self, turn: Turn) -> None:
        """Write down from which streams the mode draws and what it has drawn, before it answers anything."""
        if self._to_name:
            turn.append(STREAMS, {"version": STREAM_VERSION})
            self._to_name = False
        mode = self.mode
        for payload in mode.to_record if isinstance(mode, Recording) else ():
            if payload not in self._recorded:
                turn.append(HULL, payload)
                self._recorded += (payload,)

    def _read(self) -> None:
        """Work through the ledger; what a trusted snapshot knows is taken from it. The modes must be fresh."""
        self._given.clear()
        self._asked.clear()
        entries = self.ledger.entries()
        known = self._take_snapshot(entries)
        for entry in entries:
            self._take(entry, known=known)
        self._stale = False

    def _take(self, entry: Entry, *, known: int = 0) -> None:
        """Take an entry into memory; one that this version cannot understand closes the data set."""
        try:
            if entry.number <= known:
                self._recall(entry)
            else:
                self._replay(entry)
        except LedgerError:
            raise
        except UNREADABLE as err:
            raise LedgerError(
                f"ledger: entry {entry.number} cannot be worked through again with these data and this version of the "
                "program; the data set stays closed.",
                entry=entry.number,
            ) from err

    def _take_snapshot(self, entries: list[Entry]) -> int:
        """The number of the last entry that a snapshot of this database covers; 0 without one."""
        mode = self.mode
        found = self.ledger.snapshots.read() if isinstance(mode, Restorable) else None
        if found is None or not isinstance(mode, Restorable):
            return 0
        facts, arrays = found
        count = int(facts["count"])
        fits = facts["basis"] == self.basis and 0 < count <= len(entries)
        if not fits or entries[count - 1].digest.hex() != facts["digest"]:
            return 0
        mode.restore(facts["keys"], arrays)
        self._stored = mode.rank()
        return count

    @cached_property
    def basis(self) -> str:
        """What a snapshot rests on besides the ledger: the records, the policy and the ties between responses."""
        data = [version.fingerprint for version in self.universe.versions]
        parts = (SNAPSHOT_FORMAT, self.policy, data, sorted(self.universe.linked.items()))
        return hashlib.blake2b(repr(parts).encode(), digest_size=16).hexdigest()

    def store_snapshot(self, *, least: int = WORTH_STORING) -> None:
        """Keep what has been worked out, if it has grown by enough; the next opening starts from there."""
        mode = self.mode
        if self._beside is not None:
            self._beside.keep(self)
        if self._stale or self.policy.history != "all" or not isinstance(mode, Restorable):
            return
        if mode.rank() - self._stored < max(least, self._stored // 8):
            return
        keys, arrays = mode.state()
        facts = {"basis": self.basis, "count": len(self.ledger), "digest": self.ledger.head.hex(), "keys": keys}
        self.ledger.snapshots.write(facts, arrays)
        self._stored = mode.rank()

    def answers(self) -> Iterator[tuple[Request, Answer]]:
        """Every answer on record with what was asked; repeated ones, which reveal nothing new, are left out."""
        for entry in filter(is_new_answer, self.ledger.entries()):
            request = self._request_of(entry)
            yield request, answer_of(entry.payload, request)

    def _check_releases(self, entries: Iterable[Entry]) -> None:
        """Refuse a ledger of tables and files where answers cannot be judged together with them."""
        if not any(entry.kind == RELEASE for entry in entries):
            return
        if isinstance(self.universe, LargeUniverse):
            raise LedgerError(
                "ledger: it holds tables or files, which are judged together with answers record by record; open the database "
                "without an engine."
            )
        if self._beside is None:
            raise LedgerError(
                "ledger: it holds tables or files; open the database by its file or with reticent.open_database, which judge "
                "answers together with them."
            )
        if self.policy.mode == "simulatable":
            raise LedgerError(
                "ledger: it holds tables or files, and the mode simulatable cannot judge them without looking at values; use "
                "the mode exact."
            )

    def _catch_up(self, turn: Turn) -> None:
        self._check_releases(turn.unseen)
        if any(entry.kind == STREAMS for entry in turn.unseen):  # by a process of another version
            self._check_streams()
        if self.universe.take_answered(responses_of(turn.unseen)):  # by a process with another policy
            self._stale = True
            self.__dict__.pop("basis", None)
        if self._stale:
            self._take_recorded()
            self._read()
            return
        if any(entry.kind == HULL for entry in turn.unseen):
            self._take_recorded()
        self._check_recorded(turn.unseen)
        for entry in turn.unseen:
            self._take(entry)

    def _decide(self, request: Request, turn: Turn) -> Answer | Refusal:
        self._stale = True  # until the decision is on disk, the mode knows more than the ledger
        failed, mode = False, self._mode_of(request.user)
        try:
            decision = self._repeated(request) or mode.decide(request)
        except (
            ParameterError,
            SolverError,
            ArithmeticError,
        ) as err:  # what cannot be worked out is refused, like any other risk
            failed, decision = True, Decision(RISK, (StaffReason("not answerable", str(err)),))
        decision = replace(decision, result=self._as_before(request, decision.result))
        if isinstance(decision.result, Answer) and self._beside is not None and not decision.remember.get("repeated"):
            reason = self._beside.reason_against(self, request, decision.result)
            if reason is not None:
                failed, decision = not isinstance(mode, Undoing), Decision(RISK, (StaffReason("joint", reason),))
                if isinstance(mode, Undoing):
                    mode.undo()
        turn.append(DECISION, self._payload(request, decision))
        self._note(request, decision.result)
        self._stale = failed
        self.store_snapshot()
        return decision.result

    def _repeated(self, request: Request) -> Decision | None:
        """The earlier values and their notes, if every value of the request has been released before."""
        keys = [self._keys(request, cell) for cell in request.cells]
        rows = []
        for cell, own in zip(request.cells, keys):
            values = self._given.again(own)
            if values is None:
                return None
            rows.append(Row(cell.group, values))
        columns = tuple(str(statistic) for statistic in request.query.statistics)
        notes = self._given.notes(key for own in keys for key in own)
        answer = Answer(columns, tuple(rows), request.query.by, self.policy.mode, notes)
        return Decision(answer, remember={"repeated": True})

    def _keys(self, request: Request, cell: Cell) -> list[Key]:
        """What the values of a cell are remembered by: its records, or, in the mode private, its condition as written.

        That two conditions select the same records is a fact about the data, which the mode private must not repeat.
        """
        name = cell.records.key
        if self.policy.mode == "private":
            name = written_name(request.query, cell.group, self.universe.versions[cell.records.version].name)
        return [(self._owner(request.user), name, str(statistic)) for statistic in request.query.statistics]

    def _as_before(self, request: Request, result: Answer | Refusal) -> Answer | Refusal:
        """The result with every value that was released before as it was then."""
        if isinstance(result, Refusal):
            return result
        rows = tuple(
            Row(row.group, self._given.as_before(self._keys(request, cell), row.values))
            for cell, row in zip(request.cells, result.rows)
        )
        return replace(result, rows=rows)

    def _payload(self, request: Request, decision: Decision) -> dict[str, Any]:
        result = decision.result
        rows = result.rows if isinstance(result, Answer) else ()
        return {
            "user": request.user,
            "version": self.universe.versions[request.cells[0].records.version].name,
            "query": query_to_json(request.query),
            "sets": [cell.records.key for cell in request.cells],
            "mode": self.policy.mode,
            "answered": isinstance(result, Answer),
            "code": "OK" if isinstance(result, Answer) else result.code.value,
            "values": [[value_to_json(value) for value in row.values] for row in rows],
            "notes": list(result.notes) if isinstance(result, Answer) else [],
            "staff": [reason.as_json() for reason in decision.staff],
            "remember": dict(decision.remember),
        }

    def _recall(self, entry: Entry) -> None:
        """Take the released values of an earlier decision into memory; the mode knows it already."""
        if entry.kind != DECISION:
            return
        payload = entry.payload
        user = self._user_of(payload)
        self._asked[user] = self._asked.get(user, 0) + 1
        names = [str(statistic) for statistic in query_from_json(payload["query"]).statistics]
        for records, row in zip(payload["sets"], payload["values"]):
            keys = [(self._owner(user), records, name) for name in names]
            self._given.take(keys, map(value_from_json, row), payload.get("notes", ()))

    def _replay(self, entry: Entry) -> None:
        """Take an earlier decision into memory: released values, counts, and what the mode must know."""
        if entry.kind != DECISION:
            return
        payload = entry.payload
        user, remember = self._user_of(payload), payload["remember"]
        if payload["mode"] != self.policy.mode and payload["answered"]:
            raise LedgerError(
                f"ledger: entry {entry.number} was answered in another mode; a data set keeps one mode, because only "
                "then are all its answers judged together.",
                entry=entry.number,
            )
        if not payload["answered"] or remember.get("repeated"):
            self._asked[user] = self._asked.get(user, 0) + 1
            return
        request = self._request_of(entry)
        answer = answer_of(payload, request)
        self._note(request, answer)
        told = [[c, s] for c, row in enumerate(answer.rows) for s, value in enumerate(row.values) if value is not None]
        self._mode_of(user).replay(request, {**remember, ANSWERED: told})

    def _user_of(self, payload: Mapping[str, Any]) -> str:
        """Who asked; names in ledgers of version 0.1.0 are as they were typed, of any length."""
        name = str(payload["user"])
        try:
            return normal_user(name)
        except ParameterError:
            return name

    def _request_of(self, entry: Entry) -> Request:
        payload = entry.payload
        names = [version.name for version in self.universe.versions]
        if payload["version"] not in names:
            raise LedgerError(
                f"ledger: entry {entry.number} is about a version of the data that the database file does not list; "
                "list it among the earlier ones.",
                entry=entry.number,
            )
        query = query_from_json(payload["query"])
        for as_at_first in (False, True):  # version 0.1.0 put codes that nobody has last
            try:
                cells = self._resolve(query, names.index(payload["version"]), as_at_first=as_at_first)
            except (ParameterError, KeyError) as err:
                raise policy_changed(entry) from err
            if not isinstance(cells, Refusal) and [cell.records.key for cell in cells] == list(payload["sets"]):
                return Request(query, cells, self._user_of(payload), entry.number)
        raise policy_changed(entry)

    def _note(self, request: Request, result: Answer | Refusal) -> None:
        self._asked[request.user] = self._asked.get(request.user, 0) + 1
        if isinstance(result, Answer):
            for cell, row in zip(request.cells, result.rows):
                self._given.take(self._keys(request, cell), row.values, result.notes)
