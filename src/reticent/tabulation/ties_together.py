# SPDX-License-Identifier: Apache-2.0
"""Relations that hold for records that belong together, though for none of them alone.

What a household earns stands with its head, and what its members earn with each of them. In every cell that has whole
households the two sums are the same.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from reticent.base.arrays import Ints
from reticent.data.microdata import Microdata
from reticent.data.response_relations import COUNT
from reticent.data.table import DimensionSpec
from reticent.tabulation.near_ties import is_new, near_ties
from reticent.tabulation.tabulate import respondents_of
from reticent.tabulation.tied_responses import Numbers, Tie, find_ties


def ties_together(
    data: Microdata, numbers: Numbers, dimensions: Sequence[DimensionSpec], known: Sequence[Tie]
) -> list[Tie]:
    """What the sums of each respondent, and of each household, show beyond the relations of single records."""
    found: list[Tie] = []
    home = data.household()
    households = home if home is not None and bool((home >= 0).all()) else None
    for group, word in ((respondents_of(data), "respondent"), (households, "household")):
        if group is not None:
            found += _ties_of(data, numbers, dimensions, [*known, *found], group, word)
    return found


def _ties_of(
    data: Microdata, numbers: Numbers, dimensions: Sequence[DimensionSpec], known: Sequence[Tie], group: Ints, word: str
) -> list[Tie]:
    together = added_up(numbers, group)
    if together.n_rows == numbers.n_rows:
        return []  # everybody has one record
    whole = _is_whole(data, dimensions, group)
    equal = [tie.relation for tie in known if not tie.relation.inequality and tie.within is None]
    stated = {tie.relation.key for tie in known}
    made: list[Tie] = []
    for tie in find_ties(together):
        if tie.relation.inequality:
            new = whole and tie.relation.key not in stated
        elif new := is_new(tie.relation, equal):
            equal.append(tie.relation)
        if new:
            made.append(replace(tie, everywhere=whole))
    made += near_ties(together, [*known, *made])
    # rounding is counted by respondent, and a household may be several
    return [replace(tie, together=word) for tie in made if tie.rounding == 0 or word == "respondent"]


def added_up(numbers: Numbers, group: Ints) -> Numbers:
    """The sums of each group; one is missing where the group has no value of it. The number of records is left out."""
    _, at = np.unique(group, return_inverse=True)
    size = int(at.max(initial=-1)) + 1
    columns = {
        name: np.bincount(at, column, minlength=size).astype(np.float64)
        for name, column in numbers.columns.items()
        if name != COUNT
    }
    absent = {
        name: np.bincount(at, ~missing, minlength=size) == 0
        for name, missing in numbers.absent.items()
        if name in columns
    }
    return replace(numbers, columns=columns, absent=absent)


def _is_whole(data: Microdata, dimensions: Sequence[DimensionSpec], group: Ints) -> bool:
    """Whether the records of a group have the same codes and the same weight, so that no cell has a part of it."""
    _, first, at = np.unique(group, return_index=True, return_inverse=True)
    columns: list[Ints] = [data.encoded(name).codes for name in dict.fromkeys(spec.variable for spec in dimensions)]
    if (weights := data.weights()) is not None:
        columns.append(np.unique(weights, return_inverse=True)[1])
    return all(bool((column[first][at] == column).all()) for column in columns)
