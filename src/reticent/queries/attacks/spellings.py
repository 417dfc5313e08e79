# SPDX-License-Identifier: Apache-2.0
"""Many ways to write one condition: the same records, however they are asked for."""

from reticent.queries.attacks.attacker import is_code, name
from reticent.queries.attacks.scenario import Knowledge


def spellings(knows: Knowledge) -> list[str]:
    """At least forty conditions that select the target and nobody else."""
    parts = [is_code(variable, code) for variable, code in knows.target]
    plain = " AND ".join(parts)
    return list(dict.fromkeys([*_bracketed(parts, plain), *_logical(parts, plain), *_by_codes(knows), *_padded(plain)]))


def _bracketed(parts: list[str], plain: str) -> list[str]:
    return [
        plain,
        f"({plain})",
        f"(({plain}))",
        " AND ".join(reversed(parts)),
        " AND ".join(f"({part})" for part in parts),
        " and ".join(parts),
        "  AND\n ".join(parts),
        f"/* a comment */ {plain}",
        f"{plain} -- the end\n",
        plain.replace(" = ", "="),
        plain.replace(" = ", "  =  "),
        " AND ".join(_turned(part) for part in parts),
        " AND ".join(f"data.{part}" for part in parts),
    ]


def _turned(part: str) -> str:
    left, _, right = part.partition(" = ")
    return f"{right} = {left}"


def _logical(parts: list[str], plain: str) -> list[str]:
    others = [part.replace(" = ", " <> ") for part in parts]
    any_other = " OR ".join(others)
    return [
        f"NOT ({any_other})",
        f"NOT ({' OR '.join(reversed(others))})",
        " AND ".join(f"NOT ({other})" for other in others),
        " AND ".join(f"NOT {other}" for other in others),
        f"NOT (NOT ({plain}))",
        f"NOT NOT ({plain})",
        f"({plain}) OR ({plain})",
        f"({plain}) AND ({plain})",
        f"({plain}) OR FALSE",
        f"({plain}) AND TRUE",
        f"TRUE AND {plain}",
        f"({plain}) AND NOT FALSE",
        f"({plain}) OR NOT TRUE",
        f"({plain}) AND 1 = 1",
        f"({plain}) AND 2 > 1",
        f"({plain}) OR 1 = 0",
        f"({plain}) AND 'a' = 'a'",
        f"({plain}) AND ({parts[0]} OR {plain})",
        f"({plain}) OR ({plain} AND {parts[0]})",
        f"NOT (({any_other}) AND TRUE)",
    ]


def _by_codes(knows: Knowledge) -> list[str]:
    first = [f"{name(v)} IN ('{_escaped(c)}')" for v, c in knows.target]
    twice = [f"{name(v)} IN ('{_escaped(c)}', '{_escaped(c)}')" for v, c in knows.target]
    nobody = [f"{name(v)} IN ('{_escaped(c)}', 'nobody has this')" for v, c in knows.target]
    outside = []
    for variable, code in knows.target:
        others = ", ".join(f"'{_escaped(c)}'" for c in knows.codes[variable] if c != code)
        outside.append(f"NOT ({name(variable)} IN ({others}))" if others else is_code(variable, code))
    return [
        " AND ".join(first),
        " AND ".join(twice),
        " AND ".join(nobody),
        " AND ".join(outside),
        " AND ".join(part.replace("NOT (", "(NOT ") for part in outside),
        " AND ".join([first[0], *(is_code(v, c) for v, c in knows.target[1:])]),
        " AND ".join([outside[0], *first[1:]]),
        f"NOT (NOT ({first[0]}) OR NOT ({' AND '.join(first)}))",
    ]


def _padded(plain: str) -> list[str]:
    column = plain.partition(" = ")[0]
    return [
        f"({plain}) AND {column} IS NOT NULL",
        f"({plain}) AND NOT ({column} IS NULL)",
        f"({plain}) AND {column} = {column}",
        f"({plain}) OR {column} <> {column}",
        f"({plain}) AND {column} <> 'nobody has this'",
        f"({plain}) OR {column} = 'nobody has this'",
    ]


def _escaped(code: str) -> str:
    return code.replace("'", "''")
