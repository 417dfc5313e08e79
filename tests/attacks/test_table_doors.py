"""Every door to a table refuses alike, and levels do not vanish where contributions cancel.

Attacks use published values only. Fixtures were written by version 0.1.0: `reticent table` of the plan below (method
`optimal`), and `reticent adjust t.jj --fix-total --largest-change 0.05 --json adjusted.json`, which wrote an exposed table
and ended with 0.
"""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import reticent as rt
from command_line import CommandLine
from reticent import methods, rules
from reticent.base.errors import DataError, NotProtectedError, ParameterError
from reticent.data.published_table import HIDDEN, PUBLISHED, PublishedTable

FIXTURES = Path(__file__).parent / "fixtures" / "v010" / "tables"
GAINS = {"p": (500, -500), "q": (1, 1, 1, 1), "r": (100, 120, 110), "s": (900, 950, 800)}


@pytest.fixture
def reticent(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The command line."""
    return CommandLine(capsys, monkeypatch)


def loaded(columns: dict[str, list[Any]], **options: Any) -> rt.Data:
    frame = pl.DataFrame({"id": list(range(len(next(iter(columns.values()))))), **columns})
    keys = [name for name in columns if name not in ("x", "y")]
    numbers = [name for name in columns if name in ("x", "y")]
    return rt.load(frame, identifiers=["id"], keys=keys, sensitive=numbers, **options)


def gains() -> rt.Data:
    rows = [(code, value) for code, values in GAINS.items() for value in values]
    return loaded({"a": [code for code, _ in rows], "x": [value for _, value in rows]})


def reach_of_the_other(cells: dict[str, float | None]) -> float:
    """How far from the truth the firm that gave 500 to `p` must think the other one's value may be.

    It has the total less what is published, and takes sums not to be negative.
    """
    total = cells["Total"]
    assert total is not None
    assert cells["p"] is None
    left = total - sum(value for code, value in cells.items() if code != "Total" and value is not None)
    return left - sum(GAINS["p"])


def read(path: Path) -> dict[str, float | None]:
    with path.open() as file:
        return {row["a"]: float(row["value"]) if row["status"] == PUBLISHED else None for row in csv.DictReader(file)}


@pytest.mark.parametrize("rule", [rules.Threshold(3, protection=20), rules.PPercent(15)])
def test_levels_where_contributions_cancel(rule: rules.Rule, tmp_path: Path) -> None:
    """500 − 500 is 0, and 20 % of 0 is nothing: the firms knew each other within 4, where a level of 75 or 200 was meant."""
    assert reach_of_the_other(read(FIXTURES / "cancelled" / "table.csv")) <= 4
    run = gains().tabulate("a", response="x").protect(rules=[rule], method=methods.Optimal())
    run.release().write(tmp_path / "table.csv")
    level = 0.2 * 1000 if isinstance(rule, rules.Threshold) else 0.15 * 500
    assert reach_of_the_other(read(tmp_path / "table.csv")) >= level


def test_levels_without_cancelling_are_as_before() -> None:
    positive = loaded({"a": list("ppqqqq"), "x": [500, 499, 10, 11, 12, 13]})
    run = positive.tabulate("a", response="x").protect(rules=[rules.Threshold(3, protection=20)])
    cell = run.found.table.find(("p",))
    assert run.found.problem.upper_protection[cell] == pytest.approx(0.2 * 999)


def test_an_exposed_table_of_numbers_is_not_written(tmp_path: Path, reticent: CommandLine) -> None:
    """The total is fixed and the others moved by 5 % at most: so the unsafe cell is below 5, and must reach 6."""
    seen = json.loads((FIXTURES / "jj" / "adjusted.json").read_text())["values"]
    assert seen[0] - sum(value / 1.05 for value in seen[2:]) < 6
    out = tmp_path / "out.json"
    asked = (FIXTURES / "jj" / "t.jj", "--fix-total", "--largest-change", "0.05", "--secret", "4", "--test-secret")
    ran = reticent("adjust", *asked, "--json", out)
    assert (ran.code, out.exists()) == (5, False)
    assert "nothing was written" in ran.sentence
    accepted = reticent("adjust", *asked, "--accept-exposed", "--json", out)
    assert (accepted.code, out.exists()) == (0, True)
    assert "do not publish" in accepted.out


def test_a_previous_table_of_the_same_data_is_refused() -> None:
    """Two patterns of the same values: what the first hides the second shows."""
    columns = {"a": [code for code in "xyz" for _ in range(9)], "b": list("kklllmmmm") * 3, "x": list(range(10, 37))}
    data = loaded(columns)
    first = data.tabulate("a", "b", response="x").protect(rules=[rules.Threshold(3)])
    other = loaded({**columns, "x": [value + 1 for value in columns["x"]]})
    wanted = data.tabulate("a", "b", response="x")
    with pytest.raises(DataError, match="no previous period"):
        wanted.protect(rules=[rules.Threshold(3)], previous={0: first.release()})
    fine = other.tabulate("a", "b", response="x").protect(rules=[rules.Threshold(3)], previous={0: first.release()})
    assert not [note for note in fine.notes if note.startswith("previous")]
    revised = loaded({**columns, "x": [*columns["x"][:-1], 1000]})
    noted = revised.tabulate("a", "b", response="x").protect(rules=[rules.Threshold(3)], previous={0: first.release()})
    assert [note for note in noted.notes if note.startswith("previous")]


def test_a_release_in_which_somebody_was_not_there_is_of_other_data() -> None:
    before = (
        loaded({"a": list("xxxxyyyy"), "b": list("kkkkllll")}).tabulate("a", "b").protect(rules=[rules.Threshold(3)])
    )
    now = loaded({"a": list("xxxxyyyyx"), "b": list("kkkkllll") + ["l"]})
    with pytest.raises(DataError, match="is empty in the release and has records now|is not the one of these data"):
        now.tabulate("a").linked(now.tabulate("a", "b")).protect(
            rules=[rules.Threshold(3)], earlier={1: before.release()}
        )
    cells = before.release()
    only_empty = PublishedTable(cells.dimensions, (("x", "l"),), np.array([np.nan]), ("empty",))
    with pytest.raises(DataError, match="is empty in the release and has records now"):
        now.tabulate("a").linked(now.tabulate("a", "b")).protect(rules=[rules.Threshold(3)], earlier={1: only_empty})


@pytest.mark.parametrize(
    "options",
    [
        {"hide_empty": "no"},
        {"test_secret": 1},
        {"bounds": {"lover": 0}},
        {"bounds": 5},
        {"a_priori": ["x"]},
        {"previous": {0: "last.csv"}},
        {"earlier": ["last.csv"]},
        {"earlier": {"0": None}},
        {"coalition": 9},
        {"insiders": None},
    ],
)
def test_wrong_kinds_are_refused_in_a_sentence(options: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        gains().tabulate("a", response="x").protect(rules=[rules.Threshold(3)], **options)


def test_without_rules_nothing_reads_as_held() -> None:
    run = gains().tabulate("a", response="x").protect(rules=[])
    assert [note for note in run.notes if note.startswith("Not judged: no rule says")]
    judged = gains().tabulate("a", response="x").protect(rules=[rules.Threshold(2)])
    assert not [note for note in judged.notes if "no rule" in note]


def test_tables_without_unsafe_cells_are_not_refused() -> None:
    """Small counts: rules that call nothing unsafe leave nothing to attack; without rules every exact value is found."""
    data = loaded({"a": ["x"] * 5 + ["y"] * 7})
    for wanted in (methods.SmallCounts(), methods.Round(base=1)):
        options: dict[str, Any] = {"method": wanted, "secret": 3, "test_secret": True}
        assert data.tabulate("a").protect(rules=[rules.Threshold(3)], **options).exposed == ()
        with pytest.raises(NotProtectedError):
            data.tabulate("a").protect(rules=[], **options).release()


TREE = {"Total": ["A", "B"], "A": ["A1", "A2"], "B": ["B1", "B2"]}
CELLS = {"Total": None, "A": 10, "A1": None, "A2": 7, "B": None, "B1": 4, "B2": 5}


def test_an_audit_needs_the_levels_of_the_codes() -> None:
    """Read as flat codes below a hidden total, A1 looked safe; A less A2 is A1."""
    codes = tuple((code,) for code in CELLS)
    values = np.array([np.nan if value is None else value for value in CELLS.values()], dtype=np.float64)
    states = tuple(HIDDEN if value is None else PUBLISHED for value in CELLS.values())
    depths = {"a": {"Total": 0, "A": 1, "B": 1, "A1": 2, "A2": 2, "B1": 2, "B2": 2}}
    table = PublishedTable(("a",), codes, values, states, depths=depths)
    with pytest.raises(DataError, match="several levels; name its hierarchy"):
        rt.audit(table)
    assert rt.audit(table, structure={"a": TREE}).exposed == (("Total",), ("A1",), ("B",))


def test_an_audit_of_a_file_takes_its_kind_or_refuses(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("a,value,status\nTotal,2.50,published\np,,hidden\nq,,hidden\nr,-1.00,published\n")
    with pytest.raises(DataError, match="counts are whole"):
        rt.audit(path)
    found = rt.audit(path, kind="magnitude").rows()
    assert [(row["low"], row["exposed"]) for row in found] == [(-np.inf, False)] * 2
    with pytest.raises(ParameterError, match="kind must be one of"):
        rt.audit(path, kind="magnitud")
    with pytest.raises(ParameterError, match="value names a column of a frame"):
        rt.audit(path, value="value")
    with pytest.raises(DataError, match="cannot be read"):
        rt.audit(tmp_path / "none.csv")
    path.write_text("a,value,status\nTotal,2,published\np,,hidden\nq,,hidden\nr,1,published\n")
    with pytest.raises(DataError, match="do not add up"):
        rt.audit(path)
    assert rt.audit(path, hides_empty=True).exposed == ()
    path.write_text("a,value,status\nTotal,nan,published\np,,hidden\n")
    with pytest.raises(DataError, match="needs a number"):
        rt.audit(path)
