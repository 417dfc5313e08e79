# SPDX-License-Identifier: Apache-2.0
"""The job of an audit: attack a pattern of a JJ file, or what a plan makes, and write the certificate."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reticent.base.progress import Progress, part, silent
from reticent.jobs.jj import audit_jj, audit_jj_inside, certificate_jj
from reticent.jobs.protect_table import audit_plan, audit_plans, summaries, write_certificates
from reticent.tables.attack.inside import InsideAudit
from reticent.tables.request import Attacker
from reticent.tables.result import ProtectedTable

__all__ = ["AuditQuestion", "Audited", "run_audit"]

JJ = ".jj"


@dataclass(frozen=True)
class AuditQuestion:
    """What to attack: a JJ file with its hidden ids and those of one respondent each, or a plan and one of its responses.

    `insiders` and `coalition` take the place of what a plan says; `certificate` is where a proof is written.
    """

    file: Path
    suppressed: str = ""
    single: str = ""
    response: str | None = None
    insiders: str | None = None
    coalition: int | None = None
    certificate: Path | None = None

    @property
    def of_numbers(self) -> bool:
        """Whether it is about a JJ file."""
        return self.file.suffix.lower() == JJ


@dataclass(frozen=True, eq=False)
class Audited:
    """What the attacker found: intervals by cell id of a JJ file, or the tables of a plan; certificates and their gaps."""

    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    inside: InsideAudit | None = None
    tables: tuple[ProtectedTable, ...] = ()
    certificates: dict[Path, int] = field(default_factory=dict)
    """How many unsafe cells each certificate could not prove."""

    def summary(self) -> dict[str, Any]:
        """Everything as plain data (confidential)."""
        return summaries(self.tables) if self.tables else self.rows


def run_audit(asked: AuditQuestion, *, progress: Progress = silent) -> Audited:
    """Attack, from outside and from inside; nothing is refused, and nothing is written except a certificate."""
    return _numbers(asked, progress) if asked.of_numbers else _tables(asked, progress)


def _numbers(asked: AuditQuestion, progress: Progress) -> Audited:
    attacker = Attacker(insiders=asked.insiders or "exact", coalition=asked.coalition or 1)  # type: ignore[arg-type]
    rows = audit_jj(asked.file, asked.suppressed, progress=part(progress, 0.0, 0.4))
    inside = None
    if asked.single:
        beside = part(progress, 0.4, 0.7)
        inside = audit_jj_inside(asked.file, asked.suppressed, asked.single, attacker, progress=beside)
    written = {}
    if asked.certificate is not None:
        proving = part(progress, 0.7, 1.0)
        written[asked.certificate] = certificate_jj(asked.file, asked.suppressed, asked.certificate, progress=proving)
    return Audited(rows, inside, certificates=written)


def _tables(asked: AuditQuestion, progress: Progress) -> Audited:
    insiders, coalition = asked.insiders, asked.coalition
    if asked.response is None:
        results = audit_plans(asked.file, insiders=insiders, coalition=coalition, progress=progress)
    else:
        one = audit_plan(asked.file, response=asked.response, insiders=insiders, coalition=coalition, progress=progress)
        results = (one,)
    written = {} if asked.certificate is None else write_certificates(results, asked.certificate)
    return Audited(tables=results, certificates={place: len(cells) for place, cells in written.items()})
