"""The job that links a masked file back to the original: read both, attack."""

from collections.abc import Sequence
from pathlib import Path

from reticent.base.progress import Progress, silent
from reticent.base.randomness import as_secret
from reticent.io.read import load_microdata
from reticent.microdata.risk.file_linkage import FileLinkage, link_files


def link_paths(
    original: tuple[Path, Path | None],
    masked: tuple[Path, Path | None],
    variables: Sequence[str] = (),
    *,
    progress: Progress = silent,
) -> FileLinkage:
    """Attack a masked file with the original at hand; each file comes with its schema."""
    progress(0.0, "reading")
    true, seen = load_microdata(*original).data, load_microdata(*masked).data
    return link_files(true, seen, variables, secret=as_secret(None), progress=progress)
