"""Tables of tau-ARGUS: metadata, cells, status letters."""

from pathlib import Path

import numpy as np
import pytest

from reticent.base.errors import DataError
from reticent.io.argus_table import is_table_rda, read_tab, read_table_rda


def test_example_table(shared_data: Path) -> None:
    folder = shared_data / "argus_tau/batch/ex1"
    table = read_tab(folder / "tabdata_ex1.tab", folder / "metadata_ex1.rda")
    assert table.n_cells == 15
    assert [column.name for column in table.metadata.dimensions] == ["region", "gender"]
    tree = table.metadata.dimensions[0].hierarchy
    assert tree is not None
    assert tree.codes == ("Total", "A", "B", "C", "D")
    cells = dict(zip(zip(*table.codes, strict=True), table.numbers["response"], strict=True))
    assert cells["Total", "Total"] == 5146
    assert cells["Total", "male"] + cells["Total", "female"] == 5146
    assert table.status is not None
    assert set(table.status) <= {"safe", "unsafe", "protected"}
    assert np.all(table.numbers["lower"] == 1)


def test_kinds_of_rda(shared_data: Path) -> None:
    assert is_table_rda(shared_data / "argus_tau/batch/ex1/metadata_ex1.rda")
    assert not is_table_rda(shared_data / "argus_tau/batch/ex2/metadata_ex2.rda")
    assert not is_table_rda(shared_data / "argus_mu/Demodata.rda")


def test_repairs_of_a_table(tmp_path: Path) -> None:
    (tmp_path / "t.rda").write_text(
        '<SEPARATOR> ";"\nsize\n <TOTCODE> All\nvalue\n <NUMERIC>\nn\n <FREQUENCY>\n st\n<STATUS>'
    )
    (tmp_path / "t.tab").write_text('"";3,5;2;s\na;2,5;1;U\n"b";-;1;P\n')
    table = read_tab(tmp_path / "t.tab", tmp_path / "t.rda")
    assert table.codes == (("All", "a", "b"),)
    assert table.numbers["response"][:2].tolist() == [3.5, 2.5]
    assert np.isnan(table.numbers["response"][2])
    assert table.status == ("safe", "unsafe", "protected")
    assert any("decimal commas" in note for note in table.notes)


@pytest.mark.parametrize(
    "text, words",
    [
        ("a;1;1\na;2;2\n", "same cell"),
        ("a;x;1\n", "not a number in record 1"),
        ("a;1\n", "2 fields"),
    ],
)
def test_bad_tables(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "t.rda").write_text('<SEPARATOR> ";"\nsize\nvalue\n<NUMERIC>\nn\n<FREQUENCY>\n')
    (tmp_path / "t.tab").write_text(text)
    with pytest.raises(DataError, match=words):
        read_tab(tmp_path / "t.tab", read_table_rda(tmp_path / "t.rda"))
