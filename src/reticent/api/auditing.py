"""Attack a table that was published already, from what it publishes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reticent.api.loading import as_hierarchy
from reticent.base.errors import DataError
from reticent.base.plain import as_plain
from reticent.base.progress import Progress, silent
from reticent.data.published_table import PublishedTable
from reticent.io.published import published_of_frame, read_published_table
from reticent.report.notebook import rows_html
from reticent.tables.attack.published import PublishedAttack, attack_published


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


def audit(
    source: Any,
    *,
    structure: Mapping[str, Any] | None = None,
    value: str = "value",
    status: str = "status",
    kind: str = "count",
    total: str = "Total",
    progress: Progress = silent,
) -> PublishedAudit:
    """Attack a published table: a `PublishedTable`, a frame or a CSV file with one row per cell, totals included.

    `structure` has the hierarchy of each dimension whose codes do not stand flat below `total`. The column `status` has
    published, hidden or empty; without it, a cell without a `value` is hidden. `kind` is count, weighted count or magnitude.

    >>> import polars as pl
    >>> cells = pl.DataFrame({"town": ["Total", "a", "b", "c"], "value": [10, None, None, 4]})
    >>> audit(cells).rows()[0]
    {'cell': ['a'], 'low': 1.0, 'high': 5.0, 'exposed': False}
    """
    if isinstance(source, PublishedTable):
        table = source
    elif isinstance(source, str | Path):
        table = read_published_table(source)
    else:
        table = published_of_frame(source, value=value, status=status, kind=kind)
    trees = {
        name: (as_hierarchy(tree, owner=f"audit, structure of {name!r}"),) for name, tree in (structure or {}).items()
    }
    unknown = [name for name in trees if name not in table.dimensions]
    if unknown:
        raise DataError(
            f"audit: structure names {unknown[0]!r}, which is no dimension of the table.", variables=(unknown[0],)
        )
    return PublishedAudit(attack_published(table, trees, total=total, progress=progress))
