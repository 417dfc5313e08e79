"""Names of users: one person, one name, however it is typed."""

import unicodedata

from reticent.base.errors import ParameterError

LONGEST = 100


def normal_user(name: object) -> str:
    """The name under which a user is remembered: compatible characters (NFKC) and case are made alike, blanks at the ends cut.

    So `Ann`, `ANN ` and `ａｎｎ` are one user, with one history and one limit. Letters of other scripts that only look alike
    stay apart: the caller must have made sure who asks.

    >>> normal_user(" \uff21nn ")
    'ann'
    """
    if not isinstance(name, str):
        raise ParameterError("ask: user must be a text that names who asks.")
    if len(name) > LONGEST:
        raise ParameterError(f"ask: the name of a user has at most {LONGEST} characters.")
    if any(unicodedata.category(letter).startswith("C") for letter in name):
        raise ParameterError("ask: the name of a user must not hold control characters or invisible ones.")
    # folding case can leave what is not normal, so both are done until nothing changes
    normal = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold()).strip()
    if not normal:
        raise ParameterError("ask: user must name who asks, got an empty name.")
    return normal
