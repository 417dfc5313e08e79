"""Earlier releases belong to the attacker: in Python, in a plan, and when they do not fit."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from reticent.base.errors import DataError, ParameterError
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.data.table_plan import read_table_plan
from reticent.io.published import published_text, read_published_table
from reticent.jobs.protect_table import audit_plan, protect_table, run_table_plan, run_table_plans
from reticent.tables.methods import PrimaryOnly
from reticent.tables.result import ProtectedTable
from reticent.tables.rules import Threshold
from reticent.tables.suppression import Heuristic

RULES = [Threshold(minimum=3, protection=20)]
CSV = "a,b,v\n" + "\n".join(
    f"{a},{b},{v}"
    for a, b, values in (
        ("x", "k", (5, 6)), ("x", "l", (10, 11, 12)), ("x", "m", (7, 8, 9)),
        ("y", "k", (20, 21, 22)), ("y", "l", (4, 4, 5)), ("y", "m", (30, 31, 32)),
        ("z", "k", (15, 16, 17)), ("z", "l", (9, 9, 9)), ("z", "m", (12, 13, 14)),
    )
    for v in values
)  # fmt: skip


def data() -> Microdata:
    frame = pl.read_csv(CSV.encode()).with_columns(pl.col("v").cast(pl.Float64))
    keys = tuple(Variable(name, role=Role.KEY) for name in "ab")
    return Microdata.of(frame, Schema((*keys, Variable("v", kind=Kind.NUMERIC))))


def spec(*names: str) -> TableSpec:
    return TableSpec(tuple(DimensionSpec(name) for name in names), response="v")


def first() -> ProtectedTable:
    return protect_table(data(), spec("a", "b"), rules=RULES, method=Heuristic(), time_limit=10)


def test_what_was_hidden_stays_hidden_and_what_was_shown_is_known() -> None:
    """The row total alone would be free to publish; beside the earlier table it would give the hidden cell away."""
    before = first()
    release = before.published[0]
    again = protect_table(
        data(), [spec("a"), spec("a", "b")], rules=RULES, method=Heuristic(), earlier={1: release}, time_limit=10
    )
    assert len(again.published) == 1
    assert again.exposed == ()
    members = again.system.members[1]
    was_hidden = np.array([release.status[release.codes.index(before.table.cell_codes(c))] == "hidden"
                           for c in range(before.table.n_cells)])  # fmt: skip
    order = [before.table.find(again.system.parts[1].cell_codes(c)) for c in range(len(members))]
    assert np.array_equal(again.outcome.hidden[members], was_hidden[order])


def test_an_earlier_table_can_undo_the_new_one() -> None:
    """Everything but one cell was published; the attacker of the new table calculates with it."""
    spoiled = first().published[0]
    naked = protect_table(data(), spec("a", "b"), rules=RULES, method=PrimaryOnly(), accept_exposed=True).published[0]
    found = protect_table(
        data(), [spec("b"), spec("a", "b")], rules=RULES, method=PrimaryOnly(), earlier={1: naked}, accept_exposed=True
    )
    assert [found.table.name_of(cell) for cell in found.exposed] == ["k × x"]
    assert spoiled.counts()["hidden"] > naked.counts()["hidden"]


def test_unsafe_cells_that_were_published_are_told() -> None:
    free = protect_table(data(), spec("a", "b")).published[0]
    found = protect_table(data(), [spec("a"), spec("a", "b")], rules=RULES, earlier={1: free})
    assert any("1 unsafe cells were published in an earlier release" in note for note in found.notes)


def test_in_a_plan(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text(CSV)
    (tmp_path / "s.toml").write_text(
        '[[variable]]\nname = "a"\nrole = "key"\n[[variable]]\nname = "b"\nrole = "key"\n'
        '[[variable]]\nname = "v"\nkind = "numeric"\n'
    )
    release = first().published[0]
    (tmp_path / "last.csv").write_text(published_text(release))
    assert read_published_table(tmp_path / "last.csv").status == release.status
    plan = tmp_path / "plan.toml"
    rule = 'rules = [{ rule = "threshold", minimum = 3, protection = 20 }]'
    plan.write_text(
        f'[data]\npath = "d.csv"\nschema = "s.toml"\n[[table]]\ndimensions = ["b"]\nresponse = "v"\n{rule}\n'
        f'[[table]]\ndimensions = ["a", "b"]\nresponse = "v"\n{rule}\nreleased = "last.csv"\n'
        '[protect]\nmethod = "heuristic"\ntime_limit = 10\n[output]\npath = "new.csv"\n'
    )
    result = run_table_plan(plan)
    assert result.exposed == ()
    assert (tmp_path / "new.csv").exists()
    assert not (tmp_path / "new-1.csv").exists()
    (tmp_path / "last.csv").write_text("a,b,value,status\nx,k,,gone\n")
    with pytest.raises(DataError, match="last.csv, line 2: needs 2 codes"):
        audit_plan(plan)


def test_releases_that_do_not_fit() -> None:
    release = first().published[0]
    with pytest.raises(ParameterError, match="leave at least one to be protected"):
        protect_table(data(), spec("a", "b"), rules=RULES, earlier={0: release})
    with pytest.raises(DataError, match="has the dimensions a, b"):
        protect_table(data(), [spec("a", "b"), spec("b")], rules=RULES, earlier={1: release}, accept_exposed=True)
    other = protect_table(
        data().with_numbers("v", data().numbers(("v",))[:, 0] + 1), spec("a", "b"), rules=RULES, accept_exposed=True
    )
    with pytest.raises(DataError, match="is not the one of these data"):
        protect_table(data(), [spec("a"), spec("a", "b")], rules=RULES, earlier={1: other.published[0]})


def test_a_table_of_another_response_that_is_out_already_is_known_beside_it(tmp_path: Path) -> None:
    """Nothing need relate the two: a plan may name every table that is out, and writes only the new one."""
    (tmp_path / "data.csv").write_text(CSV + "\n")
    (tmp_path / "schema.toml").write_text(
        "".join(f'[[variable]]\nname = "{name}"\nrole = "key"\n' for name in "ab")
        + '[[variable]]\nname = "v"\nkind = "numeric"\n'
    )
    rules = 'dimensions = ["a", "b"]\nrules = [{ rule = "threshold", minimum = 3, protection = 20 }]\n'
    head = '[data]\npath = "data.csv"\nschema = "schema.toml"\n'
    (tmp_path / "first.toml").write_text(head + f'[table]\n{rules}[output]\npath = "counts.csv"\n')
    run_table_plan(tmp_path / "first.toml")
    (tmp_path / "second.toml").write_text(
        f'{head}[[table]]\nresponse = "v"\n{rules}[[table]]\n{rules}released = "counts.csv"\n[output]\npath = "sums.csv"\n'
    )
    run_table_plans(read_table_plan(tmp_path / "second.toml"))
    assert {path.name for path in tmp_path.glob("*.csv")} == {"data.csv", "counts.csv", "sums-v.csv"}
    hidden = [line for line in (tmp_path / "sums-v.csv").read_text().splitlines() if line.endswith("hidden")]
    assert len(hidden) >= 4
