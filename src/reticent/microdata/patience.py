# SPDX-License-Identifier: Apache-2.0
"""How long a search may take: some seconds, or the number of steps that an earlier search of the same data took."""

from typing import Any

from reticent.base import clock


class Patience:
    """When a search, or several one after another, must end: after some seconds, or after this many steps in all."""

    def __init__(self, seconds: float | None = 60.0, steps: int | None = None) -> None:
        self.limited = seconds is not None or steps is not None
        self._end = float("inf") if seconds is None else clock.now() + seconds
        self._most = steps
        self.steps = 0
        self.cut = False

    def late(self) -> bool:
        """Whether no further step may be taken; one more is counted otherwise."""
        if not self.cut:
            self.cut = clock.now() > self._end if self._most is None else self.steps >= self._most
        self.steps += not self.cut
        return self.cut

    def to_repeat(self) -> dict[str, Any]:
        """What a cut search has to say: the option that ends it at the same place again."""
        return {"repeat": {"steps": self.steps}} if self.cut else {}
