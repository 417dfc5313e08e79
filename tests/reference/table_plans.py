"""A table plan as the text of a plan file, to read it back."""

from typing import Any

import tomli_w

from reticent.data.parameters import to_plain
from reticent.data.plan import PLAN_VERSION
from reticent.data.table_plan import AttackSection, OutputSection, TablePlan


def table_plan_to_toml(plan: TablePlan) -> str:
    """The plan as TOML text that `read_table_plan` reads back to an equal plan."""
    sections = [to_plain(section) for section in plan.tables]
    protect = to_plain(plan.protect)
    protect.update(protect.pop("options", {}))
    table: dict[str, Any] = {
        "version": PLAN_VERSION,
        "data": to_plain(plan.data),
        "table": sections if len(sections) > 1 else sections[0],
    }
    if protect:
        table["protect"] = protect
    if plan.attack != AttackSection():
        table["attack"] = to_plain(plan.attack)
    if plan.output != OutputSection():
        table["output"] = to_plain(plan.output)
    if plan.ledger is not None:
        table["ledger"] = to_plain(plan.ledger)
    return tomli_w.dumps(table)
