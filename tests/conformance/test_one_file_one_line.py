"""One more of each kind is one file and one line: the classes below are the file, `register` is the line.

Then it can be named in a plan, is in the manual's list, is checked like the others, and the batteries try it.
"""

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest

import reticent as rt
from conformance import test_masking_methods as masking_battery
from conformance import test_query_modes as mode_battery
from conformance import test_table_methods as table_battery
from reticent.base.errors import ReticentError
from reticent.base.progress import Progress
from reticent.base.randomness import Secret
from reticent.data.draws import StepDraws
from reticent.data.method import Applied, Method
from reticent.data.microdata import Microdata
from reticent.data.parameters import Examples, Parameters
from reticent.data.plan import plan_from_table
from reticent.data.schema import Schema
from reticent.data.table_plan import table_plan_from
from reticent.io.format import Content, FileFormat, Source
from reticent.io.formats import FORMATS
from reticent.io.read import read_microdata
from reticent.microdata.mask import METHODS
from reticent.queries.audit.open import OpenMode
from reticent.queries.guarantee import ModeGuarantee
from reticent.queries.modes import MODES, RegisteredMode, Setting
from reticent.queries.policy import Policy
from reticent.report.file_report import FILE_SECTIONS
from reticent.report.page import Text, section
from reticent.tables.guarantee import HIDDEN, Guarantee, Rate
from reticent.tables.methods import TABLE_METHODS
from reticent.tables.outcome import Outcome
from reticent.tables.problem import SuppressionProblem
from reticent.tables.rules import RULES, Rule, RuleCells, rule_from_plan

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "make_registry_page.py"


@dataclass(frozen=True)
class Blank(Method):
    """Make every value of a variable missing."""

    name: ClassVar[str] = "toy-blank"
    blanks_only: ClassVar[bool] = True
    examples: ClassVar[Examples] = ({"variable": "marital"},)
    variable: str = field(metadata={"help": "what to blank"})
    share: float = field(default=1.0, metadata={"above": 0, "max": 1, "help": "not used"})

    def check(self, schema: Schema) -> None:
        schema.require((self.variable,), owner=self.name)

    def mask(self, data: Microdata, *, draws: StepDraws, progress: Progress) -> Applied:
        self.check(data.schema)
        table = data.frame.table.with_columns(pl.lit(None, dtype=pl.String).alias(self.variable))
        return Applied(Microdata.of(table, data.schema), {self.variable: data.n_records})


@dataclass(frozen=True)
class HideAll(Parameters):
    """Hide every cell that may be hidden."""

    name: ClassVar[str] = "toy-hide-all"
    guarantee: ClassVar[Guarantee] = Guarantee(
        HIDDEN, Rate(0, 1, 1.0), "everything is hidden, so nothing follows from what is"
    )
    most: int = field(default=9, metadata={"min": 1, "help": "not used"})

    def protect(self, problem: SuppressionProblem, *, secret: Secret, time_limit: float, progress: Progress) -> Outcome:
        return Outcome(problem.candidates | problem.forced, 0.0, status="all")


@dataclass(frozen=True)
class Odd(Rule):
    """Unsafe when the number of respondents is odd."""

    name: ClassVar[str] = "toy-odd"
    base: int = field(default=2, metadata={"min": 2, "help": "what the number must be a multiple of"})

    def unsafe(self, cells: RuleCells) -> Any:
        return np.asarray(cells.known_counts(self.name) % self.base != 0)


def _read_lines(source: Source) -> tuple[pl.DataFrame, Schema | None]:
    names, *rows = [line.split("~") for line in source.path.read_text(encoding="utf-8").splitlines()]
    return pl.DataFrame(rows, schema=names, orient="row"), None


def _write_lines(table: pl.DataFrame, schema: Schema, path: Path) -> Mapping[Path, Content]:
    rows = [table.columns, *([str(value) for value in row] for row in table.iter_rows())]
    return {path: "".join("~".join(row) + "\n" for row in rows)}


WAVES = FileFormat("toy-waves", "text delimited by waves", _read_lines, _write_lines, (".wave",), (".wave",))


class LoudMode(OpenMode):
    name: ClassVar[str] = "toy-loud"
    guarantee: ClassVar[ModeGuarantee] = ModeGuarantee(
        "None at all, for the arithmetic attacker too, and it says so loudly in every answer it gives."
    )


@dataclass(frozen=True)
class LoudOptions(Parameters):
    volume: int = field(default=3, metadata={"min": 1, "max": 11, "help": "how loud"})


def loud(setting: Setting) -> LoudMode:
    return LoudMode(setting)


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METHODS._methods, Blank.name, Blank)
    monkeypatch.setitem(TABLE_METHODS._methods, HideAll.name, HideAll)
    monkeypatch.setitem(RULES._methods, Odd.name, Odd)
    monkeypatch.setitem(FORMATS._formats, WAVES.name, WAVES)
    monkeypatch.setitem(MODES, "toy-loud", RegisteredMode(__name__, "loud", "LoudOptions"))
    monkeypatch.setattr("reticent.report.file_report.FILE_SECTIONS", [*FILE_SECTIONS, section("Toy", _toy)])


def _toy(about: Any) -> tuple[Text, ...]:
    return (Text(f"{len(about.run.result.steps)} steps, says the toy."),)


def manual() -> str:
    spec = importlib.util.spec_from_file_location("make_registry_page", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return str(module.page())


def test_the_page_of_the_manual_is_up_to_date() -> None:
    page = SCRIPT.parents[1] / "docs" / "reference" / "methods.md"
    assert page.read_text(encoding="utf-8") == manual(), "run: python scripts/make_registry_page.py"


@pytest.mark.usefixtures("register")
def test_the_manual_lists_them() -> None:
    text = manual()
    for name in (Blank.name, HideAll.name, Odd.name, "toy-loud", WAVES.name, "- Toy"):
        assert name in text
    assert "| `share` | `1.0` | above 0 and at most 1 | not used |" in text


@pytest.mark.usefixtures("register")
def test_a_masking_method() -> None:
    table = {"data": {"path": "x"}, "step": [{"method": "toy-blank", "variable": "sex"}]}
    assert plan_from_table(table, METHODS, owner="plan", folder=Path()).steps == (Blank("sex"),)
    with pytest.raises(ReticentError, match="share must be above 0"):
        plan_from_table({**table, "step": [{**table["step"][0], "share": 0}]}, METHODS, owner="plan", folder=Path())
    with pytest.raises(ReticentError, match="Did you mean 'toy-blank'"):
        plan_from_table({**table, "step": [{"method": "toy-blink"}]}, METHODS, owner="plan", folder=Path())
    masking_battery.test_examples_mask_the_survey("toy-blank", 0)
    masking_battery.test_the_same_secret_gives_the_same_bytes("toy-blank", 0)
    masking_battery.test_variables_that_are_not_there_are_refused("toy-blank", 0)
    masking_battery.test_few_records_are_masked_or_refused("toy-blank", 0, 1)


@pytest.mark.usefixtures("register")
def test_a_table_method_and_a_rule() -> None:
    plan = table_plan_from(
        {
            "data": {"path": "x"},
            "table": {"dimensions": ["a"], "rules": [{"rule": "toy-odd", "base": 3}]},
            "protect": {"method": "toy-hide-all", "most": 3},
        },
        owner="plan",
        folder=Path(),
    )
    assert plan.protect.method == "toy-hide-all"
    assert rule_from_plan(plan.tables[0].rules[0], owner="plan") == Odd(base=3)
    with pytest.raises(ReticentError, match="base must be at least 2, got 1"):
        rule_from_plan({"rule": "toy-odd", "base": 1}, owner="plan")
    table_battery.test_a_method_says_what_it_promises_and_is_attacked("toy-hide-all", 0)
    table_battery.test_the_same_secret_gives_the_same_bytes("toy-hide-all", 0)


@pytest.mark.usefixtures("register")
def test_a_file_format(tmp_path: Path) -> None:
    (tmp_path / "in.wave").write_text("sex~age\nf~30\nm~40\n", encoding="utf-8")
    data = read_microdata(tmp_path / "in.wave")
    assert data.frame.table["age"].to_list() == [30, 40]
    chosen = FORMATS.of_target(tmp_path / "out.wave")
    assert chosen is WAVES
    assert chosen.write is not None
    [(path, content)] = chosen.write(data.frame.table, data.schema, tmp_path / "out.wave").items()
    assert content == (tmp_path / "in.wave").read_text(encoding="utf-8")
    assert path.name == "out.wave"
    with pytest.raises(ReticentError, match="toy-waves"):
        read_microdata(tmp_path / "in.wave", format="wave")


@pytest.mark.usefixtures("register")
def test_a_query_mode(tmp_path: Path) -> None:
    with pytest.raises(ReticentError, match="options toy-loud: volume must be between 1 and 11, got 12"):
        Policy(mode="toy-loud", options={"toy-loud": {"volume": 12}})
    mode_battery.test_a_mode_keeps_its_word(tmp_path, "toy-loud")


@pytest.mark.usefixtures("register")
def test_a_section_of_a_report(tmp_path: Path) -> None:
    folder = files("reticent") / "demo_data"
    data = read_microdata(str(folder / "people.csv"), str(folder / "people.schema.toml"))
    few = rt.load(data.frame.table.head(60), schema=data.schema)
    run = few.protect([Blank("marital")], most=1.0, secret=1, test_secret=True)
    run.confidential_report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<h2>Toy</h2>" in page
    assert "1 steps, says the toy." in page
