# SPDX-License-Identifier: Apache-2.0
"""What the entries of a ledger say to a query engine, and who judges answers beside other releases."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Protocol

from reticent.base.errors import ReticentError
from reticent.ledger.chain import Entry, LedgerError
from reticent.queries.modes import MODES, Request
from reticent.queries.policy import Policy
from reticent.queries.refusals import Answer, Row
from reticent.queries.wire import query_from_json, value_from_json

DECISION = "decision"
HULL = "hull"
UNREADABLE = (ReticentError, KeyError, TypeError, ValueError, IndexError, AttributeError)
"""What working through an entry raises that this version cannot understand."""


class Together(Protocol):
    """Judges an answer together with the tables and files that the ledger holds."""

    def reason_against(self, engine: Any, request: Request, answer: Answer) -> str | None:
        """Why an answer would say too much beside everything that was released; None if it may be given."""
        ...

    def keep(self, engine: Any) -> None:
        """Keep what was worked out for the next process, if something is new."""
        ...


def answer_of(payload: Mapping[str, Any], request: Request) -> Answer:
    """The answer that an entry holds."""
    columns = tuple(str(statistic) for statistic in request.query.statistics)
    values = [tuple(value_from_json(v) for v in row) for row in payload["values"]]
    rows = tuple(Row(cell.group, row) for cell, row in zip(request.cells, values))
    return Answer(columns, rows, request.query.by, payload["mode"], tuple(payload.get("notes", ())))


def is_new_answer(entry: Entry) -> bool:
    """Whether an entry holds an answer; repeated ones, which reveal nothing new, do not count."""
    own = entry.payload
    return entry.kind == DECISION and bool(own["answered"]) and not own["remember"].get("repeated")


def drawn(entry: Entry) -> bool:
    """Whether an entry holds something that depends on draws."""
    if entry.kind != DECISION:
        return entry.kind == HULL
    mode = MODES.get(str(entry.payload.get("mode")))
    return mode is not None and mode.draws


def responses_of(entries: Iterable[Entry]) -> set[str]:
    """The variables that answers, hulls and ties on record are about."""
    found: set[str] = set()
    for entry in entries:
        payload = entry.payload
        if entry.kind == HULL:
            found.add(str(payload.get("response")))
        elif entry.kind == DECISION and payload.get("answered"):
            with suppress(
                *UNREADABLE
            ):  # an entry that nobody understands closes the data set when it is worked through
                found.update(n for s in query_from_json(payload["query"]).statistics for n in s.variables)
                found.update(n for told in payload["remember"].get("told", ()) for n in told.split("*"))
    return found


def check_hulls(hulled: set[str], entries: Iterable[Entry], policy: Policy, *, draws_hulls: bool) -> None:
    """Refuse a mode or a filter that would answer exactly about a response that has a hull, and a second hull.

    A response that was a filter before is refused elsewhere: what was asked by it cannot be worked through without it.
    """
    if hulled and not draws_hulls:
        raise LedgerError(
            "ledger: responses of this data set are camouflaged; no other mode may answer about them exactly."
        )
    if not draws_hulls:
        return
    told = sorted(hulled & set(policy.filters))
    if told:
        raise LedgerError(
            f"ledger: {told[0]!r} has a hull, and the policy says that it is a filter; conditions on it would answer exactly "
            "about what is camouflaged. Leave it out of the filters."
        )
    for entry in entries if not hulled else ():
        if entry.kind == DECISION and entry.payload["answered"] and entry.payload["mode"] == policy.mode:
            raise LedgerError(
                f"ledger: entry {entry.number} was answered from a hull that the ledger does not hold (version 0.1.0 did "
                "not write it down); a second hull would reveal more than either. Keep this database closed.",
                entry=entry.number,
            )


def policy_changed(entry: Entry) -> LedgerError:
    """The error for a query on record that selects other records now."""
    return LedgerError(
        f"ledger: the query of entry {entry.number} no longer selects the records it did: the data, the filters or the "
        "cutpoints were changed. Give changed data a new version name and list the old version as an earlier one.",
        entry=entry.number,
    )
