# SPDX-License-Identifier: Apache-2.0
"""Where a confidential report comes from: files and their hashes, version, date as given, mark of the secret, duration.

It is in confidential reports only: a hash of a confidential file, or the mark of a secret, would let a reader of a
public page test guesses of them.
"""

from dataclasses import dataclass

from reticent.base.randomness import STREAM_VERSION, Secret
from reticent.base.version import VERSION
from reticent.base.words import number
from reticent.report.page import Block, Facts, Rows, Section, Text

HEADING = "Where this comes from"


@dataclass(frozen=True)
class Provenance:
    """What a job knows of its run; what it does not know is left out of the page."""

    files: tuple[tuple[str, str, str], ...] = ()
    """What a file is (data, schema, plan), its name, and its SHA-256 in hex (empty: not taken)."""
    secret: str = ""
    date: str = ""
    seconds: float | None = None


def secret_mark(secret: Secret) -> str:
    """A short mark by which two runs can be seen to have the same secret; none where the secret could be guessed from it."""
    if secret.weakness is not None:
        return "none: a test secret could be guessed from it"
    return secret.digest("fingerprint", size=8).hex()


def provenance_sections(known: Provenance) -> list[Section]:
    """The last section of a confidential report."""
    facts = [("made by", f"reticent {VERSION}"), ("random streams", f"version {STREAM_VERSION}")]
    facts += [("date, as given", known.date)] if known.date else []
    facts += [("fingerprint of the secret", known.secret)] if known.secret else []
    facts += [] if known.seconds is None else [("duration", f"{number(round(known.seconds, 1))} s")]
    blocks: list[Block] = [Facts(tuple(facts))]
    if known.files:
        rows = tuple((what, name, digest or "not taken") for what, name, digest in known.files)
        blocks.append(Rows(("what", "file", "SHA-256"), rows))
        blocks.append(Text("Hashes and the fingerprint are confidential: with them a guess of the data can be tested."))
    return [Section(HEADING, tuple(blocks))]
