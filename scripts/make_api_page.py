# SPDX-License-Identifier: Apache-2.0
"""Write docs/reference/api.md: every public name, grouped, with what its docstring says. Run after a change of names."""

import inspect
from pathlib import Path

import reticent

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "api.md"
GROUPS = {
    "Load and describe": ("load", "describe", "Data", "Risk"),
    "Files": ("FileRun", "LargeData", "MaskedFile", "RiskSection", "Exploration", "ExploreSettings", "combine"),
    "Tables": ("Tabulation", "TableRun", "PublishedTable", "audit", "PublishedAudit", "DimensionSpec", "BoundsOptions", "Entry"),
    "Queries": (
        "open_database", "attack_database", "ProtectedDatabase", "Policy", "Bounds", "ask_for", "Term", "Answer", "Refusal",
    ),
    "Ledgers": ("open_ledger", "ReleaseLedger"),
    "What variables mean": ("Schema", "Variable", "Role", "Kind", "Hierarchy", "read_schema", "write_schema"),
    "Errors": ("ReticentError", "ParameterError", "PlanError", "DataError", "InfeasibleError", "NotProtectedError"),
}  # fmt: skip
FACADES = {
    "mask": "Masking methods", "methods": "Methods for tables", "rules": "Safety rules of tables", "games": "Games of privacy",
}  # fmt: skip


def page() -> str:
    """The page as text."""
    lines = [
        "# Python interface", "",
        "Everything public is imported from `reticent` or from its modules `mask`, `methods`, `rules` and `games`.",
    ]  # fmt: skip
    for title, names in GROUPS.items():
        lines += ["", f"## {title}", "", "```{eval-rst}", *(line for name in names for line in _entry(name)), "```"]
    for facade, title in FACADES.items():
        lines += ["", f"## {title}: `reticent.{facade}`", "", "```{eval-rst}", f".. automodule:: reticent.{facade}"]
        lines += ["   :members:", "   :imported-members:", "```"]
    return "\n".join(lines) + "\n"


def _entry(name: str) -> list[str]:
    found = getattr(reticent, name)
    if not inspect.isclass(found):
        return [f".. autofunction:: reticent.{name}"]
    kind = "exception" if issubclass(found, Exception) else "class"
    return [f".. auto{kind}:: reticent.{name}", "   :members:"]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
