# SPDX-License-Identifier: Apache-2.0
"""How likely the values of blanks are to the transparent attacker, to whom every truth was equally likely before.

`python -m attacks.blank_odds 100` runs local suppression with 100 secrets on every file of four records and two keys with two
codes each (k = 2), and prints how many blanks have one value with a probability above 0.95: for somebody who knows how often
each truth leads to the published file, and for somebody who knows only for which truths that file is safe.
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import combinations_with_replacement, permutations, product
from math import factorial, prod

from attacks.test_possible_truths import CODES, Record, published

Rows = tuple[Record, ...]
Likely = dict[tuple[Rows, Record, int], Counter[int]]
SURE = 0.95


def ways(truth: Rows) -> int:
    """In how many orders the records of a truth can stand: its weight where each ordered file is equally likely."""
    return factorial(len(truth)) // prod(factorial(many) for many in Counter(truth).values())


def fits(true: Record, shown: Record) -> bool:
    """Whether a published record may be a true one."""
    return all(code < 0 or code == value for value, code in zip(true, shown, strict=True))


def is_safe(truth: Rows, shown: Rows) -> bool:
    """(k,k) with k = 2, counted from the two files."""
    return all(sum(fits(t, p) for p in shown) >= 2 for t in truth) and all(
        sum(fits(t, p) for t in truth) >= 2 for p in shown
    )


def add(likely: Likely, truth: Rows, shown: Rows, weight: float) -> None:
    """One way in which the published file may have come from a truth, record by record."""
    rows = tuple(sorted(shown))
    for true, record in zip(truth, shown, strict=True):
        for at, code in enumerate(record):
            if code < 0:
                likely[rows, record, at][true[at]] += weight


def sure(likely: Likely, blank: tuple[Rows, Record, int]) -> bool:
    """Whether one value of a blank is almost certain."""
    return max(likely[blank].values()) > SURE * sum(likely[blank].values())


def rates(secrets: Iterable[int], slack: float) -> tuple[int, int, int]:
    """Blanks of all runs, and those that the attacker with the method and the one without it are sure of."""
    truths = list(combinations_with_replacement(list(product(CODES, CODES)), 4))
    with_method: Likely = defaultdict(Counter)
    runs: Counter[Rows] = Counter()
    for number, truth in enumerate(truths):
        for secret in secrets:
            shown = tuple(
                (int(a), int(b)) for a, b in published(list(truth), 1_000 * secret + number, slack=slack).tolist()
            )
            add(with_method, truth, shown, ways(truth))
            runs[tuple(sorted(shown))] += ways(truth)
    without: Likely = defaultdict(Counter)
    for rows, truth in product(runs, truths):
        if is_safe(truth, rows):
            for order in set(permutations(truth)):
                if all(map(fits, order, rows)):
                    add(without, order, rows, 1)
    found = [
        (many, (rows, record, at))
        for rows, many in runs.items()
        for record in rows
        for at, code in enumerate(record)
        if code < 0
    ]
    each = [sum(many for many, blank in found if sure(by, blank)) for by in (with_method, without)]
    return sum(many for many, _ in found), each[0], each[1]


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    for share in (0.02, 0.2, 1.0):
        blanks, method, alone = rates(range(count), share)
        sys.stdout.write(
            f"slack {share}: {blanks} blanks, {method / blanks:.1%} with the method, {alone / blanks:.1%} without"
            + "\n"
        )
