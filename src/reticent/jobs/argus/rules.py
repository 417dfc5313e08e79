# SPDX-License-Identifier: Apache-2.0
"""The safety rules of a batch line."""

from collections.abc import Sequence

from reticent.io.argus_batch import Call
from reticent.tables.rules import PQ, Dominance, Manual, PPercent, Request, Rule, Threshold, Unit, Zero


def rules_of_calls(calls: Sequence[Call], *, holdings: bool) -> tuple[Rule, ...]:
    """The safety rules of a batch line: the first two P and NK are for records, the next two for holdings."""
    rules: list[Rule] = []
    seen: dict[str, int] = {}
    weighted = any(call.name == "WGT" and call.numbers[0] > 0 for call in calls)
    for call in calls:
        place = seen[call.name] = seen.get(call.name, 0) + 1
        by_holding = place > (2 if call.name in ("P", "NK") else 1)
        unit: Unit = "respondent" if by_holding or not holdings else "record"
        rule = _rule(call, unit, weighted)
        if rule is not None:
            rules.append(rule)
    return tuple(rules)


def _rule(call: Call, unit: Unit, weighted: bool) -> Rule | None:
    numbers = call.numbers
    if call.name == "P" and numbers[0] > 0:
        if len(numbers) == 3:
            return PQ(p=numbers[0], q=numbers[1], coalition=int(numbers[2]), unit=unit)
        return PPercent(p=numbers[0], coalition=int(numbers[1]) if len(numbers) > 1 else 1, unit=unit)
    if call.name == "NK" and numbers[0] > 0 and numbers[1] > 0:
        return Dominance(n=int(numbers[0]), k=numbers[1], unit=unit)
    if call.name == "FREQ" and numbers[0] > 0:
        return Threshold(minimum=int(numbers[0]), protection=numbers[1], weighted=weighted, unit=unit)
    if call.name == "ZERO":
        return Zero(range=numbers[0], unit=unit)
    if call.name == "REQ" and any(numbers[:3]):
        return Request(
            percent1=numbers[0], percent2=numbers[1], minimum=int(numbers[2]), protection=numbers[3], unit=unit
        )
    return Manual(protection=numbers[0]) if call.name == "MAN" else None
