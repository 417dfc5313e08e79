# SPDX-License-Identifier: Apache-2.0
"""Records from an SQL database, by URL and query (extra `sql`). The URL is never shown: it may hold a password."""

from decimal import Decimal
from typing import Any

import polars as pl

from reticent.base.errors import DataError, ParameterError
from reticent.base.optional import need
from reticent.data.schema import Schema
from reticent.io.format import FileFormat, Source


def is_url(path: object) -> bool:
    """Whether a data path is the URL of a database."""
    return isinstance(path, str) and "://" in path


def read_database(url: str, query: str | None) -> pl.DataFrame:
    """The rows that the query gives, one column a name."""
    if not query or not query.strip():
        raise ParameterError('[data]: a database needs a query; write query = "select … from …".')
    library = need("sqlalchemy", extra="sql", purpose="reading a database")
    try:
        engine = library.create_engine(url)
    except (library.exc.ArgumentError, library.exc.NoSuchModuleError):
        raise DataError("Database: the URL is not one SQLAlchemy knows, e.g. sqlite:///file.db.") from None
    except ImportError as err:
        raise DataError(f"Database: its driver {err.name!r} is not installed.") from None
    try:
        with engine.connect() as connection:
            answer = connection.execute(library.text(query))
            names, rows = list(answer.keys()), [tuple(map(_plain, row)) for row in answer]
    except library.exc.OperationalError:
        raise DataError(
            "Database: the connection or the query failed; check the address and the table names."
        ) from None
    except library.exc.SQLAlchemyError as err:
        raise DataError(f"Database: the query failed ({type(err).__name__}).") from None
    finally:
        engine.dispose()
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"Database: column {twice!r} occurs twice in the answer; give it another name in the query.")
    if not rows:
        raise DataError("Database: the query gave no records.")
    return pl.DataFrame(rows, schema=names, orient="row", infer_schema_length=None)


def _plain(value: Any) -> Any:
    return float(value) if isinstance(value, Decimal) else value


def _read(source: Source) -> tuple[pl.DataFrame, Schema | None]:
    return read_database(str(source.place), source.query), None


SQL = FileFormat("sql", "a database, by its URL and a query", _read, extra="sql")
