# SPDX-License-Identifier: Apache-2.0
"""Suppression: the reference problems (JJ files), always with the full audit. They are in the folder of real data,
RETICENT_SHARED (../shared by default); without it nothing is measured.
"""

import os
from pathlib import Path
from typing import Any

from benchmarks.harness import Entry
from reticent.io.jj import read_jj
from reticent.tables.attack import audit
from reticent.tables.problem import SuppressionProblem
from reticent.tables.suppression import Optimal, Suppression

ROOT = Path(__file__).resolve().parents[1]
PROBLEMS = ("targus", "table8", "tau_simple2d", "rtau_turnover_act_size")
OPEN = ("table7", "table1", "hier13", "hier133a")


def _shared() -> Path | None:
    folder = Path(os.environ.get("RETICENT_SHARED", ROOT.parent / "shared")) / "data" / "csp"
    return folder if folder.is_dir() else None


def _prove(item: tuple[SuppressionProblem, float]) -> Suppression:
    return Optimal().protect(item[0], time_limit=item[1])


def quality(item: tuple[SuppressionProblem, float], found: Suppression) -> str:
    problem = item[0]
    exposed = audit(problem, found.hidden, mode="certify").n_exposed
    bound = found.bound or 0.0
    gap = 100 * (found.cost - bound) / max(found.cost, 1e-9)
    secondaries = int((found.hidden & ~problem.primary).sum())
    return (
        f"{secondaries} secondaries, cost {found.cost:,.2f}, bound {bound:,.2f}, gap {gap:.2f} %, {exposed} exposed, "
        f"{found.status}"
    )


def entries() -> list[Entry]:
    """All comparisons for which there is data."""
    found: list[Entry] = []
    folder = _shared()
    for name in (*PROBLEMS, *OPEN) if folder else ():
        path: Path = folder / f"{name}.jj"  # type: ignore[operator]
        cells = read_jj(path).n_cells
        limit = 60.0 if name in PROBLEMS else 300.0

        def prepare(_: int, path: Path = path, limit: float = limit) -> Any:
            return read_jj(path), limit

        found.append(
            Entry(
                f"optimal on {name}",
                (cells,),
                prepare,
                _prove,
                size_unit="cells",
                repeat=1,
                quality=quality,
                warm_up=False,
            )
        )
    return found
