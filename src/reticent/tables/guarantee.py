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
    "Against the arithmetic attacker, who has the published values and states, the relations, known bounds and earlier "
    "releases of the plan, and knows that counts are whole numbers and hidden ones at least 1, and that no combination of "
    "codes is below 0 of which linked tables made of records show parts (a note says where these are too many to be "
    "judged): no unsafe cell can be placed within its protection levels, and no unsafe sum of hidden cells can be worked "
    "out (sums of two cells and of whole rows; sums of three where few cells are hidden). Sole respondents of a cell are "
    "judged separately. Not covered: longer sums of hidden cells, more respondents who join than `coalition` says, what a "
    "respondent concludes from its part of a cell that it shares, and releases that the plan does not name."
)
"""What suppression keeps."""
NOT_FOLLOWED = (
    " Not covered: respondents who use their own values (not judged), and what other runs publish of the same cells."
)
"""What no method that changes values is judged for."""
NOT_DRAWN = "which cells are hidden is chosen without the secret"


@dataclass(frozen=True)
class Rate:
    """Unsafe counts that the transparent attacker determines, of those behind all outputs that were enumerated.

    Those that are left have several candidates; `width` is how far the largest lies above the smallest one, on average
    over all unsafe counts (0 where one is determined). A method that draws has more outputs than were seen: `secrets` says
    with how many secrets each table was protected (0: nothing is drawn, so all outputs were seen).
    """

    determined: int
    unsafe: int
    width: float
    secrets: int = 0

    def __str__(self) -> str:
        drawn = f" behind the outputs of {self.secrets} secrets each" if self.secrets else ""
        return f"{self.determined} of {self.unsafe} unsafe counts{drawn}"

    @property
    def left(self) -> str:
        """The width that is left, in words."""
        return f"candidates of an unsafe count lie {self.width:g} apart on average"


@dataclass(frozen=True)
class Guarantee:
    """What holds against the arithmetic attacker for a table without exposed cells, and the transparent one's rate."""

    arithmetic: str
    rate: Rate
    why: str

    @property
    def arithmetic_only(self) -> bool:
        """Whether nothing is for the transparent attacker: some value was determined, or nothing is drawn from the secret."""
        return self.rate.determined > 0 or self.rate.secrets == 0

    @property
    def transparent(self) -> str:
        """What the transparent attacker determines; no method is certified beyond the enumerated tables."""
        found = f"on {FAMILY}, {self.rate} are determined, and {self.rate.left}"
        if self.arithmetic_only:
            return f"Not for the transparent attacker: {self.why}; {found}. Larger tables are not certified."
        return f"Against the transparent attacker nothing is promised beyond what was enumerated: {found}."

    def short(self) -> str:
        """One line for a terminal."""
        rate = f"on small tables {self.rate.determined} of {self.rate.unsafe} unsafe counts are determined"
        known = "who also has code and parameters"
        if self.arithmetic_only:
            return f"Judged for the arithmetic attacker; not for the transparent attacker, {known} ({rate})."
        return f"Judged for the arithmetic attacker; the transparent attacker, {known}, was tried out ({rate})."

    def __str__(self) -> str:
        return f"{self.arithmetic} {self.transparent}"
