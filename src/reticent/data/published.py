# SPDX-License-Identifier: Apache-2.0
"""Publishable types: what may leave, with no way back to the confidential data.

Writers, public reports and servers take only these. A `MaskedFile` can be made only by `release_file`, which drops
direct identifiers and everything the schema knows that users of the file may not (levels, priorities, guesses, codes that
no published record has: where a code list or tree follows from the data, such a code is one that was blanked). Its columns
share no memory with the confidential ones: a frame that is pickled or saved takes its whole buffers along.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from reticent.base.doors import doors
from reticent.base.errors import NotProtectedError
from reticent.data.mapping import Mapped
from reticent.data.microdata import Microdata
from reticent.data.schema import DEFAULT_PRIORITY, Role, Schema, Variable
from reticent.frames.frame import Frame


@doors
@dataclass(frozen=True)
class MaskedFile:
    """A protected file that may be published; `held_back` says why one may not be, and no writer takes it then.

    `recodings` say which old values its new codes stand for, as far as that may leave with it (see `data.mapping`).
    """

    frame: Frame = field(repr=False)
    schema: Schema
    held_back: str = field(default="", repr=False, compare=False)
    recodings: tuple[Mapped, ...] = field(default=(), repr=False, compare=False)

    def __repr__(self) -> str:
        return f"<MaskedFile {self.n_records} records × {len(self.schema.variables)} variables>"

    @property
    def n_records(self) -> int:
        """Number of records."""
        return self.frame.n_records

    def require_cleared(self) -> None:
        """Refuse a file whose verdict does not let it go."""
        if self.held_back:
            raise NotProtectedError(self.held_back, exposed=1)

    def to_native(self) -> Any:
        """The file as the kind of dataframe that the data came in; an error if it is held back."""
        self.require_cleared()
        return self.frame.native()


def release_file(
    data: Microdata, *, held_back: str = "", recodings: Callable[[Schema], tuple[Mapped, ...]] = lambda schema: ()
) -> MaskedFile:
    """Make masked data publishable: identifiers and respondent ids go, and so does what only the protector may know.

    `recodings` gives the mapping of the variables in the published schema.
    """
    secret_names = data.schema.with_role(Role.IDENTIFIER, Role.ENTITY)
    kept = data.without(secret_names)
    public = published_schema(kept.schema, lambda name: kept)
    return MaskedFile(kept.frame.detached(), public, held_back, recodings(public))


def published_schema(schema: Schema, holds: Callable[[str], Microdata]) -> Schema:
    """What users of a file may know of its variables; `holds` gives, for a variable, data with all its published values."""
    variables = schema.variables
    if schema.household_id is None:  # nothing says any more who lives together
        variables = tuple(_without_household(variable) for variable in variables)
    shown = (_with_shown_codes(holds, variable) for variable in variables)
    return Schema(tuple(replace(v, level=0, priority=DEFAULT_PRIORITY, guessed=()) for v in shown))


def _with_shown_codes(holds: Callable[[str], Microdata], variable: Variable) -> Variable:
    """The variable with the part of its missing codes, its code list and its tree that the published records use."""
    if variable.missing and "missing" in variable.guessed:
        variable = replace(variable, missing=_shown_missing(holds(variable.name), variable))
    if not variable.codes and variable.hierarchy is None:
        return variable
    encoded = holds(variable.name).encoded(variable.name)
    used = np.unique(encoded.codes)
    present = {encoded.categories[int(code)] for code in used if code >= 0}
    listed = present | set(variable.missing)
    places = [at for at, code in enumerate(variable.codes) if code in listed]
    return replace(
        variable,
        codes=tuple(variable.codes[at] for at in places),
        labels=tuple(variable.labels[at] for at in places) if variable.labels else (),
        hierarchy=None if variable.hierarchy is None else variable.hierarchy.only(present),
    )


def _shown_missing(data: Microdata, variable: Variable) -> tuple[str, ...]:
    """The missing codes that a record shows, and the first, which stands for what is blank.

    Others come from the records if they were guessed; a range of missing codes stands for those of it that occur.
    """
    first, *others = variable.missing
    empty = int(data.frame.is_missing(variable.name, ()).sum())
    return (first, *(code for code in others if int(data.frame.is_missing(variable.name, (code,)).sum()) > empty))


def _without_household(variable: Variable) -> Variable:
    role = variable.role
    if role is Role.HOUSEHOLD_VARIABLE:
        role = Role.KEY if variable.is_key else Role.OTHER
    return replace(variable, household=False, role=role)
