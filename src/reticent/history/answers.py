"""Answers beside tables and files: what a query database told is judged together with what else was released."""

from collections.abc import Sequence
from dataclasses import dataclass

from reticent.data.facts import Facts
from reticent.data.microdata import Microdata
from reticent.history.book import Recorded, classes_of, recipe_of, recorded_in, version_of
from reticent.history.file_recipe import FileRecipe
from reticent.history.table_recipe import TableRecipe
from reticent.ledger.blobs import Blobs
from reticent.queries.engine import Engine
from reticent.queries.facts_left import facts_left
from reticent.queries.modes import Request
from reticent.queries.refusals import Answer
from reticent.releases.joint import JointSystem
from reticent.tabulation.ground import GroundedData, ground_of


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

    def facts(self, grounded: GroundedData) -> tuple[Facts, ...]:
        """What each answer tells."""
        return tuple(self.of(grounded, request, answer) for request, answer in self.engine.answers())

    def of(self, grounded: GroundedData, request: Request, answer: Answer) -> Facts:
        """What one answer tells."""
        name = f"answer {request.release}"
        return facts_left(grounded, self.engine.universe, self.engine.mode, request, answer, release=name)


class Beside:
    """Judges the answers of a database with the tables and files that its ledger holds.

    The joint system is kept between answers; it is made anew when somebody released a table or file, or answered.
    """

    def __init__(self, blobs: Blobs) -> None:
        self.blobs = blobs
        self._known = 0
        self._grounded: GroundedData | None = None
        self._system: JointSystem | None = None

    def reason_against(self, engine: Engine, request: Request, answer: Answer) -> str | None:
        """Why an answer would say too much beside everything that is out; None if it may be given."""
        entries = engine.ledger.entries()
        releases = recorded_in(entries)
        if not releases:
            return None
        answers = Answers(engine)
        if self._system is None or self._known != len(entries):
            self._begin(answers, releases)
        assert self._grounded is not None
        assert self._system is not None
        verdict = self._system.judge(answers.of(self._grounded, request, answer))
        if not verdict.safe:
            return verdict.sentence()
        self._system.accept(verdict)
        self._known = len(entries) + 1  # the answer becomes the next entry
        return None

    def _begin(self, answers: Answers, releases: Sequence[Recorded]) -> None:
        engine = answers.engine
        recipes = [(one.name, recipe_of(self.blobs, one)) for one in releases]
        self._grounded = _ground(engine.universe.current.data, answers, [own for _, own in recipes])
        tables = [
            facts for name, own in recipes if isinstance(own, TableRecipe) for facts in own.facts(self._grounded, name)
        ]
        told = answers.facts(self._grounded)
        classes = classes_of(self._grounded, [*tables, *told])
        files = [
            facts
            for name, own in recipes
            if isinstance(own, FileRecipe)
            for facts in own.facts(self._grounded, name, classes)
        ]
        self._system = JointSystem((version_of(self._grounded),))
        for facts in (*tables, *files, *told):
            self._system.know(facts)
        self._known = len(engine.ledger.entries())


def _ground(data: Microdata, answers: Answers, recipes: Sequence[TableRecipe | FileRecipe]) -> GroundedData:
    known = set(data.schema.names)
    names = (*answers.variables, *(name for own in recipes for name in own.variables))
    tables = [own for own in recipes if isinstance(own, TableRecipe)]
    added = (*answers.responses, *(name for own in tables for name in own.responses))
    variables = tuple(dict.fromkeys(name for name in names if name in known))
    responses = [name for name in dict.fromkeys(added) if name in known and name not in variables]
    return ground_of(data, variables, responses=responses)
