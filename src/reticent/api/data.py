# SPDX-License-Identifier: Apache-2.0
"""`Data`: confidential records and what can be done with them. Nothing here writes; `release` is the only crossing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Unpack

from reticent.api.arguments import OF_DATA, list_of, names_of
from reticent.api.exploration import Exploration, candidates_of
from reticent.api.file_run import FileRun
from reticent.api.risk import Risk
from reticent.api.table_run import TableFacts, Tabulation
from reticent.base.checks import check_choice, check_integer
from reticent.base.doors import doors
from reticent.base.progress import Progress, silent
from reticent.base.randomness import Secret, as_secret
from reticent.data.method import MaskingMethod
from reticent.data.microdata import Microdata
from reticent.data.plan import RiskSection
from reticent.data.schema import Schema
from reticent.microdata.explore import ExploreSettings, explore
from reticent.microdata.measure import measure_risk
from reticent.microdata.protect import FileOptions, protect_data, with_drawn_secret
from reticent.queries.analysis.cutpoints import Bin, fixed_width, minimum_width
from reticent.report.notebook import facts_html

BINNINGS = {"fixed-width": fixed_width, "minimum-width": minimum_width}


@doors
@dataclass(frozen=True, eq=False)
class Data:
    """Confidential records with their schema, as `load` makes them. `notes` say what was repaired or assumed in reading."""

    made_by: ClassVar[str] = "load"
    instead: ClassVar[Mapping[str, str]] = OF_DATA
    microdata: Microdata = field(repr=False)
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        keys = ", ".join(self.schema.keys) or "none"
        return f"<Data {len(self)} records × {len(self.schema.variables)} variables, keys: {keys}>"

    def _repr_html_(self) -> str:
        return facts_html(repr(self), {v.name: f"{v.role}, {v.kind}" for v in self.schema.variables})

    def __len__(self) -> int:
        return self.microdata.n_records

    @property
    def schema(self) -> Schema:
        """What each variable is for and how it is measured."""
        return self.microdata.schema

    def confidential_frame(self) -> Any:
        """The true records, as the kind of frame that they came in."""
        return self.microdata.frame.native()

    def risk(self, *, keys: Sequence[str] = (), dimension: int = 3, threshold: int = 1) -> Risk:
        """How identifiable the records are: unsafe combinations of keys, individual and household risk, SUDA."""
        settings = RiskSection(keys=names_of(keys, "keys", "risk"), dimension=dimension, threshold=threshold)
        return Risk(measure_risk(self.microdata, settings), self.microdata)

    def protect(self, steps: Sequence[MaskingMethod], **options: Unpack[FileOptions]) -> FileRun:
        """Mask the records step by step, attack the result and judge it.

        `most` limits the largest risk of a record and of a household, and the share of records that can be linked back
        (0.05 where the data have weights; without weights it must be given). Other limits and attacks are options of
        `risk`; `edits` are rules that every published record satisfies. Without a `secret` one is drawn and kept in the
        confidential report: every further release of these data needs it. A secret that can be guessed is refused, unless
        `test_secret` says that the result is never released. `keep_order` and `keep_household_ids` publish what is changed
        by default.
        """
        chosen = list_of(steps, MaskingMethod, "steps", "protect", "masking methods")
        options["edits"] = names_of(options.get("edits", ()), "edits", "protect")
        return FileRun(protect_data(self.microdata, chosen, notes=self.notes, **options))

    def cutpoints(self, variable: str, *, least: int, kind: str = "minimum-width") -> tuple[Bin, ...]:
        """Bins of a number with at least `least` records each, as cutpoints that a policy can offer.

        `kind` is `fixed-width` (the smallest common width) or `minimum-width` (each bin closes as soon as it is full).
        """
        check_choice(kind, tuple(BINNINGS), name="kind", owner="cutpoints")
        self.schema.require(names_of([variable], "variable", "cutpoints"), owner="cutpoints")
        return BINNINGS[kind](self.microdata.numbers((variable,))[:, 0], least)

    def synthetic_copies(
        self,
        step: MaskingMethod,
        count: int,
        **options: Unpack[FileOptions],
    ) -> tuple[FileRun, ...]:
        """Several independent copies by one step, each masked, attacked and judged as by `protect`; see `combine`.

        Without a `secret` one is drawn for all copies and kept in the record of each run: further copies need it.
        """
        check_integer(count, minimum=1, name="count", owner="synthetic_copies")
        given = options.pop("secret", None)
        own = as_secret(given)
        runs = []
        for n in range(1, count + 1):
            options["secret"] = own.child(f"copy {n}")
            run = self.protect([step], **options)
            runs.append(run if given is not None else FileRun(with_drawn_secret(run.found, own)))
        return tuple(runs)

    def tabulate(self, *variables: Any, response: str | None = None, **options: Unpack[TableFacts]) -> Tabulation:
        """A table of the records: crossed by `variables`, adding up `response` (none: counting respondents).

        A variable is a name or a `DimensionSpec`; other options are those of a table in a plan (weighted, shadow, …).
        """
        return Tabulation.of(self.microdata, variables, response=response, options=options)

    def explore(
        self,
        candidates: Mapping[str, Sequence[MaskingMethod]] | Sequence[Sequence[MaskingMethod]],
        *,
        settings: ExploreSettings | None = None,
        secret: Secret | int | bytes | Path | str | None = None,
        edits: Sequence[str] = (),
        state: Path | str | None = None,
        progress: Progress = silent,
    ) -> Exploration:
        """The risk–utility map: try each candidate (a list of steps) on several draws, and choose one.

        `settings` say how often, what counts as risk and how the choice is made. With a `state` file an exploration that
        was stopped goes on where it was.
        """
        found = explore(
            self.microdata, candidates_of(candidates), settings=settings, secret=secret,
            edits=names_of(edits, "edits", "explore"), state=None if state is None else Path(state), progress=progress,
        )  # fmt: skip
        return Exploration(found)
