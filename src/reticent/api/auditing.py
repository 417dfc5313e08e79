# SPDX-License-Identifier: Apache-2.0
"""Attack a table that was published already, from what it publishes."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np

from reticent.api.loading import as_hierarchy
from reticent.base.checks import check_choice
from reticent.base.doors import door, doors
from reticent.base.errors import DataError, ParameterError
from reticent.base.plain import as_plain
from reticent.base.progress import Progress, silent
from reticent.data.published_table import COUNT, MAGNITUDE, WEIGHTED, PublishedTable
from reticent.io.published import published_of_frame, read_published_table
from reticent.report.notebook import rows_html
from reticent.tables.attack.published import PublishedAttack, attack_published


@doors
@dataclass(frozen=True, eq=False)
class PublishedAudit:
    """What everybody can conclude about the hidden cells of a published table."""

    found: PublishedAttack = field(repr=False)

    def __repr__(self) -> str:
        return f"<PublishedAudit {len(self.found.found.cells)} hidden cells: {len(self.exposed)} exposed>"

    def _repr_html_(self) -> str:
        return rows_html(repr(self), self.rows())

    @property
    def exposed(self) -> tuple[tuple[str, ...], ...]:
        """Codes of the hidden cells whose value everybody can work out."""
        return self.found.exposed

    def rows(self) -> list[dict[str, Any]]:
        """One row per hidden cell: its codes, the ends of its interval, whether it is exposed."""
        return [dict(row) for row in self.found.rows()]

    def summary(self) -> dict[str, Any]:
        """Everything as plain data."""
        plain: dict[str, Any] = as_plain(
            {"hidden": len(self.found.found.cells), "exposed": self.exposed, "cells": self.rows()}
        )
        return plain


class Reading(TypedDict, total=False):
    """What a frame or file of cells does not say itself; None says nothing."""

    value: str | None
    status: str | None
    kind: str | None
    hides_empty: bool | None


@door
def audit(
    source: Any,
    *,
    structure: Mapping[str, Any] | None = None,
    total: str = "Total",
    progress: Progress = silent,
    **reading: Unpack[Reading],
) -> PublishedAudit:
    """Attack a published table: a `PublishedTable`, a frame or a CSV file with one row per cell, totals included.

    `structure` has the hierarchy of each dimension whose codes do not stand flat below `total`. In a frame `value` and
    `status` name the columns (default: "value" and "status"); status is published, hidden or empty, and without it a cell
    without a value is hidden. A frame or file does not say its `kind` (count, weighted count or magnitude; default count), nor
    whether it `hides_empty` cells like others (default False); a `PublishedTable` does.

    >>> import polars as pl
    >>> cells = pl.DataFrame({"town": ["Total", "a", "b", "c"], "value": [10, None, None, 4]})
    >>> audit(cells).rows()[0]
    {'cell': ['a'], 'low': 1.0, 'high': 5.0, 'exposed': False}
    """
    table = _published(source, {name: given for name, given in reading.items() if given is not None})
    trees = {
        name: (as_hierarchy(tree, owner=f"audit, structure of {name!r}"),) for name, tree in (structure or {}).items()
    }
    unknown = [name for name in trees if name not in table.dimensions]
    if unknown:
        raise DataError(
            f"audit: structure names {unknown[0]!r}, which is not a dimension of the table; it has "
            f"{', '.join(table.dimensions)}.",
            variables=(unknown[0],),
        )
    return PublishedAudit(attack_published(table, trees, total=total, progress=progress))


def _published(source: Any, told: Mapping[str, Any]) -> PublishedTable:
    """The published table that a source holds; what it says itself cannot be said again."""
    columns = next((name for name in ("value", "status") if name in told), None)
    if isinstance(source, PublishedTable | str | Path) and columns is not None:
        raise ParameterError(
            f"audit: {columns} names a column of a frame; leave it out for a file or a PublishedTable."
        )
    for name in ("kind", "hides_empty"):
        if isinstance(source, PublishedTable) and told.get(name, getattr(source, name)) != getattr(source, name):
            raise ParameterError(f"audit: {name} is not what the PublishedTable says itself; leave it out.")
    hides_empty = told.get("hides_empty", False)
    if not isinstance(hides_empty, bool):
        raise ParameterError("audit: hides_empty must be True or False.")
    if isinstance(source, PublishedTable):
        return source
    kind = told.get("kind", COUNT)
    check_choice(kind, (COUNT, WEIGHTED, MAGNITUDE), name="kind", owner="audit")
    if isinstance(source, str | Path):
        table = replace(read_published_table(source), kind=kind)
    else:
        table = published_of_frame(
            source, value=told.get("value", "value"), status=told.get("status", "status"), kind=kind
        )
    shown = table.values[~np.isnan(table.values)]
    if kind == COUNT and bool((shown != np.rint(shown)).any() or (shown < 0).any()):
        raise DataError(
            'audit: counts are whole and not negative, and these values are not; say kind="magnitude" or "weighted count".'
        )
    return replace(table, hides_empty=hides_empty, signed=kind == MAGNITUDE and bool((shown < 0).any()))
