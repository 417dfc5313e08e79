"""The seam of protection: a mode decides whether and how a query on known record sets is answered.

A mode gets a `Request` (record sets, statistics, the confidential data) and returns a `Decision`: what leaves, why (for
staff), and what the ledger must remember so that the mode can be rebuilt (`remember`). Every mode states in words what
it guarantees and what its refusals and answers leak. Modes are registered by name in `MODES`; what is not registered
does not exist.
"""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

from reticent.base.checks import did_you_mean
from reticent.base.errors import PlanError
from reticent.base.randomness import Secret
from reticent.data.parameters import build
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
    guarantee: ClassVar[str]
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

# mode name in a policy -> "module:function" that makes it from a Setting
MODES: dict[str, str] = {
    "analysis": "reticent.queries.analysis.mode:analysis",
    "camouflage": "reticent.queries.camouflage.mode:camouflage",
    "cell-key": "reticent.queries.noise.cell_key:cell_key",
    "exact": "reticent.queries.audit.mode:exact",
    "open": "reticent.queries.audit.open:open_mode",
    "private": "reticent.queries.noise.private:private",
    "simulatable": "reticent.queries.audit.mode:simulatable",
}


# mode name -> "module:class" of the options that `[policy.options.<mode>]` takes
OPTIONS: dict[str, str] = {
    "analysis": "reticent.queries.analysis.mode:AnalysisOptions",
    "camouflage": "reticent.queries.camouflage.mode:CamouflageOptions",
    "cell-key": "reticent.queries.noise.cell_key:CellKeyOptions",
    "private": "reticent.queries.noise.private:PrivateOptions",
    "simulatable": "reticent.queries.policy:SimulatableOptions",
}


def check_mode(policy: "Policy") -> None:
    """Refuse a mode that does not exist or protects nothing by mistake, and options that no mode knows."""
    mode_factory(policy.mode)
    if policy.mode == "open" and not policy.test:
        raise PlanError(
            "policy: the mode open protects nothing; it is for tests on made-up data, which `test = true` must say."
        )
    if policy.test and policy.mode != "open":
        raise PlanError("policy: test = true goes with the mode open only; leave it out.")
    for name, options in policy.options.items():
        if name not in OPTIONS:
            known = did_you_mean(name, OPTIONS) or f" Modes with options: {', '.join(sorted(OPTIONS))}."
            raise PlanError(f"policy: there are no options for {name!r}.{known}")
        module, _, kind = OPTIONS[name].partition(":")
        build(getattr(importlib.import_module(module), kind), options, owner=f"policy: options {name}")


def mode_factory(name: str) -> ModeFactory:
    """The factory of a registered mode."""
    if name not in MODES:
        known = did_you_mean(name, MODES) or f" Known modes: {', '.join(sorted(MODES))}."
        raise PlanError(f"policy: there is no mode {name!r}.{known}")
    module, _, function = MODES[name].partition(":")
    factory: ModeFactory = getattr(importlib.import_module(module), function)
    return factory
