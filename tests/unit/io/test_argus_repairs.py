"""What ARGUS files in the wild get wrong: repaired and said, or refused with the line."""

from pathlib import Path

import pytest

from reticent.base.errors import DataError, PlanError
from reticent.data.hierarchy import Hierarchy
from reticent.data.recoding import Recoding, RecodingRule
from reticent.data.schema import Kind, Role
from reticent.io.argus_codes import read_cdl, read_hrc
from reticent.io.argus_grc import read_grc
from reticent.io.argus_rda import FREE, SPSS, read_rda
from reticent.io.argus_text import Notes, find_file
from reticent.io.hierarchies import read_arx, read_hierarchy
from reticent.io.read import load_microdata


def test_metadata_with_many_mistakes(tmp_path: Path) -> None:
    (tmp_path / "Codes.CDL").write_bytes(b'1,"male"\r\n2,female,extra\r\n\r\n2,other')
    (tmp_path / "a.rda").write_bytes(
        b"// a comment\r\n\r\nsex\t1\t1\t9,8\r\n<Recodeable>\r\n<codelist> codes.cdl\r\n<IDLEVEL> 5\r\n"
        b"w 3 5 99999\r\n<NUMERIC> <DECIMALS> 1\r\n<WEIGHT>\r\n<NOSUCH> 3\r\nhh 8 2\r\n<HOUSE_ID>\r\nx 10 4 9999\r\n<NUMERIC>"
    )
    (tmp_path / "a.asc").write_bytes(b"1   2,5 1  10\r\n2   3.5 1  1,5\r\n9 10,01 29999")
    loaded = load_microdata("A.ASC", "a.RDA", folder=tmp_path)
    schema = loaded.data.schema
    assert schema["sex"].missing == ("9", "8")
    assert schema["sex"].labels == ("male", "female")
    assert (schema["sex"].role, schema["sex"].level) == (Role.KEY, 3)
    assert (schema["w"].role, schema["w"].missing, schema["w"].decimals) == (Role.WEIGHT, (), 1)
    assert schema["hh"].role is Role.HOUSEHOLD_ID
    assert loaded.data.numbers(("w", "x"))[:, 0].tolist() == [2.5, 3.5, 10.01]
    assert loaded.data.missing("x").tolist() == [False, False, True]
    said = "\n".join(loaded.notes)
    for words in ("A.ASC: found as a.asc", "codes.cdl: found as Codes.CDL", "separated by commas", "weight w has missing",
                  "<NOSUCH>", "level of sex set to 3", "decimal commas in w", "'2' occurs twice"):  # fmt: skip
        assert words in said


def test_latin_text_and_missing_code_list(tmp_path: Path) -> None:
    (tmp_path / "a.rda").write_text(
        'r 1 1 9\n<RECODABLE>\n<CODELIST> "r.cdl"\nq 2 1 9\n<RECODABLE>\n<CODELIST> "no.cdl"\n'
    )
    (tmp_path / "r.cdl").write_bytes("1,Åland\n".encode("cp1252"))
    metadata = read_rda(tmp_path / "a.rda")
    assert metadata.schema["r"].labels == ("Åland",)
    assert any("Windows Latin-1" in note for note in metadata.notes)
    assert any("no.cdl of q is not there" in note for note in metadata.notes)


def test_free_format_with_names_in_front(tmp_path: Path) -> None:
    (tmp_path / "f.rda").write_text('<SEPARATOR> ";"\n<NAMESINFRONT>\na 2 99\n<RECODABLE>\nb 5\n<NUMERIC>\n')
    (tmp_path / "f.asc").write_text("a;b\n 1;2,5\n02;3\n")
    loaded = load_microdata("f.asc", "f.rda", folder=tmp_path)
    assert loaded.data.frame.table["a"].to_list() == ["1", "02"]
    assert loaded.data.numbers(("b",))[:, 0].tolist() == [2.5, 3.0]
    assert read_rda(tmp_path / "f.rda").layout.format == FREE


def test_spss_layout(tmp_path: Path) -> None:
    (tmp_path / "s.rda").write_text("<SPSS>\nsex 1 9\n<RECODABLE>\ninc 8\n<NUMERIC>\n")
    metadata = read_rda(tmp_path / "s.rda")
    assert metadata.layout.format == SPSS
    assert metadata.schema["inc"].kind is Kind.NUMERIC


def test_files_with_paths_of_another_machine(tmp_path: Path) -> None:
    (tmp_path / "Region.hrc").write_text("A\n@a\n")
    notes = Notes()
    assert find_file(tmp_path, r"C:\data\argus\REGION.HRC", notes).name == "Region.hrc"
    assert list(notes) == [r"C:\data\argus\REGION.HRC: found as Region.hrc."]


def test_hierarchy_with_another_lead_and_blanks(tmp_path: Path) -> None:
    (tmp_path / "h.hrc").write_bytes(b"Nr\r\n--  1\r\n-- 2\r\n\r\nOs \r\n--3")
    tree = read_hrc(tmp_path / "h.hrc", lead="--", total="All")
    assert tree == Hierarchy.from_children({"All": ["Nr", "Os"], "Nr": ["1", "2"], "Os": ["3"]})


def test_arx_hierarchy_unbalanced(tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text("a1;A;*\na2;A;*\nb;b;*\n")
    tree = read_arx(tmp_path / "h.csv")
    assert tree.total == "*"
    assert tree.leaves == ("b", "a1", "a2")
    (tmp_path / "two.csv").write_text("a1;A;*\na2;A;*\na1;B;*\n")
    with pytest.raises(DataError, match="two.csv: Hierarchy: code 'a1' has two parents"):
        read_arx(tmp_path / "two.csv")


def test_own_hierarchy_file(tmp_path: Path) -> None:
    (tmp_path / "h.toml").write_text('total = "All"\n[children]\nN = ["1", "2"]\nS = ["3"]\n')
    assert read_hierarchy(tmp_path / "h.toml").leaves == ("1", "2", "3")
    (tmp_path / "bad.toml").write_text('totl = "All"\n[children]\nN = ["1"]\n')
    with pytest.raises(PlanError, match="Did you mean 'total'"):
        read_hierarchy(tmp_path / "bad.toml")


def test_recoding_semantics() -> None:
    """Ranges go by padded text; a later rule wins; missing codes stay missing."""
    recoding = Recoding(
        (RecodingRule("1", ranges=((None, "9"),)), RecodingRule("2", ("7",), (("10", None),))), missing=("8", "9")
    )
    assert recoding.image(["5", "7", "10", "99"], missing=("99",)) == {"5": "1", "7": "2", "10": "2"}
    assert Recoding((RecodingRule("1", ("a",)),)).untouched(["a", "b"]) == ("b",)
    with pytest.raises(DataError, match="missing code '99' would become the valid code '1'"):
        Recoding((RecodingRule("1", ("99",)),)).image(["1"], missing=("99",))


@pytest.mark.parametrize(
    "text, words",
    [
        ("", "is empty"),
        ("1 2\n", "line 1 must have the form"),
        ("1: -\n", "range without ends"),
        ("<NOPE> 1\n1:2", "<NOPE>"),
    ],
)
def test_bad_recodings(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "r.grc").write_text(text)
    with pytest.raises(DataError, match=words):
        read_grc(tmp_path / "r.grc")


def test_code_list_quotes_and_commas(tmp_path: Path) -> None:
    (tmp_path / "c.cdl").write_text('  1, "North, far"\n2\n')
    assert read_cdl(tmp_path / "c.cdl") == (("1", "2"), ("North, far", "2"))
