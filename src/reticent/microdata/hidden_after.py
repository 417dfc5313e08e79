# SPDX-License-Identifier: Apache-2.0
"""Values that a step hides after another one has published something that follows from all values.

The points on an ellipse are a function of the values inside. As long as these are all published, the points say nothing
more; who hides a few of them later, or leaves records out, gives them back.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from reticent.base.arrays import Floats, Mask
from reticent.base.errors import NotProtectedError
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind
from reticent.microdata.trace import positions


@dataclass(frozen=True)
class FollowsFromAll:
    """A step after which some values (`moved` records) follow from those of all records, and what it published."""

    step: str
    names: tuple[str, ...]
    data: Microdata = field(repr=False)
    moved: Mask = field(repr=False)

    @classmethod
    def of(cls, step: str, names: Sequence[str], before: Microdata, after: Microdata) -> "FollowsFromAll":
        """What the step did."""
        old, new = before.numbers(names), after.numbers(names)
        return cls(step, tuple(names), after, np.asarray((old != new).any(axis=1) & ~np.isnan(new).any(axis=1)))

    def check(self, published: Microdata) -> None:
        """Refuse a file that still shows values of moved records, and in which few others were hidden.

        Where all values changed (rounding, noise), only those count as hidden that changed far more than the others. Of half of
        the file or more, sums say nothing of anybody.
        """
        names = [name for name in self.names if name in published.schema]
        change = np.column_stack([self._change(name, published) for name in names]) if names else np.empty((0, 0))
        if not change.size or not self.moved.any():
            return
        n, spread = len(change), np.nanstd(self.data.numbers(names), axis=0)
        # a quarter of the moved values: single ones stay nearly what they were by chance
        shown = bool((np.quantile(change[self.moved], 0.25, axis=0, method="lower") <= spread / n).any())
        hidden = (change > n * np.median(change, axis=0)) & ~self.moved[:, None]
        people = int(hidden.any(axis=1).sum())
        if shown and 0 < people < n / 2:
            name = names[int(hidden.sum(axis=0).argmax())]
            raise NotProtectedError(
                f"{self.step}: values that were moved follow from those of all records, so that they reveal what a later step "
                f"hides or leaves out of {name!r}. Put that step before {self.step}.",
                exposed=people,
            )

    def _change(self, name: str, published: Microdata) -> Floats:
        """How much each value changed afterwards; without end where it is blank, coded or gone."""
        then, place = self.data.numbers((name,))[:, 0], positions(published, self.data)
        now = np.where(place >= 0, _numbers(published, name)[place], np.nan)
        return np.where(np.isnan(then), 0.0, np.where(np.isnan(now), np.inf, np.abs(now - then)))


def _numbers(data: Microdata, name: str) -> Floats:
    """Values as numbers, also those of codes; NaN where a code is none."""
    if data.schema[name].kind is Kind.NUMERIC:
        return data.numbers((name,))[:, 0]
    encoded = data.encoded(name)
    return np.asarray(np.array([*(_number(text) for text in encoded.categories), np.nan])[encoded.codes])


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")
