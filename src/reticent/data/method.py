# SPDX-License-Identifier: Apache-2.0
"""The protocol of masking methods, and the registry type that plans look names up in.

A masking method is a frozen dataclass: its fields are its parameters, with `min`, `max`, `choices` and `help` in their
metadata. From that one declaration come the Python call, the plan syntax and the manual page.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar, Protocol, runtime_checkable

from reticent.base.arrays import Floats
from reticent.base.checks import did_you_mean
from reticent.base.errors import PlanError
from reticent.base.progress import Progress
from reticent.base.randomness import Secret
from reticent.data.draws import StepDraws
from reticent.data.mapping import Mapped
from reticent.data.microdata import Microdata
from reticent.data.parameters import Parameters
from reticent.data.schema import Schema, Variable


class Group(StrEnum):
    """What a masking method does to a file, in the order in which lists show the methods."""

    NAMES = "Remove what names people"
    DETAIL = "Show less detail"
    NUMBERS = "Change numbers"
    CODES = "Change codes at random"
    EXCHANGE = "Exchange values between records"
    RECORDS = "Leave out, copy or reorder records"
    MODEL = "Draw values from a model"
    OTHER = "Other"


@dataclass(frozen=True)
class Applied:
    """What a step did: the new data, and facts for the confidential record (`changed`: values changed per variable)."""

    data: Microdata
    changed: Mapping[str, int] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Promise:
    """Something a step promises of its output, in words, with a check written by code that did not make it.

    `broken` looks at the data before and after and counts what does not hold (0: kept).
    """

    text: str
    broken: "BrokenCount"


class BrokenCount(Protocol):
    """Counts the violations of a promise."""

    def __call__(self, before: Microdata, after: Microdata) -> int: ...


@runtime_checkable
class MaskingMethod(Protocol):
    """What every masking method has; parameters are its dataclass fields."""

    name: ClassVar[str]

    def check(self, schema: Schema) -> None:
        """Raise if the data described by `schema` do not give what the method needs; called before any work."""
        ...

    def schema_after(self, schema: Schema) -> Schema:
        """The schema of the output, so that later steps can be checked before work starts."""
        ...

    def apply(self, data: Microdata, *, secret: Secret, progress: Progress) -> Applied:
        """Mask the data; `secret` is this step's own."""
        ...

    def promises(self) -> tuple[Promise, ...]:
        """What holds of the output; each is checked after the step."""
        ...


class Method(Parameters):
    """What masking methods derive from: `mask` does the work; nothing is needed or promised unless a method says so.

    A method never sees the secret. `apply` gives `mask` the draws of this step, keyed by method and parameters, and
    these hand out nothing without the input they are for (see `data.draws`).

    `blanks_only` says that a method does nothing but make values missing: the attacker then compares what is published
    with the values as they were before. `coarsens` says that it shows one coarser value for each value (and may blank
    some): the attacker does the same to what they know. `searches` says that its choice takes long, or depends on all data.
    `repeatable` says that what it makes of each record follows from the values of all: whoever has these carries it out again.
    `last` says that a later step that changes values would break what it promises.
    `group` is the heading under which lists of methods show it.
    `in_weights` names variables whose values the new weights reveal, and that no attack judges: later steps must leave them.
    `follows_from_all` names numbers of which some are published that follow from those of all: later steps must not hide a few.
    `weighs_by` names variables that the step makes weights by: the attack on weights judges them.
    `moves` names variables whose values come together from another record: the attacker finds them where they went.
    """

    name: ClassVar[str]
    group: ClassVar[Group] = Group.OTHER
    blanks_only: ClassVar[bool] = False
    coarsens: ClassVar[bool] = False
    searches: ClassVar[bool] = False
    repeatable: ClassVar[bool] = False
    last: ClassVar[bool] = False

    def check(self, schema: Schema) -> None:
        """Nothing is needed."""

    def schema_after(self, schema: Schema) -> Schema:
        """The schema stays."""
        return schema

    def apply(self, data: Microdata, *, secret: Secret, progress: Progress) -> Applied:
        """Mask the data with draws that belong to this method, its parameters and these data."""
        return self.mask(data, draws=StepDraws(secret, self), progress=progress)

    def mask(self, data: Microdata, *, draws: StepDraws, progress: Progress) -> Applied:
        """Do the work of the step; each method has its own."""
        raise NotImplementedError

    def promises(self) -> tuple[Promise, ...]:
        """Nothing is promised."""
        return ()

    def moves(self, schema: Schema) -> tuple[str, ...]:
        """Nothing is taken over together from another record."""
        return ()

    def in_weights(self, schema: Schema) -> tuple[str, ...]:
        """No values are in the weights, so that later steps may change all."""
        return ()

    def follows_from_all(self, schema: Schema) -> tuple[str, ...]:
        """No published value follows from those of all records."""
        return ()

    def weighs_by(self, schema: Schema) -> tuple[str, ...]:
        """No weights are made."""
        return ()

    def without_numbers(self, before: Microdata, after: Microdata) -> Floats | None:
        """The weights that are left to whoever divides out what numbers made of them; None where nothing did."""
        return None

    def blanks(self, schema: Schema) -> tuple[str, ...]:
        """No variable is one of which anybody must expect blanks."""
        return ()

    def new_codes(
        self, variable: Variable, codes: tuple[str, ...], facts: Mapping[str, Any]
    ) -> Mapping[str, str] | None:
        """The new code of each of some codes, where the step recodes the variable; `facts` are what the step chose."""
        return None

    def declared(self, variable: Variable, shown: tuple[str, ...]) -> tuple[Mapped, ...]:
        """What the parameters say about the new codes of the variable where nobody declared its old codes."""
        return ()


class Registry(Mapping[str, type[Any]]):
    """Methods by plan name; an unknown name is an error that suggests the nearest."""

    def __init__(self, kind: str, methods: tuple[type[Any], ...], *, noun: str = "method") -> None:
        self.kind, self._noun = kind, noun
        self._methods = {method.name: method for method in methods}

    def __getitem__(self, name: str) -> type[Any]:
        if name not in self._methods:
            known = did_you_mean(name, self._methods) or f" Known: {', '.join(sorted(self._methods))}."
            raise PlanError(f"there is no {self._noun} {name!r}.{known}").at(self.kind)
        return self._methods[name]

    def __contains__(self, name: object) -> bool:
        return name in self._methods

    def __iter__(self) -> Iterator[str]:
        return iter(self._methods)

    def __len__(self) -> int:
        return len(self._methods)
