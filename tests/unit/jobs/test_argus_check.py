"""A batch is gone through before anything is written: what a later command cannot do is said with its line."""

from pathlib import Path

import pytest

from reticent.base.errors import DataError, PlanError, ReticentError
from reticent.base.randomness import as_secret
from reticent.io.argus_batch import commands_of
from reticent.jobs.argus.check import FORBIDDEN, check_batch, check_output, no_holdings

HEAD = ['<OPENMICRODATA> "firms.asc"', '<OPENMETADATA> "firms.rda"']
TABLE = ['<SPECIFYTABLE> "Industry""Region"|"Value"|""|""', "<SAFETYRULE> P(15,1)", "<READMICRODATA>"]
RDA = '<SEPARATOR> ";"\nIndustry 2\n  <RECODEABLE>\nRegion 1\n  <RECODEABLE>\nValue 5\n  <NUMERIC>\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "firms.asc").write_text("A1;N;100\n")
    (tmp_path / "firms.rda").write_text(RDA)
    (tmp_path / "out").mkdir()
    return tmp_path


def check(folder: Path, *lines: str, secret: int | None = None, output: str = "out") -> None:
    def find(name: str) -> Path:
        path = folder / name
        if not path.exists():
            raise DataError(f"{name}: there is no such file.")
        return path

    given = None if secret is None else as_secret(secret)
    check_batch(commands_of(list(lines)), find, output=folder / output, secret=given)


def refusal(folder: Path, *lines: str, **options: str) -> str:
    with pytest.raises(ReticentError) as caught:
        check(folder, *lines, **options)  # type: ignore[arg-type]
    return str(caught.value)


def test_a_batch_that_can_be_done_passes(folder: Path) -> None:
    check(folder, *HEAD, *TABLE, "<SUPPRESS> MOD(1,5,1,0,0)", '<WRITETABLE> (1,1,AS+,"table.csv")')
    assert list((folder / "out").iterdir()) == [], "nothing is written"


def test_a_file_that_is_not_there_is_said_with_its_line(folder: Path) -> None:
    said = refusal(folder, '<OPENMICRODATA> "firms.asc"', '<OPENMETADATA> "other.rda"')
    assert "line 2" in said
    assert "other.rda: there is no such file." in said


def test_a_file_that_the_batch_writes_itself_may_be_missing(folder: Path) -> None:
    write = '<WRITETABLE> (1,5,AS+,"again.tab")'
    check(folder, *HEAD, *TABLE, "<SUPPRESS> MOD(1,5,1,0,0)", write, "<CLEAR>", '<OPENTABLEDATA> "again.tab"')
    said = refusal(folder, *HEAD, *TABLE, "<CLEAR>", '<OPENTABLEDATA> "never.tab"')
    assert "never.tab" in said


@pytest.mark.parametrize(("line", "words"), [
    ("<SUPPRESS> MOD(2,5,1,0,0)", "there is no table 2; 1 are specified"),
    ('<WRITETABLE> (3,1,AS+,"table.csv")', "there is no table 3; 1 are specified"),
    ('<WRITETABLE> (0,1,AS+,"table.csv")', "there is no table 0; 1 are specified"),
])  # fmt: skip
def test_tables_that_there_are_not(folder: Path, line: str, words: str) -> None:
    said = refusal(folder, *HEAD, *TABLE, line)
    assert words in said
    assert "line 6" in said


def test_clearing_forgets_the_tables(folder: Path) -> None:
    said = refusal(folder, *HEAD, *TABLE, "<CLEAR>", '<WRITETABLE> (1,1,AS+,"table.csv")')
    assert "0 are specified" in said


def test_what_stands_behind_the_end_is_not_looked_at(folder: Path) -> None:
    check(folder, *HEAD, *TABLE, "<GOINTERACTIVE>", '<WRITETABLE> (9,1,AS+,"table.csv")')


def test_a_folder_that_is_not_there_is_said_before_the_work(folder: Path) -> None:
    said = refusal(folder, *HEAD, *TABLE, '<WRITETABLE> (1,1,AS+,"table.csv")', output="nowhere")
    assert "does not exist; make it first" in said


@pytest.mark.parametrize("name", ["firms.asc", "FIRMS.ASC", "firms.rda"])
def test_nothing_is_written_over_what_is_read(folder: Path, name: str) -> None:
    target = [*HEAD, *TABLE, f'<WRITETABLE> (1,1,AS+,"{name}")']
    if name == name.lower():
        refusal(folder, *target, output=".")
    check(folder, *target)


def test_metadata_beside_a_table_are_not_written_over_what_is_read(folder: Path) -> None:
    """Type 5 writes firms.rda beside firms.tab."""
    refusal(folder, *HEAD, *TABLE, '<WRITETABLE> (1,5,AS+,"firms.tab")', output=".")


def test_adjustment_needs_a_secret(folder: Path) -> None:
    refusal(folder, *HEAD, *TABLE, "<SUPPRESS> CTA(1)")
    check(folder, *HEAD, *TABLE, "<SUPPRESS> CTA(1)", secret=3)  # type: ignore[arg-type]


@pytest.mark.parametrize(("method", "kind"), sorted(FORBIDDEN))
def test_types_with_true_values_are_not_for_changed_tables(method: str, kind: int) -> None:
    with pytest.raises(PlanError, match=f"type {kind} cannot be written"):
        check_output(method, kind)


def test_type_7_is_for_cell_keys_only() -> None:
    check_output("cell-key", 7)
    with pytest.raises(PlanError, match="type 7 is for tables made by the cell key method"):
        check_output("heuristic", 7)
    check_output("heuristic", 5)


def test_holdings_that_nobody_declared(folder: Path) -> None:
    said = refusal(folder, *HEAD, *TABLE, '<WRITETABLE> (1,5,HI+,"table.tab")')
    assert str(no_holdings()) in said
