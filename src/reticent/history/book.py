# SPDX-License-Identifier: Apache-2.0
"""The releases of a data set: what the ledger holds of them, and the verdict for one more.

A release is recorded before anything of it leaves, so a crash leaves nothing out that is not recorded; releasing the same
again finds its entry, records nothing and writes the same.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reticent.base.errors import NotProtectedError, ParameterError
from reticent.data.facts import Facts
from reticent.data.microdata import Microdata
from reticent.data.record_marks import is_version, version_fingerprint, version_marks
from reticent.history.amended import with_amendments
from reticent.history.file_recipe import FileRecipe
from reticent.history.scene import AnswersTold, Recipe, Scene
from reticent.history.table_recipe import TableRecipe
from reticent.ledger.blobs import Blobs, name_of
from reticent.ledger.chain import Entry, LedgerError
from reticent.ledger.ledger import RELEASE, REVOCATION, Ledger, Turn
from reticent.queries.versions import VERSION
from reticent.releases.joint import JointSystem
from reticent.releases.programs import Limits
from reticent.releases.verdict import JointVerdict, Outcome

RELATED = "relations between responses"
RECIPES: dict[str, type[Recipe]] = {"table": TableRecipe, "file": FileRecipe}
NUMBERED = re.compile(r" \(\d+\)$")
"""The ending by which a ledger numbers the tables of a release, so no release may have it in its name."""


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
    accepted: str = ""
    sentence: str = ""
    revoked: str = ""
    imported: bool = False
    amended: tuple[Any, ...] = field(default=(), repr=False)

    def row(self) -> dict[str, Any]:
        """As plain data, for lists."""
        return {name: value for name, value in vars(self).items() if name not in ("blob", "data", "amended")}


@dataclass(frozen=True, eq=False)
class Judged:
    """What a release would tell, what it was judged with, and the verdict."""

    verdict: JointVerdict
    facts: Facts = field(repr=False)
    together_with: tuple[str, ...]
    repeats: tuple[str, ...] = ()
    proved: int | None = None
    """How many watched sums a second check in whole numbers went through (None: it was not asked for)."""


@dataclass(frozen=True, eq=False)
class Stage:
    """Everything that was released (`before`, `known`) and what a release that is judged would tell (`new`), over one ground."""

    scene: Scene = field(repr=False)
    before: Mapping[str, Recipe] = field(repr=False)
    told: Mapping[str, Sequence[Facts]] = field(repr=False)
    known: tuple[Facts, ...] = field(repr=False)
    new: Facts = field(repr=False)

    def system(self, limits: Limits | None = None) -> JointSystem:
        """The joint system that has taken in what was released."""
        return self.scene.system(self.known, limits)


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
        """Every release, revoked ones included: what was released stays known."""
        return recorded_in(self.ledger.entries())

    def recipes(self, name: str = "") -> dict[str, Recipe]:
        """How each release was made, but one of this name."""
        return {known: own for known, own in recipes_of(self.blobs, self.recorded()).items() if known != name}

    @contextmanager
    def turn(self) -> Iterator[Turn]:
        """Be the only one who releases."""
        with self.ledger.turn() as turn:
            yield turn

    def judge(self, recipe: Recipe, name: str, *, limits: Limits | None = None, prove: bool = False) -> Judged:
        """Whether a release is safe together with everything that the ledger holds; `prove` checks a safe verdict again."""
        self.check_data()
        self._check_name(recipe, name)
        stage = self.stage(recipe, name)
        new, before, asked = stage.new, stage.before, stage.scene.asked
        counted = (f"{len(asked)} answers",) if asked else ()
        repeats = _repeats(new, recipe, before, stage.told)
        unwatched = _nothing_watched(new, stage.told)
        if unwatched is not None:
            return Judged(unwatched, new, (*before, *counted), repeats, 0 if prove else None)
        system = stage.system(limits)
        verdict, proved = system.judge(new), None
        if prove and verdict.safe:
            system.accept(verdict)
            proved = system.checked()
        return Judged(verdict, new, (*before, *counted), repeats, proved)

    def stage(self, recipe: Recipe, name: str) -> "Stage":
        """Everything that was released and a release that is not, over one ground."""
        before = self.recipes(name)
        scene = Scene.of(self.data, {**before, name: recipe}, self.answers)
        told, related, _ = scene.told()
        known = (related, *(facts for one in before for facts in told[one]), *scene.asked)
        return Stage(scene, before, told, known, joined(told[name], name))

    def record(self, turn: Turn, recipe: Recipe, name: str, **more: Any) -> int:
        """Write a release down; gives the number of its entry, an old one if exactly this was recorded before."""
        blob = self.blobs.put(_content(recipe))
        known = self._check_name(recipe, name)
        if known is not None:
            return known.number
        time = datetime.now(UTC).isoformat(timespec="seconds")
        payload = {
            "name": name, "form": recipe.form, "time": time, "version": self.version, "data": self.fingerprint,
            "blob": blob, **more,
        }  # fmt: skip
        return turn.append(RELEASE, payload).number

    def _check_name(self, recipe: Recipe, name: str) -> Recorded | None:
        """The entry of exactly this release, if there is one; another release of the same name is refused."""
        known = next((one for one in self.recorded() if one.name == name), None)
        if known is None and NUMBERED.search(name):
            raise ParameterError(
                f"ledger: {name!r} ends like one of several tables of a release; leave out the number in brackets."
            )
        if known is not None and known.blob != name_of(_content(recipe)):
            raise ParameterError(
                f"ledger: a release called {name!r} is recorded already, and this one differs from it; give it another "
                "name in [ledger]."
            )
        return known

    def check_data(self) -> None:
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
            taken = {e.payload["name"]: e.payload for e in self.ledger.entries() if e.kind == VERSION}
            own = version_marks(self.version, self.data)
            if self.version in taken and not is_version(taken[self.version], own):
                raise LedgerError(
                    f"ledger: version {self.version!r} was other data when it was first used; the data changed since. What was "
                    "released of them cannot be judged with what changed, so nothing more is released here."
                )
            self.check_data()
            if self.version not in taken:
                turn.append(VERSION, own)


def _content(recipe: Recipe) -> bytes:
    """What the ledger keeps of a release."""
    return json.dumps(recipe.to_plain(), sort_keys=True, ensure_ascii=False).encode()


def recipe_of(blobs: Blobs, one: Recorded) -> Recipe:
    """How a recorded release was made."""
    plain = json.loads(blobs.get(one.blob, entry=one.number))
    return RECIPES[plain["form"]].from_plain(plain)


def recipes_of(blobs: Blobs, recorded: Sequence[Recorded]) -> dict[str, Recipe]:
    """How each recorded release was made, with what imports left of its watches."""
    made = {one.name: recipe_of(blobs, one) for one in recorded}
    return with_amendments(made, [one.amended for one in recorded])


def _repeats(
    new: Facts, recipe: Recipe, before: Mapping[str, Recipe], told: Mapping[str, Sequence[Facts]]
) -> tuple[str, ...]:
    """Earlier releases of the same variables whose noise a further one would average out."""
    if new.certified:
        return ()
    shown = {*recipe.variables, *recipe.responses}
    return tuple(
        name
        for name, own in before.items()
        if shown & {*own.variables, *own.responses} and not all(facts.certified for facts in told[name])
    )


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
        entry.number, own["name"], own["form"], own["time"], own["version"], own["data"], own["blob"],
        own.get("accepted", ""), own.get("sentence", ""), revoked.get(entry.number, ""),
        own.get("imported", False), tuple(own.get("amended", ())),
    )  # fmt: skip


def refusal(verdict: JointVerdict, instead: str = "") -> NotProtectedError:
    """The error for what is not safe together with the rest, with what could be released instead."""
    return NotProtectedError(f"{verdict.sentence()} {instead}".rstrip(), exposed=len(verdict.exposures))


def require(judged: Judged, *, accept_uncertified: str | None, accept_repeat: bool = False) -> None:
    """Refuse what is not safe together with the rest, and what cannot be certified unless that is accepted."""
    verdict = judged.verdict
    if not verdict.safe:
        raise refusal(verdict)
    if not judged.facts.certified and accept_uncertified is None:
        raise NotProtectedError(
            f"{verdict.release}: what it reveals is not certified ({judged.facts.beyond}). To release it nevertheless, give "
            'accept_uncertified = "reason" in [ledger].',
            exposed=1,
        )
    if judged.repeats and not accept_repeat:
        raise NotProtectedError(
            f"{verdict.release}: {judged.repeats[0]!r} shows the same variables with noise, and noise averages out: the variance "
            "of the attacker's estimate falls with each release. To release it, say accept_repeat = true in [ledger].",
            exposed=1,
        )
