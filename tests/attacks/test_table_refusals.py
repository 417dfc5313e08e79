"""Tables that were refused although a pattern protects them, and a hidden count that a list of codes gave away.

The reader has the CSV files alone (`file_reader.py`); where a table is written, it must find nothing in it.
"""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from attacks.file_reader import Attack, Knowledge, own_bounds, read_release
from attacks.refusal_families import FAMILIES, losses, weighted
from reticent.base.errors import InfeasibleError
from reticent.data.microdata import Microdata
from reticent.data.relations import Relations
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.data.table_plan import Insiders
from reticent.io.published import published_text
from reticent.jobs.protect_table import protect_table
from reticent.tables.attack.insiders import singles_by_relations
from reticent.tables.request import Attacker
from reticent.tables.result import ProtectedTable
from reticent.tables.rules import PPercent, Threshold

MINIMUM = Threshold(3, protection=20)


def written(result: ProtectedTable, folder: Path) -> list[tuple[str, Path]]:
    """The tables of a run as CSV files."""
    assert result.exposed == ()
    files = []
    for number, table in enumerate(result.published):
        path = folder / f"table-{number}.csv"
        path.write_text(published_text(table))
        files.append((table.response, path))
    return files


def wages(people: str, values: tuple[int, ...], women: tuple[int, ...], coalition: int) -> ProtectedTable:
    """The wages of all, of men and of women, by a: whoever is not asked for a response has no value of it."""
    frame = pl.DataFrame(
        {
            "a": list(people),
            "wages": values,
            "of_men": [None if w else v for v, w in zip(values, women, strict=True)],
            "of_women": [v if w else None for v, w in zip(values, women, strict=True)],
        }
    )
    names = ("wages", "of_men", "of_women")
    schema = Schema((Variable("a", role=Role.KEY), *(Variable(name, kind=Kind.NUMERIC) for name in names)))
    specs = [TableSpec((DimensionSpec("a"),), response=name) for name in names]
    return protect_table(
        Microdata.of(frame, schema), specs, rules=(PPercent(15), MINIMUM), attacker=Attacker(coalition=coalition),
        time_limit=10,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("people", "values", "women", "coalition", "own"),
    [
        ("ppqqqrrrr", (267, 117, 50, 60, 70, 80, 90, 100, 110), (0, 1, 0, 1, 0, 1, 0, 1, 1), 1, (267, 117)),
        ("ppppqqqqqqqq", (90, 80, 70, 60, 55, 60, 65, 70, 40, 45, 50, 52), (0, 0, 1, 1) * 3, 2, (170, 130)),
    ],
)
def test_respondents_of_two_responses_are_not_the_same(
    people: str, values: tuple[int, ...], women: tuple[int, ...], coalition: int, own: tuple[int, int], tmp_path: Path
) -> None:
    # the men of p are the only respondents of one sum and the women of another: they were taken for the same people
    result = wages(people, values, women, coalition)
    release = read_release(written(result, tmp_path), {}, [{"wages": 1.0, "of_men": -1.0, "of_women": -1.0}])
    place = frozenset({("a", "p")})
    for name, value in zip(("of_men", "of_women"), own, strict=True):
        bounds = own_bounds(release, Knowledge()) | {(name, place): (float(value), float(value))}
        low, high = Attack(release, Knowledge(), bounds).ends(("wages", place))
        assert high - low > 1


def linked(rows: list[tuple[str, str, str]], codes: dict[str, tuple[str, ...]], *, hide_empty: bool) -> ProtectedTable:
    """Counts by a × b, and by a × k."""
    frame = pl.DataFrame(rows, schema=["a", "b", "k"], orient="row")
    schema = Schema(tuple(Variable(name, role=Role.KEY, codes=codes.get(name, ())) for name in "abk"))
    digits = (1, 1) if rows[0][0][0].isdigit() else ()
    first = DimensionSpec("a", digits=digits)
    specs = [TableSpec((first, DimensionSpec(name))) for name in "bk"]
    return protect_table(Microdata.of(frame, schema), specs, rules=(MINIMUM,), hide_empty=hide_empty, time_limit=10)


def test_linked_tables_hide_empty_cells(tmp_path: Path) -> None:
    # all of a0 are in b1 and k0: nobody knows that while the empty cells beside them are hidden
    rows = (
        [("a0", "b1", "k0")] * 3
        + [("a1", "b0", "k1")] * 3
        + [("a2", "b0", "k2"), ("a2", "b0", "k1"), ("a2", "b0", "k2")]
    )
    rows += [("a2", "b1", "k1"), ("a2", "b1", "k1"), ("a2", "b1", "k0"), ("a2", "b1", "k1")]
    rows += [("a3", "b0", "k0"), ("a3", "b0", "k2"), ("a3", "b1", "k1"), ("a3", "b1", "k2")]
    codes = {"a": ("a0", "a1", "a2", "a3"), "b": ("b0", "b1"), "k": ("k0", "k1", "k2")}
    result = linked(rows, codes, hide_empty=True)
    known = Knowledge(counts=frozenset({"count"}), hides_empty=True)
    release = read_release(written(result, tmp_path), {})
    attack = Attack(release, known, own_bounds(release, known))
    for cell, shown in release.cells.items():
        if shown.status == "hidden":
            low, high = attack.ends(cell)
            assert high - low >= 1  # also where nobody is
            n = sum(all(row["abk".index(name)] == code for name, code in cell[1]) for row in rows)
            assert high >= 3 or n == 0


def test_who_is_listed_is_somebody_in_linked_tables_too(tmp_path: Path) -> None:
    # a1 and a2 are 6 in all and a2 is somebody's code; with 3 of a1 in k0, two are left for k1 and k2
    rows = [
        ("a0", "b0", "k2"),
        ("a0", "b0", "k2"),
        ("a0", "b0", "k0"),
        ("a0", "b2", "k0"),
        ("a0", "b2", "k2"),
        ("a0", "b2", "k0"),
    ]
    rows += [("a1", "b1", k) for k in ("k0", "k0", "k2", "k1", "k0")] + [("a2", "b1", "k0")]
    result = linked(rows, {}, hide_empty=True)
    known = Knowledge(counts=frozenset({"count"}), hides_empty=True)
    release = read_release(written(result, tmp_path), {})
    bounds = own_bounds(release, known)
    for cell in bounds:
        if len(cell[1]) == 1:  # a code that nothing but the records declares
            bounds[cell] = (max(1.0, bounds[cell][0]), bounds[cell][1])
    attack = Attack(release, known, bounds)
    for cell, shown in release.cells.items():
        n = sum(all(row["abk".index(name)] == code for name, code in cell[1]) for row in rows)
        if shown.status == "hidden" and 0 < n < 3:
            assert attack.ends(cell)[1] >= 3


def test_a_refusal_says_that_empty_cells_need_not_be_hidden() -> None:
    # nobody of b0 or c0 can be in a0, as the records say which codes go together: that a0 is empty there cannot be hidden
    rows = [("a0", "b2", "c1"), ("a0", "b2", "c2"), ("a1", "b0", "c2"), ("a1", "b1", "c1"), ("a1", "b1", "c2")]
    rows += [("a1", "b2", "c0")] * 3
    codes = {"a": ("a0", "a1"), "b": ("b0", "b1", "b2"), "k": ("c0", "c1", "c2")}
    with pytest.raises(InfeasibleError, match="say hide_empty = false"):
        linked(rows, codes, hide_empty=True)
    assert linked(rows, codes, hide_empty=False).exposed == ()


@pytest.mark.parametrize("hide_empty", [False, True])
def test_levels_end_at_what_is_known_whatever_is_hidden(hide_empty: bool) -> None:
    # all of 12 are in b0, one in k1 and one in k2: with both hidden nobody takes 12 × b0 for less than 2
    rows = [("10", "b0", f"k{n % 3}") for n in range(13)] + [("10", "b1", f"k{n % 3}") for n in range(5)]
    rows += [("21", "b0", "k1"), ("12", "b0", "k2"), ("12", "b0", "k1")]
    codes = {"a": ("10", "12", "21"), "b": ("b0", "b1"), "k": ("k0", "k1", "k2")}
    assert linked(rows, codes, hide_empty=hide_empty).exposed == ()


def test_a_table_with_fewer_levels_beside_it_says_nothing_new(tmp_path: Path) -> None:
    # nobody has 23, so that 2 and 21 have the same people; who took that for known took 23 for known to be empty
    rows = [("10", k) for k in ("k0",) * 4 + ("k1",)] + [("12", k) for k in ("k0",) * 3 + ("k1",) * 2]
    rows += [("21", k) for k in ("k0",) * 3 + ("k1",)]
    codes = {"a": ("10", "12", "21", "23"), "k": ("k0", "k1")}
    schema = Schema(tuple(Variable(name, role=Role.KEY, codes=own) for name, own in codes.items()))
    data = Microdata.of(pl.DataFrame(rows, schema=["a", "k"], orient="row"), schema)
    fine, coarse = (DimensionSpec("a", digits=(1, 1)), DimensionSpec("a", digits=(1, 1), level=1))
    specs = [TableSpec((own, DimensionSpec("k"))) for own in (fine, coarse)]
    result = protect_table(data, specs, rules=(Threshold(3, protection=20),), hide_empty=True, time_limit=20)
    known = Knowledge(counts=frozenset({"count"}), hides_empty=True)
    release = read_release(written(result, tmp_path), {"a": {code: code[0] for code in codes["a"]}})
    attack = Attack(release, known, own_bounds(release, known))
    for cell, shown in release.cells.items():
        n = sum(all(row["ak".index(name)].startswith(code) for name, code in cell[1]) for row in rows)
        if shown.status == "hidden":
            low, high = attack.ends(cell)
            assert high - low >= 1
            assert high >= 3 or n == 0
        else:
            assert n == 0 or n >= 3


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("insiders", ["exact", "protect"])
def test_gains_and_losses_of_few_people_are_written(number: int, insiders: Insiders, tmp_path: Path) -> None:
    # who is alone in a row and in a column knows that nobody else is there, whatever is published
    assert losses(np.random.default_rng([number, 6]), tmp_path, insiders) == 0


@pytest.mark.parametrize("number", [7, 10])
def test_the_person_of_several_weighted_counts_is_one_person(number: int, tmp_path: Path) -> None:
    # the cells by b had the person's name from turnover by b, the others of the same person had not
    assert weighted(np.random.default_rng([number, FAMILIES.index("weighted")]), tmp_path) == 0


def test_codes_that_add_up_only_together_do_not_make_people_one_respondent() -> None:
    # c0 and c2 are the rows r0, r1 and r3, in l0 too: each of these cells has one person, and no total has one in this sum
    people = ["r0c2l1", "r2c1l1", "r0c0l1", "r1c0l0", "r1c0l1", "r0c2l1", "r1c0l1", "r0c2l0", "r2c1l0", "r3c0l0"]
    rows = [(one[:2], one[2:4], one[4:]) for one in people]
    data = Microdata.of(
        pl.DataFrame(rows, schema=["r", "c", "l"], orient="row"),
        Schema(tuple(Variable(name, role=Role.KEY) for name in "rcl")),
    )
    specs = [TableSpec(tuple(DimensionSpec(name) for name in pair)) for pair in ("rc", "rl", "cl")]
    assert protect_table(data, specs, rules=(Threshold(3),), time_limit=20).exposed == ()


def test_a_total_stands_alone_on_its_side_of_a_relation() -> None:
    single = np.array([True, True, True, True, False, True])
    rows = [((0, 1, 2, 4), (1, 1, -1, -1)), ((3, 4, 5), (1, -1, 1)), ((0, 5), (1, -1))]
    found = singles_by_relations(single, Relations.from_rows(6, rows))
    assert found[0] == found[5]
    assert len(set(found[single].tolist())) == 4
    assert found[4] == -1
