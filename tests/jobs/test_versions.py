"""Versions of a data set in one ledger: what tables of two years reveal together, and which versions cannot be linked."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from command_line import CommandLine

CELLS = {"A": {"x": 4, "y": 4, "z": 2}, "B": {"x": 3, "y": 5, "z": 3}, "C": {"x": 3, "y": 4, "z": 3}}
SCHEMA = """
[[variable]]
name = "id"
role = "identifier"
[[variable]]
name = "ind"
role = "key"
codes = { A = "A", B = "B", C = "C" }
[[variable]]
name = "size"
role = "key"
codes = { x = "x", y = "y", z = "z" }
[[variable]]
name = "turnover"
role = "sensitive"
kind = "numeric"
"""
PLAN = """
[data]
path = "{version}.csv"
schema = "schema.toml"
secret = "secret.key"

[table]
dimensions = {dimensions}
{response}
{rules}

[output]
path = "{name}.csv"

[ledger]
path = "firms.ledger"
name = "{name}"
version = "{version}"
{more}
"""
Rows = list[tuple[str, str, str, int]]


def firms() -> Rows:
    """The firms of the first version: id, industry, size, turnover; two of them are in a small cell."""
    every = [(ind, size) for ind, own in CELLS.items() for size, n in own.items() for _ in range(n)]
    return [(f"f{k:02d}", ind, size, 100 + 37 * k % 211) for k, (ind, size) in enumerate(every)]


@dataclass
class Office:
    """A folder with versions of the data and a ledger."""

    folder: Path
    reticent: CommandLine

    def data(self, version: str, rows: Rows) -> None:
        lines = [",".join(map(str, row)) for row in rows]
        (self.folder / f"{version}.csv").write_text("\n".join(["id,ind,size,turnover", *lines]) + "\n")

    def release(
        self, name: str, version: str, *earlier: str, dimensions: str = '["ind", "size"]', minimum: int = 3,
        response: str = "turnover", more: str = "", check: bool = False,
    ) -> str:  # fmt: skip
        """Release a table; what is said against it, or nothing."""
        rules = f'rules = [{{ rule = "threshold", minimum = {minimum}, protection = 20 }}]' if minimum else ""
        listed = "".join(f'[[ledger.earlier]]\nversion = "{one}"\npath = "{one}.csv"\n' for one in earlier)
        path = self.folder / f"{name}.toml"
        path.write_text(
            PLAN.format(
                version=version, dimensions=dimensions, rules=rules, name=name, more=f"{more}\n{listed}",
                response=f'response = "{response}"' if response else "",
            )
        )  # fmt: skip
        ran = self.reticent("release", path, *(["--check"] if check else []))
        written = (self.folder / f"{name}.csv").exists()
        assert written == (ran.code == 0 and not check)
        return "" if ran.code == 0 else ran.sentence


@pytest.fixture
def office(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Office:
    monkeypatch.setenv("COLUMNS", "300")
    reticent = CommandLine(capsys, monkeypatch)
    (tmp_path / "schema.toml").write_text(SCHEMA)
    assert reticent("new-secret", tmp_path / "secret.key").code == 0
    made = Office(tmp_path, reticent)
    made.data("2025", firms())
    return made


def corrected(at: int, by: int = 30) -> Rows:
    """The same firms with the turnover of one corrected."""
    return [(*row[:3], row[3] + by * (k == at)) for k, row in enumerate(firms())]


SMALL = [k for k, row in enumerate(firms()) if row[1:3] == ("A", "z")]
LARGE = next(k for k, row in enumerate(firms()) if row[1:3] == ("B", "y"))


def test_a_correction_elsewhere_shows_the_hidden_cell(office: Office) -> None:
    assert not office.release("first", "2025")
    office.data("2026", corrected(LARGE))
    against = office.release("second", "2026", "2025", minimum=1)
    assert "A × z (hidden by first) would be known too well" in against
    assert "from second" in against or "first and second" in against


def test_the_same_table_protected_again_is_released(office: Office) -> None:
    assert not office.release("first", "2025")
    office.data("2026", corrected(LARGE))
    assert not office.release("second", "2026", "2025", more="memory = true")
    hidden = [
        {
            line.rsplit(",", 2)[0]
            for line in (office.folder / f"{name}.csv").read_text().splitlines()
            if "hidden" in line
        }
        for name in ("first", "second")
    ]
    assert hidden[0] == hidden[1], "a revision keeps the pattern"


def test_differences_of_two_patterns_are_seen(office: Office) -> None:
    """Each total is shown in both years; what differs between them is what the corrected firm had more."""
    assert not office.release("first", "2025")
    office.data("2026", corrected(SMALL[0]))
    assert not office.release("total", "2026", "2025", dimensions='["ind"]')


def test_counts_of_the_next_year(office: Office) -> None:
    assert not office.release("first", "2025", response="")
    office.data("2026", corrected(LARGE))
    assert "A × z (hidden by first)" in office.release("second", "2026", "2025", response="", minimum=0)


def test_who_left_is_the_difference(office: Office) -> None:
    """Two firms of a small cell in a table; one leaves the data, and then the total of its industry tells its turnover."""
    assert not office.release("first", "2025")
    office.data("2026", [row for k, row in enumerate(firms()) if k != SMALL[0]])
    assert "A × z (hidden by first)" in office.release("second", "2026", "2025", minimum=0)


def test_an_older_version_needs_its_data(office: Office) -> None:
    assert not office.release("first", "2025")
    office.data("2026", corrected(LARGE))
    against = office.release("second", "2026")
    assert "'first' was released of version '2025'" in against
    assert "[[ledger.earlier]]" in against


def test_other_data_under_the_name_of_a_version(office: Office) -> None:
    assert not office.release("first", "2025")
    office.data("2025", corrected(LARGE))
    assert "version '2025' was other data" in office.release("second", "2025")
    office.data("2026", corrected(LARGE, 60))
    assert "are not those that releases of it were made of" in office.release("second", "2026", "2025")


def test_a_version_that_the_ledger_does_not_know(office: Office) -> None:
    assert not office.release("first", "2025")
    office.data("2024", corrected(LARGE))
    assert "nothing was released of the earlier version '2024'" in office.release("second", "2025", "2024")


def test_versions_without_an_identifier(office: Office) -> None:
    schema = office.folder / "schema.toml"
    schema.write_text(schema.read_text().replace('role = "identifier"', 'role = "entity"'))
    assert not office.release("first", "2025")
    office.data("2026", corrected(LARGE))
    against = office.release("second", "2026", "2025")
    assert "cannot be linked record by record" in against
    assert 'role = "identifier"' in against


def test_versions_with_an_identifier_that_repeats(office: Office) -> None:
    assert not office.release("first", "2025")
    rows = corrected(LARGE)
    office.data("2026", [rows[0], *rows[1:], rows[0]])
    assert "'id' is missing or repeated in version '2026'" in office.release("second", "2026", "2025")


def test_versions_that_share_nobody(office: Office) -> None:
    assert not office.release("first", "2025")
    office.data("2026", [(f"g{row[0]}", *row[1:]) for row in firms()])
    against = office.release("second", "2026", "2025")
    assert "not versions of one data set" in against
    assert "f00" not in against


def test_what_is_refused_or_only_checked_takes_no_name(office: Office) -> None:
    assert not office.release("first", "2025")
    office.data("2026", corrected(LARGE))
    assert not office.release("second", "2026", "2025", more="memory = true", check=True)
    office.data("2026", corrected(LARGE, 60))
    assert not office.release("second", "2026", "2025", more="memory = true")


def test_the_older_version_can_be_released_of_again(office: Office) -> None:
    assert not office.release("first", "2025")
    office.data("2026", corrected(LARGE))
    assert not office.release("second", "2026", "2025", more="memory = true")
    assert not office.release("third", "2025", "2026", dimensions='["ind"]')
    ran = office.reticent(
        "ledger", "list", office.folder / "firms.ledger", "--secret", office.folder / "secret.key", "--json", "-"
    )
    assert [(one["name"], one["version"]) for one in json.loads(ran.out)] == [
        ("first", "2025"),
        ("second", "2026"),
        ("third", "2025"),
    ]


def test_who_leaves_a_cell_knew_the_others_before(office: Office) -> None:
    """Three firms in a published cell; the one that moves away knows the other two, whose cell is unsafe since."""
    assert not office.release("first", "2025")
    rows = firms()
    shown = {
        tuple(line.split(",")[:2])
        for line in (office.folder / "first.csv").read_text().splitlines()
        if "published" in line
    }
    gone = next(k for k, row in enumerate(rows) if row[1:3] in shown and CELLS[row[1]][row[2]] == 3)
    office.data("2026", [row for k, row in enumerate(rows) if k != gone])
    assert not office.release("second", "2026", "2025", more="memory = true")
    assert "known too well" in office.release("third", "2026", "2025", minimum=0), "from all others it is kept"
    found = office.reticent(
        "ledger", "show", office.folder / "firms.ledger", "second", "--secret", office.folder / "secret.key"
    )
    assert "amended" in found.out, "that one respondent knows it is recorded"


DATABASE = """
[data]
path = "{version}.csv"
schema = "schema.toml"
secret = "secret.key"
version = "{version}"
{earlier}
[ledger]
path = "firms.ledger"

[policy]
filters = ["ind", "size"]
responses = ["turnover"]
minimum = 2
"""
LISTED = '[[earlier]]\nversion = "2025"\npath = "2025.csv"\nschema = "schema.toml"\n'


def asked(office: Office, version: str, query: str, *, earlier: str = "") -> bool:
    path = office.folder / f"db-{version}.toml"
    path.write_text(DATABASE.format(version=version, earlier=earlier))
    ran = office.reticent("ask", path, f"SELECT SUM(turnover) FROM data WHERE {query}", "--user", "ann", "--json", "-")
    assert ran.code == 0, ran.err
    return bool(json.loads(ran.out)["answered"])


def published(office: Office, name: str) -> str:
    """A size of industry A that a table shows."""
    lines = [line.split(",") for line in (office.folder / f"{name}.csv").read_text().splitlines()]
    return next(line[1] for line in lines if line[0] == "A" and line[1] in "xy" and "published" in line)


def test_a_question_about_the_next_version_is_judged_with_the_table(office: Office) -> None:
    assert not office.release("first", "2025")
    office.data("2026", corrected(LARGE))
    assert not asked(office, "2026", f"ind = 'A' AND size IN ('{published(office, 'first')}', 'z')", earlier=LISTED)
    assert asked(office, "2026", "ind = 'A'", earlier=LISTED)


def test_a_table_of_the_next_version_is_judged_with_the_answer(office: Office) -> None:
    alone = office.folder / "alone.toml"
    office.release("alone", "2025", check=True)
    alone.write_text(alone.read_text().split("[ledger]")[0])
    assert office.reticent("table", alone).code == 0
    assert asked(office, "2025", f"ind = 'A' AND size IN ('{published(office, 'alone')}', 'z')")
    office.data("2026", corrected(LARGE))
    (office.folder / "db-2026.toml").write_text(DATABASE.format(version="2026", earlier=LISTED))
    against = office.release("first", "2026", more='database = "db-2026.toml"')
    assert "A × z (hidden by first)" in against
    assert "answer" in against


def test_a_database_lists_the_versions_that_tables_were_released_of(office: Office) -> None:
    assert not office.release("first", "2025")
    office.data("2026", corrected(LARGE))
    path = office.folder / "db.toml"
    path.write_text(DATABASE.format(version="2026", earlier=""))
    ran = office.reticent("ask", path, "SELECT SUM(turnover) FROM data", "--user", "ann")
    assert ran.code == 8
    assert "earlier" in ran.sentence
