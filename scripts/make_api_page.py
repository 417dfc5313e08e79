# SPDX-License-Identifier: Apache-2.0
"""Write docs/reference/api.md: every public name with what its docstring says and an example. Run after a change of names."""

import importlib
import inspect
import json
from pathlib import Path
from typing import Any

from api_examples import EXAMPLES, FIRST

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "api.md"
GROUPS = {
    "Load and describe": ("load", "describe", "Data", "Risk"),
    "Files": ("FileRun", "LargeData", "MaskedFile", "RiskSection", "Exploration", "ExploreSettings", "combine"),
    "Tables": ("Tabulation", "TableRun", "PublishedTable", "audit", "PublishedAudit", "DimensionSpec", "BoundsOptions", "Entry"),
    "Queries": (
        "Policy", "Bounds", "open_database", "ProtectedDatabase", "Answer", "Refusal", "ask_for", "Term", "attack_database",
    ),
    "Ledgers": ("open_ledger", "ReleaseLedger"),
    "What variables mean": ("Schema", "Variable", "Role", "Kind", "Hierarchy", "write_schema", "read_schema"),
    "Errors": ("ReticentError", "ParameterError", "PlanError", "DataError", "InfeasibleError", "NotProtectedError"),
}  # fmt: skip
FACADES = {
    "mask": "Masking methods", "methods": "Methods for tables", "rules": "Safety rules of tables", "games": "Games of privacy",
}  # fmt: skip


def page() -> str:
    """The page as text."""
    lines = [
        "# Python interface", "",
        "Everything public is imported from `reticent` or from its modules `mask`, `methods`, `rules` and `games`. The examples",
        "continue one another; `people.csv` and `firms.csv` are what `reticent demo` writes, `secret.key` is made by",
        "`reticent new-secret secret.key`.",
        "", "```python", FIRST.rstrip(), "```",
    ]  # fmt: skip
    for title, names in GROUPS.items():
        lines += ["", f"## {title}", *(line for name in names for line in _entry("reticent", name, EXAMPLES[name]))]
    for facade, title in FACADES.items():
        module = importlib.import_module(f"reticent.{facade}")
        lines += ["", f"## {title}: `reticent.{facade}`", "", (module.__doc__ or "").strip()]
        for name in module.__all__:
            shown = EXAMPLES.get(f"{facade}.{name}") or _call(facade, getattr(module, name))
            lines += _entry(f"reticent.{facade}", name, shown)
    return "\n".join(lines) + "\n"


def _entry(module: str, name: str, example: str) -> list[str]:
    """What the docstrings say, then the example."""
    found = getattr(importlib.import_module(module), name)
    if not inspect.isclass(found):
        listed = [f".. autofunction:: {module}.{name}"]
    else:
        kind = "exception" if issubclass(found, Exception) else "class"
        listed = [f".. auto{kind}:: {module}.{name}", "   :members:"]
    shown = ["", "```python", example.rstrip(), "```"] if example else []
    return ["", "```{eval-rst}", *listed, "```", *shown]


def _call(facade: str, found: Any) -> str:
    """The first example of a method or a rule as a call; what others derive from has none."""
    if inspect.isabstract(found) or found.__name__ == "Rule":
        return ""
    options = ", ".join(f"{name}={_text(value)}" for name, value in found.examples[0].items())
    return f"{facade}.{found.__name__}({options})"


def _text(value: Any) -> str:
    """A value as the formatter writes it."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_text, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_text(name)}: {_text(one)}" for name, one in value.items()) + "}"
    return repr(value)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
