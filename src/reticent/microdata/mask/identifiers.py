# SPDX-License-Identifier: Apache-2.0
"""Direct identifiers: removed, or replaced by new random numbers that lead nowhere."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from reticent.base.checks import check_unique
from reticent.base.errors import DataError, ParameterError
from reticent.base.progress import Progress
from reticent.data.draws import StepDraws
from reticent.data.method import Applied, Group, Method, Promise
from reticent.data.microdata import Microdata
from reticent.data.parameters import Examples
from reticent.data.schema import Role, Schema


@dataclass(frozen=True)
class RemoveIdentifiers(Method):
    """Drop all direct identifiers, or the variables named."""

    name: ClassVar[str] = "remove-identifiers"
    group: ClassVar[Group] = Group.NAMES
    examples: ClassVar[Examples] = ({}, {"variables": ["person", "household"]})

    variables: tuple[str, ...] = field(
        default=(), metadata={"names": "variables", "help": "what to drop; empty: all direct identifiers"}
    )

    def __post_init__(self) -> None:
        check_unique(self.variables, name="variables", owner="remove-identifiers")

    def check(self, schema: Schema) -> None:
        """The named variables exist, and something is left."""
        schema.require(self.variables, owner="remove-identifiers")
        if len(self._dropped(schema)) == len(schema.variables):
            raise ParameterError("remove-identifiers: this would drop every variable; leave at least one.")

    def _dropped(self, schema: Schema) -> tuple[str, ...]:
        return self.variables or schema.identifiers

    def schema_after(self, schema: Schema) -> Schema:
        """The schema without them."""
        return schema.without(self._dropped(schema))

    def mask(self, data: Microdata, *, draws: StepDraws, progress: Progress) -> Applied:
        """Drop them; the facts name what went."""
        self.check(data.schema)
        dropped = self._dropped(data.schema)
        # later steps still count respondents and households, not their records
        return Applied(
            data.bound(dropped).without(dropped),
            dict.fromkeys(dropped, data.n_records),
            {"removed": ", ".join(dropped)},
        )

    def promises(self) -> tuple[Promise, ...]:
        """None of them is left."""

        def broken(before: Microdata, after: Microdata) -> int:
            return sum(name in after.frame.names for name in self._dropped(before.schema))

        return (Promise("no removed variable is left", broken),)


@dataclass(frozen=True)
class NewIdentifiers(Method):
    """Give each distinct identifier a new random number; equal ones stay equal, and their order says nothing.

    With `within` the numbers start at 1 in each household (or other group), as for persons in a household.
    """

    name: ClassVar[str] = "new-identifiers"
    group: ClassVar[Group] = Group.NAMES
    examples: ClassVar[Examples] = ({"variable": "person"}, {"variable": "household", "within": "region"})

    variable: str = field(metadata={"names": "variables", "help": "identifier to replace, such as the household id"})
    within: str | None = field(
        default=None, metadata={"names": "variables", "help": "start again at 1 within each value of this variable"}
    )

    def check(self, schema: Schema) -> None:
        """The variables exist; the one replaced is an identifier of some kind."""
        schema.require((self.variable, *((self.within,) if self.within else ())), owner=self.name)
        allowed = (Role.IDENTIFIER, Role.HOUSEHOLD_ID, Role.ENTITY, Role.OTHER)
        if schema[self.variable].role not in allowed:
            raise DataError(
                f"new-identifiers: {self.variable!r} has the role {schema[self.variable].role}; only identifiers are "
                "replaced.", variables=(self.variable,))  # fmt: skip
        if self.within == self.variable:
            raise ParameterError("new-identifiers: within must be another variable than the one replaced.")

    def schema_after(self, schema: Schema) -> Schema:
        """A code list of old identifiers no longer holds."""
        return schema.change(self.variable, codes=(), labels=(), hierarchy=None)

    def mask(self, data: Microdata, *, draws: StepDraws, progress: Progress) -> Applied:
        """Replace; records without an identifier keep none."""
        self.check(data.schema)
        codes = self._numbers(data)
        blank = (data if self.within is None else data.bound((self.variable,))).with_schema(
            self.schema_after(data.schema)
        )
        # of all variables: new numbers that came back in another release would join the two
        rng = draws.of_file(data, data.schema.names).stream("identifiers")
        used = np.unique(codes[codes >= 0])
        if self.within is None:
            table = np.zeros(int(codes.max(initial=-1)) + 2, dtype=np.int64)
            table[used] = rng.permutation(used.size)
            new = np.where(codes >= 0, table[codes], -1)
        else:
            new = _within_groups(codes.astype(np.int64), data.codes((self.within,))[:, 0].astype(np.int64), rng)
        width = len(str(int(new.max(initial=0)) + 1))
        categories = tuple(str(i + 1).zfill(width) for i in range(int(new.max(initial=-1)) + 1))
        changed = {self.variable: int((codes >= 0).sum())}
        return Applied(blank.with_codes(self.variable, new.astype(np.int32), categories), changed)

    def _numbers(self, data: Microdata) -> NDArray[np.int32]:
        """The identifier of each record as a number; households that share one in different groups are different ones."""
        household = data.household() if self.variable == data.schema.household_id else None
        return data.codes((self.variable,))[:, 0] if household is None else household.astype(np.int32)

    def promises(self) -> tuple[Promise, ...]:
        """Records that shared an identifier share one, others do not (within the group, if there is one)."""

        def broken(before: Microdata, after: Microdata) -> int:
            names = (self.variable,) if self.within is None else (self.variable, self.within)
            old, new = before.patterns(names), after.patterns(names)
            pairs = int(np.unique(np.stack([old.group, new.group]), axis=1).shape[1])
            return abs(pairs - len(old)) + abs(pairs - len(new))

        return (Promise(f"{self.variable} keeps who belongs together", broken),)


def _within_groups(codes: np.ndarray, group: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Numbers from 0 for the distinct (group, code) pairs, in random order within each group; −1 stays."""
    pairs, place = np.unique(np.stack([group, codes]), axis=1, return_inverse=True)
    valid = pairs[1] >= 0
    order = np.lexsort((rng.random(pairs.shape[1]), ~valid, pairs[0]))
    starts = np.zeros(order.size, dtype=np.int64)
    ordered = pairs[0][order]
    new_group = np.concatenate(([True], ordered[1:] != ordered[:-1])) if order.size else np.zeros(0, dtype=bool)
    starts[new_group] = np.flatnonzero(new_group)
    number = np.empty(order.size, dtype=np.int64)
    number[order] = np.arange(order.size) - np.maximum.accumulate(starts)
    return np.where(valid, number, -1)[place.ravel()]
