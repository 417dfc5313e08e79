# SPDX-License-Identifier: Apache-2.0
"""Ledger: everything that was released of the data, whether its record is whole, search, revocation."""

from typing import Any

from reticent.base.errors import ReticentError
from reticent.web.environment import shown_name
from reticent.web.parts import Cell, Column, Row, Table
from reticent.web.site import Go, Note, Page, View, Visit, address
from reticent.workbench import release_engine as engine
from reticent.workbench.ledgers import place_of, stamp_of_ledger
from reticent.workbench.project import Project

WORDS = {
    "form": "what", "time": "recorded", "version": "version of the data", "sentence": "verdict", "accepted": "accepted, because",
    "accepted risk": "risk accepted, because", "revoked": "revoked, because", "data": "fingerprint of the data",
    "blob": "fingerprint of the release",
}  # fmt: skip
"""What each fact of an entry is called."""
UNSAID = ("entry", "name")
"""Facts that the page says elsewhere."""


def show(visit: Visit[Project]) -> View | Go:
    """The ledger that the plans name."""
    return _shown(visit)


def _shown(visit: Visit[Project], wrong: str = "", reason: str = "") -> View | Go:
    project = visit.state
    if not project.ready:
        return Go(address("data"))
    place = place_of(project)
    stamp = stamp_of_ledger(place)
    words = visit.query.get("find", "")
    facts: dict[str, Any] = {
        "place": place, "rows": None, "chosen": None, "verified": None, "find": words, "wrong": wrong, "reason": reason,
        "number": -1,
        "empty": place is not None and "://" not in place[0] and stamp[0][1] == 0, "n": 0, "n_all": 0, "revocable": False,
    }  # fmt: skip
    if place is None or facts["empty"]:
        return View("ledger.html", facts)
    work = visit.works.ask(engine.listed, place, stamp, title="Reading the ledger")
    if work.done:
        number = visit.sent.number("number", visit.number("entry", -1))
        found = [one for one in work.value() if words.casefold() in " ".join(map(str, one.values())).casefold()]
        facts |= {"rows": _table(found, number, words), "n": len(found), "n_all": len(work.value())}
        facts |= {"number": number, "empty": not work.value()}
        one = next((one for one in work.value() if one["number"] == number), None)
        if one is not None:
            told = visit.works.ask(engine.shown, place, stamp, number, title="Reading the release")
            facts |= {
                "chosen": _told(told.value()) if told.done else [],
                "revocable": not one["revoked"],
                "one": one,
            }
    checked = visit.works.seen(engine.verified, place, stamp)
    if checked is not None and checked.done:
        facts |= {"verified": checked.value()}
    works = [one for one in (work, visit.works.find(visit.query.get("work", "")), checked) if one is not None]
    error = next((str(one.error) for one in works if one.error), "")
    running = next((one for one in works if one.running), None)
    return View("ledger.html", facts, error=error, work=running, status=422 if wrong else 200)


def _told(facts: dict[str, str]) -> list[tuple[str, str]]:
    """What the ledger says of a release, in words; what it leaves empty is not shown."""
    known = [(words, facts[name]) for name, words in WORDS.items() if facts.get(name)]
    others = [(name, text) for name, text in facts.items() if name not in (*WORDS, *UNSAID) and text]
    return [(title, _time(text) if title == "recorded" else text) for title, text in (*known, *others)]


def _time(text: str) -> str:
    """A time as people write it."""
    return text.replace("T", " ", 1).replace("+00:00", " UTC")


def _table(found: list[dict[str, Any]], chosen: int, words: str) -> Table:
    columns = (
        Column("Entry", num=True), Column("Name"), Column("What"), Column("Recorded", spare=True),
        Column("Version", spare=True), Column("State"),
    )  # fmt: skip
    rows = tuple(
        Row((
            Cell(str(one["number"]), href=address("ledger", entry=one["number"], find=words, anchor="attacker")),
            Cell(shown_name(one["name"], 60)), Cell(str(one["form"]), muted=True),
            Cell(shown_name(_time(one["time"]), 40), muted=True),
            Cell(shown_name(one["version"], 20), muted=True),
            Cell("revoked" if one["revoked"] else "in force"),
        ), on=one["number"] == chosen)
        for one in found
    )  # fmt: skip
    return Table("Releases in the ledger", columns, rows, tall=True)


def act(visit: Visit[Project]) -> View | Go:
    """Verify the ledger, or revoke a release with a reason."""
    place = place_of(visit.state)
    if place is None:
        return Go(address("ledger"))
    stamp, sent = stamp_of_ledger(place), visit.sent
    if "verify" in sent:
        visit.works.ask(engine.verified, place, stamp, title="Reading every entry again", again=True)
    elif "reason" in sent:
        work = visit.works.ask(
            engine.revoked, place, stamp, sent.number("number"), sent.get("reason"), title="Revoking"
        )
        if work.running:  # a ledger that takes long to read: the page shows how far it is
            return Go(address("ledger", entry=sent.number("number"), work=work.id))
        try:
            work.value()
        except ReticentError as err:
            return _shown(visit, str(err), sent.get("reason"))
        return Go(address("ledger", entry=sent.number("number")))
    return Go(address("ledger"))


def note(project: Project) -> Note:
    """Nothing is said before the page is opened."""
    return Note()


PAGE = Page("ledger", "Ledger", "Publish", show, act, note)
