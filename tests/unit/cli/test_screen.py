"""What every command shares: groups in the help, switches anywhere, JSON on standard output, no colour in pipes."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from command_line import CommandLine
from reticent.base import compiled
from reticent.cli.main import COMMAND_MODULES, app
from reticent.cli.screen import switches, tagged, take_switches


@pytest.fixture
def reticent(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[CommandLine]:
    yield CommandLine(capsys, monkeypatch)
    take_switches(())


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text("sex,age\nf,31\nm,44\nf,31\nm,52\n")
    return path


def commands() -> list[tuple[str, object]]:
    """Each command that does something, by the words that call it."""
    found = [(str(command.name), command.callback) for command in app.registered_commands]
    for group in app.registered_groups:
        assert group.typer_instance is not None
        found += [(f"{group.name} {c.name}", c.callback) for c in group.typer_instance.registered_commands]
    return found


@pytest.mark.parametrize("name", [name for name, _ in commands() if name not in ("demo", "open")])
def test_every_command_writes_json(name: str, reticent: CommandLine) -> None:
    shown = reticent(*name.split(), "--help")
    assert "--json" in shown.out


def test_every_command_has_a_heading() -> None:
    panels = {command.rich_help_panel for command in app.registered_commands}
    assert panels | {group.rich_help_panel for group in app.registered_groups} == set(COMMAND_MODULES)


def test_switches_stand_before_or_after_the_command() -> None:
    assert take_switches(["--quiet", "risk", "a.csv"]) == ["risk", "a.csv"]
    assert switches.quiet
    assert take_switches(["risk", "a.csv", "-q", "--debug"]) == ["risk", "a.csv"]
    assert (switches.quiet, switches.debug) == (True, True)
    assert take_switches(["ask", "--", "--quiet"]) == ["ask", "--", "--quiet"]
    assert not switches.quiet


def test_quiet_says_nothing(reticent: CommandLine, people: Path) -> None:
    ran = reticent("describe", people, "--quiet")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert people.with_name("people.schema.toml").exists()


def test_errors_are_said_even_if_quiet(reticent: CommandLine, tmp_path: Path) -> None:
    ran = reticent("risk", tmp_path / "nothing.csv", "--quiet")
    assert ran.code != 0
    assert ran.err


@pytest.mark.parametrize("words", [("--json", "-"), ("--json=-",)])
def test_json_on_standard_output_is_all_there_is(reticent: CommandLine, people: Path, words: tuple[str, ...]) -> None:
    found = json.loads(reticent("describe", people, *words).out)
    assert found["sex"]["records"] == 4
    assert "frequent" not in found["sex"]


@pytest.mark.slow
def test_verbose_logs_stages_on_standard_error(people: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "reticent", "risk", people, "--keys", "sex,age", "--verbose"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "risk: reading" in ran.stderr
    assert "\x1b" not in ran.stdout, "no colour in a pipe"


def test_doctor_finds_what_it_needs(reticent: CommandLine) -> None:
    found = {one["what"]: one for one in json.loads(reticent("doctor", "--json", "-").out)}
    assert found["solver"]["good"] is True
    assert found["numpy"]["good"] is True


def test_brackets_in_names_and_codes_are_shown(
    reticent: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "people.csv"
    path.write_text("[bold]age,sex\n[red]31,f\n44,m\n")
    monkeypatch.setenv("COLUMNS", "200")
    assert "[bold]age" in reticent("describe", path).out
    assert "pip install 'reticent[" in tagged("extra", "dim", "pip install 'reticent[duckdb]'").plain


def test_doctor_names_the_extra_that_brings_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    from reticent.jobs import doctor

    monkeypatch.setattr(doctor, "_version", lambda name: None)
    found = {one.what: one for one in doctor.examine()}
    assert found["extra duckdb"].advice == "pip install 'reticent[duckdb]'"
    assert found["numpy"].good is False


def test_kernels_go_to_a_folder_of_their_own_where_nothing_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(compiled.VARIABLE, "restored at the end")
    monkeypatch.delenv(compiled.VARIABLE)
    monkeypatch.setattr(compiled, "_can_write", lambda folder: False)
    compiled.prepare_cache()
    folder = Path(os.environ[compiled.VARIABLE])
    assert folder.stat().st_mode & 0o077 == 0
    assert not compiled.compiled()


def test_a_given_cache_folder_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(compiled.VARIABLE, str(tmp_path))
    compiled.prepare_cache()
    assert compiled.kernel_folder() == tmp_path
    assert not compiled.compiled()
    (tmp_path / "kernel.nbi").touch()
    assert compiled.compiled()


def test_the_first_run_says_that_it_compiles(
    reticent: CommandLine, people: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(compiled.VARIABLE, str(tmp_path / "empty"))
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    assert compiled.NOTICE in " ".join(reticent("risk", people, "--keys", "sex").err.split())
