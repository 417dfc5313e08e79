"""Protection with memory: tables that hide what they must beside everything before, and what is offered where they do not."""

import csv
import json
from pathlib import Path

import pytest

from command_line import CommandLine
from reticent.data.table_plan import read_table_plan
from reticent.jobs.release_book import open_book, where_of
from reticent.jobs.table_request import request_from_plan
from reticent.releases.verifier import verify

from . import test_release as tables
from . import test_release_and_queries as queries

reticent, folder, database = tables.reticent, tables.folder, queries.database
OTHER_TREE = '["ind", {variable = "size", hierarchy = "other.hrc"}]'


def plan(folder: Path, name: str, dimensions: str = '["ind", "size"]', minimum: int = 3, more: str = "") -> Path:
    path = tables.plan(folder, name, dimensions, minimum)
    path.write_text(path.read_text() + f"memory = true\n{more}")
    return path


def hidden(folder: Path, name: str) -> set[tuple[str, str]]:
    with (folder / f"{name}.csv").open() as file:
        return {(row["ind"], row["size"]) for row in csv.DictReader(file) if row["status"] == "hidden"}


def proved(folder: Path, name: str) -> bool:
    """Whether the verifier accepts points for each end of everything that is watched, all releases together."""
    own = read_table_plan(folder / f"{name}.toml")
    records = request_from_plan(own).tables[0].records
    assert records is not None
    with open_book(where_of(own, folder / f"{name}.toml", None, None), records) as book:
        stage = book.stage(book.recipes()[name], name)
        system = stage.system()
        system.accept(stage.new)
        return verify([stage.scene.grounded.ground], system.accepted, system.witnesses())


def test_a_table_after_an_answer_hides_one_more_cell(reticent: CommandLine, folder: Path, database: Path) -> None:
    """The answer has A × x and A × z together; who hides A × z must hide A × x too."""
    assert queries.ask(reticent, database, queries.DIFFERENCE)["answered"]
    ran = reticent("release", plan(folder, "first", more='database = "firms.db.toml"\n'), "--json", "-")
    assert ran.code == 0, ran.err
    told = json.loads(ran.out)
    assert ("A", "x") in hidden(folder, "first")
    assert ["A", "x"] in [one["cell"] for one in told["hidden in addition"]]
    assert any("answer" in release for one in told["hidden in addition"] for release in one.get("releases", []))
    assert "Hidden in addition because of earlier releases" in " ".join(told["notes"])
    assert proved(folder, "first")


def test_a_table_after_a_table_hides_what_that_one_hid(reticent: CommandLine, folder: Path) -> None:
    """Without rules of its own it would show everything; another tree has other totals too."""
    (folder / "other.hrc").write_text("xz\n@x\n@z\nyw\n@y\n@w\n")
    assert reticent("release", tables.plan(folder, "first")).code == 0
    assert reticent("release", tables.plan(folder, "second", OTHER_TREE, minimum=1)).code == 5
    assert reticent("release", plan(folder, "second", OTHER_TREE, minimum=1)).code == 0
    assert hidden(folder, "first") < hidden(folder, "second")
    assert {("A", "xz"), ("A", "yw")} <= hidden(folder, "second")
    assert proved(folder, "second")


def test_what_is_out_already_cannot_be_kept_by_hiding(reticent: CommandLine, folder: Path) -> None:
    assert reticent("release", tables.plan(folder, "open", minimum=1)).code == 0
    ran = reticent("release", plan(folder, "late"))
    assert ran.code == 5
    assert "A × z (hidden by late) would be known too well: from open" in ran.sentence
    assert not (folder / "late.csv").exists()


def test_a_revision_keeps_the_pattern(reticent: CommandLine, folder: Path) -> None:
    assert reticent("release", tables.plan(folder, "first")).code == 0
    path = plan(folder, "revised", minimum=1)
    ran = reticent("release", path, "--json", "-")
    assert hidden(folder, "revised") == hidden(folder, "first")
    assert json.loads(ran.out)["notes"] == [
        "A table of the same variables was released as 'first': its pattern of hidden cells is kept."
    ]
    before = (folder / "revised.csv").read_bytes()
    assert reticent("release", plan(folder, "third", '["ind"]')).code == 0
    assert reticent("release", path).code == 0, "once recorded it is written again as it was"
    assert (folder / "revised.csv").read_bytes() == before
    assert tables.listed(reticent, folder) == ["first", "revised", "third"]


def test_a_revision_with_another_tree_keeps_what_was_hidden(reticent: CommandLine, folder: Path) -> None:
    """The new totals are hidden as far as they would give it away, with the answer before both."""
    (folder / "firms.db.toml").write_text(queries.DATABASE)
    assert queries.ask(reticent, folder / "firms.db.toml", queries.DIFFERENCE)["answered"]
    more = 'database = "firms.db.toml"\n'
    assert reticent("release", plan(folder, "coarse", '["ind", "size"]', more=more)).code == 0
    (folder / "other.hrc").write_text("xz\n@x\n@z\nyw\n@y\n@w\n")
    ran = reticent("release", plan(folder, "revised", OTHER_TREE, more=more), "--json", "-")
    assert ran.code == 0, ran.err
    note = json.loads(ran.out)["notes"][0]
    assert hidden(folder, "coarse") <= hidden(folder, "revised")
    assert "released as 'coarse': its pattern of hidden cells is kept" in note
    assert proved(folder, "revised")


def test_a_refused_table_says_what_could_be_released(reticent: CommandLine, folder: Path) -> None:
    assert reticent("release", tables.plan(folder, "first")).code == 0
    path = tables.plan(folder, "second", minimum=1)
    ran = reticent("release", path)
    assert ran.code == 5
    assert "Instead could be released: the same with" in ran.sentence
    ran = reticent("release", path, "--check", "--json", "-")
    instead = json.loads(ran.out)["instead"]
    assert {tuple(one["cell"]) for one in instead["hide"]} == hidden(folder, "first")
    assert {"variable": "size", "level": None} in instead["coarser"]
    for one in instead["intervals"]:
        assert one["low"] < one["high"]
    assert tables.listed(reticent, folder) == ["first"]


def test_a_coarser_level_is_offered(reticent: CommandLine, folder: Path) -> None:
    """A × z alone tells too much; with sizes at the level of xy and zw it does not."""
    assert reticent("release", tables.plan(folder, "first")).code == 0
    path = tables.plan(folder, "second", '["ind", {variable = "size", hierarchy = "size.hrc"}]', minimum=1)
    instead = json.loads(reticent("release", path, "--check", "--json", "-").out)["instead"]
    offered = [one for one in instead["coarser"] if one["variable"] == "size"]
    assert len(offered) == 1, "the finest that is safe"
    dimension = '"ind"' if offered[0]["level"] is None else (
        f'"ind", {{variable = "size", hierarchy = "size.hrc", level = {offered[0]["level"]}}}'
    )  # fmt: skip
    assert reticent("release", tables.plan(folder, "coarse", f"[{dimension}]", minimum=1)).code == 0


def values(folder: Path, name: str) -> dict[tuple[str, str], str]:
    with (folder / f"{name}.csv").open() as file:
        return {(row["ind"], row["size"]): row["value"] for row in csv.DictReader(file)}


def test_adjustment_knows_what_is_out(reticent: CommandLine, folder: Path) -> None:
    """Without rules of its own nothing would move; what the first table hides must move, what it shows must not."""
    assert reticent("release", tables.plan(folder, "first")).code == 0
    path = plan(folder, "second", minimum=1, more='accept_uncertified = "adjusted values"\n')
    path.write_text(path.read_text().replace("[output]", '[protect]\nmethod = "adjust"\n\n[output]'))
    ran = reticent("release", path, "--json", "-")
    assert ran.code == 0, ran.err
    first, second = values(folder, "first"), values(folder, "second")
    true = 0
    for row in (folder / "firms.csv").read_text().splitlines()[1:]:
        _, ind, size, turnover = row.split(",")
        true += int(turnover) if (ind, size) == ("A", "z") else 0
    assert abs(float(second["A", "z"]) - true) >= 0.2 * true - 1
    assert all(second[cell] == value for cell, value in first.items() if value), "what is shown keeps its value"
    assert "A × z" in json.loads(ran.out)["notes"][0]
    before = (folder / "second.csv").read_bytes()
    assert reticent("release", tables.plan(folder, "third", '["ind"]')).code == 0
    assert reticent("release", path).code == 0
    assert (folder / "second.csv").read_bytes() == before, "written again as it was"


def test_a_rounded_table_is_rounded_another_way_or_refused(reticent: CommandLine, folder: Path) -> None:
    assert reticent("release", tables.plan(folder, "first")).code == 0
    path = plan(folder, "second", minimum=1)
    path.write_text(path.read_text().replace("[output]", '[protect]\nmethod = "round"\nbase = 5\n\n[output]'))
    ran = reticent("release", path)
    assert ran.code == 5, "multiples of 5 place A × z far closer than a fifth"
    assert "hidden by first" in ran.sentence
    path.write_text(path.read_text().replace("base = 5\n", "base = 200\n"))
    assert reticent("release", path).code == 0
    before = (folder / "second.csv").read_bytes()
    assert reticent("release", path).code == 0
    assert (folder / "second.csv").read_bytes() == before


@pytest.mark.parametrize("wrong", ['memory = "yes"', "memory = 1"])
def test_memory_is_yes_or_no(reticent: CommandLine, folder: Path, wrong: str) -> None:
    path = tables.plan(folder, "first")
    path.write_text(path.read_text() + wrong + "\n")
    ran = reticent("release", path)
    assert ran.code == 2
    assert "memory" in ran.sentence


def test_memory_is_for_tables(reticent: CommandLine, folder: Path) -> None:
    path = folder / "file.toml"
    path.write_text(
        '[data]\npath = "firms.csv"\nschema = "firms.schema.toml"\nsecret = "secret.key"\n[output]\npath = "out.csv"\n'
        '[ledger]\npath = "firms.ledger"\nname = "file"\nmemory = true\n'
    )
    ran = reticent("release", path)
    assert ran.code == 2
    assert "memory protects tables" in ran.sentence
