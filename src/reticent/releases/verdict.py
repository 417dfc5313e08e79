# SPDX-License-Identifier: Apache-2.0
"""What is said about a new release together with all earlier ones."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Outcome(Enum):
    """Whether a release may go out; undecided counts as no."""

    SAFE = "safe"
    EXPOSED = "exposed"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Exposure:
    """A watched sum that would be known too well: which, by whom, and the combination of releases that proves it.

    `combination` has per fact used its release, its number there, and its factor. `upper` says which end is not reached.
    """

    watch: str
    hidden_by: str
    upper: bool
    releases: tuple[str, ...]
    combination: tuple[tuple[str, int, int], ...] = ()
    insider: bool = False
    proved: bool = True

    def sentence(self) -> str:
        """In words."""
        who = "a respondent who knows their own values" if self.insider else "anybody"
        if not self.proved:
            return f"Whether {self.watch} (hidden by {self.hidden_by}) stays unknown could not be settled within the limits."
        *others, last = self.releases or ("what everybody knows",)
        together = f"{', '.join(others)} and {last} together" if others else f"{last} alone"
        end = "upper" if self.upper else "lower"
        return (
            f"{self.watch} (hidden by {self.hidden_by}) would be known too well: from {together} {who} can "
            f"exclude the {end} end of the interval that must stay possible."
        )


@dataclass(frozen=True, eq=False)
class JointVerdict:
    """Safe, exposed or undecided, with what would be exposed; `uncertified` names releases that may reveal more."""

    release: str
    outcome: Outcome
    exposures: tuple[Exposure, ...] = ()
    uncertified: tuple[str, ...] = ()
    trial: Any = field(default=None, repr=False)

    @property
    def safe(self) -> bool:
        """Whether it may be released."""
        return self.outcome is Outcome.SAFE

    def sentence(self) -> str:
        """The verdict in words."""
        if self.safe:
            text = f"{self.release}: safe with all earlier releases; every watched sum stays unknown."
        else:
            text = f"{self.release}: refused. " + " ".join(one.sentence() for one in self.exposures)
        if self.uncertified:
            text += f" Not certified: {', '.join(self.uncertified)} may reveal more than is judged here."
        return text
