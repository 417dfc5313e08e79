"""Suppression and audit of JJ files: in one file, out one JSON."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.base.checks import check_choice
from reticent.base.errors import DataError, ParameterError
from reticent.base.progress import Progress, part, silent
from reticent.base.randomness import Secret
from reticent.io.atomic import write_text
from reticent.io.jj import read_jj
from reticent.io.places import check_places
from reticent.tables.attack import Audit, audit
from reticent.tables.attack.audit import check_pattern
from reticent.tables.attack.certificate import make_certificate
from reticent.tables.attack.inside import InsideAudit, audit_inside
from reticent.tables.problem import SuppressionProblem
from reticent.tables.reconcile import reconciled
from reticent.tables.suppression import suppression_method


def suppress_jj(
    path: Path,
    *,
    method: str = "heuristic",
    cost: str = "own",
    time_limit: float = 60.0,
    json_out: Path | None = None,
    secret: Secret | None = None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Protect the problem of a JJ file; the answer has suppressed, cost, bound, status, seconds and exposed."""
    chosen = suppression_method(method, cost=cost)
    check_places(() if json_out is None else (json_out,), (path,))
    problem = read_jj(path)
    found = chosen.protect(problem, time_limit=time_limit, secret=secret, progress=part(progress, 0.0, 0.95))
    checked = audit(reconciled(problem, found.hidden), found.hidden, mode="certify", progress=part(progress, 0.95, 1.0))
    answer: dict[str, Any] = {
        "suppressed": np.flatnonzero(found.hidden).tolist(),
        "cost": found.cost,
        "bound": found.bound,
        "status": found.status,
        "seconds": round(found.seconds, 3),
        "exposed": checked.exposed_cells.tolist(),
        "method": method,
        "secondaries": int((found.hidden & ~problem.primary).sum()),
    }
    _write(answer, json_out)
    return answer


def audit_jj(
    path: Path, suppressed: str | list[int], json_out: Path | None = None, *, progress: Progress = silent
) -> dict[str, Any]:
    """Attack a pattern of a JJ file: for each suppressed id low, high, required_low, required_high, exposed."""
    check_places(() if json_out is None else (json_out,), _read_by(path, suppressed))
    problem = read_jj(path)
    hidden = _mask(problem, read_ids(suppressed))
    found = audit(reconciled(problem, hidden), hidden, progress=progress)
    answer = interval_rows(found)
    _write(answer, json_out)
    return answer


def audit_jj_inside(
    path: Path,
    suppressed: str | list[int],
    single: str | list[int],
    *,
    insiders: str = "exact",
    coalition: int = 1,
    progress: Progress = silent,
) -> InsideAudit:
    """What the respondents of cells that have one only (`single`, each a different one) find about other unsafe cells."""
    check_choice(insiders, ("exact", "protect"), name="--insiders", owner="audit")
    problem = read_jj(path)
    hidden = _mask(problem, read_ids(suppressed))
    alone = np.full(problem.n_cells, -1, dtype=np.int64)
    ids = np.flatnonzero(_mask(problem, read_ids(single)))
    alone[ids] = np.arange(len(ids))
    known = replace(reconciled(problem, hidden), respondent=alone)
    return audit_inside(known, hidden, levels=insiders == "protect", coalition=coalition, progress=progress)


def certificate_jj(path: Path, suppressed: str | list[int], out: Path, *, progress: Progress = silent) -> int:
    """Write the certificate of a pattern of a JJ file; how many unsafe cells it could not prove."""
    check_places((out,), _read_by(path, suppressed))
    problem = read_jj(path)
    hidden = _mask(problem, read_ids(suppressed))
    check_pattern(problem, hidden)
    proof = make_certificate(reconciled(problem, hidden), hidden, progress=progress)
    write_text(Path(out), proof.to_text())
    return len(proof.unproved)


def interval_rows(found: Audit) -> dict[str, dict[str, Any]]:
    """For each attacked id low, high, required_low, required_high, exposed (an open end is None).

    The first exposed ids have `revealed_by` too: the relations (number and sum of ids) that prove their interval.
    """
    rows: dict[str, dict[str, Any]] = {
        str(cell): {
            "low": _finite(found.low[k]),
            "high": _finite(found.high[k]),
            "required_low": _finite(found.required_low[k]),
            "required_high": _finite(found.required_high[k]),
            "exposed": bool(found.exposed[k]),
        }
        for k, cell in enumerate(found.cells.tolist())
    }
    for cell, how in found.revelations.items():
        assert found.problem is not None
        words = how.in_words(found.problem.relations)
        rows[str(cell)]["revealed_by"] = [
            {"relation": row, "words": text} for row, text in zip(how.relations, words, strict=True)
        ]
    return rows


def _read_by(path: Path, suppressed: str | list[int]) -> tuple[Path, ...]:
    """The files of an audit: the problem, and the ids if they are in one."""
    return (path, Path(suppressed)) if isinstance(suppressed, str) and suppressed else (path,)


def read_ids(suppressed: str | list[int]) -> list[int]:
    """Ids from a list, from text such as "3,7,12", or from a file (of ids, or the JSON of `suppress`)."""
    if not isinstance(suppressed, str):
        return [int(i) for i in suppressed]
    text = suppressed
    if not re.fullmatch(r"[\d\s,;]*", text):
        try:
            text = Path(suppressed).read_text(encoding="utf-8")
        except OSError as err:
            raise ParameterError(
                "audit: --suppressed must be ids such as 3,7,12 or a readable file of ids or JSON from `suppress`."
            ) from err
    if text.lstrip().startswith("{"):
        try:
            return [int(i) for i in json.loads(text)["suppressed"]]
        except (ValueError, KeyError, TypeError) as err:
            raise DataError("audit: the JSON file of --suppressed has no list of ids under 'suppressed'.") from err
    try:
        return [int(i) for i in re.split(r"[\s,;]+", text.strip()) if i]
    except ValueError as err:
        raise ParameterError("audit: --suppressed must hold whole numbers.") from err


def _mask(problem: SuppressionProblem, ids: list[int]) -> NDArray[np.bool_]:
    wrong = [i for i in ids if not 0 <= i < problem.n_cells]
    if wrong:
        raise ParameterError(f"audit: cell ids go from 0 to {problem.n_cells - 1}, got {wrong[0]}.")
    hidden = np.zeros(problem.n_cells, dtype=bool)
    hidden[ids] = True
    return hidden


def _finite(value: float) -> float | None:
    """Without the noise of floating point far behind the point; an open end is None."""
    return round(float(value), 9) + 0.0 if math.isfinite(value) else None


def _write(answer: dict[str, Any], json_out: Path | None) -> None:
    if json_out is not None:
        write_text(Path(json_out), json.dumps(answer, indent=1) + "\n")
