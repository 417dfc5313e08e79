"""Publishable types: what may leave, with no way back to the confidential data.

Writers, public reports and servers take only these. A `MaskedFile` can be made only by `release_file`, which drops
direct identifiers and everything the schema knows that users of the file may not (levels, priorities, guesses).
"""

from dataclasses import dataclass, field, replace
from typing import Any

from reticent.data.microdata import Microdata
from reticent.data.schema import DEFAULT_PRIORITY, Role, Schema, Variable
from reticent.frames.frame import Frame


@dataclass(frozen=True)
class MaskedFile:
    """A protected file that may be published."""

    frame: Frame = field(repr=False)
    schema: Schema

    def __repr__(self) -> str:
        return f"<MaskedFile {self.n_records} records × {len(self.schema.variables)} variables>"

    @property
    def n_records(self) -> int:
        """Number of records."""
        return self.frame.n_records

    def to_native(self) -> Any:
        """The file as the kind of dataframe that the data came in."""
        return self.frame.native()


def release_file(data: Microdata) -> MaskedFile:
    """Make masked data publishable: identifiers and respondent ids go, and so does what only the protector may know."""
    secret_names = data.schema.with_role(Role.IDENTIFIER, Role.ENTITY)
    kept = data.without(secret_names)
    variables = kept.schema.variables
    if kept.schema.household_id is None:  # nothing says any more who lives together
        variables = tuple(_without_household(variable) for variable in variables)
    public = Schema(tuple(replace(v, level=0, priority=DEFAULT_PRIORITY, guessed=()) for v in variables))
    return MaskedFile(kept.frame, public)


def _without_household(variable: Variable) -> Variable:
    role = variable.role
    if role is Role.HOUSEHOLD_VARIABLE:
        role = Role.KEY if variable.is_key else Role.OTHER
    return replace(variable, household=False, role=role)
