"""The pattern of a previous period: what was hidden then is hidden rather than something else now.

Another period has other values, so nothing is known and nothing forced; cells hidden before only cost less.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from reticent.base.errors import DataError, ParameterError
from reticent.data.published_table import HIDDEN, PublishedTable
from reticent.tabulation.linked import System


def hidden_before(system: System, previous: Mapping[int, PublishedTable]) -> NDArray[np.bool_] | None:
    """Cells of the system that were hidden in a table of the previous period; None if there is none.

    `previous` has what was published then of some of the tables, by their number. Cells that are no longer there, and
    codes that are no longer used, are passed over.
    """
    if not previous:
        return None
    found = np.zeros(system.table.n_cells, dtype=bool)
    for number, release in previous.items():
        if not 0 <= number < len(system.parts):
            raise ParameterError(f"previous: there are {len(system.parts)} tables, and no table {number}.")
        table, members = system.parts[number], system.members[number]
        if release.dimensions != table.names:
            raise DataError(
                f"previous: the release has the dimensions {', '.join(release.dimensions)}, its table "
                f"{', '.join(table.names)}."
            )
        for codes, state in zip(release.codes, release.status, strict=True):
            known = all(code in d.index for code, d in zip(codes, table.dimensions, strict=True))
            cell = table.find(codes) if state == HIDDEN and known else None
            if cell is not None:
                found[members[cell]] = True
    return found
