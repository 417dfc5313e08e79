# SPDX-License-Identifier: Apache-2.0
"""Which secret a table method draws from: one that is kept, or repeated runs would average the draws out."""

from typing import Protocol

from reticent.base.errors import PlanError
from reticent.base.randomness import Secret, Source, release_secret, secret_note

NOTHING_DRAWN = Secret(b"nothing of what is published is drawn")
"""For searches that only break ties: alike in every run, or the patterns of two runs would reveal more than each."""


class Named(Protocol):
    """Anything with the name of a method."""

    @property
    def name(self) -> str:
        """The plan name."""
        ...


def draws(method: object) -> bool:
    """Whether what the method publishes depends on the secret."""
    return bool(getattr(method, "draws", False))


def secret_for(method: Named, given: Source, *, test: bool = False) -> Secret:
    """The secret of a run; a method that draws refuses to run without one, and all refuse one that can be guessed."""
    if given is not None:
        return release_secret(given, test=test, owner=method.name)
    if draws(method):
        raise PlanError(
            f"{method.name}: needs a secret that is kept, so that repeated runs draw the same numbers and cannot be averaged; "
            "give secret (in a plan under [data], on the command line --secret). `reticent new-secret` makes one."
        )
    return NOTHING_DRAWN


def secret_notes(secret: Secret) -> tuple[str, ...]:
    """What the report of a run must say of its secret: that it is for tests only."""
    note = None if secret is NOTHING_DRAWN else secret_note(secret)
    return () if note is None else (note,)
