# SPDX-License-Identifier: Apache-2.0
"""What attackers find who aim at one step: the register, the method of blanking, rows that synthesis gives back, swaps."""

from collections.abc import Callable, Mapping
from typing import Any

from reticent.base.words import number
from reticent.microdata.result import FileResult
from reticent.report.page import Block, Rows

Finding = tuple[str, str]


def step_attack_blocks(result: FileResult) -> tuple[Block, ...]:
    """One line for each attacker of a step; nothing where no step has one of its own."""
    rows = [
        (place, step.method, *finding)
        for place, step in enumerate(result.steps, start=1)
        if step.method in FINDINGS
        for finding in FINDINGS[step.method](step.facts)
    ]
    return (Rows(("step", "method", "attacker", "what they find"), tuple(rows)),) if rows else ()


def _suppression(facts: Mapping[str, Any]) -> list[Finding]:
    found: list[Finding] = []
    register, inferred = facts.get("register"), facts.get("inferred")
    if register is not None:
        found.append(("has the whole register: the keys of all records at once", _by_register(register, facts["k"])))
    if inferred is not None:
        bound = "exactly" if inferred["kind"] == "exact" else "at least (a lower bound; nothing is certified)"
        found.append(
            (
                "knows the method and looks for blanks that can have one value only",
                f"{bound} {number(inferred['inferred'])} of {number(inferred['blanks'])} blanks",
            )
        )
    elif facts.get("transparent_attacker"):
        found.append(("knows the method", str(facts["transparent_attacker"])))
    return found


def _by_register(register: Mapping[str, Any], k: int) -> str:
    if not register["computed"]:
        return f"not computed: {register['why']}"
    return (
        f"{number(register['identified'])} records with one candidate, {number(register['below_k'])} with fewer than "
        f"{number(k)}; the fewest candidates of a record are {number(register['smallest'])}"
    )


def _synthesis(facts: Mapping[str, Any]) -> list[Finding]:
    expected, match = facts["expected"], facts["match"]
    found = [
        (
            "looks records up, as the models expect it",
            f"{_rates(expected['used'], expected['held_back'])}; the difference may be 0.02 and one standard error",
        )
    ]
    if isinstance(match, str) or not match["judged"]:
        why = match if isinstance(match, str) else f"not judged: {match['why']}"
        return [*found, ("looks records up, as measured with half of the file", why)]
    error = f"difference {number(match['excess'])}, standard error {number(match['standard_error'])}"
    return [
        *found,
        (
            "looks records up, as measured with half of the file",
            f"{_rates(match['used'], match['held_back'])}; {error}",
        ),
        (
            "the same, for records that are unique",
            _rates(match["uniques_used"], match["uniques_held_back"]),
        ),
    ]


def _rates(used: float, held_back: float) -> str:
    return f"meets {number(used)} of the records that were used, {number(held_back)} of those that were not"


def _swap(facts: Mapping[str, Any]) -> list[Finding]:
    if not facts.get("rare", facts.get("at_risk")):
        return []
    told = facts.get("area_told", facts.get("value_told"))
    return [("knows that rare records never stay", f"the true value of {number(told)} records: one other is possible")]


def _means(facts: Mapping[str, Any]) -> list[Finding]:
    dominated = facts.get("dominated_means")
    if dominated is None:
        return []
    return [("is the second largest of a group", f"the largest within 10 percent in {number(dominated)} groups")]


FINDINGS: dict[str, Callable[[Mapping[str, Any]], list[Finding]]] = {
    "local-suppression": _suppression,
    "synthesize": _synthesis,
    "swap": _swap,
    "record-swap": _swap,
    "microaggregate": _means,
}
