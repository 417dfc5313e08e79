"""Rates for relations that do not hold in every record, or that bound a response by its count: generated tables and attacks.

PYTHONPATH=src:tests python tests/attacks/partial_tie_families.py 25

The attacker reads the CSV files only and knows what everybody would: the identity of turnover and its parts, the exchange rate
of each country, the least and the largest rate of a tax, that a yes is counted at most once, that a household earns what its
members earn. "Before" is the same plan with relations not looked for.
"""

import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl

from attacks.response_reader import Cell, Published
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.io.published import published_text
from reticent.jobs.protect_table import protect_table
from reticent.tables.result import ProtectedTable
from reticent.tables.rules import PPercent, Threshold
from reticent.tables.suppression.heuristic import Heuristic

RATES = {"p": 2, "q": 3, "r": 5, "s": 7}
TAXES = {"p": Fraction(7, 100), "q": Fraction(19, 100), "r": Fraction(1, 4), "s": Fraction(23, 100)}
RULES = (PPercent(15), Threshold(3, protection=20))


@dataclass(frozen=True)
class Family:
    """Records, the responses that are published, and what the attacker adds to the published tables."""

    records: Callable[[np.random.Generator], pl.DataFrame]
    responses: tuple[str, ...]
    add: Callable[[Published, pl.DataFrame], None]
    belong: Role | None = None
    """The role of the column `home`, where records belong together."""


def places(seen: Published) -> set[tuple[tuple[str, str], ...]]:
    return {codes for _, codes in (*seen.known, *seen.hidden)}


def _keys(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    return {"a": rng.choice(list("pqrs"), n), "b": rng.choice(list("xyz"), n)}


def _flags(rng: np.random.Generator) -> pl.DataFrame:
    return pl.DataFrame({**_keys(rng, 60), "flag": (rng.random(60) < 0.4).astype(int)})


def _local(rng: np.random.Generator) -> pl.DataFrame:
    keys, sales = _keys(rng, 50), np.rint(rng.lognormal(5, 1.3, 50)).astype(int)
    return pl.DataFrame({**keys, "local": sales, "euro": sales * np.array([RATES[code] for code in keys["a"]])})


def _taxed(rng: np.random.Generator) -> pl.DataFrame:
    """Prices are whole and small enough that rounder rates than the true ones fit them, if prices count as rounded."""
    keys, sales = _keys(rng, 36), np.rint(rng.lognormal(4, 1, 36)).astype(int) + 2
    tax = [float(price * TAXES[code]) for price, code in zip(sales.tolist(), keys["a"], strict=True)]
    return pl.DataFrame({**keys, "sales": sales, "tax": tax})


def _two_rates(rng: np.random.Generator) -> pl.DataFrame:
    """Some goods are taxed with 7 per cent, the others with 19, and nothing says which."""
    keys, sales = _keys(rng, 40), np.rint(rng.lognormal(4, 1, 40)).astype(int) * 100 + 200
    return pl.DataFrame({**keys, "sales": sales, "tax": sales * np.where(rng.random(40) < 0.5, 7, 19) // 100})


def _cents(rng: np.random.Generator) -> pl.DataFrame:
    """A duty of 1 per cent, or a little less than 0.8: as many cents as the price has euros, at most."""
    keys, sales = _keys(rng, 40), np.rint(rng.lognormal(4, 1, 40)).astype(int) + 2
    return pl.DataFrame({**keys, "sales": sales, "duty": np.where(rng.random(40) < 0.5, sales, sales * 4 // 5) / 100})


def _parts(rng: np.random.Generator) -> pl.DataFrame:
    keys, dom = _keys(rng, 50), np.rint(rng.lognormal(5, 1.3, 50)).astype(int)
    exp = np.rint(rng.lognormal(5, 1.3, 50)).astype(int) * (rng.random(50) < 0.7)
    return pl.DataFrame({**keys, "tot": dom + exp, "dom": dom, "exp": exp})


def _wrong(rng: np.random.Generator) -> pl.DataFrame:
    frame = _parts(rng)
    frame[0, "tot"] = frame["tot"][0] + 7
    return frame


def _incomplete(rng: np.random.Generator) -> pl.DataFrame:
    return _parts(rng).with_columns(exp=pl.when(pl.int_range(50) == 0).then(None).otherwise(pl.col("exp")))


def _homes(rng: np.random.Generator) -> pl.DataFrame:
    """People of one or three to a household; what it earns stands with its head."""
    home = np.repeat(np.arange(30), rng.choice([1, 3], 30))
    keys = {name: codes[home] for name, codes in _keys(rng, 30).items()}
    pay = np.rint(rng.lognormal(5, 1.3, len(home))).astype(int)
    rent = np.rint(rng.lognormal(5, 1.3, len(home))).astype(int) * (rng.random(len(home)) < 0.7)
    head = np.diff(home, prepend=-1) > 0
    earned = np.where(head, np.bincount(home, pay + rent)[home], 0).astype(int)
    return pl.DataFrame({"home": home, **keys, "earned": earned, "pay": pay, "rent": rent})


def _earned_together(seen: Published, _: pl.DataFrame) -> None:
    seen.relate({"earned": 1.0, "pay": -1.0, "rent": -1.0})


def _at_most_counted(seen: Published, _: pl.DataFrame) -> None:
    seen.relate({"flag": 1.0, "count": -1.0}, inequality=True)


def _rate_of_each_country(seen: Published, _: pl.DataFrame) -> None:
    for codes in places(seen):
        if "a" in dict(codes):
            seen.equal.append({("euro", codes): 1.0, ("local", codes): -float(RATES[dict(codes)["a"]])})


def _tax_of_each_country(seen: Published, _: pl.DataFrame) -> None:
    for codes in places(seen):
        if "a" in dict(codes):
            seen.equal.append({("tax", codes): 1.0, ("sales", codes): -float(TAXES[dict(codes)["a"]])})


def _between_two_rates(seen: Published, _: pl.DataFrame) -> None:
    seen.relate({"tax": 1.0, "sales": -0.19}, inequality=True)
    seen.relate({"tax": -1.0, "sales": 0.07}, inequality=True)


def _sum_of_parts(seen: Published, frame: pl.DataFrame) -> None:
    """In every cell but those of the first record, which published totals reveal as the odd one."""
    odd = dict(zip(("a", "b"), frame.row(0)[:2], strict=True))
    for codes in places(seen):
        if any(odd[name] != code for name, code in codes):
            seen.equal.append({("tot", codes): 1.0, ("dom", codes): -1.0, ("exp", codes): -1.0})


def _at_most_one_per_cent(seen: Published, _: pl.DataFrame) -> None:
    seen.relate({"duty": 1.0, "sales": -0.01}, inequality=True)


CENTS = Family(_cents, ("sales", "duty"), _at_most_one_per_cent)
FAMILIES = {
    "a yes counts once": Family(_flags, ("flag", "count"), _at_most_counted),
    "a rate for each country": Family(_local, ("local", "euro"), _rate_of_each_country),
    "a tax rate for each country": Family(_taxed, ("sales", "tax"), _tax_of_each_country),
    "a tax between two rates": Family(_two_rates, ("sales", "tax"), _between_two_rates),
    "a sum but for one wrong record": Family(_wrong, ("tot", "dom", "exp"), _sum_of_parts),
    "a sum but for one missing value": Family(_incomplete, ("tot", "dom", "exp"), _sum_of_parts),
    "a sum of a household": Family(_homes, ("earned", "pay", "rent"), _earned_together, Role.HOUSEHOLD_ID),
    "a sum of a respondent": Family(_homes, ("earned", "pay", "rent"), _earned_together, Role.ENTITY),
}


def protected(
    frame: pl.DataFrame, responses: tuple[str, ...], belong: Role | None = None, *, find: bool
) -> ProtectedTable:
    numeric = [Variable(name, kind=Kind.NUMERIC) for name in responses if name != "count"]
    home = [] if belong is None else [Variable("home", role=belong)]
    data = Microdata.of(frame, Schema((*home, Variable("a", role=Role.KEY), Variable("b", role=Role.KEY), *numeric)))
    dimensions = (DimensionSpec("a"), DimensionSpec("b"))
    specs = [TableSpec(dimensions, response=None if name == "count" else name) for name in responses]
    return protect_table(
        data, specs, rules=RULES, method=Heuristic(), time_limit=60, search_steps=4000, find_relations=find
    )


def levels(run: ProtectedTable) -> dict[Cell, tuple[float, float, float]]:
    """The truth, for judging an attack: value and required ends of each unsafe cell."""
    found = {}
    for one in run.by_response():
        table, problem = one.table, one.problem
        for at in np.flatnonzero(problem.primary[: table.n_cells]).tolist():
            named = zip(table.names, table.dimensions, table.codes[at].tolist(), strict=True)
            codes = tuple(sorted((name, dimension.codes[code]) for name, dimension, code in named if code > 0))
            value = float(table.values[at])
            ends = value - float(problem.lower_protection[at]), value + float(problem.upper_protection[at])
            found[table.response or "count", codes] = (value, *ends)
    return found


def attack(family: Family, frame: pl.DataFrame, *, find: bool) -> tuple[int, int, int]:
    """Unsafe cells, those known exactly, and those known more closely than their levels (these included)."""
    run = protected(frame, family.responses, family.belong, find=find)
    with tempfile.TemporaryDirectory() as name:
        files = [(one.response, Path(name) / f"{one.response}.csv") for one in run.published]
        for one, (_, path) in zip(run.published, files, strict=True):
            path.write_text(published_text(one))
        seen = Published(files)
    family.add(seen, frame)
    exactly = closely = 0
    wanted = levels(run)
    for cell, (value, low, high) in wanted.items():
        least, most = seen.ends(cell)
        noise = 1e-5 * max(1.0, value)
        exactly += most - least < noise
        closely += most - least < noise or least > low + noise or most < high - noise
    return len(wanted), exactly, closely


def rates(family: Family, tables: int, *, find: bool) -> tuple[int, int, int]:
    rng = np.random.default_rng(5)
    found = np.sum([attack(family, family.records(rng), find=find) for _ in range(tables)], axis=0)
    return int(found[0]), int(found[1]), int(found[2])


if __name__ == "__main__":
    for name, family in FAMILIES.items():
        for find in (False, True):
            unsafe, exactly, closely = rates(family, int(sys.argv[1]), find=find)
            line = f"{unsafe} unsafe cells, {exactly} known exactly, {closely} within their levels"
            sys.stdout.write(f"{name}, {'now' if find else 'before'}: {line}\n")
