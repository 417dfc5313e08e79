# SPDX-License-Identifier: Apache-2.0
"""Query logs on disk: read (user, query[, time, category]) from CSV or Parquet, write what may be published."""

from pathlib import Path

import polars as pl

from reticent.base.checks import did_you_mean
from reticent.base.errors import DataError
from reticent.frames.frame import Frame
from reticent.io.atomic import atomic_path
from reticent.io.formulas import defused_table
from reticent.io.read import read_table
from reticent.querylogs.log import Labels, QueryLog, make_log
from reticent.querylogs.protect import MaskedLog

ENDINGS = (".csv", ".parquet")


def read_query_log(
    path: Path, *, user: str, query: str, time: str | None = None, category: str | None = None, click: str | None = None
) -> QueryLog:
    """A log from the named columns of a file; clicks must be there if they are named, and are never published."""
    frame, _, _ = read_table(path)
    for role, name in (("user", user), ("query", query), ("time", time), ("category", category), ("click", click)):
        if name is not None and name not in frame.names:
            raise DataError(
                f"{path.name}: the {role} column {name!r} is not in the file; it has {', '.join(frame.names)}."
                f"{did_you_mean(name, frame.names)}",
                variables=(name,),
            )
    return make_log(
        _labels(frame, user), _labels(frame, query),
        times=None if time is None else _labels(frame, time),
        categories=None if category is None else _labels(frame, category),
    )  # fmt: skip


def _labels(frame: Frame, name: str) -> Labels:
    """The column as texts with single spaces; blank ones are missing."""
    try:
        column = frame.table[name].cast(pl.String).str.replace_all(r"\s+", " ").str.strip_chars()
    except pl.exceptions.PolarsError:
        raise DataError(f"query log: the column {name!r} does not hold texts.", variables=(name,)) from None
    column = pl.select(pl.when(column != "").then(column)).to_series().alias(name)
    encoded = Frame(pl.DataFrame(column)).encode(name)
    return Labels(encoded.codes.astype("int32"), encoded.categories)


def check_query_log_path(path: Path) -> None:
    """Refuse a name that no writer knows, before any work."""
    if path.suffix.lower() not in ENDINGS:
        raise DataError(f"{path.name}: a query log is written as {' or '.join(ENDINGS)}.")


def write_query_log(log: MaskedLog, path: Path) -> None:
    """Write the published log as CSV or Parquet, by the ending of its name."""
    check_query_log_path(path)
    table = pl.DataFrame(log.columns())
    with atomic_path(path) as beside:
        if path.suffix.lower() == ".parquet":
            table.write_parquet(beside)
        else:
            defused_table(table).write_csv(beside)
