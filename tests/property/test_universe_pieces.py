"""Universes are judged by their records: largest simple universes against a slow reference, and spellings of all kinds."""

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from reference import cubes as reference
from reticent.data.microdata import Microdata
from reticent.data.schema import Schema, Variable
from reticent.queries.analysis.universes import MOST_PIECES, deciding_filters, largest_cubes, simple_universes
from reticent.queries.canonical import Version
from reticent.queries.language import And, Compare, Condition, In, Not, Or
from reticent.queries.policy import Policy

CODES = ("p", "q", "r")
NAMES = ("a", "b", "c")


@st.composite
def cell_tables(draw: st.DrawFn) -> tuple[list[tuple[int, ...]], list[bool]]:
    cells = draw(st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=1, max_size=14, unique=True))
    inside = draw(st.lists(st.booleans(), min_size=len(cells), max_size=len(cells)))
    return cells, inside


@given(cell_tables())
def test_largest_cubes_agree_with_the_reference(table: tuple[list[tuple[int, ...]], list[bool]]) -> None:
    cells, inside = table
    found = largest_cubes(np.array(cells, dtype=np.int64), np.array(inside))
    expected = reference.largest_cubes(cells, inside)
    if any(inside):
        assert found is not None
        assert set(found) == expected
        assert len(found) == len(expected) <= MOST_PIECES


def version_of(seed: int) -> Version:
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame({name: rng.choice(CODES, 40, p=[0.6, 0.3, 0.1]) for name in NAMES})
    schema = Schema(tuple(Variable(name, codes=CODES) for name in NAMES))
    return Version("1", Microdata.of(frame, schema), Policy(filters=NAMES))


conditions: st.SearchStrategy[Condition] = st.recursive(
    st.builds(Compare, st.sampled_from(NAMES), st.sampled_from(["=", "<>"]), st.sampled_from(CODES)),
    lambda parts: st.one_of(
        st.builds(Not, parts),
        st.builds(lambda x, y: And((x, y)), parts, parts),
        st.builds(lambda x, y: Or((x, y)), parts, parts),
    ),
    max_leaves=6,
)


def _as_list_of_cells(version: Version, atoms: np.ndarray) -> Condition:
    """The same records, written as an OR of all their combinations of codes."""
    cells = {tuple(version.levels[n].texts[version.codes[n][atom]] for n in NAMES) for atom in np.flatnonzero(atoms)}
    return Or(tuple(And(tuple(In(n, (code,)) for n, code in zip(NAMES, cell))) for cell in sorted(cells)))


@given(conditions, st.integers(0, 3))
def test_pieces_depend_on_the_records_only(condition: Condition, seed: int) -> None:
    version = version_of(seed)
    atoms = version.select(condition)
    names = deciding_filters(version, atoms)
    pieces = simple_universes(version, atoms, names)
    assert pieces is not None
    # together they are the set, none lies in another, and membership follows from the deciding filters alone
    assert bool((np.logical_or.reduce([np.zeros_like(atoms), *pieces]) == atoms).all())
    assert not any((a & ~b).sum() == 0 for i, a in enumerate(pieces) for j, b in enumerate(pieces) if i != j)
    by_names: dict[tuple[int, ...], bool] = {}
    for atom, member in enumerate(atoms.tolist()):
        assert by_names.setdefault(tuple(int(version.codes[n][atom]) for n in names), member) == member
    if atoms.any():
        again = version.select(_as_list_of_cells(version, atoms))
        assert np.array_equal(again, atoms)
        assert deciding_filters(version, again) == names
    everybody = np.ones_like(atoms)
    assert deciding_filters(version, everybody) == ()
