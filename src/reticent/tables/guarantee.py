# SPDX-License-Identifier: Apache-2.0
"""What a table method promises, in words: to which of two attackers, and what is not covered.

The arithmetic attacker has what is published, the relations, the method's name and the parameters that bound a change.
The transparent attacker also has our code, all parameters and the rules; data and secret are missing. What the latter
determines was enumerated on small tables (`tests/attacks/transparent.py`, which also checks the rates that stand here).
"""

from dataclasses import dataclass

FAMILY = "all tables of three counts from 0 to 4 and their total, minimum 3"
"""The tables on which the transparent attacker was enumerated."""


HIDDEN = (
    "Against the arithmetic attacker, who has published values and states, relations, known bounds and earlier releases of the "
    "plan, and knows that counts are whole and hidden ones at least 1: no unsafe cell is placed within its protection levels, "
    "and no unsafe sum of hidden cells is known (of two, in tables with few hidden cells of three, and of whole rows). What "
    "respondents alone in a cell find is said apart."
)
"""What suppression keeps."""
NOT_DRAWN = "which cells are hidden is chosen without the secret"


@dataclass(frozen=True)
class Rate:
    """Unsafe counts that the transparent attacker determines, of those behind all outputs that were enumerated.

    A method that draws has more outputs than were seen: `secrets` says with how many secrets each table was protected
    (0: nothing is drawn, so all outputs were seen).
    """

    determined: int
    unsafe: int
    secrets: int = 0

    def __str__(self) -> str:
        drawn = f" behind the outputs of {self.secrets} secrets each" if self.secrets else ""
        return f"{self.determined} of {self.unsafe} unsafe counts{drawn}"


@dataclass(frozen=True)
class Guarantee:
    """What holds against the arithmetic attacker for a table without exposed cells, and the transparent one's rate."""

    arithmetic: str
    rate: Rate
    why: str

    @property
    def transparent(self) -> str:
        """What the transparent attacker determines; no method is certified beyond the enumerated tables."""
        found = f"on {FAMILY}, {self.rate} are determined"
        if self.rate.determined:
            return f"Not for the transparent attacker: {self.why}; {found}. Larger tables are not certified."
        return f"For the transparent attacker nothing is promised beyond what was enumerated: {found}."

    def short(self) -> str:
        """One line for a terminal."""
        transparent = f"{self.rate.determined} of {self.rate.unsafe} unsafe counts determined on small tables"
        if self.rate.determined:
            return f"Judged for the arithmetic attacker; not for the transparent attacker ({transparent})."
        return f"Judged for the arithmetic attacker; the transparent attacker is enumerated on small tables only ({transparent})."

    def __str__(self) -> str:
        return f"{self.arithmetic} {self.transparent}"
