"""Which attack each mode's guarantee covers. Where it does not, the reason; a success there is no defect but known."""

MODES = ("open", "exact", "simulatable", "camouflage", "analysis", "private")

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
    ("linear reconstruction", "analysis"): "answers are near the truth: many different universes narrow totals",
    ("differencing at depth", "analysis"): "answers are near the truth: many different universes narrow totals",
}


def covered(attack: str, mode: str) -> bool:
    """Whether the mode promises that the attack fails."""
    return mode != "open" and (attack, mode) not in NOT_COVERED
