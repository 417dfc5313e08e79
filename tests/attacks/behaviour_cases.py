"""Commands that version 0.1.0 answered wrongly, on plans and batch files; each case writes its files and is run in their folder.

`python -m attacks.behaviour_cases OUT.json` (in `tests`, with the code of some version on the path) stores how each ended.
"""

import contextlib
import io
import json
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path

PLAN = """[data]
path = "d.csv"
schema = "s.toml"
[table]
dimensions = ["v", "u"]
rules = [{ rule = "threshold", minimum = 3 }]
[output]
path = "out.csv"
"""
COUNTS = {("a", "x"): 1, ("a", "y"): 6, ("b", "x"): 5, ("b", "y"): 7, ("c", "x"): 6, ("c", "y"): 4}
RDA = '<SEPARATOR> ";"\nIndustry 2\n  <RECODEABLE>\nRegion 1\n  <RECODEABLE>\nValue 5\n  <NUMERIC>\n'
TABLE = '"Industry""Region"|"Value"|""|""'
FREQUENCIES = '"Industry""Region"|<freq>|""|""'
PROTECT = '<READMICRODATA>\n<SUPPRESS> MOD(1)\n<WRITETABLE> (1,2,,"out.csv")\n'


@dataclass(frozen=True)
class Ended:
    """How the last command of a case ended: its code, what it said, and the files that were new then."""

    code: int
    said: str
    written: list[str]


def _plan(folder: Path, weight: bool) -> list[list[str]]:
    rows = [f"{v},{u},2" for (v, u), number in COUNTS.items() for _ in range(number)]
    (folder / "d.csv").write_text("v,u,w\n" + "\n".join(rows) + "\n")
    role = 'role = "weight"\nkind = "numeric"' if weight else 'kind = "numeric"'
    keys = "".join(f'[[variable]]\nname = "{name}"\nrole = "key"\n' for name in ("v", "u"))
    (folder / "s.toml").write_text(f'{keys}[[variable]]\nname = "w"\n{role}\n')
    method = '[protect]\nmethod = "heuristic"\n' if weight else ""
    (folder / "plan.toml").write_text(PLAN.replace("[output]", f"{method}[output]"))
    return [["table", "plan.toml"]]


def _head(data: str = "data.asc", table: str = TABLE, rule: str = "P(15,1)|FREQ(3,20)") -> str:
    rda = data[:-3] + "rda"
    return f'<OPENMICRODATA> "{data}"\n<OPENMETADATA> "{rda}"\n<SPECIFYTABLE> {table}\n<SAFETYRULE> {rule}\n'


def _batch(folder: Path, job: str, *options: str, data: str = ".") -> list[list[str]]:
    (folder / data).mkdir(exist_ok=True)
    values = {"A1": (60, 50, 40, 30), "A2": (40, 30, 2), "B1": (28, 31, 33), "B2": (100, 3)}
    rows = [(code, region, value) for code, some in values.items() for value in some for region in "NS"]
    (folder / data / "data.asc").write_text("".join(f"{a};{b};{value}\n" for a, b, value in rows))
    (folder / data / "data.rda").write_text(RDA)
    (folder / "job.arb").write_text(job)
    return [["argus", "run", "job.arb", *options]]


def _read_back(folder: Path, mode: int = 0) -> list[list[str]]:
    rule = "FREQ(3,20)"
    first = _batch(folder, _head(table=FREQUENCIES, rule=rule) + '<READMICRODATA>\n<WRITETABLE> (1,5,,"mid.tab")\n')
    (folder / "back.arb").write_text(
        f'<OPENTABLEDATA> "mid.tab"\n<OPENMETADATA> "mid.rda"\n<SPECIFYTABLE> {FREQUENCIES}\n<SAFETYRULE> {rule}\n'
        f'<READTABLE> {mode}\n<SUPPRESS> MOD(1)\n<WRITETABLE> (1,2,,"out.csv")\n'
    )
    return [*first, ["argus", "run", "back.arb"]]


def _elsewhere(folder: Path) -> list[list[str]]:
    """The batch file in one folder, the data in another, and the command in neither of them."""
    _batch(folder, _head() + PROTECT, data="data")
    (folder / "jobs").mkdir()
    (folder / "job.arb").rename(folder / "jobs" / "job.arb")
    return [["argus", "run", "jobs/job.arb", "--data", "data", "--output", "."]]


def _noise_beside(folder: Path) -> list[list[str]]:
    """Metadata in a folder of their own, with the p-table beside them."""
    rows = [f"{code};{region};9;0.{n:02d}7" for n, (code, region) in enumerate([("A", "N"), ("B", "S")] * 20)]
    (folder / "data").mkdir()
    (folder / "meta").mkdir()
    (folder / "data" / "data.asc").write_text("\n".join(rows) + "\n")
    key = 'Key 5\n  <NUMERIC>\n  <DECIMALS> 3\n  <RECORDKEY>\n  <PFILE_FREQ> "freq.txt"\n'
    (folder / "meta" / "data.rda").write_text(RDA + key)
    lines = ["i;j;p;v;p_ij_ub", "0;0;1;0;1", "1;0;0.25;-1;0.25", "1;1;0.5;0;0.75", "1;2;0.25;1;1"]
    (folder / "meta" / "freq.txt").write_text("\n".join(lines) + "\n")
    (folder / "job.arb").write_text(
        f'<OPENMICRODATA> "data/data.asc"\n<OPENMETADATA> "meta/data.rda"\n<SPECIFYTABLE> {FREQUENCIES}\n'
        '<SAFETYRULE> FREQ(2,20)\n<READMICRODATA>\n<SUPPRESS> CKM(1)\n<WRITETABLE> (1,7,,"out.csv")\n'
    )
    return [["argus", "run", "job.arb", "--accept-exposed"]]


def _bundled(folder: Path) -> list[list[str]]:
    """The table plan that comes with the package."""
    for name in ("firms.csv", "firms.schema.toml", "firms.plan.toml"):
        text = (resources.files("reticent") / "demo_data" / name).read_text(encoding="utf-8")
        (folder / name).write_text(text.replace("firms.table.csv", "out.csv"), encoding="utf-8")
    return [["table", "firms.plan.toml"]]


CASES: dict[str, Callable[[Path], list[list[str]]]] = {
    "plan without a method": lambda folder: _plan(folder, weight=False),
    "plan with a declared weight": lambda folder: _plan(folder, weight=True),
    "batch with a relative folder": lambda folder: _batch(folder, _head() + PROTECT, "--data", "data", data="data"),
    "batch with the paths of another machine": lambda folder: _batch(
        folder, _head("C:\\survey\\DATA\\Data.asc") + PROTECT, data="data"
    ),
    "batch in another folder than its data": _elsewhere,
    "p-table beside the metadata": _noise_beside,
    "own intermediate file": _read_back,
    "own intermediate file with totals added up": lambda folder: _read_back(folder, 1),
    "own intermediate file with totals as they are": lambda folder: _read_back(folder, 2),
    "plan of the demonstration": _bundled,
    "holdings that are not there": lambda folder: _batch(
        folder, _head() + PROTECT + '<WRITETABLE> (1,5,HI+,"mid.tab")\n'
    ),
}


def end_of(name: str, folder: Path) -> Ended:
    """Run a case in its folder."""
    from reticent.cli.main import run

    commands, here, arguments = CASES[name](folder), Path.cwd(), sys.argv
    before = {path.name for path in folder.iterdir()}
    code, text = 0, io.StringIO()
    os.chdir(folder)
    try:
        for words in commands:
            sys.argv = ["reticent", *words]
            with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text), contextlib.suppress(SystemExit):
                code = 0
                try:
                    run()
                except SystemExit as ended:
                    code = int(ended.code or 0)
    finally:
        os.chdir(here)
        sys.argv = arguments
    new = sorted({path.name for path in folder.iterdir()} - before)
    return Ended(code, " ".join(text.getvalue().split()), new)


if __name__ == "__main__":
    found = {}
    for name in CASES:
        with tempfile.TemporaryDirectory() as folder:
            found[name] = asdict(end_of(name, Path(folder)))
            found[name]["said"] = found[name]["said"].replace(folder, "…")
    Path(sys.argv[1]).write_text(json.dumps(found, indent=1) + "\n")
