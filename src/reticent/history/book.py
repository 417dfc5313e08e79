"""The releases of a data set: what the ledger holds of them, and the verdict for one more.

A release is recorded before anything of it leaves, so a crash leaves nothing out that is not recorded; releasing the same
again finds its entry, records nothing and writes the same.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from reticent.base.arrays import Ints
from reticent.base.errors import NotProtectedError, ParameterError
from reticent.data.facts import COUNT, OWN, Facts
from reticent.data.microdata import Microdata
from reticent.data.record_marks import version_fingerprint
from reticent.data.response_relations import COUNT as COUNT_NAME
from reticent.data.response_relations import parse_relation
from reticent.data.schema import Kind
from reticent.data.table_plan import Insiders
from reticent.history.file_recipe import FileRecipe
from reticent.history.table_recipe import TableRecipe
from reticent.ledger.blobs import Blobs
from reticent.ledger.chain import Entry, LedgerError
from reticent.ledger.ledger import RELEASE, REVOCATION, Ledger, Turn
from reticent.queries.database import VERSION
from reticent.releases.joint import JointSystem
from reticent.releases.programs import Limits
from reticent.releases.unknowns import Version
from reticent.releases.verdict import JointVerdict, Outcome
from reticent.tabulation.ground import GroundedData, facts_of_ties, ground_of
from reticent.tabulation.responses import ties_in_records
from reticent.tabulation.tied_responses import Tie

RELATED = "relations between responses"
Recipe = TableRecipe | FileRecipe
RECIPES: dict[str, type[Recipe]] = {"table": TableRecipe, "file": FileRecipe}


class AnswersTold(Protocol):
    """What a query database answered from the same ledger."""

    @property
    def variables(self) -> tuple[str, ...]:
        """Everything that queries may select by."""
        ...

    @property
    def responses(self) -> tuple[str, ...]:
        """What queries may add up."""
        ...

    def facts(self, grounded: GroundedData) -> tuple[Facts, ...]:
        """What each answer tells."""
        ...


@dataclass(frozen=True)
class Recorded:
    """One release in the ledger."""

    number: int
    name: str
    form: str
    time: str
    version: str
    data: str
    blob: str
    imported: bool = False
    accepted: str = ""
    sentence: str = ""
    revoked: str = ""

    def row(self) -> dict[str, Any]:
        """As plain data, for lists."""
        return {name: value for name, value in vars(self).items() if name not in ("blob", "data")}


@dataclass(frozen=True, eq=False)
class Judged:
    """What a release would tell, what it was judged with, and the verdict."""

    verdict: JointVerdict
    facts: Facts = field(repr=False)
    together_with: tuple[str, ...]


class Book:
    """The releases of one version of a data set."""

    def __init__(
        self, ledger: Ledger, blobs: Blobs, data: Microdata, *, version: str = "1", answers: AnswersTold | None = None
    ) -> None:
        self.ledger, self.blobs, self.data, self.version = ledger, blobs, data, version
        self.answers = answers
        self.fingerprint = version_fingerprint(version, data)
        self._check_version()

    def recorded(self) -> list[Recorded]:
        """Every release, revoked ones included: what is out stays known."""
        return recorded_in(self.ledger.entries())

    @contextmanager
    def turn(self) -> Iterator[Turn]:
        """Be the only one who releases."""
        with self.ledger.turn() as turn:
            yield turn

    def judge(self, recipe: Recipe, name: str, *, limits: Limits | None = None) -> Judged:
        """Whether a release is safe together with everything that the ledger holds."""
        self._check_data()
        before = [(one.name, recipe_of(self.blobs, one)) for one in self.recorded() if one.name != name]
        every = [*before, (name, recipe)]
        ties = self._ties([own for _, own in every])
        grounded = self._ground([own for _, own in every], ties)
        told = {one: own.facts(grounded, one) for one, own in every if isinstance(own, TableRecipe)}
        asked = () if self.answers is None else self.answers.facts(grounded)
        classes = classes_of(grounded, [*(facts for own in told.values() for facts in own), *asked])
        told |= {one: own.facts(grounded, one, classes) for one, own in every if isinstance(own, FileRecipe)}
        for facts in (facts for own in told.values() for facts in own):
            _check_true(grounded, facts)
        new = joined(told[name], name)
        tables = [own for _, own in every if isinstance(own, TableRecipe)]
        related = facts_of_ties(grounded, ties, classes, release=RELATED)
        known = [related, *(facts for one, _ in before for facts in told[one]), *asked]
        system = JointSystem((version_of(grounded),), limits=limits, insiders=_insiders(tables))
        verdict = _nothing_watched(new, told) or _verdict(system, known, new)
        counted = (f"{len(asked)} answers",) if asked else ()
        return Judged(verdict, new, (*(one for one, _ in before), *counted))

    def _ties(self, recipes: Sequence[Recipe]) -> list[Tie]:
        """What holds between responses in each record: declared by any release, or shown by the records."""
        declared = [parse_relation(text) for text in dict.fromkeys(text for own in recipes for text in own.relations)]
        known = [name for name in self.data.schema.names if self.data.schema[name].kind is Kind.NUMERIC]
        names = [name for name in dict.fromkeys(name for own in recipes for name in own.responses) if name in known]
        names += [
            name for name in (self.answers.responses if self.answers else ()) if name in known and name not in names
        ]
        names += [self.data.schema.weight] if self.data.schema.weight and self.data.schema.weight not in names else []
        if COUNT_NAME not in self.data.schema and any(isinstance(own, TableRecipe) and own.counts for own in recipes):
            names.append(COUNT_NAME)
        return ties_in_records(self.data, names, declared) if len(names) > 1 or declared else []

    def record(self, turn: Turn, recipe: Recipe, name: str, **more: Any) -> int:
        """Write a release down; gives the number of its entry, an old one if exactly this was recorded before."""
        content = json.dumps(recipe.to_plain(), sort_keys=True, ensure_ascii=False).encode()
        blob = self.blobs.put(content)
        for one in self.recorded():
            if one.blob == blob and one.name == name:
                return one.number
            if one.name == name:
                raise ParameterError(
                    f"ledger: a release called {name!r} is recorded already, and this one differs from it; give it another "
                    "name in [ledger]."
                )
        time = datetime.now(UTC).isoformat(timespec="seconds")
        payload = {
            "name": name, "form": recipe.form, "time": time, "version": self.version, "data": self.fingerprint,
            "blob": blob, **more,
        }  # fmt: skip
        return turn.append(RELEASE, payload).number

    def find(self, which: str) -> Recorded:
        """A release by its name or number."""
        for one in self.recorded():
            if which in (one.name, str(one.number)):
                return one
        raise ParameterError(f"ledger: there is no release {which!r}; `reticent ledger list` shows them.")

    def _ground(self, recipes: Sequence[Recipe], ties: Sequence[Tie]) -> GroundedData:
        known = set(self.data.schema.names)
        asked = () if self.answers is None else self.answers.variables
        named = (*(name for own in recipes for name in own.variables), *asked)
        variables = dict.fromkeys(name for name in named if name in known)
        tables = [own for own in recipes if isinstance(own, TableRecipe)]  # only they watch anything
        added = (*(name for own in tables for name in own.responses), *(self.answers.responses if self.answers else ()))
        added_up = [name for name in added if name in known]
        if self.data.schema.weight and any(own.counts and shown.weighted for own in tables for shown in own.tables):
            added_up.append(self.data.schema.weight)  # weighted counts add weights up
        # numbers that only files show matter where a relation leads from them to a number that a table adds up
        related = sorted(related_to(added_up, ties) & known)
        responses = dict.fromkeys((*added_up, *related))
        shown = [name for own in tables for name in own.responses if name in variables]
        if shown:
            raise ParameterError(
                f"ledger: {shown[0]!r} is added up by a table and shown by codes in another release; the two cannot be judged "
                "together. Leave it out of one of them."
            )
        return ground_of(self.data, tuple(variables), responses=[name for name in responses if name not in variables])

    def _check_data(self) -> None:
        """Refuse to go on where releases of other data are recorded: they cannot be judged together."""
        recorded = self.recorded()
        same = {version: version_fingerprint(version, self.data) for version in {one.version for one in recorded}}
        for one in recorded:
            if one.data != same[one.version]:
                raise LedgerError(
                    f"ledger: {one.name!r} was released of version {one.version!r}, and these data differ from it. Versions "
                    "share records, and releases of different versions cannot be judged together, so nothing more is "
                    "released here. Release of the data of that version."
                )

    def _check_version(self) -> None:
        """Write down what the version means; other data under its name are refused."""
        with self.ledger.turn() as turn:
            taken = {e.payload["name"]: e.payload["data"] for e in self.ledger.entries() if e.kind == VERSION}
            if taken.get(self.version, self.fingerprint) != self.fingerprint:
                raise LedgerError(
                    f"ledger: version {self.version!r} was other data when it was first used; the data changed since. What was "
                    "released of them cannot be judged with what changed, so nothing more is released here."
                )
            self._check_data()
            if self.version not in taken:
                turn.append(VERSION, {"name": self.version, "data": self.fingerprint})


def recipe_of(blobs: Blobs, one: Recorded) -> Recipe:
    """How a recorded release was made."""
    plain = json.loads(blobs.get(one.blob, entry=one.number))
    return RECIPES[plain["form"]].from_plain(plain)


def classes_of(grounded: GroundedData, told: Sequence[Facts]) -> Ints:
    """The coarsest classes of atoms that all facts and watches of tables select as a whole."""
    ground = grounded.ground
    classes = np.zeros(ground.n_atoms, dtype=np.int64)
    for facts in told:
        selected = [(term.response, term.places) for fact in facts.facts for term in fact.terms]
        for response, places in (*selected, *((watch.response, watch.places) for watch in facts.watches)):
            inside = np.zeros(ground.n_atoms, dtype=np.int64)
            inside[places if response == COUNT else ground.atom_of_unit[places]] = 1
            classes = np.unique(2 * classes + inside, return_inverse=True)[1].ravel()
    return classes


def related_to(responses: Sequence[str], ties: Sequence[Tie]) -> set[str]:
    """The responses and all names that relations connect with them."""
    found = set(responses)
    while more := {n for tie in ties if found & {*tie.relation.names} for n in tie.relation.names} - found:
        found |= more
    return found


def _check_true(grounded: GroundedData, facts: Facts) -> None:
    """Refuse facts that do not hold of the data: codes were read otherwise than the release was made."""
    truth = {COUNT: grounded.counts, **grounded.values}
    for fact in (fact for fact in facts.facts if all(term.response != OWN for term in fact.terms)):
        total = sum(int(term.weights @ truth[term.response][term.places]) for term in fact.terms)
        if (fact.low is not None and total < fact.low) or (fact.high is not None and total > fact.high):
            raise _untrue(facts.release)
    for watch in facts.watches:
        if not watch.low <= int(watch.weights @ truth[watch.response][watch.places]) <= watch.high:
            raise _untrue(facts.release)


def _untrue(release: str) -> LedgerError:
    return LedgerError(
        f"ledger: what {release!r} states does not hold of these data as they are read now, so nothing can be judged with it. "
        "Use the codes and hierarchies that it was made with."
    )


def _verdict(system: JointSystem, known: Sequence[Facts], new: Facts) -> JointVerdict:
    for facts in known:
        if facts.facts or facts.watches:
            system.know(facts)
    return system.judge(new)


def _insiders(tables: Sequence[TableRecipe]) -> Insiders:
    """What respondents are kept from: the most that any release asked for."""
    return "protect" if any(own.insiders == "protect" for own in tables) else "exact"


def _nothing_watched(new: Facts, told: Mapping[str, Sequence[Facts]]) -> JointVerdict | None:
    """Where nothing must stay unknown, nothing can be exposed, and no program need be solved."""
    every = [facts for own in told.values() for facts in own]
    if any(facts.watches for facts in every):
        return None
    uncertified = tuple(dict.fromkeys(facts.release for facts in every if not facts.certified))
    return JointVerdict(new.release, Outcome.SAFE, uncertified=uncertified)


def joined(facts: Sequence[Facts], name: str) -> Facts:
    """Several tables that leave together as one release; auxiliary unknowns of tables there are none."""
    if len(facts) == 1:
        return facts[0]
    return Facts(
        name,
        tuple(fact for own in facts for fact in own.facts),
        (),
        tuple(watch for own in facts for watch in own.watches),
        all(own.certified for own in facts),
        "; ".join(dict.fromkeys(own.beyond for own in facts if own.beyond)),
    )


def blobs_of(place: Path | str, anchor: Path | None) -> Blobs:
    """The folder of large contents: beside the ledger, or beside the anchor of one on a server."""
    named = anchor if "://" in str(place) else Path(place)
    if named is None:
        raise LedgerError("ledger: a ledger on a server needs `anchor`, a local file that says how far it had come.")
    return Blobs(named.with_name(named.name + ".blobs"))


def recorded_in(entries: Sequence[Entry]) -> list[Recorded]:
    """The releases among the entries of a ledger."""
    revoked = {e.payload["release"]: e.payload["reason"] for e in entries if e.kind == REVOCATION}
    return [_recorded(entry, revoked) for entry in entries if entry.kind == RELEASE]


def _recorded(entry: Entry, revoked: Mapping[int, str]) -> Recorded:
    own = entry.payload
    return Recorded(
        entry.number, own["name"], own["form"], own["time"], own["version"], own["data"], own["blob"], own.get("imported", False),
        own.get("accepted", ""), own.get("sentence", ""), revoked.get(entry.number, ""),
    )  # fmt: skip


def version_of(grounded: GroundedData) -> Version:
    """The version that a ground is of, with the true values of its responses."""
    values = {name: grounded.whole(name) for name in grounded.decimals}
    return Version(grounded.ground, values=values)


def require(judged: Judged, *, accept_uncertified: str | None) -> None:
    """Refuse what is not safe together with the rest, and what cannot be certified unless that is accepted."""
    verdict = judged.verdict
    if not verdict.safe:
        raise NotProtectedError(verdict.sentence(), exposed=len(verdict.exposures))
    if not judged.facts.certified and accept_uncertified is None:
        raise NotProtectedError(
            f"{verdict.release}: what it tells is not certified ({judged.facts.beyond}). To release it all the same, give "
            'accept_uncertified = "reason" in [ledger].',
            exposed=1,
        )
