# SPDX-License-Identifier: Apache-2.0
"""Everything that was released, and perhaps something new, stated over one ground: what the joint system is given.

Relations between responses, and sums of numbers that files show, are stated for classes of atoms. These are the coarsest
that every table, every answer and whatever is judged selects as a whole: with coarser ones something would be missed.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
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
from reticent.history.editions import Edition, People, Recipe, Rises, marks_of, respondents_of, rises_of
from reticent.history.file_recipe import FileRecipe
from reticent.history.table_recipe import TableRecipe
from reticent.ledger.chain import LedgerError
from reticent.releases.joint import JointSystem
from reticent.releases.programs import Limits
from reticent.releases.unknowns import Version, linked
from reticent.tabulation.ground import GroundedData, Surroundings, ground_of, grounds_of
from reticent.tabulation.responses import ties_in_records
from reticent.tabulation.tied_facts import AtomClasses, atom_classes, facts_of_ties, finer_classes, with_spare
from reticent.tabulation.tied_responses import Tie

RELATED = "relations between responses"


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

    @property
    def asked(self) -> Mapping[str, Microdata]:
        """The versions that were asked about, by name."""
        ...

    def facts(self, grounded: GroundedData, versions: frozenset[str]) -> tuple[Facts, ...]:
        """What each answer about one version tells, which has these names."""
        ...


@dataclass(frozen=True, eq=False)
class Told:
    """What each release of any version tells, what relations in the last version tell, and the classes that both refer to.

    `more` is what is known of the other versions besides releases, and between versions, each with the number of its version;
    `version` has the number of each release that is not of the last version, which is `last`.
    """

    releases: Mapping[str, tuple[Facts, ...]]
    related: Facts
    classes: AtomClasses
    last: int = 0
    more: tuple[tuple[Facts, int], ...] = ()
    version: Mapping[str, int] = field(default_factory=dict)

    def known(self, names: Iterable[str], asked: Sequence[Facts]) -> tuple[tuple[Facts, int], ...]:
        """All that is known if these releases are out and these answers were given, each with the number of its version."""
        released = [(facts, self.version.get(name, self.last)) for name in names for facts in self.releases[name]]
        return ((self.related, self.last), *self.more, *released, *((facts, self.last) for facts in asked))


@dataclass(frozen=True, eq=False)
class Links:
    """How several versions hang together: the marks of their records, and the lines that values follow."""

    marks: tuple[Ints, ...] = field(repr=False)
    rises: Rises = field(repr=False)


@dataclass(frozen=True, eq=False)
class Scene:
    """The releases of some data, by name, and what was answered, over one ground; the facts of files are not stated yet.

    `others` are those of other versions of the data, over grounds with the same atoms, and `links` is how all hang together.
    """

    recipes: Mapping[str, Recipe]
    grounded: GroundedData = field(repr=False)
    ties: tuple[Tie, ...]
    tables: Mapping[str, tuple[Facts, ...]] = field(repr=False)
    asked: tuple[Facts, ...] = field(repr=False)
    files: dict[str, tuple[Facts, ...]] = field(default_factory=dict, repr=False)
    name: str = ""
    others: tuple["Scene", ...] = field(default=(), repr=False)
    links: Links | None = field(default=None, repr=False)

    @classmethod
    def of(cls, editions: Sequence[Edition], answers: AnswersTold | None, *, unchecked: str = "") -> "Scene":
        """Make the grounds that all versions need, and state what tables and answers tell; the last version is that of the scene.

        Whether the tables of the release `unchecked` hold of the data is for the caller to find out.
        """
        ties = [tuple(_ties(one.data, editions, one, answers)) for one in editions]
        marks = marks_of(editions) if len(editions) > 1 else ()
        grounds = _grounds(editions, marks, answers, ties)
        made = [
            cls._stated(edition, grounded, own, answers, unchecked)
            for edition, grounded, own in zip(editions, grounds, ties, strict=True)
        ]
        if len(made) == 1:
            return replace(made[0], name="")
        return replace(made[-1], others=tuple(made[:-1]), links=Links(marks, rises_of(grounds, marks)))

    @classmethod
    def _stated(
        cls,
        edition: Edition,
        grounded: GroundedData,
        ties: tuple[Tie, ...],
        answers: AnswersTold | None,
        unchecked: str,
    ) -> "Scene":
        recipes = edition.recipes
        tables = {name: one.facts(grounded, name) for name, one in recipes.items() if isinstance(one, TableRecipe)}
        for facts in (facts for name, told in tables.items() if name != unchecked for facts in told):
            _check_true(grounded, facts)
        asked = () if answers is None else answers.facts(grounded, edition.names)
        return cls(recipes, grounded, ties, tables, asked, name=edition.name)

    @property
    def by_class(self) -> bool:
        """Whether sums are stated by classes, so that they must be stated again for whatever selects otherwise.

        Those of a file are, and those over two versions of values that follow a line.
        """
        by_files = len(self.files) < sum(isinstance(one, FileRecipe) for one in self.recipes.values())
        return by_files or (self.links is not None and bool(self.links.rises.found))

    @property
    def every(self) -> tuple["Scene", ...]:
        """The scenes of all versions, the last one at the end."""
        return (*self.others, self)

    @property
    def answered(self) -> int:
        """How many answers about any version are known."""
        return sum(len(one.asked) for one in self.every)

    @property
    def insiders(self) -> Insiders:
        """What respondents are kept from: the most that any release asked for."""
        asked = [own.insiders for one in self.every for own in one.recipes.values() if isinstance(own, TableRecipe)]
        return "protect" if "protect" in asked else "exact"

    def told(self, *new: Facts) -> Told:
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
        name = f"{RELATED} ({self.name})" if self.name else RELATED
        related = facts_of_ties(self.grounded, self.ties, classes, release=name)
        mine = Told({**self.tables, **files}, related, classes)
        return mine if self.links is None else self._with_others(mine, self.links)

    def _with_others(self, mine: Told, links: Links) -> Told:
        """What this version tells, with everything of the others and between them."""
        others = [one.told_alone for one in self.others]
        releases: dict[str, tuple[Facts, ...]] = {}
        version: dict[str, int] = {}
        more: list[tuple[Facts, int]] = []
        for number, (scene, told) in enumerate(zip(self.others, others, strict=True)):
            releases |= told.releases
            version |= dict.fromkeys(told.releases, number)
            more += [(told.related, number), *((facts, number) for facts in scene.asked)]
        last = len(others)
        of_atoms = [*(told.classes.of for told in others), mine.classes.of]
        classes = [own[one.grounded.ground.atom_of_unit] for own, one in zip(of_atoms, self.every, strict=True)]
        shown = [own for one in self.every for own in one.recipes.values() if isinstance(own, FileRecipe)]
        single = frozenset(name for own in shown for name in own.responses)
        counts = any(isinstance(own, TableRecipe) and own.counts for one in self.every for own in one.recipes.values())
        between = self._versions[-1].between
        people = People.among(between.histories, of_atoms) if counts and between is not None else None
        more.append((links.rises.facts(classes, single, people), last + 1))
        return Told({**releases, **mine.releases}, mine.related, mine.classes, last, tuple(more), version)

    @cached_property
    def told_alone(self) -> Told:
        """What this version tells, worked out once: nothing new is of another version than the last."""
        return self.told()

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

    def system(self, known: Sequence[tuple[Facts, int]], limits: Limits | None = None) -> JointSystem:
        """The joint system that has taken in what is known, each with the number of its version."""
        system = JointSystem(self._versions, limits=limits, insiders=self.insiders)
        for facts, version in known:
            if facts.facts or facts.watches:
                system.know(facts, version=version)
        return system

    @cached_property
    def _versions(self) -> tuple[Version, ...]:
        made = []
        for number, scene in enumerate(self.every):
            own, marks = scene.grounded, None if self.links is None else self.links.marks[number]
            made.append(Version(own.ground, marks, own.values, scene.name, own.possible, own.common))
        if self.links is None:
            return tuple(made)
        return linked(made, self.links.rises.crossing, self.links.rises.n_rows)


def _ties(data: Microdata, editions: Sequence[Edition], own: Edition, answers: AnswersTold | None) -> list[Tie]:
    """What holds between responses in each record of a version: declared by a release of it, or shown by the records."""
    recipes = [recipe for edition in editions for recipe in edition.recipes.values()]
    texts = dict.fromkeys(text for recipe in own.recipes.values() for text in recipe.relations)
    declared = [parse_relation(text) for text in texts]
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


def _grounds(
    editions: Sequence[Edition], marks: Sequence[Ints], answers: AnswersTold | None, ties: Sequence[Sequence[Tie]]
) -> list[GroundedData]:
    """The ground of each version: everything that any release selects by or adds up."""
    recipes = [recipe for edition in editions for recipe in edition.recipes.values()]
    known = {name for edition in editions for name in edition.data.schema.names}
    named = (*(name for own in recipes for name in own.variables), *(answers.variables if answers else ()))
    variables = dict.fromkeys(name for name in named if name in known)
    tables = [own for own in recipes if isinstance(own, TableRecipe)]  # only they watch anything
    added = (*(name for own in tables for name in own.responses), *(answers.responses if answers else ()))
    added_up = [name for name in added if name in known]
    weights = [edition.data.schema.weight for edition in editions]
    if any(own.counts and shown.weighted for own in tables for shown in own.tables):
        added_up += [name for name in weights if name]  # weighted counts add weights up
    # numbers that only files show matter where a relation leads from them to a number that a table adds up
    related = _related_to(added_up, [tie for own in ties for tie in own])
    responses = dict.fromkeys((*added_up, *sorted(related & known)))
    variables |= dict.fromkeys(name for name in _in_two_files(recipes) if name in known and name not in responses)
    shown = [name for own in tables for name in own.responses if name in variables]
    if shown:
        raise ParameterError(
            f"ledger: {shown[0]!r} is added up by a table and shown by codes in another release; the two cannot be judged "
            "together. Leave it out of one of them."
        )
    hidden = [cells for own in tables for cells in own.hidden_counts()]
    added_up = [name for name in responses if name not in variables]
    files = tuple(
        dict.fromkeys(name for own in recipes if isinstance(own, FileRecipe) for name in own.responses if name in known)
    )
    beside = Surroundings(hidden, files, _apart(recipes, answers))
    versions = [edition.data for edition in editions]
    if len(versions) == 1:
        made = [ground_of(versions[0], tuple(variables), responses=added_up, releases=beside)]
    else:
        entities = respondents_of(versions, marks)
        made = [*grounds_of(versions, tuple(variables), responses=added_up, entities=entities, releases=beside)]
    counted = [_counted(grounded, tables) for grounded in made]
    _check_counted(editions, counted)
    return [with_spare(replace(one, counted=own), tied) for one, own, tied in zip(made, counted, ties, strict=True)]


def _apart(recipes: Sequence[Recipe], answers: AnswersTold | None) -> list[tuple[str, str]]:
    """Variables of tables, two by two, that no release shows together: which of their codes go together is known to everybody.

    A table or a file that has both says itself who has which codes, or hides it.
    """
    tables = [table for own in recipes if isinstance(own, TableRecipe) for table in own.tables]
    crossed = [{*table.published.dimensions} for table in tables]
    shown = {name for own in recipes if isinstance(own, FileRecipe) for name in own.variables}
    shown |= {*answers.variables} if answers else set()
    names = sorted(set().union(*crossed) - shown)
    return [pair for pair in combinations(names, 2) if not any({*pair} <= own for own in crossed)]


def _in_two_files(recipes: Sequence[Recipe]) -> list[str]:
    """The numbers that two files show: they join their records as a code does, so that they are like one."""
    named = Counter(name for own in recipes if isinstance(own, FileRecipe) for name in own.responses)
    return [name for name, files in named.items() if files > 1]


def _check_counted(editions: Sequence[Edition], counted: Sequence[frozenset[str]]) -> None:
    for edition, own in zip(editions, counted, strict=True):
        if own != counted[-1]:
            name = min(own ^ counted[-1])
            raise LedgerError(
                f"ledger: {name!r} follows from codes in one of the versions {edition.name!r} and {editions[-1].name!r} and not "
                "in the other, so they cannot be judged together; leave it out of the file."
            )


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
