# SPDX-License-Identifier: Apache-2.0
"""`FileRun`: what protecting a file gave, confidential; `MaskedFile`: what may leave of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Unpack

from reticent.api.arguments import OF_PUBLISHED, OF_RUNS, marks_of, names_of
from reticent.api.ledger import Recording, ReleaseLedger, record_release
from reticent.base.checks import check_reason
from reticent.base.doors import doors
from reticent.data import published
from reticent.data.verdict import FileVerdict
from reticent.history.made import Made, made_file
from reticent.io.atomic import write_text
from reticent.io.recodings import check_recodings_path, recodings_text
from reticent.io.write import write_masked
from reticent.microdata.attacks import FileAttacks
from reticent.microdata.loss.measure import LossReport
from reticent.microdata.result import ProtectedFile
from reticent.microdata.risk.interval import RankingAttack, ranking_attack
from reticent.microdata.risk.linkage_coordinates import from_files
from reticent.microdata.risk.linkage_distance import AssignedLinkage, all_distances, assigned_linkage
from reticent.microdata.suppress.summary import SuppressionTable, suppression_table
from reticent.report.file_report import confidential_report, public_report
from reticent.report.notebook import rows_html
from reticent.report.page import form_of
from reticent.report.provenance import Provenance


@doors
@dataclass(frozen=True, repr=False)
class MaskedFile(published.MaskedFile):
    """A protected file that may be published."""

    instead: ClassVar[Mapping[str, str]] = OF_PUBLISHED

    def to_frame(self) -> Any:
        """The file as the kind of frame that the data came in."""
        return self.to_native()

    def write(
        self,
        path: Path | str,
        *,
        schema: Path | str | None = None,
        recodings: Path | str | None = None,
        separator: str | None = None,
        decimal: str | None = None,
        keep_formulas: bool = False,
    ) -> tuple[Path, ...]:
        """Write the file (the ending says the format), its `schema` and its `recodings` (.csv) beside it; all or nothing.

        A CSV file has the separator and the decimal mark of the file that was loaded, or those given here. Texts that a
        spreadsheet would run as formulas get an apostrophe before them in text files, unless `keep_formulas`.
        """
        check_recodings_path(recodings)
        marks = marks_of(separator, decimal, keep_formulas)
        also = {} if recodings is None else {Path(recodings): recodings_text(self.recodings, marks)}
        return write_masked(self, path, schema=schema, also=also, marks=marks)

    def public_report(self, path: Path | str) -> None:
        """Write what users of the file may know about it."""
        write_text(Path(path), public_report(self, form=form_of(path)))


@doors
@dataclass(frozen=True, eq=False)
class FileRun:
    """A masked file with everything the protector must know. Confidential: only `release` leads out."""

    instead: ClassVar[Mapping[str, str]] = OF_RUNS
    found: ProtectedFile = field(repr=False)
    _accepted: list[str] = field(default_factory=list, repr=False)

    def __repr__(self) -> str:
        return repr(self.found).replace("FileResult", "FileRun", 1)

    def _repr_html_(self) -> str:
        return rows_html(repr(self), [one.row() for one in self.verdict.attacks])

    @property
    def verdict(self) -> FileVerdict:
        """Held, not held or not judged, for each attack."""
        return self.found.verdict

    @property
    def attacks(self) -> FileAttacks:
        """What the attackers found."""
        return self.found.attacks

    @property
    def loss(self) -> LossReport:
        """What the protection cost."""
        return self.found.loss

    @property
    def risk(self) -> Mapping[str, Mapping[str, Any]]:
        """The risk before and after, as plain numbers."""
        return {"before": self.found.result.risk_before, "after": self.found.result.risk_after}

    @property
    def notes(self) -> tuple[str, ...]:
        """What the protector should know as well."""
        return (*self.found.result.notes, *(f"Released although not held: {reason}" for reason in self._accepted))

    def summary(self) -> dict[str, Any]:
        """Everything as plain data, with the secret if it was drawn."""
        return {**self.found.result.summary(), "notes": list(self.notes)}

    def blanks(self, variables: Sequence[str] = ()) -> SuppressionTable:
        """How many values of each key (or of other variables) the steps blanked, by variable and by record."""
        return suppression_table(self.found.before, self.found.after, names_of(variables, "variables", "blanks"))

    def one_to_one(self, variables: Sequence[str] = ()) -> AssignedLinkage:
        """Link masked to original records one to one, at least total distance: what a register that has everybody gives.

        `variables` are what the intruder knows (default: the keys). For small files: all pairs are compared.
        """
        names = names_of(variables, "variables", "one_to_one") or self.found.before.schema.keys
        return assigned_linkage(all_distances(from_files(self.found.before, self.found.after, names)))

    def ranking_attack(self, variable: str, *, percent: float = 10.0) -> RankingAttack:
        """What individual ranking (microaggregation of one variable) reveals: the means beside a value's own bound it."""
        before, after = (data.numbers((variable,))[:, 0] for data in (self.found.before, self.found.after))
        return ranking_attack(before, after, percent=percent)

    def confidential_frame(self) -> Any:
        """The masked records in the order of the source, identifiers included."""
        return self.found.after.frame.native()

    def confidential_report(self, path: Path | str) -> None:
        """Write the whole record of the run, with the secret if it was drawn."""
        result = replace(self.found.result, notes=self.notes)
        origin = Provenance(seconds=self.found.seconds)
        run = replace(self.found, result=result)
        write_text(Path(path), confidential_report(run, secret=result.secret_hex, origin=origin, form=form_of(path)))

    def made(self, risk: str = "") -> Made:
        """What the run would publish, as a ledger takes it."""
        return made_file(self.found, risk=risk)

    def release(
        self, *, accept_risk: str | None = None, ledger: ReleaseLedger | None = None, **recording: Unpack[Recording]
    ) -> MaskedFile:
        """The file that may leave; an error unless every attack that was asked for is held.

        `accept_risk` is the reason for releasing it all the same; the run records it. With a `ledger` (from `open_ledger`) and a
        `name` it is judged together with everything released before, and recorded there before it is given out;
        `accept_uncertified` and `accept_repeat` are those of `[ledger]`.
        """
        check_reason(accept_risk, owner="release")
        if accept_risk is None or self.verdict.held:
            self.verdict.require()
        record_release(ledger, recording, self, accept_risk)
        if accept_risk is not None and not self.verdict.held:
            self._accepted.append(accept_risk)
        masked = self.found.result.masked
        return MaskedFile(masked.frame, masked.schema, recodings=masked.recodings)
