"""Batch files of tau-ARGUS as they come: relative folders, paths of other machines, our own files read back.

Version 0.1.0 looked for `data/data/x.rda` when it was given `--data data`, found no file of which a folder was written
in another case, looked for p-tables in the data folder only, wrote intermediate files of frequency tables and of
single respondents that it could not read back, and said that HI+ needs holdings after other tables had been written.
"""

import itertools
from pathlib import Path

import pytest

from reticent.base.errors import DataError, ParameterError, PlanError
from reticent.io.argus_text import Notes, find_file
from reticent.jobs.argus.run import run_batch

CELLS = {
    ("A1", "N", "s"): (100, 2),
    ("A1", "N", "m"): (3,),
    ("A2", "S", "m"): (40, 30),
    ("A2", "S", "s"): (30,),
    ("A2", "N", "s"): (25, 27),
    ("A2", "N", "m"): (25,),
    ("B1", "N", "s"): (30,),
    ("B1", "N", "m"): (28, 31),
    ("B1", "S", "s"): (60, 50),
    ("B1", "S", "m"): (40,),
    ("A1", "S", "m"): (33,),
    ("A1", "S", "s"): (35, 31),
}
ROWS = [(*codes, value) for codes, values in CELLS.items() for value in values]
RDA = """<SEPARATOR> ";"
Industry 2
  <RECODEABLE>
  <HIERARCHICAL>
  <HIERLEVELS> 1 1
Region 1
  <RECODEABLE>
Size 1
  <RECODEABLE>
Value 5
  <NUMERIC>
"""
TABLE = '"Industry""Region"|"Value"|""|""'
WRITE = '<READMICRODATA>\n<SUPPRESS> MOD(1)\n<WRITETABLE> (1,2,,"{out}")\n'


def head(data: str = "data.asc", rda: str = "data.rda", table: str = TABLE, rule: str = "P(15,1)|FREQ(3,20)") -> str:
    return f'<OPENMICRODATA> "{data}"\n<OPENMETADATA> "{rda}"\n<SPECIFYTABLE> {table}\n<SAFETYRULE> {rule}\n'


def write_data(folder: Path, name: str = "data", rda: str = RDA) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.asc").write_text("".join(";".join(map(str, row)) + "\n" for row in ROWS))
    (folder / f"{name}.rda").write_text(rda)


def test_relative_folders_and_another_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_data(tmp_path / "data")
    (tmp_path / "results").mkdir()
    (tmp_path / "job.arb").write_text(head() + WRITE.format(out="out.csv"))
    monkeypatch.chdir(tmp_path)
    run_batch(Path("job.arb"), data=Path("data"), output=Path("results"))
    first = (tmp_path / "results" / "out.csv").read_text()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    run_batch(Path("../job.arb"), data=Path("../data"), output=Path("."))
    assert (tmp_path / "elsewhere" / "out.csv").read_text() == first


@pytest.mark.parametrize(
    "name",
    [
        "data/data.asc", "DATA\\Data.ASC", "C:\\survey\\2024\\data\\data.asc", "d:/work/DATA/data.asc", ".\\data\\data.asc",
        "\\\\server\\share\\data\\data.asc", "C:\\elsewhere\\data.asc",
    ],
)  # fmt: skip
def test_paths_of_other_machines(name: str, tmp_path: Path) -> None:
    folder = tmp_path if "elsewhere" not in name else tmp_path / "data"
    write_data(tmp_path / "data")
    (tmp_path / "job.arb").write_text(head(name, name[:-3] + "RDA") + WRITE.format(out="C:\\out\\Result.csv"))
    run_batch(tmp_path / "job.arb", data=folder)
    assert (tmp_path / "Result.csv").exists()
    assert find_file(folder, name, Notes()) == tmp_path / "data" / "data.asc"


def test_a_file_that_is_nowhere_is_named_with_its_line(tmp_path: Path) -> None:
    write_data(tmp_path)
    (tmp_path / "job.arb").write_text('<LOGBOOK> "run.log"\n' + head("C:\\x\\dota.asc") + WRITE.format(out="o.csv"))
    with pytest.raises(
        DataError, match=r"job.arb, line 2: dota.asc: there is no such file .* Did you mean 'data.asc'\?"
    ):
        run_batch(tmp_path / "job.arb")
    with pytest.raises(
        DataError, match=r"job.arb: the folder 'nowhere' to read from does not exist; name one that does"
    ):
        run_batch(tmp_path / "job.arb", data=tmp_path / "nowhere")
    assert not (tmp_path / "run.log").exists()


def test_a_folder_that_is_not_there_is_said_although_files_lie_beside_the_batch(tmp_path: Path) -> None:
    write_data(tmp_path)
    (tmp_path / "job.arb").write_text(head() + WRITE.format(out="out.csv"))
    with pytest.raises(DataError, match=r"the folder 'dota' to read from does not exist"):
        run_batch(tmp_path / "job.arb", data=tmp_path / "dota")
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(("flag", "said"), [("", True), ("|WGT(1)", False)])
def test_a_weight_that_a_batch_does_not_use_is_named(flag: str, said: bool, tmp_path: Path) -> None:
    write_data(tmp_path, rda=RDA + "W 3\n  <NUMERIC>\n  <WEIGHT>\n")
    (tmp_path / "data.asc").write_text("".join(";".join(map(str, (*row, 2))) + "\n" for row in ROWS))
    (tmp_path / "job.arb").write_text(head(rule="FREQ(3,20)" + flag) + "<READMICRODATA>\n<SUPPRESS> OPT(1)\n")
    log = run_batch(tmp_path / "job.arb").log
    assert any("the weight W is in the metadata and not used" in line for line in log) == said
    assert not any(line.startswith("MOD:") for line in log)  # OPT has no option of minimum frequency to speak of


def test_p_tables_stand_beside_the_metadata(tmp_path: Path) -> None:
    from reticent.tables.perturb.ptable import ptable_text
    from reticent.tables.perturb.ptable_design import Design, design_ptable

    meta, data = tmp_path / "meta", tmp_path / "data"
    write_data(data)
    meta.mkdir()
    rows = (f"{';'.join(map(str, row))};0.{n:02d}7" for n, row in enumerate(ROWS))
    (data / "data.asc").write_text("\n".join(rows) + "\n")
    rda = RDA + 'Key 5\n  <NUMERIC>\n  <DECIMALS> 3\n  <RECORDKEY>\n  <PFILE_FREQ> "C:\\ptables\\Freq.txt"\n'
    (meta / "data.rda").write_text(rda)
    (meta / "freq.txt").write_text(ptable_text(design_ptable(Design(3, 2.0, 1))))
    (tmp_path / "job.arb").write_text(
        head(rda="meta\\data.rda", table='"Region""Size"|<freq>|""|""', rule="FREQ(2,20)")
        + '<READMICRODATA>\n<SUPPRESS> CKM(1)\n<WRITETABLE> (1,7,,"out.csv")\n'
    )
    run_batch(tmp_path / "job.arb", data=data, accept_exposed=True)
    assert (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("table", "mode"),
    [
        *itertools.product((TABLE, '"Industry""Region"|<freq>|""|""', '"Region"|"Value"|""|""'), "012"),
        ('"Industry""Region""Size"|"Value"|""|""', "0"),
        *(pytest.param('"Industry""Region""Size"|"Value"|""|""', mode, marks=pytest.mark.deep) for mode in "12"),
    ],
)
@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.deep)])
def test_our_own_intermediate_file_reads_back(table: str, mode: str, every: bool, tmp_path: Path) -> None:
    write_data(tmp_path)
    rule = "FREQ(3,20)" if "<freq>" in table else "P(15,1)|FREQ(3,20)"
    written = list(itertools.product(("", "SE+", "AR+", "QU-"), ("", "<SUPPRESS> MOD(1)\n")))
    for options, protect in written if every or table == TABLE else written[int(mode) :: 3]:
        (tmp_path / "a.arb").write_text(
            head(table=table, rule=rule) + f'<READMICRODATA>\n{protect}<WRITETABLE> (1,5,{options},"mid.tab")\n'
        )
        first = run_batch(tmp_path / "a.arb").tables[1]
        (tmp_path / "b.arb").write_text(
            f'<OPENTABLEDATA> "mid.tab"\n<OPENMETADATA> "mid.rda"\n<SPECIFYTABLE> {table}\n<SAFETYRULE> {rule}\n'
            f"<READTABLE> {mode}\n<SUPPRESS> MOD(1)\n"
        )
        second = run_batch(tmp_path / "b.arb").tables[1]
        assert second.table.values[0] == first.table.values[0]
        assert second.problem.primary.sum() == first.problem.primary.sum()
        assert second.exposed == ()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('<WRITETABLE> (1,5,HI+,"b.tab")', "HI\\+ needs holdings"),
        ('<WRITETABLE> (1,7,,"b.tab")', "type 7 is for tables made by the cell key method"),
        ('<WRITETABLE> (2,1,,"b.tab")', "there is no table 2; 1 are specified"),
        ("<SUPPRESS> CTA(1)", "adjust: needs a secret that is kept"),
        ('<APRIORI> "none.hst",1,";"', "none.hst: there is no such file"),
        ('<SUPPRESS> RND(1,50)\n<WRITETABLE> (1,6,,"b.tab")', "type 6 cannot be written"),
        ("<RECODE> 1,Industry,1", "<RECODE> comes before <SUPPRESS>"),
        ("<CLEAR>\n<READMICRODATA>", "<READMICRODATA> needs <OPENMICRODATA>"),
        ("<CLEAR>\n" + head(table='"Regoin"|"Value"||') + "<READMICRODATA>", "have no variable 'Regoin'"),
        ("<CLEAR>\n" + head(rule="P(150,1)"), "p must be above 0"),
        ("<SUPPRESS> OPT(1,0)", "the time limit of OPT must be more than 0 minutes"),
        ("<CLEAR>\n" + head(rule="P(15,1)|WGT(1)") + "<READMICRODATA>", "WGT.1. needs a variable with <WEIGHT>"),
        ("<CLEAR>\n" + head(rule="REQ(10,10,3,10)") + "<READMICRODATA>", "REQ needs a variable with <REQUEST>"),
        ("<SUPPRESS> CKM(1)", "CKM: the metadata must have a variable with <RECORDKEY>"),
        ("<SUPPRESS> OPT(0,1)", "linked tables .0. are protected by GH or MOD"),
        ('<WRITETABLE> (1,3,,"D:\\\\other\\\\OUT.csv")', "two results would be written to OUT.csv"),
        ('<VERSIONINFO> "run.log"', "two results would be written to run.log"),
        ('<LOGBOOK> "out.csv"', "two results would be written to out.csv"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is_written(line: str, words: str, tmp_path: Path) -> None:
    write_data(tmp_path)
    (tmp_path / "job.arb").write_text('<LOGBOOK> "run.log"\n' + head() + WRITE.format(out="out.csv") + line + "\n")
    before = {path.name for path in tmp_path.iterdir()}
    with pytest.raises((PlanError, DataError, ParameterError), match=words):
        run_batch(tmp_path / "job.arb")
    assert {path.name for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("first", ['<LOGBOOK> "{}"', '<VERSIONINFO> "C:\\\\logs\\\\{}"'])
@pytest.mark.parametrize("name", ["data.asc", "DATA.rda", "job.arb"])
def test_what_is_named_first_is_not_written_over_what_is_read_later(first: str, name: str, tmp_path: Path) -> None:
    write_data(tmp_path)
    (tmp_path / "job.arb").write_text(first.format(name) + "\n" + head() + WRITE.format(out="out.csv"))
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(ParameterError, match=r"job.arb, line 1: .*would destroy it"):
        run_batch(tmp_path / "job.arb")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_file_that_the_batch_writes_itself_may_be_read(tmp_path: Path) -> None:
    write_data(tmp_path)
    (tmp_path / "job.arb").write_text(
        head()
        + '<READMICRODATA>\n<WRITETABLE> (1,5,,"mid.tab")\n<CLEAR>\n<OPENTABLEDATA> "mid.tab"\n<OPENMETADATA> "mid.rda"\n'
        f'<SPECIFYTABLE> {TABLE}\n<SAFETYRULE> P(15,1)\n<READTABLE> 0\n<SUPPRESS> MOD(1)\n<WRITETABLE> (1,1,,"out.csv")\n'
    )
    run_batch(tmp_path / "job.arb")
    assert (tmp_path / "out.csv").exists()


FURTHER = {
    "shadow and cost": (
        lambda n, row: (*row, 3 * n + 1, n + 2), RDA + "Shadow 4\n  <NUMERIC>\nCost 4\n  <NUMERIC>\n",
        '"Industry""Region"|"Value"|"Shadow"|"Cost"', "P(15,1)|FREQ(3,20)", "P(15,1)|FREQ(3,20)",
    ),
    "weighted counts": (
        lambda n, row: (*row, (1.2, 1.4, 1.0)[n % 3]), RDA + "W 4\n  <NUMERIC>\n  <DECIMALS> 1\n  <WEIGHT>\n",
        '"Industry""Size"|<freq>|""|""', "FREQ(3,20)|WGT(1)", "FREQ(3,20)",
    ),
    "missing codes": (
        lambda n, row: (row[0], row[1] if n % 5 else "9", *row[2:]), RDA.replace("Region 1\n", 'Region 1 "9"\n'),
        TABLE, "P(15,1)|FREQ(3,20)|MIS(1)", "P(15,1)|FREQ(3,20)|MIS(1)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mode", "012")
@pytest.mark.parametrize("kind", list(FURTHER))
def test_an_intermediate_file_has_all_that_its_rules_look_at(kind: str, mode: str, tmp_path: Path) -> None:
    """Shadow variable, weighted counts and missing codes were left out, so the file was judged by other numbers."""
    change, rda, table, rule, again = FURTHER[kind]
    write_data(tmp_path, rda=rda)
    rows = (";".join(map(str, change(n, row))) for n, row in enumerate(ROWS))
    (tmp_path / "data.asc").write_text("\n".join(rows) + "\n")
    protect = '<SUPPRESS> MOD(1)\n<WRITETABLE> (1,5,,"{}")\n'
    (tmp_path / "a.arb").write_text(head(table=table, rule=rule) + "<READMICRODATA>\n" + protect.format("mid.tab"))
    run_batch(tmp_path / "a.arb")
    (tmp_path / "b.arb").write_text(
        f'<OPENTABLEDATA> "mid.tab"\n<OPENMETADATA> "mid.rda"\n<SPECIFYTABLE> {table}\n<SAFETYRULE> {again}\n'
        f"<READTABLE> {mode}\n{protect.format('again.tab')}"
    )
    run_batch(tmp_path / "b.arb")
    first, second = ((tmp_path / name).read_text().replace(";M;", ";S;") for name in ("mid.tab", "again.tab"))
    assert first == second
    assert (tmp_path / "again.rda").read_text().replace("again", "mid") == (tmp_path / "mid.rda").read_text()
