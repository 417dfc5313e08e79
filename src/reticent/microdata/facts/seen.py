# SPDX-License-Identifier: Apache-2.0
"""What an attacker sees of a file after some steps: what each published code and number may stand for.

Only the methods' names and parameters and the published file enter: how a step chose (which values it blanked, which groups
it formed, what it drew) is left open.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from reticent.base.arrays import Ints
from reticent.data.facts import MISSING
from reticent.data.schema import Kind, Schema
from reticent.microdata.facts.spans import EVERYTHING, Inverse, Span
from reticent.tabulation.ground import ABSENT_OR_NOT, GroundedData, missing_of

BLANK = None
"""The label of a value that is not shown."""
Images = Callable[[Sequence[Any]], Sequence[tuple[Any, ...]]]
"""For each label the labels that a step may show for it (`BLANK` among them where it may blank)."""


@dataclass(frozen=True)
class Link:
    """One variable of the ground: pairs (category, label) of what may be shown for what; −1 is missing."""

    n_categories: int
    labels: tuple[Any, ...] = field(repr=False)
    pairs: Ints = field(repr=False)

    @classmethod
    def of(cls, labels: Sequence[Any]) -> "Link":
        """Before any step every category is shown as itself, and missing values as missing."""
        each = np.append(np.arange(len(labels)), MISSING)
        return cls(len(labels), tuple(labels), np.column_stack((each, each)))

    @property
    def may_blank(self) -> bool:
        """Whether a value may have been blanked."""
        return bool(((self.pairs[:, 0] != MISSING) & (self.pairs[:, 1] == MISSING)).any())

    def shown(self, images: Images) -> "Link":
        """After a step; labels that it cannot show lead nowhere, because no data with them lead to its output."""
        place: dict[Any, int] = {}
        steps = [
            [MISSING if new is BLANK else place.setdefault(new, len(place)) for new in new_labels]
            for new_labels in images(self.labels)
        ]
        pairs = {
            (true, new)
            for true, label in self.pairs.tolist()
            for new in ([MISSING] if label == MISSING else steps[label])
        }
        return replace(self, labels=tuple(place), pairs=np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2))


@dataclass(frozen=True)
class Number:
    """One response: the steps that coarsened it, what texts stand for where it became a code, and sums that stay.

    `blank` says that values may have been blanked. `means` names the variables whose equal values mark a group whose
    sum is shown by its members together. `tail` is the number that stands for all values beyond a limit and is their
    mean; `members` says where these lie.
    """

    inverses: tuple[Inverse, ...] = ()
    texts: Mapping[str, Span] | None = None
    blank: bool = False
    means: tuple[str, ...] | None = None
    tail: float | None = None
    members: Span = EVERYTHING

    @property
    def summed(self) -> bool:
        """Whether published numbers stand for sums over several records."""
        return self.means is not None or self.tail is not None


@dataclass(frozen=True)
class View:
    """Variables of the file that belong together record by record: the rest may have come from other records."""

    links: Mapping[str, Link]
    numbers: Mapping[str, Number]

    def without(self, names: Iterable[str]) -> "View":
        """The view without some variables."""
        gone = set(names)
        return View(
            {name: link for name, link in self.links.items() if name not in gone},
            {name: number for name, number in self.numbers.items() if name not in gone},
        )

    def only(self, names: Iterable[str]) -> "View":
        """The view of some variables."""
        kept = set(names)
        return self.without([name for name in (*self.links, *self.numbers) if name not in kept])


@dataclass(frozen=True)
class Drawn:
    """A sample: the share that is kept in each stratum, and the variable with the factor of each record, if it is shown.

    `links` are those of the strata when the sample was drawn: the sizes of strata follow while these are still shown.
    """

    fraction: float | None
    strata: tuple[str, ...] = ()
    factor: str | None = None
    links: Mapping[str, Link] = field(default_factory=dict)


@dataclass(frozen=True)
class Near:
    """A table of the published file whose counts are near the true ones: within `bound`, or at least not 0 where shown."""

    links: Mapping[str, Link]
    bound: int | None


@dataclass(frozen=True)
class Seen:
    """What is known of a file after some steps; `beyond` says in words what it may reveal that is not in here.

    The first view is the file without what chance has moved; further ones hold values that were exchanged between records.
    """

    schema: Schema
    views: tuple[View, ...]
    drawn: Drawn | None = None
    beyond: tuple[str, ...] = ()
    near: tuple[Near, ...] = ()

    @classmethod
    def start(cls, grounded: GroundedData) -> "Seen":
        """Before the first step: every value stands for itself."""
        schema, ground = grounded.data.schema, grounded.ground
        links = {
            name: Link.of([label_of(schema, name, text) for text in texts])
            for name, texts in zip(ground.variables, ground.categories, strict=True)
        }
        numbers = (*grounded.decimals, *(own.response for own in grounded.ranges))
        return cls(schema, (View(links, {name: Number() for name in numbers}),))

    def with_link(self, name: str, images: Images) -> "Seen":
        """The same after a step that shows other labels of a variable, where a view has it."""
        views = tuple(
            replace(view, links={**view.links, name: view.links[name].shown(images)}) if name in view.links else view
            for view in self.views
        )
        return replace(self, views=views)

    def number(self, name: str) -> Number | None:
        """A response as it is shown, in the first view that has it."""
        return next((view.numbers[name] for view in self.views if name in view.numbers), None)

    def with_number(self, name: str, change: Callable[[Number], Number]) -> "Seen":
        """The same after a step that changed a response, where a view has it."""
        views = tuple(
            replace(view, numbers={**view.numbers, name: change(view.numbers[name])}) if name in view.numbers else view
            for view in self.views
        )
        return replace(self, views=views)

    def without_number(self, name: str, beyond: str) -> "Seen":
        """The same without a response, while its variable stays among those that select."""
        if self.number(name) is None:
            return self
        views = tuple(replace(v, numbers={n: x for n, x in v.numbers.items() if n != name}) for v in self.views)
        return replace(self, views=views).noted(beyond)

    def without_link(self, name: str, beyond: str) -> "Seen":
        """The same without a variable that selects, while it stays a response."""
        if not any(name in view.links for view in self.views):
            return self
        views = tuple(replace(v, links={n: x for n, x in v.links.items() if n != name}) for v in self.views)
        return replace(self, views=views).noted(beyond)

    def blanked(self, name: str) -> "Seen":
        """The same after a step that may have blanked any value of a variable."""
        seen = self.with_link(name, lambda labels: [(label, BLANK) for label in labels])
        seen = seen.with_number(name, lambda number: replace(number, blank=True))
        there, missing = ABSENT_OR_NOT
        return seen.with_link(
            missing_of(name), lambda labels: [(there, missing) if label == there else (label,) for label in labels]
        )

    def freed(self, names: Iterable[str], beyond: str) -> "Seen":
        """The same after chance has moved some variables: nothing is said of them any more."""
        names = tuple(names)
        touched = any(name in (*view.links, *view.numbers) for view in self.views for name in names)
        views = tuple(view.without(names) for view in self.views)
        return replace(self, views=views).noted(beyond) if touched else self

    def exchanged(self, names: Iterable[str], within: Iterable[str], beyond: str) -> "Seen":
        """The same after values were exchanged between records that agree on `within`."""
        names = tuple(names)
        together = self.views[0].only((*names, *within))
        moved = self.freed(names, beyond)
        return replace(moved, views=(*moved.views, together))

    def summed(self, name: str, within: Iterable[str]) -> "Seen":
        """The same where of a response, in the last view, nothing is true except its sums within some variables."""
        *others, last = self.views
        if name not in last.numbers:
            return self
        numbers = {**last.numbers, name: replace(last.numbers[name], means=tuple(within))}
        return replace(self, views=(*others, replace(last, numbers=numbers)))

    def noted(self, beyond: str) -> "Seen":
        """The same with one more thing that it may tell beyond its facts."""
        return self if not beyond or beyond in self.beyond else replace(self, beyond=(*self.beyond, beyond))


def label_of(schema: Schema, name: str, text: str) -> Any:
    """Numbers are compared as numbers: 37 and 37.0 are the same value, whatever the file writes."""
    return float(text) if name in schema and schema[name].kind is Kind.NUMERIC else text
