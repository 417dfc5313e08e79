# SPDX-License-Identifier: Apache-2.0
"""What can go wrong, as one tree.

    ReticentError                 every error a user can cause or meet
    ├── ParameterError            a parameter outside what is allowed            exit 2
    │   └── NoSuchNameError       a name that a public class does not have       exit 2
    ├── PlanError                 a plan, schema or policy file that cannot run  exit 2
    ├── DataError                 data or metadata that do not fit               exit 3
    │   └── AdditivityError       totals that are not the sums of their parts    exit 3
    ├── InfeasibleError           no result can satisfy the demands              exit 4
    ├── NotProtectedError         the attacker found exposed cells or records    exit 5
    │   └── OutOfTime             the time limit passed before anything was safe exit 5
    ├── SolverError               the solver failed or returned nonsense         exit 6
    ├── OptionalDependencyError   an extra is not installed                      exit 7
    └── Cancelled                 the user stopped the work                      exit 130

A message is one sentence or two: what is wrong, where, what is allowed, what to do next. It may name variables and
codes that the metadata define, never a value that occurs only in records. What an error is about (cells, variables, the
place in a file) it carries as data; whoever knows the names of cells, or the line of a file, adds them without touching
the text.
"""

from collections.abc import Callable
from typing import Self, TypeVar

E = TypeVar("E", bound="ReticentError")


class ReticentError(Exception):
    """Base of everything reticent raises on purpose; `exit_code` is what the command line returns.

    `places` are those that the error belongs to, such as a file and its line, from the outside in; the message begins with
    them. What only a caller knows to do next is its `advice`, behind the message. `option` is the parameter or field that alone
    is to blame, if there is one.
    """

    exit_code = 1
    places: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    option: str = ""

    def at(self, place: str, *, instead_of: str = "") -> Self:
        """The error with a further place around those that it has, each said once; or in the place of the outermost one."""
        kept = self.places[1:] if instead_of and self.places[:1] == (instead_of,) else self.places
        self.places = kept if place in kept else (place, *kept)
        return self

    def as_kind(self, kind: type[E], *, named: str = "") -> E:
        """The same error as one of another kind: what is wrong with a parameter is, in a file, wrong with the plan.

        `named` is who the places name already, so that the message does not begin with it again.
        """
        made = kind(self.reason.removeprefix(f"{named}: "))
        made.places, made.advice, made.option = self.places, self.advice, self.option
        return made

    @property
    def reason(self) -> str:
        """The message without its places."""
        return super().__str__()

    def advise(self, sentence: str) -> Self:
        """The error with one more thing to do, which only the caller knows."""
        self.advice = (*self.advice, sentence)
        return self

    def __str__(self) -> str:
        return " ".join((": ".join((*self.places, super().__str__())), *self.advice))


class ParameterError(ReticentError, ValueError):
    """A parameter is outside what is allowed; `option` names it where one alone is to blame."""

    exit_code = 2

    def __init__(self, message: str, *, option: str = "") -> None:
        super().__init__(message)
        self.option = option


class NoSuchNameError(ParameterError, AttributeError):
    """A name that a public class does not have, with what to use instead; for Python it is an `AttributeError`."""


class PlanError(ReticentError):
    """A plan, schema or policy file cannot be understood or cannot run; `option` as of a `ParameterError`."""

    exit_code = 2

    def __init__(self, message: str, *, option: str = "") -> None:
        super().__init__(message)
        self.option = option


class DataError(ReticentError, ValueError):
    """Data or metadata do not fit together; `variables` names the ones concerned."""

    exit_code = 3

    def __init__(self, message: str, *, variables: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.variables = variables


class AdditivityError(DataError):
    """Totals of a finished table are not the sums of their parts; `violations` has one line for every one of them.

    A line names the total, along which dimension its parts stand, and the difference. It is for the table's owner.
    """

    def __init__(self, message: str, *, violations: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.violations = violations


class InfeasibleError(ReticentError):
    """No result satisfies the demands; `cells` cannot be protected, `blocking` ones would help but may not be hidden.

    Where the message lists them it has {cells} and {blocking}: the first of them, by number until somebody names them.
    """

    exit_code = 4
    shown = 10

    def __init__(self, message: str, *, cells: tuple[int, ...] = (), blocking: tuple[int, ...] = ()) -> None:
        super().__init__(message)
        self.cells = cells
        self.blocking = blocking
        self.name: Callable[[int], str] = str

    def named(self, name: Callable[[int], str]) -> Self:
        """The error with cells by their names instead of their numbers."""
        self.name = name
        return self

    def __str__(self) -> str:
        def listed(cells: tuple[int, ...]) -> str:
            return ", ".join(self.name(cell) for cell in cells[: self.shown]) or "none"

        return super().__str__().replace("{cells}", listed(self.cells)).replace("{blocking}", listed(self.blocking))


class NotProtectedError(ReticentError):
    """The attacker found something exposed, so nothing was written; `exposed` says how many."""

    exit_code = 5

    def __init__(self, message: str, *, exposed: int = 0) -> None:
        super().__init__(message)
        self.exposed = exposed


class OutOfTime(NotProtectedError):
    """The time limit passed before a result was found and attacked: what nobody has attacked is not published."""


class SolverError(ReticentError):
    """The solver failed, or returned something that does not hold when checked."""

    exit_code = 6


class OptionalDependencyError(ReticentError, ImportError):
    """A library that is an extra is not installed; the message has the install command."""

    exit_code = 7


class Cancelled(ReticentError):
    """The user stopped the work; nothing was half-written."""

    exit_code = 130
