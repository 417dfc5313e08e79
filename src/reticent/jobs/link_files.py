"""The job that links a masked file back to the original: read both, attack."""

from collections.abc import Sequence
from pathlib import Path

from reticent.base.progress import Progress, silent
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.io.read import records_of
from reticent.microdata.risk.file_linkage import FileLinkage, link_files


def link_paths(
    original: Microdata | tuple[Path, Path | None],
    masked: Microdata | tuple[Path, Path | None],
    variables: Sequence[str] = (),
    *,
    progress: Progress = silent,
) -> FileLinkage:
    """Attack a masked file with the original at hand; each is a file with its schema, or records."""
    progress(0.0, "reading")
    true, seen = (
        records_of(one).data if isinstance(one, Microdata) else records_of(*one).data for one in (original, masked)
    )
    return link_files(true, seen, variables, secret=as_secret(None), progress=progress)
