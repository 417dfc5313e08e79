# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a plan is said in the words of whoever wrote it; who cannot ask a database leaves nothing behind."""

import secrets
from pathlib import Path

import pytest

from command_line import CommandLine

RECORDS = "row,col\n" + "".join(f"{row},{col}\n" for row in "rs" for col in "abc" for _ in range(4))
PLAN = """[data]
path = "records.csv"
[table]
dimensions = {dimensions}
rules = [{{ rule = "threshold", minimum = 3 }}]
[protect]
{protect}
[output]
path = "table.csv"
"""


@pytest.fixture
def reticent(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    return CommandLine(capsys, monkeypatch)


def _plan(folder: Path, *, dimensions: str = '["row", "col"]', protect: str = "", before: str = "") -> Path:
    (folder / "records.csv").write_text(RECORDS)
    plan = folder / "plan.toml"
    plan.write_text(before + PLAN.format(dimensions=dimensions, protect=protect), encoding="utf-8")
    return plan


@pytest.mark.parametrize(
    ("protect", "words"),
    [
        ("hide_emtpy = true", "Did you mean 'hide_empty'?"),
        ('insider = "protect"', "Did you mean 'insiders'?"),
        ('method = "round"\nbasis = 3', "Did you mean 'base'?"),
        ("nonsense = 1", "Known options: method, cost, time_limit, search_steps, accept_exposed, insiders"),
    ],
)
def test_options_of_the_section_are_suggested_beside_those_of_the_method(
    protect: str, words: str, tmp_path: Path, reticent: CommandLine
) -> None:
    ran = reticent("table", _plan(tmp_path, protect=protect))
    assert ran.code == 2
    assert words in ran.err
    assert not (tmp_path / "table.csv").exists()


def test_options_may_have_hyphens(tmp_path: Path, reticent: CommandLine) -> None:
    assert reticent("table", _plan(tmp_path, protect="minimum-together = 3\nhide-empty = true")).code == 0


def test_a_byte_order_mark_is_named(tmp_path: Path, reticent: CommandLine) -> None:
    ran = reticent("table", _plan(tmp_path, before="\ufeff"))
    assert (ran.code, ran.sentence) == (
        2,
        "reticent: plan.toml: the file begins with a byte order mark; save it as UTF-8 without one.",
    )


def test_no_class_of_the_program_is_named(tmp_path: Path, reticent: CommandLine) -> None:
    ran = reticent("table", _plan(tmp_path, dimensions="[1]"))
    assert ran.code == 2
    assert "a text, a table of options; got a whole number" in ran.err


@pytest.mark.parametrize("user", ["", "a\u200bb", "a" * 101])
def test_who_cannot_ask_begins_no_ledger(user: str, tmp_path: Path, reticent: CommandLine) -> None:
    (tmp_path / "records.csv").write_text(RECORDS)
    (tmp_path / "schema.toml").write_text(
        "".join(f'[[variable]]\nname = "{name}"\nrole = "key"\nkind = "nominal"\n' for name in ("row", "col"))
    )
    (tmp_path / "key").write_text(secrets.token_hex(32))
    database = tmp_path / "database.toml"
    database.write_text(
        '[data]\npath = "records.csv"\nschema = "schema.toml"\nsecret = "key"\nname = "d"\nversion = "1"\n'
        '[ledger]\npath = "ledger"\n[policy]\nfilters = ["row", "col"]\nminimum = 3\n'
    )
    before = set(tmp_path.iterdir())
    ran = reticent("ask", database, "SELECT COUNT(*) FROM data", "--user", user)
    assert ran.code == 2
    assert set(tmp_path.iterdir()) == before
