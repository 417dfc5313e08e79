# SPDX-License-Identifier: Apache-2.0
"""How long work reports how far it is, and how it is stopped."""

from typing import Protocol


class Progress(Protocol):
    """Called with the share done in [0, 1] and a few words; it may raise `Cancelled`."""

    def __call__(self, share: float, what: str = "") -> None: ...


def silent(share: float, what: str = "") -> None:
    """The default: say nothing, never cancel."""


def part(progress: Progress, start: float, end: float) -> Progress:
    """The progress of a sub-task that runs from `start` to `end` of the whole."""

    def within(share: float, what: str = "") -> None:
        progress(start + (end - start) * share, what)

    return within
