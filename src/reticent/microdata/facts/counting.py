# SPDX-License-Identifier: Apache-2.0
"""What a file tells about counts: exact sums where patterns do not overlap, else a transport problem of patterns to atoms."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from reticent.base.arrays import Ints
from reticent.data.facts import COUNT, Ground
from reticent.microdata.facts.builder import Builder, own_term, total
from reticent.microdata.facts.matching import Matching, Shown


def tell_counts(builder: Builder, matching: Matching, *, sampled: bool) -> None:
    """The facts about numbers of records in atoms; of a sample they are lower bounds."""
    if not sampled:
        builder.tell([total(COUNT, matching.never_shown)], 0, 0)
    for patterns, signatures in matching.parts:
        if len(patterns) == 1 or len(signatures) == 1:
            there = int(matching.records[patterns].sum())
            atoms = np.sort(np.concatenate([matching.atoms(int(s)) for s in signatures]))
            builder.tell([total(COUNT, atoms)], there, None if sampled else there)
        else:
            _transport(builder, matching, patterns, signatures, sampled=sampled)


def _transport(builder: Builder, matching: Matching, patterns: Ints, signatures: Ints, *, sampled: bool) -> None:
    """Records of a pattern are spread over the signatures that it may be shown for: how, is unknown."""
    flows: list[dict[int, int]] = [{} for _ in signatures]
    constant = [0] * len(signatures)
    for pattern in patterns.tolist():
        there = int(matching.records[pattern])
        places = np.searchsorted(signatures, matching.signatures(pattern)).tolist()
        if len(places) == 1:
            constant[places[0]] += there
            continue
        mine = {builder.unknown(0, there): 1 for _ in places}
        for place, flow in zip(places, mine, strict=True):
            flows[place][flow] = -1
        builder.tell([own_term(mine)], there, there)
    for place, signature in enumerate(signatures.tolist()):
        terms = [total(COUNT, matching.atoms(signature)), own_term(flows[place])]
        builder.tell(terms, 0, None if sampled else 0, constant=-constant[place])


def tell_near(builder: Builder, ground: Ground, columns: Sequence[Shown], bound: int | None) -> None:
    """Counts of a table of the file that are within a bound of the true ones; without a bound, that what is shown exists.

    Nothing is said where a code may be shown in several ways.
    """
    labels = []
    for name, link, _ in columns:
        shown = dict(link.pairs.tolist())
        if len(shown) < len(link.pairs):
            return
        labels.append(np.array([shown[code] for code in ground.codes[:, ground.variables.index(name)].tolist()]))
    of_atoms = np.column_stack(labels)
    cells, cell = np.unique(of_atoms, axis=0, return_inverse=True)
    published = Counter(zip(*(own.tolist() for _, _, own in columns), strict=True))
    for number, labelled in enumerate(cells.tolist()):
        there = published[tuple(labelled)]
        low, high = (1 if there else 0, None) if bound is None else (max(there - bound, 0), there + bound)
        builder.tell([total(COUNT, np.flatnonzero(cell.reshape(-1) == number))], low or None, high)
