# SPDX-License-Identifier: Apache-2.0
"""What a mode of queries promises, point by point: to which attackers, and what is not covered."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ModeGuarantee:
    """For whom it holds, what holds, and what does not; each part is short enough to be read as one point of a list.

    A point may begin with a few words that say what it is about, and a colon.
    """

    attackers: str
    holds: tuple[str, ...] = ()
    not_covered: tuple[str, ...] = ()

    def __str__(self) -> str:
        points = [f"- {point}" for point in self.holds]
        left = ["Not covered:", *(f"- {point}" for point in self.not_covered)] if self.not_covered else []
        return "\n".join([self.attackers, *points, *left])
