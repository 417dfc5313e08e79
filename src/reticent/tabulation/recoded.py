# SPDX-License-Identifier: Apache-2.0
"""Records with one variable recoded for one table: code lists (`.grc`), closed branches of a tree, levels."""

import numpy as np

from reticent.base.errors import DataError
from reticent.data.hierarchy import Hierarchy
from reticent.data.microdata import Microdata
from reticent.data.recoding import Recoding


def recode(data: Microdata, variable: str, recoding: Recoding) -> Microdata:
    """The data with one variable recoded; a recoded code list stands flat, a closed tree keeps what is above."""
    return _close(data, variable, recoding) if recoding.is_tree else _map(data, variable, recoding)


def tree_of(data: Microdata, variable: str) -> Hierarchy:
    """The hierarchy of a variable, from its file or its digits."""
    described = data.schema[variable]
    if described.hierarchy is not None:
        return described.hierarchy
    if not described.digits:
        raise DataError(
            f"Variable {variable!r} has no hierarchy to recode; declare one in the schema.", variables=(variable,)
        )
    codes = [code for code in data.categories(variable) if code not in described.missing]
    return Hierarchy.from_digits(codes, described.digits)


def _map(data: Microdata, variable: str, recoding: Recoding) -> Microdata:
    missing = data.schema[variable].missing
    old = data.categories(variable)
    image = recoding.image(old, missing=missing)
    new = [image.get(code, code) for code in old]
    changed = _recoded(data, variable, new)
    facts = {"hierarchy": None, "digits": (), "codes": (), "labels": ()}
    return changed.with_schema(changed.schema.change(variable, **facts, missing=recoding.missing or missing))


def _close(data: Microdata, variable: str, recoding: Recoding) -> Microdata:
    tree = tree_of(data, variable)
    lost = tree.missing_from(recoding.closed)
    if lost:
        raise DataError(
            f"{recoding.owner}: code {lost[0]!r} is not in the hierarchy of {variable!r}.", variables=(variable,)
        )
    closed = {tree.position(code) for code in recoding.closed}
    image: list[int] = []
    for position, parent in enumerate(tree.parents):
        above = image[parent] if parent >= 0 else -1
        image.append(above if above >= 0 and (above in closed or image[parent] != parent) else position)
    kept = [position for position in range(len(tree.codes)) if image[position] == position]
    place = {position: number for number, position in enumerate(kept)}
    parents = tuple(-1 if tree.parents[i] < 0 else place[tree.parents[i]] for i in kept)
    pruned = Hierarchy(tuple(tree.codes[i] for i in kept), parents)
    new = [tree.codes[image[tree.index[code]]] if code in tree.index else code for code in data.categories(variable)]
    changed, before = _recoded(data, variable, new), data.schema[variable]
    # a tree by digits has the codes of the records
    guessed = (*before.guessed, "hierarchy") if before.digits else before.guessed
    facts = {"hierarchy": pruned, "digits": (), "codes": (), "labels": (), "guessed": guessed}
    return changed.with_schema(changed.schema.change(variable, **facts))


def _recoded(data: Microdata, variable: str, new: list[str]) -> Microdata:
    categories = tuple(dict.fromkeys(new))
    place = {code: number for number, code in enumerate(categories)}
    image = np.array([*(place[code] for code in new), -1], dtype=np.int32)
    return data.with_codes(variable, image[data.encoded(variable).codes], categories)
