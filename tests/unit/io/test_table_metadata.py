"""ARGUS metadata of finished tables: which column is what, status letters, trees, and wrong lines by their number."""

from pathlib import Path

import pytest

from reticent.base.errors import DataError
from reticent.io.argus_table_rda import TableMetadata, read_table_rda

TEXT = """<SEPARATOR> ","
<SAFE> "ok"
<UNSAFE> "no"
<PROTECT> "keep"
Region
  <RECODEABLE>
  <TOTCODE> "All"
  <HIERARCHICAL>
  <HIERCODELIST> "region.hrc"
  <HIERLEADSTRING> "-"
Size
  <HIERLEVELS> 1 1 0 0
Turnover
  <NUMERIC>
  <DECIMALS> 1
Freq
  <NUMERIC> <FREQUENCY>
Top1
  <NUMERIC> <MAXSCORE>
Top2
  <NUMERIC> <MAXSCORE>
Status
  <STATUS>
Low
  <NUMERIC> <LOWERPL>
High
  <NUMERIC> <UPPERPL>
"""


def metadata(folder: Path, text: str = TEXT) -> TableMetadata:
    (folder / "t.rda").write_text(text)
    (folder / "region.hrc").write_text("N\n-N1\n-N2\nS\n")
    return read_table_rda(folder / "t.rda")


def test_columns_have_their_roles(tmp_path: Path) -> None:
    found = metadata(tmp_path)
    assert found.names("explanatory") == ("Region", "Size")
    assert found.names("value") == ("Turnover",)
    assert found.names("top") == ("Top1", "Top2")
    assert found.all_names[0] == "Region"


def test_options_say_how_the_columns_are_read(tmp_path: Path) -> None:
    found = metadata(tmp_path).options("turnover")
    assert (found.value, found.count, found.status) == ("Turnover", "Freq", "Status")
    assert (found.lower_protection, found.upper_protection) == ("Low", "High")
    assert (found.safe, found.unsafe, found.frozen, found.separator) == ("ok", "no", "keep", ",")


def test_trees_come_from_their_file_with_its_total_and_leading_string(tmp_path: Path) -> None:
    (tree,) = metadata(tmp_path).trees("Region")
    assert tree.total == "All"
    assert set(tree.leaves) == {"N1", "N2", "S"}


def test_digits_make_a_tree_of_the_codes(tmp_path: Path) -> None:
    (tree,) = metadata(tmp_path).trees("Size", ("11", "12", "21"))
    assert set(tree.leaves) == {"11", "12", "21"}
    assert {"1", "2"} <= set(tree.codes)


def test_a_column_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no column 'Profit'; columns: Region, Size"):
        metadata(tmp_path).column("Profit")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("  <TOTCODE>", "<TOTCODE> needs a word after it"),
        ("  <HIERCODELIST>", "<HIERCODELIST> needs a word after it"),
        ("  <HIERLEVELS> one", "<HIERLEVELS> needs whole numbers"),
    ],
)
def test_wrong_lines_are_refused_with_their_number(tmp_path: Path, line: str, words: str) -> None:
    with pytest.raises(DataError, match=words) as found:
        metadata(tmp_path, f"Region\n{line}\nTurnover\n  <NUMERIC>\n")
    assert "line 2 (Region)" in str(found.value)


def test_unknown_keywords_are_passed_over_and_noted(tmp_path: Path) -> None:
    found = metadata(tmp_path, "Region\n  <NEWWORD>\nTurnover\n  <NUMERIC>\n")
    assert any("unknown keyword <NEWWORD> is passed over" in line for line in found.notes)
