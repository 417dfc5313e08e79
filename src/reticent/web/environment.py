# SPDX-License-Identifier: Apache-2.0
"""Templates with everything escaped, and how names and numbers are shown."""

import functools
import unicodedata
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

LONGEST = 120
"""Longer names are cut where they are shown; forms keep them whole."""


@functools.lru_cache(maxsize=8)
def environment(packages: tuple[str, ...]) -> Environment:
    """The templates of some packages, the first that has a name wins."""
    loaders = [PackageLoader(package) for package in packages]
    made = Environment(loader=ChoiceLoader(loaders), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
                       lstrip_blocks=True)  # fmt: skip
    made.filters.update(
        name=shown_name,
        count=count,
        percent=percent,
        number=number,
        seconds=seconds,
        sentence=sentence,
        visible=visible,
    )
    return made


def shown_name(text: Any, longest: int = LONGEST) -> str:
    """A name as it can be read safely: signs that hide, turn or break text are written out, and long names are cut."""
    raw = str(text)
    seen = visible(raw[:longest])
    return f"{seen}… ({len(raw):,} characters)" if len(raw) > longest else seen or "(no name)"


def visible(text: str) -> str:
    """A text whose signs that hide, turn or break text are written out."""
    return "".join(
        sign if unicodedata.category(sign) not in ("Cc", "Cf", "Co", "Cs", "Zl", "Zp") else f"\\u{ord(sign):04x}"
        for sign in text
    )


def count(value: Any) -> str:
    """A whole number with thousands apart."""
    return "–" if value is None else f"{int(value):,}"


def percent(value: Any, digits: int = 1) -> str:
    """A share as percent."""
    return "–" if value is None else f"{100 * float(value):.{digits}f} %"


def number(value: Any, digits: int = 4) -> str:
    """A number with few digits."""
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{float(value):,.{digits}g}"


def sentence(text: Any) -> str:
    """A text with a capital at its start and a full stop at its end."""
    said = str(text)
    return said[:1].upper() + said[1:] + ("" if said.endswith((".", "…", "?")) else ".")


def seconds(value: float) -> str:
    """A time that people can read."""
    return f"{value:.1f} s" if value < 100 else f"{value / 60:.0f} min"
