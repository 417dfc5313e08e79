# SPDX-License-Identifier: Apache-2.0
"""Texts that a spreadsheet would run: an apostrophe before them in CSV files, taken off again when we read one.

A spreadsheet takes what begins with = + - @ or a tab for a formula, also in a CSV file, so a text that somebody typed into a
questionnaire could act on the machine of whoever opens the file. Numbers stay as they are, and so does a sign alone.
A text that begins with apostrophes before such a sign gets one more: each text is read back as it was.
"""

import re

import polars as pl

RUN = r"(?s)^'*[=+\-@\t\r]."
"""What a spreadsheet would run, or what looks like such a text defused already."""
NUMBER = r"^[+-]?([0-9]+([.,][0-9]*)?|[.,][0-9]+)([eE][+-]?[0-9]+)?$"
DEFUSED = r"(?s)^'+[=+\-@\t\r]."


def defused(text: str) -> str:
    """The text as it is written to a CSV file.

    >>> defused("=1+1"), defused("-5"), defused("-5 to <0"), defused("-")
    ("'=1+1", '-5', "'-5 to <0", '-')
    """
    return f"'{text}" if re.match(RUN, text) and not re.match(NUMBER, text) else text


def restored(text: str) -> str:
    """The text as it was before `defused`."""
    return text[1:] if re.match(DEFUSED, text) else text


def defused_table(table: pl.DataFrame) -> pl.DataFrame:
    """The table as it is written to a CSV file: its texts and its names defused."""
    text = pl.col(pl.String)
    runs = text.str.contains(RUN) & ~text.str.contains(NUMBER)
    changed = table.with_columns(pl.when(runs).then(pl.lit("'") + text).otherwise(text).name.keep())
    return changed.rename({name: defused(name) for name in table.columns if defused(name) != name})


def restored_table(table: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """A table of texts as it was before `defused_table`, and the columns in which something was defused."""
    wrapped = [name for name in table.columns if table[name].str.starts_with("'").any()]
    found = [name for name in wrapped if table[name].str.contains(DEFUSED).any()]
    text = pl.col(found)
    again = pl.when(text.str.contains(DEFUSED)).then(text.str.slice(1)).otherwise(text).name.keep()
    return (table.with_columns(again) if found else table), found
