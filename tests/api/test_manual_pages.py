"""Every block of the manual is tried as a reader would: page by page, from top to bottom, on the data of the package.

What the line of a fence may say:

- `python`: run, in one namespace per page;
- `console`: each line after `$ ` is a command; `exit-5` behind it names another exit code than 0;
- `toml name.toml`, `text name.csv`: written to that file, so that later blocks use it;
- `toml`: a part of a plan: it must parse, and each step, candidate and method for tables in it must be accepted;
- `text`: what a screen shows; not tried.
"""

import builtins
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

import reticent
from command_line import CommandLine
from reticent.data.parameters import build
from reticent.data.table_plan import table_plan_from
from reticent.microdata.explore_spec import explore_spec_from_table
from reticent.microdata.mask import METHODS

pytestmark = pytest.mark.slow  # every page of the manual is run
ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"])
FENCE = re.compile(r"^(`{3,}) ?([^\n`]*)\n(.*?)^\1 *$", re.S | re.M)
CODE_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
NOT_PYTHON = {"mean", "var"}
"""Statistics in the notation of the page on delegation."""
LANGUAGES = {"python", "console", "toml", "text"}
ELSEWHERE = {"make", "pip", "mkdir"}
"""Commands that are not ours."""
NOT_HERE = {"open", "demo"}
"""Commands with tests of their own: one waits for a browser, one only repeats what other pages do."""
TABLE_PLAN = {
    "data": {"path": "firms.csv", "schema": "firms.schema.toml"},
    "table": {"dimensions": ["industry", "size"], "response": "turnover"},
    "output": {"path": "table.csv"},
}
WITH_THEIR_OWN_TEST = {"protected-database.md", "masked-file.md", "protected-table.md", "labour-file.md"}
ARGUS_DATA = {"argus-files.md": "argus_mu", "argus-batch.md": "argus_tau/batch/ex1"}
"""Pages for users of ARGUS are tried with the demonstration data of ARGUS, which are not ours to reveal."""


FEWER = {"explore.md": 600, "risk-models.md": 600}
"""Pages that search, or fit many models, are tried with so many people."""
SLOW = {*FEWER, "api.md", "tau-argus.md", "tables.md"}


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the words behind it, its text."""

    language: str
    words: tuple[str, ...]
    text: str


def _blocks(page: Path) -> Iterator[Block]:
    for _, line, text in FENCE.findall(page.read_text(encoding="utf-8")):
        language, *words = line.split() or [""]
        if not language.startswith("{"):
            yield Block(language, tuple(words), text)


def _tried() -> list[Path]:
    own = [page for page in PAGES if page.name not in WITH_THEIR_OWN_TEST and "_build" not in page.parts]
    return [page for page in own if any(_blocks(page))]


def test_every_fence_says_what_it_holds() -> None:
    languages = {(page.name, block.language) for page in PAGES if "_build" not in page.parts for block in _blocks(page)}
    assert {found for found in languages if found[1] not in LANGUAGES} == set()


class Reader:
    """Follows a page: keeps the names of its Python blocks and where its commands are."""

    def __init__(self, folder: Path, reticent: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.reticent, self.monkeypatch = folder, reticent, monkeypatch
        self.names: dict[str, Any] = {}
        monkeypatch.chdir(folder)

    def follow(self, block: Block) -> None:
        """Do what the block says."""
        if block.language in ("toml", "text") and block.words:
            Path(block.words[0]).write_text(block.text, encoding="utf-8")
        elif block.language == "toml":
            _part_of_a_plan(tomllib.loads(block.text), self.folder)
        elif block.language == "python":
            exec(compile(block.text, "page", "exec"), self.names)  # noqa: S102 - the blocks of our own manual
        elif block.language == "console":
            code = int(next((word.removeprefix("exit-") for word in block.words), "0"))
            for line in block.text.splitlines():
                if line.startswith("$ "):
                    self._command(shlex.split(line.removeprefix("$ "), comments=True), code)

    def _command(self, words: list[str], code: int) -> None:
        if words[0] == "reticent" and words[1] not in NOT_HERE:
            ran = self.reticent(*words[1:])
            assert ran.code == code, (words, ran.out, ran.err)
        elif words[0] == "python":
            subprocess.run([sys.executable, ROOT / words[1], *words[2:]], check=True, capture_output=True)
        elif words[0] == "cd":
            self.monkeypatch.chdir(words[1])
        elif words[0] == "mkdir":
            Path(words[1]).mkdir()
        else:
            assert words[0] in {"reticent", *ELSEWHERE}, words


def _part_of_a_plan(part: dict[str, Any], folder: Path) -> None:
    for step in part.get("step", ()):
        if "grc" not in step:
            build(
                METHODS[step["method"]], {name: value for name, value in step.items() if name != "method"}, owner="step"
            )
    if "candidate" in part:
        explore_spec_from_table(part, METHODS, owner="part", folder=folder)
    if {"protect", "attack"} & set(part):
        whole = {name: TABLE_PLAN.get(name, {}) | part.get(name, {}) for name in {*TABLE_PLAN, *part}}
        table_plan_from(whole, owner="part", folder=folder)


@pytest.fixture
def reader(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Reader:
    """A folder with what `reticent demo` gives, a key file and our examples."""
    folder = tmp_path / "work"
    for name in (".", "demo-output"):
        shutil.copytree(str(files("reticent") / "demo_data"), folder / name)
    shutil.copytree(ROOT / "examples", folder / "examples")
    made = Reader(folder, CommandLine(capsys, monkeypatch), monkeypatch)
    assert made.reticent("new-secret", "secret.key").code == 0
    return made


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=pytest.mark.slow if page.name in SLOW else (), id=page.stem) for page in _tried()],
)
def test_a_page_does_what_it_says(page: Path, reader: Reader, request: pytest.FixtureRequest) -> None:
    if page.name in ARGUS_DATA:
        theirs = request.getfixturevalue("shared_data") / ARGUS_DATA[page.name]
        for name in (".", "data"):
            shutil.copytree(theirs, reader.folder / name, dirs_exist_ok=True)
        for job in theirs.glob("*.arb"):
            shutil.copy(job, "job.arb")
    if page.name in FEWER:
        people = reader.folder / "people.csv"
        people.write_text("".join(people.read_text().splitlines(keepends=True)[: FEWER[page.name] + 1]))
    for block in _blocks(page):
        reader.follow(block)


def test_names_of_the_manual_exist() -> None:
    """`mask.Recode`, `rules.Threshold`, `rt.audit`: what a page writes so can be imported so."""
    named = re.compile(r"`(rt|mask|methods|rules)\.(\w+)")
    wrong = [
        (page.name, f"{module}.{name}")
        for page in PAGES
        for module, name in named.findall(page.read_text(encoding="utf-8"))
        if not hasattr(reticent if module == "rt" else getattr(reticent, module), name)
    ]
    assert wrong == []


def _public_names() -> set[str]:
    """What is documented on the page of the Python interface, with the members of classes."""
    named: set[str] = set()
    for module in (reticent, *(getattr(reticent, facade) for facade in ("games", "mask", "methods", "rules"))):
        for name in module.__all__:
            named |= {name, *dir(getattr(module, name))}
    return named


def test_calls_in_the_text_are_public() -> None:
    """`run.why("A", "N")` between the words of a page: what a reader is told to call is documented.

    Names of other tools (`coming-from`) and words in capitals (SQL, batch files) are not ours.
    """
    known = _public_names() | set(dir(builtins)) | NOT_PYTHON
    pages = [page for page in PAGES if not {"_build", "coming-from", "what-we-got-wrong"} & set(page.parts)]
    wrong = [
        (page.name, call)
        for page in pages
        for span in CODE_SPAN.findall(FENCE.sub("", page.read_text(encoding="utf-8")))
        for call in re.findall(r"\b([a-z_]\w*)\(", span)
        if call not in known
    ]
    assert wrong == []


def test_the_page_of_guarantees_is_up_to_date() -> None:
    page = runpy.run_path(str(ROOT / "scripts" / "make_guarantees_page.py"))
    assert page["PAGE"].read_text(encoding="utf-8") == page["page"](), "run: python scripts/make_guarantees_page.py"
