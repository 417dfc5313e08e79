# SPDX-License-Identifier: Apache-2.0
"""Draws and upgrades: a plan that names no `streams` is held to the version that its last run recorded in its summary."""

import json
from pathlib import Path
from typing import Any, Protocol

from reticent.base.errors import PlanError
from reticent.base.randomness import FIRST_STREAMS, STREAM_VERSION


class Drawing(Protocol):
    """The section `[data]` of a plan that may draw."""

    @property
    def secret(self) -> str | int | None:
        """What the draws come from; None: a new secret in every run."""
        ...

    @property
    def streams(self) -> int | None:
        """The version of the random streams that the plan names."""
        ...


def check_recorded_streams(data: Drawing, summary: Path | None) -> None:
    """Refuse to draw again by a given secret where the summary of the last run is of other streams.

    A plan that names its `streams` is checked when it is read. One without a secret draws a new one in every run.
    """
    if not _unnamed(data) or summary is None or not summary.is_file():
        return
    recorded = _recorded(summary)
    if recorded is not None and recorded != STREAM_VERSION:
        raise PlanError(
            f"[data]: {summary.name} is of a run that drew random streams of version {recorded}, and this version of the "
            f"program draws version {STREAM_VERSION}; a second draw beside that release could be averaged with it. Use the "
            f"version that drew it, or write streams = {STREAM_VERSION} under [data] to draw again.",
            option="streams",
        )


def streams_note(data: Drawing, summary: str | None) -> tuple[str, ...]:
    """What a run says where nothing would tell the next version of the program what these draws are of."""
    if not _unnamed(data) or summary is not None:
        return ()
    return (
        f"Which random streams these draws are of is recorded nowhere: write streams = {STREAM_VERSION} under [data], or name a "
        "summary under [output], so that a version of the program that draws others refuses to draw again.",
    )


def _unnamed(data: Drawing) -> bool:
    """Whether runs of a plan repeat their draws, and the plan does not say of which streams."""
    return data.secret is not None and data.streams is None


def _recorded(summary: Path) -> int | None:
    """The version that a summary names; version 0.1.0 named none. None: the file is no summary of a run."""
    try:
        found: Any = json.loads(summary.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    version = found.get("streams", FIRST_STREAMS)
    return version if isinstance(version, int) else None
