"""`reticent querylog` as a user meets it: the bundled example, the shared log with the source's figures, bad input."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from command_line import CommandLine

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def reticent(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    return CommandLine(capsys, monkeypatch)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "examples" / "querylog", tmp_path / "log")
    return tmp_path / "log"


def test_the_example_runs(reticent: CommandLine, folder: Path) -> None:
    ran = reticent("querylog", folder / "plan.toml")
    assert ran.code == 0, ran.err
    published = (folder / "log.safe.csv").read_text()
    assert published.startswith("user,query,time\n")
    assert "@" not in published
    assert "anna" not in published
    assert "u00" not in published
    summary = json.loads((folder / "log.confidential.json").read_text())
    assert summary["scrubbed"]["email"] > 0
    assert summary["users with a query that only they made"] == 0
    assert summary["secret"]
    assert "pseudo-user" in (folder / "log.confidential.html").read_text()


LEAST = {2: (0.87, 0.67, 0.59), 3: (0.83, 0.56, 0.43), 5: (0.81, 0.47, 0.34)}


@pytest.mark.parametrize("k", LEAST)
def test_the_shared_log_keeps_what_the_source_promises(
    reticent: CommandLine, tmp_path: Path, shared_data: Path, k: int
) -> None:
    plan = tmp_path / "plan.toml"
    text = f"""
[data]
path = "{shared_data / "querylog" / "synthetic_querylog_1000users.csv"}"
user = "AnonID"
query = "Query"
category = "CategoryID"
[taxonomy]
path = "{shared_data / "taxonomy" / "iab_content_taxonomy_3.1.tsv"}"
format = "iab"
[protect]
k = {k}
guard = GUARD
[output]
path = "safe.parquet"
summary = "summary.json"
"""
    plan.write_text(text.replace("GUARD", "1"))
    assert reticent("querylog", plan).code == 0
    found = json.loads((tmp_path / "summary.json").read_text())
    assert all(kept >= least for kept, least in zip(found["remaining at each level"], LEAST[k], strict=True))
    pairs = zip(found["remaining at each level"], found["remaining with random clusters"], strict=True)
    assert all(kept > chance for kept, chance in pairs)
    assert found["users per cluster"][0] >= k
    plan.write_text(text.replace("GUARD", "3"))
    assert reticent("querylog", plan).code == 0
    found = json.loads((tmp_path / "summary.json").read_text())
    assert found["users with a query that only they made"] == 0
    assert found["share of rows kept for clustering"] >= 0.7
    assert pl.read_parquet(tmp_path / "safe.parquet").columns == ["user", "query"]


def edit(file: str, old: str, new: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / file
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))

    return change


def replace_file(file: str, text: str) -> Callable[[Path], None]:
    return lambda folder: (folder / file).write_text(text) and None


BAD = {
    "k larger than the users": (edit("plan.toml", "k = 3", "k = 500"), "k is 500, but only 150 users"),
    "k of one": (edit("plan.toml", "k = 3", "k = 1"), "k must be at least 2"),
    "a taxonomy with a cycle": (replace_file("taxonomy.csv", "category,parent,terms\n1,2,a\n2,1,b\n"), "ancestor of itself"),
    "a taxonomy with a long cycle": (
        replace_file("taxonomy.csv", "category,parent,terms\n0,,football\n1,3,a\n2,1,b\n3,2,c\n"), "ancestor of itself"
    ),
    "a category that is its own parent": (replace_file("taxonomy.csv", "category,parent,terms\n1,1,a\n"), "ancestor of itself"),
    "a category with two parents": (
        replace_file("taxonomy.csv", "category,parent,terms\n1,,a\n2,,b\n3,1,c\n3,2,c\n"), "'3' occurs twice"
    ),
    "a category with a list of parents": (
        replace_file("taxonomy.csv", "category,parent,terms\n1,,a\n2,,b\n3,1;2,c\n"), "the parent '1;2' is not a category"
    ),
    "an empty log": (replace_file("log.csv", "user,query,time\n"), "has no records"),
    "a log of nothing": (replace_file("log.csv", ""), "log.csv"),
    "blank users": (replace_file("log.csv", "user,query,time\n ,a,2006-01-01\nb,c,2006-01-01\n"), "1 rows have no user"),
    "a log without the query column": (replace_file("log.csv", "user,text,time\na,b,c\n"), "the query column 'query' is not"),
    "k larger than the users left": (edit("plan.toml", "k = 3", "k = 151"), "k is 151, but only 150 users"),
    "k that is not a number": (edit("plan.toml", "k = 3", 'k = "three"'), "k must be a whole number"),
    "a log without users": (replace_file("log.csv", "user,query,time\n,something,2006-01-01\n"), "1 rows have no user"),
    "a log without the user column": (replace_file("log.csv", "usr,query,time\na,b,c\n"), "the user column 'user' is not"),
    "a log without queries": (replace_file("log.csv", "user,query,time\na,,2006-01-01\n"), "no row with a query"),
    "a taxonomy that fits nothing": (replace_file("taxonomy.csv", "category,parent,terms\n1,,zzz\n"), "no query leads to"),
    "every query rare": (edit("plan.toml", 'guard = 3 ', 'guard = 5000 '), "every query is rare"),
    "an unknown option": (edit("plan.toml", "guard = 3", "gard = 3"), "Did you mean 'guard'?"),
    "an unknown treatment": (edit("plan.toml", '"generalise"', '"hide"'), "rare must be one of drop, generalise"),
    "an unknown form": (edit("plan.toml", 'format = "reticent"', 'format = "odp"'), "format must be one of"),
    "a time that is not there": (edit("plan.toml", 'time = "time"\n', ""), "the log has no time column"),
    "times in another order": (edit("log.csv", ",2006-03-", ",3/14/06 "), "times must begin with a date"),
    "a click column that is not there": (edit("plan.toml", '"time"\n', '"time"\nclick = "url"\n'), "the click column"),
    "a region in words": (edit("plan.toml", 'region = "US"', 'region = "Germany"'), "two letters of a country"),
    "a guessable secret": (edit("plan.toml", '# secret = "secret.key"', "secret = 1 #"), "secret"),
    "an output of another kind": (edit("plan.toml", "log.safe.csv", "log.safe.xlsx"), "is written as .csv or .parquet"),
    "no list of names": (edit("plan.toml", "given-names.txt", "none.txt"), "the list of names cannot be read"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gives_one_sentence_and_nothing_is_written(reticent: CommandLine, folder: Path, name: str) -> None:
    change, words = BAD[name]
    change(folder)
    before = {path.name for path in folder.iterdir()}
    ran = reticent("querylog", folder / "plan.toml")
    assert ran.code in (2, 3), ran.err
    assert words in ran.sentence
    assert ran.err.count("\n") == 1
    assert {path.name for path in folder.iterdir()} - before <= set()
