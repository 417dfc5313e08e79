"""Related responses against exhaustive search: tables of at most 8 cells in whole numbers, every value that fits, every pattern.

Two responses over two codes and their total (6 cells), tied by `value = 2 part` or `part <= value`, and three over one code
and its total (6 cells) tied by `tot = dom + exp`. The attack interval of the joint system is that of all whole tables which fit
what is published, and no pattern is refused where a safe one exists.
"""

import itertools
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reticent.base.errors import InfeasibleError
from reticent.data.microdata import Microdata
from reticent.data.response_relations import parse_relation
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.data.table_plan import BoundsOptions
from reticent.jobs.protect_table import protect_table
from reticent.tables.attack import audit
from reticent.tables.attack.insiders import insiders
from reticent.tables.methods import PrimaryOnly
from reticent.tables.request import Attacker
from reticent.tables.rules import Threshold
from reticent.tables.suppression.optimal import Optimal
from samples import examples

TOP = 20  # the attacker knows that no value is larger
RELATIONS = {"tot = dom + exp": ("tot", "dom", "exp"), "v = 2 w": ("v", "w"), "w <= v": ("v", "w")}


def data_of(relation: str, numbers: list[tuple[int, int]], codes: str) -> Microdata:
    first, second = np.array([n[0] for n in numbers]), np.array([n[1] for n in numbers])
    columns = {
        "tot = dom + exp": {"tot": first + second, "dom": first, "exp": second},
        "v = 2 w": {"v": 2 * first, "w": first},
        "w <= v": {"v": first + second, "w": first},
    }[relation]
    names = RELATIONS[relation]
    schema = Schema((Variable("a", role=Role.KEY), *(Variable(name, kind=Kind.NUMERIC) for name in names)))
    return Microdata.of(pl.DataFrame({"a": list(codes), **columns}), schema)


def fits(relation: str, names: tuple[str, ...], column: tuple[int, ...]) -> bool:
    made = parse_relation(relation)
    total = sum(Fraction(c) * column[names.index(n)] for n, c in zip(made.names, made.coefs, strict=True))
    return total >= 0 if made.inequality else total == 0


def enumerate_ends(
    relation: str, true: dict[tuple[str, str], int], hidden: set[tuple[str, str]], codes: tuple[str, ...]
) -> dict[tuple[str, str], tuple[int, int]]:
    """Least and largest value of each hidden cell over all whole tables that fit the published cells."""
    names = RELATIONS[relation]
    choices = []
    for code in codes:
        options = []
        for column in itertools.product(range(TOP + 1), repeat=len(names)):
            shown = all((n, code) in hidden or true[n, code] == v for n, v in zip(names, column, strict=True))
            if shown and fits(relation, names, column):
                options.append(column)
        choices.append(options)
    ends: dict[tuple[str, str], tuple[int, int]] = {}
    for inner in itertools.product(*choices):
        total = tuple(sum(column[at] for column in inner) for at in range(len(names)))
        bad = any(
            t > TOP or ((n, "Total") not in hidden and true[n, "Total"] != t) for n, t in zip(names, total, strict=True)
        )
        if bad:
            continue
        for code, column in zip((*codes, "Total"), (*inner, total), strict=True):
            for name, value in zip(names, column, strict=True):
                low, high = ends.get((name, code), (value, value))
                ends[name, code] = (min(low, value), max(high, value))
    return ends


@examples(8)
@given(
    relation=st.sampled_from(sorted(RELATIONS)),
    numbers=st.lists(st.tuples(st.integers(2, 3), st.sampled_from([0, 2])), min_size=4, max_size=4),
    unsafe=st.integers(1, 7),
)
def test_joint_intervals_are_those_of_all_tables_that_fit(
    relation: str, numbers: list[tuple[int, int]], unsafe: int
) -> None:
    codes = "ab" if relation != "tot = dom + exp" else "a"
    spread = (codes * len(numbers))[: len(numbers)]
    data = data_of(relation, numbers, spread)
    specs = [TableSpec((DimensionSpec("a"),), response=name) for name in RELATIONS[relation]]
    minimum = 1 + unsafe % 4
    options = {
        "rules": [Threshold(minimum, protection=30)],
        "relations": [relation],
        "find_relations": False,
        "attacker": Attacker(BoundsOptions(0, TOP)),
    }
    try:
        found = protect_table(data, specs, method=PrimaryOnly(), accept_exposed=True, **options)
    except ValueError:
        return  # a value above what the attacker knows
    names = found.table.cell_codes
    true = {(names(c)[1], names(c)[0]): int(found.table.values[c]) for c in range(found.joint.n_cells)}
    hidden = {(names(c)[1], names(c)[0]) for c in np.flatnonzero(found.outcome.hidden) if c < found.joint.n_cells}
    ends = enumerate_ends(relation, true, hidden, tuple(sorted(set(spread))))
    for row in found.intervals():
        low, high = ends[row["cell"][1], row["cell"][0]]
        # the attacker of sums takes them for real numbers: never narrower than whole ones, and as wide where these are known
        assert row["low"] <= low + 1e-6
        assert row["high"] >= high - 1e-6
        assert (row["high"] - row["low"] > 1e-6) or low == high


@pytest.mark.parametrize("relation", ["tot = dom + exp", "v = 2 w"])
def test_no_pattern_is_refused_where_one_exists(relation: str) -> None:
    """Every pattern of 6 cells is attacked by itself; the method finds one exactly where one of them is safe."""
    rng = np.random.default_rng(3)
    codes = "aaabb"
    for _ in range(6):
        numbers = [(int(x), int(y)) for x, y in rng.integers(0, 3, (5, 2))]
        data = data_of(relation, numbers, codes)
        specs = [TableSpec((DimensionSpec("a"),), response=name) for name in RELATIONS[relation]]
        options = {"rules": [Threshold(3, protection=30)], "relations": [relation], "find_relations": False}
        bare = protect_table(data, specs, method=PrimaryOnly(), accept_exposed=True, **options)
        problem, n = bare.problem, bare.joint.n_cells
        free = np.flatnonzero(problem.candidates[:n])
        safe = False
        for chosen in itertools.chain.from_iterable(itertools.combinations(free, k) for k in range(len(free) + 1)):
            hidden = problem.forced.copy()
            hidden[list(chosen)] = True
            safe |= not audit(problem, hidden, mode="certify").n_exposed and not insiders(problem, hidden)
        try:
            made = protect_table(data, specs, method=Optimal(), time_limit=5, **options)
        except InfeasibleError:
            assert not safe
        else:
            assert safe
            assert not made.exposed
