# SPDX-License-Identifier: Apache-2.0
"""What exploring writes: the steps of a node of the lattice, local recoding, and candidates of them for the map."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reticent.web.toml_text import TomlText
from reticent.workbench.project import Project

MOST_NODES = 5
"""Nodes of the lattice that are measured together."""
LIMIT = 0.05
SAME = {
    "keys": "keys",
    "known": "known",
    "attacks": "attacks",
    "interval_percent": "percent",
    "interval_most": "interval_most",
}
"""What `[risk]` of the plan calls an option, and what `[explore]` calls it: both must judge alike."""


@dataclass(frozen=True)
class Asked:
    """What a lattice was asked for: the keys, the smallest group, the share of records that may be blanked (in per cent)."""

    keys: tuple[str, ...]
    k: int
    share: int

    def of_node(self, node: Sequence[int], depths: Mapping[str, int | None], *, blanks: bool) -> list[dict[str, Any]]:
        """The steps that give a node: recode by level, or leave out a variable without levels, then blank what is left."""
        steps: list[dict[str, Any]] = []
        left = []
        for name, level in zip(self.keys, node, strict=True):
            depth = depths[name]
            if level and depth is None:
                steps.append({"method": "remove-identifiers", "variables": [name]})
                continue
            left.append(name)
            if level and depth is not None:
                steps.append({"method": "recode", "variable": name, "level": depth - level})
        if blanks and left:
            steps.append({"method": "local-suppression", "k": self.k, "keys": left})
        return steps

    def locally(self) -> dict[str, Any]:
        """The step that gives coarser codes only to the records that need them."""
        some = {"suppression": self.share / 100} if self.share else {}
        return {"method": "generalize", "keys": list(self.keys), "k": self.k, **some, "local": True}


def name_of(node: Sequence[int]) -> str:
    """A node as its levels."""
    return "·".join(map(str, node))


def best_nodes(nodes: Sequence[Mapping[str, Any]], allowed: int, looked_at: int) -> list[int]:
    """The safe nodes that lose least, and the one that is looked at."""
    safe = sorted((at for at, one in enumerate(nodes) if one["unsafe"] <= allowed), key=lambda at: nodes[at]["loss"])
    return list(dict.fromkeys([*safe[:MOST_NODES], looked_at]))


def candidates_text(project: Project, asked: Asked, found: Mapping[str, Any], looked_at: int) -> str:
    """An exploration of the best nodes and of local recoding, each after the steps that the plan has now."""
    plan = project.table("file")
    before = [dict(step) for step in plan.get("step", []) if step.get("active", True) is not False]
    before = [{key: value for key, value in step.items() if key != "active"} for step in before]
    risk = plan.get("risk", {})
    settings = {"draws": 1, "fresh": 1, "most_risk": risk.get("most", LIMIT)}
    settings |= {ours: risk[theirs] for theirs, ours in SAME.items() if theirs in risk}
    text = TomlText("version = 1\n").set_section("data", project.source()).set_section("explore", settings)
    made = []
    for at in best_nodes(found["nodes"], found["allowed"], looked_at):
        one = found["nodes"][at]
        steps = asked.of_node(one["node"], found["trees"], blanks=0 < one["unsafe"] <= found["allowed"])
        made.append({"name": f"levels {name_of(one['node'])}", "step": [*before, *steps]})
    made.append({"name": "local recoding", "step": [*before, asked.locally()]})
    for number, one in enumerate(one for one in made if one["step"]):
        text = text.insert("candidate", number, one)
    return text.text
