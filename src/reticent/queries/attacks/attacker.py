# SPDX-License-Identifier: Apache-2.0
"""The attacker's side: a way to ask, a count of what was asked and refused, and what is claimed in the end."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from reticent.queries.attacks.scenario import Codes, Knowledge
from reticent.queries.attacks.spans import Span
from reticent.queries.refusals import Answer, Refusal

Ask = Callable[[str, str], Answer | Refusal]
EVE, MALLORY = "eve", "mallory"


@dataclass(frozen=True)
class Claim:
    """The end of an attack: the interval for the target's value, or that something confidential could be told apart."""

    span: Span | None = None
    told_apart: bool = False
    text: str = ""


class NotApplicable(Exception):
    """The data lack what the attack needs."""


class Attacker:
    """Asks a database (for oracle attacks also its twin) and knows `knows`; nothing else is within reach.

    `before` and `after` ask two versions of another copy: the first lacks the target, and is gone when the second is asked.
    """

    def __init__(
        self, ask: Ask, twin: Ask, knows: Knowledge, *, before: Ask | None = None, after: Ask | None = None
    ) -> None:
        self._ask, self._twin, self.knows = ask, twin, knows
        self._before, self._after = before, after
        self.queries = self.refused = 0

    def ask(self, text: str, *, user: str = EVE) -> Answer | Refusal:
        """Ask and count."""
        self.queries += 1
        result = self._ask(text, user)
        self.refused += isinstance(result, Refusal)
        return result

    def ask_twin(self, text: str) -> Answer | Refusal:
        """Ask the database that differs in the target's value only."""
        return self._twin(text, EVE)

    def both_versions(self, statistic: str, sets: Sequence[str]) -> list[tuple[Span | None, Span | None]]:
        """One statistic of some sets before the target came and after."""
        if self._before is None or self._after is None:
            raise NotApplicable("versions of these data cannot be linked: the schema has no identifier")
        found: list[list[Span | None]] = []
        for ask in (self._before, self._after):
            results = [ask(question(statistic, where), EVE) for where in sets]
            self.queries += len(results)
            self.refused += sum(isinstance(result, Refusal) for result in results)
            found.append([None if isinstance(result, Refusal) else Span.of(result.value) for result in results])
        return list(zip(found[0], found[1]))

    def span(self, statistic: str, where: str = "TRUE", *, user: str = EVE) -> Span | None:
        """One value as an interval; None if it was refused."""
        result = self.ask(question(statistic, where), user=user)
        return None if isinstance(result, Refusal) else Span.of(result.value)

    def total(self, where: str = "TRUE", *, user: str = EVE) -> Span | None:
        """The sum of the response."""
        return self.span(f"SUM({name(self.knows.response)})", where, user=user)

    def model(self, predictor: str, where: str = "TRUE") -> dict[str, Span]:
        """The coefficients of a regression of the response on one variable; empty if refused."""
        result = self.ask(question(f"LINREG({name(self.knows.response)}, {name(predictor)})", where))
        fitted = None if isinstance(result, Refusal) else result.value
        found = {} if fitted is None else {k: Span.of(v) for k, v in fitted["coefficients"].items()}
        return {label: span for label, span in found.items() if span is not None}


def question(statistic: str, where: str = "TRUE") -> str:
    """A query text."""
    return f"SELECT {statistic} FROM data WHERE {where}"


def name(variable: str) -> str:
    """A variable's name as it must be written."""
    return variable if variable.isidentifier() and variable.isascii() else '"' + variable.replace('"', '""') + '"'


def is_code(variable: str, code: str) -> str:
    """`variable = 'code'`."""
    return name(variable) + " = '" + code.replace("'", "''") + "'"


def all_of(codes: Codes) -> str:
    """The conjunction of some codes."""
    return "(" + " AND ".join(is_code(variable, code) for variable, code in codes) + ")"


def difference(first: Span | None, second: Span | None) -> Span | None:
    """first − second, if both were answered."""
    return None if first is None or second is None else first.minus(second)


def as_bytes(result: Answer | Refusal) -> str:
    """A result as it would be sent."""
    return json.dumps(result.as_json(), sort_keys=True)
