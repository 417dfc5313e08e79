"""Direct identifiers in queries: addresses, numbers and names are replaced by what they are, and counted.

Patterns run in a fixed order, most specific first (a card number is also a long number, an e-mail address also a host name).
Telephone numbers are found by the phonenumbers library, which knows every country's form; names by a list.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from reticent.base.errors import ParameterError
from reticent.base.optional import need


def _luhn(text: str) -> bool:
    digits = [int(sign) for sign in text if sign.isdigit()]
    if not 13 <= len(digits) <= 19:
        return False
    doubled = [2 * d - 9 if 2 * d > 9 else 2 * d for d in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _ibans(text: str) -> bool:
    compact = text.replace(" ", "").upper()
    if not 15 <= len(compact) <= 34:
        return False
    moved = compact[4:] + compact[:4]
    return int("".join(str(int(sign, 36)) for sign in moved)) % 97 == 1


def _address(text: str) -> bool:
    return all(int(part) <= 255 for part in text.split("."))


_ROADS = r"(?:street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|blvd|court|ct)\b"
PATTERNS: tuple[tuple[str, re.Pattern[str], Callable[[str], bool] | None], ...] = (
    ("email", re.compile(r"[\w.+'’-]+@[\w-]+(?:\.[\w-]+)*"), None),
    ("account", re.compile(r"\b[a-z]{2}\d{2}[a-z0-9]{11,30}\b", re.IGNORECASE), _ibans),
    ("account", re.compile(r"\b[a-z]{2}\d{2}(?: [a-z0-9]{4}){2,7}(?: [a-z0-9]{1,3})?\b", re.IGNORECASE), _ibans),
    ("card", re.compile(r"(?<!\d)\d(?:[ .-]?\d){12,18}(?!\d)"), _luhn),
    ("ip-address", re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b"), _address),
    ("handle", re.compile(r"(?<!\w)@\w{2,}"), None),
    ("social-security", re.compile(r"\b\d{3}[.-]\d{2}[.-]\d{4}\b"), None),
    ("date", re.compile(r"\b(?:\d{1,2}[./-]\d{1,2}[./-](?:\d{4}|\d{2})|\d{4}-\d{2}-\d{2})\b"), None),
    ("street", re.compile(r"\b\d{1,5} (?:\w+\.? ){1,3}" + _ROADS, re.IGNORECASE), None),
)  # fmt: skip
LONG_NUMBER = re.compile(r"\d(?:[ .-]?\d){6,}")
_DIGITS = re.compile(r"\d")
_WORD = re.compile(r"[^\W\d_]+")
_BETWEEN = re.compile(r"[\s,_-]+")


@dataclass(frozen=True)
class Scrubber:
    """What is replaced: patterns, telephone numbers as written in `region`, and names from a list with the word after."""

    region: str = "US"
    names: frozenset[str] = field(default=frozenset(), repr=False)

    def __post_init__(self) -> None:
        phonenumbers = need("phonenumbers", extra="querylogs", purpose="finding telephone numbers in queries")
        if self.region not in phonenumbers.SUPPORTED_REGIONS:
            raise ParameterError("scrub: region must be the two letters of a country, such as US, DE or ES.")

    def scrub(self, texts: Iterable[str]) -> tuple[list[str], Counter[str]]:
        """The texts with identifiers replaced, and how many of each kind there were."""
        found: Counter[str] = Counter()
        return [self._one(text, found) for text in texts], found

    def _one(self, text: str, found: Counter[str]) -> str:
        if "@" in text or _DIGITS.search(text):  # most queries have neither
            for kind, pattern, check in PATTERNS:
                text = _replaced(text, kind, pattern, check, found)
            text = self._phones(text, found)
            text = _replaced(text, "number", LONG_NUMBER, None, found)
        return self._names(text, found) if self.names else text

    def _phones(self, text: str, found: Counter[str]) -> str:
        if sum(sign.isdigit() for sign in text) < 7:
            return text
        phonenumbers = need("phonenumbers", extra="querylogs", purpose="finding telephone numbers in queries")
        for match in reversed(list(phonenumbers.PhoneNumberMatcher(text, self.region))):
            found["phone"] += 1
            text = text[: match.start] + "<phone>" + text[match.end :]
        return text

    def _names(self, text: str, found: Counter[str]) -> str:
        words = list(_WORD.finditer(text))
        out, last, skip = [], 0, -1
        for number, word in enumerate(words):
            if number <= skip or word.group().lower() not in self.names:
                continue
            end = word.end()
            if number + 1 < len(words) and _BETWEEN.fullmatch(text[end : words[number + 1].start()]):
                skip, end = number + 1, words[number + 1].end()  # the word after a given name is taken for a surname
            out += [text[last : word.start()], "<name>"]
            last = end
            found["name"] += 1
        return "".join([*out, text[last:]])


def _replaced(
    text: str, kind: str, pattern: re.Pattern[str], check: Callable[[str], bool] | None, found: Counter[str]
) -> str:
    def swap(match: re.Match[str]) -> str:
        if check is not None and not check(match.group()):
            return match.group()
        found[kind] += 1
        return f"<{kind}>"

    return pattern.sub(swap, text)
