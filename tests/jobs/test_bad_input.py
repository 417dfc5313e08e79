"""Bad input of many kinds, through the real command line: one sentence, the exit code, nothing written, no value shown."""

from pathlib import Path

import pytest

from reference.spoiling import Case, Change, both, call, check, drop, edit, files_up_to, put, snapshot

MARK = "Xq7"  # is in every kind of record value; must never be shown
ROWS = [
    ("1", "a", "m", "34", "N1", "12", "100.5", "2.0"),
    ("1", "b", "f", "31", "N1", "13", "90.0", "2.0"),
    ("2", "c", "f", "77", "S1", "21", "15.0", "3.5"),
    ("3", "d", "m", "50", "S1", "22", "71.0", "1.0"),
]
HEADER = "household,person,sex,age,region,job,income,weight"
SCHEMA = """\
[[variable]]
name = "household"
role = "household-id"
[[variable]]
name = "person"
role = "identifier"
[[variable]]
name = "sex"
role = "key"
missing = ["9"]
[[variable]]
name = "age"
role = "key"
kind = "numeric"
[[variable]]
name = "region"
role = "key"
household = true
[[variable]]
name = "job"
role = "key"
[[variable]]
name = "income"
role = "sensitive"
kind = "numeric"
missing = ["-1"]
[[variable]]
name = "weight"
role = "weight"
kind = "numeric"
"""
PLAN = """\
[data]
path = "people.csv"
schema = "people.toml"
secret = 1
test_secret = true
[risk]
most = 1.0
[[step]]
method = "recode"
variable = "age"
bands = [0, 30, 60]
[output]
path = "safe.csv"
report = "report.html"
summary = "summary.json"
"""
RDA = "sex 1 1 9\n  <RECODABLE>\n  <IDLEVEL> 1\nage 2 2\n  <NUMERIC>\n"
FIXED_PLAN = PLAN.replace("people.csv", "people.asc").replace("people.toml", "people.rda")


def csv(rows: list[tuple[str, ...]] = ROWS, header: str = HEADER) -> str:
    return "\n".join([header, *(",".join(row) for row in rows)]) + "\n"


def cell(row: int, column: int, value: str) -> Change:
    """Change one value of the data."""
    rows = [list(r) for r in ROWS]
    rows[row][column] = value
    return put("people.csv", csv([tuple(r) for r in rows]))


def column(index: int, value: str) -> Change:
    rows = [list(r) for r in ROWS]
    for r in rows:
        r[index] = value
    return put("people.csv", csv([tuple(r) for r in rows]))


def hierarchy(text: str) -> Change:
    return edit("people.toml", 'name = "job"\nrole = "key"\n', f'name = "job"\nrole = "key"\n{text}\n')


RISK = ("risk", "people.csv", "--schema", "people.toml")
DESCRIBE = ("describe", "people.csv")
FIXED = ("risk", "people.asc", "--schema", "people.rda")

CASES = {
    # files that are not what they should be
    "missing data file": Case(drop("people.csv"), 3, "people.csv: there is no such file"),
    "missing plan": Case(drop("plan.toml"), 2, "plan.toml: there is no such file"),
    "plan is a folder": Case(lambda f: (f / "sub").mkdir(), 2, "sub: this is a folder", ("protect", "sub")),
    "data is a folder": Case(edit("plan.toml", "people.csv", "."), 3, "this is a folder"),
    "missing schema": Case(drop("people.toml"), 3, "people.toml: there is no such file"),
    "unknown ending": Case(edit("plan.toml", "people.csv", "plan.toml"), 3, "'.toml' are not known"),
    "wrong encoding": Case(put("people.csv", csv().encode() + b"4,\xe9,f,3,N1,1,1,1\n"), 3, "not UTF-8 text"),
    "utf-16 file": Case(put("people.csv", csv().encode("utf-16")), 3, "not UTF-8 text"),
    "unknown encoding": Case(lambda f: None, 3, "no encoding 'utf-99'", (*DESCRIBE, "--encoding", "utf-99")),
    "binary file as text": Case(put("people.csv", b"\x00\x01\x02" * 50), 3, "not a text file"),
    "empty file": Case(put("people.csv", ""), 3, "people.csv: the file is empty"),
    **{
        f"empty plan, {command}": Case(put("plan.toml", ""), 2, "plan.toml: the file is empty", (command, "plan.toml"))
        for command in ("protect", "table", "audit", "explore", "release")
    },
    "header only": Case(put("people.csv", HEADER + "\n"), 3, "no records"),
    "garbage parquet": Case(
        both(put("people.parquet", "no"), edit("plan.toml", "people.csv", "people.parquet")), 3, "as Parquet"
    ),
    "garbage sav": Case(both(put("people.sav", "no"), edit("plan.toml", "people.csv", "people.sav")), 3, "as .sav"),
    # rows and columns
    "short row": Case(
        put("people.csv", csv() + "5,e,f\n"), 3, "rows that do not: 1 (the first is line 6)"
    ),
    "long row": Case(put("people.csv", csv() + "5,e,f,3,N1,1,1,1,9,9\n"), 3, "every row must have 8 fields"),
    "open quote": Case(put("people.csv", csv() + '5,"e,f,3,N1,1,1,1\n'), 3, "quoted field is not closed"),
    "duplicate column": Case(put("people.csv", csv(header=HEADER.replace("job", "sex"))), 3, "'sex' occurs twice"),
    "column without a name": Case(put("people.csv", csv(header=HEADER.replace("job", ""))), 3, "column 6 has no name"),
    "unknown column, near name": Case(
        put("people.csv", csv(header=HEADER.replace("region", "regoin"))), 3, "Did you mean 'regoin'?"
    ),
    "undescribed column": Case(edit("people.toml", '[[variable]]\nname = "job"\nrole = "key"\n', ""), 3, "column 'job'"),
    "text in a number": Case(cell(2, 6, MARK), 3, "not numbers: 1 (the first is in record 3)"),
    "all-missing key": Case(column(5, ""), 3, "'job' is missing in every record"),
    "all values a missing code": Case(column(2, "9"), 3, "'sex' is missing in every record"),
    # M1
    "missing weight": Case(cell(1, 7, ""), 3, "1 records have a missing or non-positive weight (the first is record 2)"),
    "negative weight": Case(cell(3, 7, "-4"), 3, "every weight must be above 0"),
    "household variable differs": Case(cell(1, 4, "S2"), 3, "'region' differs within 1 households"),
    "household id missing": Case(cell(2, 0, ""), 3, "'household' is missing in 1 records"),
    "no household id": Case(edit("people.toml", 'role = "household-id"', 'role = "other"'), 3, "needs a variable"),
    # schema files
    "role twice": Case(
        edit("people.toml", 'role = "sensitive"\nkind = "numeric"\nmissing = ["-1"]', 'role = "weight"\nkind = "numeric"'),
        3, "only one variable may have the role weight, found 'income' and 'weight'",
    ),
    "variable twice": Case(edit("people.toml", 'name = "job"', 'name = "sex"'), 3, "'sex' occurs twice"),
    "unknown role": Case(edit("people.toml", '"sensitive"', '"sensitiv"'), 2, "Did you mean 'sensitive'?"),
    "unknown fact": Case(edit("people.toml", "missing", "mising"), 2, "unknown name 'mising'. Did you mean 'missing'?"),
    "level out of range": Case(hierarchy("level = 7"), 2, "level must be a whole number from 0 to 3"),
    "weight with missing codes": Case(
        edit("people.toml", 'role = "weight"', 'role = "weight"\nmissing = ["0"]'), 3, "must not have missing codes"
    ),
    "schema without variables": Case(put("people.toml", ""), 2, "describes no variable"),
    "schema is not TOML": Case(put("people.toml", "[[variable]\n"), 2, "not valid TOML"),
    "schema without keys": Case(
        lambda f: (f / "people.toml").write_text(SCHEMA.replace('"key"', '"other"')), 3, "has no keys", RISK
    ),
    "unknown key": Case(lambda f: None, 3, "Did you mean 'region'?", (*RISK, "--keys", "sex,regio")),
    # hierarchies and code lists
    "code with two parents": Case(
        hierarchy('hierarchy = { children = { 1 = ["12", "13"], 2 = ["21", "12"] } }'), 3, "'12' has two parents, '1' and '2'"
    ),
    "hrc with a code twice": Case(
        both(hierarchy('hierarchy = { file = "job.hrc" }'), put("job.hrc", "1\n@12\n2\n@12\n")), 3, "'12' (line 4) is in two"
    ),
    "hrc that jumps": Case(
        both(hierarchy('hierarchy = { file = "job.hrc" }'), put("job.hrc", "1\n@@12\n")), 3, "line 2 is 2 levels deep"
    ),
    "missing hrc": Case(hierarchy('hierarchy = { file = "job.hrc" }'), 3, "job.hrc: there is no such file"),
    "bad digits": Case(hierarchy('hierarchy = { digits = [1, "a"] }'), 2, "digits must be a list of whole numbers"),
    "two kinds of hierarchy": Case(hierarchy('hierarchy = { digits = [1], file = "x" }'), 2, "exactly one of"),
    "ragged ARX hierarchy": Case(
        both(hierarchy('hierarchy = { file = "job.csv" }'), put("job.csv", "12;1;*\n13;1\n")), 3, "row 2 has 2 levels"
    ),
    "missing code list": Case(hierarchy('codes = "job.cdl"'), 3, "job.cdl: there is no such file"),
    # plans
    "plan is not TOML": Case(put("plan.toml", "[data\n"), 2, "not valid TOML"),
    "plan is not UTF-8": Case(put("plan.toml", b"# \xff\n"), 2, "not UTF-8"),
    "no data section": Case(put("plan.toml", "[output]\n"), 2, "section [data] is missing"),
    "unknown section": Case(edit("plan.toml", "[output]", "[outputs]"), 2, "Did you mean 'output'?"),
    "unknown step": Case(edit("plan.toml", '"recode"', '"recoed"'), 2, "no method 'recoed'. Did you mean 'recode'?"),
    "step without method": Case(edit("plan.toml", 'method = "recode"\n', ""), 2, "step 1 has no method"),
    "misspelt option": Case(edit("plan.toml", "bands", "band"), 2, "unknown option 'band'. Did you mean 'bands'?"),
    "option of the wrong kind": Case(edit("plan.toml", "[0, 30, 60]", '"x"'), 2, "must be a list, got a text"),
    "missing option": Case(edit("plan.toml", 'variable = "age"\n', ""), 2, "'variable' is missing"),
    "unknown variable in a step": Case(edit("plan.toml", '"age"', '"agee"'), 3, "Did you mean 'age'?"),
    "codes left over": Case(
        both(edit("plan.toml", "bands = [0, 30, 60]", 'map = { m = "1" }'), edit("plan.toml", '"age"', '"sex"')), 3, "sex"
    ),
    "level without hierarchy": Case(edit("plan.toml", "bands = [0, 30, 60]", "level = 1"), 3, "needs a hierarchy"),
    "missing grc": Case(edit("plan.toml", "bands = [0, 30, 60]", 'grc = "a.grc"'), 3, "a.grc: there is no such file"),
    "grc without a colon": Case(
        both(edit("plan.toml", "bands = [0, 30, 60]", 'grc = "a.grc"'), put("a.grc", "1: -30\n2 31-\n")), 3, "line 2 must have"
    ),
    # secrets and outputs
    "missing secret": Case(edit("plan.toml", "secret = 1", 'secret = "k.key"'), 2, "reticent new-secret"),
    "bad secret": Case(
        both(edit("plan.toml", "secret = 1", 'secret = "k.key"'), put("k.key", "not hex")), 2, "64 hexadecimal digits"
    ),
    "short secret": Case(both(edit("plan.toml", "secret = 1", 'secret = "k.key"'), put("k.key", "ab12")), 2, "it has 4"),
    "output folder missing": Case(edit("plan.toml", '"report.html"', '"no/report.html"'), 3, "does not exist; make it first"),
    "output ending unknown": Case(edit("plan.toml", '"safe.csv"', '"safe.xyz"'), 2, "path must end in one of"),
    "output twice": Case(edit("plan.toml", '"report.html"', '"safe.csv"'), 2, "two results would be written to safe.csv"),
    "no output": Case(put("plan.toml", PLAN.split("[output]")[0]), 2, "[output] names no file"),
    "schema file exists": Case(put("people.schema.toml", SCHEMA), 2, "--force", DESCRIBE),
    "describe into nowhere": Case(lambda f: None, 3, "does not exist", (*DESCRIBE, "-o", "no/where.toml")),
    "starter folder not empty": Case(lambda f: None, 2, "must be new or empty", ("new", ".")),
    "guessable secret": Case(edit("plan.toml", "test_secret = true\n", ""), 2, "whole number that can be guessed"),
    "patterned secret": Case(
        both(edit("plan.toml", "secret = 1\ntest_secret = true", 'secret = "k.key"'), put("k.key", "ab" * 32)),
        2,
        "follows a pattern",
    ),
    "test secret in words": Case(edit("plan.toml", "test_secret = true", 'test_secret = "yes"'), 2, "true or false"),
    "secret file exists": Case(put("k.key", "ab"), 2, "never replaced", ("new-secret", "k.key")),
    # ARGUS files
    "unreadable rda line": Case(put("people.rda", RDA.replace("age 2 2", "age two 2")), 3, "line 4 (age): it must read", FIXED),
    "rda without variables": Case(put("people.rda", "// nothing\n"), 3, "describes no variable", FIXED),
    "rda with a bad number": Case(put("people.rda", RDA.replace("IDLEVEL> 1", "IDLEVEL> x")), 3, "line 3 (sex)", FIXED),
    "lines too short": Case(put("people.asc", "m34\nf\n"), 3, "column 2; lines that end before it: 1", FIXED),
    "fixed width without rda": Case(lambda f: None, 3, "needs its .rda", ("risk", "people.asc")),
    "free format, wrong number of fields": Case(
        put("people.rda", '<SEPARATOR> ","\n' + RDA.replace("sex 1 1", "sex 1").replace("age 2 2", "age 2")), 3,
        "the first record has 1 fields, the metadata describe 2", FIXED,
    ),
    # databases
    "database without a query": Case(edit("plan.toml", '"people.csv"', '"sqlite:///x.db"'), 2, "needs a query"),
    "database that is none": Case(
        edit("plan.toml", 'path = "people.csv"', 'path = "nosuch://x"\nquery = "select 1"'), 3, "not one SQLAlchemy knows"
    ),
    "query that fails": Case(
        edit("plan.toml", 'path = "people.csv"', 'path = "sqlite://"\nquery = "select * from nothing"'), 3, "query failed"
    ),
    # the command itself
    "unknown command": Case(lambda f: None, 2, "No such command", ("protekt", "plan.toml")),
    "unknown option": Case(lambda f: None, 2, "No such option", (*RISK, "--treshold", "2")),
    "parameter out of range": Case(lambda f: None, 2, "threshold", (*RISK, "--threshold", "0")),
    "missing argument": Case(lambda f: None, 2, "Missing argument", ("protect",)),
}  # fmt: skip


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small project that runs; each case spoils it."""
    (tmp_path / "people.csv").write_text(csv())
    (tmp_path / "people.toml").write_text(SCHEMA)
    (tmp_path / "plan.toml").write_text(PLAN)
    (tmp_path / "people.rda").write_text(RDA)
    (tmp_path / "people.asc").write_text("m34\nf31\nf77\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_project_runs(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the cases spoil is right at first."""
    assert call(monkeypatch, "protect", "plan.toml") == 0
    lines = (project / "safe.csv").read_text().splitlines()[1:]
    assert "m,30-59,N1,12,100.5,2.0" in [
        line.partition(",")[2] for line in lines
    ]  # in some order, households renumbered
    assert call(monkeypatch, *RISK) == 0
    assert call(monkeypatch, *FIXED) == 0


@pytest.mark.parametrize("name", list(CASES))
def test_bad_input(
    name: str, project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    check(CASES[name], project, monkeypatch, capfd, hidden=MARK)


def test_ctrl_c_leaves_nothing(
    project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Stopped while the data file is being written: no part of any result stays."""

    def stopped(content: object, place: Path) -> None:
        place.write_text("half a fi")
        raise KeyboardInterrupt

    monkeypatch.setattr("reticent.io.write._write", stopped)
    before = snapshot(project)
    assert call(monkeypatch, "protect", "plan.toml") == 130
    assert capfd.readouterr().err.strip() == "reticent: stopped; nothing was half-written."
    assert snapshot(project) == before


def test_at_least_thirty_kinds() -> None:
    assert len(CASES) >= 30


@pytest.mark.parametrize("output", ["safe.csv", "safe.parquet", "safe.asc", "safe.sav", "safe.dta"])
def test_a_writer_that_fails_half_way(
    project: Path, output: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Nothing is left, not even a part beside it, and what was there before stays."""
    rows = [
        (str(i), f"p{i}", "mf"[i % 2], str(20 + i % 60), "N1", str(10 + i % 37), f"{i * i}.25", f"1.{i}")
        for i in range(250)
    ]
    put("people.csv", csv(rows))(project)
    edit("plan.toml", "safe.csv", output)(project)
    edit("plan.toml", 'report = "report.html"\nsummary = "summary.json"\n', "")(project)
    put(output, "an older file")(project)
    before = snapshot(project)
    assert call(monkeypatch, "protect", "plan.toml") == 0  # compiles what there is to compile
    for path in project.iterdir():
        if str(path) not in before:
            path.unlink()
    put(output, "an older file")(project)
    capfd.readouterr()
    with files_up_to(3_000):
        code = call(monkeypatch, "protect", "plan.toml")
    lines = capfd.readouterr().err.strip().splitlines()
    assert code == 3
    assert len(lines) == 1, lines
    assert lines[0].startswith(f"reticent: {output}: the file cannot be written")
    assert lines[0].endswith("nothing was left behind.")
    assert snapshot(project) == before
