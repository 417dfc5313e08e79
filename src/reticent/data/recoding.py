"""Recoding: which old codes become which new code, as data. Read from ARGUS `.grc` files or written in a plan.

Codes are compared as ARGUS does: as text, padded with blanks on the left to one width, so that "9" comes before "10".
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reticent.base.errors import DataError

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
    """A recoding: rules (a later one wins), the new missing codes, the new code list; or codes to close in a tree.

    >>> ages = Recoding((RecodingRule("1", ranges=((None, "20"),)), RecodingRule("2", ranges=(("21", None),))))
    >>> ages.image(["7", "20", "21", "99"], missing=("99",))
    {'7': '1', '20': '1', '21': '2'}
    """

    rules: tuple[RecodingRule, ...] = ()
    missing: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
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

    def overlapping(self, codes: Sequence[str]) -> tuple[str, ...]:
        """Codes that more than one rule takes, with different results."""
        width = self.width(codes)
        return tuple(code for code in codes if len({rule.new for rule in self.rules if rule.takes(code, width)}) > 1)

    def _refuse_missing(self, missing: Sequence[str]) -> None:
        for rule in self.rules:
            for code in rule.codes:
                if code in missing and rule.new not in self.missing and rule.new != code:
                    raise DataError(
                        f"{self.owner}: the missing code {code!r} would become the valid code {rule.new!r}; "
                        "a missing code must stay missing."
                    )
