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
PATTERNS: tuple[tuple[str, re.Pattern[str], Callable[[str], bool] | None], ...] = (
    ("email", re.compile(r"[\w.+'’-]+@[\w-]+(?:\.[\w-]+)*"), None),
    ("email", re.compile(r"[\w.+'’-]+ ?(?:@|\(at\)|\[at\]) ?[\w-]+(?: ?(?:\.|\(dot\)|\[dot\]) ?[\w-]+)+", re.IGNORECASE), None),
    ("email", re.compile(r"[\w.+'’-]+ (?:at|@) [\w-]+(?: dot [\w-]+)+", re.IGNORECASE), None),
    ("email", re.compile(rf"[\w.+'’-]+ (?:at|@) ?{_MAILS}(?:(?:\.| ?dot ?| )[a-z]{{2,3}})*\b", re.IGNORECASE), None),
    ("profile", re.compile(rf"\b{_NETWORKS}\.com/(?:in/|u/)?[\w.@-]+", re.IGNORECASE), None),
    ("position", re.compile(rf"{_DEGREES}°?(?:\s?[nNsS]\b)?(?:\s?[,;]\s?|\s){_DEGREES}°?(?:\s?[eEwW]\b)?"), None),
    ("position", re.compile(rf"\d{{1,3}}\s?°\s?\d{{1,2}}(?:\s?['’′]\s?{_SECONDS}?)?\s?[nNsSeEwW]\b"), None),
    ("account", re.compile(r"\b[a-z]{2}\d{2}[a-z0-9]{11,30}\b", re.IGNORECASE), _ibans),
    ("account", re.compile(r"\b[a-z]{2}\d{2}(?: [a-z0-9]{4}){2,7}(?: [a-z0-9]{1,3})?\b", re.IGNORECASE), _ibans),
    ("card", re.compile(r"(?<!\d)\d(?:[ .-]?\d){12,18}(?!\d)"), _luhn),
    ("ip-address", re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b"), _address),
    ("handle", re.compile(r"(?<!\w)@\w{2,}"), None),
    ("social-security", re.compile(r"\b\d{3}[.-]\d{2}[.-]\d{4}\b"), None),
    ("date", re.compile(r"\b(?:\d{1,2}[./-]\d{1,2}[./-](?:\d{4}|\d{2})|\d{4}-\d{2}-\d{2})\b"), None),
    ("street", re.compile(r"\b\d{1,5} (?:\w+\.? ){1,3}" + _ROADS, re.IGNORECASE), None),
)  # fmt: skip
LONG_NUMBER = re.compile(r"\d(?:[ ./()-]{0,2}\d){6,}")
CODE = re.compile(
    r"\b(?=(?:[a-z-]*\d){5})(?=[\d-]*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*\b|\b(?=[a-z]*\d)[a-z0-9]{20,}\b", re.IGNORECASE
)
"""Numbers of documents and vehicles, account and device names: five digits among letters, or twenty signs with a digit."""

_MARKED = re.compile(r"[@\d]|\bat\b|\(at\)|\[at\]|\.com/", re.IGNORECASE)
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
    if text.isascii():
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
        if _MARKED.search(text):  # most queries have nothing of this kind
            for kind, pattern, check in PATTERNS:
                text = _replaced(text, kind, pattern, check, found)
            text = self._phones(text, found)
            text = _replaced(text, "code", CODE, None, found)
            text = _replaced(text, "number", LONG_NUMBER, None, found)
        if self._inside is not None:
            text = _replaced(text, "name", self._inside, None, found)
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


def _replaced(
    text: str, kind: str, pattern: re.Pattern[str], check: Callable[[str], bool] | None, found: Counter[str]
) -> str:
    def swap(match: re.Match[str]) -> str:
        if check is not None and not check(match.group()):
            return match.group()
        found[kind] += 1
        return f"<{kind}>"

    return pattern.sub(swap, text)
