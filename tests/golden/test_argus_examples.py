"""The batch examples of checkTauArgus, and tau-ARGUS's own result of Size × Region beside ours."""

import csv
from pathlib import Path

import numpy as np
import pytest

from command_line import CommandLine
from reticent.jobs.argus.run import run_batch
from reticent.tables.attack import audit
from reticent.tables.attack.insiders import insiders

# s safe, x secondary, u unsafe, in reading order (the expectation that checkTauArgus tests)
EXPECTED = ["s", "s", "s", "s", "x", "u", "s", "s", "s", "s", "x", "x", "s", "s", "s"]
LETTERS = {"1": "s", "11": "x", "3": "u", "5": "u", "9": "u"}


@pytest.fixture
def reticent(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    return CommandLine(capsys, monkeypatch)


@pytest.mark.parametrize("number, column, total", [(1, "freq", 5146.0), (2, "num1", 10484.95)])
def test_batch_examples(shared_data: Path, tmp_path: Path, number: int, column: str, total: float) -> None:
    folder = shared_data / "argus_tau" / "batch" / f"ex{number}"
    run_batch(folder / f"batch_ex{number}.arb", output=tmp_path)
    with (tmp_path / f"tabout_ex{number}.txt").open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["region", "gender", column, "Status"]
    assert len(rows) == 15
    assert float(rows[0][column]) == total
    assert [LETTERS[row["Status"]] for row in rows] == EXPECTED


def test_recodes_of_the_demonstration_batch(shared_data: Path, tmp_path: Path) -> None:
    result = run_batch(shared_data / "argus_tau" / "TestRecode.arb", output=tmp_path)
    assert any(line.startswith("Table 1: Table Size × Region, Var2: 126 cells, 21 empty") for line in result.log)
    assert result.files == ()


BATCH = """<OPENMICRODATA> "tau_testW.asc"
<OPENMETADATA> "tau_testW.rda"
<SPECIFYTABLE> "Size""Region"|"Var2"||
<SAFETYRULE> P(15,1)
<READMICRODATA>
<SUPPRESS> {method}
<WRITETABLE> (1,3,AS+,"ours.txt")
"""


@pytest.mark.parametrize("method", ["OPT(1,1)", "MOD(1,1,1,1,1)", "GH(1,100,0,1)"])
def test_size_by_region_against_tau_argus(shared_data: Path, tmp_path: Path, method: str) -> None:
    """Values, unsafe and empty cells agree; its secondaries pass our audit; ours cost no more (must be shown 7)."""
    (tmp_path / "run.arb").write_text(BATCH.format(method=method))
    result = run_batch(tmp_path / "run.arb", data=shared_data / "argus_tau").tables[1]
    with (tmp_path / "ours.txt").open() as file:
        ours = list(csv.reader(file))
    with (shared_data / "argus_tau/simple2d/expected/Simple2D.txt").open() as file:
        theirs = [[field.strip() for field in row] for row in csv.reader(file)]
    assert [row[:3] for row in ours] == [row[:3] for row in theirs]
    for mine, his in zip(ours, theirs, strict=True):
        assert (mine[3] == "3") == (his[3] == "3")
        assert (mine[3] == "14") == (his[3] == "14")
    problem, table = result.problem, result.table
    pattern = np.zeros(table.n_cells, dtype=bool)
    for row in theirs:
        if row[3] in ("3", "11"):
            pattern[table.find((row[0], row[1]))] = True
    assert int(pattern.sum()) == 21
    assert audit(problem, pattern).n_exposed == 0
    # against everybody; but two sole respondents of a cell can work out others in its pattern, and in ours none
    assert len(insiders(problem, pattern)) == 2
    assert result.exposed == ()
    assert result.insiders == ()
    assert result.outcome.cost <= problem.cost[pattern & ~problem.primary].sum()


@pytest.mark.parametrize(
    "name, files, said",
    [
        ("batch/ex1/batch_ex1.arb", 2, "1 primary, 3 secondary, 0 exposed"),
        ("batch/ex2/batch_ex2.arb", 2, "1 primary, 3 secondary, 0 exposed"),
        ("TestRecode.arb", 0, "GOINTERACTIVE: there is no window"),
    ],
)
def test_every_batch_example_runs_from_the_command_line(
    shared_data: Path, tmp_path: Path, reticent: CommandLine, name: str, files: int, said: str
) -> None:
    ran = reticent("argus", "run", shared_data / "argus_tau" / name, "--output", tmp_path)
    assert ran.code == 0, ran.err
    assert said in ran.out
    assert len(list(tmp_path.iterdir())) == files


def test_no_batch_example_is_forgotten(shared_data: Path) -> None:
    found = {path.name.lower() for path in (shared_data / "argus_tau").rglob("*") if path.suffix.lower() == ".arb"}
    assert found == {"batch_ex1.arb", "batch_ex2.arb", "testrecode.arb"}


def test_linked_tables_by_batch(shared_data: Path, tmp_path: Path) -> None:
    """Two tables over Size: the common margin is hidden in both or in none."""
    (tmp_path / "run.arb").write_text(
        """<OPENMICRODATA> "tau_testW.asc"
<OPENMETADATA> "tau_testW.rda"
<SPECIFYTABLE> "Size""Region"|"Var2"||
<SAFETYRULE> P(15,1)
<SPECIFYTABLE> "Size""Year"|"Var2"||
<SAFETYRULE> P(15,1)
<READMICRODATA>
<SUPPRESS> MOD(0)
<WRITETABLE> (1,2,,"one.txt")
<WRITETABLE> (2,2,,"two.txt")
"""
    )
    run_batch(tmp_path / "run.arb", data=shared_data / "argus_tau")
    tables = []
    for name in ("one.txt", "two.txt"):
        with (tmp_path / name).open() as file:
            tables.append({row[0]: row[2] for row in list(csv.reader(file))[1:] if row[1] == "Total"})
    assert tables[0] == tables[1]
