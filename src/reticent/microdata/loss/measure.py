# SPDX-License-Identifier: Apache-2.0
"""A measure of information loss: a named value with its formula and source. Zero always means "nothing changed"."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from reticent.base.checks import did_you_mean
from reticent.base.errors import ParameterError


@dataclass(frozen=True)
class Definition:
    """What a measure is: in words, as a formula, and who defined it. `least` and `most` are its possible values."""

    name: str
    text: str
    formula: str
    source: str
    most: float = math.inf


@dataclass(frozen=True)
class Measure:
    """One value of a measure, for some variables."""

    definition: Definition
    value: float
    variables: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Name of the measure."""
        return self.definition.name

    @property
    def share(self) -> float:
        """The value brought to [0, 1]: x/(1 + x) where the measure has no upper limit, else divided by it."""
        most = self.definition.most
        return self.value / (1 + self.value) if math.isinf(most) else self.value / most

    def __repr__(self) -> str:
        return f"<{self.name} {self.value:.4g} of {len(self.variables)} variables>"


@dataclass(frozen=True)
class LossReport:
    """All measures of one comparison, over the file and per variable, and one combined score in [0, 1].

    `matched` says how many records could be compared one by one; 0 means only distributions were compared. `detail_lost`
    is what recoding and dropping took before anything is compared, a part of every combined score.
    """

    measures: tuple[Measure, ...]
    n_original: int
    n_masked: int
    matched: int
    score: float
    detail_lost: float = 0.0

    def __repr__(self) -> str:
        return f"<LossReport {len(self.measures)} measures, score {self.score:.4f}>"

    def __iter__(self) -> Iterator[Measure]:
        return iter(self.measures)

    def __contains__(self, name: object) -> bool:
        return any(measure.name == name for measure in self.measures)

    def __getitem__(self, name: str) -> float:
        """Value of a measure over all its variables (the first of that name)."""
        for measure in self.measures:
            if measure.name == name:
                return measure.value
        names = sorted({measure.name for measure in self.measures})
        hint = did_you_mean(name, names) or f" Measured: {', '.join(names)}."
        raise ParameterError(f"LossReport: there is no measure {name!r}.{hint}")

    def combined(self, name: str) -> float:
        """One measure and the detail that it cannot see: e + (1 − e)·m, so that coarse codes and dropped variables cost."""
        self[name]  # says which measures there are
        found = next(measure for measure in self.measures if measure.name == name)
        return self.detail_lost + (1.0 - self.detail_lost) * found.share

    def rows(self) -> list[dict[str, str | float]]:
        """The report as plain rows, for a table or a file."""
        return [
            {
                "measure": measure.name,
                "variables": ", ".join(measure.variables),
                "value": measure.value,
                "meaning": measure.definition.text,
                "formula": measure.definition.formula,
                "source": measure.definition.source,
            }
            for measure in self.measures
        ]
