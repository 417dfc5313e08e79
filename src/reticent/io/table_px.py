# SPDX-License-Identifier: Apache-2.0
"""Published tables as PC-Axis (.px): the whole cube, with symbols where there is no value.

A cube lists every combination of codes; what the table does not list has the symbol for that.
"""

from itertools import product

from reticent.data.published_table import EMPTY, HIDDEN, PUBLISHED, PublishedTable
from reticent.frames.marks import Marks
from reticent.io.table_format import TableFormat

SYMBOLS = {EMPTY: '"."', HIDDEN: '"..."', "absent": '".."'}
MEANINGS = (("DATASYMBOL1", "no respondents"), ("DATASYMBOL2", "not in the table"), ("DATASYMBOL3", "confidential"))
LONGEST = 250
"""A line of a .px file may not be much longer."""


def _make(table: PublishedTable, marks: Marks) -> str:
    codes = [list(dict.fromkeys(row[at] for row in table.codes)) for at in range(len(table.dimensions))]
    labels = [
        [table.labels.get(name, {}).get(code, code) for code in own] for name, own in zip(table.dimensions, codes)
    ]
    names = [_quoted(name) for name in table.dimensions]
    values = _distinct(labels, codes)
    heading = names[-1:] if len(names) > 1 else []
    title = f"{table.response} by {', '.join(table.dimensions)}"
    lines = [
        'CHARSET="ANSI"',
        'AXIS-VERSION="2013"',
        'CODEPAGE="utf-8"',
        'LANGUAGE="en"',
        'SUBJECT-CODE="X"',
        'SUBJECT-AREA="Protected table"',
        f"MATRIX={_quoted(_matrix(table.response))}",
        f"DECIMALS={table.decimals}",
        f"SHOWDECIMALS={min(table.decimals, 6)}",
        f"TITLE={_quoted(title)}",
        f"CONTENTS={_quoted(table.response)}",
        f"UNITS={_quoted('number' if table.kind != 'magnitude' else 'units of the response')}",
        f"STUB={','.join(names[: len(names) - len(heading)])}",
        *([f"HEADING={heading[0]}"] if heading else []),
        *(f"VALUES({name})={_listed(own)}" for name, own in zip(names, values, strict=True)),
        *(f"CODES({name})={_listed(own)}" for name, own in zip(names, codes, strict=True)),
        *(f"{word}={_quoted(meaning)}" for word, meaning in MEANINGS),
        f"NOTE={_quoted(f'Protected by the method {table.method}. Three points: confidential.')}",
        *_measures(table, [dict(zip(*both, strict=True)) for both in zip(codes, values, strict=True)]),
    ]
    return ";\n".join(lines) + ";\nDATA=\n" + _data(table, codes) + ";\n"


def _measures(table: PublishedTable, value_of: list[dict[str, str]]) -> list[str]:
    """A note at each cell that has a measure of its change: the format has one number per cell."""
    lines = []
    for row, codes in enumerate(table.codes):
        if told := table.measure_text(row):
            cell = ",".join(_quoted(own[code]) for own, code in zip(value_of, codes, strict=True))
            lines.append(f"CELLNOTE({cell})={_quoted(f'measure of the change: {told}')}")
    return lines


def _data(table: PublishedTable, codes: list[list[str]]) -> str:
    """The values in the order of the cube, the last dimension along each line."""
    place = {row: at for at, row in enumerate(table.codes)}
    lines = []
    for before in product(*codes[:-1]):
        cells = (place.get((*before, last)) for last in codes[-1])
        lines += _broken([SYMBOLS["absent"] if at is None else _value(table, at) for at in cells], " ")
    return "\n".join(lines)


def _value(table: PublishedTable, row: int) -> str:
    return table.text(row) if table.status[row] == PUBLISHED else SYMBOLS[table.status[row]]


def _distinct(labels: list[list[str]], codes: list[list[str]]) -> list[list[str]]:
    """Labels, with their codes where two codes have the same one: values of a dimension must differ."""
    return [
        own if len(set(own)) == len(own) else [f"{code} {label}" for code, label in zip(listed, own, strict=True)]
        for own, listed in zip(labels, codes, strict=True)
    ]


def _listed(texts: list[str]) -> str:
    """Quoted texts with commas between them, broken into lines."""
    return ",\n".join(_broken([_quoted(text) for text in texts], ","))


def _broken(items: list[str], between: str) -> list[str]:
    """The items in lines, none of which is too long."""
    lines = [""]
    for item in items:
        if lines[-1] and len(lines[-1]) + len(item) + 1 > LONGEST:
            lines.append("")
        lines[-1] += f"{between}{item}" if lines[-1] else item
    return lines


def _quoted(text: str) -> str:
    """A text in quotation marks; the format knows neither such marks nor line ends inside."""
    return '"' + " ".join(text.split()).replace('"', "'") + '"'


def _matrix(response: str) -> str:
    """The name of the matrix: at most 20 letters and digits."""
    return "".join(letter for letter in response if letter.isascii() and letter.isalnum())[:20] or "TABLE"


PC_AXIS = TableFormat("pc-axis", "PC-Axis, the whole cube with symbols for hidden cells", ".px", _make)
