"""Records looked up in a synthetic file by two or three of their variables: how much more often those are met that were used.

`python -m attacks.synthesis_parts 20 300 tree` gives the largest excess over all pairs and triples of variables, as a mean over
20 files of 300 records used and as many held back, with its standard error, beside that of whole records.
"""

import sys
from itertools import combinations

import numpy as np
import polars as pl

from attacks.test_synthesize import NUMBERS, people
from reticent.base.progress import silent
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Schema, Variable
from reticent.microdata.mask.synthesize import Synthesize


def excesses(number: int, size: int, model: str) -> dict[tuple[str, ...], float]:
    """One file: the share of used records that are met by some variables, less that of records held back."""
    everybody = people(2 * size, 5000 + number)
    used, held_back = everybody[:size], everybody[size:]
    names = tuple(used.columns)
    kinds = tuple(Variable(name, kind=Kind.NUMERIC if name in NUMBERS else Kind.NOMINAL) for name in names)
    data = Microdata.of(used, Schema(kinds))
    made = Synthesize(names, model=model).apply(data, secret=as_secret(number), progress=silent).data
    shown = pl.DataFrame({name: made.numbers((name,))[:, 0] if name in NUMBERS else made.texts(name) for name in names})
    parts = [names, *combinations(names, 2), *combinations(names, 3)]
    return {part: _met(used, shown, part) - _met(held_back, shown, part) for part in parts}


def _met(targets: pl.DataFrame, shown: pl.DataFrame, names: tuple[str, ...]) -> float:
    there = set(shown.select(names).rows())
    return float(np.mean([row in there for row in targets.select(names).rows()]))


def main(files: int, size: int, model: str) -> None:
    rows = [excesses(number, size, model) for number in range(files)]
    table = {part: np.array([row[part] for row in rows]) for part in rows[0]}
    whole, *parts = table
    worst = max(parts, key=lambda part: table[part].mean())
    for part in (whole, worst):
        mean, error = table[part].mean(), table[part].std(ddof=1) / np.sqrt(files)
        print(f"{', '.join(part)}: {mean:.3f} ({error:.3f})")  # noqa: T201


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
