"""Hierarchies as pages show them: each variable's tree in plain data, and a new one checked against the codes. Confidential."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reticent.base.errors import DataError, ParameterError
from reticent.base.progress import Progress, silent
from reticent.data.hierarchy import Hierarchy
from reticent.data.plan import DataSection
from reticent.data.schema import Kind
from reticent.io.atomic import write_text
from reticent.io.hierarchies import read_hierarchy
from reticent.io.read import load_source

__all__ = ["check_tree", "trees_of", "write_groups"]


def trees_of(source: DataSection, folder: Path, *, progress: Progress = silent) -> dict[str, dict[str, Any]]:
    """For each variable with codes: how many it has, and its tree if there is one (codes, parents, codes at each level)."""
    progress(0.0, "reading")
    data = load_source(source, folder).data
    found: dict[str, dict[str, Any]] = {}
    for variable in data.schema.variables:
        if variable.kind is Kind.NUMERIC:
            continue
        tree = variable.hierarchy
        facts: dict[str, Any] = {"n_codes": len(set(data.texts(variable.name)) - {None}), "tree": None}
        if tree is not None:
            levels = tree.levels.tolist()
            facts["tree"] = {"codes": list(tree.codes), "parents": list(tree.parents), "depth": tree.depth,
                             "counts": [levels.count(level) for level in range(tree.depth + 1)]}  # fmt: skip
        found[variable.name] = facts
    return found


def check_tree(
    source: DataSection, folder: Path, variable: str, digits: Sequence[int], file: str, *, progress: Progress = silent
) -> list[int]:
    """Build a tree by digits or from a file, and check that it covers every code; gives how many codes each level has."""
    data = load_source(source, folder).data
    codes = sorted({code for code in data.texts(variable) if code is not None})
    if bool(digits) == bool(file):
        raise ParameterError("hierarchy: give digits or a file, one of them.")
    tree = Hierarchy.from_digits(codes, digits) if digits else read_hierarchy(folder / file)
    left = tree.missing_from(codes)
    if left:
        raise DataError(
            f"hierarchy: {len(left)} of the {len(codes)} codes of {variable!r} are not in the tree; add them."
        )
    levels = tree.levels.tolist()
    return [levels.count(level) for level in range(tree.depth + 1)]


def write_groups(place: Path, groups: Sequence[tuple[str, Sequence[str]]]) -> None:
    """Write groups of codes as a hierarchy file: a group, then its codes one level below."""
    lines = []
    for name, codes in groups:
        if not name or name.startswith("@") or any(not code or code.startswith("@") for code in codes):
            raise ParameterError(
                "hierarchy: each line needs a group and its codes, as in north: N1, N2; no name starts with @."
            )
        lines += [name, *(f"@{code}" for code in codes)]
    write_text(place, "".join(f"{line}\n" for line in lines))
