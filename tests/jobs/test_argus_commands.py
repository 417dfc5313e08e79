"""Every command of tau-ARGUS batch files through `reticent argus run`: what it does, and what a wrong line says."""

import csv
from pathlib import Path

import pytest

from command_line import CommandLine, Ran
from reticent.io.jj import read_jj

RECORDS = [
    ("A1", "N", "s", 100, 1, 0, 1), ("A1", "N", "m", 3, 1, 0, 1), ("A1", "N", "s", 2, 1, 0, 2), ("A2", "S", "m", 40, 2, 1, 3),
    ("A2", "S", "s", 30, 2, 0, 3), ("A2", "S", "m", 30, 1, 0, 4), ("A2", "N", "s", 25, 1, 0, 5), ("A2", "N", "m", 25, 1, 2, 6),
    ("B1", "N", "s", 30, 1, 0, 7), ("B1", "N", "m", 28, 3, 0, 7), ("B1", "N", "m", 31, 1, 0, 8), ("B1", "S", "s", 60, 1, 0, 9),
    ("B1", "S", "s", 50, 1, 0, 9), ("B1", "S", "m", 40, 1, 0, 10), ("A1", "S", "m", 33, 1, 0, 11), ("A1", "S", "s", 35, 1, 0, 12),
    ("A1", "S", "s", 31, 1, 0, 13), ("A2", "N", "s", 27, 1, 0, 14), ("A1", "X", "s", 9, 1, 0, 15),
]  # fmt: skip
RDA = """<SEPARATOR> ";"
Industry 2
  <RECODEABLE>
  <TOTCODE> "All"
  <HIERARCHICAL>
  <HIERLEVELS> 1 1
  <DISTANCE> 1 3 5 7 9
Region 1 X
  <RECODEABLE>
Size 1
  <RECODEABLE>
Value 5
  <NUMERIC>
Weight 2
  <NUMERIC>
  <WEIGHT>
Request 1
  <REQUEST> "1" "2"
{holding}
"""
HEAD = """<LOGBOOK> "run.log"
<OPENMICRODATA> "data.asc"
<OPENMETADATA> "data.rda"
<SPECIFYTABLE> "Industry""Region"|"Value"||
<SAFETYRULE> P(15,1)|FREQ(3,20)
<READMICRODATA>
"""


@pytest.fixture
def reticent(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    return CommandLine(capsys, monkeypatch)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = [";".join(map(str, record)) for record in RECORDS]
    (tmp_path / "data.asc").write_text("\n".join(lines) + "\n")
    (tmp_path / "data.rda").write_text(RDA.format(holding="Firm 2"))
    (tmp_path / "held.rda").write_text(RDA.format(holding="Firm 2\n  <HOLDING>"))
    return tmp_path


def batch(reticent: CommandLine, folder: Path, text: str, *options: str) -> Ran:
    """Run a batch text, with a secret for what draws."""
    (folder / "run.arb").write_text(text)
    (folder / "office.key").write_text("8f3a61d20c5be94717aa90e4c86f2b53d1097e3cb8254f60a97d1ce2305b84f6")
    return reticent("argus", "run", folder / "run.arb", "--secret", folder / "office.key", *options)


def rows(path: Path, separator: str = ",") -> list[list[str]]:
    """The rows of a file."""
    with path.open() as file:
        return list(csv.reader(file, delimiter=separator))


# ------------------------------------------------------------------ commands without a table


@pytest.mark.parametrize(
    "line", ["// words", "\\\\ words", "<COMMENT> words", "<comment> words", "", "<SILENT>"], ids=str
)  # fmt: skip
def test_lines_that_do_nothing(reticent: CommandLine, folder: Path, line: str) -> None:
    ran = batch(reticent, folder, f"{line}\n{HEAD}")
    assert ran.code == 0, ran.err
    assert "READMICRODATA: 19 records." in ran.out


@pytest.mark.parametrize("solver", ["FREE", "CPLEX", 'XPRESS,"licence.txt"'])
def test_solvers_need_no_licence(reticent: CommandLine, folder: Path, solver: str) -> None:
    ran = batch(reticent, folder, f"<SOLVER> {solver}\n")
    assert ran.code == 0
    assert f"SOLVER {solver.split(',')[0]}: the built-in solver is used; no licence is needed." in ran.out


def test_logbook_and_version(reticent: CommandLine, folder: Path) -> None:
    ran = batch(reticent, folder, HEAD + '<VERSIONINFO> "version.txt"\n')
    assert ran.code == 0
    assert (folder / "version.txt").read_text().startswith("reticent ")
    assert "READMICRODATA: 19 records.\n" in (folder / "run.log").read_text()
    assert "version.txt" in ran.out


def test_output_goes_where_it_is_asked_to(reticent: CommandLine, folder: Path) -> None:
    (folder / "out").mkdir()
    text = HEAD + '<WRITETABLE> (1,3,AS+,"C:\\elsewhere\\out.txt")\n'
    ran = batch(reticent, folder, text, "--output", str(folder / "out"))
    assert ran.code == 0, ran.err
    assert (folder / "out" / "out.txt").exists()
    assert (folder / "out" / "run.log").exists()


def test_clear_forgets_tables_but_not_the_log(reticent: CommandLine, folder: Path) -> None:
    first = HEAD + '<WRITETABLE> (1,3,AS+,"one.txt")\n<CLEAR>\n'
    second = HEAD.split("\n", 1)[1].replace('"Industry""Region"', '"Size"') + '<WRITETABLE> (1,3,AS+,"two.txt")\n'
    ran = batch(reticent, folder, first + second)
    assert ran.code == 0, ran.err
    assert len(rows(folder / "two.txt")) == 3
    log = (folder / "run.log").read_text()
    assert log.count("READMICRODATA") == 2
    assert "CLEAR: data, metadata and tables are forgotten" in log
    assert "one.txt" in ran.out
    wrong = batch(reticent, folder, first + '<WRITETABLE> (1,3,AS+,"two.txt")\n')
    assert "run.arb, line 9: there is no table 1; 0 are specified." in wrong.sentence


def test_go_interactive_ends_the_batch(reticent: CommandLine, folder: Path) -> None:
    ran = batch(reticent, folder, HEAD + '<GOINTERACTIVE>\n<WRITETABLE> (1,3,AS+,"out.txt")\n')
    assert ran.code == 0
    assert "GOINTERACTIVE: there is no window; the batch ends here." in ran.out
    assert "Table 1: Table Industry × Region, Value: 24 cells, 3 empty, 4 unsafe." in ran.out
    assert not (folder / "out.txt").exists()


@pytest.mark.parametrize("name", ["COVER", "ANCO", "JJ"])
def test_internal_commands_are_refused(reticent: CommandLine, folder: Path, name: str) -> None:
    ran = batch(reticent, folder, HEAD + f"<{name}>\n")
    assert ran.code == 2
    assert f"run.arb, line 7: <{name}> is internal to tau-ARGUS and cannot be in a batch file." in ran.sentence


# ------------------------------------------------------------------ safety rules


def statuses(reticent: CommandLine, folder: Path, rules: str, *, holdings: bool = False) -> dict[tuple[str, str], str]:
    """tau-ARGUS's status number of each cell of Industry × Region under some rules."""
    text = HEAD.replace("P(15,1)|FREQ(3,20)", rules) + '<WRITETABLE> (1,3,AS+,"out.txt")\n'
    ran = batch(reticent, folder, text.replace('"data.rda"', '"held.rda"') if holdings else text)
    assert ran.code == 0, ran.err
    return {(row[0], row[1]): row[3] for row in rows(folder / "out.txt")}


@pytest.mark.parametrize(
    "rules, cell, expected",
    [
        ("P(15,1)", ("A1", "N"), "3"),
        ("P(15,1)", ("B1", "N"), "1"),
        ("P(50,2)", ("B1", "N"), "3"),
        ("P(15,50,1)", ("A1", "N"), "3"),
        ("NK(1,90)", ("A1", "N"), "3"),
        ("NK(1,96)", ("A1", "N"), "1"),
        ("FREQ(3,20)", ("A1", "X"), "5"),
        ("FREQ(1,20)", ("A1", "X"), "1"),
        ("FREQ(3,20)|MIS(1)", ("A1", "X"), "1"),
        ("FREQ(3,20)|MIS(0)", ("A1", "X"), "5"),
        ("REQ(30,30,1,20)", ("A2", "S"), "4"),
        ("REQ(50,50,1,20)", ("A2", "S"), "1"),
        ("REQ(50,20,1,20)", ("A2", "N"), "4"),
        ("P(0)|NK(0,0)|FREQ(0,0)", ("A1", "X"), "1"),
        ("MAN(25)", ("A1", "X"), "1"),
        ("", ("A1", "X"), "1"),
    ],
)
def test_rules(reticent: CommandLine, folder: Path, rules: str, cell: tuple[str, str], expected: str) -> None:
    assert statuses(reticent, folder, rules)[cell] == expected


def test_zero_rule(reticent: CommandLine, folder: Path) -> None:
    (folder / "data.asc").write_text((folder / "data.asc").read_text().replace("A1;X;s;9;", "A1;X;s;0;"))
    assert statuses(reticent, folder, "ZERO(5)")["A1", "X"] == "6"
    assert statuses(reticent, folder, "P(15,1)")["A1", "X"] == "1"


@pytest.mark.parametrize(
    "rules, cell, expected",
    [
        ("FREQ(3,20)|FREQ(0,0)", ("B1", "N"), "1"),  # three records, but two firms
        ("FREQ(0,0)|FREQ(3,20)", ("B1", "N"), "5"),
        ("NK(1,60)|NK(0,0)", ("B1", "N"), "1"),
        ("NK(0,0)|NK(0,0)|NK(1,60)", ("B1", "N"), "3"),
        ("P(15,1)|P(0)|P(0)", ("B1", "S"), "1"),
        ("P(0)|P(0)|P(15,1)", ("B1", "S"), "3"),  # two firms: each knows the other
        ("REQ(90,90,0,20)|REQ(60,60,1,20)", ("A2", "S"), "4"),
    ],
)
def test_later_positions_are_for_holdings(
    reticent: CommandLine, folder: Path, rules: str, cell: tuple[str, str], expected: str
) -> None:
    assert statuses(reticent, folder, rules, holdings=True)[cell] == expected


def test_weights_go_into_values_and_counts(reticent: CommandLine, folder: Path) -> None:
    text = HEAD.replace("P(15,1)|FREQ(3,20)", "FREQ(4,20)|WGT({})") + '<WRITETABLE> (1,3,AS+,"out.txt")\n'
    assert batch(reticent, folder, text.format(1)).code == 0
    assert ["A2", "S", "170", "1"] in rows(folder / "out.txt")  # 2·40 + 2·30 + 30, five units
    assert batch(reticent, folder, text.format(0)).code == 0
    assert ["A2", "S", "100", "5"] in rows(folder / "out.txt")


# ------------------------------------------------------------------ recodes


@pytest.mark.parametrize(
    "file, line, codes",
    [
        ("1: N, S\n", '1, Region, "all.grc"', {"Total", "1", "X"}),
        ("1: N\n2: S\n<MISSING> X\n", '1, "Region", "all.grc"', {"Total", "1", "2", "X"}),
        ("<TREERECODE>\nA\n", '1, Industry, "all.grc"', {"All", "A", "B", "B1"}),
        ("", "1, Industry, 1", {"All", "A", "B"}),
    ],
)
def test_recodes(reticent: CommandLine, folder: Path, file: str, line: str, codes: set[str]) -> None:
    (folder / "all.grc").write_text(file)
    ran = batch(reticent, folder, HEAD + f'<RECODE> {line}\n<WRITETABLE> (1,3,AS+,"out.txt")\n')
    assert ran.code == 0, ran.err
    column = 1 if "Region" in line else 0
    assert {row[column] for row in rows(folder / "out.txt")} == codes


@pytest.mark.parametrize(
    "file, line, words",
    [
        ("1 N, S\n", '1, Region, "all.grc"', "line 7: all.grc: line 1 must have the form 'new: code, low-high'"),
        ("<TREERECODE>\nZ\n", '1, Industry, "all.grc"', "line 7: all.grc: code 'Z' is not in the hierarchy"),
        ("", '1, Region, "none.grc"', "line 7: none.grc: there is no such file"),
        ("1: N\n", '1, Size, "all.grc"', "line 7: table 1 has no variable 'Size'"),
        ("1: N\n", '1; Region, "all.grc"', "line 7: <RECODE> needs table number, variable"),
        ("1: N\n", '2, Region, "all.grc"', "line 7: there is no table 2; 1 are specified"),
    ],
)
def test_wrong_recodes(reticent: CommandLine, folder: Path, file: str, line: str, words: str) -> None:
    (folder / "all.grc").write_text(file)
    ran = batch(reticent, folder, HEAD + f"<RECODE> {line}\n")
    assert ran.code in (2, 3)
    assert words in ran.sentence


def test_recode_comes_before_suppress(reticent: CommandLine, folder: Path) -> None:
    ran = batch(reticent, folder, HEAD + "<SUPPRESS> MOD(1)\n<RECODE> 1, Industry, 1\n")
    assert "line 8: <RECODE> comes before <SUPPRESS>; this table is protected already" in ran.sentence


# ------------------------------------------------------------------ methods and their options


@pytest.mark.parametrize(
    "call, said",
    [
        ("GH(1)", []),
        ("GH(1,100)", []),
        (
            "GH(1,75,0,1)",
            ["GH: the size is not needed", "The attacker is taken to know every cell within 75 per cent."],
        ),
        ("MOD(1)", []),
        ("MOD(1,5)", ["MOD: the minutes are for the whole table"]),
        ("MOD(1,5,1,1,0)", []),
        ("MOD(1,5,1,0,0)", ["MOD: single-single and single-multiple are guarded together"]),
        ("MOD(1,5,1,1,1)", []),
        ("MOD(1,5,1,1,1,20000,0.99,1.01)", ["costs are used as they are", "margins are not needed"]),
        ("OPT(1)", []),
        ("OPT(1,1)", []),
        ("CTA(1)", []),
        ("RND(1,20)", []),
        ("RND(1,20,1,1)", []),
        ("RND(1,20,0,1,1,1,1)", ["RND: partitions are not needed", "RND: whatever the stop rule"]),
        ("RND(1,20,0,1,0,2,0)", ["RND: partitions are not needed"]),
    ],
)
def test_methods(reticent: CommandLine, folder: Path, call: str, said: list[str]) -> None:
    ran = batch(reticent, folder, HEAD + f'<SUPPRESS> {call}\n<WRITETABLE> (1,2,,"out.txt")\n')
    assert ran.code == 0, ran.err
    assert f"SUPPRESS {call.split('(')[0]}: ProtectedTable 24 cells" in ran.out
    assert " 0 exposed" in ran.out
    for words in said:
        assert words in ran.out
    written = rows(folder / "out.txt")
    if call.startswith("RND"):
        assert all(int(row[2]) % 20 == 0 for row in written[1:] if row[2] != "-")
    assert "x" in {row[2] for row in written} or call.startswith(("RND", "CTA"))


def test_a_base_that_is_too_small_is_refused(reticent: CommandLine, folder: Path) -> None:
    ran = batch(reticent, folder, HEAD + '<SUPPRESS> RND(1,10)\n<WRITETABLE> (1,2,,"out.txt")\n')
    assert ran.code == 5
    assert "line 8: the attacker recovers 1 cell too closely" in ran.sentence
    assert "Use a larger base" in ran.sentence


def test_network_needs_two_dimensions_and_at_most_one_hierarchical(reticent: CommandLine, folder: Path) -> None:
    flat = HEAD.replace('"Industry""Region"', '"Size""Region"')
    assert batch(reticent, folder, flat + '<SUPPRESS> NET(1)\n<WRITETABLE> (1,2,,"out.txt")\n').code == 0
    ran = batch(reticent, folder, HEAD + "<SUPPRESS> NET(1)\n")
    assert ran.code == 0  # one dimension is hierarchical, as in tau-ARGUS
    three = HEAD.replace('"Industry""Region"', '"Industry""Size""Region"')
    ran = batch(reticent, folder, three + "<SUPPRESS> NET(1)\n")
    assert "line 7: network: needs a table of two dimensions, of which at most one is hierarchical" in ran.sentence


PAIR = """<OPENMICRODATA> "pair.asc"
<OPENMETADATA> "pair.rda"
<SPECIFYTABLE> "Row""Column"|"Value"||
<SAFETYRULE> FREQ(2,{level})
<READMICRODATA>
<SUPPRESS> {call}
<WRITETABLE> (1,2,,"out.txt")
"""


@pytest.fixture
def pair(folder: Path) -> Path:
    """Two firms alone in their cells, in one column: they protect each other against all but each other."""
    single = ["a;1;7", "b;1;8", "c;1;50", "c;1;20", "c;2;51", "c;2;41", "a;2;60", "a;2;61", "b;2;70", "b;2;71"]
    single += ["a;3;80", "a;3;81", "b;3;90", "b;3;91", "c;3;92", "c;3;93"]
    (folder / "pair.asc").write_text("\n".join(single) + "\n")
    (folder / "pair.rda").write_text(
        '<SEPARATOR> ";"\nRow 1\n  <RECODEABLE>\nColumn 1\n  <RECODEABLE>\nValue 2\n  <NUMERIC>\n'
    )
    return folder


@pytest.mark.parametrize("off, on", [("MOD(1,1,0,0,0)", "MOD(1,1,1,1,0)"), ("GH(1,100,0,0)", "GH(1,100,0,1)")])
def test_singletons_can_be_left_unguarded(reticent: CommandLine, pair: Path, off: str, on: str) -> None:
    guarded = batch(reticent, pair, PAIR.format(level=10, call=on))
    assert guarded.code == 0, guarded.err
    assert "4 secondary, 0 exposed; cost 424" in guarded.out
    unguarded = batch(reticent, pair, PAIR.format(level=10, call=off))
    assert unguarded.code == 0, unguarded.err
    assert "2 secondary, 2 exposed; cost 262" in unguarded.out
    assert "singletons are not guarded, as the line says; 2 sole respondents of a cell can work out" in unguarded.out
    assert sum(row[2] == "x" for row in rows(pair / "out.txt")) == 4


@pytest.mark.parametrize("call", ["MOD(1)", "MOD(1,1,1,1,1)", "MOD(1,1,0,0,1)", "MOD(1,1,1,1,0)"])
def test_sums_of_small_cells(reticent: CommandLine, pair: Path, call: str) -> None:
    """Two cells of two firms each in one column: what the four have stays unknown too, whatever the option says."""
    firms = ["a;1;7", "a;1;6", "b;1;8", "b;1;9"]
    others = [row + column for row in "abc" for column in "123" if row + column not in ("a1", "b1")]
    firms += [f"{cell[0]};{cell[1]};{value}" for cell in others for value in (10, 11, 12, 13, 14)]
    (pair / "pair.asc").write_text("\n".join(firms) + "\n")
    text = PAIR.format(level=10, call=call).replace("FREQ(2,", "FREQ(5,")
    ran = batch(reticent, pair, text)
    assert ran.code == 0, ran.err
    assert "1 sums of small cells are kept unknown" in ran.out
    assert ("whatever the minimum frequency option says" in ran.out) == (call == "MOD(1,1,1,1,0)")
    assert "4 secondary, 0 exposed; cost 240" in ran.out


@pytest.mark.parametrize(
    "percent, cost, said", [(100, 424, []), (60, 424, ["within 60 per cent"]), (1, 951, ["2 unsafe cells need wider"])]
)
def test_a_knowing_attacker_needs_more_hidden(
    reticent: CommandLine, pair: Path, percent: int, cost: int, said: list[str]
) -> None:
    """Whoever knows every cell within 1 per cent leaves each of them too little room; more must be hidden together."""
    ran = batch(reticent, pair, PAIR.format(level=40, call=f"GH(1,{percent})"))
    assert ran.code == 0, ran.err
    assert f"0 exposed; cost {cost}" in ran.out
    assert all(words in ran.out for words in said)
    assert ("per cent" in ran.out) == bool(said)


@pytest.mark.parametrize(
    "call, words",
    [
        ("OPT(1,0)", "the time limit of OPT must be more than 0 minutes, got 0"),
        ("MOD(1,0)", "the time limit of MOD must be more than 0 minutes, got 0"),
        ("RND(1,20,0,0)", "the time limit of RND must be more than 0 minutes, got 0"),
        ("RND(1,0)", "RND: base must be above 0, got 0"),
        ("RND(1)", "RND needs 2 to 7 numbers, got 1"),
        ("RND(1,5,-1)", "the steps of RND must be a whole number"),
        ("RND(1,5,0,1,2)", "partitions of RND must be 0 or 1, got 2"),
        ("RND(1,5,0,1,0,9)", "the stop rule of RND must be 0 or 1 or 2 or 3, got 9"),
        ("RND(1,5,0,1,0,2,5)", "the unit cost option of RND must be 0 or 1, got 5"),
        ("GH(1,0)", "the a-priori bounds of GH must be more than 0 per cent, got 0"),
        ("GH(1,75,7)", "the size of GH must be 0 or 1 or 2, got 7"),
        ("GH(1,75,0,3)", "the singleton option of GH must be 0 or 1, got 3"),
        ("MOD(1,5,2)", "the single-single option of MOD must be 0 or 1, got 2"),
        ("MOD(1,5,1,1,1,0)", "the largest scaled cost of MOD must be above 0, got 0"),
        ("MOD(1,,5)", "'1,,5' must be numbers with commas between them"),
        ("MOD(1.5)", "the first number of MOD is a table, 1, 2, … or 0 for linked tables"),
        ("MOD(2)", "there is no table 2; 1 are specified"),
        ("OPT(0)", "linked tables (0) are protected by GH or MOD"),
        ("XXX(1)", "'XXX' is not known here; it must be one of GH, MOD, OPT, NET, RND, CTA, CKM"),
        (
            "INVARIANT(1)",
            "'INVARIANT' is not known here; it must be one of GH, MOD, OPT, NET, RND, CTA, CKM. Other methods",
        ),
        ("RESAMPLE(1)", "and add_up have no command in tau-ARGUS; write a table plan for them"),
        ("RND(1,5) successive", "'successive' after RND(…) is not understood"),
        ("MOD(1) now", "'now' after MOD(…) is not understood"),
        ("MOD 1", "'MOD 1' must have the form NAME(numbers)"),
    ],
)
def test_wrong_methods(reticent: CommandLine, folder: Path, call: str, words: str) -> None:
    ran = batch(reticent, folder, HEAD + f"<SUPPRESS> {call}\n")
    assert ran.code == 2
    assert ran.sentence.startswith("reticent: run.arb, line 7: ")
    assert words in ran.sentence


# ------------------------------------------------------------------ costs


def secondaries(reticent: CommandLine, folder: Path, cost: str) -> str:
    """The line of the log about a suppression with some costs."""
    text = HEAD.replace('|"Value"||', f'|"Value"||{cost}') + "<SUPPRESS> OPT(1,1)\n"
    ran = batch(reticent, folder, text)
    assert ran.code == 0, ran.err
    return next(line for line in ran.out.splitlines() if line.startswith("SUPPRESS"))


def test_costs_and_powers(reticent: CommandLine, folder: Path) -> None:
    def paid(cost: str) -> float:
        return float(secondaries(reticent, folder, cost).split("cost ")[1].split()[0])

    value = paid("")
    assert paid('"Value"') == value
    assert paid('"Value",1') == value
    assert paid('"value"|1') == value
    assert paid("-2") == round(paid("-2"))  # as many as are hidden
    assert paid("-1") == round(paid("-1"))
    assert paid('"Value",0.5') < value
    assert paid('"Value",0') < paid('"Value",0.5')


def test_costs_by_distance(reticent: CommandLine, folder: Path) -> None:
    ran = batch(reticent, folder, HEAD.replace('|"Value"||', '|"Value"||-3') + "<SUPPRESS> OPT(1,1)\n")
    assert ran.code == 0, ran.err
    assert "<DISTANCE>" not in ran.out
    powered = batch(reticent, folder, HEAD.replace('|"Value"||', '|"Value"||-3,0.5') + "<SUPPRESS> OPT(1,1)\n")
    assert "-3: costs by distance are the numbers of <DISTANCE>; λ does not change them." in powered.out
    flat = HEAD.replace('"Industry""Region"|"Value"||', '"Size""Region"|"Value"||-3') + "<SUPPRESS> OPT(1,1)\n"
    without = batch(reticent, folder, flat)
    assert "-3: no variable of the table has <DISTANCE>" in without.out
    (folder / "data.rda").write_text((folder / "data.rda").read_text().replace("1 3 5 7 9", "1 3 x"))
    wrong = batch(reticent, folder, flat)
    assert "data.rda: line 7 (Industry): <DISTANCE> needs five numbers that are not negative." in wrong.sentence


@pytest.mark.parametrize(
    "cost, words",
    [
        ("-4", "line 4: the cost must be a variable, -1 (frequency), -2 (unity) or -3 (distance), got -4"),
        ('"Nothing"', "the metadata have no variable 'Nothing'"),
        ('"Value",-1', "line 4: λ must be one number that is not negative"),
        ('"Value",x', "line 4: 'x' must be numbers"),
    ],
)
def test_wrong_costs(reticent: CommandLine, folder: Path, cost: str, words: str) -> None:
    ran = batch(reticent, folder, HEAD.replace('|"Value"||', f'|"Value"||{cost}') + "<SUPPRESS> OPT(1,1)\n")
    assert ran.code in (2, 3)
    assert words in ran.sentence


# ------------------------------------------------------------------ output


def written(reticent: CommandLine, folder: Path, kind: int, options: str, *, holdings: bool = False) -> Ran:
    """Protect, then write out.txt; the error if that is refused."""
    text = HEAD + f'<SUPPRESS> MOD(1)\n<WRITETABLE> (1,{kind},{options},"out.txt")\n'
    return batch(reticent, folder, text.replace('"data.rda"', '"held.rda"') if holdings else text)


@pytest.mark.parametrize("kind", [2, 3])
def test_cells_by_line(reticent: CommandLine, folder: Path, kind: int) -> None:
    wanted = ("FL-", "FL-SE+", "FL-SE-", "FL-QU-", "FL-QU+", "FL-AS+", "FL+", "FL+AS+QU-", "")
    text = "".join(f'<WRITETABLE> (1,{kind},{options},"{number}.txt")\n' for number, options in enumerate(wanted))
    ran = batch(reticent, folder, HEAD + "<SUPPRESS> MOD(1)\n" + text)
    assert ran.code == 0, ran.err

    def lines(options: str) -> list[str]:
        return (folder / f"{wanted.index(options)}.txt").read_text().splitlines()

    plain = lines("FL-")
    assert len(plain) == 24
    assert plain[0] == '"All","Total",629'
    assert '"A1","N",x' in plain
    assert '"A2","X",-' in plain
    assert len(lines("FL-SE+")) == 21
    assert len(lines("FL-SE-")) == 24
    assert lines("FL-QU-")[0] == "All,Total,629"
    assert lines("FL-QU+") == plain
    assert lines("FL-AS+")[0] == '"All","Total",629,1'
    assert '"A1","N",105,3' in lines("FL-AS+")
    assert '"A2","X",-,14' in lines("FL-AS+")
    assert lines("FL+")[0] == '"Industry","Region","Value"'
    assert lines("FL+AS+QU-")[0] == "Industry,Region,Value,Status"
    assert (lines("") == lines("FL+")) == (kind == 2)  # names are there by default in type 2 only


def test_csv_blocks(reticent: CommandLine, folder: Path) -> None:
    assert written(reticent, folder, 1, "").code == 0
    block = (folder / "out.txt").read_text().splitlines()
    assert block[0] == ',"Total","N","S","X"'
    assert block[1].startswith('"All",629,x,')
    assert written(reticent, folder, 1, "QU-").code == 0
    assert (folder / "out.txt").read_text().splitlines()[0] == ",Total,N,S,X"


def test_sbs(reticent: CommandLine, folder: Path) -> None:
    assert written(reticent, folder, 4, "HL-").code == 0
    assert ["A1", "N", "105", "3", "B", "95.2"] in rows(folder / "out.txt")
    assert ["A1", "X", "9", "1", "B", "100.0"] in rows(folder / "out.txt")
    assert written(reticent, folder, 4, "HL+").code == 0
    assert ["A1", "2", "N", "1", "105", "3", "B", "95.2"] in rows(folder / "out.txt")


def test_intermediate(reticent: CommandLine, folder: Path) -> None:
    def lines(options: str, *, holdings: bool = False) -> list[list[str]]:
        ran = written(reticent, folder, 5, options, holdings=holdings)
        assert ran.code == 0, ran.err
        return rows(folder / "out.txt", ";")

    attack = lines("AR+")
    cell = next(row for row in lines("SE+") if row[:2] == ["A1", "N"])
    assert cell == ["A1", "N", "105", "3", "100", "3", "U", "13.00", "13.00"]  # 15 - 2
    assert len(lines("SE-")) == 24
    assert next(row for row in lines("SO+") if row[:2] == ["A1", "N"]) == ["A1", "N", "105", "U"]
    assert (folder / "out.rda").read_text().count("<MAXSCORE>") == 0
    attacked = next(row for row in attack if row[:2] == ["A1", "N"])
    assert attacked[:-2] == cell
    assert float(attacked[-2]) <= 105 - 13
    assert float(attacked[-1]) >= 105 + 13
    assert next(row for row in attack if row[:2] == ["All", "Total"])[-2:] == ["629", "629"]
    lines("AR+")
    assert "AttackLow" in (folder / "out.rda").read_text()
    held = next(row for row in lines("HI+", holdings=True) if row[:2] == ["B1", "N"])
    assert held[2:6] == ["89", "3", "31", "30"]
    assert held[6:9] == ["2", "58", "31"]  # two firms
    assert "HI+ needs holdings" in written(reticent, folder, 5, "HI+").sentence
    assert (folder / "out_Industry.hrc").read_text() == "A\n@A1\n@A2\nB\n@B1\n"


def test_jj_with_and_without_trivial_levels(reticent: CommandLine, folder: Path) -> None:
    assert written(reticent, folder, 6, "TR-").code == 0
    whole = read_jj(folder / "out.txt")
    assert written(reticent, folder, 6, "TR+").code == 0
    merged = read_jj(folder / "out.txt")
    assert whole.n_cells == 21
    assert merged.n_cells < whole.n_cells  # B1 is all of B, and X has a single firm
    assert set(merged.values) == set(whole.values)
    assert merged.relations.n_rows < whole.relations.n_rows


@pytest.mark.parametrize(
    "option, kind", [("HL+", 1), ("SO+", 2), ("TR-", 3), ("AS+", 4), ("FL+", 5), ("AR+", 6), ("AC+", 3)]
)
def test_options_of_other_types_are_told(reticent: CommandLine, folder: Path, option: str, kind: int) -> None:
    ran = written(reticent, folder, kind, option)
    assert ran.code == 0, ran.err
    assert f"WRITETABLE: {option[:2]} says nothing about output type {kind}." in ran.out


@pytest.mark.parametrize(
    "call, kind, words",
    [
        ("CTA(1)", 4, "type 4 cannot be written for a table that was changed by 'adjust'"),
        ("CTA(1)", 5, "type 5 cannot be written for a table that was changed by 'adjust'"),
        ("RND(1,20)", 6, "type 6 cannot be written for a table that was changed by 'round'"),
        ("MOD(1)", 7, "type 7 is for tables made by the cell key method"),
    ],
)
def test_types_that_a_method_does_not_have(
    reticent: CommandLine, folder: Path, call: str, kind: int, words: str
) -> None:
    ran = batch(reticent, folder, HEAD + f'<SUPPRESS> {call}\n<WRITETABLE> (1,{kind},,"out.txt")\n')
    assert ran.code == 2
    assert "run.arb, line 8: " in ran.sentence
    assert words in ran.sentence


@pytest.mark.parametrize(
    "line, words",
    [
        ('(1,3,AS,"out.txt")', "option 'AS' must be followed by + or -"),
        ('(1,3,ASX+,"out.txt")', "unknown option 'ASX'"),
        ('(1,3,+,"out.txt")', "unknown option ''"),
        ('(1,0,,"out.txt")', "the type of the output must be 1 to 7, got 0"),
        ("(1,3,AS+,out.txt)", "<WRITETABLE> needs (table, type, options"),
        ('1,3,AS+,"out.txt"', "<WRITETABLE> needs (table, type, options"),
        ('(7,3,AS+,"out.txt")', "there is no table 7; 1 are specified"),
    ],
)
def test_wrong_output_lines(reticent: CommandLine, folder: Path, line: str, words: str) -> None:
    ran = batch(reticent, folder, HEAD + f"<WRITETABLE> {line}\n")
    assert ran.code == 2
    assert "run.arb, line 7: " in ran.sentence
    assert words in ran.sentence


# ------------------------------------------------------------------ wrong lines anywhere


@pytest.mark.parametrize(
    "old, new, words",
    [
        ("<READMICRODATA>", "<READMICRODTA>", "line 6: unknown command <READMICRODTA>. Did you mean 'READMICRODATA'?"),
        ("<READMICRODATA>", "READMICRODATA", "line 6: a command starts with its name in angle brackets"),
        ("<READMICRODATA>", "<READMICRODATA> now", "line 6: <READMICRODATA> takes no words, but 'now' follows it"),
        ('"data.asc"', "", "line 2: <OPENMICRODATA> needs one file name"),
        ('"data.asc"', '"data.asc', "line 2: <OPENMICRODATA> needs one file name"),
        ('"run.log"', '"a" "b"', "line 1: <LOGBOOK> needs one file name"),
        ('"data.rda"', '"dota.rda"', "line 3: dota.rda: there is no such file"),
        ("P(15,1)", "P(15", "line 5: 'P(15' must have the form NAME(numbers)"),
        ("P(15,1)", "P(-15,1)", "line 5: the numbers of P must not be negative"),
        ("P(15,1)", "P(15,1.5)", "line 5: the number of respondents in P must be a whole number"),
        ("P(15,1)", "P(15,,1)", "line 5: '15,,1' must be numbers"),
        ("P(15,1)", "P(nan,1)", "line 5: 'nan,1' must be finite numbers"),
        ("P(15,1)", "P(150,1)", "line 5: rule p-percent: p must be above 0 and at most 100"),
        ("P(15,1)", "P(15,1)x", "line 5: 'x' after P is not understood"),
        ("P(15,1)", "WGT(2)", "line 5: WGT must be 0 or 1, got 2"),
        ("P(15,1)", "MIS(7)", "line 5: MIS must be 0 or 1, got 7"),
        ("P(15,1)", "NK(1.5,80)", "line 5: the number of respondents in NK must be a whole number"),
        ("P(15,1)", "NK(1)", "line 5: NK needs 2 numbers, got 1"),
        ('"Industry""Region"', '"Industry"Region"', "line 4: <SPECIFYTABLE> needs"),
        ('|"Value"||', "", "line 4: <SPECIFYTABLE> needs"),
        ('|"Value"||', "|1|2|3|4|5|6", "line 4: <SPECIFYTABLE> needs"),
        ('"Industry""Region"', '"Industry""Regoin"', "the metadata have no variable 'Regoin'. Did you mean 'Region'?"),
        ("<LOGBOOK>", "<SOLVER> GUROBI\n<LOGBOOK>", "line 1: <SOLVER> must be CPLEX, XPRESS, FREE, got 'GUROBI'"),
    ],
)  # fmt: skip
def test_wrong_lines(reticent: CommandLine, folder: Path, old: str, new: str, words: str) -> None:
    text = HEAD + '<WRITETABLE> (1,3,AS+,"out.txt")\n'
    assert old in text
    ran = batch(reticent, folder, text.replace(old, new, 1))
    assert ran.code in (2, 3)
    assert ran.sentence.startswith("reticent: run.arb, line ")
    assert words in ran.sentence
    assert "Traceback" not in ran.err
    assert not (folder / "out.txt").exists()


@pytest.mark.parametrize(
    "text, words",
    [
        ("<READTABLE>\n", "line 1: <READTABLE> needs <OPENTABLEDATA> and <OPENMETADATA> before it"),
        ("<READTABLE> 3\n", "line 1: <READTABLE> takes 0, 1, 1T, 1F or 2, got '3'"),
        ("<READMICRODATA>\n", "line 1: <READMICRODATA> needs <OPENMICRODATA> and <OPENMETADATA> before it"),
        ("<SAFETYRULE> P(10)\n", "line 1: <SAFETYRULE> needs a <SPECIFYTABLE> before it"),
        ('<OPENMETADATA> "data.rda"\n', "line 1: <OPENMETADATA> needs <OPENMICRODATA> or <OPENTABLEDATA> before it"),
        ('<RECODE> 1,Size,"x.grc"\n', "line 1: there is no table 1; 0 are specified"),
        ("<SUPPRESS> MOD(0)\n", "line 1: there is no table; use <SPECIFYTABLE> first"),
        (
            '<OPENMICRODATA> "data.asc"\n<OPENTABLEDATA> "x.tab"\n',
            "line 2: tables come from microdata or from table files",
        ),
        (HEAD + '<OPENMICRODATA> "data.asc"\n', "line 7: <OPENMICRODATA> comes before all tables"),
        (HEAD.replace("<READMICRODATA>\n", "<SUPPRESS> OPT(1)\n"), "the data of this table have not been read"),
        (HEAD.replace("<READMICRODATA>\n", '<APRIORI> "x.hst",1,";"\n'), "line 6: <APRIORI> needs <READMICRODATA>"),
        ("\n", "the batch file has no command"),
    ],
)
def test_commands_out_of_order(reticent: CommandLine, folder: Path, text: str, words: str) -> None:
    ran = batch(reticent, folder, text)
    assert ran.code == 2
    assert words in ran.sentence
