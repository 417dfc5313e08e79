# SPDX-License-Identifier: Apache-2.0
"""What was released, value by value and with its notes: asked again, it is given again as it was, word for word."""

from collections.abc import Iterable, Sequence
from typing import Any

from reticent.queries.refusals import HIDDEN

Key = tuple[str, str, str]
"""Whose history a value belongs to, the records (or the condition) that it is about, and the statistic."""


class Given:
    """The values that have been released, by what they are about."""

    def __init__(self) -> None:
        self._values: dict[Key, tuple[Any, tuple[str, ...]]] = {}

    def clear(self) -> None:
        """Forget everything, before the ledger is worked through again."""
        self._values.clear()

    def take(self, keys: Iterable[Key], values: Iterable[Any], notes: Iterable[str]) -> None:
        """Remember the values of a row, without those that are hidden, and what was noted beside them.

        That other values of the answer were hidden says nothing of these.
        """
        own = tuple(note for note in notes if note != HIDDEN)
        for key, value in zip(keys, values, strict=True):
            if value is not None:
                self._values[key] = (value, own)

    def again(self, keys: Sequence[Key]) -> tuple[Any, ...] | None:
        """The values of a row, if each of them was released."""
        if any(key not in self._values for key in keys):
            return None
        return tuple(self._values[key][0] for key in keys)

    def notes(self, keys: Iterable[Key]) -> tuple[str, ...]:
        """What was noted beside these values, each sentence once."""
        return tuple(dict.fromkeys(note for key in keys for note in self._values[key][1]))

    def as_before(self, keys: Sequence[Key], values: Sequence[Any]) -> tuple[Any, ...]:
        """The values of a row, with every one that was released before as it was then."""
        return tuple(
            self._values[key][0] if key in self._values else value for key, value in zip(keys, values, strict=True)
        )
