"""The transparent attacker on small tables: every world that gives the same published output, by enumeration.

He has code, method, parameters and rules; data and secret are missing. A world is a table of three counts and their
total; an unsafe count is determined if all worlds with the same output agree on it. Run as a program for the rates:
`python -m attacks.transparent` in `tests`.
"""

import hashlib
import itertools
import sys
from collections import defaultdict
from typing import Any, NamedTuple

import polars as pl

from reticent.base.errors import ReticentError
from reticent.data.microdata import Microdata
from reticent.data.schema import Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.jobs.protect_table import protect_table
from reticent.tables.methods import TABLE_METHODS
from reticent.tables.perturb.secrets import draws
from reticent.tables.rules import Threshold

MINIMUM, CODES, SECRETS = 3, ("a", "b", "c"), 24
OPTIONS: dict[str, dict[str, Any]] = {
    "round": {"base": 3, "steps": 1, "protect_levels": True},
    "random-rounding": {"base": 3},
    "cell-key": {"largest": 3, "variance": 2},
}
SCHEMA = Schema((Variable("id", role=Role.IDENTIFIER), Variable("v", role=Role.KEY, codes=CODES)))


def published(world: tuple[int, ...], name: str, seed: int) -> tuple[object, ...] | None:
    """What is published of a world; nothing if the run is refused, as it is where a cell would be exposed."""
    codes = [code for code, count in zip(CODES, world, strict=True) for _ in range(count)]
    data = Microdata.of(pl.DataFrame({"id": [f"p{n}" for n in range(len(codes))], "v": codes}), SCHEMA)
    secret = hashlib.sha256(f"{name} {seed}".encode()).digest() if draws(TABLE_METHODS[name]()) or seed else None
    try:
        found = protect_table(
            data, TableSpec((DimensionSpec("v"),)), rules=[Threshold(minimum=MINIMUM)],
            method=TABLE_METHODS[name](**OPTIONS.get(name, {})), secret=secret, time_limit=10,
        )  # fmt: skip
    except ReticentError:
        return None
    table = found.published[0]
    return tuple(
        table.text(row) if table.status[row] == "published" else table.status[row] for row in range(len(table))
    )


class Left(NamedTuple):
    """What is left to the transparent attacker of the unsafe counts behind all outputs that were seen.

    `width` is how far the largest candidate of an unsafe count lies above the smallest one, on average.
    """

    unsafe: int
    determined: int
    width: float
    refused: int


def rates(name: str, *, largest: int = 4, seeds: int = 1) -> Left:
    """What is left of the unsafe counts behind all outputs that were seen, and how many runs were refused.

    Further secrets can only widen what is left behind an output that was seen, but may give outputs that were not.
    """
    worlds = [world for world in itertools.product(range(largest + 1), repeat=len(CODES)) if sum(world)]
    outputs: dict[object, set[tuple[int, ...]]] = defaultdict(set)
    refused = 0
    for world in worlds:
        for seed in range(seeds):
            shown = published(world, name, seed)
            if shown is None:
                refused += 1
            else:
                outputs[shown].add(world)
    widths = []
    for group in outputs.values():
        ends = [(min(counts), max(counts)) for counts in zip(*group, strict=True)]
        for world in group:
            widths += [most - least for count, (least, most) in zip(world, ends, strict=True) if 0 < count < MINIMUM]
    return Left(len(widths), widths.count(0), round(sum(widths) / max(1, len(widths)), 1), refused)


if __name__ == "__main__":
    for method in sys.argv[1:] or list(TABLE_METHODS):
        n_seeds = SECRETS if draws(TABLE_METHODS[method]()) else 1
        found = rates(method, seeds=n_seeds)
        sys.stdout.write(
            f"{method:16} {found.determined} of {found.unsafe} unsafe counts determined, left {found.width} wide on "
            f"average, {found.refused} runs refused\n"
        )
