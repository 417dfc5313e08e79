# SPDX-License-Identifier: Apache-2.0
"""What an `.rda` file says about cell keys: the record key, the p-table files, and the noise of each variable."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from reticent.base.errors import DataError

KEYWORDS = (
    "RECORDKEY", "PFILE", "PFILE_FREQ", "PFILE_CONT", "PFILE_SEP", "CKM", "INCLUDEZEROS", "PARITY", "SEPARATION", "SCALING",
)  # fmt: skip
MAGNIFIERS = {"T": "top", "M": "mean", "D": "range", "V": "sum"}
_CALL = re.compile(r"^([A-Z])\s*(?:\(([^()]*)\))?$")


@dataclass(frozen=True)
class CkmVariable:
    """<CKM> and what follows it: options of `MagnitudeNoise` by name, or none (N: not perturbed)."""

    perturbed: bool
    options: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class CkmTags:
    """All cell-key tags of a file. Files: `freq`, `cont`, `sep`."""

    record_key: str
    files: Mapping[str, str]
    variables: Mapping[str, CkmVariable]


def ckm_tags(found: Mapping[str, Mapping[str, str]], owner: str) -> CkmTags | None:
    """The tags of all variables (variable → keyword → text); None where there is no record key."""
    keys = [name for name, tags in found.items() if "RECORDKEY" in tags]
    if len(keys) > 1:
        raise DataError(f"{owner}: there can be one <RECORDKEY>, got {len(keys)}: {', '.join(keys)}.")
    variables = {name: _variable(tags, f"{owner} ({name})") for name, tags in found.items() if "CKM" in tags}
    lone = [name for name, tags in found.items() if "CKM" not in tags and set(tags) & set(KEYWORDS[6:])]
    if lone:
        raise DataError(
            f"{owner} ({lone[0]}): <INCLUDEZEROS>, <PARITY>, <SEPARATION> and <SCALING> need a <CKM> before."
        )
    if not keys:
        return None
    own = found[keys[0]]
    names = {"freq": ("PFILE_FREQ", "PFILE"), "cont": ("PFILE_CONT",), "sep": ("PFILE_SEP",)}
    files = {kind: own[word] for kind, words in names.items() for word in words if own.get(word)}
    return CkmTags(keys[0], files, variables)


def _variable(tags: Mapping[str, str], owner: str) -> CkmVariable:
    letter, numbers = _call(tags["CKM"], "CKM", owner)
    if letter == "N":
        return CkmVariable(False)
    if letter not in MAGNIFIERS or (letter == "T") != bool(numbers) or len(numbers) > 1:
        raise DataError(f"{owner}: <CKM> must be N, T(number), M, D or V, got {tags['CKM']!r}.")
    top = int(numbers[0]) if numbers else 1
    options: dict[str, object] = {"magnifier": MAGNIFIERS[letter], "contributions": top}
    for word, name in (("INCLUDEZEROS", "include_zeros"), ("PARITY", "parity"), ("SEPARATION", "separation")):
        answer = tags.get(word, "N").upper()
        if answer not in ("Y", "N"):
            raise DataError(f"{owner}: <{word}> must be Y or N, got {answer!r}.")
        options[name] = answer == "Y"
    return CkmVariable(True, options | _scaling(tags.get("SCALING", ""), top, owner))


def _scaling(text: str, top: int, owner: str) -> dict[str, object]:
    """F(σ0, σ1, x*, q, ε2, …) or N(σ1, ε2, …)."""
    letter, numbers = _call(text, "SCALING", owner)
    own = {"F": 4, "N": 1}.get(letter, 0)
    if not own or len(numbers) != own + top - 1:
        raise DataError(
            f"{owner}: <SCALING> must be F(σ0,σ1,x*,q) or N(σ1), each followed by {top - 1} further numbers for the "
            f"contributions after the largest, got {text!r}."
        )
    shares = {"shares": tuple(numbers[own:])}
    if letter == "N":
        return {"scaling": "simple", "small": numbers[0], **shares}
    large, small, turning, power = numbers[:4]
    return {"scaling": "flex", "large": large, "small": small, "turning": turning, "power": power, **shares}


def _call(text: str, word: str, owner: str) -> tuple[str, list[float]]:
    found = _CALL.match(text.strip().upper())
    if not found:
        raise DataError(f"{owner}: <{word}> must be a letter, perhaps with numbers in brackets, got {text!r}.")
    try:
        return found.group(1), [float(part) for part in (found.group(2) or "").split(",") if part.strip()]
    except ValueError:
        raise DataError(f"{owner}: the brackets of <{word}> must hold numbers with commas between them.") from None
