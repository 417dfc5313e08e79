# SPDX-License-Identifier: Apache-2.0
"""The seam of protection: a mode decides whether and how a query on known record sets is answered.

A mode gets a `Request` (record sets, statistics, the confidential data) and returns a `Decision`: what leaves, why (for
staff), and what the ledger must remember so that the mode can be rebuilt (`remember`). Every mode states in words what
it guarantees and what its refusals and answers leak. Modes are registered by name in `MODES`; what is not registered
does not exist.
"""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, cast, get_type_hints, runtime_checkable

from reticent.base.checks import did_you_mean
from reticent.base.errors import PlanError
from reticent.base.randomness import Secret
from reticent.data.parameters import build
from reticent.queries.guarantee import ModeGuarantee
from reticent.queries.language import Query
from reticent.queries.refusals import Answer, Refusal, StaffReason

if TYPE_CHECKING:
    from reticent.queries.canonical import RecordSet, Universe
    from reticent.queries.policy import Policy

ANSWERED = "answered"


@dataclass(frozen=True)
class Cell:
    """One group of a query: its labels (None: total over that variable) and the records in it."""

    group: tuple[str | None, ...]
    records: "RecordSet"


@dataclass(frozen=True)
class Request:
    """A query that has passed the policy: the record set of each of its cells, in a fixed order.

    `release` is the number that the decision will have in the ledger.
    """

    query: Query
    cells: tuple[Cell, ...]
    user: str
    release: int = 0


@dataclass(frozen=True)
class Decision:
    """What leaves (`result`), why (`staff`), and what the ledger keeps for `Mode.replay` (plain JSON values)."""

    result: Answer | Refusal
    staff: tuple[StaffReason, ...] = ()
    remember: Mapping[str, Any] = field(default_factory=dict)


class Mode(Protocol):
    """How queries on one data set are protected.

    `decide` may change the mode's memory as if its decision were released: the engine writes the decision to the ledger
    before anything leaves and, where that fails, throws the mode away and rebuilds it by `replay`. The same state and
    request must always give the same decision: randomness comes only from the secret, keyed by record sets.
    """

    name: ClassVar[str]
    guarantee: ClassVar[ModeGuarantee]
    leakage: ClassVar[tuple[str, ...]]
    statistics: ClassVar[frozenset[str]]

    def decide(self, request: Request) -> Decision:
        """Answer or refuse."""
        ...

    def replay(self, request: Request, remember: Mapping[str, Any]) -> None:
        """Remember an earlier decision, as read from the ledger; `ANSWERED` lists the (cell, statistic) with a value."""
        ...


@runtime_checkable
class Restorable(Protocol):
    """A mode whose memory can be stored and taken over, instead of replaying every decision."""

    def rank(self) -> int:
        """How much has been worked out; it only grows."""
        ...

    def state(self) -> tuple[list[list[str]], dict[str, Any]]:
        """Names and arrays."""
        ...

    def restore(self, keys: list[list[str]], arrays: Mapping[str, Any]) -> None:
        """Become the mode whose state this is."""
        ...


@runtime_checkable
class Undoing(Protocol):
    """A mode that can take back its last decision, if that is not given out, instead of replaying all others."""

    def undo(self) -> None:
        """Forget what the last decision released."""
        ...


@runtime_checkable
class Recording(Protocol):
    """A mode that draws something once and for all: the ledger keeps what it was drawn from before anything is answered."""

    to_record: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class Setting:
    """What a mode is made of: the records, the policy, a secret of its own, and what it has had recorded in the ledger."""

    universe: "Universe"
    policy: "Policy"
    secret: Secret
    recorded: tuple[Mapping[str, Any], ...] = ()


ModeFactory = Callable[[Setting], Mode]


@dataclass(frozen=True)
class RegisteredMode:
    """Where a mode is: the module, its factory, and the class of the options that `[policy.options.<mode>]` takes.

    `draws` says that answers depend on the secret's draws, so that a ledger belongs to one version of the streams.
    `hides_codes` says that answers must not tell which codes records have, so that groups are those of declared lists only.
    `in_engine` are the statistics that classes of records are enough for: those that a database in an engine answers.
    """

    module: str
    factory: str
    options: str | None = None
    draws: bool = False
    hides_codes: bool = False
    in_engine: tuple[str, ...] = ()

    def load(self, name: str) -> Any:
        """Something of the module; modes are loaded when they are used, because some need libraries that take long."""
        return getattr(importlib.import_module(self.module), name)


SUMS, SQUARES = ("count", "sum", "avg"), ("variance", "stddev")

# One entry a mode, under its name in a policy, in the order in which pages list them.
MODES: dict[str, RegisteredMode] = {
    "open": RegisteredMode(
        "reticent.queries.audit.open", "open_mode", in_engine=(*SUMS, *SQUARES, "corr", "ratio", "km")
    ),
    "exact": RegisteredMode("reticent.queries.audit.mode", "exact", in_engine=(*SUMS, "km")),
    "simulatable": RegisteredMode(
        "reticent.queries.audit.mode", "simulatable", "SimulatableOptions", in_engine=(*SUMS, *SQUARES, "km")
    ),
    "camouflage": RegisteredMode("reticent.queries.camouflage.mode", "camouflage", "CamouflageOptions", draws=True),
    "analysis": RegisteredMode("reticent.queries.analysis.mode", "analysis", "AnalysisOptions", draws=True),
    "cell-key": RegisteredMode(
        "reticent.queries.noise.cell_key", "cell_key", "CellKeyOptions", draws=True, hides_codes=True, in_engine=SUMS
    ),
    "private": RegisteredMode(
        "reticent.queries.noise.private", "private", "PrivateOptions", draws=True, hides_codes=True, in_engine=SUMS
    ),
}


def options_class(name: str) -> type[Any] | None:
    """The options of a mode, or None for one without."""
    mode = MODES[name]
    return None if mode.options is None else mode.load(mode.options)


def check_mode(policy: "Policy") -> None:
    """Refuse a mode that does not exist or protects nothing by mistake, and options that no mode knows."""
    mode_factory(policy.mode)
    if policy.mode == "open" and not policy.test:
        raise PlanError(
            "the mode open protects nothing; it is for tests on made-up data, which `test = true` must say.",
            option="test",
        ).at("policy")
    if policy.test and policy.mode != "open":
        raise PlanError("test = true goes with the mode open only; leave it out.", option="test").at("policy")
    with_options = [name for name, mode in MODES.items() if mode.options is not None]
    for name, options in policy.options.items():
        if name not in with_options:
            known = did_you_mean(name, with_options) or f" Modes with options: {', '.join(sorted(with_options))}."
            raise PlanError(f"policy: there are no options for {name!r}.{known}")
        build(cast(type[Any], options_class(name)), options, owner=f"policy: options {name}")


def mode_factory(name: str) -> ModeFactory:
    """The factory of a registered mode."""
    if name not in MODES:
        known = did_you_mean(name, MODES) or f" Known modes: {', '.join(sorted(MODES))}."
        raise PlanError(f"policy: there is no mode {name!r}.{known}")
    factory: ModeFactory = MODES[name].load(MODES[name].factory)
    return factory


def mode_class(name: str) -> type[Mode]:
    """The class of a registered mode, which says what it guarantees and leaks."""
    found: type[Mode] = get_type_hints(mode_factory(name))["return"]
    return found
