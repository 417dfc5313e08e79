# SPDX-License-Identifier: Apache-2.0
"""The language of edit rules: a small parser of its own, so that no text is ever evaluated as code.

    tax <= income                     0 <= age <= 120               wages + rents == income
    relation == 'child' => age < 30   not (sex == '1' and pregnant == 'yes')      region in {'11', '12'}

Words: and, or, not, in, => (if … then …); comparisons may be chained; names with blanks are in backticks, codes
of categorical variables in quotes.
"""

import re
from dataclasses import dataclass

from reticent.base.errors import PlanError

MAX_LENGTH, MAX_DEPTH = 2000, 40
COMPARISONS = ("<=", ">=", "==", "!=", "<", ">", "=")


@dataclass(frozen=True)
class Name:
    """A variable."""

    name: str


@dataclass(frozen=True)
class Number:
    """A number, with its text (which is the code when compared with a categorical variable)."""

    value: float
    text: str


@dataclass(frozen=True)
class Text:
    """A code in quotes."""

    text: str


@dataclass(frozen=True)
class Arithmetic:
    """left operator right, with + - * /."""

    operator: str
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True)
class Compare:
    """left operator right, with <= < >= > == !=."""

    operator: str
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True)
class Member:
    """A variable whose code is one of a set."""

    variable: Name
    codes: tuple[str, ...]


@dataclass(frozen=True)
class Not:
    """Negation."""

    part: "Condition"


@dataclass(frozen=True)
class Every:
    """All parts hold."""

    parts: tuple["Condition", ...]


@dataclass(frozen=True)
class Some:
    """At least one part holds."""

    parts: tuple["Condition", ...]


Expression = Name | Number | Text | Arithmetic
Condition = Compare | Member | Not | Every | Some

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\.\d+)|(?P<name>[^\W\d][\w.]*)|`(?P<quoted>[^`]+)`"
    r"|'(?P<text1>[^']*)'|\"(?P<text2>[^\"]*)\"|(?P<sign>=>|<=|>=|==|!=|[-+*/()<>={},]))"
)
_WORDS = ("and", "or", "not", "in")


def parse_rule(text: str) -> Condition:
    """The condition that a rule states; a rule that cannot be read is an error with the place in it."""
    if len(text) > MAX_LENGTH:
        raise PlanError(
            f"edit rule: at most {MAX_LENGTH} characters are allowed, got {len(text)}. Split it into several."
        )
    return _Parser(text).parse()


class _Parser:
    """Recursive descent over the tokens of one rule."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = self._tokenize()
        self.position = 0
        self.depth = 0

    def _tokenize(self) -> list[tuple[str, str, int]]:
        tokens, place, end = [], 0, len(self.text.rstrip())
        while place < end:
            match = _TOKEN.match(self.text, place)
            if match is None:
                raise self._error("this character is not understood", place)
            group = str(match.lastgroup)
            value = match[group]
            kind = "word" if group == "name" and value in _WORDS else group
            tokens.append((kind, value, match.start(group)))
            place = match.end()
        return tokens

    def _error(self, what: str, place: int | None = None) -> PlanError:
        if place is None:
            place = self.tokens[self.position][2] if self.position < len(self.tokens) else len(self.text)
        return PlanError(f"edit rule {self.text!r}: {what} (at character {place + 1}).")

    def _peek(self) -> tuple[str, str]:
        if self.position < len(self.tokens):
            return self.tokens[self.position][:2]
        return ("end", "")

    def _take(self, kind: str, *values: str) -> str | None:
        found, value = self._peek()
        if found == kind and (not values or value in values):
            self.position += 1
            return value
        return None

    def _expect(self, sign: str) -> None:
        if self._take("sign", sign) is None:
            raise self._error(f"{sign!r} is expected")

    def parse(self) -> Condition:
        condition = self._implication()
        if self._peek()[0] != "end":
            raise self._error("the rule should end here")
        return condition

    def _implication(self) -> Condition:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self._error("brackets are nested too deeply")
        condition = self._either()
        if self._take("sign", "=>"):
            condition = Some((Not(condition), self._implication()))
        self.depth -= 1
        return condition

    def _either(self) -> Condition:
        parts = [self._both()]
        while self._take("word", "or"):
            parts.append(self._both())
        return parts[0] if len(parts) == 1 else Some(tuple(parts))

    def _both(self) -> Condition:
        parts = [self._negation()]
        while self._take("word", "and"):
            parts.append(self._negation())
        return parts[0] if len(parts) == 1 else Every(tuple(parts))

    def _negation(self) -> Condition:
        negations = 0
        while self._take("word", "not"):
            negations += 1
        condition = self._atom()
        return Not(condition) if negations % 2 else condition

    def _atom(self) -> Condition:
        """A bracket is a condition if it can be read as one, else an expression."""
        if self._peek() == ("sign", "("):
            start, depth = self.position, self.depth
            try:
                self.position += 1
                condition = self._implication()
                self._expect(")")
            except PlanError:
                if self.depth > MAX_DEPTH:
                    raise
                self.position, self.depth = start, depth
            else:
                if self._peek()[1] not in (*COMPARISONS, "+", "-", "*", "/"):
                    return condition
                self.position, self.depth = start, depth
        return self._comparison()

    def _comparison(self) -> Condition:
        left = self._sum()
        negated = self._peek() == ("word", "not")
        if negated:
            self.position += 1
        if self._take("word", "in"):
            member = self._member(left)
            return Not(member) if negated else member
        if negated:
            raise self._error("'in' is expected after 'not'")
        parts: list[Condition] = []
        while operator := self._take("sign", *COMPARISONS):
            right = self._sum()
            parts.append(Compare("==" if operator == "=" else operator, left, right))
            left = right
        if not parts:
            raise self._error("a comparison is expected")
        return parts[0] if len(parts) == 1 else Every(tuple(parts))

    def _member(self, left: Expression) -> Member:
        if not isinstance(left, Name):
            raise self._error("only a variable can be in a set")
        self._expect("{")
        codes = [self._code()]
        while self._take("sign", ","):
            codes.append(self._code())
        self._expect("}")
        return Member(left, tuple(codes))

    def _code(self) -> str:
        kind, value = self._peek()
        if kind not in ("text1", "text2", "number"):
            raise self._error("a code in quotes is expected")
        self.position += 1
        return value

    def _sum(self) -> Expression:
        left = self._product()
        while operator := self._take("sign", "+", "-"):
            left = Arithmetic(operator, left, self._product())
        return left

    def _product(self) -> Expression:
        left = self._factor()
        while operator := self._take("sign", "*", "/"):
            left = Arithmetic(operator, left, self._factor())
        return left

    def _factor(self) -> Expression:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self._error("brackets are nested too deeply")
        try:
            if self._take("sign", "-"):
                return Arithmetic("-", Number(0.0, "0"), self._factor())
            if self._take("sign", "("):
                inner = self._sum()
                self._expect(")")
                return inner
            return self._leaf()
        finally:
            self.depth -= 1

    def _leaf(self) -> Expression:
        kind, value = self._peek()
        if kind in ("name", "quoted"):
            self.position += 1
            return Name(value)
        if kind == "number":
            self.position += 1
            return Number(float(value), value)
        if kind in ("text1", "text2"):
            self.position += 1
            return Text(value)
        raise self._error("a variable, a number or a code in quotes is expected")


def names_in(node: Expression | Condition) -> frozenset[str]:
    """The variables that a rule speaks of."""
    match node:
        case Name(name):
            return frozenset((name,))
        case Number() | Text():
            return frozenset()
        case Arithmetic(_, left, right) | Compare(_, left, right):
            return names_in(left) | names_in(right)
        case Member(variable, _):
            return names_in(variable)
        case Not(part):
            return names_in(part)
        case Every(parts) | Some(parts):
            return frozenset().union(*(names_in(part) for part in parts))
