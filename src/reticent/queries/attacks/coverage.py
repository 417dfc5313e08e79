# SPDX-License-Identifier: Apache-2.0
"""Which attack each mode's guarantee covers. Where it does not, the reason; a success there is no defect but known."""

_DIFFERENCE = (
    "the difference of two answers is the true one plus the noise of both, which is seldom but sometimes small"
)
_MANY_SETS = "every set has noise of its own, and over many different sets it averages out"

# (attack, mode) -> why the mode's guarantee does not promise that the attack fails
NOT_COVERED: dict[tuple[str, str], str] = {
    (
        "denial leaks",
        "exact",
    ): "refusals depend on values (dominance, known bounds); `simulatable` is the mode without it",
    (
        "error oracle",
        "camouflage",
    ): "which records a condition selects is taken as known, and empty sets have no interval",
    **{
        (attack, "cell-key"): _DIFFERENCE
        for attack in ("tracker", "collusion", "insider", "weights fingerprint", "version differencing")
    },
    **{(attack, "cell-key"): _MANY_SETS for attack in ("differencing at depth", "padding", "linear reconstruction")},
    (
        "syntactic variants",
        "private",
    ): "another condition pays and has noise of its own, even for the same records: only the budget bounds what all tell",
    (
        "error oracle",
        "cell-key",
    ): "nobody is counted as 0 without noise; a count above 0 reveals that somebody is there",
}


def covered(attack: str, mode: str) -> bool:
    """Whether the mode promises that the attack fails."""
    return mode != "open" and (attack, mode) not in NOT_COVERED
