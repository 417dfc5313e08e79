# SPDX-License-Identifier: Apache-2.0
"""Direct identifiers in queries: addresses, numbers and names are replaced by what they are, and counted.

Patterns run in a fixed order, most specific first (a card number is also a long number, an e-mail address also a host name).
Telephone numbers are found by the phonenumbers library, which knows every country's form; names by a list. Before that, texts
are written in one way: full-width letters and digits become plain ones, invisible characters go.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

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


_MAILS = r"(?:gmail|googlemail|yahoo|hotmail|outlook|aol|icloud|gmx|web|live|msn|protonmail|proton)\b"
_NETWORKS = r"(?:facebook|twitter|instagram|linkedin|tiktok|github|myspace|vk|x)"
_DEGREES = r"[+-]?\d{1,3}\.\d{3,}"
_SECONDS = r"(?:\d{1,2}(?:\.\d+)?\s?[\"”″]?)"
_ROADS = r"(?:street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|blvd|court|ct)\b"
_BEFORE = r"(?<![\w.+'’-])[\w.+'’-]+"  # the whole of what stands before an @, so that no place is tried twice


@dataclass(frozen=True)
class Kind:
    """An identifier: its pattern, a check of what was found, and what a text must have to be searched at all."""

    name: str
    pattern: re.Pattern[str]
    check: Callable[[str], bool] | None = None
    digits: int = 0
    """A text with fewer digits cannot hold it."""


def _kind(name: str, pattern: str, check: Callable[[str], bool] | None = None, *, digits: int = 0) -> Kind:
    return Kind(name, re.compile(pattern, re.IGNORECASE), check, digits)


ADDRESSES = (
    _kind("email", rf"{_BEFORE}@[\w-]+(?:\.[\w-]+)*"),
    _kind("email", rf"{_BEFORE} ?(?:@|\(at\)|\[at\]) ?[\w-]+(?: ?(?:\.|\(dot\)|\[dot\]) ?[\w-]+)+"),
    _kind("email", rf"{_BEFORE} (?:at|@) [\w-]+(?: dot [\w-]+)+"),
    _kind("email", rf"{_BEFORE} (?:at|@) ?{_MAILS}(?:(?:\.| ?dot ?| )[a-z]{{2,3}})*\b"),
    _kind("profile", rf"\b{_NETWORKS}\.com/(?:in/|u/)?[\w.@-]+"),
    _kind("handle", r"(?<!\w)@(?!\d+\.\d)\w{2,}"),
)
NUMBERS = (
    _kind("position", rf"{_DEGREES}°?(?:\s?[ns]\b)?(?:\s?[,;]\s?|\s){_DEGREES}°?(?:\s?[ew]\b)?", digits=8),
    _kind("position", rf"\d{{1,3}}\s?°\s?\d{{1,2}}(?:\s?['’′]\s?{_SECONDS}?)?\s?[nsew]\b", digits=2),
    _kind("account", r"\b[a-z]{2}\d{2}[a-z0-9]{11,30}\b", _ibans, digits=2),
    _kind("account", r"\b[a-z]{2}\d{2}(?: [a-z0-9]{4}){2,7}(?: [a-z0-9]{1,3})?\b", _ibans, digits=2),
    _kind("card", r"(?<!\d)\d(?:[ .-]?\d){12,18}(?!\d)", _luhn, digits=13),
    _kind("ip-address", r"\b\d{1,3}(?:\.\d{1,3}){3}\b", _address, digits=4),
    _kind("social-security", r"\b\d{3}[.-]\d{2}[.-]\d{4}\b", digits=9),
    _kind("date", r"\b(?:\d{1,2}[./-]\d{1,2}[./-](?:\d{4}|\d{2})|\d{4}-\d{2}-\d{2})\b", digits=4),
    _kind("street", r"\b\d{1,5} (?:\w+\.? ){1,3}" + _ROADS, digits=1),
)
REST = (
    # numbers of documents and vehicles, account and device names: five digits among letters, or twenty signs with a digit
    _kind(
        "code",
        r"\b(?=(?:[a-z-]*\d){5})(?=[\d-]*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*\b|\b(?=[a-z]*\d)[a-z0-9]{20,}\b",
        digits=1,
    ),
    _kind("number", r"\d(?:[ ./()-]{0,2}\d){6,}", digits=7),
)
LONGEST = 1000
"""A longer text is not searched: patterns would take minutes over some, and nobody else typed the same."""

_MARKED = re.compile(r"@|\bat\b|\(at\)|\[at\]|\.com/", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
_DIALLED = re.compile(r"\d(?:[\Wxー]{0,4}\d){5}")  # what a telephone number has at least, in every country
_WORD = re.compile(r"[^\W\d_]+")
_BETWEEN = re.compile(r"[\s,._'’-]{1,3}")
_PARTICLES = frozenset(
    ("al", "bin", "binti", "da", "de", "del", "della", "den", "der", "di", "do", "dos", "du", "el", "ibn", "la", "le",
     "mac", "mc", "o", "st", "ten", "ter", "van", "von", "y", "zu")
)  # fmt: skip
_FAMILY = r"[\u3400-\u9fff\uac00-\ud7af]"  # one sign before a given name is the family name
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Scripts that write no spaces between words, or join endings to names: there a name is found inside a word."""


def plain(text: str) -> str:
    """A text written in one way: compatible characters as plain ones, without invisible characters."""
    if text.isascii() and text.isprintable():
        return text
    shown = "".join(sign for sign in text if unicodedata.category(sign) not in ("Cf", "Cc"))
    return " ".join(unicodedata.normalize("NFKC", shown).split())


def folded(word: str) -> str:
    """A word without case and accents, for comparison with a list: José, JOSE and jose are one name."""
    if word.isascii():
        return word.lower()
    parts = unicodedata.normalize("NFKD", word.casefold())
    return "".join(sign for sign in parts if not unicodedata.combining(sign)).casefold()


@dataclass(frozen=True)
class Scrubber:
    """What is replaced: patterns, telephone numbers as written in `region`, and names from a list with the word after."""

    region: str = "US"
    names: frozenset[str] = field(default=frozenset(), repr=False)
    _inside: re.Pattern[str] | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        joined = sorted((name for name in self.names if _UNSPACED.search(name)), key=len, reverse=True)
        if joined:
            object.__setattr__(self, "_inside", re.compile(f"{_FAMILY}?(?:{'|'.join(map(re.escape, joined))})"))
        object.__setattr__(self, "names", frozenset(folded(name) for name in self.names))
        phonenumbers = need("phonenumbers", extra="querylogs", purpose="finding telephone numbers in queries")
        if self.region not in phonenumbers.SUPPORTED_REGIONS:
            raise ParameterError("scrub: region must be the two letters of a country, such as US, DE or ES.")

    def scrub(self, texts: Iterable[str]) -> tuple[list[str], Counter[str]]:
        """The texts with identifiers replaced, and how many of each kind there were."""
        found: Counter[str] = Counter()
        return [self._one(text, found) for text in texts], found

    def _one(self, text: str, found: Counter[str]) -> str:
        text = plain(text)
        if len(text) > LONGEST:
            found["long-text"] += 1
            return "<long-text>"
        if _MARKED.search(text):  # most queries have nothing of this kind
            text = _replaced(text, ADDRESSES, found)
        if _DIGIT.search(text):
            text = _replaced(text, NUMBERS, found)
            text = self._phones(text, found)
            text = _replaced(text, REST, found)
        if self._inside is not None:
            text = self._inside.sub(lambda _: _counted("name", found), text)
        return self._names(text, found) if self.names else text

    def _phones(self, text: str, found: Counter[str]) -> str:
        if not _DIALLED.search(text):
            return text
        phonenumbers = need("phonenumbers", extra="querylogs", purpose="finding telephone numbers in queries")
        for match in reversed(list(phonenumbers.PhoneNumberMatcher(text, self.region))):
            text = text[: match.start] + _counted("phone", found) + text[match.end :]
        return text

    def _names(self, text: str, found: Counter[str]) -> str:
        words = list(_WORD.finditer(text))
        out, last, after = [], 0, 0
        for number, word in enumerate(words):
            if number < after or folded(word.group()) not in self.names:
                continue
            start, after = self._surname_before(text, words, number), self._after(text, words, number)
            out += [text[last : max(last, start)], "<name>"]
            last = words[after - 1].end()
            found["name"] += 1
        return "".join([*out, text[last:]])

    def _after(self, text: str, words: list[re.Match[str]], first: int) -> int:
        """Where a name ends: further given names, initials and particles belong to it, and the word after them."""
        at = first + 1
        while at < len(words) and _BETWEEN.fullmatch(text[words[at - 1].end() : words[at].start()]):
            word = folded(words[at].group())
            if word == "s" and text[words[at].start() - 1] in "'’":  # a possessive, not an initial
                break
            at += 1
            if word not in self.names and word not in _PARTICLES and len(word) > 1:
                break
        return at

    @staticmethod
    def _surname_before(text: str, words: list[re.Match[str]], number: int) -> int:
        """Where a name begins: "surname, given name" begins one word earlier."""
        before = words[number - 1] if number else None
        comma = before is not None and re.fullmatch(r"\s?,\s?", text[before.end() : words[number].start()])
        return before.start() if before is not None and comma else words[number].start()


def _counted(kind: str, found: Counter[str]) -> str:
    found[kind] += 1
    return f"<{kind}>"


def _replaced(text: str, kinds: tuple[Kind, ...], found: Counter[str]) -> str:
    digits = len(_DIGIT.findall(text))
    for kind in kinds:
        if digits >= kind.digits and kind.pattern.search(text):
            text = kind.pattern.sub(partial(_swapped, kind, found), text)
    return text


def _swapped(kind: Kind, found: Counter[str], match: re.Match[str]) -> str:
    right = kind.check is None or kind.check(match.group())
    return _counted(kind.name, found) if right else match.group()
