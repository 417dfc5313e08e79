"""How often the mean of a tail gives somebody away where few values are possible: lists with gaps, steps that begin elsewhere.

`PYTHONPATH=src:tests python -m attacks.tail_gaps` prints, for each family, how many means of tails of three to five values are
published, and in how many somebody in the tail knows exactly what another one has; then how many means of ordinary tails are
refused by the possible values alone.
"""

import sys
from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement, permutations

import numpy as np
import polars as pl

from reticent.base.errors import NotProtectedError
from reticent.base.progress import silent
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Schema, Variable
from reticent.microdata.mask.tail_sums import told_by_sum
from reticent.microdata.mask.tails import both_ends, first_beyond, grid_of, known_end
from reticent.microdata.mask.top_code import BottomCode, LimitCode, TopCode
from reticent.microdata.perturb.leaves import step_of

LIST = (1, 2, 5, 10, 20, 50)


def known_exactly(tail: Sequence[int], possible: Sequence[int]) -> bool:
    """Whether one value is left for another, by the sum, the own value and all values that are possible in the tail."""
    possible = [code for code in possible if code <= sum(tail)]  # all of them are above 0
    sums = {0}
    for _ in range(len(tail) - 2):
        sums = {one + code for one in sums for code in possible}
    return any(
        [code for code in possible if sum(tail) - own - code in sums] == [target]
        for own, target in set(permutations(tail, 2))
    )


def means_published(
    step: LimitCode,
    variable: Variable,
    tails: Sequence[int],
    shown: Sequence[int],
    known_in: Callable[[Sequence[int]], bool],
) -> tuple[int, int]:
    """Of all tails of three to five values: how many means are published, and in how many somebody knows another."""
    published, known = 0, 0
    for many in (3, 4, 5):
        for tail in combinations_with_replacement(tails, many):
            numbers = pl.Series([*shown, *tail], dtype=pl.Int64)
            values = numbers if variable.kind is Kind.NUMERIC else numbers.cast(pl.String)
            data = Microdata.of(pl.DataFrame({variable.name: values}), Schema((variable,)))
            try:
                step.apply(data, secret=as_secret(1), progress=silent)
            except NotProtectedError:
                continue
            published += 1
            known += known_in(tail)
    return published, known


def rate(
    variable: Variable, step: LimitCode, shown: Sequence[int], tails: Sequence[int], possible: Sequence[int]
) -> str:
    """Means that give somebody away, of those that are published."""
    published, known = means_published(step, variable, tails, shown, lambda tail: known_exactly(tail, possible))
    return f"{known} of {published}"


def listed(limit: int, *, above: bool) -> str:
    """Codes of a list beyond a limit."""
    variable = Variable("amount", kind=Kind.ORDINAL, codes=tuple(map(str, LIST)))
    tails = [code for code in LIST if (code > limit if above else code < limit)]
    step = (TopCode if above else BottomCode)("amount", value=limit, replacement="mean")
    return rate(variable, step, [code for code in LIST if code not in tails], tails, tails)


def stepped(first: int, step: int, limit: int) -> str:
    """Numbers that lie steps apart and are no multiples of the step, above a limit."""
    possible = [number for number in range(first, 4_000, step) if number > limit]
    shown = list(range(first, limit + 1, step)) * 3
    coded = TopCode("number", value=limit, replacement="mean")
    return rate(Variable("number", kind=Kind.NUMERIC), coded, shown, possible[:6], possible)


def ordinary(kind: str, files: int = 200) -> str:
    """Generated files of 100 values, with means beyond the 4th to 19th largest one: refused by the possible values alone."""
    generator = np.random.default_rng(5)
    none, before, refused = np.zeros(0), 0, 0
    for _ in range(files):
        amounts = np.exp(generator.normal(8, generator.uniform(0.3, 1.0), 100))
        values, codes = {
            "incomes": (np.round(amounts), none),
            "incomes in hundreds": (np.round(amounts, -2), none),
            "prices that end in 99": (np.round(amounts, -2) + 99, none),
            "ages with a list": (generator.integers(0, 100, 100).astype(float), np.arange(121.0)),
            "list with gaps": (
                generator.choice(np.array(LIST, dtype=float), 100, p=[0.4, 0.3, 0.15, 0.08, 0.04, 0.03]),
                np.array(LIST, dtype=float),
            ),
        }[kind]
        limit = float(np.sort(values)[-int(generator.integers(4, 20))])
        tail = values[values > limit]
        end = known_end(values, codes, 1.0)
        if len(tail) < 3 or both_ends(tail, first_beyond(limit, step_of(values), 1.0), end, None).room < 0.1:
            continue
        before += 1
        if codes.size:
            refused += told_by_sum(tail, codes[codes > limit], None, 10.0)
        else:
            step, shift = grid_of(values)
            refused += both_ends(tail, first_beyond(limit, step, 1.0, shift), end, None).room < 0.1
    return f"{refused} of {before}"


ORDINARY = ("incomes", "incomes in hundreds", "prices that end in 99", "ages with a list", "list with gaps")

if __name__ == "__main__":
    for limit in (1, 2, 5):
        sys.stdout.write(f"list, above {limit}: {listed(limit, above=True)}\n")
    for limit in (10, 20):
        sys.stdout.write(f"list, below {limit}: {listed(limit, above=False)}\n")
    for limit in (10, 20, 30, 35):
        sys.stdout.write(f"5, 15, 25, … above {limit}: {stepped(5, 10, limit)}\n")
    for limit in (0, 200):
        sys.stdout.write(f"99, 199, … above {limit}: {stepped(-1, 100, limit)}\n")
    for kind in ORDINARY:
        sys.stdout.write(f"newly refused, {kind}: {ordinary(kind)}\n")
