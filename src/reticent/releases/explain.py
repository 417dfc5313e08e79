# SPDX-License-Identifier: Apache-2.0
"""Why a release is refused, in codes, and what could be released instead."""

import numpy as np

from reticent.base.arrays import Ints
from reticent.data.facts import COUNT, MISSING, OWN, Fact, Facts, Ground, Term
from reticent.releases.joint import JointSystem
from reticent.releases.verdict import Exposure, JointVerdict

MOST_TERMS = 8
MOST_CODES = 4


def explain(joint: JointSystem, new: Facts, verdict: JointVerdict, *, version: int | None = None) -> tuple[str, ...]:
    """A sentence per exposure, and the relations that prove it in codes."""
    number = joint.current if version is None else version
    told = {facts.release: (facts, own) for facts, own in joint.accepted} | {new.release: (new, number)}
    found = []
    for exposure in verdict.exposures:
        found.append(exposure.sentence())
        if exposure.combination:
            found.append(_relations(joint, exposure, told))
    return tuple(found)


def _relations(joint: JointSystem, exposure: Exposure, told: dict[str, tuple[Facts, int]]) -> str:
    parts = []
    for release, fact, factor in exposure.combination[:MOST_TERMS]:
        facts, version = told[release]
        text = describe(joint.versions[version].ground, facts.facts[fact])
        parts.append(f"{'+' if factor > 0 else '−'}{'' if abs(factor) == 1 else f'{abs(factor)} · '}{text} ({release})")
    left = len(exposure.combination) - MOST_TERMS
    return f"It follows from {' '.join(parts)}{f' and {left} further facts' if left > 0 else ''}."


def describe(ground: Ground, fact: Fact) -> str:
    """What a fact is about, in codes."""
    return " and ".join(_term(ground, term) for term in fact.terms if term.response != OWN) or "auxiliary unknowns"


def _term(ground: Ground, term: Term) -> str:
    what = "count" if term.response == COUNT else f"total of {term.response}"
    of_place = ground.atoms_of(term.response)
    atoms = of_place[term.places]
    chosen = np.unique(atoms)
    conditions, selected = [], np.ones(ground.n_atoms, dtype=bool)
    for column, name in enumerate(ground.variables):
        codes = np.unique(ground.codes[chosen, column])
        if len(codes) == len(np.unique(ground.codes[:, column])):
            continue
        selected &= np.isin(ground.codes[:, column], codes)
        conditions.append(f"{name} {_codes(ground, column, codes)}")
    occupied = np.zeros(ground.n_atoms, dtype=bool)
    occupied[of_place] = True
    whole = int((selected & occupied).sum()) == len(chosen) and int(selected[of_place].sum()) == len(term.places)
    where = f" where {' and '.join(conditions)}" if conditions else ""
    return f"{what}{where}" if whole else f"{what} of some records{where}"


def _codes(ground: Ground, column: int, codes: Ints) -> str:
    names = ["missing" if code == MISSING else ground.categories[column][code] for code in codes.tolist()]
    if len(names) == 1:
        return f"= {names[0]}"
    shown = ", ".join(names[:MOST_CODES])
    return f"in ({shown}{f', … {len(names)} codes' if len(names) > MOST_CODES else ''})"
