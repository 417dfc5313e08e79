"""Which secret a table method draws from: one that is kept, or repeated runs would average the draws out."""

from pathlib import Path
from typing import Protocol

from reticent.base.errors import PlanError
from reticent.base.randomness import Secret, as_secret

NOTHING_DRAWN = Secret(b"nothing of what is published is drawn")
"""For searches that only break ties: alike in every run, or the patterns of two runs would tell more than each."""


class Named(Protocol):
    """Anything with the name of a method."""

    @property
    def name(self) -> str:
        """The plan name."""
        ...


def draws(method: object) -> bool:
    """Whether what the method publishes depends on the secret."""
    return bool(getattr(method, "draws", False))


def secret_for(method: Named, given: "Secret | int | bytes | Path | str | None") -> Secret:
    """The secret of a run; a method that draws refuses to run without one."""
    if given is not None:
        return as_secret(given)
    if draws(method):
        raise PlanError(
            f"{method.name}: needs a secret that is kept, so that repeated runs draw alike and cannot be averaged; give "
            "secret (in a plan under [data], on the command line --secret). `reticent new-secret` makes one."
        )
    return NOTHING_DRAWN
