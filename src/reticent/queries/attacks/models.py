# SPDX-License-Identifier: Apache-2.0
"""Attacks by statistics that lean on single records: regressions and order statistics."""

from reticent.queries.attacks.attacker import Attacker, Claim, NotApplicable, all_of, is_code, name
from reticent.queries.attacks.spans import Span

SHARES = 21


def outlier(attacker: Attacker) -> Claim:
    """A predictor in which the target is far out pulls the line through the target: its fitted value is its value."""
    if attacker.knows.dominated is None:
        raise NotApplicable("there is no number in which the target is far ahead")
    variable, value = attacker.knows.dominated
    found = attacker.model(variable)
    if "(intercept)" not in found or variable not in found:
        return Claim(text="the regression was refused")
    return Claim(found["(intercept)"].plus(found[variable].times(value)), text=f"regression on {variable}")


def dummy(attacker: Attacker) -> Claim:
    """An indicator that only the target has: intercept + coefficient is its value."""
    if attacker.knows.rare is None:
        raise NotApplicable("the target has no code of its own")
    variable, code = attacker.knows.rare
    return _cell_mean(attacker, variable, code, "TRUE")


def saturated(attacker: Attacker) -> Claim:
    """One categorical predictor in a small universe: fitted values are cell means, and the target is a cell of its own."""
    *others, (variable, code) = attacker.knows.target
    where = all_of(tuple(others)) if others else "TRUE"
    return _cell_mean(attacker, variable, code, where)


def _cell_mean(attacker: Attacker, variable: str, code: str, where: str) -> Claim:
    found = attacker.model(variable, where)
    label = f"{variable}[{code}]"
    if "(intercept)" not in found or label not in found:
        return Claim(text="refused, or the code was absorbed")
    return Claim(found["(intercept)"].plus(found[label]), text=f"coefficient of {label}")


def encoding(attacker: Attacker) -> Claim:
    """Quantiles at many shares spell out the ordered values; the target is known to be the largest of its group."""
    if attacker.knows.largest is None:
        raise NotApplicable("the target is not known to be the largest of a group")
    where = is_code(*attacker.knows.largest)
    response = name(attacker.knows.response)
    top = attacker.span(f"MAX({response})", where)
    read = [attacker.span(f"QUANTILE({response}, {k / (SHARES - 1):g})", where) for k in range(SHARES)]
    answered = [span for span in read if span is not None]
    best: Span | None = top if top is not None else (answered[-1] if answered else None)
    return Claim(best, text=f"{len(answered)} quantiles answered")
