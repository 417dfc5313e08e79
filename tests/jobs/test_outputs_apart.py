"""No command writes over a file that it reads, by whichever name; it says so before any work, and nothing changes."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from command_line import CommandLine
from reticent.base.errors import DataError, ParameterError
from reticent.io.places import check_apart, check_places

DATA = "sex,region,value\n" + "m,N1,5\nf,N2,7\nm,S1,9\nf,S2,4\n" * 5
SCHEMA = """\
[[variable]]
name = "sex"
role = "key"
[[variable]]
name = "region"
role = "key"
hierarchy = "region.csv"
[[variable]]
name = "value"
kind = "numeric"
"""
FILE_PLAN = """\
[data]
path = "people.csv"
schema = "schema.toml"
secret = "secret.key"
[risk]
most = 1.0
[[step]]
method = "local-suppression"
k = 2
[output]
path = "safe.csv"
public_report = "public.html"
report = "report.html"
summary = "summary.json"
schema = "safe.toml"
"""
TABLE_PLAN = """\
[data]
path = "people.csv"
schema = "schema.toml"
[[table]]
dimensions = ["sex", {variable = "region", hierarchy = "tree.hrc"}]
response = "value"
a_priori = "known.hst"
rules = [{type = "p-percent", p = 10}]
previous = "last.csv"
[[table]]
dimensions = ["sex"]
response = "value"
released = "earlier.csv"
[output]
path = "table.csv"
public_report = "public.html"
report = "report.html"
summary = "summary.json"
"""
EXPLORE = """\
[data]
path = "people.csv"
schema = "schema.toml"
secret = "secret.key"
[[candidate]]
method = "local-suppression"
k = 2
[output]
plan = "found.toml"
table = "table.csv"
report = "report.html"
state = "state.jsonl"
masked = "masked.csv"
"""
LOG_PLAN = """\
[data]
path = "people.csv"
user = "sex"
query = "region"
secret = "secret.key"
[taxonomy]
path = "tree.hrc"
[scrub]
names = "names.txt"
[output]
path = "safe.csv"
report = "report.html"
summary = "summary.json"
"""
GAME = '[game]\n[output]\nreport = "report.html"\nsummary = "summary.json"\n'
DELEGATION = """\
[data]
path = "people.csv"
schema = "schema.toml"
[columns.value]
low = 0
high = 10
[expressions]
"total" = "sum(value)"
[files]
keys = "owner.keys"
receipt = "receipt.json"
request = "request.bin"
response = "response.bin"
[output]
report = "report.html"
summary = "summary.json"
"""
PLANS = {
    "protect": (FILE_PLAN, ("people.csv", "schema.toml", "secret.key", "region.csv", "plan.toml")),
    "table": (TABLE_PLAN, ("people.csv", "schema.toml", "tree.hrc", "known.hst", "last.csv", "earlier.csv", "plan.toml")),
    "explore": (EXPLORE, ("people.csv", "schema.toml", "secret.key", "region.csv", "plan.toml")),
    "querylog": (LOG_PLAN, ("people.csv", "secret.key", "tree.hrc", "names.txt", "plan.toml")),
    "game": (GAME, ("plan.toml",)),
    "delegate": (DELEGATION, ("people.csv", "schema.toml", "region.csv", "plan.toml")),
}  # fmt: skip
COMMANDS = {"delegate": ("delegate", "keys")}


@pytest.fixture
def reticent(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    return CommandLine(capsys, monkeypatch)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "people.csv").write_text(DATA)
    (tmp_path / "schema.toml").write_text(SCHEMA)
    (tmp_path / "secret.key").write_text("8f3a61d20c5be94717aa90e4c86f2b53d1097e3cb8254f60a97d1ce2305b84f6\n")
    (tmp_path / "region.csv").write_text("Total,N,N1\nTotal,N,N2\nTotal,S,S1\nTotal,S,S2\n")
    (tmp_path / "tree.hrc").write_text("N\n@N1\n@N2\nS\n@S1\n@S2\n")
    for name in ("known.hst", "last.csv", "earlier.csv", "names.txt", "problem.jj", "ids.txt"):
        (tmp_path / name).write_text("1\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def written_by(plan: str) -> list[str]:
    """The lines of a plan that name an output."""
    lines = plan.partition("[files]" if "[files]" in plan else "[output]")[2].splitlines()
    return [line for line in lines if "=" in line]


@pytest.mark.parametrize(("door", "target"), [(door, name) for door, (_, names) in PLANS.items() for name in names])
def test_no_output_of_a_plan_is_one_of_its_inputs(door: str, target: str, reticent: CommandLine, folder: Path) -> None:
    """Version 0.1.0 wrote over each of these and ended with exit code 0."""
    if door == "delegate":
        pytest.importorskip("tenseal", reason="delegation: tenseal is not installed")
    plan = PLANS[door][0]
    for line in written_by(plan):
        option = line.partition(" =")[0]
        if option == "path" and Path(target).suffix != ".csv":
            continue  # refused for its ending, where it is
        (folder / "plan.toml").write_text(plan.replace(line, f'{option} = "{target}"'))
        before = contents(folder)
        ran = reticent(*COMMANDS.get(door, (door,)), folder / "plan.toml")
        assert (ran.code, "would destroy it" in ran.err) == (2, True), (option, ran.err)
        assert contents(folder) == before


def test_the_files_of_a_delegation_are_apart(reticent: CommandLine, folder: Path) -> None:
    pytest.importorskip("tenseal", reason="delegation: tenseal is not installed")
    lines = written_by(DELEGATION)
    for line in lines[1:]:
        first = lines[0].partition(" = ")[2]
        (folder / "plan.toml").write_text(DELEGATION.replace(line, f"{line.partition(' =')[0]} = {first}"))
        ran = reticent("delegate", "keys", folder / "plan.toml")
        assert ran.code == 2
        assert "two results would be written" in ran.err


@pytest.mark.parametrize(
    "words",
    [
        ("suppress", "problem.jj", "--json", "problem.jj"),
        ("audit", "problem.jj", "--suppressed", "ids.txt", "--json", "ids.txt"),
        ("audit", "problem.jj", "--suppressed", "1", "--certificate", "problem.jj"),
        ("audit", "plan.toml", "--certificate", "people.csv"),
        ("audit", "plan.toml", "--json", "plan.toml"),
        ("round", "problem.jj", "--base", "5", "--json", "problem.jj"),
        ("round", "problem.jj", "--base", "5", "--secret", "secret.key", "--json", "secret.key"),
        ("adjust", "problem.jj", "--secret", "secret.key", "--json", "secret.key"),
        ("describe", "people.csv", "-o", "people.csv", "--force"),
        ("risk", "people.csv", "-s", "schema.toml", "--json", "schema.toml"),
        ("link", "people.csv", "last.csv", "--json", "last.csv"),
        ("ask", "plan.toml", "SELECT COUNT(*) FROM data", "--user", "a", "--json", "people.csv"),
        ("delegate", "evaluate", "ids.txt", "-o", "ids.txt"),
    ],
)  # fmt: skip
def test_no_option_writes_over_an_input(words: tuple[str, ...], reticent: CommandLine, folder: Path) -> None:
    (folder / "plan.toml").write_text(TABLE_PLAN)
    before = contents(folder)
    ran = reticent(*words)
    assert (ran.code, "would destroy it" in ran.err) == (2, True), ran.err
    assert contents(folder) == before


def test_a_batch_does_not_write_over_what_it_reads(reticent: CommandLine, folder: Path) -> None:
    (folder / "data.asc").write_text("m1 5\n")
    (folder / "data.rda").write_text('sex 1 1\n <RECODEABLE>\n <HIERCODELIST> "tree.hrc"\nv 2 3\n <NUMERIC>\n')
    for target, kind in (("data.asc", 1), ("DATA.RDA", 2), ("data.csv", 5), ("tree.hrc", 1), ("run.arb", 1)):
        (folder / "run.arb").write_text(
            '<OPENMICRODATA> "data.asc"\n<OPENMETADATA> "data.rda"\n<SPECIFYTABLE> "sex"|"v"||\n'
            f'<SAFETYRULE> P(10,1)\n<READMICRODATA>\n<SUPPRESS> MOD(1)\n<WRITETABLE> (1,{kind},,"{target}")\n'
        )
        before = contents(folder)
        ran = reticent("argus", "run", "run.arb")
        assert (ran.code, "would destroy it" in ran.err) == (2, True), ran.err
        assert contents(folder) == before


def _hard(link: Path, to: Path) -> None:
    os.link(to, link)


@pytest.mark.parametrize("make", [lambda link, to: link.symlink_to(to), _hard])
def test_a_link_is_the_file_that_it_leads_to(make: Callable[[Path, Path], None], folder: Path) -> None:
    try:
        make(folder / "other.csv", folder / "people.csv")
    except OSError:
        pytest.skip("this file system has no links")
    with pytest.raises(ParameterError, match="would destroy it"):
        check_apart([folder / "other.csv"], [folder / "people.csv"])


def test_letter_case_and_ways_round_are_seen_through(folder: Path) -> None:
    for name in ("PEOPLE.csv", "./people.csv", f"../{folder.name}/people.csv"):
        with pytest.raises(ParameterError, match="would destroy it"):
            check_places([folder / name], [folder / "people.csv"])
    with pytest.raises(ParameterError, match="two results"):
        check_places([folder / "a.csv", folder / "A.csv"])
    with pytest.raises(DataError, match="does not exist"):
        check_places([folder / "nowhere" / "a.csv"])


def test_fixed_width_brings_its_metadata(folder: Path) -> None:
    (folder / "safe.rda").write_text("sex 1 1\n")
    (folder / "safe_region.hrc").write_text("N\n")
    for name in ("safe.rda", "safe_region.hrc"):
        with pytest.raises(ParameterError, match="would destroy it"):
            check_apart([folder / "safe.asc"], [folder / name])
    check_apart([folder / "safe.csv"], [folder / "safe.rda", folder / "people.csv"])


def test_what_is_apart_is_written(reticent: CommandLine, folder: Path) -> None:
    (folder / "plan.toml").write_text(FILE_PLAN)
    for _ in range(2):  # results of an earlier run may be replaced
        ran = reticent("protect", folder / "plan.toml")
        assert ran.code == 0, ran.err
    assert (folder / "safe.toml").is_file()
