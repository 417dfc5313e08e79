# SPDX-License-Identifier: Apache-2.0
"""Explorations as pages show them, in plain data: the whole lattice of levels, and candidates on a map with their steps."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reticent.base.progress import Progress, silent
from reticent.data.parameters import to_plain
from reticent.data.plan import DataSection
from reticent.io.read import load_source
from reticent.jobs.explore import run_explore_spec
from reticent.microdata.explore_spec import explore_spec_from_table, read_explore_spec
from reticent.microdata.mask import METHODS
from reticent.microdata.mask.generalize import Generalize

__all__ = ["check_explore", "lattice_of", "map_of"]

SHOWN = ("candidate", "risk", "loss", "failed", "not held", "front", "chosen")
"""What pages show of a candidate."""


def lattice_of(
    source: DataSection, folder: Path, keys: tuple[str, ...], k: int, suppression: float, *, progress: Progress = silent
) -> dict[str, Any]:
    """Every node of the lattice: levels above the detail of the file, records in groups below k, share of the detail lost."""
    progress(0.0, "reading")
    data = load_source(source, folder).data
    method = Generalize(keys, k=k, suppression=suppression)
    progress(0.3, "looking at every node")
    nodes = method.lattice(data)
    depths = {name: data.schema[name].hierarchy for name in keys}
    return {
        "keys": list(keys), "records": data.n_records, "allowed": int(suppression * data.n_records + 1e-9),
        "trees": {name: None if tree is None else tree.depth for name, tree in depths.items()},
        "nodes": [{"node": list(node), "unsafe": unsafe, "loss": loss} for node, unsafe, loss in nodes],
    }  # fmt: skip


def map_of(path: Path, *, progress: Progress = silent) -> dict[str, Any]:
    """Measure every candidate of an exploration; each point has the steps that its plan would have."""
    spec = read_explore_spec(path, METHODS)
    steps = {
        one.name: [{"method": step.name, **to_plain(step)} for step in one.steps] for one in spec.candidates
    }  # the steps as a plan writes them
    _, found = run_explore_spec(path, progress=progress)
    rows = [
        {name: row[name] for name in SHOWN} | {"within": point.within(found.limit)}
        for row, point in zip(found.rows(), found.points, strict=True)
    ]
    return {
        "points": [{**row, "steps": steps[str(row["candidate"])]} for row in rows], "most": found.limit, "holds": found.holds,
    }  # fmt: skip


def check_explore(table: Mapping[str, Any], *, owner: str) -> int:
    """Check the text of an exploration; gives its number of candidates."""
    return len(explore_spec_from_table(table, METHODS, owner=owner).candidates)
