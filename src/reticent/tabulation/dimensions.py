# SPDX-License-Identifier: Apache-2.0
"""From a variable and its trees to the nodes of a dimension."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from reticent.base.errors import DataError
from reticent.data.hierarchy import Hierarchy
from reticent.data.microdata import Microdata
from reticent.data.table import OUTSIDE, Dimension, DimensionSpec, Nodes

MISSING_CODE = "missing"


def build_dimension(data: Microdata, spec: DimensionSpec) -> tuple[Dimension, Nodes]:
    """The dimension, and the node of each of the variable's categories (the last entry is the node of missing values)."""
    variable = data.schema[spec.variable]
    categories = data.categories(spec.variable)
    trees = spec.trees or _own_trees(data, spec)
    if spec.level is not None:
        trees, lifted = _cut(trees, spec.level, spec.variable)
    else:
        lifted = {}
    has_missing = bool(variable.missing) or bool((data.encoded(spec.variable).codes < 0).any())
    missing = (variable.missing[0] if variable.missing else MISSING_CODE) if has_missing else None
    dimension = dimension_of_trees(spec.variable, trees, missing=missing, labels=dict(_labels(data, spec.variable)))
    dimension = replace(dimension, from_records=_from_records(data, spec, dimension, lifted))
    nodes = np.full(len(categories) + 1, -1, dtype=np.int32)
    used = np.unique(data.encoded(spec.variable).codes)
    for category in used[used >= 0].tolist():
        code = categories[category]
        nodes[category] = _leaf_node(dimension, lifted.get(code, code))
    nodes[-1] = dimension.missing
    return dimension, nodes


def _from_records(data: Microdata, spec: DimensionSpec, dimension: Dimension, lifted: dict[str, str]) -> frozenset[str]:
    """Codes that neither the schema nor a hierarchy declares, and what stands above such codes only."""
    variable = data.schema[spec.variable]
    # a tree by digits, of the plan or of the schema, has the codes of the records; so has one that was guessed
    made = bool(spec.digits or variable.digits) or "hierarchy" in variable.guessed
    if spec.trees or (variable.hierarchy is not None and not made):
        seen = dimension.missing >= 0 and not variable.missing
        return frozenset([dimension.codes[dimension.missing]] if seen else [])
    known = {dimension.codes[0], *variable.missing}
    start, above = dimension.ancestors
    for code in () if "codes" in variable.guessed else variable.codes:
        node = dimension.index.get(lifted.get(code, code))
        if node is not None:
            known |= {dimension.codes[at] for at in above[start[node] : start[node + 1]].tolist()}
    return frozenset(set(dimension.codes) - known)


def dimension_of_trees(
    name: str, trees: Sequence[Hierarchy], *, missing: str | None = None, labels: dict[str, str] | None = None
) -> Dimension:
    """One dimension of one or more trees that share their total and their leaves; equal codes are the same node."""
    first = trees[0]
    for tree in trees[1:]:
        if tree.total != first.total:
            raise DataError(
                f"Dimension {name!r}: its trees have different totals, {first.total!r} and {tree.total!r}; they must agree.",
                variables=(name,),
            )
        lost = set(first.leaves).symmetric_difference(tree.leaves)
        if lost:
            raise DataError(
                f"Dimension {name!r}: code {sorted(lost)[0]!r} is a leaf of one tree only; all trees must have the same leaves.",
                variables=(name,),
            )
    codes = _reading_order(trees)
    if missing is not None and missing not in codes:
        codes.append(missing)
    place = {code: position for position, code in enumerate(codes)}
    parents = []
    for tree in trees:
        parent = np.full(len(codes), OUTSIDE, dtype=np.int32)
        for position, above in enumerate(tree.parents):
            parent[place[tree.codes[position]]] = -1 if above < 0 else place[tree.codes[above]]
        if missing is not None and missing not in tree.index:
            parent[place[missing]] = 0
        parents.append(parent)
    known = dict(labels or {})
    for tree in trees:
        known.update(zip(tree.codes, tree.labels))
    text = tuple(known.get(code, code) for code in codes) if known else ()
    return Dimension(name, tuple(codes), tuple(parents), text, place[missing] if missing is not None else -1)


def _own_trees(data: Microdata, spec: DimensionSpec) -> tuple[Hierarchy, ...]:
    variable = data.schema[spec.variable]
    if not spec.digits and variable.hierarchy is not None:
        return (variable.hierarchy,)
    digits = spec.digits or variable.digits
    if digits:
        codes = variable.codes or data.categories(spec.variable)
        listed = dict.fromkeys([*codes, *data.categories(spec.variable)])
        return (Hierarchy.from_digits([c for c in listed if c not in variable.missing], digits, total=spec.total),)
    codes = tuple(dict.fromkeys([*variable.codes, *data.categories(spec.variable)]))
    codes = tuple(code for code in codes if code not in variable.missing)
    if spec.total in codes:
        raise DataError(
            f"Dimension {spec.variable!r}: the total code {spec.total!r} is also a code of the variable; choose another total.",
            variables=(spec.variable,),
        )
    return (Hierarchy.flat(codes, total=spec.total),)


def _cut(trees: Sequence[Hierarchy], level: int, name: str) -> tuple[tuple[Hierarchy, ...], dict[str, str]]:
    if len(trees) > 1:
        raise DataError(f"Dimension {name!r}: level works with one tree, this variable has {len(trees)}.")
    return (trees[0].cut_at(min(level, trees[0].depth)),), trees[0].ancestor_at(min(level, trees[0].depth))


def _labels(data: Microdata, name: str) -> list[tuple[str, str]]:
    variable = data.schema[name]
    return list(zip(variable.codes, variable.labels)) if variable.labels else []


def _leaf_node(dimension: Dimension, code: str) -> int:
    node = dimension.index.get(code)
    if node is None:
        raise DataError(
            f"Dimension {dimension.name!r}: the data have codes that its hierarchy does not. "
            "Add them to the hierarchy, or recode them first (`reticent describe` lists them).",
            variables=(dimension.name,),
        )
    if not dimension.is_leaf[node]:
        raise DataError(
            f"Dimension {dimension.name!r}: the data have the code {code!r}, which is a subtotal of its hierarchy; "
            "records must carry leaf codes.",
            variables=(dimension.name,),
        )
    return node


def _reading_order(trees: Sequence[Hierarchy]) -> list[str]:
    """The first tree depth first, then the inner codes of the others before their leaves' end."""
    first = trees[0]
    order: list[str] = []
    stack = [0]
    while stack:
        at = stack.pop()
        order.append(first.codes[at])
        stack.extend(reversed(first.children[at]))
    known = set(order)
    extra = [code for tree in trees[1:] for code in tree.codes if code not in known]
    # inner codes of further trees stand right behind the total, so that every parent is before its children
    return [order[0], *dict.fromkeys(extra), *order[1:]]
