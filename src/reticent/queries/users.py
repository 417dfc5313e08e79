# SPDX-License-Identifier: Apache-2.0
"""Names of users: one person, one name, however it is typed."""

import unicodedata

from reticent.base.errors import ParameterError

LONGEST = 100
# characters that show nothing although Unicode counts them as letters, marks or symbols (Default_Ignorable_Code_Point)
INVISIBLE = frozenset(
    map(chr, (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), 0x2800, 0x3164, 0xFFA0, 0xFFFC, 0xFFFD))
) | frozenset(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0000, 0xE1000))))


def normal_user(name: object) -> str:
    """The name under which a user is remembered: compatible characters (NFKC), case and runs of blanks are made alike.

    So `Ann`, `ANN ` and `ａｎｎ` are one user, with one history and one limit. Letters of other scripts that only look alike
    stay apart: the caller must have made sure who asks.

    >>> normal_user(" \uff21nn ")
    'ann'
    """
    if not isinstance(name, str):
        raise ParameterError("ask: user must be a text that names who asks.")
    if len(name) > LONGEST:
        raise ParameterError(f"ask: the name of a user has at most {LONGEST} characters.")
    if any(letter in INVISIBLE or unicodedata.category(letter).startswith("C") for letter in name):
        raise ParameterError("ask: the name of a user must not hold control characters or invisible ones.")
    # folding case can leave what is not normal, so both are done until nothing changes
    normal = " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold()).split())
    if not normal:
        raise ParameterError("ask: user must name who asks, got an empty name.")
    if len(normal) > LONGEST:  # one character may stand for eighteen
        raise ParameterError(f"ask: the name of a user has at most {LONGEST} characters, written out.")
    return normal
