"""Nested columns become a tree, trees beside the data are used, and what only looks nested is left alone."""

import random
from pathlib import Path

import pytest

from reticent.data.schema import Kind
from reticent.jobs.describe import Description, describe_file


def written(folder: Path, header: str, rows: list[str], name: str = "firms.csv") -> Path:
    path = folder / name
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


@pytest.fixture(scope="module")
def firms(tmp_path_factory: pytest.TempPathFactory) -> Description:
    draw = random.Random(1)
    rows = []
    for number in range(800):
        a88, nuts = draw.randrange(1, 60), draw.randrange(27)
        region = f"DE{nuts // 9}{nuts // 3 % 3}{nuts % 3}"
        a21 = a88 // 5 + 1
        codes = (f"{a21 // 3 + 1:02d}", f"{a21:02d}", f"{a88:02d}", region[:3], region[:4], region)
        rows.append(f"{number},{','.join(codes)},{draw.choice('fm')},{draw.randrange(9999)}")
    header = "id,a10,a21,a88,nuts1,nuts2,nuts3,sex,turnover"
    return describe_file(written(tmp_path_factory.mktemp("nested"), header, rows))


def test_the_finest_column_gets_the_tree(firms: Description) -> None:
    industry, region = firms.schema["a88"].hierarchy, firms.schema["nuts3"].hierarchy
    assert industry is not None
    assert region is not None
    assert (industry.depth, region.depth) == (3, 3)
    assert region.ancestors("DE121")[1:] == ("DE12", "DE1", "Total")
    assert "hierarchy" in firms.schema["a88"].guessed
    assert any("a21 and one of a10" in guess.reason for guess in firms.reasons("a88"))


def test_one_code_for_two_things_gets_the_name_of_its_column(firms: Description) -> None:
    industry = firms.schema["a88"].hierarchy
    assert industry is not None
    assert industry.ancestors("01")[1:] == ("a21 01", "a10 01", "Total")


def test_codes_keep_their_leading_zeros(firms: Description) -> None:
    industry = firms.schema["a88"].hierarchy
    assert industry is not None
    assert "05" in industry.leaves


def test_columns_that_do_not_follow_are_left_alone(firms: Description) -> None:
    assert firms.schema["sex"].hierarchy is None
    assert firms.schema["nuts2"].hierarchy is None, "only the finest of a chain has the tree"


def test_a_column_of_names_makes_no_tree(tmp_path: Path) -> None:
    """Everything follows from a column with few records per code."""
    rows = [f"n{i // 2},{'abc'[i // 2 % 3]}" for i in range(60)]
    assert describe_file(written(tmp_path, "place,kind", rows)).schema["place"].hierarchy is None


def test_a_code_without_its_group_makes_no_tree(tmp_path: Path) -> None:
    rows = [f"{i % 4},{'' if i % 4 == 3 else i % 4 // 2}" for i in range(80)]
    assert describe_file(written(tmp_path, "fine,coarse", rows)).schema["fine"].hierarchy is None


def test_a_tree_beside_the_data_is_used(tmp_path: Path) -> None:
    path = written(tmp_path, "age,sex", [f"{20 + i % 5},{'fm'[i % 2]}" for i in range(50)], name="adult.csv")
    (tmp_path / "Adult_hierarchy_AGE.csv").write_text("".join(f"{20 + i};{20 + i // 2 * 2}s;*\n" for i in range(5)))
    (tmp_path / "sex.hrc").write_text("a\n@b\n")  # of some other data
    found = describe_file(path)
    age = found.schema["age"]
    assert age.hierarchy is not None
    assert age.hierarchy.ancestors("21")[1] == "20s"
    assert age.kind is Kind.NOMINAL
    assert any("Adult_hierarchy_AGE.csv" in guess.reason for guess in found.reasons("age"))
    assert found.schema["sex"].hierarchy is None


def test_a_damaged_tree_beside_the_data_is_passed_over(tmp_path: Path) -> None:
    path = written(tmp_path, "age", [str(20 + i % 5) for i in range(50)], name="adult.csv")
    (tmp_path / "adult_hierarchy_age.csv").write_text("20;a\n21\n")
    assert describe_file(path).schema["age"].hierarchy is None


@pytest.mark.parametrize("groups", [("10",), ("10", "20"), ("",)])
def test_a_code_for_not_known_is_no_leaf(groups: tuple[str, ...], tmp_path: Path) -> None:
    """Whether the coarser column puts it into one group, into several or into none."""
    codes = {"1": "10", "2": "10", "3": "20", "4": "20"}
    rows = [f"{code},{group}" for code, group in codes.items() for _ in range(12)]
    rows += [f"9,{groups[at % len(groups)]}" for at in range(8)]
    found = describe_file(written(tmp_path, "fine,coarse", rows)).schema["fine"]
    assert found.missing == ("9",)
    assert found.hierarchy is not None
    assert sorted(found.hierarchy.leaves) == sorted(codes)
