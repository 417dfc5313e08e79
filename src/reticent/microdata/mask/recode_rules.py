"""Recode rules in the notation of ARGUS `.grc` files: `new: code, low-high, -high, low-`; no file is read here.

Codes are compared as ARGUS does: as text, padded with leading blanks to the same width.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from reticent.base.errors import PlanError


@dataclass(frozen=True)
class RecodeRule:
    """One new code and the ranges (low, high) of old codes that become it; None is an open end."""

    new: str
    ranges: tuple[tuple[str | None, str | None], ...]


@dataclass(frozen=True)
class RecodeRules:
    """All rules of a recoding, with the missing codes that it declares and the name of its code list."""

    rules: tuple[RecodeRule, ...]
    missing: tuple[str, ...] = ()
    code_list: str | None = None

    def map_codes(self, codes: Iterable[str]) -> dict[str, str]:
        """The new code of every old code that a rule covers; where several do, the last one wins, as in ARGUS."""
        codes = tuple(codes)
        ends = [end for rule in self.rules for pair in rule.ranges for end in pair if end is not None]
        width = max((len(text) for text in (*codes, *ends)), default=0)
        found: dict[str, str] = {}
        for code in codes:
            padded = code.rjust(width)
            for rule in self.rules:
                if any(_within(padded, pair, width) for pair in rule.ranges):
                    found[code] = rule.new
        return found


def _within(padded: str, pair: tuple[str | None, str | None], width: int) -> bool:
    low, high = pair
    return (low is None or low.rjust(width) <= padded) and (high is None or padded <= high.rjust(width))


def parse_rules(lines: Sequence[str] | str) -> RecodeRules:
    """Read rules from lines or from the text of a `.grc` file; commas between missing codes are accepted.

    >>> parse_rules(["1: -20", "2: 21-30, 99"]).map_codes(["7", "20", "25", "99", "50"])
    {'7': '1', '20': '1', '25': '2', '99': '2'}
    """
    rules: list[RecodeRule] = []
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
                raise PlanError(f"recode: line {number} has the unknown keyword {word}>; known: <MISSING>, <CODELIST>.")
            continue
        new, colon, sources = text.partition(":")
        if not colon or not new.strip():
            raise PlanError(f"recode: line {number} must have the form 'new: code, low-high', it has no new code.")
        ranges = tuple(_range(part.strip(), number) for part in sources.split(",") if part.strip())
        if not ranges:
            raise PlanError(f"recode: line {number} names no old codes after the colon.")
        rules.append(RecodeRule(new.strip(), ranges))
    if not rules:
        raise PlanError("recode: there is no rule; a rule has the form 'new: code, low-high'.")
    return RecodeRules(tuple(rules), missing, code_list)


def _range(text: str, number: int) -> tuple[str | None, str | None]:
    low, dash, high = (part.strip() for part in text.partition("-"))
    if not dash:
        return low, low
    if not low and not high:
        raise PlanError(f"recode: line {number} has a range without ends; write low-high, -high or low-.")
    return low or None, high or None


def band_labels(edges: Sequence[float], *, whole: bool, below: bool) -> tuple[str, ...]:
    """Labels of the bands that start at each edge; `below` adds the one under the first edge.

    >>> band_labels([16, 25, 26, 65], whole=True, below=True)
    ('<16', '16-24', '25', '26-64', '65+')
    >>> band_labels([0, 2.5], whole=False, below=False)
    ('0 to <2.5', '2.5+')
    """
    texts = [f"{edge:g}" if abs(edge) < 1e6 else repr(edge).removesuffix(".0") for edge in edges]
    labels = [f"<{texts[0]}"] if below else []
    for position in range(len(edges) - 1):
        if not whole:
            labels.append(f"{texts[position]} to <{texts[position + 1]}")
        elif edges[position + 1] - edges[position] == 1:
            labels.append(texts[position])
        else:
            labels.append(f"{texts[position]}-{int(edges[position + 1]) - 1}")
    return *labels, f"{texts[-1]}+"


def merged(pairs: Mapping[str, str], order: Sequence[str]) -> tuple[str, ...]:
    """The new codes in the order in which the old ones first lead to them."""
    return tuple(dict.fromkeys(pairs[code] for code in order if code in pairs))
