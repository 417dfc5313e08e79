# SPDX-License-Identifier: Apache-2.0
"""What a report says of a file that SAFE made: its tables before and after, the recount, and what the attacks find."""

from collections.abc import Mapping
from typing import Any

from reticent.base.words import number
from reticent.microdata.result import FileResult
from reticent.report.page import Block, Facts, Rows, Text

SHOWN = 40


def safe_blocks(result: FileResult) -> tuple[Block, ...]:
    """The blocks of the step `safe`; none where the plan has no such step."""
    found = [step.facts for step in result.steps if step.method == "safe"]
    return () if not found else _blocks(found[-1])


def _blocks(facts: Mapping[str, Any]) -> tuple[Block, ...]:
    search, certificate, largest = facts["search"], facts["certificate"], facts["largest deviation"]
    return (
        Text(facts["guarantee"]),
        Facts(
            (
                ("combinations", f"{_n(facts['combinations']['before'])} → {_n(facts['combinations']['after'])}"),
                ("of them in 1 or 2 records", f"{_n(facts['combinations']['in 1 or 2 records'])} → 0"),
                ("records with other values", _n(facts["records changed"])),
                ("largest deviation, one variable", _n(largest["single"])),
                ("largest deviation, crossed", _n(largest["crossed"])),
                ("mean deviation", number(facts["mean deviation"])),
                ("search", f"{search['ended']}, after {_n(search['steps'])} steps ({search['to repeat']} repeats it)"),
            )
        ),
        Facts(tuple((f"recount: {name}", _plain(value)) for name, value in certificate.items())),
        _tables(facts, controlled=True),
        _tables(facts, controlled=False),
        Rows(
            ("true count", "largest deviation"),
            tuple(facts["other tables by true count"].items()),
            "Tables that are not controlled, by the size of their cells.",
        ),
        *_attack(facts["attack"]),
    )


def _tables(facts: Mapping[str, Any], *, controlled: bool) -> Rows:
    """The tables that deviate most come first."""
    rows = [row for row in facts["tables"] if row["controlled"] is controlled]
    rows.sort(key=lambda row: (-row["largest"], -row["mean"]))
    caption = "Controlled tables." if controlled else "Tables that are not controlled (all, or a drawn choice)."
    return Rows(
        ("table", "cells", "largest deviation", "mean deviation"),
        tuple((" × ".join(row["variables"]), row["cells"], row["largest"], row["mean"]) for row in rows[:SHOWN]),
        caption,
    )


def _attack(attack: Mapping[str, Any]) -> tuple[Block, ...]:
    presence, unique = attack["presence"], attack["uniqueness"]
    return (
        Text(
            f"Presence: {_n(presence['shown'])} of {_n(presence['true uniques'])} combinations that one record has are shown; "
            f"{presence['meaning']}."
        ),
        Text(
            f"Uniqueness: of {_n(unique['published counts of 3'])} published counts of 3, "
            f"{_n(unique['that stand for one record'])} stand for one record and "
            f"{_n(unique['that stand for two records'])} for two; nothing in the file says which."
        ),
        Rows(
            ("value of", "read off before", "rightly after", "wrongly after"),
            tuple(tuple(row.values()) for row in attack["attribute"]),
            "Records whose value somebody who knows all their other values can read off: those who fit show one value only.",
        ),
    )


def _n(value: Any) -> str:
    return number(value)


def _plain(value: Any) -> str:
    return (
        ", ".join(f"{name} {number(size)}" for name, size in value.items())
        if isinstance(value, dict)
        else number(value)
    )
