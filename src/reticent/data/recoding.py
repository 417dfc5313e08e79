# SPDX-License-Identifier: Apache-2.0
"""Recoding: which old codes become which new code, as data. Lines as in ARGUS `.grc` files, which plans may hold too.

Codes are compared as ARGUS does: as text, padded with blanks on the left to one width, so that "9" comes before "10".
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reticent.base.errors import DataError, PlanError

Range = tuple[str | None, str | None]


@dataclass(frozen=True)
class RecodingRule:
    """One line: the new code, and the old codes and (closed, perhaps one-sided) ranges that become it."""

    new: str
    codes: tuple[str, ...] = ()
    ranges: tuple[Range, ...] = ()

    def takes(self, code: str, width: int) -> bool:
        """Whether the rule names the code, or a range of it contains the code."""
        if code in self.codes:
            return True
        padded = code.rjust(width)
        return any(
            (low is None or low.rjust(width) <= padded) and (high is None or padded <= high.rjust(width))
            for low, high in self.ranges
        )


@dataclass(frozen=True)
class Recoding:
    """A recoding: rules (a later one wins), the new missing codes, the file of the new code list; or codes to close in a tree.

    >>> ages = Recoding((RecodingRule("1", ranges=((None, "20"),)), RecodingRule("2", ranges=(("21", None),))))
    >>> ages.image(["7", "20", "21", "99"], missing=("99",))
    {'7': '1', '20': '1', '21': '2'}
    """

    rules: tuple[RecodingRule, ...] = ()
    missing: tuple[str, ...] = ()
    code_list: str | None = None
    closed: tuple[str, ...] = ()
    name: str = ""

    def __post_init__(self) -> None:
        if not self.rules and not self.closed:
            raise DataError(f"{self.owner}: a recoding needs at least one line 'new: old, old'.")
        if self.rules and self.closed:
            raise DataError(f"{self.owner}: a recoding has either lines 'new: old' or a tree recoding, not both.")

    @property
    def owner(self) -> str:
        """What messages call this recoding."""
        return self.name or "Recoding"

    @property
    def is_tree(self) -> bool:
        """Whether it closes codes of the variable's hierarchy instead of mapping codes."""
        return bool(self.closed)

    def width(self, codes: Iterable[str]) -> int:
        """The width to which codes are padded before they are compared."""
        bounds = (bound for rule in self.rules for span in rule.ranges for bound in span if bound is not None)
        return max((len(code) for code in (*codes, *bounds)), default=0)

    def image(self, codes: Sequence[str], *, missing: Sequence[str] = ()) -> dict[str, str]:
        """New code of each old code that a rule takes; missing codes stay missing and are not in the result."""
        self._refuse_missing(missing)
        width = self.width(codes)
        found: dict[str, str] = {}
        for code in codes:
            if code not in missing:
                for rule in self.rules:
                    if rule.takes(code, width):
                        found[code] = rule.new
        return found

    def untouched(self, codes: Sequence[str], *, missing: Sequence[str] = ()) -> tuple[str, ...]:
        """Codes that no rule takes."""
        image = self.image(codes, missing=missing)
        return tuple(code for code in codes if code not in image and code not in missing)

    def lines(self) -> tuple[str, ...]:
        """The recoding as lines that `parse_rules` reads."""
        rows = [f"{rule.new}: {', '.join(_spelled(rule))}" for rule in self.rules]
        if self.missing:
            rows.append(f"<MISSING> {' '.join(self.missing)}")
        if self.code_list is not None:
            rows.append(f'<CODELIST> "{self.code_list}"')
        return tuple(rows)

    def _refuse_missing(self, missing: Sequence[str]) -> None:
        for rule in self.rules:
            for code in rule.codes:
                if code in missing and rule.new not in self.missing and rule.new != code:
                    raise DataError(
                        f"{self.owner}: the missing code {code!r} would become the valid code {rule.new!r}; "
                        "a missing code must stay missing."
                    )


def _spelled(rule: RecodingRule) -> list[str]:
    return [*rule.codes, *(f"{low or ''}-{high or ''}" for low, high in rule.ranges)]


def parse_rules(lines: Sequence[str] | str, *, owner: str = "recode") -> Recoding:
    """Read lines `new: old, low-high, -high, low-`, <MISSING> and <CODELIST>; commas between missing codes are accepted.

    >>> parse_rules(["1: -20", "2: 21-30, 99"]).image(["7", "20", "25", "99", "50"])
    {'7': '1', '20': '1', '25': '2', '99': '2'}
    """
    rules: list[RecodingRule] = []
    missing: tuple[str, ...] = ()
    code_list = None
    for number, line in enumerate(lines.splitlines() if isinstance(lines, str) else lines, start=1):
        text = line.strip()
        if not text or text.startswith("//"):
            continue
        if text.startswith("<"):
            word, _, rest = text.partition(">")
            if word.upper() == "<MISSING":
                missing = tuple(rest.replace(",", " ").split())
            elif word.upper() == "<CODELIST":
                code_list = rest.strip().strip('"')
            else:
                raise PlanError(
                    f"{owner}: line {number} has the unknown keyword {word}>; known: <MISSING>, <CODELIST>."
                )
            continue
        rules.append(_rule(text, f"{owner}: line {number}"))
    if not rules:
        raise PlanError(f"{owner}: there is no rule; a rule has the form 'new: code, low-high'.")
    return Recoding(tuple(rules), missing, code_list, name=owner)


def _rule(text: str, where: str) -> RecodingRule:
    new, colon, sources = text.partition(":")
    if not colon or not new.strip():
        raise PlanError(f"{where} must have the form 'new: code, low-high', it has no new code.")
    codes: list[str] = []
    ranges: list[Range] = []
    for part in sources.split(","):
        source = part.strip().strip('"')
        low, dash, high = (piece.strip() for piece in source.partition("-"))
        if dash and not low and not high:
            raise PlanError(f"{where} has a range without ends; write low-high, -high or low-.")
        if dash:
            ranges.append((low or None, high or None))
        elif source:
            codes.append(source)
    if not codes and not ranges:
        raise PlanError(f"{where} names no old codes after the colon.")
    return RecodingRule(new.strip(), tuple(codes), tuple(ranges))
