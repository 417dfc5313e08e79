# SPDX-License-Identifier: Apache-2.0
"""Jobs on JJ files (or on the problems that they hold): suppress, round, adjust, audit, certify."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.base.errors import ParameterError
from reticent.base.progress import Progress, silent
from reticent.base.randomness import Source
from reticent.io.atomic import write_text
from reticent.io.jj import read_ids, read_jj
from reticent.io.places import check_places
from reticent.tables.attack import audit
from reticent.tables.attack.audit import check_pattern
from reticent.tables.attack.certificate import make_certificate
from reticent.tables.attack.inside import InsideAudit, audit_inside
from reticent.tables.attack.verify import Verification, verify_file
from reticent.tables.numbers import AdjustNumbers, ProtectedNumbers, RoundNumbers, interval_rows
from reticent.tables.problem import SuppressionProblem
from reticent.tables.reconcile import reconciled
from reticent.tables.request import Attacker, TableRequest
from reticent.tables.run import run_numbers
from reticent.tables.suppression import suppression_method

__all__ = [
    "AdjustNumbers", "Attacker", "RoundNumbers", "audit_jj", "audit_jj_inside", "certificate_jj", "change_jj",
    "suppress_jj", "verify_certificate",
]  # fmt: skip

Numbers = Path | SuppressionProblem
Ids = str | Sequence[int]


def suppress_jj(
    source: Numbers,
    *,
    method: str = "heuristic",
    cost: str = "own",
    time_limit: float = 60.0,
    secret: Source = None,
    progress: Progress = silent,
) -> ProtectedNumbers:
    """Choose the cells to hide; the summary has suppressed, cost, bound, status, seconds and exposed."""
    chosen = suppression_method(method, cost=cost)
    request = TableRequest(
        numbers=_problem(source), method=chosen, time_limit=time_limit, secret=secret, test_secret=True
    )
    return run_numbers(request, progress=progress)


def change_jj(
    source: Numbers,
    how: RoundNumbers | AdjustNumbers,
    *,
    time_limit: float = 60.0,
    secret: Source = None,
    test_secret: bool = False,
    progress: Progress = silent,
) -> ProtectedNumbers:
    """Round or adjust the numbers, and attack the result jointly."""
    request = TableRequest(
        numbers=_problem(source), method=how, time_limit=time_limit, secret=secret, test_secret=test_secret
    )
    return run_numbers(request, progress=progress)


def audit_jj(source: Numbers, suppressed: Ids, *, progress: Progress = silent) -> dict[str, dict[str, Any]]:
    """Attack a pattern: for each suppressed id low, high, required_low, required_high, exposed."""
    problem, hidden = _pattern(source, suppressed)
    return interval_rows(audit(reconciled(problem, hidden), hidden, progress=progress))


def audit_jj_inside(
    source: Numbers, suppressed: Ids, single: Ids, attacker: Attacker, *, progress: Progress = silent
) -> InsideAudit:
    """What the respondents of cells that have one only (`single`, each a different one) find about other unsafe cells."""
    problem, hidden = _pattern(source, suppressed)
    alone = np.full(problem.n_cells, -1, dtype=np.int64)
    ids = np.flatnonzero(_mask(problem, read_ids(single)))
    alone[ids] = np.arange(len(ids))
    known = replace(reconciled(problem, hidden), respondent=alone)
    return audit_inside(
        known, hidden, levels=attacker.insiders == "protect", coalition=attacker.coalition, progress=progress
    )


def certificate_jj(source: Numbers, suppressed: Ids, out: Path, *, progress: Progress = silent) -> int:
    """Write the certificate of a pattern; how many unsafe cells it could not prove."""
    check_places((out,), _files(source, suppressed))
    problem, hidden = _pattern(source, suppressed)
    check_pattern(problem, hidden)
    proof = make_certificate(reconciled(problem, hidden), hidden, progress=progress)
    write_text(Path(out), proof.to_text())
    return len(proof.unproved)


def verify_certificate(path: Path) -> Verification:
    """Re-check a certificate in integers, with code that shares nothing with the attack or the methods."""
    return verify_file(path)


def _problem(source: Numbers) -> SuppressionProblem:
    return source if isinstance(source, SuppressionProblem) else read_jj(source)


def _files(source: Numbers, suppressed: Ids) -> list[Path]:
    """The files of an audit: the problem, and the ids if they are in one."""
    given = (source, Path(suppressed) if isinstance(suppressed, str) and suppressed else None)
    return [path for path in given if isinstance(path, Path)]


def _pattern(source: Numbers, suppressed: Ids) -> tuple[SuppressionProblem, NDArray[np.bool_]]:
    problem = _problem(source)
    return problem, _mask(problem, read_ids(suppressed))


def _mask(problem: SuppressionProblem, ids: list[int]) -> NDArray[np.bool_]:
    wrong = [i for i in ids if not 0 <= i < problem.n_cells]
    if wrong:
        raise ParameterError(f"audit: cell ids go from 0 to {problem.n_cells - 1}, got {wrong[0]}.")
    hidden = np.zeros(problem.n_cells, dtype=bool)
    hidden[ids] = True
    return hidden
