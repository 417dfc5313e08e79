"""Several responses in one plan, and the pattern of a previous period as a preference."""

import json
from pathlib import Path

import pytest

from command_line import CommandLine
from reticent.base.errors import DataError, ParameterError, PlanError
from reticent.data.table_plan import named_after, read_table_plan
from reticent.io.published import published_text, read_published_table
from reticent.jobs.protect_table import audit_plan, audit_plans, run_table_plan, run_table_plans

# x × k is unsafe; with 33 each, y × l, y × m, z × l … are equally cheap partners
CSV = "a,b,v,w\n" + "\n".join(
    f"{a},{b},{v},{2 * v if a + b != 'yl' else 1}"
    for a in "xyz"
    for b in "klm"
    for v in ((5, 6) if a + b == "xk" else (11, 11, 11))
)
SCHEMA = "".join(f'[[variable]]\nname = "{name}"\nrole = "key"\n' for name in "ab") + "".join(
    f'[[variable]]\nname = "{name}"\nkind = "numeric"\n' for name in "vw"
)
RULE = 'rules = [{ rule = "threshold", minimum = 3, protection = 20 }]'


@pytest.fixture
def reticent(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    return CommandLine(capsys, monkeypatch)


def write(folder: Path, table: str, protect: str = 'method = "optimal"\ncost = "value"\ntime_limit = 10') -> Path:
    (folder / "d.csv").write_text(CSV)
    (folder / "s.toml").write_text(SCHEMA)
    (folder / "office.key").write_text("8f3a61d20c5be94717aa90e4c86f2b53d1097e3cb8254f60a97d1ce2305b84f6")
    (folder / "plan.toml").write_text(
        f'[data]\npath = "d.csv"\nschema = "s.toml"\nsecret = "office.key"\n[table]\ndimensions = ["a", "b"]\n{RULE}\n{table}\n'
        f'[protect]\n{protect}\n[output]\npath = "out.csv"\nsummary = "out.json"\n'
    )
    return folder / "plan.toml"


def test_each_response_is_a_table_of_its_own(tmp_path: Path, reticent: CommandLine) -> None:
    plan = write(tmp_path, 'responses = ["v", "w"]')
    ran = reticent("table", plan)
    assert ran.code == 0
    assert {path.name for path in tmp_path.glob("out*")} == {"out-v.csv", "out-w.csv", "out-v.json", "out-w.json"}
    assert "out-v.csv" in ran.out
    assert "out-w.json" in ran.out
    first, second = run_table_plans(read_table_plan(plan))
    assert (first.table.response, second.table.response) == ("v", "w")
    assert published_text(second.published[0]) == (tmp_path / "out-w.csv").read_text()
    single = run_table_plan(write(tmp_path, 'response = "w"'))
    assert single.published[0].status == second.published[0].status
    assert single.outcome.cost != first.outcome.cost


def test_tables_of_several_responses_keep_both_parts_of_the_sdmx_ending() -> None:
    assert named_after(Path("a/out.sdmx.csv"), "v") == Path("a/out-v.sdmx.csv")
    assert named_after(Path("out.v1.csv"), "v") == Path("out.v1-v.csv")


def test_several_responses_where_one_is_needed(tmp_path: Path, reticent: CommandLine) -> None:
    plan = write(tmp_path, 'responses = ["v", "w"]')
    with pytest.raises(PlanError, match="several responses; name one of v, w"):
        audit_plan(plan)
    with pytest.raises(ParameterError, match="'u'"):
        audit_plan(plan, response="u")
    for option in ("--why", "--what-if"):
        assert "name one of v, w (--response)" in reticent("table", plan, option, "x;k").sentence
    assert "--response says which table" in reticent("table", plan, "--response", "v").sentence
    with pytest.raises(PlanError, match="takes the place of response"):
        read_table_plan(write(tmp_path, 'response = "v"\nresponses = ["v", "w"]'))
    assert not list(tmp_path.glob("out*"))


def test_cells_of_one_of_several_responses_are_explained(tmp_path: Path, reticent: CommandLine) -> None:
    """The cells that guard x × k are those of the response named, and its table is the one explained."""
    plan = write(tmp_path, 'responses = ["v", "w"]')
    second = audit_plan(plan, response="w")
    hidden = next(row["cell"] for row in second.intervals() if row["status"] == "secondary")
    ran = reticent("table", plan, "--why", ";".join(hidden), "--what-if", ";".join(hidden), "--response", "w")
    assert ran.code == 0
    assert " ".join(second.what_if(*hidden).split()) in " ".join(ran.out.split())
    assert ran.out.count(" guards ") == 1
    assert ran.out.index("out-v.csv") < ran.out.index(" guards ") < ran.out.index("out-w.csv")


def test_audit_takes_every_response_in_turn(tmp_path: Path, reticent: CommandLine) -> None:
    plan = write(tmp_path, 'responses = ["v", "w"]', protect='method = "primary-only"')
    first, second = audit_plans(plan)
    assert (first.table.response, second.table.response) == ("v", "w")
    assert first.exposed
    assert second.summary() == audit_plan(plan, response="w").summary()
    ran = reticent("audit", plan, "--json", tmp_path / "all.json", "--certificate", tmp_path / "proof.txt")
    assert ran.code == 0
    assert ran.out.index("response v") < ran.out.index("response w")
    assert json.loads((tmp_path / "all.json").read_text()) == {"v": first.summary(), "w": second.summary()}
    assert {path.name for path in tmp_path.glob("proof*")} == {"proof-v.txt", "proof-w.txt"}
    only = reticent("audit", plan, "--response", "w", "--json", tmp_path / "one.json")
    assert "response v" not in only.out
    assert json.loads((tmp_path / "one.json").read_text()) == second.summary()
    assert not list(tmp_path.glob("out*"))


def test_if_one_response_is_exposed_nothing_is_written(tmp_path: Path, reticent: CommandLine) -> None:
    plan = write(tmp_path, 'responses = ["v", "w"]', protect='method = "primary-only"')
    assert reticent("table", plan).code == 5
    assert not list(tmp_path.glob("out*"))


def test_what_was_hidden_before_is_hidden_rather(tmp_path: Path) -> None:
    plan = write(tmp_path, 'response = "v"\nprevious = "last.csv"')
    for partner in ("yl", "ym", "zl", "zm"):
        row, column = partner
        hidden = {("x", "k"), ("x", column), (row, "k"), (row, column)}
        lines = [f"{a},{b},{'' if (a, b) in hidden else 1},{'hidden' if (a, b) in hidden else 'published'}"
                 for a in "xyz" for b in "klm"]  # fmt: skip
        (tmp_path / "last.csv").write_text("a,b,value,status\n" + "\n".join([*lines, "gone,k,,hidden"]) + "\n")
        result = run_table_plan(plan)
        release = result.published[0]
        now = {codes for codes, state in zip(release.codes, release.status, strict=True) if state == "hidden"}
        assert now == hidden
        assert result.outcome.cost == 99  # what it costs is told as it is, without the preference
        assert result.exposed == ()


def test_a_previous_table_that_does_not_fit(tmp_path: Path) -> None:
    (tmp_path / "last.csv").write_text("b,a,value,status\nk,x,,hidden\n")
    assert read_published_table(tmp_path / "last.csv").dimensions == ("b", "a")
    with pytest.raises(DataError, match="previous: the release has the dimensions b, a, its table a, b"):
        run_table_plan(write(tmp_path, 'response = "v"\nprevious = "last.csv"'))
    (tmp_path / "last.csv").write_text("a,b,value,status\nx,k,,hidden\n")
    with pytest.raises(PlanError, match="the method round does not choose cells to hide"):
        run_table_plan(write(tmp_path, 'response = "v"\nprevious = "last.csv"', protect='method = "round"\nbase = 5'))
