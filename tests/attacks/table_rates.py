"""`PYTHONPATH=src:tests python -m attacks.table_rates [TABLES]`: how often hidden counts and small sums follow from the file.

Run with the source of another version on the path it gives the rates of that version.
"""

import sys
import tempfile
from pathlib import Path

from attacks.table_count_cases import family as counts_family
from attacks.table_count_cases import publish_counts
from attacks.table_sum_cases import family as firms_family
from attacks.table_sum_cases import publish_firms
from attacks.test_table_counts import exact, intervals
from attacks.test_table_sums import File, small_sets


def count_rates(tables: int) -> str:
    """Unsafe counts that are known exactly."""
    published = leaky = unsafe = known = 0
    for number in range(tables):
        counts = counts_family(number)
        with tempfile.TemporaryDirectory() as folder:
            text = publish_counts(counts, Path(folder))
        if not text:
            continue
        small = {
            frozenset({("row", row), ("col", str(at + 1))})
            for row, line in counts.items()
            for at, n in enumerate(line)
            if 0 < n < 3
        }
        found = exact(intervals([text], 1.0)) & small
        published, leaky = published + 1, leaky + bool(found)
        unsafe, known = unsafe + len(small), known + len(found)
    return f"counts: {published} of {tables} tables published, {leaky} leak, {known} of {unsafe} unsafe counts exact"


def sum_rates(tables: int) -> str:
    """Sums of two or three hidden cells with fewer than three firms in all that are known."""
    published = leaky = unsafe = known = 0
    for number in range(tables):
        records = firms_family(number)
        with tempfile.TemporaryDirectory() as folder:
            text = publish_firms(records, Path(folder))
        if not text:
            continue
        file = File(text)
        small = small_sets(records, file.hidden)
        found = [cells for cells in small if file.known(cells) is not None]
        published, leaky = published + 1, leaky + bool(found)
        unsafe, known = unsafe + len(small), known + len(found)
    return f"sums: {published} of {tables} tables published, {leaky} leak, {known} of {unsafe} small sums known"


if __name__ == "__main__":
    for rates in (count_rates, sum_rates):
        sys.stdout.write(rates(int(sys.argv[1]) if len(sys.argv) > 1 else 100) + "\n")
