# SPDX-License-Identifier: Apache-2.0
"""A released file as the ledger keeps it: the file itself, the steps that made it, and what each step recorded."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from reticent.base.arrays import Ints
from reticent.base.plain import as_plain
from reticent.data.facts import Facts
from reticent.data.method import MaskingMethod
from reticent.data.microdata import Microdata
from reticent.data.parameters import build, to_plain
from reticent.data.published import MaskedFile
from reticent.data.schema import Kind, Role
from reticent.io.parquet import masked_from_bytes, masked_to_bytes
from reticent.microdata.facts.file import facts_left, seen_of
from reticent.microdata.mask import METHODS
from reticent.microdata.result import ProtectedFile
from reticent.tabulation.ground import GroundedData

LEAST_VALUES = 6
"""With fewer different values, two numbers may rise together by chance, and their order identifies few records."""
UNKNOWN_TO_ATTACKERS = (Role.IDENTIFIER, Role.ENTITY, Role.HOUSEHOLD_ID)


@dataclass(frozen=True, eq=False)
class FileRecipe:
    """A released file and how it was made; `in_order` says that its records are not in an order drawn for it."""

    form = "file"
    file: MaskedFile
    steps: tuple[MaskingMethod, ...]
    recorded: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)
    in_order: bool = False
    relations: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def of(cls, run: ProtectedFile) -> "FileRecipe":
        """The recipe of what a run would publish."""
        done, masked = run.result.steps, run.result.masked
        steps = tuple(build(METHODS[one.method], one.parameters, owner=one.method) for one in done)
        file = MaskedFile(masked.frame, masked.schema)  # whoever accepts a risk may release what is held back
        order = run.attacks.order
        return cls(
            file, steps, tuple(as_plain(dict(one.facts)) for one in done), order is not None and not order.shuffled
        )

    @property
    def variables(self) -> tuple[str, ...]:
        """Everything that the file shows by codes."""
        return tuple(
            v.name
            for v in self.file.schema.variables
            if (v.kind is not Kind.NUMERIC or v.is_key) and v.role not in UNKNOWN_TO_ATTACKERS
        )

    @property
    def responses(self) -> tuple[str, ...]:
        """The numbers that the file shows."""
        return tuple(v.name for v in self.file.schema.variables if v.kind is Kind.NUMERIC and not v.is_key)

    def facts(self, grounded: GroundedData, name: str, classes: Ints | None = None) -> tuple[Facts, ...]:
        """What the file tells of counts, and of sums over each of the `classes` of atoms."""
        seen = seen_of(grounded, self.steps, self.recorded)
        return (facts_left(grounded, self.file, seen, release=name, classes=classes),)

    def to_plain(self) -> dict[str, Any]:
        """The recipe as plain data."""
        return {
            "form": self.form,
            "file": base64.b85encode(masked_to_bytes(self.file)).decode("ascii"),
            "steps": [{"method": step.name, **as_plain(to_plain(step))} for step in self.steps],
            "recorded": list(self.recorded),
            **({"in_order": True} if self.in_order else {}),
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> "FileRecipe":
        """The recipe back from plain data."""
        steps = []
        for number, step in enumerate(plain["steps"], start=1):
            options = dict(step)
            steps.append(build(METHODS[options.pop("method")], options, owner=f"step {number}"))
        file = masked_from_bytes(base64.b85decode(plain["file"]))
        return cls(file, tuple(steps), tuple(plain["recorded"]), plain.get("in_order", False))


def in_step(data: Microdata, one: str, other: str) -> bool:
    """Whether a number rises, or falls, with another in all records, so that whoever sorts by either has the same order."""
    if any(name not in data.schema or data.schema[name].kind is not Kind.NUMERIC for name in (one, other)):
        return False
    pairs = data.numbers((one, other))
    pairs = pairs[~np.isnan(pairs).any(axis=1)]
    if any(len(np.unique(own)) < LEAST_VALUES for own in pairs.T):
        return False
    for sign in (1, -1):
        ordered = np.unique(pairs * (1, sign), axis=0)  # by the first number, then by the second
        if bool((np.diff(ordered[:, 1]) >= 0).all()):
            return True
    return False
