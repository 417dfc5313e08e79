# SPDX-License-Identifier: Apache-2.0
"""Hierarchies as pages show them: each variable's tree in plain data, and a new one checked against the codes. Confidential."""

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from math import floor
from pathlib import Path
from typing import Any

from reticent.base.errors import DataError, ParameterError
from reticent.base.progress import Progress, silent
from reticent.data.hierarchy import Hierarchy
from reticent.data.microdata import Microdata
from reticent.data.plan import DataSection
from reticent.data.schema import Kind
from reticent.io.hierarchies import read_hierarchy
from reticent.io.read import load_source

__all__ = ["bands_of", "check_tree", "moved", "tree_text", "trees_of"]

MOST_NUMBERS = 5_000
"""Different values of a number that can be in a tree."""
MOST_CODES = 200_000
"""Codes of other variables that a page can put in a tree."""
LEAD = "@"
NEAR = 1e-9


def trees_of(source: DataSection, folder: Path, *, progress: Progress = silent) -> dict[str, dict[str, Any]]:
    """For each variable: how many codes it has, and its tree if there is one (codes, parents, codes at each level).

    A variable has its codes in their order, as far as a tree can have so many.
    """
    progress(0.0, "reading")
    data = load_source(source, folder).data
    found: dict[str, dict[str, Any]] = {}
    for at, variable in enumerate(data.schema.variables):
        progress(0.5 + 0.5 * at / len(data.schema.variables), "counting codes")
        tree, codes = variable.hierarchy, _codes(data, variable.name)
        number = variable.kind is Kind.NUMERIC
        kept = codes if len(codes) <= (MOST_NUMBERS if number else MOST_CODES) else []
        facts: dict[str, Any] = {"n_codes": len(codes), "tree": None, "number": number, "codes": kept}
        if tree is not None:
            levels = tree.levels.tolist()
            facts["tree"] = {"codes": list(tree.codes), "parents": list(tree.parents), "depth": tree.depth,
                             "counts": [levels.count(level) for level in range(tree.depth + 1)]}  # fmt: skip
        found[variable.name] = facts
    return found


def check_tree(found: Mapping[str, Any], folder: Path, variable: str, digits: Sequence[int], file: str) -> list[int]:
    """Build a tree by digits or from a file, and check that it covers every code; gives how many codes each level has.

    `found` is what `trees_of` has of the variable, so that no record is read again.
    """
    if bool(digits) == bool(file):
        raise ParameterError("hierarchy: give digits or a file, one of them.")
    codes = found["codes"]
    if len(codes) < found["n_codes"]:
        raise ParameterError(
            f"hierarchy: {variable!r} has {found['n_codes']:,} codes, more than a page checks; recode it first, or name "
            "the tree in the schema file."
        )
    tree = Hierarchy.from_digits(codes, digits) if digits else read_hierarchy(folder / file)
    left = tree.missing_from(codes)
    if left:
        raise DataError(
            f"hierarchy: {len(left)} of the {len(codes)} codes of {variable!r} are not in the tree; add them."
        )
    levels = tree.levels.tolist()
    return [levels.count(level) for level in range(tree.depth + 1)]


def _codes(data: Microdata, variable: str) -> list[str]:
    """The codes of a variable, numbers in the order of their values."""
    found = {code for code in data.texts(variable) if code is not None}
    try:
        return sorted(found, key=lambda code: (float(code.replace(",", ".")), code))
    except ValueError:
        return sorted(found)


def tree_text(codes: Sequence[str], parents: Sequence[int]) -> str:
    """A tree as the text of an `.hrc` file; `parents` are places in `codes`, −1 where nothing but the total is above."""
    below: dict[int, list[int]] = {}
    for node, parent in enumerate(parents):
        below.setdefault(parent, []).append(node)
    if any(not code.strip() or code.startswith(LEAD) or "\n" in code for code in codes):
        raise ParameterError(
            f"hierarchy: each line needs a group and its codes, as in north: N1, N2; no name starts with {LEAD}."
        )
    lines, waiting = [], [(node, 0) for node in reversed(below.get(-1, []))]
    while waiting:
        node, depth = waiting.pop()
        lines.append(f"{LEAD * depth}{codes[node]}\n")
        waiting += [(child, depth + 1) for child in reversed(below.get(node, []))]
    return "".join(lines)


def bands_of(codes: Sequence[str], widths: Sequence[float]) -> tuple[list[str], list[int]]:
    """A tree of numbers in bands: `widths` from the finest on, each a multiple of the one before."""
    steps = [later / earlier for earlier, later in pairwise(widths)]
    if not widths or widths[0] <= 0 or any(step <= 1 or abs(step - round(step)) > NEAR for step in steps):
        raise ParameterError(
            "hierarchy: bands need widths above 0, each a multiple of the one before, as in 5, 10, 20."
        )
    try:
        numbers = [float(code.replace(",", ".")) for code in codes]
    except ValueError:
        raise ParameterError("hierarchy: not every code is a number, and bands are made of numbers.") from None
    if not codes:
        raise ParameterError(
            f"hierarchy: bands are made of at most {MOST_NUMBERS:,} different numbers; recode it instead."
        )
    whole = all(float(number).is_integer() for number in (*numbers, *widths))
    nodes: dict[str, int] = {}
    made: list[str] = []
    parents: list[int] = []
    for code, number in sorted(zip(codes, numbers, strict=True), key=lambda one: one[1]):
        above = -1
        for width in reversed(widths):
            name = _band(floor(number / width + NEAR) * width, width, whole=whole)
            if name not in nodes:
                nodes[name] = len(made)
                made.append(name)
                parents.append(above)
            above = nodes[name]
        made.append(code)
        parents.append(above)
    return made, parents


def _band(start: float, width: float, *, whole: bool) -> str:
    return f"{start:.0f}-{start + width - 1:.0f}" if whole else f"{start:g} to below {start + width:g}"


def moved(
    codes: Sequence[str], parents: Sequence[int], chosen: Collection[int], to: int, new: str = ""
) -> tuple[list[str], list[int]]:
    """A tree with some codes below another group (`to`, −1: directly below the total), or below a new one; empty groups go."""
    inner = set(parents)
    if not chosen or any(not 0 <= node < len(codes) or node in inner for node in chosen):
        raise ParameterError("hierarchy: tick the codes that should move.")
    made, above = list(codes), [to if node in chosen else parent for node, parent in enumerate(parents)]
    if new.strip():
        if new.strip() in codes:
            raise ParameterError("hierarchy: the new group has the name of a code; give it another one.")
        made, above = [*made, new.strip()], [len(codes) if at in chosen else one for at, one in enumerate(above)]
        above.append(-1)
    elif to >= 0 and to not in inner:
        raise ParameterError("hierarchy: choose a group to move the codes to, or name a new one.")
    while empty := {node for node in inner if node >= 0 and made[node] and node not in above}:
        for node in empty:
            made[node], above[node] = "", -2
        inner -= empty
    left = [node for node, code in enumerate(made) if code]
    place = {node: at for at, node in enumerate(left)}
    return [made[node] for node in left], [place.get(above[node], -1) for node in left]
