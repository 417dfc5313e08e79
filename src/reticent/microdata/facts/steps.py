# SPDX-License-Identifier: Apache-2.0
"""What each masking method leaves to the attacker: one declaration per method, beside the words that the manual shows.

A declaration follows one step: it says which labels may be shown for which, which numbers for which, and what is no longer
known. Without `beyond` it is exact: a world agrees with it just if the method can show this output for it, whatever it chose.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from reticent.data.declarations import Declarations
from reticent.data.method import MaskingMethod
from reticent.data.schema import Kind
from reticent.microdata.facts.seen import BLANK, Drawn, Link, Number, Seen
from reticent.microdata.facts.spans import Grid, Limit, Span
from reticent.microdata.mask.bands import band_labels
from reticent.microdata.mask.generalize import Generalize
from reticent.microdata.mask.identifiers import NewIdentifiers, RemoveIdentifiers
from reticent.microdata.mask.local_suppression import LocalSuppression
from reticent.microdata.mask.microaggregation import ONE_BY_ONE, Microaggregate
from reticent.microdata.mask.recode import Recode
from reticent.microdata.mask.reorder import Reorder
from reticent.microdata.mask.round_values import RoundValues, choose_neighbour
from reticent.microdata.mask.sampling import Sample
from reticent.microdata.mask.top_code import BottomCode, LimitCode, TopCode
from reticent.microdata.search.ladders import ladder_from_hierarchy

MISSING_BEFORE = "which values were missing before others were blanked"
Follow = Callable[[Any, Seen, Mapping[str, Any]], Seen]


DECLARED: Declarations[type[Any], Follow] = Declarations()
"""The declaration of each masking method."""
declares = DECLARED.declares


def follow_step(step: MaskingMethod, seen: Seen, facts: Mapping[str, Any]) -> Seen:
    """What is known after one more step; `facts` is what the run recorded of it (computed limits)."""
    found = DECLARED[type(step)].read(step, seen, facts)
    return replace(found, schema=step.schema_after(seen.schema))


def text_of(label: Any) -> str:
    """A label as the file writes it."""
    if not isinstance(label, float):
        return str(label)
    return str(int(label)) if label == int(label) else repr(label)


@declares(RemoveIdentifiers, NewIdentifiers, Reorder, tells="what the other variables reveal; nothing by itself")
def _nothing(step: MaskingMethod, seen: Seen, facts: Mapping[str, Any]) -> Seen:
    gone = [name for name in seen.schema.names if name not in step.schema_after(seen.schema)]
    if isinstance(step, NewIdentifiers):
        gone.append(step.variable)
    return replace(seen, views=tuple(view.without(gone) for view in seen.views))


@declares(
    Recode,
    tells="exact counts of every union of published codes; of a banded number the band of each record",
)
def _recode(step: Recode, seen: Seen, facts: Mapping[str, Any]) -> Seen:
    name = step.variable
    if step.bands:
        spans = _band_spans(step.bands)
        seen = seen.with_link(name, lambda labels: [_bands_of(float(label), spans) for label in labels])
        return seen.with_number(name, lambda number: _as_texts(number, spans))
    variable = seen.schema[name]

    def images(labels: Sequence[Any]) -> list[tuple[Any, ...]]:
        texts = [text_of(label) for label in labels]
        pairs = step.images(variable, tuple(texts))
        kept = {text: text for text in texts} if step.keep else {}
        return [((kept | pairs)[text],) if text in kept or text in pairs else () for text in texts]

    seen = seen.with_link(name, images)
    return seen.without_number(name, "which numbers stand behind the codes of a recoded response")


def _band_spans(edges: tuple[float, ...]) -> dict[str, Span]:
    """The numbers of each band by its label, written for whole numbers or for any: one may stand where most are whole."""
    exact = [Fraction(repr(float(edge))) for edge in edges]
    ends = [
        Span(None, exact[0], high_open=True),
        *(Span(low, high, high_open=True) for low, high in pairwise(exact)),
        Span(exact[-1], None),
    ]
    found: dict[str, Span] = {}
    whole_edges = all(float(edge).is_integer() for edge in edges)
    for whole in (False, True) if whole_edges else (False,):
        found |= zip(band_labels(edges, whole=whole, below=True), ends, strict=True)
    return found


def _bands_of(value: float, spans: Mapping[str, Span]) -> tuple[str, ...]:
    exact = Fraction(repr(value))
    return tuple(label for label, span in spans.items() if span.holds(exact))


def _as_texts(number: Number, spans: Mapping[str, Span]) -> Number:
    """A number that is shown as a text from now on."""
    return replace(number, texts=dict(spans))


@declares(
    Generalize,
    tells="exact counts of every union of published codes; a suppressed record may be of any combination",
)
def _generalize(step: Generalize, seen: Seen, facts: Mapping[str, Any]) -> Seen:
    schema = seen.schema
    for name in step._keys(schema):
        tree = schema[name].hierarchy

        def images(labels: Sequence[Any], name: str = name, tree: Any = tree) -> list[tuple[Any, ...]]:
            texts = [text_of(label) for label in labels]
            inside = [text for text in texts if tree is None or text in tree.leaves]
            ladder = ladder_from_hierarchy(name, inside, tree)
            rows = {
                text: tuple(dict.fromkeys(labels[steps[at]] for steps, labels in zip(ladder.steps, ladder.labels)))
                for at, text in enumerate(inside)
            }
            hidden = (BLANK,) if step.suppression > 0 else ()
            return [(*rows.get(text, ()), *hidden) for text in texts]

        seen = seen.with_link(name, images)
        if seen.number(name) is not None:
            seen = seen.without_number(name, "which numbers stand behind the codes of a generalised response")
    return seen


@declares(
    LocalSuppression,
    tells="a transport problem: a blanked record is of one of the combinations that its other values leave",
    beyond="only with `most_per_record`, or with several codes for missing values: which values were missing before",
)
def _suppress(step: LocalSuppression, seen: Seen, facts: Mapping[str, Any]) -> Seen:
    keys = [name for name in step.names(seen.schema) if name not in step.frozen]
    linked = [other for key in keys for other in step.linked.get(key, ())]
    for name in dict.fromkeys((*keys, *linked)):
        seen = seen.blanked(name)
    return seen if step.most_per_record is None else seen.noted(MISSING_BEFORE)


@declares(
    RoundValues,
    tells="an interval for the number of each record",
    beyond="only with `vectors`, of which nothing is said: which vectors are near to which records",
)
def _round(step: RoundValues, seen: Seen, facts: Mapping[str, Any]) -> Seen:
    if step.vectors:
        return seen.freed(step.variables, "which vectors are near to which records")
    grid = Grid(
        None if step.base is None else Fraction(repr(float(step.base))),
        tuple(sorted({Fraction(repr(float(point))) for point in step.points})),
        step.how,
        lambda middle: _goes_up(step, float(middle)),
    )

    def images(labels: Sequence[Any]) -> list[tuple[Any, ...]]:
        values = np.array([float(label) for label in labels])
        low, high = step.neighbours(values)
        if step.how == "random":
            return [tuple(dict.fromkeys(pair)) for pair in zip(low.tolist(), high.tolist(), strict=True)]
        return [(shown,) for shown in choose_neighbour(values, low, high, how=step.how, chance=None).tolist()]

    for name in step.variables:
        seen = seen.with_link(name, images)
        seen = _coarser(seen, name, grid.inverse)
    return seen


def _goes_up(step: RoundValues, middle: float) -> bool:
    """Whether the method takes a number half way between two points up; its own arithmetic decides."""
    value = np.array([middle])
    low, high = step.neighbours(value)
    return bool(choose_neighbour(value, low, high, how="nearest", chance=None)[0] > middle)


def _coarser(seen: Seen, name: str, inverse: Callable[[Span], Span]) -> Seen:
    """After a coarser number is shown; of sums that were shown before, nothing is said then."""
    number = seen.number(name)
    if number is None:
        return seen
    if number.summed:
        return seen.without_number(name, "the sums of values of which a coarser mean is shown")
    return seen.with_number(name, lambda known: replace(known, inverses=(*known.inverses, inverse)))


@declares(
    TopCode,
    BottomCode,
    tells="exact values on this side of the limit, that the others lie beyond it, and with `mean` their exact sum",
    beyond="only where the limit is computed from the file, or the replacement lies on this side of it: how the limit follows "
    "from the values",
)
def _limit(step: LimitCode, seen: Seen, facts: Mapping[str, Any]) -> Seen:
    name, sign = step.variable, int(step.sign)
    limit = float(step.value if step.value is not None else facts["limit"])
    if step.value is None:
        seen = seen.noted("how the limit of a coding follows from the values")
    new = limit
    if step.replacement == "mean":
        new = float(facts.get("replacement", limit))
    elif not isinstance(step.replacement, str):
        new = float(step.replacement)
    coding = Limit(Fraction(repr(limit)), Fraction(repr(new)), sign)
    if sign * (new - limit) < 0:
        return seen.freed([name], "how the limit of a coding follows from the values")

    def images(labels: Sequence[Any]) -> list[tuple[Any, ...]]:
        beyond = [sign * (float(label) - limit) > 0 for label in labels]
        if step.label is not None:
            return [(step.label if far else text_of(label),) for label, far in zip(labels, beyond, strict=True)]
        return [(new if far else label,) for label, far in zip(labels, beyond, strict=True)]

    seen = seen.with_link(name, images)
    number = seen.number(name)
    if number is None:
        return seen
    if number.summed:
        return seen.without_number(name, "the sums of values of which a coarser mean is shown")
    if step.label is not None:
        return seen.with_number(name, lambda known: replace(known, texts={str(step.label): coding.beyond}))
    if step.replacement == "mean" and new != limit:
        if number.inverses:
            return seen.without_number(name, "the sum of values that were made coarser before their mean was taken")
        return seen.with_number(
            name, lambda known: replace(known, inverses=(coding.inverse,), tail=new, members=coding.beyond)
        )
    return seen.with_number(name, lambda known: replace(known, inverses=(*known.inverses, coding.inverse)))


@declares(
    Microaggregate,
    tells="who is in a group with whom, and the sum of each group where its mean is shown",
    beyond="only with groups of one variable at a time (their order), and where something else than the mean stands for a "
    "group, or codes or missing values are grouped: which values lead to what is shown",
)
def _microaggregate(step: Microaggregate, seen: Seen, facts: Mapping[str, Any]) -> Seen:
    if step.k == 1:
        return seen
    numeric = all(seen.schema[name].kind is Kind.NUMERIC for name in step.variables)
    shared = any(seen.schema[name].is_household for name in step.variables)
    plain = step.aggregation == "mean" and numeric and step.missing == "refuse" and not shared
    strata = all(name in seen.views[0].links for name in step.strata)
    means = (*step.variables, *step.strata)
    for name in step.variables:
        number = seen.number(name)
        fresh = number is not None and not number.inverses and not number.summed and not number.blank
        seen = seen.without_link(name, "which combinations a variable had whose groups share one value")
        if number is None:
            continue
        if not plain or not strata or not fresh:
            seen = seen.without_number(name, "which values lead to what stands for a group")
            continue
        seen = seen.with_number(name, lambda known: replace(known, means=means))
        if step.partition in ONE_BY_ONE:
            seen = seen.noted("the order of groups that were formed one variable at a time")
    return seen


@declares(
    Sample,
    tells="the sampled records themselves, lower bounds of counts, and the sizes of strata that the share allows",
    beyond="only with whole households: how many there are",
)
def _sample(step: Sample, seen: Seen, facts: Mapping[str, Any]) -> Seen:
    weight = seen.schema.weight
    if weight is not None:
        seen = seen.freed([weight], "weights that were raised by the sample")
    if seen.drawn is not None:
        return replace(seen, drawn=Drawn(None)).noted("the sizes of strata that were sampled twice")
    if step.households:
        return replace(seen, drawn=Drawn(None)).noted("how many households were sampled")
    links: dict[str, Link] = {name: seen.views[0].links[name] for name in step.strata if name in seen.views[0].links}
    if len(links) < len(step.strata):
        return replace(seen, drawn=Drawn(None)).noted("the sizes of strata that the ground does not know")
    return replace(seen, drawn=Drawn(step.fraction, step.strata, step.weight, links))
