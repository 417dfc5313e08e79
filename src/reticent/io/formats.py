# SPDX-License-Identifier: Apache-2.0
"""The registry of file formats: one line per format. Whatever reads, writes, checks or lists formats asks it."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from reticent.base.checks import check_choice
from reticent.base.errors import DataError, ParameterError
from reticent.data.schema import Schema
from reticent.io.database import SQL
from reticent.io.delimited import CSV, FREE_FORMAT, TSV
from reticent.io.excel import XLSX
from reticent.io.fixed import FIXED_WIDTH
from reticent.io.format import FileFormat, Source
from reticent.io.labelled import DTA, POR, SAS7BDAT, SAV, XPT, ZSAV
from reticent.io.parquet import PARQUET


class Formats(Mapping[str, FileFormat]):
    """File formats by name."""

    def __init__(self, *formats: FileFormat) -> None:
        self._formats = {one.name: one for one in formats}

    def __getitem__(self, name: str) -> FileFormat:
        return self._formats[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._formats)

    def __len__(self) -> int:
        return len(self._formats)

    def of_source(self, source: Source, name: str | None) -> FileFormat:
        """The format of something to read: the one that is named, else that of the layout, else that of the ending."""
        if name is not None:
            check_choice(name, tuple(self), name="format", owner="[data]")
            return self[name]
        if isinstance(source.place, str):
            return SQL
        if source.layout is not None and source.layout.format in self:
            return self[source.layout.format]
        return self._of_ending(source.path, source.schema)

    def _of_ending(self, path: Path, schema: Schema | None) -> FileFormat:
        ending = path.suffix.lower()
        placed = schema is not None and all(variable.start is not None for variable in schema.variables)
        found = next((one for one in self.values() if placed and ending in one.placed), None)
        found = found or next((one for one in self.values() if ending in one.endings), None)
        if found is not None:
            return found
        if ending and any(ending in one.placed for one in self.values()):
            raise DataError(f"{path.name}: a fixed-width or free-format file needs its .rda as the schema.")
        raise DataError(
            f'{path.name}: files ending in {ending or "nothing"!r} are not known; say format = "csv" or another.'
        )

    def of_target(self, path: Path, name: str | None = None) -> FileFormat:
        """The format in which a file of this name is written, or an error that says which endings are known."""
        written = {one.name: one for one in self.values() if one.write is not None}
        if name is not None:
            check_choice(name, tuple(written), name="format", owner="[output]")
            return written[name]
        ending = path.suffix.lower()
        for one in written.values():
            if ending in one.written:
                return one
        known = [ending for one in written.values() for ending in one.written]
        raise ParameterError(
            f"[output]: path must end in one of {', '.join(known)}, got a name ending in {ending or 'nothing'!r}."
        )

    def metadata_ending(self, path: Path) -> str | None:
        """The ending of the metadata file that is written beside a file of this name, if there is one."""
        ending = path.suffix.lower()
        return next((one.metadata[ending] for one in self.values() if one.metadata and ending in one.metadata), None)


# One line per format, in the order in which messages list them.
FORMATS = Formats(
    CSV,
    TSV,
    PARQUET,
    FIXED_WIDTH,
    FREE_FORMAT,
    SAV,
    ZSAV,
    POR,
    DTA,
    SAS7BDAT,
    XPT,
    XLSX,
    SQL,
)
