# SPDX-License-Identifier: Apache-2.0
"""Numbers as people read them, the same in terminals, notebooks and reports."""

import math

THIN = "\u00a0"
DIGITS = 3
"""Significant digits that people compare; digits before the point are never dropped."""
SMALLEST = 1e-6


def number(value: object) -> str:
    """A number for people: thousands apart, whole numbers whole, others with three significant digits."""
    if isinstance(value, bool) or value is None:
        return "" if value is None else ("yes" if value else "no")
    if isinstance(value, int):
        return amount(value)
    if isinstance(value, float):
        if value != value:
            return "–"
        if abs(value) == float("inf"):
            return "∞" if value > 0 else "−∞"
        if abs(value) < 1e-9:  # the noise of floating point is not a number
            return "0"
        if abs(value) < SMALLEST:
            return f"{value:.2g}"
        if value == int(value) and abs(value) < 1e15:
            return amount(int(value))
        text = amount(value, max(0, DIGITS - 1 - math.floor(math.log10(abs(value)))))
        return text.rstrip("0").rstrip(".") if "." in text else text
    return str(value)


def amount(value: float, decimals: int = 0) -> str:
    """A number with thousands apart and exactly these decimals, as in the cells of a table; a zero has no sign."""
    text = f"{value:,.{decimals}f}"
    text = text.removeprefix("-") if not text.strip("-0.,") else text
    return text.replace(",", THIN)


def counted(many: int, noun: str) -> str:
    """This many of a thing.

    >>> counted(1, "cell"), counted(3, "unsafe cell")
    ('1 cell', '3 unsafe cells')
    """
    return f"{many} {noun}" if many == 1 else f"{many} {noun}s"


def span(low: float, high: float) -> str:
    """An interval: `exactly 12` where it has no width, else as many decimals as it takes to see its width."""
    width = high - low
    if not math.isfinite(width):
        return f"{number(float(low))} to {number(float(high))}"
    if width <= 1e-9 * max(1.0, abs(low)):
        text = amount(low, 3).rstrip("0").rstrip(".")  # what is known exactly is shown so
        return f"exactly {text}"
    decimals = min(9, max(0, 1 - math.floor(math.log10(width))))
    if low == int(low) and high == int(high):
        decimals = 0
    return f"{amount(low, decimals)} to {amount(high, decimals)}"
