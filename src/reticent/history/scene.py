# SPDX-License-Identifier: Apache-2.0
"""Everything that was released, and perhaps something new, stated over one ground: what the joint system is given.

Relations between responses, and sums of numbers that files show, are stated for classes of atoms. These are the coarsest
that every table, every answer and whatever is judged selects as a whole: with coarser ones something would be missed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from reticent.base.arrays import Ints
from reticent.base.errors import ParameterError
from reticent.data.facts import COUNT, OWN, Facts
from reticent.data.microdata import Microdata
from reticent.data.response_relations import COUNT as COUNT_NAME
from reticent.data.response_relations import parse_relation
from reticent.data.schema import Kind
from reticent.data.table import DimensionSpec
from reticent.data.table_plan import Insiders
from reticent.history.file_recipe import FileRecipe
from reticent.history.table_recipe import TableRecipe
from reticent.ledger.chain import LedgerError
from reticent.releases.joint import JointSystem
from reticent.releases.programs import Limits
from reticent.releases.unknowns import Version
from reticent.tabulation.ground import GroundedData, ground_of
from reticent.tabulation.responses import ties_in_records
from reticent.tabulation.tied_facts import AtomClasses, atom_classes, facts_of_ties, finer_classes, with_spare
from reticent.tabulation.tied_responses import Tie

RELATED = "relations between responses"
Recipe = TableRecipe | FileRecipe


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


@dataclass(frozen=True, eq=False)
class Scene:
    """The releases of some data, by name, and what was answered, over one ground; the facts of files are not stated yet."""

    recipes: Mapping[str, Recipe]
    grounded: GroundedData = field(repr=False)
    ties: tuple[Tie, ...]
    tables: Mapping[str, tuple[Facts, ...]] = field(repr=False)
    asked: tuple[Facts, ...] = field(repr=False)
    files: dict[str, tuple[Facts, ...]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls, data: Microdata, recipes: Mapping[str, Recipe], answers: AnswersTold | None, *, unchecked: str = ""
    ) -> "Scene":
        """Make the ground that all of them need, and state what tables and answers tell.

        Whether the tables of the release `unchecked` hold of the data is for the caller to find out.
        """
        own = tuple(recipes.values())
        ties = tuple(_ties(data, own, answers))
        grounded = _ground(data, own, answers, ties)
        tables = {name: one.facts(grounded, name) for name, one in recipes.items() if isinstance(one, TableRecipe)}
        for facts in (facts for name, told in tables.items() if name != unchecked for facts in told):
            _check_true(grounded, facts)
        return cls(recipes, grounded, ties, tables, () if answers is None else answers.facts(grounded))

    @property
    def by_class(self) -> bool:
        """Whether a file's sums are stated by classes, so that they must be stated again for whatever selects otherwise."""
        return len(self.files) < sum(isinstance(one, FileRecipe) for one in self.recipes.values())

    @property
    def insiders(self) -> Insiders:
        """What respondents are kept from: the most that any release asked for."""
        asked = [one.insiders for one in self.recipes.values() if isinstance(one, TableRecipe)]
        return "protect" if "protect" in asked else "exact"

    def told(self, *new: Facts) -> tuple[dict[str, tuple[Facts, ...]], Facts, AtomClasses]:
        """What each release tells, what relations tell, and the classes of atoms that both refer to.

        These are the coarsest that tables, answers and something new select as a whole; relations with counts refer to
        what files select too.
        """
        known = [facts for own in self.tables.values() for facts in own]
        classes = atom_classes(self.grounded, self.ties, [*known, *self.asked, *new])
        files = self._of_files(classes.of)
        if classes.summed:
            shown = [facts for own in files.values() for facts in own]
            classes, _ = finer_classes(self.grounded.ground, classes, shown, of=False)
        related = facts_of_ties(self.grounded, self.ties, classes, release=RELATED)
        return {**self.tables, **files}, related, classes

    def with_relations(self, new: Facts, classes: AtomClasses) -> tuple[Facts, AtomClasses]:
        """Something new with what relations tell of the parts of the classes that it divides; and these finer classes."""
        if not self.ties:
            return new, classes
        finer, parts = finer_classes(self.grounded.ground, classes, [new])
        related = facts_of_ties(self.grounded, self.ties, finer, release=RELATED, only=parts)
        return replace(new, facts=(*new.facts, *related.facts)), finer

    def _of_files(self, classes: Ints) -> dict[str, tuple[Facts, ...]]:
        """What files tell; sums of numbers by classes, anything else is the same for all of them and kept."""
        found = dict(self.files)
        for name, one in self.recipes.items():
            if isinstance(one, FileRecipe) and name not in found:
                found[name] = one.facts(self.grounded, name, classes)
                for facts in found[name]:
                    _check_true(self.grounded, facts)
                if all(facts.assumes or facts.responses() <= {COUNT} for facts in found[name]):
                    self.files[name] = found[name]
        return found

    def system(self, known: Sequence[Facts], limits: Limits | None = None) -> JointSystem:
        """The joint system that has taken in what is known."""
        values = {name: self.grounded.whole(name) for name in self.grounded.decimals}
        system = JointSystem((Version(self.grounded.ground, values=values),), limits=limits, insiders=self.insiders)
        for facts in known:
            if facts.facts or facts.watches:
                system.know(facts)
        return system


def _ties(data: Microdata, recipes: Sequence[Recipe], answers: AnswersTold | None) -> list[Tie]:
    """What holds between responses in each record: declared by any release, or shown by the records."""
    declared = [parse_relation(text) for text in dict.fromkeys(text for own in recipes for text in own.relations)]
    known = [name for name in data.schema.names if data.schema[name].kind is Kind.NUMERIC]
    named = (*(name for own in recipes for name in own.responses), *(answers.responses if answers else ()))
    names = [name for name in dict.fromkeys(named) if name in known]
    names += [data.schema.weight] if data.schema.weight and data.schema.weight not in names else []
    if COUNT_NAME not in data.schema and any(isinstance(own, TableRecipe) and own.counts for own in recipes):
        names.append(COUNT_NAME)
    if len(names) < 2 and not declared:
        return []
    shown = dict.fromkeys(name for own in recipes if isinstance(own, TableRecipe) for name in own.variables)
    dimensions = [DimensionSpec(name) for name in shown if name in data.schema]
    return ties_in_records(data, names, declared, dimensions=dimensions)


def _ground(
    data: Microdata, recipes: Sequence[Recipe], answers: AnswersTold | None, ties: Sequence[Tie]
) -> GroundedData:
    known = set(data.schema.names)
    named = (*(name for own in recipes for name in own.variables), *(answers.variables if answers else ()))
    variables = dict.fromkeys(name for name in named if name in known)
    tables = [own for own in recipes if isinstance(own, TableRecipe)]  # only they watch anything
    added = (*(name for own in tables for name in own.responses), *(answers.responses if answers else ()))
    added_up = [name for name in added if name in known]
    if data.schema.weight and any(own.counts and shown.weighted for own in tables for shown in own.tables):
        added_up.append(data.schema.weight)  # weighted counts add weights up
    # numbers that only files show matter where a relation leads from them to a number that a table adds up
    responses = dict.fromkeys((*added_up, *sorted(_related_to(added_up, ties) & known)))
    shown = [name for own in tables for name in own.responses if name in variables]
    if shown:
        raise ParameterError(
            f"ledger: {shown[0]!r} is added up by a table and shown by codes in another release; the two cannot be judged "
            "together. Leave it out of one of them."
        )
    hidden = [cells for own in tables for cells in own.hidden_counts()]
    added_up = [name for name in responses if name not in variables]
    files = dict.fromkeys(
        name for own in recipes if isinstance(own, FileRecipe) for name in own.responses if name in known
    )
    grounded = ground_of(data, tuple(variables), responses=added_up, hidden=hidden, shown=tuple(files))
    return with_spare(replace(grounded, counted=_counted(grounded, tables)), ties)


def _counted(grounded: GroundedData, tables: Sequence[TableRecipe]) -> frozenset[str]:
    """Responses that follow from the codes of a variable, so that counts say all of them; not those that a table adds up."""
    if not any(own.counts for own in tables):
        return frozenset()
    determined = {own.response for own in grounded.ranges if own.determined and own.response in grounded.decimals}
    summed = {name for own in tables for name in own.responses}
    return frozenset(name for name in determined - summed if bool(grounded.there(name).all()))


def _related_to(responses: Sequence[str], ties: Sequence[Tie]) -> set[str]:
    """The responses and all names that relations connect with them."""
    found = set(responses)
    while more := {n for tie in ties if found & {*tie.relation.names} for n in tie.relation.names} - found:
        found |= more
    return found


def _check_true(grounded: GroundedData, facts: Facts) -> None:
    """Refuse facts that do not hold of the data: codes were read otherwise than the release was made."""
    truth = {name: grounded.truth(name) for name in facts.responses()}
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
