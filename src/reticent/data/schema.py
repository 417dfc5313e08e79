# SPDX-License-Identifier: Apache-2.0
"""Schema: what each variable of a file means. Built right or not at all; files are read and written in `schema_files`."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, TypeVar

from reticent.base.checks import check_between, check_integer, did_you_mean
from reticent.base.doors import doors, makers
from reticent.base.errors import DataError, ParameterError
from reticent.data.hierarchy import Hierarchy

DEFAULT_PRIORITY = 50.0


class Role(StrEnum):
    """What a variable is for."""

    IDENTIFIER = "identifier"
    KEY = "key"
    SENSITIVE = "sensitive"
    WEIGHT = "weight"
    HOUSEHOLD_ID = "household-id"
    HOUSEHOLD_VARIABLE = "household-variable"
    ENTITY = "entity"
    OTHER = "other"


class Kind(StrEnum):
    """How a variable is measured."""

    NUMERIC = "numeric"
    ORDINAL = "ordinal"
    NOMINAL = "nominal"


ONCE = (Role.WEIGHT, Role.HOUSEHOLD_ID, Role.ENTITY)
LISTS = ("missing", "codes", "labels", "digits", "guessed")
OTHER_WORDS = {
    "quasi-identifier": "key", "quasi": "key", "qi": "key", "direct-identifier": "identifier", "household": "household-id",
    "respondent": "entity", "confidential": "sensitive", "insensitive": "other", "categorical": "nominal", "factor": "nominal",
    "continuous": "numeric", "integer": "numeric", "float": "numeric",
}  # fmt: skip
"""What other programs call roles and kinds: by its letters alone a quasi-identifier, which is a key, would be an identifier."""
Word = TypeVar("Word", bound=StrEnum)


def variable_place(name: object) -> str:
    """The place of an error about a variable."""
    return f"variable {name!r}"


def member(words: type[Word], value: object, *, name: str, owner: str) -> Word:
    """The word of an enumeration, from itself or from its text; anything else is refused, with the nearest word.

    A misspelt role would otherwise be no role at all: an identifier that is written, a key that nobody counts.
    """
    allowed = [word.value for word in words]
    if isinstance(value, words) or (type(value) is str and value in allowed):
        return words(value)
    given = str(value).strip().lower().replace("_", "-").replace(" ", "-")
    known = OTHER_WORDS.get(given)
    near = f" Did you mean {known!r}?" if known in allowed else did_you_mean(given, allowed)
    raise ParameterError(f"{name} must be one of {', '.join(allowed)}, got {value!r}.{near}", option=name).at(owner)


def _code(value: object, name: str, owner: str) -> str:
    """Codes are texts; a number becomes its text, as in schema files."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ParameterError(f"{name} must hold texts or numbers, got {type(value).__name__}.", option=name).at(owner)
    return str(value)


@makers
@dataclass(frozen=True)
class Variable:
    """One variable and what is known of it.

    `level` is the identification level, as in mu-ARGUS: 1 most identifying, 2 more, 3 identifying, 0 not at all.
    `missing` are the codes that mean "not known"; the first is what local suppression writes (none: a null). `codes`
    and `labels` are the code list in its order. `digits` are the widths of the levels where the hierarchy follows
    from the digits of the codes; the tree is then built when the data are there. `priority` is the price of
    suppressing a value. `permanent` says that an identifier never changes: it means the same unit in all versions of the data.
    `guessed` names what was guessed and not declared.
    """

    name: str
    role: Role = Role.OTHER
    kind: Kind = Kind.NOMINAL
    level: int = 0
    missing: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    hierarchy: Hierarchy | None = None
    digits: tuple[int, ...] = ()
    priority: float = DEFAULT_PRIORITY
    start: int | None = None
    length: int | None = None
    decimals: int = 0
    household: bool = False
    permanent: bool = False
    guessed: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        owner = variable_place(self.name)
        self._settle(owner)
        check_integer(self.level, minimum=0, maximum=3, name="level", owner=owner)
        check_between(self.priority, 0, float("inf"), name="priority", owner=owner)
        check_integer(self.decimals, minimum=0, name="decimals", owner=owner)
        if self.labels and len(self.labels) != len(self.codes):
            raise DataError("there must be one label for each code.", variables=(self.name,)).at(owner)
        twice = next((code for code in self.codes if self.codes.count(code) > 1), None) if self.codes else None
        if twice is not None:
            raise DataError(f"code {twice!r} occurs twice in its code list.", variables=(self.name,)).at(owner)
        if any(width < 0 for width in self.digits) or (self.digits and sum(self.digits) == 0):
            raise DataError("digits must be widths of levels, e.g. [2, 1].", variables=(self.name,)).at(owner)
        if self.role is Role.WEIGHT and self.kind is not Kind.NUMERIC:
            raise DataError(f"a weight must be numeric, it is declared {self.kind}.", variables=(self.name,)).at(owner)
        if self.role is Role.WEIGHT and self.missing:
            raise DataError("a weight must not have missing codes.", variables=(self.name,)).at(owner)

    def _settle(self, owner: str) -> None:
        """Make words and lists what they are declared as, or refuse them: "99" as a list would be two codes."""
        if not isinstance(self.name, str) or not self.name:
            raise ParameterError("name must be a text that is not empty.", option="name").at(owner)
        self._put("role", member(Role, self.role, name="role", owner=owner))
        self._put("kind", member(Kind, self.kind, name="kind", owner=owner))
        for name in LISTS:
            value = getattr(self, name)
            if not isinstance(value, tuple | list):
                raise ParameterError(f"{name} must be a list, got {type(value).__name__}.", option=name).at(owner)
            self._put(name, tuple(value) if name == "digits" else tuple(_code(item, name, owner) for item in value))
        for name in ("household", "permanent"):
            value = getattr(self, name)
            if not isinstance(value, bool):
                raise ParameterError(f"{name} must be true or false, got {value!r}.", option=name).at(owner)
        if self.permanent and self.role is not Role.IDENTIFIER:
            raise ParameterError(
                f"permanent is for identifiers, and this variable is declared {self.role}; drop it.", option="permanent"
            ).at(owner)
        if self.hierarchy is not None and not isinstance(self.hierarchy, Hierarchy):
            raise ParameterError(
                f"hierarchy must be a Hierarchy, got {type(self.hierarchy).__name__}.", option="hierarchy"
            ).at(owner)

    def _put(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    @property
    def is_key(self) -> bool:
        """Whether an intruder may know it: a key, or a household variable with an identification level."""
        return self.role is Role.KEY or (self.role is Role.HOUSEHOLD_VARIABLE and self.level > 0)

    @property
    def is_household(self) -> bool:
        """Whether all records of a household must have the same value."""
        return self.household or self.role is Role.HOUSEHOLD_VARIABLE

    def label(self, code: str) -> str:
        """The label of a code, or the code itself."""
        if self.labels and code in self.codes:
            return self.labels[self.codes.index(code)]
        return code


@doors
@dataclass(frozen=True)
class Schema:
    """The variables of a file, in its order."""

    variables: tuple[Variable, ...]

    def __post_init__(self) -> None:
        if isinstance(self.variables, list):
            object.__setattr__(self, "variables", tuple(self.variables))
        if not isinstance(self.variables, tuple) or not all(isinstance(v, Variable) for v in self.variables):
            raise ParameterError("Schema: variables must be a list of Variable, one for each column.")
        seen: set[str] = set()
        for variable in self.variables:
            if variable.name in seen:
                raise DataError(
                    f"variable {variable.name!r} occurs twice; names must differ.", variables=(variable.name,)
                ).at("Schema")
            seen.add(variable.name)
        for role in ONCE:
            names = self.with_role(role)
            if len(names) > 1:
                raise DataError(
                    f"only one variable may have the role {role}, found {' and '.join(map(repr, names))}.",
                    variables=names,
                ).at("Schema")

    def __repr__(self) -> str:
        return f"<Schema {len(self.variables)} variables: {len(self.keys)} keys>"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all variables, in order."""
        return tuple(variable.name for variable in self.variables)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __getitem__(self, name: str) -> Variable:
        for variable in self.variables:
            if variable.name == name:
                return variable
        hint = did_you_mean(name, self.names) or f" Known variables: {', '.join(self.names)}."
        raise DataError(f"Variable {name!r} is not in the schema.{hint}", variables=(name,))

    def require(self, names: Iterable[str], *, owner: str) -> None:
        """Refuse names that the schema does not have, saying who asked."""
        for name in names:
            if name not in self:
                hint = did_you_mean(name, self.names) or f" Known variables: {', '.join(self.names)}."
                raise DataError(f"{owner}: variable {name!r} is not in the schema.{hint}", variables=(name,))

    def with_role(self, *roles: Role) -> tuple[str, ...]:
        """Names of the variables that have one of the roles."""
        wanted = [member(Role, role, name="role", owner="Schema") for role in roles]
        return tuple(variable.name for variable in self.variables if variable.role in wanted)

    @property
    def keys(self) -> tuple[str, ...]:
        """Names of the key variables."""
        return tuple(variable.name for variable in self.variables if variable.is_key)

    @property
    def identifiers(self) -> tuple[str, ...]:
        """Names of the direct identifiers."""
        return self.with_role(Role.IDENTIFIER)

    @property
    def weight(self) -> str | None:
        """Name of the sampling weight."""
        return next(iter(self.with_role(Role.WEIGHT)), None)

    @property
    def household_id(self) -> str | None:
        """Name of the household identifier."""
        return next(iter(self.with_role(Role.HOUSEHOLD_ID)), None)

    @property
    def entity(self) -> str | None:
        """Name of the variable that says which respondent a record belongs to (absent: each record is one)."""
        return next(iter(self.with_role(Role.ENTITY)), None)

    def replace(self, variable: Variable) -> "Schema":
        """The schema with the variable of that name exchanged."""
        self.require((variable.name,), owner="Schema")
        return Schema(tuple(variable if old.name == variable.name else old for old in self.variables))

    def without(self, names: Sequence[str]) -> "Schema":
        """The schema without some variables."""
        self.require(names, owner="Schema")
        return Schema(tuple(variable for variable in self.variables if variable.name not in names))

    def change(self, name: str, **facts: object) -> "Schema":
        """The schema with some facts of one variable changed."""
        return self.replace(replace(self[name], **facts))  # type: ignore[arg-type]


def with_digit_trees(schema: Schema, codes_in: Callable[[str], Sequence[str]]) -> Schema:
    """The schema with the hierarchies that follow from the digits of the codes; `codes_in` has the codes of the records."""
    for variable in schema.variables:
        if variable.digits and variable.hierarchy is None:
            codes = dict.fromkeys([*variable.codes, *codes_in(variable.name)])
            listed = [code for code in codes if code not in variable.missing]
            schema = schema.change(variable.name, hierarchy=Hierarchy.from_digits(listed, variable.digits))
    return schema
