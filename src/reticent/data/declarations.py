# SPDX-License-Identifier: Apache-2.0
"""What each method tells by its own rules: one registry per kind of release, filled by decorators."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

Key = TypeVar("Key")
Reading = TypeVar("Reading", bound=Callable[..., object])


@dataclass(frozen=True)
class Declared(Generic[Reading]):
    """How a method is read, what it tells in words, and what it may tell beyond that (empty: nothing)."""

    read: Reading
    tells: str
    beyond: str = ""


class Declarations(dict[Key, Declared[Reading]]):
    """The declaration of each method; a method without one cannot be released together with others."""

    def declares(self, *keys: Key, tells: str, beyond: str = "") -> Callable[[Reading], Reading]:
        """Register a function as the declaration of some methods."""

        def take(read: Reading) -> Reading:
            for key in keys:
                self[key] = Declared(read, tells, beyond)
            return read

        return take
