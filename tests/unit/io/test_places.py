"""Where results may go: never over what is read, whatever it is called, never twice to one place."""

import os
from pathlib import Path

import pytest

from reticent.base.errors import DataError, ParameterError
from reticent.data.plan import DataSection
from reticent.io.atomic import atomic_path, atomic_write, write_text
from reticent.io.places import check_apart, check_places, inputs_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in.csv").write_text("a\n1\n")
    (tmp_path / "sub").mkdir()
    return tmp_path


def test_new_files_and_files_to_replace_are_allowed(folder: Path) -> None:
    (folder / "old.csv").write_text("x")
    check_places([folder / "new.csv", folder / "old.csv"], [folder / "in.csv"])


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("none/out.csv",), "does not exist; make it first"),
        (("sub",), "this is a folder"),
        (("a.csv", "a.csv"), "two results would be written to a.csv"),
        (("a.csv", "A.CSV"), "two results"),
        (("sub/../a.csv", "a.csv"), "two results"),
        (("in.csv",), "is a file that this work reads"),
        (("IN.csv",), "is a file that this work reads"),
        (("sub/../in.csv",), "is a file that this work reads"),
    ],
)
def test_places_that_would_lose_something(folder: Path, names: tuple[str, ...], words: str) -> None:
    with pytest.raises((DataError, ParameterError), match=words):
        check_places([folder / name for name in names], [folder / "in.csv"])


def test_links_are_what_they_lead_to(folder: Path) -> None:
    (folder / "link.csv").symlink_to(folder / "in.csv")
    os.link(folder / "in.csv", folder / "hard.csv")
    for name in ("link.csv", "hard.csv"):
        with pytest.raises(ParameterError, match=f"{name} is a file that this work reads"):
            check_apart([folder / name], [folder / "in.csv"])
    (folder / "loop").symlink_to(folder / "loop")
    check_apart([folder / "out.csv"], [folder / "loop"])


def test_what_a_plan_or_metadata_name_is_read_too(folder: Path) -> None:
    (folder / "plan.toml").write_text('[data]\npath = "in.csv"\nschema = "s.toml"\n[output]\npath = "out.csv"\n')
    (folder / "s.toml").write_text('[variable.a]\nhierarchy = "tree.hrc"\n')
    for name in ("in.csv", "s.toml", "tree.hrc", "plan.toml"):
        with pytest.raises(ParameterError, match="would destroy it"):
            check_apart([folder / name], [folder / "plan.toml"])
    check_apart([folder / "out.csv"], [folder / "plan.toml"])
    (folder / "m.rda").write_text('a 1 3 9\n  <RECODEABLE>\n  <HIERCODELIST> "codes.hrc"\n')
    with pytest.raises(ParameterError, match=r"codes\.hrc"):
        check_apart([folder / "codes.hrc"], [folder / "m.rda"])


def test_a_file_that_cannot_be_understood_names_nothing(folder: Path) -> None:
    (folder / "bad.toml").write_text("= not toml")
    (folder / "bytes.rda").write_bytes(b"\xff\xfe\x00")
    check_apart([folder / "out.csv"], [folder / "bad.toml", folder / "bytes.rda", folder / "absent.toml"])


def test_inputs_of_a_section_are_its_texts(folder: Path) -> None:
    found = inputs_of(DataSection("in.csv", schema="s.toml", secret="key"), folder)
    assert {folder / "in.csv", folder / "s.toml", folder / "key"} <= set(found)
    database = inputs_of(DataSection("sqlite:///survey.db", query="SELECT 1"), folder)
    assert folder / "survey.db" in database
    assert inputs_of({"output": {"path": "out.csv"}, "data": "x\ny"}, folder) == ()


def test_a_file_appears_whole_or_not_at_all(folder: Path) -> None:
    target = folder / "result.txt"
    write_text(target, "old")

    def write_half() -> None:
        with atomic_write(target) as file:
            file.write("half")
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        write_half()
    assert target.read_text() == "old"
    with atomic_path(target) as beside:
        beside.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert sorted(path.name for path in folder.iterdir()) == ["in.csv", "result.txt", "sub"]
