# SPDX-License-Identifier: Apache-2.0
"""The jobs that measure the risk of a file as it is: read, measure."""

from pathlib import Path

from reticent.base.errors import DataError
from reticent.base.progress import Progress, silent
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.plan import RiskSection
from reticent.io.large import EngineChoice, open_large
from reticent.io.read import records_of
from reticent.microdata.large_risk import household_note, measure_large
from reticent.microdata.measure import FileRisk, measure_risk
from reticent.microdata.risk.file_models import RiskModels, risk_models

__all__ = ["EngineChoice", "FileRisk", "RiskModels", "measure_file", "model_file"]


def measure_file(
    source: Microdata | Path,
    schema: Path | None = None,
    *,
    keys: tuple[str, ...] = (),
    dimension: int = 3,
    threshold: int = 1,
    engine: EngineChoice | None = None,
    progress: Progress = silent,
) -> tuple[FileRisk, tuple[str, ...]]:
    """The risk of a file (or of records) and notes on reading it; without keys that is an error, never an all-clear.

    With an `engine` the records of a file stay where they are, and its path may be a pattern.
    """
    settings = RiskSection(dimension=dimension, threshold=threshold, keys=keys)
    if engine is not None and isinstance(source, Path):
        return _measure_large(source, schema, engine, settings, progress)
    progress(0.0, "reading")
    loaded = records_of(source, schema)
    progress(0.5, "counting")
    if not keys and not loaded.data.schema.keys:
        owner = source.name if isinstance(source, Path) else "risk"
        raise DataError(
            f"{owner}: the schema has no keys, so nothing can be judged; give variables the role key, or say --keys."
        )
    return measure_risk(loaded.data, settings), tuple(loaded.notes)


def _measure_large(
    path: Path, schema: Path | None, engine: EngineChoice, settings: RiskSection, progress: Progress
) -> tuple[FileRisk, tuple[str, ...]]:
    loaded = open_large(path, schema, engine)
    try:
        found, _ = measure_large(loaded.data, settings, progress=progress)
    finally:
        loaded.data.view.connection.close()
    return found, (*loaded.notes, *household_note(loaded.data))


def model_file(
    source: Microdata | Path,
    schema: Path | None = None,
    keys: tuple[str, ...] = (),
    *,
    fraction: float | None = None,
    progress: Progress = silent,
) -> RiskModels:
    """Every model of population risk for a file or for records."""
    progress(0.0, "reading")
    data = records_of(source, schema).data
    return risk_models(data, keys, secret=as_secret(None), fraction=fraction, progress=progress)
