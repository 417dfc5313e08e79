# SPDX-License-Identifier: Apache-2.0
"""`Exploration`: many maskings on one map of risk and loss."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reticent.api.arguments import list_of
from reticent.base.doors import doors
from reticent.base.errors import ParameterError
from reticent.base.plain import as_plain
from reticent.data.method import MaskingMethod
from reticent.data.verdict import State
from reticent.io.atomic import write_text
from reticent.microdata.explore import Candidate
from reticent.microdata.explore import Exploration as Found
from reticent.report.explore_report import explore_report
from reticent.report.notebook import rows_html
from reticent.report.page import form_of


@doors
@dataclass(frozen=True, eq=False)
class Exploration:
    """All candidates with their risk and loss, the ones on the front, and the one that was chosen. Confidential."""

    found: Found = field(repr=False)

    def __repr__(self) -> str:
        return repr(self.found)

    def _repr_html_(self) -> str:
        return rows_html(repr(self), self.rows())

    @property
    def front(self) -> tuple[str, ...]:
        """Names of the candidates that no other one beats in risk and loss at once; least risk first."""
        return self.found.front

    @property
    def chosen(self) -> tuple[MaskingMethod, ...]:
        """The steps of the candidate that was chosen; none if no candidate may be."""
        return () if self.found.chosen is None else self.found.chosen.steps

    @property
    def holds(self) -> bool:
        """Whether `protect` would let the chosen candidate go on every fresh draw."""
        return self.found.holds

    @property
    def state(self) -> State:
        """Held, not held, or not judged: without weights and without `most_risk` nothing says which risk is allowed."""
        return self.found.state

    def rows(self) -> list[dict[str, Any]]:
        """The map as plain rows, one per candidate."""
        return self.found.rows()

    def summary(self) -> dict[str, Any]:
        """Everything as plain data."""
        fresh = None if self.found.fresh is None else self.found.fresh.row()
        plain: dict[str, Any] = as_plain(
            {"candidates": self.rows(), "front": self.front, "chosen": [step.name for step in self.chosen],
             "fresh": fresh, "holds": self.holds, "state": str(self.state)}
        )  # fmt: skip
        return plain

    def confidential_report(self, path: Path | str) -> None:
        """Write the map as a page for the protector."""
        fresh = None if self.found.fresh is None else dict(self.found.fresh.row())
        write_text(Path(path), explore_report(self.rows(), fresh=fresh, state=self.state, form=form_of(path)))


def candidates_of(given: Mapping[str, Sequence[MaskingMethod]] | Sequence[Sequence[MaskingMethod]]) -> list[Candidate]:
    """Candidates from named lists of steps, or from lists whose names follow from their methods."""
    if isinstance(given, Mapping):
        named = [(str(name), steps) for name, steps in given.items()]
    elif isinstance(given, Sequence) and not isinstance(given, str):
        named = [("", steps) for steps in given]
    else:
        raise ParameterError("explore: candidates must be a list of lists of steps, or a mapping from names to them.")
    made = [
        Candidate(name, list_of(steps, MaskingMethod, "candidates", "explore", "masking methods"))
        for name, steps in named
    ]
    return [
        c if c.name else Candidate(f"{n}: {' + '.join(s.name for s in c.steps)}", c.steps)
        for n, c in enumerate(made, 1)
    ]
