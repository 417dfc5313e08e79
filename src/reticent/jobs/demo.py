# SPDX-License-Identifier: Apache-2.0
"""The job of the demonstration: protect the bundled file and table, and answer queries, each attacked before our eyes."""

import shutil
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from reticent.base.errors import NotProtectedError
from reticent.base.progress import Progress, part, silent
from reticent.jobs.answer_query import answer_query
from reticent.jobs.protect_file import run_file_plan
from reticent.jobs.protect_table import run_table_plan
from reticent.jobs.starter import new_secret
from reticent.microdata.result import FileResult
from reticent.queries.refusals import Answer, Refusal
from reticent.tables.result import ProtectedTable

__all__ = ["FILES", "Demo", "Told", "run_demo"]

FILES = (
    "people.csv",
    "people.schema.toml",
    "people.plan.toml",
    "firms.csv",
    "firms.schema.toml",
    "firms.plan.toml",
    "firms.database.toml",
)
SECRET = "demo.secret.key"
TEST_SECRET = ("secret = 2026 ", "test_secret = true ")
"""Lines of the bundled plan that make tests repeatable; the demonstration has a key of its own, as a release needs it."""
ATTACK = (
    "SELECT SUM(turnover) FROM data WHERE industry = 'C10'",
    "SELECT SUM(turnover) FROM data WHERE industry = 'C10' AND size <> 'large'",
)
"""Two sums over many firms each; their difference is the turnover of the one large firm in industry C10."""


@dataclass(frozen=True)
class Told:
    """What a database answered to the two queries, and what an attacker found by subtraction, if anything."""

    answers: tuple[tuple[str, Answer | Refusal], ...]

    @staticmethod
    def value(answer: Answer) -> float:
        """The sum that was answered."""
        return float(str(answer.rows[0].values[0]))

    @property
    def found(self) -> float | None:
        """The turnover of one firm, where both sums were answered."""
        told = [self.value(answer) for _, answer in self.answers if isinstance(answer, Answer)]
        return told[0] - told[1] if len(told) == len(ATTACK) else None

    def plain(self) -> list[dict[str, Any]]:
        """Each query with its answer, as plain data."""
        return [{"query": query, **answer.as_json()} for query, answer in self.answers]


@dataclass(frozen=True, eq=False)
class Demo:
    """A file that may be published; a table refused, the same shown exposed, and protected; queries, open and protected."""

    file: FileResult
    refused: str
    exposed: ProtectedTable
    table: ProtectedTable
    queries: dict[str, Told]

    def summary(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "file": self.file.summary(),
            "tables": {"primary-only": self.exposed.summary(), "heuristic": self.table.summary()},
            "queries": {mode: told.plain() for mode, told in self.queries.items()},
        }


def run_demo(folder: Path, *, progress: Progress = silent) -> Demo:
    """Put the bundled files into a folder, run their plans there, and ask the two queries of two databases."""
    _put_files(folder)
    people = run_file_plan(folder / "people.plan.toml", progress=part(progress, 0.0, 0.5)).result
    refused, exposed = _primary_only(folder, part(progress, 0.5, 0.7))
    table = run_table_plan(folder / "firms.plan.toml", progress=part(progress, 0.7, 0.9))
    databases = {"open": _open_database(folder), "exact": folder / "firms.database.toml"}
    told = {mode: _asked(database) for mode, database in databases.items()}
    progress(1.0, "done")
    return Demo(people, refused, exposed, table, told)


def _put_files(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    bundled = resources.files("reticent") / "demo_data"
    for name in FILES:
        with resources.as_file(bundled / name) as source:
            shutil.copyfile(source, folder / name)
    plan = folder / "people.plan.toml"
    plan.write_text(_with_key(plan.read_text(encoding="utf-8")), encoding="utf-8")
    if not (folder / SECRET).exists():
        new_secret(folder / SECRET)


def _with_key(text: str) -> str:
    """The plan of the file with a key file in place of the number that tests use."""
    lines = [line for line in text.splitlines() if not line.startswith(TEST_SECRET[1])]
    key = f'secret = "{SECRET}"       # made for this folder; whoever has it can undo what was drawn'
    return "\n".join(key if line.startswith(TEST_SECRET[0]) else line for line in lines) + "\n"


def _primary_only(folder: Path, progress: Progress) -> tuple[str, ProtectedTable]:
    """The table with only its unsafe cells hidden: why it is refused, and what is exposed where that is accepted."""
    text = (folder / "firms.plan.toml").read_text(encoding="utf-8")
    bare, shown = folder / "firms-bare.plan.toml", folder / "firms-primary-only.plan.toml"
    bare.write_text(_hiding_little(text), encoding="utf-8")
    shown.write_text(_hiding_little(text, "accept_exposed = true"), encoding="utf-8")
    refused = ""
    try:
        run_table_plan(bare, progress=part(progress, 0.0, 0.5))
    except NotProtectedError as err:
        refused = str(err)
    bare.unlink()
    return refused, run_table_plan(shown, progress=part(progress, 0.5, 1.0))


def _hiding_little(text: str, more: str = "") -> str:
    """The plan with unsafe cells hidden and nothing else; its outputs have names of their own."""
    lines = text.replace('"firms.', '"firms-primary-only.')
    for name in ("firms.csv", "firms.schema.toml"):
        lines = lines.replace(name.replace("firms.", "firms-primary-only."), name)
    return lines.replace('method = "heuristic"', f'method = "primary-only"\n{more}'.rstrip())


def _open_database(folder: Path) -> Path:
    """The database without protection, with a ledger of its own."""
    path = folder / "firms-open.database.toml"
    text = (folder / "firms.database.toml").read_text(encoding="utf-8")
    text = text.replace('mode = "exact"', 'mode = "open"\ntest = true').replace('"firms.ledger"', '"firms-open.ledger"')
    path.write_text(text.replace("firms.anchor", "firms-open.anchor"), encoding="utf-8")
    return path


def _asked(database: Path) -> Told:
    return Told(tuple((query, answer_query(database, query, user="attacker")) for query in ATTACK))
