# SPDX-License-Identifier: Apache-2.0
"""Answers beside tables and files: what a query database told is judged together with what else was released."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from reticent.base.errors import DataError
from reticent.data.facts import Facts
from reticent.data.microdata import Microdata
from reticent.data.record_marks import version_fingerprint
from reticent.history.book import Recorded, recipes_of, recorded_in
from reticent.history.editions import Edition
from reticent.history.scene import Scene
from reticent.ledger.blobs import Blobs
from reticent.ledger.chain import LedgerError
from reticent.ledger.ledger import RELEASE
from reticent.ledger.snapshot import Snapshots
from reticent.queries.engine import Engine
from reticent.queries.facts_left import facts_left
from reticent.queries.modes import Request
from reticent.queries.recorded import is_new_answer
from reticent.queries.refusals import Answer
from reticent.releases.joint import JointSystem
from reticent.tabulation.ground import GroundedData
from reticent.tabulation.tied_facts import AtomClasses

FORMAT = 3
"""The form in which the joint system is kept between processes."""


@dataclass(frozen=True, eq=False)
class Answers:
    """What a query database answered so far, as facts; `engine` has worked through the same ledger."""

    engine: Engine

    @property
    def variables(self) -> tuple[str, ...]:
        """Everything that queries may select by."""
        return self.engine.policy.filters

    @property
    def responses(self) -> tuple[str, ...]:
        """What queries may add up."""
        return self.engine.policy.responses

    @property
    def asked(self) -> dict[str, Microdata]:
        """The versions that were asked about, by name."""
        versions = self.engine.universe.versions
        numbers = {_version(request) for request, _ in self.engine.answers()}
        return {own.name: own.data for number, own in enumerate(versions) if number in numbers}

    def facts(self, grounded: GroundedData, versions: frozenset[str]) -> tuple[Facts, ...]:
        """What each answer about one version tells, which has these names."""
        own = [number for number, one in enumerate(self.engine.universe.versions) if one.name in versions]
        every = [(request, answer) for request, answer in self.engine.answers() if _version(request) in own]
        return tuple(self.of(grounded, request, answer) for request, answer in every)

    def of(self, grounded: GroundedData, request: Request, answer: Answer) -> Facts:
        """What one answer tells."""
        name = f"answer {request.release}"
        return facts_left(grounded, self.engine.universe, self.engine.mode, request, answer, release=name)


def _version(request: Request) -> int | None:
    """The number of the version that a request is about; None: it selects nobody."""
    return request.cells[0].records.version if request.cells else None


class Beside:
    """Judges the answers of a database with the tables and files that its ledger holds.

    The joint system is kept between answers; it is made again when somebody released a table or file, or answered, and for
    each answer where sums of a file are stated by classes, which the answer may divide. Relations are stated by classes too:
    for the parts of a divided class they come with the answer that divides it.
    """

    def __init__(self, blobs: Blobs) -> None:
        self.blobs = blobs
        self._known = 0
        self._scene: Scene | None = None
        self._system: JointSystem | None = None
        self._classes = AtomClasses(np.zeros(0, dtype=np.int64), {})
        self._unkept = False

    def reason_against(self, engine: Engine, request: Request, answer: Answer) -> str | None:
        """Why an answer would say too much beside everything that was released; None if it may be given."""
        entries = engine.ledger.entries()
        releases = recorded_in(entries)
        if not releases:
            return None
        answers = Answers(engine)
        known = sum(entry.kind == RELEASE or is_new_answer(entry) for entry in entries)  # a refusal reveals nothing new
        if self._scene is None or self._known != known:
            self._scene, self._system = Scene.of(self._editions(engine, releases, answers), answers), None
        scene = self._scene
        new = answers.of(scene.grounded, request, answer)
        if self._system is None or scene.by_class:
            self._system = self._made(scene, *((new,) if scene.by_class else ()))
            self._recall(engine)
        told, classes = scene.with_relations(new, self._classes)
        verdict = self._system.judge(told)
        if not verdict.safe:
            return verdict.sentence()
        self._system.accept(verdict)
        self._classes = classes
        self._scene = replace(scene, asked=(*scene.asked, new))
        self._known = known + 1  # the answer becomes the next entry
        self._unkept = True
        return None

    def keep(self, engine: Engine) -> None:
        """Keep what was worked out for the next process, if something is new; the answers must be recorded."""
        if self._system is None or not self._unkept or (self._scene is not None and self._scene.by_class):
            return
        _snapshots(engine).write({"basis": _basis(engine)}, self._system.state())
        self._unkept = False

    def _recall(self, engine: Engine) -> None:
        """Start from what another process kept, if it is of the same releases; whatever it says is checked."""
        if self._system is None or self._scene is None or self._scene.by_class:
            return
        found = _snapshots(engine).read()
        if found is None or found[0]["basis"] != _basis(engine):
            self._unkept = True  # what is worked out now is worth keeping
            return
        try:
            self._system.recall(found[1])
        except DataError:  # of another version of the program: everything is worked out again
            self._system = self._made(self._scene)

    def _made(self, scene: Scene, *new: Facts) -> JointSystem:
        """The joint system of everything that was released, with classes that something new selects as a whole."""
        told = scene.told(*new)
        self._classes = told.classes
        return scene.system(told.known(told.releases, scene.asked))

    def _editions(self, engine: Engine, releases: Sequence[Recorded], answers: Answers) -> list[Edition]:
        """The versions of the database that something was released of or that were asked about, the current one last."""
        recipes, versions = recipes_of(self.blobs, releases), engine.universe.versions
        found, same = [], {engine.universe.current.name}
        for version in versions[:-1]:
            if version_fingerprint("", version.data) == version_fingerprint("", engine.universe.current.data):
                same.add(version.name)
                continue
            own = {one.name: recipes[one.name] for one in releases if one.version == version.name}
            if own or version.name in answers.asked:
                found.append(Edition(version.name, version.data, own, frozenset((version.name,))))
        mine = {one.name: recipes[one.name] for one in releases if one.version in same}
        left = [one for one in releases if one.name not in mine and all(one.name not in own.recipes for own in found)]
        if left:
            raise LedgerError(
                f"ledger: {left[0].name!r} was released of version {left[0].version!r}; list it among the earlier versions of "
                "the database."
            )
        found.append(Edition(engine.universe.current.name, engine.universe.current.data, mine, frozenset(same)))
        return found


def _snapshots(engine: Engine) -> Snapshots:
    return engine.ledger.snapshots.beside("joint")


def _basis(engine: Engine) -> str:
    """What the joint system rests on: the records, the policy, and every release and answer."""
    own = [entry.digest.hex() for entry in engine.ledger.entries() if entry.kind == RELEASE or is_new_answer(entry)]
    return hashlib.blake2b(repr((FORMAT, engine.basis, own)).encode(), digest_size=16).hexdigest()
