# SPDX-License-Identifier: Apache-2.0
"""Drafted steps on the page of the plan: asked for, shown with their reasons, and taken in place of the steps that are there."""

from collections.abc import Sequence
from typing import Any

from reticent.base.errors import ReticentError
from reticent.web.environment import shown_name
from reticent.web.parts import Cell, Column, Row, Table
from reticent.web.site import Go, Visit, address
from reticent.web.state import TextState
from reticent.web.toml_text import TomlText
from reticent.web.work import Work
from reticent.workbench import engine
from reticent.workbench.project import Project
from reticent.workbench.steps import title_of

OF_RECORDS = ("map", "points", "rules")
"""Options in which a draft writes codes or numbers that it found in the records."""


def draft_work(visit: Visit[Project]) -> Work | None:
    """The draft for the plan as it is now, if one was asked for."""
    return visit.works.seen(engine.draft, *visit.state.plan_question("file"))


def ask_draft(visit: Visit[Project], state: TextState) -> Go:
    """Have steps drafted."""
    visit.works.ask(
        engine.draft, *visit.state.plan_question("file"), title="Drafting steps and attacking them", again=True
    )
    return Go(address("plan", anchor="draft"))


def draft_facts(work: Work | None, *, values: bool) -> dict[str, Any]:
    """What the page shows of a draft: its steps with their reasons, what the attacks left, and whether it can be taken."""
    if work is None or not work.done:
        return {"drafted": None, "draft_work": work, "draft_error": str(work.error or "") if work else ""}
    found = work.value()
    rows = tuple(
        Row((Cell(str(number)), Cell(shown_name(title_of(step), 80)), Cell(shown_name(reason, 200), muted=True)))
        for number, (step, reason) in enumerate(found["steps"], 1)
    )
    columns = (Column("No.", num=True), Column("Step"), Column("Why"))
    facts = {
        "table": Table("Drafted steps", columns, rows), "held": found["held"],
        "said": f"{_withstood(found)} At most {100 * found['blanks']:.0f} % of the values of a variable are blanked.",
        "takeable": values or not any(name in step for step, _ in found["steps"] for name in OF_RECORDS),
    }  # fmt: skip
    return {"drafted": facts, "draft_work": None, "draft_error": ""}


def _withstood(found: dict[str, Any]) -> str:
    if found["held"]:
        return f"Draft {found['tried']} of {found['drafts']} withstands every attack that the plan asks for."
    return " ".join(
        (f"The best of {found['drafts']} drafts.", *(shown_name(one, 400) for one in found["open"]), found["next"])
    )


def take_draft(visit: Visit[Project], state: TextState) -> Go:
    """Put the drafted steps in the place of those that the plan has; codes and numbers of records wait for "show values"."""
    work, now = draft_work(visit), state.read()
    facts = draft_facts(work, values=visit.show_values)["drafted"]
    if work is None or facts is None:
        raise ReticentError(f"{state.name}: there is no draft for the plan as it is now; press Draft steps again.")
    if not facts["takeable"]:
        raise ReticentError("The drafted steps name codes or numbers of records; press Show values, then take them.")
    text = TomlText(now.text)
    for _ in text.entries("step"):
        text = text.remove("step", 0)
    found = work.value()["steps"]
    for number, (step, _) in enumerate(found):
        text = text.insert("step", number, step)
    state.change(_with_reasons(text, [reason for _, reason in found]), version=visit.sent.get("version"), what="draft")
    return Go(address("plan"))


def _with_reasons(text: TomlText, reasons: Sequence[str]) -> str:
    """The text with a comment above each step."""
    lines = text.text.splitlines(keepends=True)
    for (first, _), reason in reversed(list(zip(text.lines("step"), reasons, strict=True))):
        lines.insert(first - 1, f"# {''.join(sign for sign in reason if sign.isprintable())}\n")
    said = TomlText("".join(lines))
    return said.text if said.table == text.table else text.text
