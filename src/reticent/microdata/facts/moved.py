# SPDX-License-Identifier: Apache-2.0
"""Declarations of the methods that change values by chance: what stays is true, what is beyond it is not certified."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from reticent.microdata.facts.seen import Drawn, Near, Seen
from reticent.microdata.facts.steps import declares
from reticent.microdata.mask.massc import Massc
from reticent.microdata.mask.multiplicative import MultiplicativeNoise
from reticent.microdata.mask.noise import Noise
from reticent.microdata.mask.pram import Pram
from reticent.microdata.mask.rank_swap import RankSwap
from reticent.microdata.mask.record_swap import RecordSwap
from reticent.microdata.mask.resample import Resample
from reticent.microdata.mask.safe import Safe
from reticent.microdata.mask.shuffle import Shuffle
from reticent.microdata.mask.swap import Swap
from reticent.microdata.mask.synthesize import Synthesize
from reticent.microdata.mask.top_code import MultivariateTopCode
from reticent.microdata.mask.weights_noise import NoiseOnWeights

NOISY = "how near the noisy values are to the true ones, on average and by the size of the noise"
DRAWN = "how likely values stay as they are"
FEW = "how few records were changed, and which were likely to be"
RANKS = "how far ranks moved at most"
MODEL = "what the model that drew the values reveals about the true ones"
PULLED = "which records lie outside, and roughly in which direction from the center"
WEIGHTS = "how near the weights are to the true ones"
COPIED = "how near counts without a stated bound are to the true ones, and how the search chose"


@declares(Noise, tells="the other variables as they are; with `exact` the sums of the noisy numbers", beyond=NOISY)
def _noise(step: Noise, seen: Seen, facts: Mapping[str, Any]) -> Seen:
    if step.k == 0:
        return seen
    if not step.exact:
        return seen.freed(step.variables, NOISY)
    for name in step.variables:
        seen = seen.exchanged([name], step.strata, NOISY).summed(name, step.strata)
    return seen


@declares(MultiplicativeNoise, tells="the other variables as they are", beyond=NOISY)
def _multiplicative(step: MultiplicativeNoise, seen: Seen, facts: Mapping[str, Any]) -> Seen:
    return seen.freed(step.variables, NOISY)


@declares(NoiseOnWeights, tells="all variables except the weight as they are", beyond=f"only of the weights: {WEIGHTS}")
def _weights(step: NoiseOnWeights, seen: Seen, facts: Mapping[str, Any]) -> Seen:
    return seen.freed([str(seen.schema.weight)], WEIGHTS)


@declares(MultivariateTopCode, tells="the other variables as they are", beyond=PULLED)
def _ellipse(step: MultivariateTopCode, seen: Seen, facts: Mapping[str, Any]) -> Seen:
    return seen.freed(step.variables, PULLED)


@declares(
    Pram, tells="the other variables as they are; moves that the matrix has no chance for did not happen", beyond=DRAWN
)
def _pram(step: Pram, seen: Seen, facts: Mapping[str, Any]) -> Seen:
    for name in step.variables:
        own = [one for one in facts.get("matrices", ()) if one["variable"] == name]
        moves: dict[str, dict[str, None]] = {}
        for one in own:
            for code, row in zip(one["codes"], one["matrix"], strict=True):
                moves.setdefault(code, {}).update(
                    {new: None for new, chance in zip(one["codes"], row, strict=True) if chance > 0}
                )
        if (
            not own or step.strata or not step.matrix
        ):  # a matrix made from the file has chances only for codes that occur
            seen = seen.freed([name], DRAWN)
            continue
        seen = seen.with_link(name, partial(_moves, moves)).noted(DRAWN)
    return seen


def _moves(moves: Mapping[str, Mapping[str, None]], labels: Sequence[Any]) -> list[tuple[Any, ...]]:
    """The codes that each code can become."""
    return [tuple(moves.get(label, ())) for label in labels]


@declares(Swap, tells="the other variables, and the exact counts of what was exchanged within `within`", beyond=FEW)
def _swap(step: Swap, seen: Seen, facts: Mapping[str, Any]) -> Seen:
    return seen.exchanged(step.variables, step.within, FEW)


@declares(
    RankSwap, tells="the other variables, and the exact values of each exchanged one within the strata", beyond=RANKS
)
def _rank_swap(step: RankSwap, seen: Seen, facts: Mapping[str, Any]) -> Seen:
    return _each_exchanged(step, seen, RANKS)


@declares(
    Shuffle, tells="the other variables, and the exact values of each shuffled one within the strata", beyond=MODEL
)
def _shuffle(step: Shuffle, seen: Seen, facts: Mapping[str, Any]) -> Seen:
    return _each_exchanged(step, seen, MODEL)


def _each_exchanged(step: RankSwap | Shuffle, seen: Seen, beyond: str) -> Seen:
    for name in step.variables:
        seen = seen.exchanged([name], step.strata, beyond)
    return seen


@declares(RecordSwap, tells="the other variables as they are", beyond=FEW)
def _record_swap(step: RecordSwap, seen: Seen, facts: Mapping[str, Any]) -> Seen:
    return seen.freed((*step.areas, *step.carry_along), FEW)


@declares(Resample, tells="the other variables as they are", beyond=NOISY)
def _resample(step: Resample, seen: Seen, facts: Mapping[str, Any]) -> Seen:
    return seen.freed(step.variables, NOISY)


@declares(Synthesize, tells="the variables that were not replaced, as they are", beyond=MODEL)
def _synthesize(step: Synthesize, seen: Seen, facts: Mapping[str, Any]) -> Seen:
    return seen.freed(step.variables, MODEL)


@declares(Massc, tells="of the records that are left, the variables that were not substituted", beyond=FEW)
def _massc(step: Massc, seen: Seen, facts: Mapping[str, Any]) -> Seen:
    names = (*step.keys, str(seen.schema.weight))
    return replace(seen.freed(names, FEW), drawn=Drawn(None)).noted(FEW)


@declares(
    Safe,
    tells="the number of records, that shown combinations exist, and that the counts of controlled tables are within a bound "
    "that the plan states",
    beyond=COPIED,
)
def _safe(step: Safe, seen: Seen, facts: Mapping[str, Any]) -> Seen:
    names, links = step.names_in(seen.schema), seen.views[0].links
    told: list[tuple[tuple[str, ...], int | None]] = [(tuple(names), None)]
    for table in step.controlled(names):
        bound = step.single_bound if len(table) == 1 else step.crossed_bound
        told += [] if bound is None else [(tuple(names[at] for at in table), bound)]
    near = tuple(
        Near({name: links[name] for name in own}, bound)
        for own, bound in told
        if seen.drawn is None and all(name in links for name in own)
    )
    return replace(seen.freed(seen.schema.names, COPIED).noted(COPIED), near=near)
