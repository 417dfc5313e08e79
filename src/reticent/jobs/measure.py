"""The jobs that measure the risk of a file as it is: read, measure."""

from pathlib import Path

from reticent.base.errors import DataError
from reticent.base.progress import Progress, silent
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.plan import RiskSection
from reticent.io.read import records_of
from reticent.microdata.measure import FileRisk, measure_risk
from reticent.microdata.risk.file_models import RiskModels, risk_models

__all__ = ["FileRisk", "RiskModels", "measure_file", "model_file"]


def measure_file(
    source: Microdata | Path,
    schema: Path | None = None,
    *,
    keys: tuple[str, ...] = (),
    dimension: int = 3,
    threshold: int = 1,
    progress: Progress = silent,
) -> tuple[FileRisk, tuple[str, ...]]:
    """The risk of a file (or of records) and notes on reading it; without keys that is an error, never an all-clear."""
    settings = RiskSection(dimension=dimension, threshold=threshold, keys=keys)
    progress(0.0, "reading")
    loaded = records_of(source, schema)
    progress(0.5, "counting")
    if not keys and not loaded.data.schema.keys:
        owner = source.name if isinstance(source, Path) else "risk"
        raise DataError(
            f"{owner}: the schema has no keys, so nothing can be judged; give variables the role key, or say --keys."
        )
    return measure_risk(loaded.data, settings), tuple(loaded.notes)


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
