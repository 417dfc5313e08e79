# SPDX-License-Identifier: Apache-2.0
"""`LargeData`: confidential records that stay in an engine, and what can be done with them there."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Unpack

from reticent.api.arguments import list_of, names_of
from reticent.api.risk import Risk
from reticent.api.table_run import TableFacts, Tabulation
from reticent.base.doors import doors
from reticent.base.errors import ParameterError
from reticent.base.progress import Progress, silent
from reticent.base.randomness import Source
from reticent.data.large import LargeFile
from reticent.data.method import MaskingMethod
from reticent.data.plan import RiskSection
from reticent.data.schema import Schema
from reticent.jobs.protect_large import protect_parts
from reticent.microdata.large_protect import LargeResult
from reticent.microdata.large_risk import household_note, measure_large, recoded
from reticent.microdata.mask.recode import Recode
from reticent.report.notebook import facts_html


@doors
@dataclass(frozen=True, eq=False)
class LargeData:
    """Confidential records in an engine, as `load(…, engine=…)` makes them. Only combinations and cells come to memory."""

    made_by: ClassVar[str] = "load"
    file: LargeFile = field(repr=False)
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        keys = ", ".join(self.schema.keys) or "none"
        engine = self.file.view.connection.name
        return f"<LargeData {len(self)} records × {len(self.schema.variables)} variables in {engine}, keys: {keys}>"

    def _repr_html_(self) -> str:
        return facts_html(repr(self), {v.name: f"{v.role}, {v.kind}" for v in self.schema.variables})

    def __len__(self) -> int:
        return self.file.n_records

    def __enter__(self) -> "LargeData":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the engine, and remove what it wrote to disk."""
        self.file.view.connection.close()

    @property
    def schema(self) -> Schema:
        """What each variable is for and how it is measured."""
        return self.file.schema

    def recode(self, *steps: Recode) -> "LargeData":
        """The records with coarser codes, as `mask.Recode` says; the engine looks the new codes up when it counts."""
        chosen = list_of(steps, Recode, "steps", "recode", "recodings (mask.Recode)")
        return LargeData(recoded(self.file, chosen), self.notes)

    def tabulate(self, *variables: Any, response: str | None = None, **options: Unpack[TableFacts]) -> Tabulation:
        """A table of the records as `Data.tabulate` makes it; cells are added up in the engine, in whole numbers."""
        return Tabulation.of(self.file, variables, response=response, options=options)

    def protect(
        self,
        steps: Sequence[MaskingMethod],
        path: Path | str,
        *,
        most: float | None = None,
        risk: RiskSection | None = None,
        secret: Source = None,
        test_secret: bool = False,
        progress: Progress = silent,
    ) -> LargeResult:
        """Mask the records block by block as `Data.protect` masks them, attack the result, and write it in parts.

        `path` is a pattern such as `safe/part-*.parquet`. Nothing is written unless every attack that was asked for is held,
        or `risk` gives a reason in `accept_risk`; options are those of `Data.protect`. Linkage is tried with a sample drawn
        by the secret against all records, and judged by its upper limit of confidence.
        """
        chosen = list_of(steps, MaskingMethod, "steps", "protect", "masking methods")
        if most is not None and risk is not None and risk.most is not None:
            raise ParameterError("protect: most is given twice, directly and in risk; give it once.")
        settings = risk or RiskSection()
        settings = settings if most is None else replace(settings, most=most)
        return protect_parts(
            self.file, chosen, Path(path), risk=settings, secret=secret, notes=self.notes, test_secret=test_secret,
            progress=progress,
        )  # fmt: skip

    def risk(
        self, *, keys: Sequence[str] = (), dimension: int = 3, threshold: int = 1, progress: Progress = silent
    ) -> Risk:
        """How identifiable the records are, as `Data.risk` says it: combinations of keys are counted in the engine."""
        settings = RiskSection(keys=names_of(keys, "keys", "risk"), dimension=dimension, threshold=threshold)
        found, combinations = measure_large(self.file, settings, progress=progress)
        return Risk(found, combinations, household_note(self.file))
