"""`reticent ledger import`: what was published before the ledger existed counts in every later verdict."""

import csv
import json
from pathlib import Path

import pytest

from command_line import CommandLine
from firms import write_firms

DATA = """
[data]
path = "firms.csv"
schema = "firms.schema.toml"
secret = "secret.key"
"""
TABLE = """
[table]
dimensions = {dimensions}
response = "turnover"
{rules}
{more}

[output]
path = "{name}.csv"
"""
LEDGER = '\n[ledger]\npath = "firms.ledger"\nname = "{name}"\n'
RULES = 'rules = [{ rule = "threshold", minimum = 3, protection = 20 }]'
ROUND = '[protect]\nmethod = "round"\nbase = {base}'


@pytest.fixture
def reticent(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    monkeypatch.setenv("COLUMNS", "300")
    return CommandLine(capsys, monkeypatch)


@pytest.fixture
def folder(tmp_path: Path, reticent: CommandLine) -> Path:
    write_firms(tmp_path, role="key")
    assert reticent("new-secret", tmp_path / "secret.key").code == 0
    return tmp_path


def plan(
    folder: Path,
    name: str,
    dimensions: str = '["ind", "size"]',
    rules: str = RULES,
    *,
    more: str = "",
    ledger: bool = True,
) -> Path:
    path = folder / f"{name}.toml"
    text = DATA + TABLE.format(dimensions=dimensions, rules=rules, more=more, name=name)
    path.write_text(text + (LEDGER.format(name=name) if ledger else ""))
    return path


def published(reticent: CommandLine, folder: Path, name: str, *arguments: str, more: str = "") -> Path:
    """A table published without a ledger; its plan with one."""
    without = plan(folder, name, *arguments, more=more, ledger=False)
    assert reticent("table", without).code == 0
    return plan(folder, name, *arguments, more=more)


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def listed(reticent: CommandLine, folder: Path) -> list[str]:
    ran = reticent("ledger", "list", folder / "firms.ledger", "--secret", folder / "secret.key", "--json", "-")
    return [one["name"] for one in json.loads(ran.out)]


def test_an_imported_table_keeps_its_secrets(reticent: CommandLine, folder: Path) -> None:
    ran = reticent("ledger", "import", published(reticent, folder, "old"))
    assert ran.code == 0
    assert "every verdict takes it into account" in " ".join(ran.out.split())
    opening = reticent("release", plan(folder, "open", rules=""))
    assert opening.code == 5
    assert "A × z (hidden by old) would be known too well" in opening.sentence
    assert reticent("release", plan(folder, "coarse", '["ind"]')).code == 0
    assert listed(reticent, folder) == ["old", "coarse"]


def test_an_imported_table_opens_a_later_one(reticent: CommandLine, folder: Path) -> None:
    assert reticent("ledger", "import", published(reticent, folder, "old", '["ind", "size"]', "")).code == 0
    ran = reticent("release", plan(folder, "new"))
    assert ran.code == 5
    assert "from old" in ran.sentence


def test_without_rules_each_hidden_cell_must_stay_unknown(reticent: CommandLine, folder: Path) -> None:
    published(reticent, folder, "old")
    assert reticent("ledger", "import", plan(folder, "old", rules="")).code == 0
    ran = reticent("release", plan(folder, "open", rules=""))
    assert ran.code == 5
    assert "hidden by old" in ran.sentence


def test_what_an_import_gives_away_is_said_once_and_stops_nothing(reticent: CommandLine, folder: Path) -> None:
    """A table that opens a released one was out all the time: what is known cannot be kept, the rest must be."""
    assert reticent("release", plan(folder, "first")).code == 0
    opened = published(reticent, folder, "old", '["ind", "size"]', "")
    ran = reticent("ledger", "import", opened)
    assert ran.code == 0
    assert "A × z (hidden by first) would be known too well" in ran.out
    assert reticent("release", plan(folder, "coarse", '["ind"]')).code == 0
    again = reticent("release", plan(folder, "again", rules=""))
    assert again.code == 0, "it follows from what was released"
    twice = reticent("ledger", "import", opened, "--name", "the same elsewhere")
    assert twice.code == 0
    assert "too well" not in twice.out, "what is known is watched no longer"


def test_what_an_import_leaves_possible_must_stay_possible(reticent: CommandLine, folder: Path) -> None:
    """A rounded table narrows a hidden cell below its required interval: what it leaves is kept, exact values stay out."""
    assert reticent("release", plan(folder, "first")).code == 0
    rounded = published(reticent, folder, "rounded", '["ind", "size"]', "", more=ROUND.format(base=40))
    ran = reticent("ledger", "import", rounded)
    assert ran.code == 0
    assert "A × z (hidden by first) would be known too well" in ran.out
    opening = reticent("release", plan(folder, "open", rules=""))
    assert opening.code == 5
    assert "hidden by first" in opening.sentence
    assert reticent("release", plan(folder, "coarse", '["ind"]')).code == 0


@pytest.mark.parametrize("kind", [1, 2, 3])
def test_outputs_of_batch_files(reticent: CommandLine, folder: Path, kind: int) -> None:
    """The same table in the formats of tau-ARGUS: blocks, lines with names, lines without."""
    path = published(reticent, folder, "old")
    cells = {(row["ind"], row["size"]): row for row in rows_of(folder / "old.csv")}
    shown = {
        codes: {"published": row["value"], "hidden": "x", "empty": "-"}[row["status"]] for codes, row in cells.items()
    }
    inds, sizes = ("Total", "A", "B", "C"), ("Total", "x", "y", "z", "w")
    lines = [f'"{ind}","{size}",{text}' for (ind, size), text in shown.items()]
    if kind == 1:
        lines = [",".join(["", *(f'"{size}"' for size in sizes)])]
        lines += [",".join([f'"{ind}"', *(shown[ind, size] for size in sizes)]) for ind in inds]
    elif kind == 2:
        lines.insert(0, '"ind","size","turnover"')
    (folder / "argus.csv").write_text("\n".join(lines) + "\n")
    assert reticent("ledger", "import", path, folder / "argus.csv").code == 0
    ran = reticent("release", plan(folder, "open", rules=""))
    assert ran.code == 5
    assert "hidden by old" in ran.sentence


def test_values_beside_a_status_that_hides_them_are_not_published(reticent: CommandLine, folder: Path) -> None:
    path = published(reticent, folder, "old")
    cells = rows_of(folder / "old.csv")
    numbers = {"published": "1", "hidden": "11", "empty": "14"}
    lines = [f"{r['ind']};{r['size']};{r['value'] or '77'};{numbers[r['status']]}" for r in cells]
    (folder / "argus.csv").write_text("\n".join(lines) + "\n")
    assert reticent("ledger", "import", path, folder / "argus.csv").code == 0
    assert "hidden by old" in reticent("release", plan(folder, "open", rules="")).sentence


def test_a_rounded_table_is_known_within_its_base(reticent: CommandLine, folder: Path) -> None:
    text = ROUND.format(base=500)
    assert (
        reticent("ledger", "import", published(reticent, folder, "old", '["ind", "size"]', RULES, more=text)).code == 0
    )
    table = folder / "old.csv"
    shown = int(rows_of(table)[-1]["value"])  # which multiples stand there depends on the secret
    table.write_text(table.read_text().replace(f",{shown},", f",{shown + 1000},"))
    ran = reticent("ledger", "import", plan(folder, "other", more=text), table)
    assert ran.code == 3
    assert "contradicts the data" in ran.sentence


def test_an_import_that_does_not_add_up_or_contradicts_the_data_is_refused(reticent: CommandLine, folder: Path) -> None:
    path = published(reticent, folder, "old")
    table = folder / "old.csv"
    whole = table.read_text()
    cell = next(row for row in rows_of(table) if (row["ind"], row["size"]) == ("C", "x"))
    line = f"C,x,{cell['value']},published"
    assert line in whole
    other = int(cell["value"]) + 1
    for text, words in (
        (whole.replace(line, f"C,x,{other},published"), "does not add up: Total × x"),
        ("".join(row + "\n" for row in whole.splitlines() if "Total" not in row).replace(line, f"C,x,{other},published"),
         "contradicts the data in total of turnover where ind = C and size = x"),
        (whole.replace(line, f"C,q,{other},published"), "there is no code 'q'"),
        (whole.replace(line, f"C,x,{cell['value']}.5,published"), "more decimals"),
        (whole.replace(line, line + "\n" + line), "is in line"),
        (whole.replace(line, "C,x,many,published"), "needs a number"),
        (whole.replace(line, "C,x,,secret"), "the status must be"),
        (whole.replace("ind,size", "branch,size"), "columns for its dimensions"),
        ("", "columns for its dimensions"),
    ):  # fmt: skip
        table.write_text(text)
        ran = reticent("ledger", "import", path)
        assert ran.code == 3, words
        assert words in ran.sentence
    assert listed(reticent, folder) == []
    table.unlink()
    assert "cannot be read" in reticent("ledger", "import", path).sentence


def test_several_tables_need_as_many_files(reticent: CommandLine, folder: Path) -> None:
    path = published(reticent, folder, "old")
    ran = reticent("ledger", "import", path, folder / "old.csv", folder / "old.csv")
    assert ran.code == 2
    assert "describes 1 tables, and 2 files" in ran.sentence


def test_check_and_the_same_import_twice(reticent: CommandLine, folder: Path) -> None:
    path = published(reticent, folder, "old")
    assert reticent("ledger", "import", path, "--check").code == 0
    assert listed(reticent, folder) == []
    first = json.loads(reticent("ledger", "import", path, "--json", "-").out)
    again = json.loads(reticent("ledger", "import", path, "--json", "-").out)
    assert first["entry"] == again["entry"]
    assert listed(reticent, folder) == ["old"]


FILE = """
[risk]
most = 1.0
accept_risk = "a licensed file"

[[step]]
method = "round"
variables = ["turnover"]
base = {base}

[output]
path = "file.csv"
schema = "file.schema.toml"
"""


def file_plan(folder: Path, base: int, *, ledger: bool = True) -> Path:
    path = folder / "file.toml"
    path.write_text(DATA + FILE.format(base=base) + (LEDGER.format(name="file") if ledger else ""))
    return path


def test_an_imported_file_counts(reticent: CommandLine, folder: Path) -> None:
    assert reticent("protect", file_plan(folder, 1, ledger=False)).code == 0
    assert reticent("ledger", "import", file_plan(folder, 1)).code == 0
    ran = reticent("release", plan(folder, "table"))
    assert ran.code == 5
    assert "file" in ran.sentence


def test_a_file_that_was_not_made_so_is_refused(reticent: CommandLine, folder: Path) -> None:
    assert reticent("protect", file_plan(folder, 10, ledger=False)).code == 0
    masked = folder / "file.csv"
    masked.write_text(masked.read_text().replace("A,z", "B,z", 1))
    ran = reticent("ledger", "import", file_plan(folder, 10))
    assert ran.code == 3
    assert "contradicts the data" in ran.sentence or "cannot have been made" in ran.sentence
    assert listed(reticent, folder) == []


def test_an_import_beside_a_released_file(reticent: CommandLine, folder: Path) -> None:
    assert reticent("protect", file_plan(folder, 1000, ledger=False)).code == 0
    assert reticent("ledger", "import", file_plan(folder, 1000)).code == 0
    assert reticent("release", plan(folder, "table")).code == 0
    assert listed(reticent, folder) == ["file", "table"]
