# SPDX-License-Identifier: Apache-2.0
"""`ProtectedDatabase`: confidential records behind a policy, a secret and a ledger; statistics out, records never."""

import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypedDict, Unpack

from reticent.base.doors import doors
from reticent.base.errors import DataError
from reticent.base.randomness import Secret, check_streams, release_secret, secret_note
from reticent.data.large import LargeFile
from reticent.data.microdata import Microdata
from reticent.data.parameters import build
from reticent.ledger.ledger import Ledger, open_ledger
from reticent.queries.engine import STREAMS, Engine
from reticent.queries.language import Query, ask_for
from reticent.queries.opening import CheckedOpening, anchor_place, ledger_place, listed_versions
from reticent.queries.policy import Policy
from reticent.queries.recorded import DECISION, Together
from reticent.queries.refusals import Answer, Refusal, StaffReason
from reticent.queries.versions import check_versions, open_universe

WORTH_KEEPING = 50


class Opening(TypedDict, total=False):
    """How a ledger is opened.

    `anchor` is the file that says how far it had come, `adopt_anchor` accepts once an anchor that version 0.1.0 did not
    sign, and `create` makes a ledger where there is none. `streams` names the version of random streams from which draws
    continue, `test_secret` allows a secret that can be guessed. `beside` judges answers together with the tables and files that
    the ledger holds; without it such a ledger is refused. `closing` is called when the database is closed.
    """

    anchor: Path | str | None
    create: bool
    adopt_anchor: bool
    streams: int | None
    test_secret: bool
    beside: Together | None
    closing: Callable[[], None] | None


@doors
class ProtectedDatabase:
    """One data set, asked by many, remembered for ever.

    `data` is the current version; `earlier` are (name, data) of versions about which queries have been answered before,
    oldest first. All versions are judged together: records are linked by the identifier of the schema. Records may stay in
    an engine: then only classes of them come to memory, and modes that need single records are refused.

    >>> import tempfile, polars as pl
    >>> from reticent.data.schema import Kind, Role, Schema, Variable
    >>> schema = Schema((Variable("dep", codes=("a", "b")), Variable("pay", role=Role.SENSITIVE, kind=Kind.NUMERIC)))
    >>> data = Microdata.of(pl.DataFrame({"dep": ["a", "a", "a", "b"], "pay": [3, 4, 5, 9]}), schema)
    >>> policy = Policy(filters=("dep",), responses=("pay",))
    >>> folder = tempfile.mkdtemp()
    >>> db = ProtectedDatabase(data, policy=policy, secret=1, test_secret=True, ledger=folder + "/pay.ledger")
    >>> db.ask("SELECT SUM(pay) FROM data WHERE dep = 'a'", user="ann").value
    12.0
    >>> db.ask("SELECT SUM(pay) FROM data", user="bob").code.value
    'RISK'
    """

    def __init__(
        self,
        data: Microdata | LargeFile,
        *,
        policy: Policy,
        secret: Secret | int | bytes | Path | str,
        ledger: Ledger | Path | str,
        name: str = "data",
        version: str = "1",
        earlier: Sequence[tuple[str, Microdata]] = (),
        **opening: Unpack[Opening],
    ) -> None:
        ledger, anchor = ledger_place(ledger), anchor_place(opening.pop("anchor", None))
        beside, self._closing = opening.pop("beside", None), opening.pop("closing", None)
        chosen = build(CheckedOpening, {"name": name, "version": version, **opening}, owner="ProtectedDatabase")
        check_streams(chosen.streams, owner="ProtectedDatabase")
        own = release_secret(secret, test=chosen.test_secret, owner="ProtectedDatabase")
        self._secret_note = secret_note(own)
        universe = open_universe([*listed_versions(earlier), (version, data)], policy, own)
        universe.check_known()
        self.name, self.policy = name, policy
        if isinstance(ledger, Ledger):
            self._ledger = ledger
        else:
            self._ledger = open_ledger(
                ledger,
                secret=own.child("ledger"),
                dataset=name,
                anchor=anchor,
                create=chosen.create,
                adopt_anchor=chosen.adopt_anchor,
            )
        try:
            check_versions(self._ledger, universe)
            if chosen.streams is not None:
                self._name_streams(chosen.streams)
            self._engine = Engine(universe, policy, own.child("queries"), self._ledger, beside=beside)
            self._engine.begin()
        except BaseException:
            if self._ledger is not ledger:
                self._ledger.close()
            raise

    def __repr__(self) -> str:
        return f"<ProtectedDatabase {self.name!r} version {self._engine.universe.current.name!r}, mode {self.policy.mode!r}>"

    @property
    def guarantee(self) -> str:
        """What the mode promises, to whom, and what is not covered, a line each."""
        promised = str(self._engine.mode.guarantee)
        return promised if self._secret_note is None else f"{self._secret_note}\n{promised}"

    @property
    def leakage(self) -> tuple[str, ...]:
        """What answers and refusals of the mode reveal, and when they come."""
        steps = f", in steps of {self.policy.limits.tick:g} seconds" if self.policy.limits.tick else ""
        return (*self._engine.mode.leakage, f"the time until an answer or a refusal comes{steps}")

    def ask(self, question: str | Query | ask_for, *, user: str) -> Answer | Refusal:
        """Answer a query, given as text or built in Python, or refuse it. Its decision is on disk when this returns."""
        start = time.monotonic()
        query = question.query() if isinstance(question, ask_for) else question
        try:
            return self._engine.ask(query, user=user)
        finally:
            self._hold_back(start)

    def history(self) -> list[dict[str, Any]]:
        """For staff: every decision with its number, user, query and full reasons."""
        return [{"number": e.number, **e.payload} for e in self._ledger.entries() if e.kind == DECISION]

    def explain(self, number: int) -> tuple[StaffReason, ...]:
        """For staff: the full reasons of one decision, with the earlier releases involved."""
        for entry in self._ledger.entries():
            if entry.number == number and entry.kind == DECISION:
                return tuple(
                    StaffReason(reason["rule"], reason["detail"], tuple(reason["releases"]))
                    for reason in entry.payload["staff"]
                )
        raise DataError(f"ledger: there is no decision with the number {number}.")

    def close(self) -> None:
        """Free the ledger; a long history is kept worked out for the next opening."""
        self._engine.store_snapshot(least=WORTH_KEEPING)
        self._ledger.close()
        if self._closing is not None:
            self._closing()

    def _hold_back(self, start: float) -> None:
        """Wait for the next tick, so that how long the work took shows in whole ticks only."""
        tick = self.policy.limits.tick
        if tick:
            spent = time.monotonic() - start
            time.sleep(max(math.ceil(spent / tick) * tick - spent, 0.0))

    def _name_streams(self, version: int) -> None:
        """Write down from which streams is drawn from now on, if the ledger does not say so yet."""
        with self._ledger.turn() as turn:
            named = [entry.payload["version"] for entry in self._ledger.entries() if entry.kind == STREAMS]
            if not named or named[-1] != version:
                turn.append(STREAMS, {"version": version})
