# SPDX-License-Identifier: Apache-2.0
"""The verdict on a masked file: one of three states for each attack, and whether the file may leave."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from reticent.base.errors import NotProtectedError, ParameterError

ATTACKS = ("recount", "linkage", "households", "intervals", "weights", "order")
"""Attacks that a plan can ask for."""
ALWAYS = ("recount", "linkage")
"""Attacks that every verdict speaks of, asked for or not."""
DEFAULT_MOST = 0.05
"""The largest risk that is allowed where the plan states none and weights say what a record stands for."""
OWN_WAYS = {
    "weights": "recode further, round the weights or leave them out",
    "order": "let the records be shuffled (leave out keep_order)",
}
"""What to do about attacks that stronger masking of values does not stop."""


class State(StrEnum):
    """What an attack left of a promise; `not judged` never reads as `held`."""

    HELD = "held"
    NOT_HELD = "not held"
    NOT_JUDGED = "not judged"


@dataclass(frozen=True)
class AttackVerdict:
    """One attack: its state, what it found, the limit it was judged by, and whether the plan asks for it."""

    attack: str
    state: State
    asked: bool
    text: str
    value: float | None = None
    limit: float | None = None

    def row(self) -> dict[str, Any]:
        """The verdict as plain data."""
        return {
            "attack": self.attack, "state": str(self.state), "asked": self.asked,
            "value": self.value, "limit": self.limit, "text": self.text,
        }  # fmt: skip


@dataclass(frozen=True)
class FileVerdict:
    """All attacks on a masked file; `accepted` is the reason for releasing it although one was not withstood."""

    attacks: tuple[AttackVerdict, ...]
    accepted: str = ""

    def __repr__(self) -> str:
        return f"<FileVerdict {self.state}: {'; '.join(f'{a.attack} {a.state}' for a in self.attacks)}>"

    def __getitem__(self, attack: str) -> AttackVerdict:
        found = next((one for one in self.attacks if one.attack == attack), None)
        if found is None:
            there = ", ".join(one.attack for one in self.attacks)
            raise ParameterError(f"the verdict has no attack {attack!r}; it has {there}.", option="attack")
        return found

    def __contains__(self, attack: object) -> bool:
        return any(one.attack == attack for one in self.attacks)

    @property
    def asked(self) -> tuple[AttackVerdict, ...]:
        """What the plan asks for."""
        return tuple(one for one in self.attacks if one.asked)

    @property
    def blocking(self) -> tuple[AttackVerdict, ...]:
        """What the plan asks for and the file does not withstand, or was not tried with."""
        return tuple(one for one in self.asked if one.state is not State.HELD)

    @property
    def state(self) -> State:
        """The worst state of what the plan asks for."""
        if any(one.state is State.NOT_HELD for one in self.asked):
            return State.NOT_HELD
        return State.NOT_JUDGED if self.blocking or not self.asked else State.HELD

    @property
    def held(self) -> bool:
        """Whether every attack that the plan asks for was tried and withstood."""
        return self.state is State.HELD

    @property
    def clear(self) -> bool:
        """Held, no other attack that was tried got through, and none that every file should withstand was left open."""
        return self.held and not self.failing_unasked and not self._left_open

    @property
    def failing_unasked(self) -> tuple[str, ...]:
        """Attacks that the plan does not ask for and the file does not withstand."""
        return tuple(one.attack for one in self.attacks if one.state is State.NOT_HELD and not one.asked)

    @property
    def _left_open(self) -> tuple[str, ...]:
        return tuple(
            one.attack
            for one in self.attacks
            if one.attack in ALWAYS and one.state is State.NOT_JUDGED and not one.asked
        )

    @property
    def headline(self) -> str:
        """The state in a few words, with every attack that the plan asks for, each with its own state unless all are held.

        What was not asked for and is open or not held is named, so that it does not read as held.
        """
        asked = ", ".join(one.attack if self.held else f"{one.attack} {one.state}" for one in self.asked) or "nothing"
        failing = f"; not asked for and not held: {', '.join(self.failing_unasked)}" if self.failing_unasked else ""
        rest = f"; not judged: {', '.join(self._left_open)}" if self._left_open else ""
        return f"{self.state} (asked for: {asked}{failing}{rest})"

    @property
    def lets_go(self) -> bool:
        """Whether the file may leave: held, or the risk is accepted."""
        return self.held or bool(self.accepted)

    def require(self) -> None:
        """Refuse a file that may not leave."""
        if self.lets_go:
            return
        found = " ".join(f"{one.attack} is {one.state}: {one.text}." for one in self.blocking)
        raise NotProtectedError(
            f'protect: nothing was written. {found} {self._what_to_do}, or say accept_risk = "reason" in [risk] (in Python: '
            'release(accept_risk="reason")).',
            exposed=len(self.blocking),
        )

    @property
    def _what_to_do(self) -> str:
        """What helps against the attacks that hold the file back; masking does not, where nothing could be judged."""
        broken = {one.attack for one in self.blocking if one.state is State.NOT_HELD}
        ways = [OWN_WAYS[attack] for attack in OWN_WAYS if attack in broken]
        if broken - set(OWN_WAYS):
            ways.insert(0, "mask more strongly")
        if not broken:
            ways.append("see to it that every attack can be judged")
        return " and ".join(ways).capitalize()

    def summary(self) -> dict[str, Any]:
        """The verdict as plain data."""
        return {
            "state": str(self.state),
            "accepted risk": self.accepted or None,
            "attacks": [one.row() for one in self.attacks],
        }
