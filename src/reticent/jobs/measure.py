"""The job that measures the risk of a file as it is: read, measure."""

from pathlib import Path

from reticent.base.errors import DataError
from reticent.base.progress import Progress, silent
from reticent.data.plan import RiskSection
from reticent.microdata.measure import FileRisk, measure_risk


def measure_file(
    path: Path, schema: Path | None, settings: RiskSection, *, progress: Progress = silent
) -> tuple[FileRisk, tuple[str, ...]]:
    """The risk of a file and notes on reading it; a file without keys is an error, never an all-clear."""
    from reticent.io.read import load_microdata

    progress(0.0, "reading")
    loaded = load_microdata(path, schema)
    progress(0.5, "counting")
    if not settings.keys and not loaded.data.schema.keys:
        raise DataError(
            f"{path.name}: the schema has no keys, so nothing can be judged; give variables the role key, or say --keys."
        )
    return measure_risk(loaded.data, settings), tuple(loaded.notes)
