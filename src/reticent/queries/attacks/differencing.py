# SPDX-License-Identifier: Apache-2.0
"""Attacks by differences of record sets: each pair or system of harmless sets holds the target as what is left."""

import itertools

import numpy as np
from numpy.typing import NDArray

from reticent.base.randomness import as_secret
from reticent.queries.attacks.attacker import (
    EVE,
    MALLORY,
    Attacker,
    Claim,
    NotApplicable,
    all_of,
    difference,
    is_code,
    name,
    question,
)
from reticent.queries.attacks.spans import Span, mean_of
from reticent.queries.attacks.spellings import spellings

REPEATS = 10
MOST_PADS = 40


def tracker(attacker: Attacker) -> Claim:
    """The general tracker (Denning, Denning and Schwartz 1979): q(C) = q(C ∨ T) + q(C ∨ ¬T) − q(T) − q(¬T)."""
    knows = attacker.knows
    target = all_of(knows.target)
    variable = knows.target[-1][0]
    for code in (c for c in knows.codes[variable] if c != knows.target[-1][1]):
        t = is_code(variable, code)
        found = [attacker.total(w) for w in (f"{target} OR {t}", f"{target} OR NOT {t}", t, f"NOT {t}")]
        if None not in found:
            a, b, c, d = (f for f in found if f is not None)
            return Claim(a.plus(b).minus(c).minus(d), text=f"tracker {code}")
    return Claim(text="every tracker was refused")


def depth(attacker: Attacker) -> Claim:
    """Random unions of cells, large each, until the target is a rational combination of them (no pair differs by it)."""
    knows = attacker.knows
    if len(knows.target) < 2:
        raise NotApplicable("the target needs a combination of two filters")
    narrow = sorted(knows.target, key=lambda pair: len(knows.codes[pair[0]]))[:2]
    own = tuple(narrow)
    cells = [tuple(zip([v for v, _ in narrow], combination)) for combination in
             itertools.product(*(knows.codes[v] for v, _ in narrow))]  # fmt: skip
    rng = as_secret(1979).stream("depth")
    rows, answers = [], []
    for _ in range(len(cells) + 8):
        chosen = rng.random(len(cells)) < 0.5
        with_target = bool(rng.random() < 0.5)
        parts = [all_of(c) for c, take in zip(cells, chosen) if take and c != own]
        if chosen[cells.index(own)]:
            parts.append(all_of(own) if with_target else f"({all_of(own)} AND NOT {all_of(knows.target)})")
        else:
            with_target = False
        found = attacker.total(" OR ".join(parts) or "FALSE")
        if found is not None:
            rows.append(np.append(chosen.astype(np.float64), float(with_target)))
            answers.append(found)
    # column `own` is the cell without the target, the last column the target
    return Claim(_combined(np.array(rows).reshape(-1, len(cells) + 1), answers), text=f"{len(rows)} sums answered")


def _combined(rows: NDArray[np.float64], answers: list[Span]) -> Span | None:
    """The last unknown as a combination of the answers, if it is one."""
    unit = np.zeros(rows.shape[1])
    unit[-1] = 1.0
    if not len(rows):
        return None
    weights = np.linalg.lstsq(rows.T, unit, rcond=None)[0]
    if float(np.abs(rows.T @ weights - unit).max()) > 1e-9:
        return None
    total = Span(0.0, 0.0)
    for weight, answer in zip(weights, answers):
        total = total.plus(answer.times(float(weight)))
    return total


def averaging(attacker: Attacker) -> Claim:
    """All and all but the target, again and again and in many spellings; noise that is drawn again averages out."""
    target = all_of(attacker.knows.target)
    everyone = ["TRUE"] * REPEATS + ["1 = 1", "NOT FALSE", "TRUE OR FALSE", f"{target} OR NOT {target}"]
    others = [f"NOT {target}"] * REPEATS + [f"NOT ({text})" for text in spellings(attacker.knows)[:12]]
    wholes = [span for text in everyone if (span := attacker.total(text)) is not None]
    lefts = [span for text in others if (span := attacker.total(text)) is not None]
    return Claim(difference(mean_of(wholes), mean_of(lefts)), text=f"{len(set(lefts))} different answers for one set")


def padding(attacker: Attacker) -> Claim:
    """T(U ∪ P) − T(V ∪ P), V = U without the target, over many pads P; what noise does to U and V averages out.

    U is what shares a code with the target and P other codes of that variable, for each variable in turn: pads within
    the target's stratum and pads outside.
    """
    knows = attacker.knows
    target = all_of(knows.target)
    found, asked = [], 0
    for variable, own in knows.target:
        others = [code for code in knows.codes[variable] if code != own]
        pads = [pad for size in range(len(others) + 1) for pad in itertools.combinations(others, size)]
        for pad in pads[:MOST_PADS]:
            universe = "(" + " OR ".join(is_code(variable, code) for code in (own, *pad)) + ")"
            span = difference(attacker.total(universe), attacker.total(f"{universe} AND NOT {target}"))
            found += [] if span is None else [span]
            asked += 1
    return Claim(mean_of(found), text=f"{len(found)} of {asked} pads answered")


def collusion(attacker: Attacker) -> Claim:
    """Two users, each with one harmless question."""
    target = all_of(attacker.knows.target)
    first = attacker.total(user=EVE)
    second = attacker.total(f"NOT {target}", user=MALLORY)
    return Claim(difference(first, second), text="two users, one question each")


def versions(attacker: Attacker) -> Claim:
    """The same sums of two versions of the data: the target came in between, so each difference is its value."""
    knows = attacker.knows
    sets = ["TRUE", *(is_code(variable, code) for variable, code in knows.target)]
    pairs = attacker.both_versions(f"SUM({name(knows.response)})", sets)
    found = [span for before, after in pairs if (span := difference(after, before)) is not None]
    return Claim(mean_of(found), text=f"{len(found)} of {len(sets)} sums answered in both versions")


def insider(attacker: Attacker) -> Claim:
    """A respondent subtracts their own value from the sum of a pair, asked directly and as a difference."""
    knows = attacker.knows
    if knows.partner is None or knows.partner_value is None:
        raise NotApplicable("the target has no partner with whom it makes a pair")
    pair = f"({all_of(knows.target)} OR {all_of(knows.partner)})"
    own = Span(knows.partner_value, knows.partner_value)
    direct = attacker.total(pair)
    if direct is None:
        direct = difference(attacker.total(), attacker.total(f"NOT {pair}"))
    return Claim(None if direct is None else direct.minus(own), text="sum of a pair less one's own value")


def fingerprint(attacker: Attacker) -> Claim:
    """Equality with a number that only the target has, directly and as all but it."""
    if attacker.knows.fingerprint is None:
        raise NotApplicable("no numeric filter is unique for the target")
    variable, value, _ = attacker.knows.fingerprint
    direct = attacker.total(f"{name(variable)} = {value!r}")
    if direct is None:
        direct = difference(attacker.total(), attacker.total(f"{name(variable)} <> {value!r}"))
    return Claim(direct, text=f"{variable} is unique for everybody")


def covariance(attacker: Attacker) -> Claim:
    """Mean and variance of two records give both: m ± √(v/2); as a difference of sums of squares if asked directly fails."""
    knows = attacker.knows
    if knows.partner is None:
        raise NotApplicable("the target has no partner with whom it makes a pair")
    pair = f"({all_of(knows.target)} OR {all_of(knows.partner)})"
    response = name(knows.response)
    mean, variance = (attacker.span(f"{s}({response})", pair) for s in ("AVG", "VARIANCE"))
    if mean is None or variance is None:
        total, squares = _power_sums(attacker, "TRUE"), _power_sums(attacker, f"NOT {pair}")
        if total is None or squares is None:
            return Claim(text="mean and variance of the pair do not follow")
        one, two = total[0].minus(squares[0]), total[1].minus(squares[1])
        mean = one.times(0.5)
        variance = two.minus(Span(mean.low**2, mean.high**2).times(2.0))
    half = Span(max(variance.low, 0.0) ** 0.5, max(variance.high, 0.0) ** 0.5).times(0.5**0.5)
    return Claim(mean.plus(half), text="the larger of the two")


def _power_sums(attacker: Attacker, where: str) -> tuple[Span, Span] | None:
    """Σy and Σy² from count, mean and variance."""
    response = name(attacker.knows.response)
    result = attacker.ask(question(f"COUNT({response}), AVG({response}), VARIANCE({response})", where))
    values = [Span.of(v) for v in result.rows[0].values] if hasattr(result, "rows") else []
    if len(values) != 3 or any(v is None for v in values):
        return None
    count, mean, variance = (v for v in values if v is not None)
    n = count.low
    squares = variance.times(n - 1).plus(Span(mean.low**2, mean.high**2).times(n))
    return mean.times(n), squares
