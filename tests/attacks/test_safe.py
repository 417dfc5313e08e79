"""Attacks on files that SAFE made, from the published file and what the attacker knows: what is kept and what is not.

An unprotected file is the yardstick: each attack that SAFE withstands succeeds on it, in the same test.
"""

import hashlib
from collections import Counter
from functools import cache
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

from reference.perturb_files import file_of, run
from reticent.data.schema import Role
from reticent.data.verdict import State
from reticent.jobs.protect_file import read_file_plan, run_plan
from reticent.microdata.mask.safe import Safe
from reticent.microdata.protect import protect_data
from samples import numbers

Row = tuple[str, ...]
NAMES = ("region", "sex", "job")
SECRET = hashlib.sha256(b"copies").digest()


def truth(seed: int, n: int = 150) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {
        "region": rng.integers(0, 8, n).astype(str),
        "sex": rng.integers(0, 2, n).astype(str),
        "job": np.array(list("abcdef"))[np.minimum(rng.geometric(0.4, n) - 1, 5)],
    }


@cache
def both(seed: int) -> tuple[list[Row], list[Row], dict[str, object]]:
    data = file_of(truth(seed))
    applied = run(Safe(ways=2), data, secret=seed)
    return data.frame.table.rows(), applied.data.frame.table.rows(), dict(applied.facts)


def small_counts(rows: list[Row]) -> int:
    """Cells of 1 or 2 over all crossings."""
    found = 0
    for size in range(1, len(NAMES) + 1):
        for columns in combinations(range(len(NAMES)), size):
            found += sum(count < 3 for count in Counter(tuple(row[c] for c in columns) for row in rows).values())
    return found


@pytest.mark.parametrize("seed", numbers(2, 6))
def test_somebody_alone_in_a_cell_is_found_in_the_true_file_and_in_no_table_of_the_new_one(seed: int) -> None:
    before, after, _ = both(seed)
    assert small_counts(before) > 0
    assert small_counts(after) == 0


@pytest.mark.parametrize("seed", numbers(2, 6))
def test_what_is_shown_exists_and_the_record_says_how_many_uniques_are_shown(seed: int) -> None:
    """Not kept: presence. The attacker who looks somebody up and finds him knows that somebody like him is there."""
    before, after, facts = both(seed)
    true, shown = Counter(before), Counter(after)
    assert set(shown) <= set(true)
    uniques = [row for row, count in true.items() if count == 1]
    presence = facts["attack"]["presence"]  # type: ignore[index]
    assert presence["true uniques"] == len(uniques)
    assert presence["shown"] == sum(row in shown for row in uniques) > 0
    hidden = [row for row in uniques if row not in shown]
    assert hidden, "a zero does not say that nobody is there"


@pytest.mark.parametrize("seed", numbers(2, 6))
def test_values_read_off_are_counted_as_the_attacker_finds_them(seed: int) -> None:
    """Not kept: the attribute of a true unique whose combination is shown. Some guesses are wrong now."""
    before, after, facts = both(seed)
    for number, row in enumerate(facts["attack"]["attribute"]):  # type: ignore[index]
        values: dict[Row, set[str]] = {}
        for record in after:
            values.setdefault(record[:number] + record[number + 1 :], set()).add(record[number])
        right = wrong = 0
        for person in before:
            found = values.get(person[:number] + person[number + 1 :], set())
            if len(found) == 1:
                right += found == {person[number]}
                wrong += found != {person[number]}
        assert (row["rightly after"], row["wrongly after"]) == (right, wrong)
        assert right < row["read off before"] or row["read off before"] == 0 or wrong > 0


@pytest.mark.parametrize("seed", range(2))
def test_known_largest_deviations_prove_no_count_of_one_or_two(seed: int) -> None:
    """Intervals by linear programs over all controlled tables, with the largest deviation of each class known."""
    before, after, facts = both(seed)
    true, shown = Counter(before), Counter(after)
    bound = facts["largest deviation"]  # type: ignore[index]
    possible = sorted({(r, s, j) for r in "01234567" for s in "01" for j in "abcdef"})
    matrix, limits = [], []
    for size, most in ((1, bound["single"]), (2, bound["crossed"])):  # type: ignore[index]
        for columns in combinations(range(3), size):
            for cell in {tuple(row[c] for c in columns) for row in possible}:
                inside = np.array([tuple(row[c] for c in columns) == cell for row in possible], dtype=float)
                total = sum(shown[row] for row, here in zip(possible, inside, strict=True) if here)
                matrix += [inside, -inside]
                limits += [total + most, most - total]
    ranges = [(1 if shown[row] else 0, None) for row in possible]
    total = {"A_eq": np.ones((1, len(possible))), "b_eq": [len(after)]}
    for at, row in enumerate(possible):
        if true[row] not in (1, 2) or at % 3:
            continue
        goal = np.eye(len(possible))[at]
        low = linprog(goal, A_ub=np.array(matrix), b_ub=limits, bounds=ranges, **total)
        high = linprog(-goal, A_ub=np.array(matrix), b_ub=limits, bounds=ranges, **total)
        assert low.status == high.status == 0
        assert low.fun - 1e-7 <= true[row] <= -high.fun + 1e-7
        assert low.fun - 1e-7 <= shown[row] <= -high.fun + 1e-7
        assert shown[row] not in (1, 2)


def lookup(rows: list[Row], person: Row, sensitive: int) -> str | None:
    """The attacker knows all values of somebody except one, and takes what all records that fit show."""
    fitting = {
        row[sensitive]
        for row in rows
        if row[:sensitive] + row[sensitive + 1 :] == person[:sensitive] + person[sensitive + 1 :]
    }
    return next(iter(fitting)) if len(fitting) == 1 else None


@pytest.mark.parametrize("seed", numbers(2, 6))
def test_three_copies_of_one_person_are_no_crowd(seed: int) -> None:
    """Looking up shown uniques gives their value rightly in all cases; the recount took the copies for three people and held."""
    columns = truth(seed, 1500) | {"age": np.random.default_rng(seed + 50).geometric(0.12, 1500).astype(str)}
    data = file_of(
        {name: columns[name] for name in ("region", "sex", "age", "job")},
        roles=dict.fromkeys(("region", "sex", "age"), Role.KEY),
    )
    run = protect_data(data, [Safe(ways=2, steps=40)], most=0.34, secret=SECRET, accept_risk="a test of an attack")
    after = run.after.frame.table.rows()
    before = data.frame.table.rows()
    alone = Counter(row[:3] for row in before)
    shown = set(after)
    uniques = [row for row in before if alone[row[:3]] == 1 and row in shown]
    assert uniques
    assert all(Counter(after)[row] >= 3 for row in uniques)
    assert all(lookup(after, row, 3) == row[3] for row in uniques)
    found = run.verdict["recount"]
    assert found.state is State.NOT_HELD
    assert found.value == 1.0
    assert "copies of one person count once" in found.text
    held_then = min(Counter(row[:3] for row in after).values())
    assert held_then >= 3  # what the recount went by, so that 0.34 was kept
    assert run.result.steps[0].facts["certificate"]["counts of 1 or 2"] == 0


@pytest.mark.parametrize("seed", numbers(2, 6))
def test_a_person_counts_once_however_often_the_record_is_copied(seed: int) -> None:
    """Fitting people are counted pattern by pattern: as many as are shown, at most as many as there are."""
    data = file_of(truth(seed), roles=dict.fromkeys(NAMES, Role.KEY))
    run = protect_data(data, [Safe(ways=2)], most=1.0, secret=SECRET, accept_risk="a test of an attack")
    true, shown = Counter(data.frame.table.rows()), Counter(run.after.frame.table.rows())
    counts = run.attacks.recount.sample_counts  # type: ignore[union-attr]
    for person, count in zip(data.frame.table.rows(), counts.tolist(), strict=True):
        assert count in (0, min(true[person], shown[person]))
    assert int((counts > 0).sum()) == sum(min(true[row], shown[row]) for row in true)
    linked = run.attacks.linkage.linked  # type: ignore[union-attr]
    for row, found in zip(run.after.frame.table.rows(), linked.tolist(), strict=True):
        assert found == (true[row] == 1)


def worlds_of(shown: Counter[Row], rows: list[Row], n: int) -> list[dict[Row, int]]:
    """All true files of these combinations with n records in which everything that is shown exists."""
    found = []
    for counts in product(range(n + 1), repeat=len(rows)):
        world = dict(zip(rows, counts, strict=True))
        if sum(counts) == n and all(world[row] > 0 for row in shown):
            found.append(world)
    return found


def away(world: dict[Row, int], shown: Counter[Row], at: int) -> int:
    """The largest deviation in the table of one variable."""
    values = {row[at] for row in world}
    return max(abs(sum(c - shown[row] for row, c in world.items() if row[at] == value)) for value in values)


def test_a_bound_on_deviations_proves_nothing_but_the_largest_deviation_itself_can() -> None:
    """So the largest deviation is confidential, and the guarantee is against somebody who knows bounds."""
    people = [("a",), ("a",), ("b",)]
    data = file_of({"job": np.array([row[0] for row in people])})
    applied = run(Safe(ways=1), data, secret=1)
    shown = Counter(applied.data.frame.table.rows())
    rows = [("a",), ("b",)]
    fits = worlds_of(shown, rows, len(people))
    largest = applied.facts["largest deviation"]["single"]
    bounded = [world for world in fits if away(world, shown, 0) <= largest]
    attained = [world for world in fits if away(world, shown, 0) == largest]
    for row in rows:
        assert len({world[row] for world in bounded}) > 1
    assert any(len({world[row] for world in attained}) == 1 and people.count(row) < 3 for row in rows)
    assert "bounds of the deviations" in applied.facts["guarantee"]
    assert "not how large the largest is" in applied.facts["guarantee"]


def test_who_does_not_find_the_own_record_can_prove_a_small_count_where_bounds_are_tight() -> None:
    """Not kept, and the guarantee says so: the published file is no possible truth for somebody whom it lacks."""
    people = [("r", "x"), ("r", "x"), ("r", "y"), *[("s", "x")] * 4, *[("s", "y")] * 5]
    data = file_of({"region": np.array([row[0] for row in people]), "job": np.array([row[1] for row in people])})
    applied = run(Safe(tables=(("region",),), single_bound=0), data, secret=1)
    shown = Counter(applied.data.frame.table.rows())
    lacking = [row for row in set(people) if not shown[row]]
    assert lacking
    for region, _ in lacking:
        total = sum(count for row, count in shown.items() if row[0] == region)  # exact, because the bound is 0
        (other,) = [row for row in shown if row[0] == region]
        proved = range(1, total)  # it is shown, so somebody has it, and the one who asks is not among them
        assert people.count(other) in proved
        assert set(proved) <= {1, 2}
    outsider = worlds_of(shown, sorted(set(people)), len(people))
    assert dict(shown) in [{row: count for row, count in world.items() if count} for world in outsider]
    assert "Somebody whose own combination is not shown" in applied.facts["guarantee"]


@pytest.mark.parametrize("crossed", [(), (("region", "sex"),)])
def test_nothing_that_is_published_says_how_large_the_largest_deviation_is(
    crossed: tuple[Row, ...], tmp_path: Path
) -> None:
    columns = truth(5)
    (tmp_path / "data.csv").write_text(
        ",".join(NAMES) + "\n" + "".join(",".join(row) + "\n" for row in zip(*columns.values(), strict=True))
    )
    (tmp_path / "schema.toml").write_text("".join(f'[[variable]]\nname = "{name}"\nrole = "key"\n' for name in NAMES))
    (tmp_path / "office.key").write_text(hashlib.sha256(b"safe").hexdigest())
    tables = ", ".join(str(list(table)) for table in (("region",), ("sex",), ("job",), *crossed)).replace("'", '"')
    (tmp_path / "plan.toml").write_text(
        '[data]\npath = "data.csv"\nschema = "schema.toml"\nsecret = "office.key"\n[[step]]\nmethod = "safe"\n'
        f'tables = [{tables}]\n[risk]\nmost = 1.0\n[output]\npath = "out.csv"\npublic_report = "public.html"\n'
    )
    run_plan(read_file_plan(tmp_path / "plan.toml"))
    assert "deviation" not in (tmp_path / "public.html").read_text()
    order = [tuple(line.split(",")) for line in (tmp_path / "out.csv").read_text().splitlines()[1:]]
    before = list(zip(*columns.values(), strict=True))
    same = sum(old == new for old, new in zip(before, order, strict=True))
    assert same < 0.5 * len(before), "rows do not stand where they stood, so copies cannot be told by their place"
