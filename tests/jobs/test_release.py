"""`reticent release`: what each release keeps and all of them together reveal; recorded first, written then."""

import json
from pathlib import Path

import pytest

from command_line import CommandLine
from firms import write_firms
from reticent.jobs.release_view import judged_view

PLAN = """
[data]
path = "firms.csv"
schema = "firms.schema.toml"
secret = "secret.key"

[table]
dimensions = {dimensions}
response = "turnover"
rules = [{{ rule = "threshold", minimum = {minimum}, protection = 20 }}]

[output]
path = "{name}.csv"

[ledger]
path = "firms.ledger"
name = "{name}"
"""


@pytest.fixture
def reticent(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    monkeypatch.setenv("COLUMNS", "300")
    return CommandLine(capsys, monkeypatch)


@pytest.fixture
def folder(tmp_path: Path, reticent: CommandLine) -> Path:
    write_firms(tmp_path)
    (tmp_path / "size.hrc").write_text("xy\n@x\n@y\nzw\n@z\n@w\n")
    assert reticent("new-secret", tmp_path / "secret.key").code == 0
    return tmp_path


def plan(folder: Path, name: str, dimensions: str = '["ind", "size"]', minimum: int = 3) -> Path:
    path = folder / f"{name}.toml"
    path.write_text(PLAN.format(name=name, dimensions=dimensions, minimum=minimum))
    return path


def listed(reticent: CommandLine, folder: Path) -> list[str]:
    ran = reticent("ledger", "list", folder / "firms.ledger", "--secret", folder / "secret.key", "--json", "-")
    return [one["name"] for one in json.loads(ran.out)]


def test_a_table_that_opens_an_earlier_one_is_refused_and_named(reticent: CommandLine, folder: Path) -> None:
    assert reticent("release", plan(folder, "first")).code == 0
    open_one = reticent("release", plan(folder, "second", minimum=1))
    assert open_one.code == 5
    assert "A × z (hidden by first) would be known too well" in open_one.sentence
    assert not (folder / "second.csv").exists()
    assert listed(reticent, folder) == ["first"]


def test_the_other_order_is_refused_too(reticent: CommandLine, folder: Path) -> None:
    assert reticent("release", plan(folder, "second", minimum=1)).code == 0
    ran = reticent("release", plan(folder, "first"))
    assert ran.code == 5
    assert "second" in ran.sentence
    assert not (folder / "first.csv").exists()


def test_a_table_that_keeps_the_secret_is_released(reticent: CommandLine, folder: Path) -> None:
    assert reticent("release", plan(folder, "first")).code == 0
    coarse = plan(folder, "coarse", '["ind"]')
    assert reticent("release", coarse).code == 0, "it follows from what was released"
    assert (folder / "coarse.csv").exists()
    assert listed(reticent, folder) == ["first", "coarse"]


def test_the_same_release_is_recorded_once_and_written_again(reticent: CommandLine, folder: Path) -> None:
    assert reticent("release", plan(folder, "first")).code == 0
    before = (folder / "first.csv").read_bytes()
    (folder / "first.csv").unlink()
    assert reticent("release", folder / "first.toml").code == 0
    assert (folder / "first.csv").read_bytes() == before
    assert listed(reticent, folder) == ["first"]


def test_another_release_of_the_same_name_is_refused(reticent: CommandLine, folder: Path) -> None:
    assert reticent("release", plan(folder, "first")).code == 0
    ran = reticent("release", plan(folder, "first", '["size"]'))
    assert ran.code == 2
    assert "recorded already" in ran.sentence


def test_a_release_is_not_called_like_a_table_of_another(reticent: CommandLine, folder: Path) -> None:
    """The first table of a release x is "x (1)" in the ledger; what is said of one would be said of the other."""
    ran = reticent("release", plan(folder, "first (1)"))
    assert ran.code == 2
    assert "leave out the number in brackets" in ran.sentence
    assert listed(reticent, folder) == []


def test_with_a_ledger_only_release_writes(reticent: CommandLine, folder: Path) -> None:
    ran = reticent("table", plan(folder, "first"))
    assert ran.code == 0
    assert "`reticent release` does both" in ran.out
    assert not (folder / "first.csv").exists()
    assert listed(reticent, folder) == []


def test_check_records_nothing(reticent: CommandLine, folder: Path) -> None:
    ran = reticent("release", plan(folder, "first"), "--check")
    assert ran.code == 0
    assert not (folder / "first.csv").exists()
    assert listed(reticent, folder) == []


def test_changed_data_are_noticed(reticent: CommandLine, folder: Path) -> None:
    assert reticent("release", plan(folder, "first")).code == 0
    data = folder / "firms.csv"
    data.write_text(data.read_text().replace(",100", ",101", 1))
    ran = reticent("release", plan(folder, "coarse", '["ind"]'))
    assert ran.code == 8
    assert "was other data when it was first used" in ran.sentence


def test_a_ledger_of_other_data_is_refused(reticent: CommandLine, folder: Path) -> None:
    assert reticent("release", plan(folder, "first")).code == 0
    path = plan(folder, "other")
    path.write_text(path.read_text() + 'dataset = "hospital"\n')
    ran = reticent("release", path)
    assert ran.code == 8
    assert "belongs to another data set" in ran.sentence


def test_a_content_that_was_changed_closes_the_ledger(reticent: CommandLine, folder: Path) -> None:
    assert reticent("release", plan(folder, "first")).code == 0
    (blob,) = (folder / "firms.ledger.blobs").iterdir()
    blob.write_bytes(blob.read_bytes()[:-3])
    for ran in (
        reticent("release", plan(folder, "coarse", '["ind"]')),
        reticent("ledger", "verify", folder / "firms.ledger", "--secret", folder / "secret.key"),
    ):
        assert ran.code == 8
        assert "missing or damaged" in ran.sentence


def test_a_revoked_release_stays_known(reticent: CommandLine, folder: Path) -> None:
    assert reticent("release", plan(folder, "first")).code == 0
    place = (folder / "firms.ledger", "first", "--secret", folder / "secret.key")
    assert reticent("ledger", "revoke", *place, "--reason", "a wrong footnote").code == 0
    assert "a wrong footnote" in reticent("ledger", "show", *place).out
    assert reticent("ledger", "revoke", *place, "--reason", "a wrong footnote").code == 2
    assert reticent("release", plan(folder, "second", minimum=1)).code == 5


def test_a_backup_comes_back_and_an_older_one_does_not(reticent: CommandLine, folder: Path) -> None:
    ledger = folder / "firms.ledger"
    assert reticent("release", plan(folder, "first")).code == 0
    assert reticent("ledger", "backup", ledger, folder / "kept").code == 0
    assert reticent("ledger", "restore", folder / "kept", ledger).code == 2, "a ledger that is there is never replaced"
    assert reticent("release", plan(folder, "coarse", '["ind"]')).code == 0
    ledger.unlink()
    assert reticent("ledger", "restore", folder / "kept", ledger).code == 0
    ran = reticent("ledger", "verify", ledger, "--secret", folder / "secret.key")
    assert ran.code == 8
    assert "older copy" in ran.sentence


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('secret = "secret.key"\n', "a ledger needs a secret"),
        ('path = "firms.ledger"\n', "path"),
        ('name = "first"\n', "name"),
    ],
)
def test_what_a_ledger_needs(reticent: CommandLine, folder: Path, text: str, words: str) -> None:
    path = plan(folder, "first")
    path.write_text(path.read_text().replace(text, "", 1))
    ran = reticent("release", path)
    assert ran.code == 2
    assert words in ran.sentence


def test_a_plan_without_a_ledger_names_the_option(reticent: CommandLine, folder: Path) -> None:
    path = plan(folder, "first")
    path.write_text(path.read_text().split("[ledger]")[0])
    assert "--ledger" in reticent("release", path).sentence
    ran = reticent("release", path, "--ledger", folder / "firms.ledger", "--name", "by hand")
    assert ran.code == 0
    assert listed(reticent, folder) == ["by hand"]


def test_weighted_sums_are_not_certified(reticent: CommandLine, folder: Path) -> None:
    """What they tell of the values themselves is not judged, so they leave only with a reason."""
    data, schema = folder / "firms.csv", folder / "firms.schema.toml"
    head, *rows = data.read_text().splitlines()
    data.write_text("\n".join([f"{head},weight", *(f"{row},{2 + place % 3}" for place, row in enumerate(rows))]) + "\n")
    schema.write_text(schema.read_text() + '[[variable]]\nname = "weight"\nrole = "weight"\nkind = "numeric"\n')
    path = plan(folder, "first")
    path.write_text(path.read_text().replace("[output]", "weighted = true\n\n[output]"))
    ran = reticent("release", path)
    assert ran.code == 5
    assert "not certified" in ran.sentence
    assert not (folder / "first.csv").exists()
    path.write_text(path.read_text() + 'accept_uncertified = "an agreed exception"\n')
    assert reticent("release", path).code == 0


def test_a_name_that_is_taken_is_refused_before_anything_is_judged(reticent: CommandLine, folder: Path) -> None:
    """Judged under its own name, a release would not be judged with the one that has it."""
    assert reticent("release", plan(folder, "first")).code == 0
    ran = reticent("release", plan(folder, "first", minimum=1), "--check")
    assert ran.code == 2
    assert "recorded already" in ran.sentence


def test_a_safe_verdict_is_proved_anew(reticent: CommandLine, folder: Path) -> None:
    assert reticent("release", plan(folder, "first")).code == 0
    judged = judged_view(plan(folder, "coarse", '["ind"]'))
    assert judged["proved"] > 0
    assert (
        "proof of the pattern",
        "for 0 of 0 unsafe cells and sums of cells two possible tables were found, far enough apart",
    ) in judged["proofs"]
    assert [one["title"] for one in judged["reports"]] == ["turnover: ind"]
    refused = judged_view(plan(folder, "second", minimum=1))
    assert refused["proved"] is None
    assert "first" in refused["exposures"][0]["releases"]
