# SPDX-License-Identifier: Apache-2.0
"""What this installation has: versions, extras, compiled kernels, a solver that solves."""

import importlib.metadata
import platform
import re
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from reticent.base.compiled import compiled, kernel_folder
from reticent.base.version import VERSION
from reticent.solve.highs import solve
from reticent.solve.model import LinearModel, Status

NOT_FOR_USERS = ("all", "dev")


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at. `good` is None where it is only told, not judged; `advice` says what to do."""

    what: str
    found: str
    good: bool | None = None
    advice: str = ""


def examine() -> tuple[Finding, ...]:
    """Look at everything a run depends on; nothing is changed, and no network is used."""
    return (
        Finding("reticent", VERSION),
        Finding("python", f"{platform.python_version()} on {platform.system()} {platform.machine()}", *_tested()),
        *_needed(),
        *_extras(),
        _kernels(),
        _solver(),
    )


def _tested() -> tuple[bool | None, str]:
    return (True, "") if platform.system() == "Linux" else (None, "reticent is tested on Linux only")


def _requirements() -> list[tuple[str, str | None]]:
    """The distributions that ours asks for, each with the extra that brings it."""
    listed = importlib.metadata.requires("reticent") or []
    found = []
    for line in listed:
        name = re.split(r"[\s;<>=!~\[(]", line, maxsplit=1)[0]
        extra = re.search(r"extra\s*==\s*['\"]([\w-]+)['\"]", line)
        found.append((name, extra.group(1) if extra else None))
    return found


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _needed() -> list[Finding]:
    found = [(name, _version(name)) for name, extra in _requirements() if extra is None]
    return [
        Finding(name, version or "missing", version is not None, "" if version else "pip install reticent")
        for name, version in found
    ]


def _extras() -> list[Finding]:
    by_extra: dict[str, list[str]] = {}
    for name, extra in _requirements():
        if extra is not None and extra not in NOT_FOR_USERS and name != "reticent":
            by_extra.setdefault(extra, []).append(name)
    return [_extra(extra, names) for extra, names in sorted(by_extra.items())]


def _extra(extra: str, names: list[str]) -> Finding:
    missing = [name for name in names if _version(name) is None]
    found = ", ".join(f"{name} {_version(name)}" for name in names if name not in missing)
    if not missing:
        return Finding(f"extra {extra}", found, True)
    told = f"without {', '.join(missing)}" if found else "not installed"
    return Finding(f"extra {extra}", told, None, f"pip install 'reticent[{extra}]'")


def _kernels() -> Finding:
    if compiled():
        return Finding("kernels", f"compiled, in {kernel_folder()}", True)
    return Finding("kernels", "not compiled yet", None, "the first run compiles them, which takes up to a minute")


def _solver() -> Finding:
    """Solve max x + y with x + 2y ≤ 4, 0 ≤ x, y ≤ 3: the answer is 3.5."""
    model = LinearModel(
        cost=np.ones(2),
        matrix=sparse.csr_array(np.array([[1.0, 2.0]])),
        row_lower=np.array([-np.inf]),
        row_upper=np.array([4.0]),
        col_lower=np.zeros(2),
        col_upper=np.full(2, 3.0),
        maximise=True,
    )
    found = solve(model)
    good = found.status is Status.OPTIMAL and abs(found.objective - 3.5) < 1e-9
    return Finding("solver", "HiGHS solves" if good else "HiGHS gives a wrong answer", good)
