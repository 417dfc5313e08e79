# SPDX-License-Identifier: Apache-2.0
"""The releases of a data set: what the ledger holds of them, and the verdict for one more.

A release is recorded before anything of it leaves, so a crash leaves nothing out that is not recorded; releasing the same
again finds its entry, records nothing and writes the same.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import combinations, product
from pathlib import Path
from typing import Any

from reticent.base.checks import check_names_file
from reticent.base.errors import NotProtectedError, ParameterError
from reticent.data.facts import Facts
from reticent.data.microdata import Microdata
from reticent.data.record_marks import is_version, version_fingerprint, version_marks
from reticent.history.amended import Amendment, with_amendments
from reticent.history.differences import DIFFERENCES, unsafe_differences
from reticent.history.editions import Edition, Recipe
from reticent.history.file_recipe import FileRecipe, in_step
from reticent.history.scene import AnswersTold, Scene
from reticent.history.table_recipe import TableRecipe
from reticent.ledger.blobs import Blobs, name_of
from reticent.ledger.chain import Entry, LedgerError
from reticent.ledger.ledger import RELEASE, REVOCATION, Ledger, Turn
from reticent.queries.versions import VERSION
from reticent.releases.joint import JointSystem
from reticent.releases.programs import Limits
from reticent.releases.verdict import JointVerdict, Outcome

MOST_NAMED = 5
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
    inside: tuple[Amendment, ...] = field(default=(), repr=False)
    """Watched sums of the release that some respondents know already from releases of other versions."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Stage:
    """Everything that was released (`before`, `known`) and what a release that is judged would tell (`new`), over one ground."""

    scene: Scene = field(repr=False)
    before: Mapping[str, Recipe] = field(repr=False)
    told: Mapping[str, Sequence[Facts]] = field(repr=False)
    known: tuple[tuple[Facts, int], ...] = field(repr=False)
    new: Facts = field(repr=False)
    inside: tuple[Amendment, ...] = field(default=(), repr=False)
    aware: frozenset[tuple[str, str]] = field(default=frozenset(), repr=False)

    def unaware(self, facts: Facts) -> Facts:
        """What a release tells without the watched sums that are among what is known, because respondents know them already."""
        return replace(facts, watches=tuple(one for one in facts.watches if (one.release, one.name) not in self.aware))

    def system(self, limits: Limits | None = None) -> JointSystem:
        """The joint system that has taken in what was released."""
        return self.scene.system(self.known, limits)


class Book:
    """The releases of a data set, of which `data` are one version; `earlier` are (name, data) of others that the ledger knows."""

    def __init__(
        self,
        ledger: Ledger,
        blobs: Blobs,
        data: Microdata,
        *,
        version: str = "1",
        answers: AnswersTold | None = None,
        earlier: Sequence[tuple[str, Microdata]] = (),
    ) -> None:
        self.ledger, self.blobs, self.data, self.version = ledger, blobs, data, version
        self.answers = answers
        self.fingerprint = version_fingerprint(version, data)
        names = [version, *(name for name, _ in earlier)]
        if len(set(names)) < len(names):
            raise ParameterError("ledger: two versions have the same name; each needs its own.")
        self.earlier = dict(earlier)
        self._marks: dict[tuple[str, int], dict[str, str]] = {}
        self.check_data()

    def recorded(self) -> list[Recorded]:
        """Every release, revoked ones included: what was released stays known."""
        return recorded_in(self.ledger.entries())

    def recipes(self, name: str = "") -> dict[str, Recipe]:
        """How each release was made, but one of this name."""
        return {known: own for known, own in recipes_of(self.blobs, self.recorded()).items() if known != name}

    def scene(self, recipe: Recipe, name: str, *, unchecked: str = "") -> Scene:
        """Everything that was released, of all versions, and a release that is not; an error where versions cannot be linked."""
        self.check_data()
        others = self._others()
        version = {one.name: one.version if one.version in others else self.version for one in self.recorded()}
        before, asked = self.recipes(name), {} if self.answers is None else self.answers.asked
        editions = []
        for known, data in others.items():
            own = {one: made for one, made in before.items() if version[one] == known}
            if own or known in asked:
                editions.append(Edition(known, data, own, frozenset((known,))))
        mine = {one: made for one, made in before.items() if version[one] == self.version}
        same = frozenset((self.version, *(known for known in asked if known not in others)))
        editions.append(Edition(self.version, self.data, {**mine, name: recipe}, same))
        return Scene.of(editions, self.answers, unchecked=unchecked)

    def _others(self) -> dict[str, Microdata]:
        """The versions with other data than these: those that were named, and those that queries were answered about."""
        named = {**({} if self.answers is None else self.answers.asked), **self.earlier}
        return {name: data for name, data in named.items() if not self._is_mine(name, self._mark(name, data)["data"])}

    def _is_mine(self, name: str, data: str) -> bool:
        """Whether a version with this name and fingerprint has these data."""
        return data == self._mark(name, self.data)["data"]

    def _mark(self, name: str, data: Microdata) -> dict[str, str]:
        """What the ledger keeps of a version; worked out once."""
        if (name, id(data)) not in self._marks:
            self._marks[name, id(data)] = version_marks(name, data)
        return self._marks[name, id(data)]

    @contextmanager
    def turn(self) -> Iterator[Turn]:
        """Be the only one who releases."""
        with self.ledger.turn() as turn:
            yield turn

    def judge(self, recipe: Recipe, name: str, *, limits: Limits | None = None, prove: bool = False) -> Judged:
        """Whether a release is safe together with everything that the ledger holds; `prove` checks a safe verdict again."""
        if self._check_name(recipe, name) is None:
            _check_order(recipe, self.recipes(name))
        stage = self.stage(recipe, name)
        new, before, asked = stage.new, stage.before, stage.scene.answered
        counted = (f"{asked} answers",) if asked else ()
        repeats = _repeats(new, recipe, before, stage.told)
        unwatched = _nothing_watched(new, stage)
        if unwatched is not None:
            return Judged(unwatched, new, (*before, *counted), repeats, 0 if prove else None)
        new = _certified_beside(new, [recipe, *before.values()], stage.scene, self.data)
        system = stage.system(limits)
        verdict, proved = system.judge(new), None
        if prove and verdict.safe:
            system.accept(verdict)
            proved = system.checked()
        return Judged(verdict, new, (*before, *counted), repeats, proved, stage.inside, _aware_notes(stage.aware))

    def stage(self, recipe: Recipe, name: str) -> "Stage":
        """Everything that was released and a release that is not, over one ground."""
        before, scene = self.recipes(name), self.scene(recipe, name)
        told = scene.told()
        stage = Stage(scene, before, told.releases, told.known(before, scene.asked), joined(told.releases[name], name))
        stage = _with_differences(stage)
        return stage if scene.links is None else _with_aware(stage, name)

    def record(self, turn: Turn, recipe: Recipe, name: str, **more: Any) -> int:
        """Write a release down; gives the number of its entry, an old one if exactly this was recorded before."""
        blob = self.blobs.put(_content(recipe))
        known = self._check_name(recipe, name)
        if known is not None:
            return known.number
        if self.version not in self._taken():
            turn.append(VERSION, self._mark(self.version, self.data))
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
        if known is not None and known.blob not in {name_of(_content(own)) for own in (recipe, *_as_before(recipe))}:
            raise ParameterError(
                f"ledger: a release called {name!r} is recorded already, and this one differs from it; give it another "
                "name in [ledger]."
            )
        return known

    def check_data(self) -> None:
        """Refuse to go on where the names of versions mean other data than in the ledger, or a version's data are not here."""
        taken, recorded = self._taken(), self.recorded()
        if self.version in taken and not is_version(taken[self.version], self._mark(self.version, self.data)):
            raise LedgerError(
                f"ledger: version {self.version!r} was other data when it was first used; the data changed since. Give changed "
                "data a new version name, and name the old data in [[ledger.earlier]] (in Python: earlier=)."
            )
        for name, data in self.earlier.items():
            if name not in taken:
                raise LedgerError(
                    f"ledger: nothing was released of the earlier version {name!r}; the ledger knows "
                    f"{', '.join(map(repr, taken)) or 'no version'}. Leave it out, or correct its name."
                )
            if not is_version(taken[name], self._mark(name, data)):
                raise LedgerError(
                    f"ledger: the data that are named for the earlier version {name!r} are not those that releases of it were "
                    "made of; name the file and the schema that were used then."
                )
        others = self._others()
        for one in recorded:
            if one.version not in others and not self._is_mine(one.version, one.data):
                raise LedgerError(
                    f"ledger: {one.name!r} was released of version {one.version!r}, and these data differ from it. Name the data "
                    f'of that version in [[ledger.earlier]], with version = "{one.version}" and path (in Python: earlier=), so '
                    "that releases of both are judged together."
                )

    def _taken(self) -> dict[str, Mapping[str, Any]]:
        """What the ledger knows of each version."""
        return {entry.payload["name"]: entry.payload for entry in self.ledger.entries() if entry.kind == VERSION}


def _content(recipe: Recipe) -> bytes:
    """What the ledger keeps of a release."""
    return json.dumps(recipe.to_plain(), sort_keys=True, ensure_ascii=False).encode()


def _as_before(recipe: Recipe) -> tuple[Recipe, ...]:
    """The recipe as it was recorded before the ledger kept the variable that rules look at, and before it kept rules."""
    if not isinstance(recipe, TableRecipe):
        return ()
    return replace(recipe, shadow=None), replace(recipe, shadow=None, rules=())


def recipe_of(blobs: Blobs, one: Recorded) -> Recipe:
    """How a recorded release was made."""
    plain = json.loads(blobs.get(one.blob, entry=one.number))
    return RECIPES[plain["form"]].from_plain(plain)


def recipes_of(blobs: Blobs, recorded: Sequence[Recorded]) -> dict[str, Recipe]:
    """How each recorded release was made, with what imports left of its watches."""
    made = {one.name: recipe_of(blobs, one) for one in recorded}
    return with_amendments(made, [one.amended for one in recorded])


def _with_differences(stage: Stage) -> Stage:
    """Watch what cells of one release leave of those of another, unless that is known without the new release."""
    system = stage.system
    for version, watches in enumerate(unsafe_differences(stage.scene)):
        if watches:
            watched = Facts(DIFFERENCES, (), watches=watches)
            found = system().judge(watched, version=version, most_exposures=10**9).exposures
            known = {(one.hidden_by, one.watch) for one in found if one.proved}
            left = tuple(one for one in watches if (one.release, one.name) not in known)
            stage = replace(stage, known=(*stage.known, (replace(watched, watches=left), version)))
    return stage


def _with_aware(stage: Stage, name: str) -> Stage:
    """Take what respondents know already from releases of other versions as known to them; from others it is kept.

    Who leaves a cell knows from the table before, beside their own value, what the others have whose cell is unsafe since.
    """
    own = stage.told[name]
    watched = joined([replace(facts, facts=(), own=(), certified=True, beyond="") for facts in own], name)
    if not watched.watches:
        return stage
    found = stage.system().judge(watched, most_exposures=10**9).exposures
    inside = {(one.hidden_by, one.watch) for one in found if one.insider and one.proved}
    inside -= {(one.hidden_by, one.watch) for one in found if not one.insider}
    aware = tuple(replace(one, known_inside=True) for one in watched.watches if (one.release, one.name) in inside)
    amended = tuple(
        Amendment(facts.release, number, (one.low, one.high), True)
        for facts in own
        for number, one in enumerate(facts.watches)
        if (one.release, one.name) in inside
    )
    known = (*stage.known, (Facts(f"{name}, as respondents know it", (), watches=aware), len(stage.scene.others)))
    made = replace(stage, known=known, inside=amended, aware=frozenset(inside)) if aware else stage
    return replace(made, new=made.unaware(stage.new))


def _aware_notes(aware: frozenset[tuple[str, str]]) -> tuple[str, ...]:
    if not aware:
        return ()
    names = sorted(name for _, name in aware)
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return (
        f"Respondents of earlier versions know it already, beside their own values, and it is kept from all others: "
        f"{', '.join(names[:MOST_NAMED])}{more}.",
    )


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


def _check_order(recipe: Recipe, before: Mapping[str, Recipe]) -> None:
    """Refuse a second file whose order was not drawn for it: both can be laid side by side, line by line."""
    other = [name for name, own in before.items() if isinstance(own, FileRecipe) and own.in_order]
    if isinstance(recipe, FileRecipe) and recipe.in_order and other:
        raise NotProtectedError(
            f"ledger: the records are in the order of the data, as in {other[0]!r}, so that the two files can be joined line by "
            "line; leave keep_order out, and nothing is joined."
        )


def _certified_beside(new: Facts, recipes: Sequence[Recipe], scene: Scene, data: Microdata) -> Facts:
    """What is new, not certified where two files can be joined by numbers in a way that is not judged.

    By a number that something adds up as well, or by two of which one rises or falls with the other in all records.
    """
    files = [own for own in recipes if isinstance(own, FileRecipe) and own.variables]
    added_up = {*scene.grounded.decimals} - scene.grounded.counted
    for one, other in combinations(files, 2):
        if (one.variables, one.steps) == (other.variables, other.steps):
            continue
        for first, second in product(one.responses, other.responses):
            told = ""
            if first == second and first in added_up:
                told = (
                    f"two files show {first!r}, which is added up as well, and can be joined by it; leave it out of one"
                )
            elif first != second and in_step(data, first, second):
                told = (
                    f"two files can be joined by {first!r} and {second!r}, which rise together; leave out one of them"
                )
            if told:
                return replace(new, certified=False, beyond=new.beyond or told)
    return new


def _nothing_watched(new: Facts, stage: Stage) -> JointVerdict | None:
    """Where nothing must stay unknown, nothing can be exposed, and no program need be solved."""
    every = [facts for own in stage.told.values() for facts in own]
    if any(facts.watches for facts in (*every, *(facts for facts, _ in stage.known))):
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
    check_names_file(named, owner="ledger")
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
