# SPDX-License-Identifier: Apache-2.0
"""Attacks that read what is said when nothing is answered: spellings, messages, and the pattern of refusals."""

import itertools

from reticent.queries.attacks.attacker import Attacker, Claim, NotApplicable, all_of, as_bytes, is_code, name, question
from reticent.queries.attacks.spans import Span, mean_of
from reticent.queries.attacks.spellings import spellings
from reticent.queries.refusals import Answer, Refusal

STATISTICS = ("COUNT(*)", "SUM({y})", "AVG({y})", "VARIANCE({y})", "MEDIAN({y})", "MAX({y})")


def variants(attacker: Attacker) -> Claim:
    """The target, and everybody else, in more than forty spellings: another answer or verdict would be a way in."""
    results = [[attacker.ask(question(f"SUM({name(attacker.knows.response)})", text)) for text in texts]
               for texts in (spellings(attacker.knows), [f"NOT ({t})" for t in spellings(attacker.knows)])]  # fmt: skip
    verdicts = max(len({as_bytes(r) for r in group}) for group in results)
    found = [Span.of(r.value) for r in results[0] if isinstance(r, Answer)]
    span = mean_of([s for s in found if s is not None])
    return Claim(span, verdicts > 1, f"{len(results[0])} spellings, {verdicts} different results")


def error_oracle(attacker: Attacker) -> Claim:
    """Ask about a code that one record has and about one that nobody has; a different result reveals that it exists."""
    if attacker.knows.hidden is None:
        raise NotApplicable("all codes of the target are published")
    variable, code = attacker.knows.hidden
    statistics = [s.format(y=name(attacker.knows.response)) for s in STATISTICS]
    statistics.append(f"LINREG({name(attacker.knows.response)}, {name(variable)})")
    differing = 0
    for statistic in statistics:
        there = attacker.ask(question(statistic, is_code(variable, code)))
        nowhere = attacker.ask(question(statistic, is_code(variable, code + "x")))
        noisy = isinstance(there, Answer) and isinstance(nowhere, Answer) and there.mode == "private"
        differing += not noisy and as_bytes(there) != as_bytes(nowhere)
    return Claim(None, differing > 0, f"{differing} of {len(statistics)} statistics differ")


def denial(attacker: Attacker) -> Claim:
    """Compare the refusals of two databases that differ in the target's value; else read the value where it is answered."""
    knows = attacker.knows
    sets = [
        all_of(part) for size in range(1, len(knows.target) + 1) for part in itertools.combinations(knows.target, size)
    ]
    sets += ["TRUE", *(f"NOT {s}" for s in sets)]
    differing = 0
    for statistic in (s.format(y=name(knows.response)) for s in STATISTICS[:-1]):
        for where in sets:
            here, there = attacker.ask(question(statistic, where)), attacker.ask_twin(question(statistic, where))
            differing += _pattern(here) != _pattern(there)
    span = attacker.total(all_of(knows.target))
    return Claim(span, differing > 0, f"{differing} of {len(STATISTICS[:-1]) * len(sets)} refusals differ")


def _pattern(result: Answer | Refusal) -> str:
    """A refusal as it is sent; of an answer only that it is one, and which of its values are hidden."""
    return as_bytes(result) if isinstance(result, Refusal) else repr([row.hidden for row in result.rows])
