# SPDX-License-Identifier: Apache-2.0
"""How a text file is written: its separator, its decimal mark, and what becomes of texts that a spreadsheet would run."""

from dataclasses import dataclass

SEPARATORS = (",", ";", "\t", "|")
"""What may separate the values of a text file."""
DECIMALS = (".", ",")
"""What may be its decimal mark."""


@dataclass(frozen=True)
class Marks:
    """The separator and the decimal mark of a text file; none where nothing was seen or asked for.

    With `keep_formulas` texts that a spreadsheet would run as formulas stay as they are (see `io.formulas`).
    """

    separator: str | None = None
    decimal: str | None = None
    keep_formulas: bool = False

    def or_else(self, seen: "Marks") -> "Marks":
        """These marks, and those of the input where nothing is asked for.

        A decimal comma is never written between commas: the separator is then a semicolon.

        >>> Marks(decimal=",").or_else(Marks(",", "."))
        Marks(separator=';', decimal=',', keep_formulas=False)
        """
        separator, decimal = self.separator or seen.separator or ",", self.decimal or seen.decimal or "."
        if separator == decimal:  # only one of the two can have been asked for
            separator, decimal = (separator, ".") if self.separator else (";", decimal)
        return Marks(separator, decimal, self.keep_formulas)


NO_MARKS = Marks()
"""Nothing was seen, nothing is asked for."""
