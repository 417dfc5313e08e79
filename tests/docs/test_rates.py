"""Rates of the transparent attacker that pages repeat are those that the methods declare."""

import re
from pathlib import Path

import pytest

from reticent.tables.methods import TABLE_METHODS

DOCS = Path(__file__).parents[2] / "docs"
SENTENCE = re.compile(r"([\d,]+) of ([\d,]+) after\s+`([a-z-]+)`")
ROW = re.compile(r"^\| ((?:`[a-z-]+`(?:, )?)+) \| ([\d,]+) of ([\d,]+) \|", re.MULTILINE)


def number(text: str) -> int:
    return int(text.replace(",", ""))


def repeated(page: str) -> list[tuple[str, int, int]]:
    """Method, counts that are determined, unsafe counts: as sentences and rows of a page have them."""
    text = (DOCS / page).read_text()
    found = [(name, number(some), number(all_)) for some, all_, name in SENTENCE.findall(text)]
    for names, some, all_ in ROW.findall(text):
        found += [(name, number(some), number(all_)) for name in re.findall(r"`([a-z-]+)`", names)]
    return [one for one in found if one[0] in TABLE_METHODS]


@pytest.mark.parametrize(
    ("page", "least"), [("how-to/tables.md", 3), ("explanation/what-we-got-wrong/tables-noise.md", 14)]
)
def test_pages_have_the_rates_of_the_methods(page: str, least: int) -> None:
    found = repeated(page)
    assert len(found) >= least
    for name, determined, unsafe in found:
        rate = TABLE_METHODS[name].guarantee.rate
        assert (name, determined, unsafe) == (name, rate.determined, rate.unsafe)
